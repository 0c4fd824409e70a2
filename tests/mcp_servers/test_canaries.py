"""Records of the future, planted in every source, are never served by any tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from lake import sample
from lake.point_in_time import PointInTime
from lake.records import Bars, Facts, Observations
from mcp_servers import edgar, options, trading, yfinance

Ask = Callable[..., Any]
AS_OF = date(2020, 6, 15)
TOMORROW = date(2020, 6, 16)
CANARY = 777_123.0
DIGITS = "777123"


def planted() -> sample.Lake:
    """Return the embedded sample with a row of tomorrow in every table."""
    lake = sample.embedded()
    facts = list(_rows(lake.facts.known("AAPL", as_of=AS_OF)))
    facts.append(
        (TOMORROW, "Revenues", 2019, "FY", date(2018, 9, 30), date(2019, 9, 28), CANARY, "USD", "10-K/A", DIGITS)
    )
    bars = list(_rows(lake.simulated_bars.known("SIM-TECH", as_of=AS_OF)))
    bars.append((TOMORROW, CANARY, CANARY + 1, CANARY - 1, CANARY, CANARY))
    rates = [(date(2020, 6, 1), date(2020, 6, 1), 0.15), (TOMORROW, TOMORROW, 77.0)]
    return replace(
        lake,
        facts=PointInTime("fixture", lambda: {"AAPL": Facts.of(facts)}),
        simulated_bars=PointInTime("fixture", lambda: {"SIM-TECH": Bars.of(bars)}),
        rates=PointInTime("fixture", lambda: {"DTB3": Observations.of(rates)}),
    )


def _rows(table: Any) -> Any:
    return zip(*(column for _, column in table.columns()), strict=True)


LAKE = planted()
EVERY_CALL = [
    (edgar, "search_companies", {}),
    (edgar, "list_line_items", {}),
    (edgar, "list_filings", {"ticker": "AAPL", "limit": 200}),
    *((edgar, "get_company_facts", {"ticker": "AAPL", "concept": "Revenue", "version": v}) for v in ("latest", "all")),
    (edgar, "get_company_facts", {"ticker": "AAPL", "concept": "Revenues", "fiscal_year": 2019}),
    (edgar, "get_financial_statement", {"ticker": "AAPL", "statement": "income", "fiscal_year": 2019}),
    (yfinance, "list_tickers", {}),
    (yfinance, "get_quote", {"ticker": "SIM-TECH"}),
    (yfinance, "get_quote", {"ticker": "SIM-TECH", "date": TOMORROW.isoformat()}),
    *(
        (yfinance, "get_price_history", {"ticker": "SIM-TECH", "start": "2020-01-01", "interval": interval})
        for interval in ("1d", "1wk", "1mo")
    ),
    (yfinance, "get_price_history", {"ticker": "SIM-TECH", "end": "2021-01-01"}),
    (yfinance, "get_statistics", {"ticker": "SIM-TECH"}),
    (options, "get_options_chain", {"ticker": "SIM-TECH"}),
    (options, "get_iv_surface", {"ticker": "SIM-TECH"}),
]


def _text(answer: Any) -> str:
    return json.dumps(answer).replace("_", "").replace(",", "")


@pytest.mark.parametrize(("module", "tool", "arguments"), EVERY_CALL)
def test_no_tool_serves_a_planted_record_of_tomorrow(
    ask: Ask, module: Any, tool: str, arguments: dict[str, Any]
) -> None:
    assert DIGITS not in _text(ask(module.build_server(lake=LAKE), tool, as_of=AS_OF, **arguments))


def test_every_tool_over_the_lake_is_in_the_list_above(ask: Ask) -> None:
    import anyio
    from mcp import Client

    async def names(module: Any) -> set[str]:
        async with Client(module.build_server(lake=LAKE)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    reads_no_data = {"calculate_option_price", "calculate_implied_volatility", "analyze_strategy"}
    for module in (edgar, yfinance, options):
        called = {tool for owner, tool, _ in EVERY_CALL if owner is module}
        assert anyio.run(names, module) - reads_no_data == called


def test_answers_do_not_depend_on_the_planted_records(ask: Ask) -> None:
    for module, tool, arguments in EVERY_CALL:
        clean = ask(module.build_server(), tool, as_of=AS_OF, **arguments)
        if module is not options and "ticker" in arguments and not isinstance(clean, str):
            clean.pop("source", None)
            seen = ask(module.build_server(lake=LAKE), tool, as_of=AS_OF, **arguments)
            seen.pop("source", None)
            assert seen == clean


def test_the_paper_account_never_meets_the_planted_bar(ask: Ask) -> None:
    server = trading.build_server(lake=LAKE)
    ask(server, "open_account", as_of=AS_OF, start="2020-06-10")
    ask(server, "place_order", as_of=AS_OF, client_order_id="a", ticker="SIM-TECH", side="buy", quantity=10)
    for move in ({"days": 5}, {"to": "2020-06-16"}, {"days": 1}, {"to": "2021-01-01"}):
        assert DIGITS not in _text(ask(server, "advance", as_of=AS_OF, **move))
    for tool in ("get_account", "list_orders", "get_performance"):
        assert DIGITS not in _text(ask(server, tool, as_of=AS_OF))


def test_the_canaries_sing_a_day_later(ask: Ask) -> None:
    """The planted records are really there: the tests above can fail."""
    filed = ask(edgar.build_server(lake=LAKE), "list_filings", as_of=TOMORROW, ticker="AAPL")
    assert DIGITS in filed["accession"]
    facts = ask(edgar.build_server(lake=LAKE), "get_company_facts", as_of=TOMORROW, ticker="AAPL", concept="Revenues")
    assert CANARY in facts["value"]
    assert ask(yfinance.build_server(lake=LAKE), "get_quote", as_of=TOMORROW, ticker="SIM-TECH")["close"] == CANARY
    assert (
        ask(options.build_server(lake=LAKE), "get_options_chain", as_of=TOMORROW, ticker="SIM-TECH")["spot"] == CANARY
    )
