"""Market data end at the simulation date."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from mcp_servers import yfinance

SERVER = yfinance.build_server()
AS_OF = date(2012, 9, 19)
Ask = Callable[..., Any]


def test_a_quote_is_the_close_of_the_simulation_date(ask: Ask) -> None:
    quote = ask(SERVER, "get_quote", as_of=AS_OF, ticker="aapl")
    assert quote["close"] == 702.10 and quote["date"] == "2012-09-19" and quote["days_old"] == 0


def test_a_stale_quote_says_how_old_it_is(ask: Ask) -> None:
    quote = ask(SERVER, "get_quote", as_of=date(2013, 3, 11), ticker="AAPL")
    assert quote["date"] == "2013-03-01" and quote["days_old"] == 10


@pytest.mark.parametrize(
    ("tool", "field"), [("get_quote", "date"), ("get_price_history", "end"), ("get_statistics", "start")]
)
def test_a_date_after_the_simulation_date_is_refused(ask: Ask, tool: str, field: str) -> None:
    text = ask(SERVER, tool, as_of=AS_OF, ticker="AAPL", **{field: "2012-09-20"})
    assert f"{field}=2012-09-20 is after the simulation date 2012-09-19" in text


def test_history_ends_at_the_simulation_date_by_default(ask: Ask) -> None:
    answer = ask(SERVER, "get_price_history", as_of=AS_OF, ticker="IBM")
    assert answer["date"][-1] == "2012-09-19"
    assert answer["date"][0] == "2011-09-20"


def test_monthly_bars_hold_the_extremes_and_the_volume_of_their_days(ask: Ask) -> None:
    span = {"ticker": "MSFT", "start": "2012-01-01", "end": "2012-06-30"}
    days = ask(SERVER, "get_price_history", as_of=AS_OF, **span)
    months = ask(SERVER, "get_price_history", as_of=AS_OF, interval="1mo", **span)
    assert len(months["date"]) == 6
    assert max(months["high"]) == max(days["high"]) and min(months["low"]) == min(days["low"])
    assert sum(months["volume"]) == sum(days["volume"])
    assert months["open"][0] == days["open"][0] and months["close"][-1] == days["close"][-1]


def test_statistics_equal_a_plain_computation(ask: Ask) -> None:
    span = {"ticker": "GOOG", "start": "2011-01-01", "end": "2011-12-31"}
    history = ask(SERVER, "get_price_history", as_of=AS_OF, **span)
    answer = ask(SERVER, "get_statistics", as_of=AS_OF, **span)
    closes = history["close"]
    returns = [math.log(b / a) for a, b in itertools.pairwise(closes)]
    falls = [1 - closes[j] / closes[i] for i in range(len(closes)) for j in range(i, len(closes))]
    assert answer["observations"] == len(returns)
    assert answer["annual_volatility"] == pytest.approx(statistics.stdev(returns) * math.sqrt(252))
    assert answer["total_return"] == pytest.approx(closes[-1] / closes[0] - 1)
    assert answer["max_drawdown"] == pytest.approx(max(falls))


def test_simulated_markets_say_that_they_are_simulated(ask: Ask) -> None:
    assert "SIMULATED" in ask(SERVER, "get_quote", ticker="SIM-TECH")["source"]
    listed = ask(SERVER, "list_tickers")
    for ticker, source in zip(listed["ticker"], listed["source"], strict=True):
        assert ticker.startswith("SIM-") == ("SIMULATED" in source)


def test_errors_say_what_is_known(ask: Ask) -> None:
    assert "known: AAPL, GOOG, IBM, MSFT" in ask(SERVER, "get_quote", as_of=date(2012, 1, 3), ticker="FB")
    backwards = ask(SERVER, "get_price_history", as_of=AS_OF, ticker="AAPL", start="2012-02-01", end="2012-01-01")
    assert "start=2012-02-01 must not be after end=2012-01-01" in backwards


@pytest.mark.parametrize("tool", ["get_price_history", "get_statistics"])
@pytest.mark.parametrize("end", ["0001-01-01", "0001-12-31", "0002-01-01"])
def test_the_first_days_of_the_calendar_are_dates_without_prices(ask: Ask, tool: str, end: str) -> None:
    error = ask(SERVER, tool, as_of=AS_OF, ticker="AAPL", end=end)
    assert f"between 0001-01-01 and {end}" in error and "known: 2000-03-01 to" in error


def test_a_split_is_no_loss_in_statistics_and_in_adjusted_history(ask: Ask) -> None:
    # Apple, two for one on 2005-02-28: 88.99 the day before, 44.86 on the day.
    span = {"ticker": "AAPL", "start": "2005-02-25", "end": "2005-03-01"}
    traded = ask(SERVER, "get_price_history", as_of=AS_OF, **span)
    adjusted = ask(SERVER, "get_price_history", as_of=AS_OF, adjust_for_splits=True, **span)
    assert traded["close"][:2] == [88.99, 44.86]
    assert adjusted["close"][:2] == [44.495, 44.86]
    assert adjusted["volume"][0] == 2 * traded["volume"][0]
    answer = ask(SERVER, "get_statistics", as_of=AS_OF, **span)
    assert answer["total_return"] == pytest.approx(adjusted["close"][-1] / 44.495 - 1)


def test_history_before_a_split_knows_nothing_of_it(ask: Ask) -> None:
    span = {"ticker": "AAPL", "start": "2005-02-22", "end": "2005-02-25", "adjust_for_splits": True}
    assert ask(SERVER, "get_price_history", as_of=date(2005, 2, 25), **span)["close"][-1] == 88.99
