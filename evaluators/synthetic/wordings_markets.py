"""Words of the templates in ``bank_markets.py``."""

from __future__ import annotations

from evaluators.synthetic.wording import Wording

WORDINGS: dict[str, Wording] = {
    "beta_adjustment": Wording(
        "A portfolio is fully invested in two stocks, X and Y. The holder sells part of X, puts the proceeds into a "
        "riskless asset and keeps the weight of Y exactly as it is, so that the beta of the whole meets a target.",
        (
            "What is the weight of X then?",
            "Which weight of X meets the target?",
            "How much of the portfolio is still in X afterwards?",
            "To which weight must X be cut?",
            "Find the weight of X after the change.",
        ),
        ("What share of wealth remains in X?", "Name X's position size once the target is met."),
        {
            "weight_x": ("present weight of X", "part now in X", "X's share at the outset"),
            "beta_x": ("beta of X", "market sensitivity of X", "X's slope on the index"),
            "beta_y": ("beta of Y", "market sensitivity of Y", "Y's slope on the index"),
            "target_beta": ("target beta of the portfolio", "beta wanted for the whole", "desired overall slope"),
        },
    ),
    "levered_volatility": Wording(
        "A stock can be mixed with riskless lending or borrowing, without limit and at one rate, so that the portfolio "
        "has the expected return that is wanted.",
        (
            "What is the standard deviation of the portfolio?",
            "How volatile is the portfolio?",
            "Which risk, as a standard deviation, comes with that return?",
            "What standard deviation has to be borne?",
            "Find the volatility of the mixture.",
        ),
        ("State sigma of the combination.", "How large are the swings of the mixture, as a standard deviation?"),
        {
            "expected_return": (
                "expected return of the stock",
                "mean return of the stock",
                "what the stock should earn",
            ),
            "volatility": ("standard deviation of the stock", "volatility of the stock", "the stock's sigma"),
            "riskless_rate": ("riskless rate", "rate for lending and borrowing", "yield without risk"),
            "target_return": ("expected return that is wanted", "target of the portfolio", "return goal"),
        },
    ),
    "bond_replication": Wording(
        "Default-free bonds with one face value and one maturity can be bought and sold short: a zero-coupon bond and "
        "a bond with yearly coupons that trades at its face value. Their prices are taken as given, and nothing is "
        "assumed about the shape of the yield curve. A third bond of the same face value and maturity is priced by "
        "replicating its cash flows with the two.",
        (
            "What must the third bond cost?",
            "Which price of the third bond leaves no arbitrage?",
            "Price the third bond by replication.",
            "What is the cost of the replicating portfolio?",
            "At which price should the third bond trade?",
        ),
        ("Quote the third bond.", "What does the synthetic version of the third bond cost?"),
        {
            "face": ("face value", "amount repaid", "nominal of each bond"),
            "years": ("years to maturity", "life of the bonds in years", "term, years"),
            "zero_price": ("price of the zero-coupon bond", "quote of the bond without coupons", "cost of the zero"),
            "par_coupon": ("coupon rate of the bond at par", "coupon of the second bond", "rate paid by the par bond"),
            "coupon": ("coupon rate of the third bond", "coupon of the bond to be priced", "rate paid by the new bond"),
        },
    ),
    "duration_match": Wording(
        "A pension scheme's assets equal its liabilities in value and are to consist of two bonds. Durations are "
        "modified durations throughout, and the duration of assets is to match that of liabilities.",
        (
            "Which part of the money goes into the longer bond?",
            "What is the weight of the longer bond?",
            "How is the longer bond to be weighted?",
            "Which fraction of assets belongs in the longer bond?",
            "Find the part of the longer bond that immunises the scheme.",
        ),
        ("What allocation to the long bond is needed?", "Size the long bond as a percentage of assets."),
        {
            "liability_duration": ("duration of the liabilities", "duration to be matched", "liability side, duration"),
            "duration_a": ("duration of the shorter bond", "duration of the short holding", "short leg, duration"),
            "duration_b": ("duration of the longer bond", "duration of the long holding", "long leg, duration"),
        },
    ),
    "perpetuity_repricing": Wording(
        "A bond without maturity pays once a year, the next time in one year. The market rate is the same for all "
        "maturities and moves at once.",
        (
            "By how much, in per cent of its old price and with its sign, does the bond's price change?",
            "What is the relative change of the price, with its sign?",
            "How does the price of the bond react, in per cent?",
            "Which percentage does a holder gain or lose at once?",
            "Find the change of price over the old price.",
        ),
        ("State the instant return on the perpetuity.", "What is the mark-to-market move in per cent?"),
        {
            "payment": ("yearly payment", "amount paid each year", "annual cheque"),
            "old_rate": ("market rate before the move", "rate until now", "former yield"),
            "new_rate": ("market rate after the move", "rate from now on", "new yield"),
        },
    ),
    "bull_call_spread": Wording(
        "Two calls on one stock with one expiry: a trader buys the one with the lower strike and sells the one with "
        "the higher strike. Everything is per share, and interest is ignored.",
        (
            "At which stock price at expiry does the position break even?",
            "Where is the break-even of the spread?",
            "Which stock price at expiry leaves neither profit nor loss?",
            "From which price at expiry on does the trader make money?",
            "Find the stock price at which the spread pays back its cost.",
        ),
        ("Name the spread's breakeven.", "What must the stock reach for the trader to come out even?"),
        {
            "strike_low": ("strike of the call bought", "lower strike", "exercise price of the long leg"),
            "strike_high": ("strike of the call sold", "higher strike", "exercise price of the short leg"),
            "premium_bought": ("premium paid", "cost of the call bought", "outlay for the long leg"),
            "premium_sold": ("premium received", "proceeds of the call sold", "income from the short leg"),
        },
    ),
    "risk_neutral_probability": Wording(
        "A one-period binomial model of a stock without dividend. Moves are relative to today's price, the fall is "
        "given as a positive number, and the riskless rate is simple, for the period.",
        (
            "What is the risk-neutral probability of the upper state?",
            "Which probability of a rise prices the stock?",
            "How likely is the upper state under the pricing measure?",
            "Find the risk-neutral weight of the upper state.",
            "With which probability does the stock rise in a risk-neutral world?",
        ),
        ("State q for the up move.", "What is the martingale probability of the rise?"),
        {
            "spot": ("stock price", "price of the stock today", "current quote"),
            "up_move": ("rise in the upper state", "relative gain if it goes up", "up step"),
            "down_move": ("fall in the lower state", "relative loss if it goes down", "down step"),
            "riskless_rate": ("riskless rate of the period", "interest for the period", "safe return of one step"),
        },
    ),
    "put_call_parity": Wording(
        "A European call and a European put with one strike and one expiry on a stock that pays no dividend. The "
        "riskless rate is continuously compounded. The parity value is reported as it comes: if it is negative, the "
        "quoted call lies below its lower bound, and the negative number is the answer.",
        (
            "Which price of the put does put-call parity give?",
            "What should the put cost by parity?",
            "Find the put's price from the call's.",
            "At which put price does parity hold?",
            "Which value of the put follows from the quoted call?",
        ),
        ("Back out the put.", "What put quote would parity imply?"),
        {
            "call_price": ("quoted price of the call", "what the call costs", "call premium"),
            "spot": ("stock price", "price of the underlying", "where the share trades"),
            "strike": ("strike", "exercise price", "price fixed in the contract"),
            "riskless_rate": ("riskless rate", "continuous interest rate", "safe yield"),
            "years": ("years to expiry", "time until the options expire", "remaining life, years"),
        },
    ),
    "rate_swap": Wording(
        "Two companies, X and Y, can borrow at fixed rates or at spreads over one reference rate. X wants to end up "
        "floating, Y fixed. Each borrows where its comparative advantage lies, and they swap without a bank, sharing "
        "the total saving equally.",
        (
            "Which fixed rate does Y pay in the end, all in?",
            "What does fixed money cost Y after the swap?",
            "Find Y's all-in fixed rate.",
            "At which fixed rate does Y end up?",
            "What is Y's total cost, as a fixed rate?",
        ),
        ("What fixed coupon does Y effectively bear?", "State Y's synthetic fixed funding."),
        {
            "fixed_x": ("fixed rate offered to X", "X's cost of fixed money", "X, fixed quote"),
            "spread_x": ("spread of X over the reference rate", "X's floating margin", "X, floating add-on"),
            "fixed_y": ("fixed rate offered to Y", "Y's cost of fixed money", "Y, fixed quote"),
            "spread_y": ("spread of Y over the reference rate", "Y's floating margin", "Y, floating add-on"),
        },
    ),
    "present_value": Wording(
        "Somebody may take one amount today or another one later. Money earns interest that is compounded once a year.",
        (
            "By how many dollars of today is the first offer worth more than the second? A negative number if less.",
            "What is the advantage of taking the money now, in today's dollars and with its sign?",
            "How much better, in present value, is the money of today? Negative if it is worse.",
            "Find the present value of the first offer less that of the second.",
            "What does one gain today by not waiting? Give a loss a minus.",
        ),
        ("State the present-value edge of the early offer, signed.", "What is patience worth, with the sign turned?"),
        {
            "amount_now": ("amount offered today", "money to be had at once", "immediate offer"),
            "amount_later": ("amount offered later", "money for those who wait", "deferred offer"),
            "years": ("years until the later amount", "wait in years", "delay, years"),
            "rate": ("yearly rate that money earns", "interest a year", "annual return on savings"),
        },
    ),
    "loan_payment": Wording(
        "A loan is repaid in equal monthly instalments, the first one month after the money is paid out. Interest is "
        "charged monthly at a twelfth of the nominal yearly rate.",
        (
            "How large is the instalment?",
            "What has to be paid each month?",
            "Which monthly payment clears the loan?",
            "Find the level payment.",
            "How much does the borrower pay a month?",
        ),
        ("State the monthly annuity.", "What debit will leave the account every month?"),
        {
            "principal": ("amount borrowed", "size of the loan", "sum lent"),
            "years": ("years of the loan", "term in years", "how long repayment takes, years"),
            "nominal_rate": ("nominal yearly rate", "rate in the contract", "stated annual charge"),
        },
    ),
    "covered_interest": Wording(
        "Exchange rates are dollars per euro; rates are simple, for one year and without spreads. An arbitrageur "
        "borrows the notional, or its exact equivalent in euros at spot, in whichever currency is right, converts it "
        "at spot, invests it for the year and covers the repayment of principal and interest forward.",
        (
            "How large is the riskless profit in dollars at the end of the year?",
            "What does the arbitrage earn in dollars after the year?",
            "Which profit is locked in, in dollars at the end?",
            "How many dollars are left when everything is settled?",
            "Find the arbitrage profit at the end of the year.",
        ),
        ("What does covered arbitrage pay at maturity?", "Name the locked-in dollar gain."),
        {
            "spot_rate": ("euro in dollars, spot", "spot price of the euro", "EURUSD today"),
            "forward_rate": ("euro in dollars, one year forward", "forward price of the euro", "EURUSD for next year"),
            "usd_rate": ("yearly dollar rate", "interest on dollars", "USD deposit yield"),
            "eur_rate": ("yearly euro rate", "interest on euros", "EUR deposit yield"),
            "notional": ("notional in dollars", "size of the trade in dollars", "amount put through"),
        },
    ),
}
