"""What the second route reads, the real tools serve, locked to the simulation date of the task: it can be found."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import anyio
import pytest
from mcp import Client

from evaluators.contract import DIFFICULTIES, Difficulty
from evaluators.fundamentals.dataset import TEMPLATES, draw_question, world_of
from evaluators.fundamentals.question import Drawn
from evaluators.professional.dataset import DATASET as PROFESSIONAL
from lake.fundamentals import LINE_ITEMS
from mcp_servers import caller, edgar, yfinance
from mcp_servers.access import Grant
from tests.evaluators.fundamentals import second_route

SERVERS = {"edgar": edgar.build_server(), "yfinance": yfinance.build_server()}
Ask = Callable[..., dict[str, Any]]
ITEMS = ("Revenue", "OperatingIncome", "NetIncome", "OperatingCashFlow", "CurrentAssets", "Equity")


def asking(as_of: date) -> Ask:
    """Return a function that calls one tool on a simulation date; a look-ahead or a tool error fails the test."""

    def ask(server: str, tool: str, **arguments: Any) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            with caller.acting_as(Grant("run", "task", as_of, 0)) as call:
                async with Client(SERVERS[server]) as client:
                    result = await client.call_tool(tool, arguments)
                assert not result.is_error, (tool, arguments, result.content[0].text)
                assert not call.looked_ahead
                assert result.structured_content is not None
                return result.structured_content

        return anyio.run(run)

    return ask


def drawn_of(name: str, level: Difficulty) -> Drawn:
    return draw_question(TEMPLATES[name], world_of(None), level, "tools", name, level)


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", ["margin", "fourth-quarter", "figure-on-date", "which-filing"])
def test_the_figures_of_every_company_named_are_served_in_every_version(name: str, level: Difficulty) -> None:
    drawn = drawn_of(name, level)
    ask = asking(drawn.as_of)
    for ticker in drawn.inputs.get("companies", [drawn.ticker]):
        company = world_of(None).lake.companies.find(ticker)
        assert company is not None
        assert ask("edgar", "search_companies", query=company.name)["ticker"] == [ticker]
        rows = second_route.rows_of(ticker, drawn.as_of)
        for item in ITEMS:
            found = ask("edgar", "get_company_facts", ticker=ticker, concept=item, version="all")
            columns = ("concept", "fiscal_year", "fiscal_period", "value", "accession")
            served = list(zip(*(found[column] for column in columns), strict=True))
            assert served == [row[1:] for row in rows if row[1] in LINE_ITEMS[item]]
            assert all(date.fromisoformat(day) <= drawn.as_of for day in found["filed"])


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", ["segment-margin", "lawsuit-exposure", "currency-effect"])
def test_the_sections_that_a_question_needs_are_listed_searched_and_served(name: str, level: Difficulty) -> None:
    drawn = drawn_of(name, level)
    ask, year = asking(drawn.as_of), drawn.inputs["year"]
    texts = second_route.sections(drawn.ticker, year, drawn.as_of)
    filed = ask("edgar", "list_filings", ticker=drawn.ticker, form="10-K", limit=50)
    first = second_route.Raw(drawn.ticker, drawn.as_of, "original").found("NetIncome", year, "FY")
    assert first is not None and first[5] in filed["accession"]
    for section in ("1", "1A", "3", "7", "7A", "8"):
        served = ask("edgar", "get_filing_section", ticker=drawn.ticker, section=section, accession=first[5])
        assert served["text"] == texts[section]
    found = ask("edgar", "search_filings", ticker=drawn.ticker, query="covenant throughout the year", limit=50)
    assert first[5] in found["accession"]


@pytest.mark.parametrize("level", DIFFICULTIES)
def test_the_consensus_is_served_before_the_announcement_and_beside_its_result(level: Difficulty) -> None:
    drawn = drawn_of("earnings-surprise", level)
    told = asking(drawn.as_of)("yfinance", "get_earnings", ticker=drawn.ticker, limit=200)
    days = [text[:10] for text in told["announced"]]
    row = days.index(str(drawn.inputs["announced"])[:10])
    rows = range(row, row + int(drawn.inputs["quarters"]))
    shares = [told["eps_reported"][each] / told["eps_estimate"][each] - 1 for each in rows]
    assert sum(shares) / len(shares) == pytest.approx(drawn.expected.gold, rel=1e-9)
    drawn = drawn_of("revenue-surprise", level)
    expected = asking(drawn.as_of)("yfinance", "get_estimates", ticker=drawn.ticker)
    assert expected["measure"] == ["eps", "revenue"] and expected["period"] == ["0q", "0q"]
    assert expected["read_on"] < str(drawn.inputs["announced"])[:10]


def test_the_prices_of_the_professional_risk_task_are_served() -> None:
    for case in PROFESSIONAL.draw(seed=31, count=3, options={"task_types": ["value-at-risk"]}):
        inputs = case.open().judge.__self__.inputs
        for holding in inputs["holdings"]:
            history = asking(case.task.as_of)(
                "yfinance",
                "get_price_history",
                ticker=holding["ticker"],
                start=inputs["first_close"],
                end=inputs["last_close"],
            )
            assert len(history["close"]) == 251
            assert date.fromisoformat(history["date"][-1]) <= case.task.as_of
