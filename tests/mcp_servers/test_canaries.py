"""Records of the future, planted in every source, are never served by any tool.

``python -m tests.canaries 100000`` prints what the campaign here asserts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from mcp_servers import edgar, options, trading, yfinance
from mcp_servers.sandbox import tiers
from mcp_servers.sandbox.pool import Pool
from tests.canaries.planted import AS_OF, CANARY, DIGITS, FILER, NEWCOMER, TOMORROW, planted
from tests.canaries.play import is_planted, play

Ask = Callable[..., Any]
CALLS = 2_000
MANY_CALLS = 100_000
ALL_TOOLS = 56
LEAST_TIMED = 500
MOST_SLOWER = 0.1
"""How far from a half the share of calls may lie that take longer because of records of tomorrow."""
NEED_AN_ACCOUNT = {"advance", "cancel_order", "exercise_option", "get_history"}
TAKE_NOTHING = {"list_line_items", "get_account", "list_orders", "get_performance"} | {
    "get_profit_by_source",
    "get_margin",
    "list_events",
}
COMPUTE = {"analyze_strategy", "calculate_option_price", "calculate_implied_volatility", "price_path_dependent_option"}
"""Of whose arguments few random ones go together."""
LAKE, CLEAN = planted(), planted(with_tomorrow=False)
LEG = {"option_type": "put", "quantity": -1, "premium": 2.0, "strike": 95.0}
EVERY_CALL = [
    (edgar, "search_companies", {}),
    (edgar, "search_companies", {"query": "apple"}),
    (edgar, "list_filings", {"ticker": NEWCOMER}),
    (edgar, "get_company_facts", {"ticker": NEWCOMER, "concept": "Revenue"}),
    (edgar, "list_line_items", {}),
    (edgar, "list_filings", {"ticker": "AAPL", "limit": 200}),
    *((edgar, "get_company_facts", {"ticker": "AAPL", "concept": "Revenue", "version": v}) for v in ("latest", "all")),
    (edgar, "get_company_facts", {"ticker": "AAPL", "concept": "Revenues", "fiscal_year": 2019}),
    (edgar, "get_financial_statement", {"ticker": "AAPL", "statement": "income", "fiscal_year": 2019}),
    (edgar, "get_ratios", {"ticker": "AAPL", "fiscal_year": 2019}),
    (edgar, "compare_companies", {"concept": "Revenue", "fiscal_year": 2019}),
    *((edgar, "get_filing", {"ticker": ticker}) for ticker in ("AAPL", NEWCOMER)),
    (edgar, "get_filing_section", {"ticker": "AAPL", "section": "I-2", "form": "10-K"}),
    (edgar, "search_filings", {"query": "Apple sells"}),
    (edgar, "search_filings", {"query": "discussion", "ticker": NEWCOMER}),
    (edgar, "search_companies", {"query": FILER}),
    (edgar, "list_filings", {"ticker": FILER, "limit": 200}),
    (edgar, "get_company_facts", {"ticker": FILER, "concept": "Revenue", "version": "all"}),
    (edgar, "get_financial_statement", {"ticker": FILER, "statement": "income", "fiscal_year": 2019}),
    (edgar, "get_ratios", {"ticker": FILER, "fiscal_year": 2019}),
    (edgar, "get_filing", {"ticker": FILER}),
    (edgar, "get_filing_section", {"ticker": FILER, "section": "7"}),
    (edgar, "search_filings", {"query": "covenant", "ticker": FILER}),
    *((yfinance, tool, {"ticker": FILER}) for tool in ("get_actions", "get_earnings", "get_estimates")),
    (yfinance, "list_tickers", {}),
    (yfinance, "get_quote", {"ticker": "SIM-TECH"}),
    (yfinance, "get_quote", {"ticker": "SIM-TECH", "date": TOMORROW.isoformat()}),
    *(
        (yfinance, "get_price_history", {"ticker": "SIM-TECH", "start": "2020-01-01", "interval": interval})
        for interval in ("1d", "1wk", "1mo")
    ),
    (yfinance, "get_price_history", {"ticker": "SIM-TECH", "end": "2021-01-01"}),
    (yfinance, "get_statistics", {"ticker": "SIM-TECH"}),
    *(
        (yfinance, tool, {"ticker": ticker})
        for tool in ("get_actions", "get_earnings", "get_estimates", "get_news")
        for ticker in ("AAPL", NEWCOMER)
    ),
    (yfinance, "get_financials", {"ticker": "AAPL", "statement": "income"}),
    *((yfinance, "get_crypto_candles", {"symbol": symbol, "timeframe": "1h"}) for symbol in ("BTC/USDT", NEWCOMER)),
    (yfinance, "get_crypto_candles", {"symbol": "BTC/USDT", "end": TOMORROW.isoformat()}),
    *((yfinance, "get_funding_rates", {"symbol": symbol}) for symbol in ("BTC/USDT:USDT", NEWCOMER)),
    *((yfinance, "get_order_book", {"symbol": symbol}) for symbol in ("BTC/USDT", NEWCOMER)),
    (yfinance, "get_macro_series", {"series": "DTB3"}),
    (yfinance, "get_macro_series", {"series": "DTB3", "end": TOMORROW.isoformat()}),
    *(
        (options, tool, {"ticker": ticker})
        for tool in ("get_option_expirations", "get_options_chain", "get_iv_surface", "analyze_volatility")
        for ticker in ("SIM-TECH", "ACME", NEWCOMER)
    ),
    (options, "get_options_chain", {"ticker": "ACME", "expiration": "2020-09-14"}),
    (options, "get_iv_surface", {"ticker": "ACME", "model": "ssvi"}),
    (options, "calibrate_heston", {"ticker": "ACME"}),
    *((options, "analyze_strategy", {"legs": [LEG], "ticker": ticker}) for ticker in ("SIM-TECH", "ACME")),
]


def _text(answer: Any) -> str:
    return json.dumps(answer).replace("_", "").replace(",", "")


@pytest.mark.parametrize(("module", "tool", "arguments"), EVERY_CALL)
def test_no_tool_serves_a_planted_record_of_tomorrow(
    ask: Ask, module: Any, tool: str, arguments: dict[str, Any]
) -> None:
    assert DIGITS not in _text(ask(module.build_server(lake=LAKE), tool, as_of=AS_OF, **arguments))


@pytest.mark.parametrize(
    "text", ['{"close": 777123.0}', "at 777,124.0", "0000777123", "7.77123e5", "0.777122", '{"mean": 777123.25}']
)
def test_a_planted_number_is_known_however_it_is_written(text: str) -> None:
    assert is_planted(text)


def test_a_computed_number_that_has_its_digits_somewhere_is_not_planted() -> None:
    assert not is_planted('{"theta": -0.0165777123042610, "vega": 0.0248263777129156, "price": 7.771239185320417}')


def test_every_tool_over_the_lake_is_in_the_list_above(ask: Ask) -> None:
    import anyio
    from mcp import Client

    async def names(module: Any) -> set[str]:
        async with Client(module.build_server(lake=LAKE)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    reads_no_data = {"calculate_option_price", "calculate_implied_volatility", "price_path_dependent_option"}
    for module in (edgar, yfinance, options):
        called = {tool for owner, tool, _ in EVERY_CALL if owner is module}
        assert anyio.run(names, module) - reads_no_data == called


@pytest.mark.parametrize(("module", "tool", "arguments"), EVERY_CALL)
def test_answers_and_errors_are_those_of_a_lake_without_the_planted_records(
    ask: Ask, module: Any, tool: str, arguments: dict[str, Any]
) -> None:
    seen, clean = (ask(module.build_server(lake=lake), tool, as_of=AS_OF, **arguments) for lake in (LAKE, CLEAN))
    assert seen == clean


def test_the_paper_account_never_meets_the_planted_bar(ask: Ask) -> None:
    server = trading.build_server(lake=LAKE)
    ask(server, "open_account", as_of=AS_OF, start="2020-06-10")
    ask(server, "place_order", as_of=AS_OF, client_order_id="a", ticker="SIM-TECH", side="buy", quantity=10)
    for move in ({"days": 5}, {"to": "2020-06-16"}, {"days": 1}, {"to": "2021-01-01"}):
        assert DIGITS not in _text(ask(server, "advance", as_of=AS_OF, **move))
    for tool in ("get_account", "list_orders", "get_performance", "get_profit_by_source", "list_events"):
        assert DIGITS not in _text(ask(server, tool, as_of=AS_OF))


def test_random_calls_with_odd_dates_meet_no_record_of_the_future_and_no_unclear_error() -> None:
    tally = play(CALLS, seed=20261122)
    assert tally.leaks == []
    assert tally.different == []
    assert tally.unclear == []
    assert sum(tally.answered.values()) > CALLS // 10 and sum(tally.refused.values()) > CALLS // 10
    often = {tool for tool, pairs in tally.seconds.items() if len(pairs) >= 20} - COMPUTE
    assert len(often) > 25
    both = {tool for tool in often if tally.answered[tool] and tally.refused[tool]}
    assert often - both - TAKE_NOTHING - NEED_AN_ACCOUNT == set()


@pytest.mark.campaign
def test_a_hundred_thousand_calls_of_every_tool_tell_nothing_of_tomorrow() -> None:
    """Not by values, errors, counts or pages, which equal those of a lake without tomorrow, and not by their time."""
    tier = tiers.selftest().tier
    assert tier is not None
    with Pool(tier) as pool:
        tally = play(MANY_CALLS, seed=1, pool=pool)
    asked = tally.answered + tally.refused
    print({tool: asked[tool] for tool in sorted(asked)})
    assert tally.asked >= MANY_CALLS and len(asked) == ALL_TOOLS
    assert (tally.leaks, tally.different, tally.unclear) == ([], [], [])
    slower = {tool: share for tool, (share, _) in tally.slower().items() if len(tally.seconds[tool]) > LEAST_TIMED}
    assert len(slower) >= 39
    assert {tool: share for tool, share in slower.items() if abs(share - 0.5) > MOST_SLOWER} == {}


def test_the_random_calls_would_find_a_record_of_the_future() -> None:
    tally = play(CALLS, seed=20261122, as_of=TOMORROW)
    found = {tool for tool, _ in tally.leaks}
    told = {row[0] for row in tally.different}
    assert {
        "search_companies",
        "list_filings",
        "get_filing",
        "search_filings",
        "get_news",
        "get_earnings",
        "get_macro_series",
    } <= told
    assert {"get_quote", "get_price_history", "get_statistics", "get_options_chain", "list_filings"} <= found


def test_the_canaries_sing_a_day_later(ask: Ask) -> None:
    """The planted records are really there: the tests above can fail."""
    filed = ask(edgar.build_server(lake=LAKE), "list_filings", as_of=TOMORROW, ticker="AAPL")
    assert DIGITS in filed["accession"]
    facts = ask(edgar.build_server(lake=LAKE), "get_company_facts", as_of=TOMORROW, ticker="AAPL", concept="Revenues")
    assert CANARY in facts["value"]
    filer = {"as_of": TOMORROW, "ticker": FILER}
    assert DIGITS in ask(edgar.build_server(lake=LAKE), "list_filings", **filer)["accession"]
    assert CANARY in ask(yfinance.build_server(lake=LAKE), "get_estimates", **filer)["average"]
    assert ask(yfinance.build_server(lake=LAKE), "get_quote", as_of=TOMORROW, ticker="SIM-TECH")["close"] == CANARY
    assert (
        ask(options.build_server(lake=LAKE), "get_options_chain", as_of=TOMORROW, ticker="SIM-TECH")["spot"] == CANARY
    )
    assert ask(options.build_server(lake=LAKE), "get_options_chain", as_of=TOMORROW, ticker="ACME")["spot"] == CANARY
