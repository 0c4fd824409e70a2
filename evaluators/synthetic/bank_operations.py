"""Templates of costs and leverage, working capital, cost of capital and what a firm is worth by it."""

from __future__ import annotations

from evaluators.synthetic.template import Figure, Input, Template

WACC = Template(
    name="wacc",
    number=0,
    topic="Corporate Finance",
    wording=(
        "The shares of a firm are worth {equity_value} in the market, its debt {debt_value}. Shareholders require "
        "{cost_of_equity} a year; the debt costs {cost_of_debt} before tax, and interest saves tax at {tax_rate}. What "
        "is the weighted average cost of capital after tax, at market weights?"
    ),
    inputs=(
        Input("equity_value", "market value of the equity", "usd", "600000000", "120000000", "900000000", "5000000"),
        Input("debt_value", "market value of the debt", "usd", "400000000", "60000000", "600000000", "5000000"),
        Input("cost_of_equity", "cost of equity", "percent", "0.11", "0.08", "0.16", "0.0025"),
        Input("cost_of_debt", "cost of debt before tax", "percent", "0.06", "0.03", "0.075", "0.0025"),
        Input("tax_rate", "tax rate", "percent", "0.25", "0.15", "0.35", "0.01"),
    ),
    definitions={
        "equity_weight": "equity_value / (equity_value + debt_value)",
        "debt_cost_after_tax": "cost_of_debt * (1 - tax_rate)",
        "wacc": "equity_weight * cost_of_equity + (1 - equity_weight) * debt_cost_after_tax",
    },
    steps=(
        Figure("equity_weight", "weight of the equity", "percent"),
        Figure("debt_cost_after_tax", "cost of debt after tax", "percent"),
    ),
    answer=Figure("wacc", "weighted average cost of capital after tax", "percent"),
    positive=("equity_weight - 0.35", "0.9 - equity_weight"),
    pitfalls={
        "interest not relieved of tax": "equity_weight * cost_of_equity + (1 - equity_weight) * cost_of_debt",
        "weights the wrong way round": "(1 - equity_weight) * cost_of_equity + equity_weight * debt_cost_after_tax",
        "plain mean": "(cost_of_equity + debt_cost_after_tax) / 2",
    },
)

BREAKEVEN = Template(
    name="breakeven",
    number=0,
    topic="Leverage",
    wording=(
        "A workshop has fixed costs of {fixed_costs} a year. A unit sells for {price} and costs {variable_cost} in "
        "materials and wages. The owner wants a profit of {target_profit} a year before tax. How many units have to be "
        "sold? Do not round to whole units."
    ),
    inputs=(
        Input("fixed_costs", "fixed costs a year", "usd", "400000", "90000", "900000", "5000"),
        Input("price", "price of a unit", "usd", "50", "20", "180", "1"),
        Input("variable_cost", "variable cost of a unit", "usd", "30", "8", "120", "1"),
        Input("target_profit", "profit wanted", "usd", "100000", "20000", "400000", "5000"),
    ),
    definitions={
        "contribution": "price - variable_cost",
        "breakeven_units": "fixed_costs / contribution",
        "units": "(fixed_costs + target_profit) / contribution",
    },
    steps=(
        Figure("contribution", "contribution of a unit", "usd"),
        Figure("breakeven_units", "units at which there is neither profit nor loss", "number", word="units"),
    ),
    answer=Figure("units", "units to be sold", "number", word="units"),
    positive=("contribution - 0.2 * price", "0.7 * price - contribution"),
    pitfalls={
        "profit left out": "fixed_costs / contribution",
        "variable costs left out": "(fixed_costs + target_profit) / price",
        "profit deducted": "(fixed_costs - target_profit) / contribution",
    },
)

OPERATING_LEVERAGE = Template(
    name="operating_leverage",
    number=0,
    topic="Leverage",
    wording=(
        "A maker of lamps sells {units} units a year at {price}, each with variable costs of {variable_cost}; fixed "
        "operating costs are {fixed_costs} a year. What is its degree of operating leverage at this volume?"
    ),
    inputs=(
        Input("units", "units sold a year", "number", "40000", "12000", "60000", "500"),
        Input("price", "price of a unit", "usd", "50", "20", "180", "1"),
        Input("variable_cost", "variable cost of a unit", "usd", "30", "8", "120", "1"),
        Input("fixed_costs", "fixed operating costs a year", "usd", "400000", "90000", "900000", "5000"),
    ),
    definitions={
        "unit_contribution": "price - variable_cost",
        "total_contribution": "units * unit_contribution",
        "operating_profit": "total_contribution - fixed_costs",
        "dol": "total_contribution / operating_profit",
    },
    steps=(
        Figure("unit_contribution", "contribution of a unit", "usd"),
        Figure("total_contribution", "contribution of all units", "usd"),
    ),
    answer=Figure("dol", "degree of operating leverage", "number"),
    positive=("dol - 1.25", "4.5 - dol", "price - variable_cost - 0.15 * price"),
    pitfalls={
        "sales over operating profit": "units * price / operating_profit",
        "the wrong way round": "operating_profit / total_contribution",
        "fixed costs over operating profit": "fixed_costs / operating_profit",
    },
)

FINANCIAL_LEVERAGE = Template(
    name="financial_leverage",
    number=0,
    topic="Leverage",
    wording=(
        "A hotel earns {ebit} before interest and tax. It owes {debt} at {interest_rate} a year and has no preferred "
        "shares. What is its degree of financial leverage at this level of earnings?"
    ),
    inputs=(
        Input("ebit", "earnings before interest and tax", "usd", "5000000", "2000000", "30000000", "100000"),
        Input("debt", "debt", "usd", "30000000", "4000000", "160000000", "500000"),
        Input("interest_rate", "interest rate of the debt", "percent", "0.06", "0.03", "0.09", "0.0025"),
    ),
    definitions={
        "interest": "debt * interest_rate",
        "profit_before_tax": "ebit - interest",
        "dfl": "ebit / profit_before_tax",
    },
    steps=(
        Figure("interest", "interest of a year", "usd"),
        Figure("profit_before_tax", "profit before tax", "usd"),
    ),
    answer=Figure("dfl", "degree of financial leverage", "number"),
    positive=("dfl - 1.12", "2.9 - dfl"),
    pitfalls={
        "interest cover": "ebit / interest",
        "the wrong way round": "profit_before_tax / ebit",
        "debt over earnings": "debt / ebit",
    },
)

CASH_CONVERSION = Template(
    name="cash_conversion",
    number=0,
    topic="Working Capital",
    wording=(
        "A wholesaler has sales of {sales} a year, all on credit, and cost of goods sold of {cost_of_goods}. At the "
        "end of the year it holds inventory of {inventory}, is owed {receivables} and owes suppliers {payables}. With "
        "these closing balances and years of 365 days, how long is its cash conversion cycle in days?"
    ),
    inputs=(
        Input("sales", "sales of the year", "usd", "80000000", "30000000", "200000000", "500000"),
        Input("cost_of_goods", "cost of goods sold", "usd", "60000000", "18000000", "150000000", "500000"),
        Input("inventory", "inventory", "usd", "9000000", "2000000", "30000000", "100000"),
        Input("receivables", "trade receivables", "usd", "10000000", "2000000", "30000000", "100000"),
        Input("payables", "trade payables", "usd", "7000000", "1500000", "20000000", "100000"),
    ),
    definitions={
        "inventory_days": "365 * inventory / cost_of_goods",
        "receivable_days": "365 * receivables / sales",
        "payable_days": "365 * payables / cost_of_goods",
        "cycle": "inventory_days + receivable_days - payable_days",
    },
    steps=(
        Figure("inventory_days", "days of inventory, on cost of goods sold", "number", word="days"),
        Figure("receivable_days", "days of sales outstanding", "number", word="days"),
        Figure("payable_days", "days of payables, on cost of goods sold", "number", word="days"),
    ),
    answer=Figure("cycle", "cash conversion cycle in days", "number", word="days"),
    positive=("0.85 * sales - cost_of_goods", "cost_of_goods - 0.5 * sales", "cycle - 12", "150 - cycle"),
    pitfalls={
        "payables added": "inventory_days + receivable_days + payable_days",
        "inventory on sales": "365 * inventory / sales + receivable_days - payable_days",
        "payables on sales": "inventory_days + receivable_days - 365 * payables / sales",
    },
)

CYCLE_FINANCING = Template(
    name="cycle_financing",
    number=0,
    topic="Working Capital",
    wording=(
        "A trader pays out {daily_outlay} on every day of the year for goods and wages, and sees the money again "
        "{cycle_days} days later. A credit line at {credit_rate} a year (simple interest) carries it in between. What "
        "does the line cost a year?"
    ),
    inputs=(
        Input("daily_outlay", "money paid out a day", "usd", "150000", "30000", "500000", "2500"),
        Input("cycle_days", "days until the money is back", "number", "60", "15", "140", "1"),
        Input("credit_rate", "rate of the credit line", "percent", "0.07", "0.04", "0.12", "0.0025"),
    ),
    definitions={
        "tied_up": "daily_outlay * cycle_days",
        "daily_interest": "tied_up * credit_rate / 365",
        "financing_cost": "tied_up * credit_rate",
    },
    steps=(
        Figure("tied_up", "money tied up at any time", "usd"),
        Figure("daily_interest", "interest of one day, of 365", "usd"),
    ),
    answer=Figure("financing_cost", "cost of the credit line a year", "usd"),
    pitfalls={
        "interest for the days of one cycle only": "tied_up * credit_rate * cycle_days / 365",
        "a year's outlay financed": "365 * daily_outlay * credit_rate",
    },
)

ECONOMIC_VALUE_ADDED = Template(
    name="economic_value_added",
    number=0,
    topic="Valuation",
    wording=(
        "A division has operating profit of {operating_profit} before tax at {tax_rate}. It uses capital of "
        "{invested_capital}, which costs {cost_of_capital} a year after tax. How large is its economic value added, "
        "with its sign?"
    ),
    inputs=(
        Input("operating_profit", "operating profit before tax", "usd", "24000000", "6000000", "90000000", "250000"),
        Input("tax_rate", "tax rate", "percent", "0.25", "0.15", "0.35", "0.01"),
        Input("invested_capital", "invested capital", "usd", "150000000", "40000000", "600000000", "2500000"),
        Input("cost_of_capital", "cost of capital", "percent", "0.09", "0.06", "0.13", "0.0025"),
    ),
    definitions={
        "profit_after_tax": "operating_profit * (1 - tax_rate)",
        "capital_charge": "invested_capital * cost_of_capital",
        "value_added": "profit_after_tax - capital_charge",
    },
    steps=(
        Figure("profit_after_tax", "operating profit after tax", "usd"),
        Figure("capital_charge", "charge for the capital", "usd"),
    ),
    answer=Figure("value_added", "economic value added, with its sign", "usd"),
    positive=("abs(value_added) - 0.05 * capital_charge", "1.5 * capital_charge - abs(value_added)"),
    pitfalls={
        "tax left out": "operating_profit - capital_charge",
        "charge relieved of tax": "(operating_profit - capital_charge) * (1 - tax_rate)",
        "sign turned": "-value_added",
    },
)

LEASE_OR_BUY = Template(
    name="lease_or_buy",
    number=0,
    topic="Capital Budgeting",
    wording=(
        "A press costs {machine_cost} and can be leased instead for {lease_payment} a year, due at the end of each of "
        "{years} years. An owner deducts it in equal parts over these years, after which it is worth nothing; a lessee "
        "deducts the payments. Profits are taxed at {tax_rate}, tax falls due at the end of each year, and the firm "
        "borrows at {borrowing_rate} before tax. Discounted at the borrowing rate after tax, by how much is leasing "
        "better than buying? A negative number if it is worse."
    ),
    inputs=(
        Input("machine_cost", "price of the machine", "usd", "500000", "200000", "2000000", "10000"),
        Input("lease_payment", "lease payment a year", "usd", "110000", "30000", "600000", "2500"),
        Input("years", "years of the lease", "number", "5", "4", "9", "1"),
        Input("tax_rate", "tax rate", "percent", "0.25", "0.15", "0.35", "0.01"),
        Input("borrowing_rate", "borrowing rate before tax", "percent", "0.08", "0.04", "0.11", "0.0025"),
    ),
    definitions={
        "rate_after_tax": "borrowing_rate * (1 - tax_rate)",
        "annuity": "(1 - (1 + rate_after_tax) ^ (-years)) / rate_after_tax",
        "present_lease": "lease_payment * (1 - tax_rate) * annuity",
        "present_shield": "tax_rate * machine_cost / years * annuity",
        "advantage": "machine_cost - present_lease - present_shield",
    },
    steps=(
        Figure("rate_after_tax", "borrowing rate after tax", "percent"),
        Figure("present_lease", "present value of the lease payments after tax", "usd"),
        Figure("present_shield", "present value of the tax saved by depreciation", "usd"),
    ),
    answer=Figure("advantage", "present advantage of leasing over buying, with its sign", "usd"),
    positive=("abs(advantage) - 0.02 * machine_cost", "0.3 * machine_cost - abs(advantage)"),
    pitfalls={
        "depreciation forgotten": "machine_cost - present_lease",
        "discounted before tax": (
            "machine_cost - (lease_payment * (1 - tax_rate) + tax_rate * machine_cost / years)"
            " * (1 - (1 + borrowing_rate) ^ (-years)) / borrowing_rate"
        ),
        "sign turned": "-advantage",
    },
)

SUSTAINABLE_GROWTH = Template(
    name="sustainable_growth",
    number=0,
    topic="Corporate Finance",
    wording=(
        "A firm earns {return_on_equity} on its equity of the beginning of the year. Of earnings of "
        "{earnings_per_share} a share it pays out {dividend_per_share}. If it issues no shares and keeps its capital "
        "structure and returns, at which rate can it grow?"
    ),
    inputs=(
        Input("return_on_equity", "return on equity", "percent", "0.15", "0.06", "0.24", "0.005"),
        Input("earnings_per_share", "earnings per share", "usd", "5", "1.5", "12", "0.05"),
        Input("dividend_per_share", "dividend per share", "usd", "2", "0.5", "9", "0.05"),
    ),
    definitions={
        "payout": "dividend_per_share / earnings_per_share",
        "retention": "1 - payout",
        "growth": "return_on_equity * retention",
    },
    steps=(
        Figure("payout", "payout ratio", "percent"),
        Figure("retention", "retention ratio", "percent"),
    ),
    answer=Figure("growth", "sustainable growth rate", "percent"),
    positive=("payout - 0.2", "0.85 - payout", "growth - 0.015"),
    pitfalls={
        "payout instead of retention": "return_on_equity * payout",
        "grown on the closing equity": "return_on_equity * retention / (1 - return_on_equity * retention)",
    },
)

RELEVERED_BETA = Template(
    name="relevered_beta",
    number=0,
    topic="Corporate Finance",
    wording=(
        "A listed rival has an equity beta of {beta} with {debt_to_equity} dollars of debt a dollar of equity, at "
        "market values. The firm in question does the same business with {new_debt_to_equity} dollars of debt a dollar "
        "of equity. Both are taxed at {tax_rate}; debt has a beta of zero and its tax saving is as safe as the debt "
        "(Hamada). What is the firm's equity beta?"
    ),
    inputs=(
        Input("beta", "equity beta of the rival", "number", "1.3", "0.7", "1.9", "0.02"),
        Input("debt_to_equity", "debt over equity of the rival", "number", "0.5", "0.1", "1.2", "0.05"),
        Input("new_debt_to_equity", "debt over equity of the firm", "number", "0.8", "0.1", "1.6", "0.05"),
        Input("tax_rate", "tax rate", "percent", "0.25", "0.15", "0.35", "0.01"),
    ),
    definitions={
        "asset_beta": "beta / (1 + (1 - tax_rate) * debt_to_equity)",
        "leverage_factor": "1 + (1 - tax_rate) * new_debt_to_equity",
        "new_beta": "asset_beta * leverage_factor",
    },
    steps=(
        Figure("asset_beta", "beta of the business without debt", "number"),
        Figure("leverage_factor", "equity beta over asset beta of the firm", "number"),
    ),
    answer=Figure("new_beta", "equity beta of the firm", "number"),
    positive=("abs(new_debt_to_equity - debt_to_equity) - 0.12", "2.2 - new_beta"),
    pitfalls={
        "tax left out": "beta / (1 + debt_to_equity) * (1 + new_debt_to_equity)",
        "not unlevered first": "beta * leverage_factor",
        "left unlevered": "asset_beta",
    },
)

ENTERPRISE_MULTIPLE = Template(
    name="enterprise_multiple",
    number=0,
    topic="Valuation",
    wording=(
        "Rivals trade at an enterprise value of {multiple} times EBITDA. The firm has EBITDA of {ebitda}, debt of "
        "{debt}, cash of {cash} and {shares} shares. What is one of its shares worth at that multiple?"
    ),
    inputs=(
        Input("multiple", "enterprise value over EBITDA", "number", "8", "5", "14", "0.1"),
        Input("ebitda", "EBITDA", "usd", "900000000", "300000000", "60000000000", "10000000"),
        Input("debt", "debt", "usd", "2000000000", "400000000", "30000000000", "50000000"),
        Input("cash", "cash", "usd", "500000000", "100000000", "9000000000", "50000000"),
        Input("shares", "shares outstanding", "number", "100000000", "40000000", "6000000000", "5000000"),
    ),
    definitions={
        "enterprise_value": "multiple * ebitda",
        "net_debt": "debt - cash",
        "equity_value": "enterprise_value - net_debt",
        "value_per_share": "equity_value / shares",
    },
    steps=(
        Figure("enterprise_value", "enterprise value", "usd"),
        Figure("net_debt", "net debt", "usd"),
        Figure("equity_value", "value of all shares", "usd"),
    ),
    answer=Figure("value_per_share", "value of a share", "usd"),
    positive=(
        "0.6 * enterprise_value - debt",
        "debt - 0.05 * enterprise_value",
        "debt - 1.2 * cash",
        "value_per_share - 8",
        "600 - value_per_share",
    ),
    pitfalls={
        "debt not deducted": "enterprise_value / shares",
        "cash left out": "(enterprise_value - debt) / shares",
        "net debt added": "(enterprise_value + net_debt) / shares",
    },
)

TEMPLATES: tuple[Template, ...] = (
    WACC,
    BREAKEVEN,
    OPERATING_LEVERAGE,
    FINANCIAL_LEVERAGE,
    CASH_CONVERSION,
    CYCLE_FINANCING,
    ECONOMIC_VALUE_ADDED,
    LEASE_OR_BUY,
    SUSTAINABLE_GROWTH,
    RELEVERED_BETA,
    ENTERPRISE_MULTIPLE,
)
