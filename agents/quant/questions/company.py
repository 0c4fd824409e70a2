"""Answer questions about a company's reported figures from its filings.

The question is read for the company, the fiscal years and quarter, the line items it names and the operation it asks
for; the figures come from the EDGAR tools, as known on the simulation date.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp_toolbox import Toolbox

from reading.calculator import evaluate_all
from reading.message import context_of, final_answer, wants_json

LINE_ITEMS: tuple[tuple[str, str], ...] = (
    (r"diluted (?:earnings per share|eps)", "EPSDiluted"),
    (r"(?:basic )?(?:earnings per share|\beps\b)", "EPSBasic"),
    (r"cost of (?:revenue|sales|goods sold)", "CostOfRevenue"),
    (r"gross profit", "GrossProfit"),
    (r"operating income|operating profit", "OperatingIncome"),
    (r"research and development", "ResearchAndDevelopment"),
    (r"selling, general and administrative", "SellingGeneralAndAdministrative"),
    (r"income tax(?: expense|es)?", "IncomeTax"),
    (r"net income|net profit", "NetIncome"),
    (
        r"cash (?:flow )?from operati(?:ng activities|ons)|operating cash flow|operations brought in(?: as cash)?",
        "OperatingCashFlow",
    ),
    (
        r"capital expenditures?|capex|(?:cash paid for|purchases of|spending on) property, plant and equipment",
        "CapitalExpenditure",
    ),
    (r"depreciation", "DepreciationAndAmortization"),
    (r"dividends paid", "Dividends"),
    (r"(?:total )?current assets", "CurrentAssets"),
    (r"(?:total )?current liabilities", "CurrentLiabilities"),
    (r"(?:stock|share)holders'? equity", "Equity"),
    (r"inventor(?:y|ies)", "Inventory"),
    (r"long-term debt", "LongTermDebt"),
    (r"total assets", "Assets"),
    (r"total liabilities", "Liabilities"),
    (r"revenues?|net sales", "Revenue"),
)
"""Words for a line item, the more specific first: a stretch of text that one has claimed is not read again."""

MARGINS = {"gross margin": "GrossProfit", "operating margin": "OperatingIncome", "net margin": "NetIncome"}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}


@dataclass(frozen=True)
class Inquiry:
    """What a question asks about.

    Attributes
    ----------
    text
        The question in lower case.
    years
        Fiscal years in the order of their mention, without repeats.
    period
        ``FY``, ``Q1`` ... ``Q4``.
    items
        Line items in the order of their mention, without repeats.
    """

    ticker: str
    text: str
    years: tuple[int, ...]
    period: str
    items: tuple[str, ...]


def line_items(text: str) -> tuple[str, ...]:
    """Return the line items that ``text`` names, in the order of their mention."""
    found: dict[int, str] = {}
    for pattern, item in LINE_ITEMS:
        for match in re.finditer(pattern, text, re.IGNORECASE):
            found.setdefault(match.start(), item)
        text = re.sub(pattern, lambda match: "\0" * len(match.group()), text, flags=re.IGNORECASE)
    return tuple(dict.fromkeys(found[place] for place in sorted(found)))


def read_inquiry(body: dict[str, Any]) -> Inquiry | None:
    """Return what is asked; None when it is no question about one company's fiscal year."""
    text = str(body.get("question", "")).split("\n\nEnd your reply")[0]
    ticker = context_of(body).get("ticker") or body.get("ticker") or _ticker(text)
    years = tuple(dict.fromkeys(int(year) for year in re.findall(r"fiscal (?:years? )?(\d{4})", text)))
    through = re.search(r"fiscal years? (\d{4}) (?:to|through|and) (?:fiscal )?(\d{4})", text)
    if through:
        years = tuple(dict.fromkeys([int(through.group(1)), int(through.group(2)), *years]))
    if not years or "four quarters" in text:
        return None
    quarter = re.search(r"\bQ([1-4])\b", text)
    named = re.search(r"\b(first|second|third|fourth) quarter\b", text)
    period = "FY"
    if quarter:
        period = f"Q{quarter.group(1)}"
    elif named:
        period = f"Q{('first', 'second', 'third', 'fourth').index(named.group(1)) + 1}"
    return Inquiry(str(ticker or ""), text.lower(), years, period, line_items(text))


def _ticker(text: str) -> str | None:
    match = re.search(r"\(([A-Z]{1,5}(?:-[A-Z0-9]{1,8})?)\)", text)
    return match.group(1) if match else None


async def _looked_up(text: str, toolbox: Toolbox) -> str | None:
    """Return the ticker of the one company that is named; None when there is none, or several to choose from."""
    names = set(re.findall(r"\b((?:[A-Z]\w+ )+(?:Inc|Corp|Co)\.)", text))
    if len(names) != 1:
        return None
    name = re.sub(r"^(?:(?:For|Find|Look|What|State|Please) )+", "", names.pop())
    found = (await toolbox.call("edgar", "search_companies", query=name))["ticker"]
    return str(found[0]) if len(found) == 1 else None


class Filings:
    """One company's figures, each asked for once."""

    def __init__(self, ticker: str, toolbox: Toolbox) -> None:
        self._ticker = ticker
        self._toolbox = toolbox
        self._told: dict[tuple[str, int, str, str], float] = {}

    async def figure(self, item: str, year: int, period: str = "FY", version: str = "latest") -> float:
        """Return a figure; a fourth quarter is the year less its first three quarters."""
        if period == "Q4":
            parts = [await self.figure(item, year, quarter, version) for quarter in ("Q1", "Q2", "Q3")]
            return await self.figure(item, year, "FY", version) - sum(parts)
        key = (item, year, period, version)
        if key not in self._told:
            columns = await self._toolbox.call(
                "edgar",
                "get_company_facts",
                ticker=self._ticker,
                concept=item,
                fiscal_year=year,
                fiscal_period=period,
                version=version,
            )
            self._told[key] = float(columns["value"][-1])
        return self._told[key]

    async def quotient(self, item: str, base: str, year: int, period: str) -> float:
        """Return one figure over another, divided in the sandbox where there is one."""
        values = {"figure": await self.figure(item, year, period), "base": await self.figure(base, year, period)}
        return (await evaluate_all({"quotient": "figure / base"}, values, self._toolbox))["quotient"]


Operation: TypeAlias = Callable[[Inquiry, Filings], Awaitable[float | None]]


def _version(inquiry: Inquiry) -> str:
    first = r"original(?:ly)? report|first report|before anything was corrected|filing that carried it first"
    return "original" if re.search(first, inquiry.text) else "latest"


_YEAR_BEFORE = r"year before|year earlier"


async def _surprise(inquiry: Inquiry, filings: Filings) -> float | None:
    match = re.search(r"consensus.{0,120}?\$([\d,.]*\d)(?: (thousand|million|billion|trillion))?", inquiry.text)
    if match is None or not inquiry.items:
        return None
    consensus = float(match.group(1).replace(",", "")) * _SCALES.get(match.group(2) or "", 1.0)
    reported = await filings.figure(inquiry.items[0], inquiry.years[-1], inquiry.period, "original")
    return reported / consensus - 1.0


async def _growth(inquiry: Inquiry, filings: Filings) -> float | None:
    grown = rf"gr[eo]w|growth|yearly rate|change of .*(?:{_YEAR_BEFORE})"
    if not re.search(grown, inquiry.text) or len(inquiry.items) != 1:
        return None
    last = max(inquiry.years)
    spanned = re.search(r"over the (\d+) years|from (\d+) fiscal years before", inquiry.text)
    span = int(spanned.group(1) or spanned.group(2)) if spanned else 1
    first = last - span if len(inquiry.years) == 1 else min(inquiry.years)
    ratio = await filings.figure(inquiry.items[0], last, inquiry.period) / await filings.figure(
        inquiry.items[0], first, inquiry.period
    )
    return ratio ** (1.0 / (last - first)) - 1.0 if re.search(r"compound|yearly rate", inquiry.text) else ratio - 1.0


async def _margin(inquiry: Inquiry, filings: Filings) -> float | None:
    item = next((item for name, item in MARGINS.items() if name in inquiry.text), None)
    profits = [each for each in inquiry.items if each in MARGINS.values()]
    if item is None and "percentage points" in inquiry.text and len(profits) == 1:
        item = profits[0]
    if item is None or "incremental" in inquiry.text or "segment" in inquiry.text:
        return None

    async def margin(year: int) -> float:
        return await filings.quotient(item, "Revenue", year, inquiry.period)

    year = max(inquiry.years)
    if re.search(r"change|difference|percentage points", inquiry.text):
        return await margin(year) - await margin(min(inquiry.years) if len(inquiry.years) > 1 else year - 1)
    return await margin(inquiry.years[-1])


async def _free_cash_flow(inquiry: Inquiry, filings: Filings) -> float | None:
    cash = {"OperatingCashFlow", "CapitalExpenditure"}
    left = re.search(r"remained after|less|beyond", inquiry.text)
    if "free cash flow" not in inquiry.text and not (left and set(inquiry.items) == cash):
        return None
    year, period = inquiry.years[-1], inquiry.period
    return await filings.figure("OperatingCashFlow", year, period) - await filings.figure(
        "CapitalExpenditure", year, period
    )


async def _return_on_equity(inquiry: Inquiry, filings: Filings) -> float | None:
    averaged = re.search(r"mean|average", inquiry.text) and set(inquiry.items) == {"Equity", "NetIncome"}
    if "return on equity" not in inquiry.text and not averaged:
        return None
    year = max(inquiry.years)
    equity = [await filings.figure("Equity", when) for when in (year - 1, year)]
    base = sum(equity) / 2.0 if re.search(r"mean|average", inquiry.text) else equity[1]
    return await filings.figure("NetIncome", year) / base


async def _effective_tax_rate(inquiry: Inquiry, filings: Filings) -> float | None:
    before = re.search(r"before (?:that|this|income tax) expense", inquiry.text)
    if "effective tax rate" not in inquiry.text and not before:
        return None
    tax = await filings.figure("IncomeTax", inquiry.years[-1], inquiry.period)
    return tax / (tax + await filings.figure("NetIncome", inquiry.years[-1], inquiry.period))


async def _sum_over_years(inquiry: Inquiry, filings: Filings) -> float | None:
    span = re.search(r"over (\d+) (?:consecutive )?fiscal years", inquiry.text)
    told = re.search(r"\btotal\b.*\bover the (?:fiscal )?years", inquiry.text)
    if (span is None and told is None) or len(inquiry.items) != 1:
        return None
    last = max(inquiry.years)
    years = range(min(inquiry.years) if span is None else last - int(span.group(1)) + 1, last + 1)
    return sum([await filings.figure(inquiry.items[0], year) for year in years])


async def _ratio(inquiry: Inquiry, filings: Filings) -> float | None:
    """Return the quotient of the two line items that the question divides."""
    if (
        not re.search(r"divided by| per dollar of |ratio| over | share of |multiple of|part of", inquiry.text)
        or "incremental" in inquiry.text
    ):
        return None
    if len(inquiry.items) != 2 or re.search(_YEAR_BEFORE, inquiry.text):
        return None
    over, under = inquiry.items
    if "multiple of" in inquiry.text or "part of" in inquiry.text:
        # "the multiple of A that B was"
        over, under = under, over
    return await filings.quotient(over, under, inquiry.years[-1], inquiry.period)


async def _figure(inquiry: Inquiry, filings: Filings) -> float | None:
    """Return the one figure that is asked for, when no operation is."""
    if len(inquiry.items) != 1 or re.search(
        r"percent|differ|change|ratio|divided|segment|customer|covenant|exchange|guid|outlook|midpoint|interest",
        inquiry.text,
    ):
        return None
    return await filings.figure(inquiry.items[0], inquiry.years[-1], inquiry.period, _version(inquiry))


OPERATIONS: tuple[Operation, ...] = (
    _surprise,
    _growth,
    _margin,
    _free_cash_flow,
    _return_on_equity,
    _effective_tax_rate,
    _sum_over_years,
    _ratio,
    _figure,
)


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply to a question about a company's figures; None when it is none, or none that is understood."""
    inquiry = read_inquiry(body)
    if inquiry is None or wants_json(body):
        return None
    ticker = inquiry.ticker or await _looked_up(str(body.get("question", "")), toolbox)
    if ticker is None:
        return None
    filings = Filings(ticker, toolbox)
    for operation in OPERATIONS:
        result = await operation(inquiry, filings)
        if result is not None:
            return final_answer(written(result, str(body.get("answer_format", ""))))
    return None


def written(value: float, answer_format: str) -> str:
    """Return an answer in the form that the format asks for: percentage, or plain number with all its digits."""
    if "<percentage>" in answer_format:
        return f"{value * 100:.4f}%"
    return f"{value:.2f}" if abs(value) >= 1e5 else f"{value:.6g}"
