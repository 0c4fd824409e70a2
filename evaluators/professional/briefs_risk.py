"""Briefs on loans, bonds, options and value at risk."""

from __future__ import annotations

from evaluators.professional.briefs import Brief

LOAN = Brief(
    usual=(
        "{client} has a loan with level monthly payments and considers one extra payment of principal, for which the "
        "lender charges a prepayment fee. Prepare the loan schedule with the extra payment, until the balance is zero, "
        "and a memo that recommends whether to prepay.\nConventions: the monthly rate is the annual rate divided by "
        "12. The level payment and each month's interest are rounded to cents, halves up. The extra payment is made "
        "together with the regular payment of its month and reduces the balance; the level payment stays the same, so "
        "that the loan ends early. The last payment is the remaining balance and its interest. The fee is paid "
        "separately.",
        "Should {client} repay part of its loan ahead of time? The loan is repaid in level monthly payments; one "
        "additional repayment of principal would come on top, at the price of a fee to the lender that is paid "
        "separately. We need the payment plan with that repayment, down to a balance of zero, and a recommendation. "
        "Work with a twelfth (1/12) of the annual rate each month, with the level payment and every month's interest "
        "rounded to cents (halves up). The additional repayment falls together with the regular payment of its month; "
        "afterwards the level payment is kept, which makes the loan end sooner, and the final payment clears whatever "
        "balance is left with its interest.",
        "From the credit desk: {client} asks what one extra payment on its loan would save. Rules of the loan: level "
        "payment, monthly, computed for the original term and rounded to cents with halves up; interest of a month is "
        "the balance times the annual rate over 12, rounded likewise. The extra payment goes to principal in full, in "
        "the same month as a regular payment, and does not change the level payment. The schedule therefore stops "
        "early, with a last payment of what is still owed plus its interest. A fee for prepaying is charged and paid "
        "separately from the schedule. Hand in the schedule with the extra payment and a memo with a recommendation.",
        "Assignment: loan schedule of {client} with a single prepayment, and advice on it.\n- Payments are level and "
        "monthly; the extra payment joins the regular one of its month and lowers the balance.\n- The monthly rate is "
        "the annual rate divided by 12.\n- Round the level payment and the interest of each month to cents, halves up."
        "\n- The level payment is not recomputed afterwards; the loan simply ends earlier, its last payment being the "
        "balance then left and the interest on it.\n- The prepayment fee is paid separately and stays out of the "
        "schedule.",
        "The treasurer of {client} has cash to spare and thinks of paying down the company's loan once, beyond the "
        "level monthly payments, although the bank wants a fee for that (settled separately). Show month by month how "
        "the loan runs off with the extra payment until nothing is owed, and write up whether it is worth it. A "
        "month's interest is one twelfth of the annual rate (the rate divided by 12) on the balance; it and the level "
        "payment are rounded to cents, halves upwards. In its month the extra payment is made with the regular one. "
        "The level payment remains as it was, so fewer payments are due, and the last one is the balance that remains "
        "with its interest.",
    ),
    held_back=(
        "A client, {client}, pays off a loan in equal (level) monthly amounts and wonders about one lump sum towards "
        "principal; the lender would levy a charge for it, the prepayment fee, which is paid separately. Draw up how "
        "the loan is repaid if the lump sum (the extra payment) is made together with that month's regular payment, "
        "through to a zero balance. The equal amount stays unchanged by it, so the end comes sooner; the final amount "
        "is the balance still open plus interest. Per month the rate is the annual one over 12. Round the equal amount "
        "and every month's interest to cents, halves up. Close with advice to the committee.",
        "Please check the numbers behind a partial early repayment for {client}. Given are the terms of an amortising "
        "loan with level payments at the end of each month. Interest accrues at the annual rate divided by 12 and is "
        "rounded to cents with halves going up, as is the level payment. In one month an extra payment is added to "
        "the regular one and lowers what is owed, while later payments keep their level, so the term gets shorter; "
        "what is then left is settled by a last payment of balance and interest. The bank's fee for this does not run "
        "through the schedule but is paid separately. Deliver the schedule after prepayment and your view on doing it.",
    ),
)
BOND = Brief(
    usual=(
        "{client} holds a ladder of bonds with annual coupons, the first of them due one year after settlement. "
        "Prepare the table of yearly cash flows and a memo on value and duration.\nConventions: each bond pays its "
        "coupon rate on its face value once a year on the anniversary of settlement, and its face value at maturity; "
        "all cash flows are discounted at one flat yield with annual compounding; no accrued interest. Do not round "
        "intermediate results.",
        "What is the bond ladder of {client} worth, and how long is it? Every bond pays a coupon on its face value "
        "once a year, on the anniversary of settlement and for the first time a year after it, and the face value when "
        "it matures. Discount everything at the flat yield, compounded annually; there is no accrued interest. Keep "
        "full precision until the end. We expect the cash flows year by year and a memo on value and duration.",
        "For the investment committee of {client}: list what its ladder of bonds pays in each year and report present "
        "value and duration. Assume one flat yield for all maturities with annual compounding, coupons paid annually "
        "on the anniversary of settlement (coupon rate times face value, starting one year after settlement), "
        "redemption at face value, and no accrued interest. Round nothing before the end.",
        "Assignment: cash flows, value and duration of a bond ladder held by {client}.\n- Coupons: annual, on "
        "anniversaries of settlement, the first one year after it; coupon rate times face value.\n- Redemption: face "
        "value at maturity.\n- Discounting: a single flat yield, compounded annually, without accrued interest.\n- "
        "Intermediate results are not rounded.",
        "{client} has bought bonds that mature one after the other, one each year. Their coupons come once a year, on "
        "the anniversary of settlement, one year after settlement for the first time; each is the coupon rate on the "
        "face value, and at maturity the face value comes with it. Work out the yearly totals and what they are worth "
        "at the flat yield (annual compounding, no accrued interest, no rounding on the way), and write the committee "
        "a memo about value and duration.",
    ),
    held_back=(
        "The ladder of {client} is up for review. Set out its payments by year and value them. A bond brings its "
        "coupon, a percentage of face value, on each anniversary of settlement up to its maturity (so the first falls "
        "one year after settlement), and its face value on the last of these days. Use the same flat yield for every "
        "payment with annual compounding, leave accrued interest aside, and carry all digits through. The memo covers "
        "what the ladder is worth and its duration.",
        "We have to tell {client} whether its bonds are too short or too long. Start from a table of the money that "
        "comes in each year after settlement: annual coupons on face value, paid on the anniversary of settlement, the "
        "first after one year, plus the face value of whatever matures that year. Present values use annual "
        "compounding at one flat yield. Ignore accrued interest, and do not round intermediate figures. Then report "
        "value and duration in a memo.",
    ),
)
OPTIONS = Brief(
    usual=(
        "Compute the Greeks of an option book on one share and report to the head of risk.\nConventions: European "
        "options by Black-Scholes-Merton with continuous rate and dividend yield, time in days over 365, {contract} "
        "shares a contract, each position with its own volatility. All figures are for the whole position, signed.",
        "How exposed is the option book, and does it have to be hedged? All options are European, on the same share, "
        "for {contract} shares a contract. Value them by Black-Scholes-Merton, each position at its own volatility, "
        "with rate and dividend yield compounded continuously and the time to expiry as days over 365. State value and "
        "Greeks of whole positions, with the sign of the position.",
        "The head of risk wants value and Greeks of our options on one share, by position and in total. Model: "
        "Black-Scholes-Merton for European options; continuous interest rate and continuous dividend yield; years are "
        "days divided by 365; a volatility for each position. One contract covers {contract} shares. Figures refer to "
        "the entire position and carry its sign.",
        "Assignment: sensitivities of an option book on a single share.\n- Model: Black-Scholes-Merton, European "
        "exercise.\n- Rate and dividend yield: continuous.\n- Time: days over 365.\n- Volatility: that of the "
        "position.\n- Size: {contract} shares a contract; figures are those of the whole position, signed.",
        "Before tonight's limit check, put the Greeks of the option book together and tell the head of risk where it "
        "stands. The options are European and written on one share, {contract} shares to the contract. Use the formula "
        "of Black, Scholes and Merton (Black-Scholes-Merton) with continuously compounded rate and dividend yield, "
        "days over 365 for the time, and the volatility that each position is marked with. Report positions as a "
        "whole and signed, so that sold options count negatively where held ones count positively.",
    ),
    held_back=(
        "A book of European options on one and the same share needs its daily sheet: what each position is worth and "
        "how it reacts. Positions are counted in contracts of {contract} shares, and the figures wanted are of the "
        "full signed position. Price with Black-Scholes-Merton; take the rate and the dividend yield as continuous, "
        "time as days over 365, and for each position the volatility given for it. Report to the head of risk.",
        "Take the desk's positions in European options (one underlying share, {contract} shares per contract) and "
        "derive value, delta, gamma and vega of every one of them, signed and for the position as a whole. The desk "
        "uses Black-Scholes-Merton, a year of 365 days (days over 365), a continuous interest rate, a continuous "
        "dividend yield and a volatility of its own for every position. The head of risk will decide on your memo.",
    ),
)
VALUE_AT_RISK = Brief(
    usual=(
        "Measure the risk of a portfolio of shares and report to the committee. The prices are not given: fetch the "
        "daily closes from the Yahoo Finance tool, from {first_close} to {last_close}, both included.\nConventions: "
        "the {window} daily log returns of this window, sample covariances (n-1), zero mean, normal distribution, "
        "linear positions: the dollar variance of the portfolio is the sum over pairs of value times value times "
        "covariance.",
        "Is the share portfolio within its value-at-risk limit? Take its daily closes from the Yahoo Finance tool (the "
        "window runs from {first_close} to {last_close}, both days included), form the {window} daily log returns and "
        "their sample covariances with n-1 in the denominator. Assume a normal distribution with zero mean and linear "
        "positions, so that the portfolio's dollar variance sums value times value times covariance over all pairs.",
        "The risk committee asks for the parametric value at risk of the holdings below, with the part that each share "
        "contributes. Method: normal distribution, zero mean, positions linear in the prices; the variance in dollars "
        "is the sum, over pairs of shares, of value times value times covariance. Covariances are sample ones (n-1) "
        "of daily log returns, {window} of them, out of the daily closes from {first_close} to {last_close}, both "
        "included. Those closes have to be fetched with the Yahoo Finance tool.",
        "Assignment: value at risk of a portfolio of shares and its components.\n- Prices: daily closes of the Yahoo "
        "Finance tool, {first_close} to {last_close}, both included.\n- Returns: the {window} daily log returns "
        "between them.\n- Covariances: sample (n-1).\n- Model: normal, zero mean, linear positions; dollar variance "
        "is the sum over pairs of value times value times covariance.",
        "Tell the committee what the portfolio below can lose in a day. Nobody has put the prices together yet; the "
        "Yahoo Finance tool has the daily closes, of which those from {first_close} through {last_close} are to be "
        "used, both included, that is {window} daily log returns. Use their sample covariance matrix (divisor n-1), "
        "treat the positions as linear and the returns as normal with zero mean: the variance of the portfolio in "
        "dollars adds up value times value times covariance over the pairs of shares.",
    ),
    held_back=(
        "A committee wants to know how much is at risk in a few shares. First collect their daily closes with the "
        "Yahoo Finance tool, beginning on {first_close} and ending on {last_close}, both included. Then compute the "
        "{window} daily log returns and, with n-1, their sample covariances. The portfolio is linear and its returns "
        "normal with zero mean; its dollar variance follows by adding value times value times covariance over every "
        "pair. Report level and composition of the risk.",
        "Prepare the risk report of an equity portfolio by the variance-covariance method. What the method needs: "
        "{window} daily log returns of each share from closes between {first_close} and {last_close}, both included "
        "(the Yahoo Finance tool serves them; they are not attached), sample covariances on n-1, a normal "
        "distribution around zero mean, and linear positions, for which the dollar variance is the sum over pairs of "
        "value times value times covariance.",
    ),
)
