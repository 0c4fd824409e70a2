"""Words of the templates in ``bank_corporate.py``."""

from __future__ import annotations

from evaluators.synthetic.wording import Wording

WORDINGS: dict[str, Wording] = {
    "ebitda": Wording(
        "EBITDA is counted from operating income. The firm reports no separate interest line: what it earns or pays "
        "outside operations stands in the non-operating figure, a gain, which net income includes.",
        (
            "What is EBITDA?",
            "How much did the firm earn before interest, taxes, depreciation and amortisation?",
            "Work your way up from the bottom line to EBITDA.",
            "Which EBITDA follows from these accounts?",
            "An analyst needs EBITDA for a multiple. What should go in?",
        ),
        ("Tell the lender the EBITDA figure.", "State earnings before interest, taxes, depreciation and amortisation."),
        {
            "net_income": ("profit after tax", "bottom line", "net profit for the period"),
            "income_tax": ("tax charge", "provision for taxes on income", "fiscal burden"),
            "other_income": ("net gain outside operations", "other income, net", "non-operating surplus"),
            "depreciation": (
                "depreciation and amortisation",
                "write-down of long-lived assets over time",
                "D&A from the cash flow statement",
            ),
        },
    ),
    "npv_crossover": Wording(
        "Of two projects only one can be taken. Each costs the same now. The first pays everything back one year from "
        "now, the second everything at a single later date. Interest is compounded once a year.",
        (
            "At which discount rate do the two have the same net present value?",
            "At what cost of capital would the owner be indifferent between them?",
            "Find the rate at which the net present values of the two cross.",
            "For which yearly rate is neither project better than the other?",
            "Which discount rate makes the choice a tie?",
        ),
        ("Where do the two present value profiles meet?", "The committee wants the break-even rate of the choice."),
        {
            "outlay": ("cost of either project", "money to be put up at the start", "initial cheque"),
            "cash_a": ("receipt of the first project", "what the quick project brings", "early payoff"),
            "cash_b": ("receipt of the second project", "what the slow project brings", "late payoff"),
            "years_b": (
                "wait for the second receipt in years",
                "years that the slow project takes",
                "late date, years",
            ),
        },
    ),
    "free_cash_flow": Wording(
        "Operating profit is stated before interest and tax and after depreciation, and taxed as if there were no "
        "debt. Free cash flow is the one to all providers of capital.",
        (
            "What is the free cash flow to the firm?",
            "How much cash is left for lenders and owners together?",
            "Compute the year's free cash flow before any payment for financing.",
            "Which free cash flow should a valuation of the whole firm start from?",
            "How much cash does the business throw off for all who financed it?",
        ),
        ("State FCFF for the year.", "What could have been paid to lenders and shareholders this year?"),
        {
            "ebit": ("profit before interest and tax", "operating result", "EBIT"),
            "depreciation": ("depreciation", "wear charged to the accounts", "non-cash write-offs"),
            "capex": ("money spent on fixed assets", "purchases of plant and equipment", "investment in machines"),
            "working_capital_increase": (
                "increase of working capital",
                "cash newly bound in stock and receivables",
                "growth of net current assets",
            ),
            "tax_rate": ("rate of tax on profits", "share of profits that goes to the state", "corporate tax"),
        },
    ),
    "combined_leverage": Wording(
        "Degrees of leverage are those at present output. Sales change, and everything else about the firm stays.",
        (
            "By how much, in per cent and with its sign, do earnings per share change?",
            "What happens to earnings per share, in per cent?",
            "Which relative change of earnings per share follows, with its sign?",
            "How far do earnings per share move, relatively?",
            "Translate the change of sales into one of earnings per share.",
        ),
        ("What is the percentage swing of EPS?", "By which percentage should EPS be revised, sign included?"),
        {
            "operating_leverage": (
                "degree of operating leverage",
                "elasticity of operating profit to sales",
                "DOL",
            ),
            "financial_leverage": (
                "degree of financial leverage",
                "elasticity of earnings per share to operating profit",
                "DFL",
            ),
            "sales_change": ("change of sales", "move of turnover", "shift in revenue"),
        },
    ),
    "gordon_growth": Wording(
        "The share went ex-dividend today, after a payment. Dividends fall due once a year, the next in exactly one "
        "year, and grow at a constant rate without end.",
        (
            "What is the share worth today?",
            "Which price today gives holders exactly what they require?",
            "Value the share by its dividends.",
            "What should an investor pay for the share now?",
            "Which present value do all future dividends have together?",
        ),
        ("Put a fair price on the stock.", "What is today's intrinsic value of one share?"),
        {
            "dividend": ("dividend just paid", "latest payment to shareholders", "distribution made just now"),
            "growth_rate": ("growth of the dividend", "yearly rise of payments", "pace at which distributions expand"),
            "required_return": ("return that shareholders require", "cost of equity", "hurdle of equity investors"),
        },
    ),
    "levered_roe": Wording(
        "The return on assets is defined here as EBIT over total assets. Interest is deducted before tax, and equity "
        "and debt together finance all assets.",
        (
            "What is the return on equity, net income over equity?",
            "How much do the owners earn on their capital, in per cent after tax?",
            "Which return on equity follows?",
            "Work out net income as a percentage of equity.",
            "What does the firm earn for shareholders on each dollar of equity?",
        ),
        ("State ROE.", "What is the rate of profit on book equity?"),
        {
            "assets": ("total assets", "balance sheet total", "everything the company owns"),
            "debt_to_equity": ("debt over equity", "dollars owed for each dollar of equity", "gearing, debt to equity"),
            "interest_rate": ("interest rate of the debt", "what lenders charge", "coupon on borrowings"),
            "tax_rate": ("tax rate on profits", "share of pre-tax profit taken as tax", "levy on earnings"),
            "return_on_assets": (
                "EBIT over total assets",
                "return on assets as defined here",
                "operating yield of assets",
            ),
        },
    ),
    "homemade_leverage": Wording(
        "There are no taxes or frictions, and people borrow at the rate that firms pay. One firm has no debt; another "
        "has the same operations and some debt, and both are worth the same in total. An investor who owns a part of "
        "the firm without debt borrows personally so as to hold exactly the cash flows that the same part of the other "
        "firm's equity would give.",
        (
            "How much money of the investor's own, net of the personal loan, is then invested?",
            "What does the position tie up after the personal loan?",
            "How large is the investor's own stake once the loan is counted?",
            "Which amount of own money is left in the position?",
            "Net of what is borrowed, how much has the investor put in?",
        ),
        (
            "What equity of the investor's own is at work?",
            "After the loan, what has come out of the investor's pocket?",
        ),
        {
            "shares": ("shares of the firm without debt", "share count of the debt-free firm", "units of its stock"),
            "share_price": (
                "price of one of its shares",
                "quote of the debt-free firm",
                "market price, debt-free firm",
            ),
            "debt": ("debt of the other firm", "what the geared firm owes", "borrowings of its twin"),
            "interest_rate": ("interest rate", "price of borrowed money", "loan rate"),
            "fraction": ("part held", "slice that the investor owns", "holding, as a share of the firm"),
        },
    ),
    "stock_split": Wording(
        "A company splits its stock: old shares are exchanged for a larger number of new ones, and nothing else about "
        "the company changes.",
        (
            "At which price should one new share trade?",
            "What is the price after the split?",
            "Where should the stock open once it is split?",
            "Which quote of a new share leaves every holder as rich as before?",
            "How much is a new share worth?",
        ),
        ("Name the ex-split price.", "What will one share cost afterwards?"),
        {
            "shares": ("shares before the split", "old share count", "stock outstanding beforehand"),
            "share_price": ("price before the split", "last quote of an old share", "pre-split price"),
            "new_shares": ("new shares handed out in each exchange", "pieces received", "new certificates per swap"),
            "old_shares": ("old shares handed in for them", "pieces given up", "old certificates per swap"),
        },
    ),
    "rights_issue": Wording(
        "Shares trade with the right attached. Holders are offered one new share for a fixed number of old ones, all "
        "rights are exercised, and costs are ignored.",
        (
            "What is the theoretical price of a share once it trades without the right?",
            "Where should the share trade after the right is detached?",
            "Find the theoretical ex-rights price.",
            "Which price ex rights leaves holders no richer and no poorer?",
            "What is a share worth after the issue?",
        ),
        ("State TERP.", "At what level should the stock settle after the offer?"),
        {
            "share_price": (
                "price with the right attached",
                "quote cum rights",
                "market price before the offer lapses",
            ),
            "subscription_price": ("price of a new share in the offer", "issue price", "amount due on a new share"),
            "old_shares": ("old shares that entitle to a new one", "holding needed for one new share", "rights ratio"),
        },
    ),
    "two_stage_value": Wording(
        "Free cash flow grows fast for some years and slowly for ever after. Cash arrives at the end of each year, "
        "counted from today; the first growth applies to the cash flow of the past year.",
        (
            "What is the enterprise worth today?",
            "Value the whole firm.",
            "Which enterprise value follows?",
            "What are all future free cash flows worth together now?",
            "How much would a buyer of the whole enterprise pay?",
        ),
        ("State today's value of operations.", "What is the two-stage DCF value?"),
        {
            "cash_flow": ("free cash flow of the past year", "cash flow from which growth starts", "last year's FCF"),
            "fast_growth": ("growth in the first years", "early growth", "pace of the boom"),
            "years": ("number of fast years", "years for which early growth lasts", "length of the boom in years"),
            "slow_growth": ("growth afterwards", "growth in perpetuity", "terminal pace"),
            "discount_rate": ("cost of capital", "rate for discounting", "required yield on the enterprise"),
        },
    ),
}
