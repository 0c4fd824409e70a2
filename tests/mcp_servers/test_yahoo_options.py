"""Yahoo's option snapshots through the options server: pulled by the real yfinance from a site that speaks its API."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from lake import providers
from lake.settings import LakeSettings
from lake.yahoo import pull
from mcp_servers import options
from tests.lake.quoted import made_chain
from tests.lake.quoted.made_chain import DAYS, DIVIDENDS, RATE, SPOT, true_volatility
from tests.lake.yahoo import yahoo_site

pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning:yfinance")
Ask = Callable[..., Any]
DAY = date(2024, 3, 4)
TOMORROW = DAY + timedelta(days=1)
DEARER = 0.1
EXPIRATIONS = [str(DAY + timedelta(days=days)) for days in DAYS]


def closing(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 21, tzinfo=UTC)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two days of American options on ACME, the second dearer, one of an index, and one read at night."""
    folder = tmp_path_factory.mktemp("yahoo")
    with yahoo_site.yahoo() as site:

        def snapshot(ticker: str, day: date, rows: list[Any]) -> None:
            site.option_rows = rows
            pull.pull_options(folder, ticker, session=site.session(), now=closing(day))

        snapshot("ACME", DAY, made_chain.rows(DAY))
        later = [(*row[:3], row[3] - timedelta(days=1), *row[4:]) for row in made_chain.rows(TOMORROW, shift=DEARER)]
        snapshot("ACME", TOMORROW, later)
        snapshot("^SPX", DAY, made_chain.rows(DAY, exercise="european"))
        snapshot("NIGHT", DAY, [(*row[:7], None, None, *row[9:]) for row in made_chain.rows(DAY)])
    yield options.build_server(lake=providers.open_lake(LakeSettings(options="yfinance", path=str(folder))))


def test_expirations_and_the_chain_are_the_snapshot_as_it_was_read(ask: Ask, server: Any) -> None:
    listed = ask(server, "get_option_expirations", as_of=DAY, ticker="acme")
    assert listed["expiration"] == EXPIRATIONS and listed["strikes"] == [25, 25, 25]
    assert (listed["spot"], listed["exercise"], listed["quoted_on"]) == (SPOT, "american", str(DAY))
    assert "Yahoo" in listed["source"]
    chain = ask(server, "get_options_chain", as_of=DAY, ticker="ACME", expiration=EXPIRATIONS[1])
    quoted = {(row[4], row[5]): row for row in made_chain.rows(DAY) if str(row[3]) == EXPIRATIONS[1]}
    for kind in ("call", "put"):
        for column, place in (("bid", 7), ("ask", 8), ("volume", 9), ("open_interest", 10)):
            expected = [quoted[kind, strike][place] for strike in chain["strike"]]
            assert chain[f"{kind}_{column}"] == pytest.approx(expected), (kind, column)
    true = true_volatility(np.array(chain["strike"]), DAYS[1] / 365)
    np.testing.assert_allclose(chain["fitted_volatility"], true, atol=0.004)


def test_the_surface_and_what_is_read_off_it_are_those_that_made_the_quotes(ask: Ask, server: Any) -> None:
    surface = ask(server, "get_iv_surface", as_of=DAY, ticker="^SPX")
    assert surface["fit"]["inside_spread"] > 0.97 and surface["fit"]["is_free_of_arbitrage"]
    analysis = ask(server, "analyze_volatility", as_of=DAY, ticker="^SPX")
    for row, years in enumerate(np.array(DAYS) / 365):
        forward = SPOT * math.exp((RATE - DIVIDENDS) * years)
        assert surface["forward"][row] == pytest.approx(forward, rel=1e-3)
        assert analysis["at_the_money_volatility"][row] == pytest.approx(
            float(true_volatility(forward, years)), abs=2e-3
        )
    assert analysis["history_days"] < 20 and analysis["iv_rank"] is None


def test_a_strategy_and_a_model_read_the_snapshot(ask: Ask, server: Any) -> None:
    legs = [{"option_type": "call", "quantity": 1, "premium": 4.0, "strike": 100.0}]
    answer = ask(server, "analyze_strategy", as_of=DAY, legs=legs, ticker="^SPX", expiration=EXPIRATIONS[1])
    assert answer["breakevens"] == [104.0] and 0.2 < answer["probability_of_profit"] < 0.5
    assert "fitted surface of ^SPX on 2024-03-04" in answer["distribution"]
    # its smile is no Heston's, which the tool says rather than to give parameters
    assert "does not fit the options on ^SPX" in ask(server, "calibrate_heston", as_of=DAY, ticker="^SPX")


def test_tomorrows_snapshot_is_seen_tomorrow_and_an_old_one_is_refused(ask: Ask, server: Any) -> None:
    today, tomorrow = (ask(server, "analyze_volatility", as_of=day, ticker="ACME") for day in (DAY, TOMORROW))
    rise = np.array(tomorrow["at_the_money_volatility"]) - np.array(today["at_the_money_volatility"])
    np.testing.assert_allclose(rise, DEARER, atol=0.01)
    assert (today["quoted_on"], tomorrow["quoted_on"]) == (str(DAY), str(TOMORROW))
    text = ask(server, "get_options_chain", as_of=TOMORROW + timedelta(days=8), ticker="ACME")
    assert "options on ACME were last quoted on 2024-03-05, more than 7 days before 2024-03-13" in text
    assert "2024-03-03" in ask(server, "get_options_chain", as_of=DAY - timedelta(days=1), ticker="ACME")


def test_a_snapshot_read_at_night_has_no_quotes_and_says_so(ask: Ask, server: Any) -> None:
    chain = ask(server, "get_options_chain", as_of=DAY, ticker="NIGHT")
    assert (
        set(chain["call_bid"]) == {None} and "snapshots read outside of trading hours have none" in chain["not_fitted"]
    )
    assert "has a bid and an ask" in ask(server, "get_iv_surface", as_of=DAY, ticker="NIGHT")
