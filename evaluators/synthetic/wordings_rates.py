"""Words of the templates in ``bank_rates.py``."""

from __future__ import annotations

from evaluators.synthetic.wording import Wording

WORDINGS: dict[str, Wording] = {
    "effective_rate": Wording(
        "A nominal yearly rate is compounded in equal periods of the year.",
        (
            "What is the effective annual rate?",
            "Which rate, compounded once a year, is the same?",
            "Find the annual equivalent of this rate.",
            "How much does a dollar of debt grow in a year, in per cent?",
            "What does money cost over a full year, compounding included?",
        ),
        ("State EAR.", "What is the true yearly charge?"),
        {
            "nominal_rate": ("nominal yearly rate", "rate in the contract", "stated annual charge"),
            "periods": ("periods a year", "times that interest is added in a year", "compounding frequency"),
        },
    ),
    "forward_rate": Wording(
        "Zero-coupon yields are compounded once a year and hold for two terms, both counted from today.",
        (
            "Which yearly forward rate do they imply for the time in between?",
            "At which yearly rate can money be locked in between the two dates?",
            "Find the implied forward rate a year.",
            "What does the curve say about the rate between the two dates?",
            "Which rate between the two dates leaves no arbitrage?",
        ),
        ("State the implied forward.", "What break-even rate joins the two maturities?"),
        {
            "short_yield": ("yield of the shorter term", "rate to the nearer date", "near zero yield"),
            "short_years": ("years of the shorter term", "time to the nearer date in years", "near maturity, years"),
            "long_yield": ("yield of the longer term", "rate to the farther date", "far zero yield"),
            "long_years": ("years of the longer term", "time to the farther date in years", "far maturity, years"),
        },
    ),
    "fra_settlement": Wording(
        "A treasurer bought a forward rate agreement. Rates are simple, on a year of 360 days, and the difference is "
        "settled at the beginning of the period, discounted at the fixing.",
        (
            "How much does the treasurer receive? A negative number if the treasurer pays.",
            "What is the settlement amount to the buyer, with its sign?",
            "Which payment, signed, goes to the treasurer at the fixing?",
            "Find the amount that settles the agreement, positive for the buyer.",
            "What does the agreement pay to its buyer, negative if it costs?",
        ),
        (
            "State the FRA's cash settlement for the long side, signed.",
            "What is wired to the buyer, minus if from him?",
        ),
        {
            "notional": ("notional amount", "sum on which interest is reckoned", "contract size"),
            "contract_rate": ("agreed rate", "rate in the agreement", "locked rate"),
            "fixing": ("fixing of the reference rate", "rate that the market turned out to have", "settled benchmark"),
            "days": ("days of the period", "length of the period in days", "tenor, days"),
        },
    ),
    "bond_convexity": Wording(
        "A bond pays a yearly coupon, the first in one year, and is repaid with its third coupon. Its yield is "
        "compounded once a year. Convexity is the second derivative of the price by the yield, over the price; "
        "modified duration is minus the first, over the price.",
        (
            "What is the bond's convexity?",
            "How convex is the bond?",
            "Find the convexity.",
            "Which convexity goes with this price?",
            "What is the curvature of the price, relative to the price?",
        ),
        ("State the convexity measure.", "How strongly does duration itself move, as convexity?"),
        {
            "face": ("face value", "amount repaid", "nominal"),
            "coupon": ("coupon rate", "interest that the bond pays a year", "rate printed on the bond"),
            "bond_yield": ("yield of the bond", "return to maturity", "market yield"),
        },
    ),
    "duration_convexity": Wording(
        "A bond's price is expanded to second order in its yield, which moves at once. Convexity is the second "
        "derivative of the price by the yield, over the price.",
        (
            "What does the bond cost after the move?",
            "To second order, which price results?",
            "Find the price after the move by duration and convexity.",
            "Where does the bond trade then, to second order?",
            "Which new price do duration and convexity give?",
        ),
        ("State the approximated price.", "What quote does the expansion give?"),
        {
            "price": ("price of the bond", "quote before the move", "starting price"),
            "modified_duration": ("modified duration", "sensitivity of the price to the yield", "first-order measure"),
            "convexity": ("convexity", "curvature of the price", "second-order measure"),
            "yield_change": ("change of the yield", "move of the yield", "shift in the market return"),
        },
    ),
    "forward_parity": Wording(
        "Exchange rates are dollars per pound. Interest is compounded once a year in both currencies, and there are no "
        "spreads.",
        (
            "At which forward price of the pound is there no covered arbitrage?",
            "What should the pound cost forward, in dollars?",
            "Find the forward rate that interest parity gives.",
            "Which forward price is fair?",
            "For how many dollars should a pound be sold for that date?",
        ),
        ("State the outright forward.", "What forward quote keeps arbitrageurs away?"),
        {
            "spot_rate": ("pound in dollars, spot", "spot price of the pound", "GBPUSD today"),
            "usd_rate": ("yearly dollar rate", "interest on dollars", "USD deposit yield"),
            "gbp_rate": ("yearly pound rate", "interest on pounds", "GBP deposit yield"),
            "years": ("years to the forward date", "time until delivery in years", "forward term, years"),
        },
    ),
    "futures_mispricing": Wording(
        "A future on a share index. Dividends are a continuous yield, the riskless rate is continuously compounded, "
        "and the fair future is the index carried to expiry.",
        (
            "By how many points is the future too dear? A negative number if it is too cheap.",
            "What is the future's mispricing in points, quoted less fair?",
            "How far, with its sign, does the quote stand above the cost of carry?",
            "Find quoted less fair future, in points.",
            "Which gap in points, signed, would an arbitrageur see?",
        ),
        ("State rich or cheap in points, signed.", "What basis error is there, sign included?"),
        {
            "spot": ("index level", "where the index stands", "cash index"),
            "dividend_yield": ("dividend yield", "what the index's shares pay", "payout yield"),
            "riskless_rate": ("riskless rate", "continuous interest rate", "safe yield"),
            "years": ("years to expiry of the future", "time until the future expires", "remaining life, years"),
            "quoted_future": ("quoted future", "where the future trades", "screen price of the contract"),
        },
    ),
}
