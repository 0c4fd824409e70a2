"""Templates of compounding, forward rates and prices, and of how bonds answer to yields."""

from __future__ import annotations

from evaluators.synthetic.template import Figure, Input, Template

EFFECTIVE_RATE = Template(
    name="effective_rate",
    number=0,
    topic="Time Value of Money",
    wording=(
        "A card charges a nominal yearly rate of {nominal_rate}, compounded in {periods} equal periods of the year. "
        "What is the effective annual rate?"
    ),
    inputs=(
        Input("nominal_rate", "nominal yearly rate", "percent", "0.06", "0.0325", "0.12", "0.0025"),
        Input("periods", "periods a year", "number", "12", "2", "52", "1"),
    ),
    definitions={
        "period_rate": "nominal_rate / periods",
        "effective_rate": "(1 + period_rate) ^ periods - 1",
        "continuous_rate": "ln(1 + effective_rate)",
    },
    steps=(
        Figure("period_rate", "rate of one period", "percent"),
        Figure("continuous_rate", "the same with continuous compounding", "percent", 0.001),
    ),
    answer=Figure("effective_rate", "effective annual rate", "percent", 0.001),
    positive=("effective_rate - 1.013 * nominal_rate",),
    pitfalls={"simple interest": "nominal_rate"},
)

FORWARD_RATE = Template(
    name="forward_rate",
    number=0,
    topic="Fixed Income",
    wording=(
        "Zero-coupon yields, compounded once a year, are {short_yield} for {short_years} years and {long_yield} for "
        "{long_years} years. Which yearly forward rate do they imply for the time in between?"
    ),
    inputs=(
        Input("short_yield", "yield of the shorter term", "percent", "0.03", "0.015", "0.06", "0.0005"),
        Input("short_years", "years of the shorter term", "number", "2", "1", "5", "1"),
        Input("long_yield", "yield of the longer term", "percent", "0.035", "0.015", "0.065", "0.0005"),
        Input("long_years", "years of the longer term", "number", "5", "3", "12", "1"),
    ),
    definitions={
        "short_growth": "(1 + short_yield) ^ short_years",
        "long_growth": "(1 + long_yield) ^ long_years",
        "forward": "(long_growth / short_growth) ^ (1 / (long_years - short_years)) - 1",
    },
    steps=(
        Figure("short_growth", "what a dollar becomes over the shorter term", "number", 0.0005),
        Figure("long_growth", "what a dollar becomes over the longer term", "number", 0.0005),
    ),
    answer=Figure("forward", "forward rate a year", "percent"),
    positive=(
        "long_years - short_years - 0.5",
        "forward - 0.01",
        "0.1 - forward",
        "abs(long_yield - short_yield) - 0.003",
    ),
    pitfalls={
        "difference of the yields": "long_yield - short_yield",
        "plain mean": "(long_yield + short_yield) / 2",
        "total growth instead of growth a year": "long_growth / short_growth - 1",
    },
)

FRA_SETTLEMENT = Template(
    name="fra_settlement",
    number=0,
    topic="Options & Derivatives",
    wording=(
        "A treasurer bought a forward rate agreement on {notional} at {contract_rate} for a period of {days} days. The "
        "reference rate is fixed at {fixing}. Both are simple rates on a year of 360 days, and the difference is "
        "settled, discounted at the fixing, at the beginning of the period. How much does the treasurer receive? A "
        "negative number if the treasurer pays."
    ),
    inputs=(
        Input("notional", "notional amount", "usd", "10000000", "2000000", "90000000", "500000"),
        Input("contract_rate", "agreed rate", "percent", "0.04", "0.015", "0.07", "0.0005"),
        Input("fixing", "fixing of the reference rate", "percent", "0.045", "0.015", "0.075", "0.0005"),
        Input("days", "days of the period", "number", "90", "28", "183", "1"),
    ),
    definitions={
        "difference_at_end": "notional * (fixing - contract_rate) * days / 360",
        "discounting": "1 + fixing * days / 360",
        "settlement": "difference_at_end / discounting",
    },
    steps=(
        Figure("difference_at_end", "difference of interest at the end of the period, with its sign", "usd", 0.001),
        Figure("discounting", "factor by which it is discounted", "number", 0.0002),
    ),
    answer=Figure("settlement", "amount that the buyer receives, with its sign", "usd", 0.001),
    positive=("abs(fixing - contract_rate) - 0.0018", "discounting - 1.0045"),
    pitfalls={
        "for a whole year": "notional * (fixing - contract_rate)",
        "sign turned": "-settlement",
        "period ignored in discounting": "difference_at_end / (1 + fixing)",
    },
)

BOND_CONVEXITY = Template(
    name="bond_convexity",
    number=0,
    topic="Fixed Income",
    wording=(
        "A bond with a face value of {face} pays a yearly coupon of {coupon}, the first in one year, and is repaid in "
        "three years. Its yield, compounded once a year, is {bond_yield}. What is its convexity, the second derivative "
        "of the price by the yield over the price?"
    ),
    inputs=(
        Input("face", "face value", "usd", "1000", "1000", "1000", "1"),
        Input("coupon", "coupon rate", "percent", "0.06", "0.02", "0.11", "0.0025"),
        Input("bond_yield", "yield of the bond", "percent", "0.05", "0.015", "0.09", "0.0025"),
    ),
    definitions={
        "discount": "1 / (1 + bond_yield)",
        "price": "face * (coupon * (discount + discount ^ 2 + discount ^ 3) + discount ^ 3)",
        "modified_duration": (
            "face * (coupon * (discount + 2 * discount ^ 2 + 3 * discount ^ 3) + 3 * discount ^ 3) * discount / price"
        ),
        "convexity": (
            "face * (coupon * (2 * discount + 6 * discount ^ 2 + 12 * discount ^ 3) + 12 * discount ^ 3)"
            " * discount ^ 2 / price"
        ),
    },
    steps=(
        Figure("price", "price of the bond", "usd", 0.001),
        Figure("modified_duration", "modified duration", "number", word="years"),
    ),
    answer=Figure("convexity", "convexity", "number"),
    positive=("abs(coupon - bond_yield) - 0.004",),
    pitfalls={
        "not divided by the price": "convexity * price",
        "squared times left out": "convexity / discount ^ 2",
        "duration squared": "modified_duration ^ 2",
    },
)

DURATION_CONVEXITY = Template(
    name="duration_convexity",
    number=0,
    topic="Fixed Income",
    wording=(
        "A bond priced at {price} has a modified duration of {modified_duration} and a convexity of {convexity} (the "
        "second derivative of the price by the yield over the price). Its yield moves by {yield_change} at once. To "
        "second order, what does the bond cost then?"
    ),
    inputs=(
        Input("price", "price of the bond", "usd", "980", "780", "1320", "5"),
        Input("modified_duration", "modified duration", "number", "7", "2.2", "16", "0.1"),
        Input("convexity", "convexity", "number", "70", "7", "320", "1"),
        Input("yield_change", "change of the yield", "percent", "0.01", "-0.03", "0.03", "0.0025"),
    ),
    definitions={
        "duration_effect": "-modified_duration * yield_change",
        "convexity_effect": "0.5 * convexity * yield_change ^ 2",
        "new_price": "price * (1 + duration_effect + convexity_effect)",
    },
    steps=(
        Figure("duration_effect", "relative change of the price by duration, with its sign", "percent"),
        Figure("convexity_effect", "relative change of the price by convexity", "percent"),
    ),
    answer=Figure("new_price", "price after the move", "usd", 0.001),
    positive=(
        "abs(yield_change) - 0.006",
        "convexity - 0.9 * modified_duration ^ 2",
        "2.2 * modified_duration ^ 2 + 3 - convexity",
        "convexity_effect - 0.0003",
    ),
    pitfalls={
        "sign of the duration": "price * (1 - duration_effect + convexity_effect)",
    },
)

FORWARD_PARITY = Template(
    name="forward_parity",
    number=0,
    topic="Forex",
    wording=(
        "A pound costs {spot_rate} dollars. Money for {years} years earns {usd_rate} a year in dollars and {gbp_rate} "
        "in pounds, compounded once a year. At which forward price of the pound for that date is there no covered "
        "arbitrage?"
    ),
    inputs=(
        Input("spot_rate", "dollars per pound, spot", "number", "1.25", "1.05", "1.70", "0.005"),
        Input("usd_rate", "yearly dollar rate", "percent", "0.05", "0.015", "0.09", "0.0025"),
        Input("gbp_rate", "yearly pound rate", "percent", "0.03", "0.015", "0.08", "0.0025"),
        Input("years", "years to the forward date", "number", "2", "1", "6", "0.5"),
    ),
    definitions={
        "dollar_growth": "(1 + usd_rate) ^ years",
        "pound_growth": "(1 + gbp_rate) ^ years",
        "forward_price": "spot_rate * dollar_growth / pound_growth",
    },
    steps=(
        Figure("dollar_growth", "what a dollar becomes by then", "number", 0.001),
        Figure("pound_growth", "what a pound becomes by then", "number", 0.001),
    ),
    answer=Figure("forward_price", "forward price of the pound, dollars per pound", "number", 0.001),
    positive=("abs(dollar_growth / pound_growth - 1) - 0.015",),
    pitfalls={
        "rates the wrong way round": "spot_rate * pound_growth / dollar_growth",
        "one rate only": "spot_rate * dollar_growth",
    },
)

FUTURES_MISPRICING = Template(
    name="futures_mispricing",
    number=0,
    topic="Options & Derivatives",
    wording=(
        "An index stands at {spot} points and its shares pay dividends at a continuous yield of {dividend_yield}. The "
        "riskless rate is {riskless_rate}, continuously compounded. A future that expires in {years} years is quoted "
        "at {quoted_future}. By how many points is it too dear against its cost of carry? A negative number if it is "
        "too cheap."
    ),
    inputs=(
        Input("spot", "index level", "number", "5000", "1200", "9000", "10"),
        Input("dividend_yield", "dividend yield, continuous", "percent", "0.02", "0.005", "0.035", "0.0025"),
        Input("riskless_rate", "riskless rate, continuously compounded", "percent", "0.045", "0.02", "0.08", "0.0025"),
        Input("years", "years to expiry of the future", "number", "0.5", "0.25", "2", "0.25"),
        Input("quoted_future", "quoted future", "number", "5200", "1150", "10200", "5"),
    ),
    definitions={
        "carry": "riskless_rate - dividend_yield",
        "fair_future": "spot * exp(carry * years)",
        "mispricing": "quoted_future - fair_future",
    },
    steps=(
        Figure("carry", "net cost of carry, continuous", "percent"),
        Figure("fair_future", "fair future", "number", 0.0005),
    ),
    answer=Figure("mispricing", "quoted less fair future, in points, with its sign", "number"),
    positive=(
        "abs(carry) - 0.008",
        "abs(mispricing) - 0.004 * spot",
        "0.05 * spot - abs(mispricing)",
    ),
    pitfalls={
        "dividends left out": "quoted_future - spot * exp(riskless_rate * years)",
        "gap over the index": "quoted_future - spot",
        "sign turned": "-mispricing",
    },
)

TEMPLATES: tuple[Template, ...] = (
    EFFECTIVE_RATE,
    FORWARD_RATE,
    FRA_SETTLEMENT,
    BOND_CONVEXITY,
    DURATION_CONVEXITY,
    FORWARD_PARITY,
    FUTURES_MISPRICING,
)
