"""Words of the templates in ``bank_operations.py``."""

from __future__ import annotations

from evaluators.synthetic.wording import Wording

WORDINGS: dict[str, Wording] = {
    "wacc": Wording(
        "Weights are market weights. Interest saves tax, and the cost of capital is stated after tax.",
        (
            "What is the weighted average cost of capital?",
            "Which rate do all providers of capital require together?",
            "Find the firm's cost of capital.",
            "At which rate should the firm's average project be discounted?",
            "What does capital cost the firm overall?",
        ),
        ("State WACC.", "What is the blended cost of funds?"),
        {
            "equity_value": ("market value of the equity", "what all shares are worth", "capitalisation"),
            "debt_value": ("market value of the debt", "what all debt is worth", "bonds and loans at market"),
            "cost_of_equity": ("return that shareholders require", "cost of equity", "equity hurdle"),
            "cost_of_debt": ("cost of debt before tax", "yield that lenders ask", "pre-tax borrowing cost"),
            "tax_rate": ("tax rate", "tax on profits", "corporate levy"),
        },
    ),
    "breakeven": Wording(
        "A workshop makes one product. Costs are fixed or in proportion to units; profit is before tax, and units are "
        "not rounded.",
        (
            "How many units have to be sold for the profit that is wanted?",
            "Which volume brings the profit wanted?",
            "What must sales in units be?",
            "Find the number of units that meets the owner's wish.",
            "How many pieces must leave the workshop?",
        ),
        ("State the target volume.", "What unit count delivers the goal?"),
        {
            "fixed_costs": ("fixed costs a year", "costs that arise at any volume", "overheads"),
            "price": ("price of a unit", "what a customer pays for one", "selling price"),
            "variable_cost": ("variable cost of a unit", "materials and wages for one", "marginal cost"),
            "target_profit": ("profit wanted", "what the owner wants to earn", "profit goal"),
        },
    ),
    "operating_leverage": Wording(
        "The degree of operating leverage is the elasticity of operating profit to units sold, at the present volume.",
        (
            "What is the degree of operating leverage?",
            "How elastic is operating profit to volume?",
            "By how many per cent does operating profit rise for each per cent of volume?",
            "Find the operating leverage of the business.",
            "Which multiple of a change of volume reaches operating profit?",
        ),
        ("State DOL.", "How geared are operations?"),
        {
            "units": ("units sold a year", "yearly volume in units", "pieces shipped"),
            "price": ("price of a unit", "what a customer pays for one", "selling price"),
            "variable_cost": ("variable cost of a unit", "materials and wages for one", "marginal cost"),
            "fixed_costs": ("fixed operating costs a year", "costs that arise at any volume", "overheads"),
        },
    ),
    "financial_leverage": Wording(
        "The degree of financial leverage is the elasticity of earnings per share to earnings before interest and tax. "
        "There are no preferred shares.",
        (
            "What is the degree of financial leverage?",
            "How elastic are earnings per share to operating earnings?",
            "By how many per cent do earnings per share rise for each per cent of operating earnings?",
            "Find the financial leverage at these earnings.",
            "Which multiple of a change of operating earnings reaches shareholders?",
        ),
        ("State DFL.", "How geared are shareholders' earnings by debt?"),
        {
            "ebit": ("earnings before interest and tax", "operating earnings", "EBIT"),
            "debt": ("debt", "what is owed to lenders", "borrowings"),
            "interest_rate": ("interest rate of the debt", "what lenders charge a year", "loan coupon"),
        },
    ),
    "cash_conversion": Wording(
        "All sales are on credit. Closing balances are used, inventory and payables are measured on cost of goods "
        "sold, receivables on sales, and a year has 365 days.",
        (
            "How long is the cash conversion cycle in days?",
            "For how many days is cash tied up on average?",
            "How many days pass between paying suppliers and being paid?",
            "Find the cash cycle in days.",
            "Which number of days does the firm itself have to finance?",
        ),
        ("State CCC.", "What is the cash gap in days?"),
        {
            "sales": ("sales of the year", "yearly turnover", "revenue billed"),
            "cost_of_goods": ("cost of goods sold", "what the goods sold had cost", "COGS"),
            "inventory": ("inventory", "goods in the warehouse", "stock on hand"),
            "receivables": ("trade receivables", "what customers owe", "open invoices to clients"),
            "payables": ("trade payables", "what suppliers are owed", "open bills"),
        },
    ),
    "cycle_financing": Wording(
        "The same amount is paid out on each of the 365 days of the year and comes back after a fixed number of "
        "days. A credit line with simple yearly interest carries it in between.",
        (
            "What does the line cost a year?",
            "How much interest does a year of this business take?",
            "Find the yearly cost of carrying the outlays.",
            "Which amount goes to the bank every year?",
            "What is the yearly price of waiting for the money?",
        ),
        ("State the annual carrying charge.", "What bill does the bank send for a year?"),
        {
            "daily_outlay": ("money paid out a day", "daily spending on goods and wages", "cash out per day"),
            "cycle_days": ("days until the money is back", "length of the cycle in days", "turnaround, days"),
            "credit_rate": ("rate of the credit line", "what the bank charges a year", "overdraft interest"),
        },
    ),
    "economic_value_added": Wording(
        "Economic value added is operating profit after tax less a charge for the capital in use.",
        (
            "How large is economic value added, with its sign?",
            "How much value, signed, did the division create beyond the cost of its capital?",
            "What is left of operating profit after tax once capital is paid for? Keep the sign.",
            "Find the economic profit, with its sign.",
            "Which surplus over the cost of capital was earned, negative if none?",
        ),
        ("State EVA.", "What is residual income, sign included?"),
        {
            "operating_profit": ("operating profit before tax", "result of operations", "EBIT of the division"),
            "tax_rate": ("tax rate", "tax on profits", "levy"),
            "invested_capital": ("invested capital", "capital in use", "money employed in the division"),
            "cost_of_capital": ("cost of capital", "what capital costs a year", "capital hurdle"),
        },
    ),
    "lease_or_buy": Wording(
        "A machine can be bought or leased. Lease payments fall due at the end of each year and are deducted by a "
        "lessee; an owner deducts the price in equal parts over the same years, after which the machine is worth "
        "nothing. Tax falls due at the end of each year. Everything is discounted at the borrowing rate after tax.",
        (
            "By how much is leasing better than buying, in present value? A negative number if it is worse.",
            "What is the net advantage of leasing, with its sign?",
            "How much is saved today by a lease instead of a purchase? Negative if nothing is.",
            "Find the present value of leasing less that of buying.",
            "Which sum, signed, speaks for the lease?",
        ),
        ("State NAL.", "What does the lessee gain against an owner, sign included?"),
        {
            "machine_cost": ("price of the machine", "what it costs to buy it", "purchase price"),
            "lease_payment": ("lease payment a year", "yearly rent of the machine", "rental"),
            "years": ("years of the lease", "term of the contract in years", "rental term, years"),
            "tax_rate": ("tax rate", "tax on profits", "levy"),
            "borrowing_rate": ("borrowing rate before tax", "what the firm pays on loans", "loan cost, pre-tax"),
        },
    ),
    "sustainable_growth": Wording(
        "The firm issues no shares and keeps its capital structure and its returns. The return on equity is on the "
        "equity at the beginning of the year.",
        (
            "At which rate can the firm grow?",
            "What is its sustainable growth rate?",
            "How fast can it grow out of what it retains?",
            "Find the growth that retained earnings carry.",
            "Which yearly growth needs no new shares?",
        ),
        ("State g from retention.", "What pace is self-financed?"),
        {
            "return_on_equity": ("return on equity", "what equity earns", "ROE"),
            "earnings_per_share": ("earnings per share", "profit for each share", "EPS"),
            "dividend_per_share": ("dividend per share", "payout for each share", "DPS"),
        },
    ),
    "relevered_beta": Wording(
        "A listed rival and the firm are in the same business and differ in debt, measured at market values. Debt has "
        "a beta of zero, and its tax saving is as safe as the debt (Hamada). Both pay the same tax.",
        (
            "What is the firm's equity beta?",
            "Which beta should the firm's shares have?",
            "Carry the rival's beta over to the firm.",
            "Find the beta of the firm's equity.",
            "How sensitive should the firm's shares be to the market?",
        ),
        ("State the relevered beta.", "What beta goes with the firm's own gearing?"),
        {
            "beta": ("equity beta of the rival", "beta of the rival's shares", "peer's equity slope"),
            "debt_to_equity": ("debt over equity of the rival", "the rival's gearing, debt to equity", "peer's D/E"),
            "new_debt_to_equity": ("debt over equity of the firm", "the firm's own gearing, debt to equity", "own D/E"),
            "tax_rate": ("tax rate", "tax on profits", "levy"),
        },
    ),
    "enterprise_multiple": Wording(
        "The firm is valued like its rivals, by enterprise value over EBITDA. Enterprise value is equity plus debt "
        "less cash.",
        (
            "What is one of the firm's shares worth at that multiple?",
            "Which value per share follows from the rivals' multiple?",
            "Find the value of a share.",
            "At which share price would the firm trade like its rivals?",
            "How much is a share worth by comparison?",
        ),
        ("State the implied price per share.", "What does the peer multiple say about the stock?"),
        {
            "multiple": ("enterprise value over EBITDA of rivals", "the rivals' multiple", "peer EV/EBITDA"),
            "ebitda": ("EBITDA of the firm", "earnings before interest, tax and depreciation", "firm-level EBITDA"),
            "debt": ("debt of the firm", "what the firm owes to lenders", "gross borrowings"),
            "cash": ("cash of the firm", "money in the bank", "liquid funds"),
            "shares": ("shares outstanding", "number of shares", "share count"),
        },
    ),
}
