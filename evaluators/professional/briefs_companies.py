"""Briefs on the value of companies and on their budgets."""

from __future__ import annotations

from evaluators.professional.briefs import Brief

CASH_FLOW = Brief(
    usual=(
        "Value {company} by discounted cash flow and report to the committee.\nConventions: revenue grows from the "
        "base year by the growth rates. Free cash flow is revenue times EBIT margin times one minus the tax rate, plus "
        "depreciation, less capital expenditure (both fractions of the year's revenue), less the working capital rate "
        "times the increase of revenue. Flows come at the end of each year; the first is one year from now. The "
        "terminal value at the end of the last year is that year's free cash flow times one plus the terminal growth, "
        "divided by cost of capital less terminal growth. Do not round intermediate results.",
        "What is a share of {company} worth? Let its revenue grow from the base year at the given rates. A year's free "
        "cash flow is the EBIT margin on revenue after tax (times one minus the tax rate), plus depreciation and less "
        "capital expenditure, each a share of that year's revenue, less the working capital rate times the increase of "
        "revenue. The flows come at year ends, the first a year from now. After the last year value a perpetuity: that "
        "year's flow times one plus terminal growth over cost of capital less terminal growth. No rounding on the way.",
        "The valuation committee meets on {company}. Prepare the forecast and the value by discounting free cash flow "
        "at the cost of capital. Revenue: base year, compounded by the growth rates. Free cash flow: revenue times "
        "EBIT margin times (one minus tax rate) plus depreciation minus capital expenditure (in proportion to the "
        "revenue of the year) minus working capital rate times increase of revenue. Timing: end of year, the first one "
        "year from now. Terminal value, at the end of the last year: its free cash flow times one plus the terminal "
        "growth, over cost of capital less terminal growth. Intermediate results stay unrounded.",
        "Assignment: discounted cash flow valuation of {company}.\n- Revenue: grows from the base year by the growth "
        "rates.\n- Free cash flow: revenue times EBIT margin times one minus the tax rate, plus depreciation, less "
        "capital expenditure (both of the year's revenue), less working capital rate times increase of revenue.\n- "
        "Timing: end of year, the first one year from now.\n- Terminal value at the end of the last year: its flow "
        "times one plus terminal growth, divided by cost of capital less terminal growth.\n- No intermediate rounding.",
        "Is {company} cheap at its price? Build a forecast of free cash flow and discount it at the cost of capital, "
        "each year's flow at the end of the year and the first one year from now. Starting from the base year, revenue "
        "follows the growth rates; EBIT is the margin on it, taxed at the tax rate; depreciation is added back and "
        "capital expenditure deducted, both in proportion to the year's revenue; so is the increase of revenue times "
        "the working capital rate. Beyond the last year use Gordon's formula, that year's free cash flow times one "
        "plus the terminal growth over cost of capital less terminal growth. Do not round in between.",
    ),
    held_back=(
        "Put a value on {company}. From the base year on, apply the growth rates to revenue; take the EBIT margin of "
        "it and keep one minus the tax rate; add depreciation, deduct capital expenditure (two proportions of the same "
        "year's revenue) and deduct the working capital rate on the increase of revenue. That is the free cash flow, "
        "received at the end of the year, for the first time one year from now. What comes after the last year is "
        "worth, at its end, its flow times one plus terminal growth, divided by cost of capital less terminal growth. "
        "Discount at the cost of capital, without rounding before the end, and report.",
        "For a fairness opinion on {company} we need its discounted cash flow value. Free cash flow of a year equals "
        "after-tax EBIT (revenue, EBIT margin, one minus tax rate) plus depreciation less capital expenditure less the "
        "build-up of working capital; the latter is its rate times the increase of revenue, the two before are "
        "fractions of the year's revenue. Revenue develops from the base year with the growth rates. Year-end flows, "
        "the first one year from now, discounted at the cost of capital; a terminal value at the end of the last year "
        "of its flow times one plus terminal growth over cost of capital less terminal growth; unrounded throughout.",
    ),
)
COMPARABLES = Brief(
    usual=(
        "Value {target} by comparable companies and report to the deal team.\nConventions: enterprise value is market "
        "value of the shares plus debt less cash. The price by EV/EBITDA is the target's EBITDA times the median "
        "multiple, less its debt, plus its cash, over its shares. The price by P/E is the target's net income times "
        "the median multiple over its shares. Do not round intermediate results.",
        "What do its peers say {target} is worth? For each peer form enterprise value (the shares at market, plus "
        "debt, less cash), EV/EBITDA and P/E. The median EV/EBITDA times the EBITDA of the target, less debt, plus "
        "cash, over its shares, is one price; the median P/E times its net income over its shares is the other. Keep "
        "all digits until the end.",
        "The deal team wants {target} priced off its peer group. Use medians: of EV/EBITDA, applied to the target's "
        "EBITDA and brought to a share by taking off debt, adding cash and dividing by its shares; and of P/E, applied "
        "to its net income and divided by its shares. Enterprise value (EV) adds debt to the market value of the "
        "shares and takes off cash. Nothing is rounded in between.",
        "Assignment: comparable companies valuation of {target}.\n- Enterprise value: market value of the shares plus "
        "debt less cash.\n- Price by EV/EBITDA: median multiple times the target's EBITDA, less its debt, plus its "
        "cash, over its shares.\n- Price by P/E: median multiple times its net income, over its shares.\n- No rounding "
        "of intermediate results.",
        "Before we bid for {target}, look at how the market values companies like it. Tabulate what they are worth "
        "with debt and without cash (enterprise value: market value of the shares plus debt less cash), in relation to "
        "EBITDA, and their shares in relation to net income. At the median of either ratio the target has a price a "
        "share: by EV/EBITDA after deducting its debt and adding its cash, by P/E directly from net income. Round only "
        "what you hand in.",
    ),
    held_back=(
        "{target} is for sale, and the deal team asks for a price from multiples. Peer by peer, enterprise value is "
        "what the shares cost at market, plus debt, less cash; divide by EBITDA, and the market value by net income. "
        "Take both medians to the target: EV/EBITDA on its EBITDA gives an enterprise value from which debt goes off "
        "and to which cash is added, P/E on its net income gives the equity at once; either is divided by its shares. "
        "Full precision, please.",
        "Use listed companies to judge the share price of {target}. Their EV/EBITDA (EV: market value of the shares "
        "plus debt less cash) and P/E are wanted one by one and at the median. From the medians derive two prices a "
        "share of the target, one by its EBITDA (subtract debt, add cash, divide by shares) and one by its net income "
        "(divide by shares). Work without rounding and report to the deal team.",
    ),
)
VARIANCE = Brief(
    usual=(
        "Explain the contribution of the {division} division against its budget. Contribution is volume times price "
        "less unit cost. A variance that raises contribution is positive.",
        "Why did {division} not earn what was planned? Split the gap between actual and budget contribution of every "
        "product into price, volume and cost. Contribution is the volume times the difference of price and unit cost; "
        "whatever raises it is positive.",
        "The finance director wants the {division} division compared with its budget, product by product. Contribution "
        "means price less unit cost, times volume. Give the variances a positive sign where they raise contribution "
        "and a negative one where they lower it.",
        "Assignment: variance analysis of the {division} division.\n- Contribution: volume times (price less unit "
        "cost).\n- Variances: price, volume and cost of each product, actual against budget.\n- Sign: positive where "
        "contribution is raised.",
        "Year-end review of {division}: the plan and what became of it are given by product. Show how far prices, "
        "volumes and costs account for the change of contribution against budget, contribution being the volume at "
        "price less unit cost. A change that raises it counts as positive, one that lowers it as negative.",
    ),
    held_back=(
        "For each product of {division}, what moved contribution away from the budget: the price, the volume or the "
        "cost? Contribution is what price less unit cost leaves on the volume. Mark as positive what raises it.",
        "The {division} division has closed its year. Set its figures against the budget and attribute the difference "
        "in contribution (units sold, that is volume, times price less unit cost) to three causes, each positive when "
        "it raises contribution. The finance director reads the memo first.",
    ),
)
