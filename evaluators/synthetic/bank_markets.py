"""Templates of portfolio theory, fixed income, derivatives, time value of money and foreign exchange."""

from __future__ import annotations

from evaluators.synthetic.template import Figure, Input, Template

BETA_ADJUSTMENT = Template(
    name="beta_adjustment",
    number=5,
    topic="Portfolio Theory",
    wording=(
        "A fully invested portfolio holds two stocks: {weight_x} in X, whose beta is {beta_x}, and the rest in Y, "
        "whose beta is {beta_y}. The holder sells part of X, puts the proceeds into a riskless asset, and keeps the "
        "weight of Y exactly as it is, so that the beta of the whole becomes {target_beta}. What is the weight of X "
        "then?"
    ),
    inputs=(
        Input("weight_x", "present weight of X", "percent", "0.60", "0.40", "0.75", "0.01"),
        Input("beta_x", "beta of X", "number", "1.2", "1.1", "1.9", "0.05"),
        Input("beta_y", "beta of Y", "number", "0.8", "0.5", "1.0", "0.05"),
        Input("target_beta", "target beta of the portfolio", "number", "1", "0.65", "1.15", "0.05"),
    ),
    definitions={
        "present_beta": "weight_x * beta_x + (1 - weight_x) * beta_y",
        "beta_from_y": "(1 - weight_x) * beta_y",
        "new_weight_x": "(target_beta - beta_from_y) / beta_x",
        "riskless_weight": "weight_x - new_weight_x",
    },
    steps=(
        Figure("present_beta", "beta of the portfolio before the change", "number"),
        Figure("beta_from_y", "part of the beta that Y contributes", "number"),
        Figure("riskless_weight", "weight of the riskless asset afterwards", "percent"),
    ),
    answer=Figure("new_weight_x", "weight of X after the change", "percent"),
    positive=("riskless_weight - 0.02", "new_weight_x - 0.10"),
    pitfalls={
        "Y sold as well": "target_beta / beta_x",
        "X scaled by the ratio of betas": "weight_x * target_beta / present_beta",
        "proceeds put into Y": "(target_beta - beta_y) / (beta_x - beta_y)",
    },
    printed=(0.50, 0.833),
    correction=(
        "The published answers are 50% or 83.3%. With Y kept at 40% it is (1 - 0.32) / 1.2 = 56.67%; 83.33% belongs to "
        "the reading in which Y is sold; 50% to none. The question now says that Y is kept."
    ),
)

LEVERED_VOLATILITY = Template(
    name="levered_volatility",
    number=6,
    topic="Portfolio Theory",
    wording=(
        "A stock has an expected return of {expected_return} and a standard deviation of {volatility}. Money can be "
        "lent and borrowed without limit at {riskless_rate}. A portfolio of this stock and riskless lending or "
        "borrowing is to have an expected return of {target_return}. What is its standard deviation?"
    ),
    inputs=(
        Input("expected_return", "expected return of the stock", "percent", "0.12", "0.08", "0.15", "0.005"),
        Input("volatility", "standard deviation of the stock", "percent", "0.25", "0.14", "0.42", "0.01"),
        Input("riskless_rate", "riskless rate", "percent", "0.04", "0.01", "0.05", "0.005"),
        Input("target_return", "target expected return", "percent", "0.16", "0.10", "0.24", "0.005"),
    ),
    definitions={
        "stock_weight": "(target_return - riskless_rate) / (expected_return - riskless_rate)",
        "borrowed_fraction": "stock_weight - 1",
        "standard_deviation": "stock_weight * volatility",
    },
    steps=(
        Figure("stock_weight", "weight of the stock (above 1 when money is borrowed)", "number"),
        Figure("borrowed_fraction", "money borrowed, as a fraction of own money", "percent"),
    ),
    answer=Figure("standard_deviation", "standard deviation of the portfolio", "percent"),
    positive=("stock_weight - 1.1", "2.5 - stock_weight"),
    pitfalls={
        "riskless rate forgotten": "volatility * target_return / expected_return",
        "excess over the wrong rate": "volatility * (target_return - riskless_rate) / expected_return",
    },
    printed=(0.375,),
)

BOND_REPLICATION = Template(
    name="bond_replication",
    number=8,
    topic="Fixed Income",
    wording=(
        "Two default-free bonds, each with a face value of {face} and exactly {years} years to run, can be bought and "
        "sold short: a zero-coupon bond at {zero_price}, and a bond with a yearly coupon of {par_coupon} that trades "
        "at its face value. Take both prices as given and assume nothing about the shape of the yield curve. By "
        "replicating its cash flows with these two bonds, what must a bond with the same face value and maturity and "
        "a yearly coupon of {coupon} cost?"
    ),
    inputs=(
        Input("face", "face value", "usd", "1000", "1000", "1000", "1"),
        Input("years", "years to maturity", "number", "5", "4", "12", "1"),
        Input("zero_price", "price of the zero-coupon bond", "usd", "680", "380", "860", "5"),
        Input("par_coupon", "coupon rate of the bond at par", "percent", "0.06", "0.03", "0.08", "0.005"),
        Input("coupon", "coupon rate of the bond to be priced", "percent", "0.08", "0.05", "0.16", "0.005"),
    ),
    definitions={
        "coupon_bonds": "coupon / par_coupon",
        "zero_bonds": "1 - coupon_bonds",
        "annuity_factor": "(1 - zero_price / face) / par_coupon",
        "price": "coupon_bonds * face + zero_bonds * zero_price",
    },
    steps=(
        Figure("coupon_bonds", "par bonds held in the replicating portfolio", "number"),
        Figure("zero_bonds", "zero-coupon bonds held in it (negative when sold short)", "number"),
        Figure("annuity_factor", "sum of the yearly discount factors implied by the two prices", "number"),
    ),
    answer=Figure("price", "price of the bond", "usd"),
    positive=(
        "coupon - par_coupon - 0.012",
        "0.985 * years - annuity_factor",
        "annuity_factor - 1.02 * years * zero_price / face",
    ),
    pitfalls={
        "flat curve at the par yield": (
            "coupon * face * (1 - (1 + par_coupon) ^ (-years)) / par_coupon + face * (1 + par_coupon) ^ (-years)"
        ),
        "flat curve at the zero's yield": (
            "coupon * face * (1 - zero_price / face) / ((face / zero_price) ^ (1 / years) - 1) + zero_price"
        ),
        "par price scaled by the coupons": "coupon_bonds * face",
    },
    printed=(1085.35,),
    correction=(
        "The published $1,085.35 discounts on a flat curve that the two quoted prices contradict. Replication needs no "
        "curve: 4/3 of the par bond less 1/3 of the zero cost $1,106.67. The printed prices imply discount factors "
        "that sum to 5.333 over 5 years, that is, negative rates; drawn instances have discount factors below 1."
    ),
)

DURATION_MATCH = Template(
    name="duration_match",
    number=9,
    topic="Fixed Income",
    wording=(
        "The liabilities of a pension scheme have a duration of {liability_duration} years. Its assets, equal in value "
        "to the liabilities, are to consist of two bonds with durations of {duration_a} and {duration_b} years. Which "
        "part of the money goes into the longer bond if the durations of assets and liabilities are to match?"
    ),
    inputs=(
        Input("liability_duration", "duration of the liabilities in years", "number", "15", "6", "18", "0.5"),
        Input("duration_a", "duration of the shorter bond in years", "number", "5", "1.5", "8", "0.5"),
        Input("duration_b", "duration of the longer bond in years", "number", "20", "12", "25", "0.5"),
    ),
    definitions={
        "weight_b": "(liability_duration - duration_a) / (duration_b - duration_a)",
        "weight_a": "1 - weight_b",
        "contribution_b": "weight_b * duration_b",
    },
    steps=(
        Figure("weight_a", "part of the money in the shorter bond", "percent"),
        Figure("contribution_b", "years of duration that the longer bond contributes", "number", word="years"),
    ),
    answer=Figure("weight_b", "part of the money in the longer bond", "percent"),
    positive=("weight_b - 0.1", "0.9 - weight_b"),
    pitfalls={
        "weights the wrong way round": "weight_a",
        "ratio of the durations": "liability_duration / duration_b",
    },
    printed=(0.6667,),
)

PERPETUITY_REPRICING = Template(
    name="perpetuity_repricing",
    number=10,
    topic="Fixed Income",
    wording=(
        "A bond without maturity pays {payment} once a year, the next time in one year. The market rate, the same for "
        "all maturities, moves from {old_rate} to {new_rate} at once. By how much, in per cent of its old price and "
        "with its sign, does the price of the bond change?"
    ),
    inputs=(
        Input("payment", "yearly payment", "usd", "50", "20", "120", "5"),
        Input("old_rate", "market rate before", "percent", "0.05", "0.03", "0.09", "0.0025"),
        Input("new_rate", "market rate after", "percent", "0.06", "0.03", "0.09", "0.0025"),
    ),
    definitions={
        "old_price": "payment / old_rate",
        "new_price": "payment / new_rate",
        "price_change": "new_price / old_price - 1",
    },
    steps=(
        Figure("old_price", "price before the move", "usd"),
        Figure("new_price", "price after the move", "usd"),
    ),
    answer=Figure("price_change", "relative change of the price", "percent"),
    positive=("abs(new_rate - old_rate) - 0.004",),
    pitfalls={
        "change measured on the new price": "1 - old_price / new_price",
        "duration times the move": "-(new_rate - old_rate) / old_rate",
        "wrong sign": "-price_change",
    },
    printed=(-0.1667,),
)

BULL_CALL_SPREAD = Template(
    name="bull_call_spread",
    number=15,
    topic="Options & Derivatives",
    wording=(
        "A trader pays {premium_bought} per share for a call struck at {strike_low} and at the same time receives "
        "{premium_sold} per share for a call struck at {strike_high} on the same stock with the same expiry. Per share "
        "and ignoring interest, at which stock price at expiry does the position break even?"
    ),
    inputs=(
        Input("strike_low", "strike of the call bought", "usd", "100", "60", "240", "5"),
        Input("strike_high", "strike of the call sold", "usd", "110", "65", "280", "5"),
        Input("premium_bought", "premium paid per share", "usd", "8", "3", "26", "0.25"),
        Input("premium_sold", "premium received per share", "usd", "3", "0.5", "14", "0.25"),
    ),
    definitions={
        "max_loss": "premium_bought - premium_sold",
        "max_profit": "strike_high - strike_low - max_loss",
        "breakeven": "strike_low + max_loss",
    },
    steps=(
        Figure("max_loss", "largest possible loss per share, as a positive number", "usd", size=True),
        Figure("max_profit", "largest possible profit per share", "usd"),
    ),
    answer=Figure("breakeven", "stock price at which the position breaks even", "usd"),
    positive=(
        "strike_high - strike_low - 4",
        "41 - (strike_high - strike_low)",
        "max_loss - 0.15 * (strike_high - strike_low)",
        "0.85 * (strike_high - strike_low) - max_loss",
    ),
    pitfalls={
        "only the premium paid is added": "strike_low + premium_bought",
        "both premiums added": "strike_low + premium_bought + premium_sold",
        "measured from the upper strike": "strike_high - max_loss",
    },
    printed=(105.0,),
)

RISK_NEUTRAL_PROBABILITY = Template(
    name="risk_neutral_probability",
    number=16,
    topic="Options & Derivatives",
    wording=(
        "In a one-period binomial model a stock at {spot}, paying no dividend, ends either {up_move} higher or "
        "{down_move} lower. The riskless rate is {riskless_rate} for the period (simple, not continuous). What is the "
        "risk-neutral probability of the upper state?"
    ),
    inputs=(
        Input("spot", "stock price", "usd", "100", "20", "240", "5"),
        Input("up_move", "relative rise in the upper state", "percent", "0.20", "0.06", "0.40", "0.01"),
        Input(
            "down_move",
            "relative fall in the lower state, as a positive number",
            "percent",
            "0.15",
            "0.05",
            "0.30",
            "0.01",
        ),
        Input("riskless_rate", "riskless rate of the period", "percent", "0.05", "0.01", "0.06", "0.005"),
    ),
    definitions={
        "upper_price": "spot * (1 + up_move)",
        "lower_price": "spot * (1 - down_move)",
        "probability": "(riskless_rate + down_move) / (up_move + down_move)",
        "call_value": "probability * spot * up_move / (1 + riskless_rate)",
    },
    steps=(
        Figure("upper_price", "stock price in the upper state", "usd"),
        Figure("lower_price", "stock price in the lower state", "usd"),
        Figure("call_value", "value today of a one-period call struck at today's stock price", "usd"),
    ),
    answer=Figure("probability", "risk-neutral probability of the upper state", "percent"),
    positive=("up_move - riskless_rate - 0.02",),
    pitfalls={
        "riskless rate left out": "down_move / (up_move + down_move)",
        "probability of the lower state": "1 - probability",
        "continuous compounding": "(exp(riskless_rate) - 1 + 2 * down_move) / (up_move + down_move)",
    },
    printed=(0.5714,),
)

PUT_CALL_PARITY = Template(
    name="put_call_parity",
    number=17,
    topic="Options & Derivatives",
    wording=(
        "On a stock at {spot} that pays no dividend, a European call struck at {strike} is quoted at {call_price}; its "
        "time to expiry in years is {years}. The riskless rate is {riskless_rate} with continuous compounding. "
        "Which price for the put of the same strike and expiry does put-call parity give? Report the parity value as "
        "it comes: if it is negative, the quoted call lies below its lower bound, no admissible put price exists, and "
        "the negative number is the answer."
    ),
    inputs=(
        Input("call_price", "quoted price of the call", "usd", "8", "1", "40", "0.25"),
        Input("spot", "stock price", "usd", "100", "60", "190", "1"),
        Input("strike", "strike", "usd", "95", "55", "200", "5"),
        Input("riskless_rate", "riskless rate, continuously compounded", "percent", "0.05", "0.02", "0.08", "0.005"),
        Input("years", "years to expiry", "number", "1", "0.5", "2", "0.25"),
    ),
    definitions={
        "present_strike": "strike * exp(-riskless_rate * years)",
        "call_lower_bound": "max(spot - present_strike, 0)",
        "put_price": "call_price - spot + present_strike",
    },
    steps=(
        Figure("present_strike", "present value of the strike", "usd"),
        Figure("call_lower_bound", "lower bound of the price of the call", "usd"),
    ),
    answer=Figure("put_price", "put price given by parity, with its sign", "usd"),
    positive=("abs(put_price) - 1", "12 - abs(put_price)", "spot - present_strike - 2"),
    pitfalls={
        "strike not discounted": "call_price - spot + strike",
        "annual compounding": "call_price - spot + strike / (1 + riskless_rate) ^ years",
        "sign turned": "-put_price",
    },
    printed=(1.37,),
    correction=(
        "The published $1.37 needs a call at $11. With the printed $8 parity gives -$1.63 (continuous compounding; "
        "-$1.52 with annual): the call is below its lower bound and no admissible put price exists. The question now "
        "states the compounding and asks for the parity value as it comes."
    ),
)

RATE_SWAP = Template(
    name="rate_swap",
    number=18,
    topic="Options & Derivatives",
    wording=(
        "Company X can borrow for a fixed {fixed_x} or for the reference rate plus {spread_x}; company Y for a fixed "
        "{fixed_y} or for the reference rate plus {spread_y}. X wants to end up paying floating and Y wants to end up "
        "paying fixed. Each borrows where its comparative advantage lies, and they swap, sharing the total saving "
        "equally, without a bank in between. Which fixed rate does Y pay in the end, all in?"
    ),
    inputs=(
        Input("fixed_x", "fixed rate of X", "percent", "0.08", "0.03", "0.08", "0.001"),
        Input("spread_x", "floating spread of X", "percent", "0.01", "0.002", "0.015", "0.001"),
        Input("fixed_y", "fixed rate of Y", "percent", "0.10", "0.04", "0.11", "0.001"),
        Input("spread_y", "floating spread of Y", "percent", "0.02", "0.004", "0.025", "0.001"),
    ),
    definitions={
        "total_saving": "(fixed_y - fixed_x) - (spread_y - spread_x)",
        "fixed_rate_y": "fixed_y - total_saving / 2",
        "floating_spread_x": "spread_x - total_saving / 2",
    },
    steps=(
        Figure("total_saving", "total saving of both companies together", "percent"),
        Figure("floating_spread_x", "spread over the reference rate that X pays in the end, with its sign", "percent"),
    ),
    answer=Figure("fixed_rate_y", "fixed rate that Y pays in the end", "percent"),
    positive=("total_saving - 0.004", "spread_y - spread_x", "abs(floating_spread_x) - 0.0009"),
    pitfalls={
        "rate of the other company": "fixed_x - total_saving / 2",
        "whole saving given to Y": "fixed_y - total_saving",
        "saving left out": "fixed_y",
    },
    printed=(0.075,),
    correction=(
        "The published question lets X borrow floating and Y fixed, which leaves no gain to share, and its 7.50% is "
        "impossible there. In the direction of comparative advantage X ends at the reference rate plus 0.5% floating "
        "and Y at 9.5% fixed; the question asks for the latter."
    ),
)

PRESENT_VALUE = Template(
    name="present_value",
    number=19,
    topic="Time Value of Money",
    wording=(
        "Somebody may take {amount_now} today or {amount_later} in {years} years. Money earns {rate} a year, "
        "compounded once a year. By how many dollars of today is the first offer worth more than the second? Give a "
        "negative number if it is worth less."
    ),
    inputs=(
        Input("amount_now", "amount offered today", "usd", "10000", "4000", "40000", "500"),
        Input("amount_later", "amount offered later", "usd", "12500", "4500", "70000", "250"),
        Input("years", "years until the later amount", "number", "3", "2", "9", "1"),
        Input("rate", "yearly rate", "percent", "0.08", "0.03", "0.11", "0.005"),
    ),
    definitions={
        "growth_factor": "(1 + rate) ^ years",
        "present_value_later": "amount_later / growth_factor",
        "advantage": "amount_now - present_value_later",
    },
    steps=(
        Figure("growth_factor", "what an amount of today is multiplied by until then", "number"),
        Figure("present_value_later", "present value of the later amount", "usd"),
    ),
    answer=Figure("advantage", "present value of the first offer less that of the second", "usd"),
    positive=("abs(advantage) - 0.005 * amount_now", "0.25 * amount_now - abs(advantage)"),
    pitfalls={
        "simple interest": "amount_now - amount_later / (1 + rate * years)",
        "compared at the later date": "amount_now * growth_factor - amount_later",
        "sign turned": "-advantage",
    },
    printed=(75.15,),
    correction="The published $75.15 rests on a rounding slip: 12,500 / 1.08^3 = 9,922.90, so that the gap is $77.10.",
)

LOAN_PAYMENT = Template(
    name="loan_payment",
    number=0,
    topic="Time Value of Money",
    wording=(
        "A loan of {principal} is repaid in equal monthly instalments over {years} years, the first one month after "
        "the money is paid out. The nominal yearly rate is {nominal_rate}, charged monthly as one twelfth of it. How "
        "large is the instalment?"
    ),
    inputs=(
        Input("principal", "amount borrowed", "usd", "200000", "40000", "900000", "10000"),
        Input("years", "years of the loan", "number", "20", "4", "30", "1"),
        Input("nominal_rate", "nominal yearly rate", "percent", "0.06", "0.03", "0.09", "0.0025"),
    ),
    definitions={
        "instalment": "principal * (nominal_rate / 12) / (1 - (1 + nominal_rate / 12) ^ (-12 * years))",
        "first_interest": "principal * nominal_rate / 12",
        "total_interest": "12 * years * instalment - principal",
    },
    steps=(
        Figure("first_interest", "interest part of the first instalment", "usd"),
        Figure("total_interest", "interest paid over the whole loan", "usd"),
    ),
    answer=Figure("instalment", "monthly instalment", "usd"),
    pitfalls={
        "a twelfth of the yearly annuity": "principal * nominal_rate / (1 - (1 + nominal_rate) ^ (-years)) / 12",
        "interest on the full amount throughout": "principal * (1 / (12 * years) + nominal_rate / 12)",
    },
)

COVERED_INTEREST = Template(
    name="covered_interest",
    number=20,
    topic="Forex",
    wording=(
        "The euro costs {spot_rate} dollars spot and {forward_rate} dollars one year forward. For one year, dollars "
        "are lent and borrowed at {usd_rate} and euros at {eur_rate} (simple yearly rates, no spreads). An arbitrageur "
        "borrows {notional}, or its exact equivalent in euros at spot, in whichever currency is the right one, "
        "converts it at spot, invests it for the year and covers the repayment of principal and interest forward. How "
        "large is the riskless profit in dollars at the end of the year?"
    ),
    inputs=(
        Input("spot_rate", "dollars per euro, spot", "number", "1.10", "0.95", "1.35", "0.01"),
        Input("forward_rate", "dollars per euro, one year forward", "number", "1.12", "0.95", "1.40", "0.005"),
        Input("usd_rate", "yearly dollar rate", "percent", "0.05", "0.02", "0.07", "0.0025"),
        Input("eur_rate", "yearly euro rate", "percent", "0.03", "0.005", "0.06", "0.0025"),
        Input("notional", "dollars borrowed, or their value", "usd", "1000000", "500000", "4000000", "500000"),
    ),
    definitions={
        "fair_forward": "spot_rate * (1 + usd_rate) / (1 + eur_rate)",
        "dollar_leg": "notional * (1 + usd_rate)",
        "euro_leg": "notional / spot_rate * (1 + eur_rate) * forward_rate",
        "profit": "abs(dollar_leg - euro_leg)",
    },
    steps=(
        Figure("fair_forward", "forward rate at which there is no arbitrage, dollars per euro", "number", 0.0003),
        Figure("dollar_leg", "end value of the amount held in dollars, in dollars", "usd", 0.0003),
        Figure("euro_leg", "end value of the amount held in euros, in dollars at the forward rate", "usd", 0.0003),
    ),
    answer=Figure("profit", "profit in dollars at the end of the year", "usd"),
    positive=("abs(forward_rate / fair_forward - 1) - 0.001", "0.02 - abs(forward_rate / fair_forward - 1)"),
    pitfalls={
        "profit left in euros": "profit / forward_rate",
        "profit discounted to today": "profit / (1 + usd_rate)",
        "forward gap only": "notional * abs(forward_rate - fair_forward)",
    },
    printed=(7273.0,),
    correction=(
        "The published $7,273 follows from no strategy on these quotes. The fair forward is 1.12136, above the quoted "
        "1.12, so one borrows euros, invests dollars and buys euros forward: 1,050,000 - 1,048,727.27 = $1,272.73 at "
        "the end of the year. The question now states the size and the date of the profit."
    ),
)

TEMPLATES: tuple[Template, ...] = (
    BETA_ADJUSTMENT,
    LEVERED_VOLATILITY,
    BOND_REPLICATION,
    DURATION_MATCH,
    PERPETUITY_REPRICING,
    BULL_CALL_SPREAD,
    RISK_NEUTRAL_PROBABILITY,
    PUT_CALL_PARITY,
    RATE_SWAP,
    PRESENT_VALUE,
    LOAN_PAYMENT,
    COVERED_INTEREST,
)
