"""Each question is answered through the real tools, locked to its simulation date: what is asked can be found."""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections.abc import Callable
from datetime import date
from typing import Any

import anyio
import pytest
from mcp import Client

from evaluators.contract import Case
from evaluators.fundamentals.dataset import DATASET, TEMPLATES
from evaluators.professional.dataset import DATASET as PROFESSIONAL
from mcp_servers import caller, edgar, yfinance
from mcp_servers.access import Grant

SERVERS = {"edgar": edgar.build_server(), "yfinance": yfinance.build_server()}
Ask = Callable[..., dict[str, Any]]

ITEMS = {
    "gross profit": "GrossProfit",
    "operating income": "OperatingIncome",
    "net income": "NetIncome",
    "research and development expense": "ResearchAndDevelopment",
    "revenue": "Revenue",
    "diluted earnings per share": "EPSDiluted",
    "basic earnings per share": "EPSBasic",
    "total assets": "Assets",
    "stockholders' equity": "Equity",
    "net cash from operating activities": "OperatingCashFlow",
    "dividends paid": "Dividends",
    "cash paid for repurchases of common stock": "ShareRepurchases",
    "cash paid for property, plant and equipment": "CapitalExpenditure",
}


def asking(case: Case) -> Ask:
    """Return a function that calls one tool as the case's task; a look-ahead or a tool error fails the test."""

    def ask(server: str, tool: str, **arguments: Any) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            with caller.acting_as(Grant("run", case.task.task_id, case.task.as_of, 0)) as call:
                async with Client(SERVERS[server]) as client:
                    result = await client.call_tool(tool, arguments)
                assert not result.is_error, (case.task.question, result.content[0].text)
                assert not call.looked_ahead
                assert result.structured_content is not None
                return result.structured_content

        return anyio.run(run)

    return ask


def figure(ask: Ask, case: Case, item: str, year: int, *, period: str = "FY", version: str = "latest") -> float:
    facts = fact(ask, case, item, year, period=period, version=version)
    return float(facts["value"][0])


def fact(ask: Ask, case: Case, item: str, year: int, *, period: str = "FY", version: str) -> dict[str, Any]:
    return ask(
        "edgar",
        "get_company_facts",
        ticker=case.task.context["ticker"],
        concept=item,
        fiscal_year=year,
        fiscal_period=period,
        version=version,
    )


def named(case: Case, pattern: str) -> str:
    match = re.search(pattern, case.task.question)
    assert match is not None, case.task.question
    return match[1]


def period_of(case: Case) -> str:
    quarter = re.search(r"\b(Q[123]) of fiscal", case.task.question)
    return quarter[1] if quarter else "FY"


def closes(ask: Ask, case: Case, ticker: str) -> list[float]:
    start, end = named(case, r"close of ([0-9-]{10})"), named(case, r"to the close of ([0-9-]{10})")
    return list(ask("yfinance", "get_price_history", ticker=ticker, start=start, end=end)["close"])


def log_returns(prices: list[float]) -> list[float]:
    return [math.log(after / before) for before, after in itertools.pairwise(prices)]


def solve(case: Case, ask: Ask) -> float | str:
    """Answer a question from its text and the tools."""
    name = case.task.family.removeprefix("fundamentals/")
    year = int(case.task.context.get("fiscal_year", 0))
    ticker = str(case.task.context["ticker"])

    def get(item: str, when: int = year, **how: str) -> float:
        return figure(ask, case, item, when, **how)

    if name == "margin":
        return get(ITEMS[named(case, r"that is (.+) divided by revenue")]) / get("Revenue")
    if name == "margin-change":
        item = ITEMS[named(case, r"\(([a-z ]+) divided by revenue\)")]
        return get(item) / get("Revenue") - get(item, year - 1) / get("Revenue", year - 1)
    if name == "return-on-equity":
        return 2 * get("NetIncome") / (get("Equity") + get("Equity", year - 1))
    if name == "free-cash-flow":
        return get("OperatingCashFlow") - get("CapitalExpenditure")
    if name == "current-ratio":
        return get("CurrentAssets") / get("CurrentLiabilities")
    if name == "cash-conversion":
        return get("OperatingCashFlow") / get("NetIncome")
    if name == "revenue-growth":
        return get("Revenue") / get("Revenue", year - 1) - 1
    if name == "compound-growth":
        years = int(named(case, r"over the ([0-9]+) years"))
        item = ITEMS[named(case, r"growth rate of the (.+?) of ")]
        return (get(item) / get(item, year - years)) ** (1 / years) - 1
    if name == "cumulative-flow":
        item = ITEMS[named(case, r"total (.+?) of (?:Apple|NVIDIA)")]
        first = int(named(case, r"fiscal years ([0-9]{4}) to"))
        return sum(get(item, when) for when in range(first, year + 1))
    if name == "fourth-quarter":
        item = ITEMS[named(case, r"What was the (.+?) of ")]
        return get(item) - sum(get(item, period=quarter) for quarter in ("Q1", "Q2", "Q3"))
    if name == "effective-tax-rate":
        return get("IncomeTax") / (get("NetIncome") + get("IncomeTax"))
    if name == "sustainable-growth":
        return get("NetIncome") / get("Equity", year - 1) * (1 - get("Dividends") / get("NetIncome"))
    if name == "incremental-margin":
        return (get("OperatingIncome") - get("OperatingIncome", year - 1)) / (get("Revenue") - get("Revenue", year - 1))
    if name in ("figure-on-date", "original-figure"):
        item = ITEMS[named(case, r"its (.+?) for (?:Q[123] of )?fiscal")]
        return get(item, period=period_of(case), version="latest" if name == "figure-on-date" else "original")
    if name == "restatement-effect":
        item = ITEMS[named(case, r"does the (.+?) of (?:Apple|NVIDIA)")]
        latest, original = (get(item, period=period_of(case), version=v) for v in ("latest", "original"))
        return latest / original - 1
    if name in ("which-filing", "filing-date"):
        item = ITEMS[named(case, r"first reported its (.+?) for fiscal")]
        found = fact(ask, case, item, year, version="original")
        return str(found["accession" if name == "which-filing" else "filed"][0])
    if name in ("earnings-surprise", "revenue-surprise"):
        item = "EPSDiluted" if name == "earnings-surprise" else "Revenue"
        consensus = float(named(case, r"had been \$([0-9.]+[0-9])")) * (1 if item == "EPSDiluted" else 1e9)
        return get(item, period=period_of(case), version="original") / consensus - 1
    prices = closes(ask, case, ticker)
    if name == "price-return":
        return prices[-1] / prices[0] - 1
    if name == "price-volatility":
        return statistics.stdev(log_returns(prices)) * math.sqrt(252)
    if name == "price-drawdown":
        return max(1 - close / max(prices[: place + 1]) for place, close in enumerate(prices))
    other = closes(ask, case, named(case, r"(?:exceed that of|and of) ([A-Z-]+) from"))
    if name == "relative-performance":
        return prices[-1] / prices[0] - other[-1] / other[0]
    assert name == "return-correlation"
    return statistics.correlation(log_returns(prices), log_returns(other))


def as_written(answer: float | str, case: Case) -> str:
    if isinstance(answer, str):
        return f"Final answer: {answer}"
    if "percent" in case.task.answer_format.split("Write ")[-1][:20]:
        return f"Final answer: {100 * answer:.3f}%"
    return f"Final answer: {answer:.6f}"


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_question_can_be_answered_through_the_tools_alone(name: str) -> None:
    for case in DATASET.draw(seed=31, count=3, options={"task_types": [name]}):
        reply = as_written(solve(case, asking(case)), case)
        session = case.open()
        session.reply(reply)
        assert session.score().passed, (case.task.question, reply, session.score().reason)


def test_the_prices_of_the_professional_risk_task_are_served() -> None:
    for case in PROFESSIONAL.draw(seed=31, count=3, options={"task_types": ["value-at-risk"]}):
        inputs = case.task.context
        for holding in inputs["holdings"]:
            history = asking(case)(
                "yfinance",
                "get_price_history",
                ticker=holding["ticker"],
                start=inputs["first_close"],
                end=inputs["last_close"],
            )
            assert len(history["close"]) == 251
            assert date.fromisoformat(history["date"][-1]) <= case.task.as_of
