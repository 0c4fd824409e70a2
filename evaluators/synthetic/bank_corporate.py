"""Templates of corporate finance, capital budgeting, valuation and leverage."""

from __future__ import annotations

from evaluators.synthetic.template import Figure, Input, Template

EBITDA = Template(
    name="ebitda",
    number=1,
    topic="Corporate Finance",
    wording=(
        "An income statement shows net income of {net_income}, income taxes of {income_tax} and net non-operating "
        "income of {other_income} (a gain, included in net income). The cash flow statement shows depreciation and "
        "amortisation of {depreciation}. The firm reports no separate interest line: financing results are inside the "
        "non-operating figure. What is EBITDA, counted from operating income?"
    ),
    inputs=(
        Input("net_income", "net income", "usd", "93736000000", "4000000000", "120000000000", "137000000"),
        Input("income_tax", "income taxes", "usd", "29749000000", "700000000", "40000000000", "83000000"),
        Input("other_income", "net non-operating income", "usd", "269000000", "400000000", "9000000000", "31000000"),
        Input(
            "depreciation",
            "depreciation and amortisation",
            "usd",
            "11445000000",
            "900000000",
            "30000000000",
            "49000000",
        ),
    ),
    definitions={
        "pretax_income": "net_income + income_tax",
        "operating_income": "pretax_income - other_income",
        "ebitda": "operating_income + depreciation",
    },
    steps=(
        Figure("pretax_income", "income before taxes", "usd"),
        Figure("operating_income", "operating income (EBIT)", "usd"),
    ),
    answer=Figure("ebitda", "EBITDA", "usd"),
    positive=("net_income - 2*income_tax", "net_income - 4*other_income"),
    pitfalls={
        "non-operating income left in": "pretax_income + depreciation",
        "non-operating income added": "pretax_income + other_income + depreciation",
        "taxes not added back": "net_income - other_income + depreciation",
    },
    printed=(134_661_000_000.0,),
    correction=(
        "The published question asks for a filing figure of one company. Here the statement lines are in the question "
        "(the printed instance holds Apple's of fiscal 2024), so that it is self-contained."
    ),
)

NPV_CROSSOVER = Template(
    name="npv_crossover",
    number=3,
    topic="Capital Budgeting",
    wording=(
        "Only one of two projects can be taken. Each costs {outlay} now. The first pays back {cash_a}, all of it one "
        "year from now. The second pays back {cash_b}, all of it {years_b} years from now. With annual compounding, "
        "at which discount rate do the two have the same net present value?"
    ),
    inputs=(
        Input("outlay", "investment in either project", "usd", "100000", "40000", "200000", "5000"),
        Input("cash_a", "cash flow of the first project after one year", "usd", "150000", "50000", "300000", "5000"),
        Input("cash_b", "cash flow of the second project", "usd", "180000", "60000", "480000", "5000"),
        Input("years_b", "years until the second project pays", "number", "2", "2", "4", "1"),
    ),
    definitions={
        "crossover_rate": "(cash_b / cash_a) ^ (1 / (years_b - 1)) - 1",
        "cash_ratio": "cash_b / cash_a",
        "common_npv": "cash_a / (1 + crossover_rate) - outlay",
    },
    steps=(
        Figure("cash_ratio", "second cash flow over the first", "number"),
        Figure("common_npv", "net present value of either project at that rate", "usd"),
    ),
    answer=Figure("crossover_rate", "the discount rate of equal net present value", "percent"),
    positive=("crossover_rate - 0.05", "0.45 - crossover_rate", "common_npv - 2000"),
    pitfalls={
        "total growth instead of annual growth": "(cash_b / cash_a - 1) / years_b",
        "internal rate of return of the second project": "(cash_b / outlay) ^ (1 / years_b) - 1",
        "one year too many in the exponent": "(cash_b / cash_a) ^ (1 / years_b) - 1",
    },
    printed=(0.20,),
)

FREE_CASH_FLOW = Template(
    name="free_cash_flow",
    number=4,
    topic="Capital Budgeting",
    wording=(
        "For one year a business reports operating profit before interest and tax of {ebit}, after depreciation of "
        "{depreciation}. It spends {capex} on fixed assets and ties up another {working_capital_increase} in working "
        "capital. Operating profit is taxed at {tax_rate}. What is its free cash flow to the firm (to all providers "
        "of capital)?"
    ),
    inputs=(
        Input("ebit", "earnings before interest and tax", "usd", "10000000", "4000000", "60000000", "500000"),
        Input("depreciation", "depreciation", "usd", "2000000", "500000", "9000000", "250000"),
        Input("capex", "capital expenditure", "usd", "3000000", "500000", "14000000", "250000"),
        Input(
            "working_capital_increase", "increase of working capital", "usd", "1000000", "250000", "5000000", "250000"
        ),
        Input("tax_rate", "tax rate", "percent", "0.25", "0.15", "0.35", "0.01"),
    ),
    definitions={
        "operating_profit_after_tax": "ebit * (1 - tax_rate)",
        "operating_cash_flow": "operating_profit_after_tax + depreciation",
        "free_cash_flow": "operating_cash_flow - capex - working_capital_increase",
    },
    steps=(
        Figure("operating_profit_after_tax", "operating profit after tax", "usd"),
        Figure("operating_cash_flow", "the same before depreciation is deducted", "usd"),
    ),
    answer=Figure("free_cash_flow", "free cash flow to the firm", "usd"),
    positive=("free_cash_flow - 0.1 * ebit",),
    pitfalls={
        "tax left out": "ebit + depreciation - capex - working_capital_increase",
        "working capital with the wrong sign": "operating_cash_flow - capex + working_capital_increase",
        "depreciation not added back": "operating_profit_after_tax - capex - working_capital_increase",
    },
    printed=(5_500_000.0,),
)

COMBINED_LEVERAGE = Template(
    name="combined_leverage",
    number=7,
    topic="Leverage",
    wording=(
        "At its present output a manufacturer has a degree of operating leverage of {operating_leverage} and a degree "
        "of financial leverage of {financial_leverage}. Sales change by {sales_change}. By how much, in per cent, do "
        "earnings per share change?"
    ),
    inputs=(
        Input("operating_leverage", "degree of operating leverage", "number", "2.5", "1.3", "4.0", "0.1"),
        Input("financial_leverage", "degree of financial leverage", "number", "1.6", "1.1", "2.8", "0.1"),
        Input("sales_change", "change of sales", "percent", "0.10", "-0.14", "0.14", "0.01"),
    ),
    definitions={
        "total_leverage": "operating_leverage * financial_leverage",
        "ebit_change": "operating_leverage * sales_change",
        "eps_change": "total_leverage * sales_change",
    },
    steps=(
        Figure("total_leverage", "degree of total leverage", "number"),
        Figure("ebit_change", "relative change of EBIT, with its sign", "percent"),
    ),
    answer=Figure("eps_change", "relative change of earnings per share, with its sign", "percent"),
    positive=("abs(sales_change) - 0.015",),
    pitfalls={
        "leverages added": "(operating_leverage + financial_leverage) * sales_change",
        "operating leverage only": "operating_leverage * sales_change",
        "financial leverage only": "financial_leverage * sales_change",
    },
    printed=(0.40,),
)

GORDON_GROWTH = Template(
    name="gordon_growth",
    number=11,
    topic="Valuation",
    wording=(
        "A share went ex-dividend today after paying {dividend}. The dividend is paid once a year and grows by "
        "{growth_rate} a year without end; the next one falls due in exactly one year. Shareholders require "
        "{required_return} a year. What is the share worth today?"
    ),
    inputs=(
        Input("dividend", "dividend just paid", "usd", "2", "0.8", "6", "0.1"),
        Input("growth_rate", "growth of the dividend", "percent", "0.06", "0.02", "0.07", "0.005"),
        Input("required_return", "required return", "percent", "0.10", "0.07", "0.14", "0.005"),
    ),
    definitions={
        "next_dividend": "dividend * (1 + growth_rate)",
        "value": "next_dividend / (required_return - growth_rate)",
        "value_next_year": "value * (1 + growth_rate)",
    },
    steps=(
        Figure("next_dividend", "dividend in one year", "usd"),
        Figure("value_next_year", "value of the share in one year, after that dividend", "usd"),
    ),
    answer=Figure("value", "value of the share today", "usd"),
    positive=("required_return - growth_rate - 0.025",),
    pitfalls={
        "the dividend already paid is capitalised": "dividend / (required_return - growth_rate)",
        "growth left out": "dividend / required_return",
    },
    printed=(53.0,),
)

LEVERED_ROE = Template(
    name="levered_roe",
    number=12,
    topic="Corporate Finance",
    wording=(
        "A company is financed with debt and equity in the ratio {debt_to_equity} to 1 and has total assets of "
        "{assets}. Debt costs {interest_rate} a year, profits are taxed at {tax_rate}. Its return on assets, defined "
        "here as EBIT divided by total assets, is {return_on_assets}. What is its return on equity, net income "
        "divided by equity?"
    ),
    inputs=(
        Input("assets", "total assets", "usd", "500000000", "80000000", "900000000", "20000000"),
        Input("debt_to_equity", "debt divided by equity", "number", "1.5", "0.4", "2.5", "0.1"),
        Input("interest_rate", "interest rate of the debt", "percent", "0.06", "0.03", "0.08", "0.005"),
        Input("tax_rate", "tax rate", "percent", "0.30", "0.18", "0.35", "0.01"),
        Input("return_on_assets", "EBIT divided by total assets", "percent", "0.10", "0.07", "0.18", "0.005"),
    ),
    definitions={
        "equity": "assets / (1 + debt_to_equity)",
        "debt": "assets - equity",
        "net_income": "(return_on_assets * assets - interest_rate * debt) * (1 - tax_rate)",
        "roe": "net_income / equity",
    },
    steps=(
        Figure("debt", "debt", "usd"),
        Figure("equity", "equity", "usd"),
        Figure("net_income", "net income", "usd"),
    ),
    answer=Figure("roe", "return on equity", "percent"),
    positive=("roe - 0.04",),
    pitfalls={
        "return on assets read as net income over assets": "return_on_assets * (1 + debt_to_equity)",
        "first term not taxed": (
            "return_on_assets + (return_on_assets - interest_rate) * debt_to_equity * (1 - tax_rate)"
        ),
        "tax left out": "(return_on_assets * assets - interest_rate * debt) / equity",
    },
    printed=(0.112, 0.181),
    correction=(
        "The published question leaves the return on assets undefined and accepts 11.2% and 18.1%. With EBIT over "
        "assets it is 11.2%; with net income over assets it would be 25%; 18.1% follows from no definition. The "
        "question now states EBIT over assets."
    ),
)

HOMEMADE_LEVERAGE = Template(
    name="homemade_leverage",
    number=13,
    topic="Corporate Finance",
    wording=(
        "There are no taxes or frictions, and people borrow at the rate that firms pay. An unlevered firm has {shares} "
        "shares priced at {share_price}. A second firm has identical operations, owes {debt} at {interest_rate}, and "
        "the two firms are worth the same in total. An investor who owns {fraction} of the unlevered firm wants to "
        "hold, through personal borrowing, exactly the cash flows that {fraction} of the second firm's equity would "
        "give. How much money of the investor's own, net of the personal loan, is then invested?"
    ),
    inputs=(
        Input("shares", "shares of the unlevered firm", "number", "1000000", "400000", "4000000", "100000"),
        Input("share_price", "price of a share of the unlevered firm", "usd", "50", "12", "90", "1"),
        Input("debt", "debt of the levered firm", "usd", "20000000", "4000000", "90000000", "1000000"),
        Input("interest_rate", "interest rate", "percent", "0.05", "0.03", "0.09", "0.005"),
        Input("fraction", "fraction held", "percent", "0.10", "0.02", "0.20", "0.01"),
    ),
    definitions={
        "personal_loan": "fraction * debt",
        "stake": "fraction * shares * share_price",
        "net_investment": "stake - personal_loan",
        "interest_paid": "interest_rate * personal_loan",
    },
    steps=(
        Figure("personal_loan", "amount borrowed personally", "usd"),
        Figure("stake", "value of the shares held in the unlevered firm", "usd"),
        Figure("interest_paid", "yearly interest on the personal loan", "usd"),
    ),
    answer=Figure("net_investment", "the investor's own money invested", "usd"),
    positive=("0.7 * shares * share_price - debt", "debt - 0.15 * shares * share_price"),
    pitfalls={
        "the loan deducted twice": "stake - 2 * personal_loan",
        "the loan added": "stake + personal_loan",
        "the whole stake": "stake",
    },
    printed=(3_000_000.0,),
    correction="The stored value of $1M in the published file deducts the loan twice; $3M, as its text says, is right.",
)

STOCK_SPLIT = Template(
    name="stock_split",
    number=14,
    topic="Corporate Actions",
    wording=(
        "A company with {shares} shares, quoted at {share_price} each, splits its stock {new_shares} for {old_shares} "
        "(every {old_shares} old shares become {new_shares} new ones). Nothing else changes. At which price should "
        "one new share trade?"
    ),
    inputs=(
        Input("shares", "shares before the split", "number", "100000", "60000", "900000", "30000"),
        Input("share_price", "price before the split", "usd", "25", "21", "410", "1"),
        Input("new_shares", "new shares", "number", "3", "3", "9", "1"),
        Input("old_shares", "old shares that they replace", "number", "2", "2", "5", "1"),
    ),
    definitions={
        "market_value": "shares * share_price",
        "shares_after": "shares * new_shares / old_shares",
        "price_after": "market_value / shares_after",
    },
    steps=(
        Figure("shares_after", "shares outstanding after the split", "number", word="shares"),
        Figure("market_value", "market value of all shares", "usd"),
    ),
    answer=Figure("price_after", "price of one new share", "usd"),
    positive=("new_shares - old_shares",),
    pitfalls={
        "ratio the wrong way round": "share_price * new_shares / old_shares",
        "divided by the new shares only": "share_price / new_shares",
    },
    printed=(16.67,),
)

RIGHTS_ISSUE = Template(
    name="rights_issue",
    number=0,
    topic="Corporate Actions",
    wording=(
        "Shares of an issuer trade at {share_price} with the right attached. It offers its holders one new share at "
        "{subscription_price} for every {old_shares} shares they hold, and all rights are exercised. Ignoring costs, "
        "what is the theoretical price of a share once it trades without the right?"
    ),
    inputs=(
        Input("share_price", "price with the right attached", "usd", "40", "22", "140", "1"),
        Input("subscription_price", "price of a new share in the offer", "usd", "30", "9", "100", "1"),
        Input("old_shares", "old shares per new share", "number", "4", "2", "9", "1"),
    ),
    definitions={
        "ex_rights_price": "(old_shares * share_price + subscription_price) / (old_shares + 1)",
        "value_of_right": "share_price - ex_rights_price",
        "discount": "1 - subscription_price / share_price",
    },
    steps=(
        Figure("value_of_right", "value of the right on one old share", "usd"),
        Figure("discount", "discount of the offer on the price with the right", "percent"),
    ),
    answer=Figure("ex_rights_price", "theoretical price without the right", "usd"),
    positive=("0.85 * share_price - subscription_price", "subscription_price - 0.4 * share_price"),
    pitfalls={
        "plain mean of the two prices": "(share_price + subscription_price) / 2",
        "new share left out of the count": "(old_shares * share_price + subscription_price) / (old_shares + 2)",
    },
)

TWO_STAGE_VALUE = Template(
    name="two_stage_value",
    number=0,
    topic="Valuation",
    wording=(
        "A firm's free cash flow over the past year was {cash_flow}. It will grow by {fast_growth} a year in each of "
        "the next {years} years and by {slow_growth} a year for ever after. Cash arrives at the end of each year, "
        "counted from today, and the cost of capital is {discount_rate}. What is the enterprise worth today?"
    ),
    inputs=(
        Input("cash_flow", "free cash flow of the past year", "usd", "10000000", "3000000", "60000000", "500000"),
        Input("fast_growth", "growth in the first years", "percent", "0.12", "0.12", "0.24", "0.01"),
        Input("years", "number of fast years", "number", "4", "3", "7", "1"),
        Input("slow_growth", "growth afterwards", "percent", "0.02", "0.01", "0.035", "0.005"),
        Input("discount_rate", "cost of capital", "percent", "0.09", "0.075", "0.115", "0.005"),
    ),
    definitions={
        "terminal_value": ("cash_flow * (1 + fast_growth) ^ years * (1 + slow_growth) / (discount_rate - slow_growth)"),
        "present_terminal_value": "terminal_value / (1 + discount_rate) ^ years",
        "present_fast_years": (
            "cash_flow * (1 + fast_growth) / (discount_rate - fast_growth)"
            " * (1 - ((1 + fast_growth) / (1 + discount_rate)) ^ years)"
        ),
        "enterprise_value": "present_fast_years + present_terminal_value",
    },
    steps=(
        Figure("present_fast_years", "present value of the cash flows of the fast years", "usd"),
        Figure("terminal_value", "value, at the end of the fast years, of everything after them", "usd"),
        Figure("present_terminal_value", "its present value", "usd"),
    ),
    answer=Figure("enterprise_value", "value of the enterprise today", "usd"),
    pitfalls={
        "terminal value not discounted": "present_fast_years + terminal_value",
        "terminal value a year late": "present_fast_years + present_terminal_value / (1 + discount_rate)",
        "terminal cash flow not grown": "present_fast_years + present_terminal_value / (1 + slow_growth)",
    },
)

TEMPLATES: tuple[Template, ...] = (
    EBITDA,
    NPV_CROSSOVER,
    FREE_CASH_FLOW,
    COMBINED_LEVERAGE,
    GORDON_GROWTH,
    LEVERED_ROE,
    HOMEMADE_LEVERAGE,
    STOCK_SPLIT,
    RIGHTS_ISSUE,
    TWO_STAGE_VALUE,
)
