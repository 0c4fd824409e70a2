"""The puller against a server on this machine that speaks the exchange's API, with its moods."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from engine.cli import main
from lake.candles import exchange
from lake.candles.faults import examine
from lake.candles.pages import gaps, irregular_gaps
from tests.lake.candles.exchange_site import HOUR, LISTED, NOW, Exchange, price


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Exchange.plan, Exchange.asked, Exchange.manner, Exchange.lost = [], [], "first", set()
    monkeypatch.setattr(exchange.time, "sleep", lambda seconds: None)
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


BITCOIN = {"exchange": "binance", "symbol": "BTC/USDT", "timeframe": "1h"}


def test_a_pull_brings_every_closed_candle_from_the_listing_on(server: str, tmp_path: Path) -> None:
    said: list[str] = []
    pulled = exchange.pull(tmp_path, **BITCOIN, since="2024-01-01", base_url=server, progress=said.append)
    candles = exchange.load(tmp_path, **BITCOIN)
    # From the listing to 12:00: the candle that opened at 12:00 had not closed at 12:30.
    expected = np.arange(LISTED, NOW // HOUR * HOUR, HOUR) / 1000.0
    np.testing.assert_array_equal(candles.time, expected)
    np.testing.assert_allclose(candles.open, [price(int(t * 1000) // HOUR) for t in expected])
    assert pulled.rows == pulled.new_rows == len(expected)
    assert pulled.report is not None
    assert pulled.report.faults == ()
    assert [str(gap) for gap in pulled.missing] == [
        "216 missing, at the start: 2024-01-01 00:00:00 to 2024-01-09 23:00:00"
    ]
    assert len(pulled.sha256) == 64
    assert said == ["2024-01: 528 rows, 216 missing", "2024-02: 696 rows", f"2024-03: {len(expected) - 528 - 696} rows"]


def test_a_second_pull_asks_for_nothing_that_is_there(server: str, tmp_path: Path) -> None:
    exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", until="2024-02-15", base_url=server)
    before = len(Exchange.asked)
    again = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", until="2024-02-15", base_url=server)
    assert len(Exchange.asked) == before
    assert again.new_rows == 0 and again.missing == ()
    more = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", base_url=server)
    assert all(f"startTime={LISTED}" not in path for path in Exchange.asked[before:])
    assert more.missing == ()
    assert more.rows == (NOW // HOUR * HOUR - LISTED) // HOUR


def test_a_pull_goes_on_after_being_cut_off(server: str, tmp_path: Path) -> None:
    Exchange.plan = [200, *[503] * exchange.ATTEMPTS]
    with pytest.raises(ConnectionError, match="binance failed 6 times"):
        exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", base_url=server)
    assert [path.name for path in sorted((tmp_path / "binance").rglob("*.parquet"))] == ["2024-01.parquet"]
    done = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", base_url=server)
    fresh = exchange.pull(tmp_path / "other", **BITCOIN, since="2024-01-10", base_url=server)
    assert done.sha256 == fresh.sha256


JANUARY = {"since": "2024-01-10", "until": "2024-02-01"}


@pytest.mark.parametrize("mood", [403, 429, 503, "cut", "half", "garbage", "slow"])
def test_a_moody_exchange_is_asked_again_until_its_answer_is_whole(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mood: int | str
) -> None:
    monkeypatch.setattr(exchange, "TIMEOUT_S", 0.4)
    Exchange.plan = [mood, mood]
    pulled = exchange.pull(tmp_path, **BITCOIN, **JANUARY, base_url=server)
    assert len(Exchange.asked) == 3
    np.testing.assert_array_equal(
        exchange.load(tmp_path, **BITCOIN).time, np.arange(LISTED, LISTED + 528 * HOUR, HOUR) / 1000.0
    )
    assert pulled.missing == ()


@pytest.mark.parametrize(
    ("mood", "said"),
    [
        (403, "403 Forbidden"),
        (429, "429 Too Many Requests"),
        ("slow", "timed out"),
        ("garbage", "no JSON: '<html>busy'"),
    ],
)
def test_an_exchange_that_stays_so_is_an_error_that_says_what_it_said(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mood: int | str, said: str
) -> None:
    monkeypatch.setattr(exchange, "TIMEOUT_S", 0.4)
    Exchange.plan = [mood] * exchange.ATTEMPTS
    with pytest.raises(ConnectionError, match=f"binance failed 6 times, at last: .*{said}"):
        exchange.pull(tmp_path, **BITCOIN, **JANUARY, base_url=server)
    assert len(Exchange.asked) == exchange.ATTEMPTS


def test_a_reordered_answer_makes_the_same_months(server: str, tmp_path: Path) -> None:
    forwards = exchange.pull(tmp_path / "a", **BITCOIN, **JANUARY, base_url=server)
    Exchange.manner = "backwards"
    backwards = exchange.pull(tmp_path / "b", **BITCOIN, **JANUARY, base_url=server)
    assert backwards.sha256 == forwards.sha256 and backwards.rows == 528


def test_the_rate_limit_of_the_client_is_on() -> None:
    client = exchange.connect("binance", symbol="BTC/USDT")
    assert client.enableRateLimit is True
    client.session.close()


def test_a_stored_month_that_was_changed_is_refused(server: str, tmp_path: Path) -> None:
    exchange.pull(tmp_path, **BITCOIN, since="2024-01-01", base_url=server)
    month = next((tmp_path / "binance").rglob("2024-02.parquet"))
    month.write_bytes(month.read_bytes()[:-1] + b"x")
    with pytest.raises(ValueError, match=r"2024-02.parquet was changed or lost"):
        exchange.load(tmp_path, **BITCOIN)
    with pytest.raises(ValueError, match=r"2024-02.parquet was changed or lost"):
        exchange.pull(tmp_path, **BITCOIN, since="2024-01-01", base_url=server)


def test_funding_rates_are_pulled_and_joined(server: str, tmp_path: Path) -> None:
    perpetual = {"exchange": "binance", "symbol": "BTC/USDT:USDT"}
    pulled = exchange.pull_funding(tmp_path, **perpetual, since="2024-01-01", base_url=server)
    funding = exchange.load_funding(tmp_path, **perpetual)
    assert pulled.rows == len(funding.time) == (NOW - LISTED) // (8 * HOUR) + 1
    np.testing.assert_allclose(funding.time, (LISTED + 3) / 1000.0 + 28_800.0 * np.arange(len(funding.time)))
    exchange.pull(tmp_path, **perpetual, timeframe="1h", since="2024-01-01", base_url=server)
    candles = exchange.load(tmp_path, **perpetual, timeframe="1h")
    assert examine(candles).faults == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"exchange": "binanze"}, "unknown exchange 'binanze'"),
        ({"symbol": "BTC/EUR"}, "binance has no market 'BTC/EUR'; alike: BTC/USDT"),
        ({"timeframe": "7h"}, "timeframe '7h' is not served by binance; it has"),
        ({"timeframe": "1M"}, "timeframe must be a number and one of s, m, h, d, w, such as 1h, got '1M'"),
        ({"since": "last week"}, r"since must be an ISO date \(YYYY-MM-DD\) such as 2020-01-01, got 'last week'"),
        ({"since": "2025-01-01"}, "since '2025-01-01 00:00:00' is not before '2024-03-05 11:30:00'"),
    ],
)
def test_wrong_arguments_are_named(server: str, tmp_path: Path, change: dict[str, str], message: str) -> None:
    arguments = {**BITCOIN, "since": "2024-01-01", **change}
    with pytest.raises(ValueError, match=message):
        exchange.pull(tmp_path, base_url=server, **arguments)


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ({"since": "yesterday"}, "since must be an ISO date .YYYY-MM-DD. such as 2020-01-01, got 'yesterday'"),
        ({"since": "2024-01-01", "until": "soon"}, "until must be an ISO date .YYYY-MM-DD. .*, got 'soon'"),
        ({"since": "2024-02-01", "until": "2024-01-01"}, "since '2024-02-01' is not before '2024-01-01'"),
    ],
)
def test_a_wrong_date_is_told_before_the_exchange_is_asked(tmp_path: Path, span: dict[str, str], message: str) -> None:
    nowhere = "http://127.0.0.1:9"
    with pytest.raises(ValueError, match=message):
        exchange.pull(tmp_path, **BITCOIN, **span, base_url=nowhere)
    with pytest.raises(ValueError, match=message):
        exchange.pull_funding(tmp_path, exchange="binance", symbol="BTC/USDT:USDT", **span, base_url=nowhere)


def test_an_exchange_that_is_not_there_is_told_with_the_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange.time, "sleep", lambda seconds: None)
    with pytest.raises(
        ConnectionError, match=r"binance failed 6 times, at last: .*127\.0\.0\.1:9.* \(Connection refused\)"
    ):
        exchange.pull(tmp_path, **BITCOIN, since="2024-01-01", base_url="http://127.0.0.1:9")


def test_funding_of_a_spot_market_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'BTC/USDT' is spot, did you mean 'BTC/USDT:USDT'"):
        exchange.pull_funding(tmp_path, exchange="binance", symbol="BTC/USDT", since="2024-01-01")


def hours(since: str, until: str) -> np.ndarray:
    first, last = (datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for text in (since, until))
    return np.arange(first, last, 3600.0)


def test_an_exchange_that_serves_the_newest_of_a_range_loses_nothing(server: str, tmp_path: Path) -> None:
    """Asked for 744 hours it serves the last 100 of them, as OKX does with pages of 100 (100 of 456 were kept once)."""
    Exchange.manner = "newest 100"
    pulled = exchange.pull(tmp_path, **BITCOIN, since="2024-01-12", until="2024-02-20", base_url=server)
    assert pulled.missing == ()
    wanted = hours("2024-01-12", "2024-02-20")
    np.testing.assert_array_equal(exchange.load(tmp_path, **BITCOIN).time, wanted)
    assert len(Exchange.asked) <= 2 * len(wanted) / 100 + 4


def test_an_exchange_that_serves_its_last_720_candles_alone_is_told_as_what_is_missing(
    server: str, tmp_path: Path
) -> None:
    Exchange.manner = "last 720"
    nothing = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", until="2024-02-01", base_url=server)
    assert nothing.rows == 0 and nothing.report is None
    assert [str(gap) for gap in nothing.missing] == [
        "528 missing, all of it: 2024-01-10 00:00:00 to 2024-01-31 23:00:00"
    ]
    part = exchange.pull(tmp_path, **BITCOIN, since="2024-02-01", base_url=server)
    # Its last candle, of 12:00, has not closed: 719 are left.
    assert part.rows == 719
    assert [(gap.where, gap.rows) for gap in part.missing] == [("start", 33 * 24 + 12 - 719)]


def test_what_came_before_is_kept_when_the_exchange_serves_less(server: str, tmp_path: Path) -> None:
    full = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", until="2024-02-20", base_url=server)
    Exchange.manner = "last 720"
    later = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", base_url=server)
    assert full.missing == later.missing == ()
    assert later.rows == full.rows + later.new_rows == (NOW // HOUR * HOUR - LISTED) // HOUR


def test_a_gap_inside_is_counted_with_its_times_and_asked_for_again(server: str, tmp_path: Path) -> None:
    gone = hours("2024-02-03T05:00", "2024-02-03T09:00")
    Exchange.lost = {int(time * 1000) for time in gone}
    pulled = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", until="2024-02-15", base_url=server)
    assert [str(gap) for gap in pulled.missing] == ["4 missing, inside: 2024-02-03 05:00:00 to 2024-02-03 08:00:00"]
    Exchange.lost = set()
    again = exchange.pull(tmp_path, **BITCOIN, since="2024-01-10", until="2024-02-15", base_url=server)
    assert again.missing == () and again.new_rows == 4
    fresh = exchange.pull(tmp_path / "o", **BITCOIN, since="2024-01-10", until="2024-02-15", base_url=server)
    assert again.sha256 == fresh.sha256


def test_the_command_ends_with_66_and_says_what_is_missing(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Exchange.manner = "last 720"
    command = ["data", "pull", "crypto", "--exchange", "binance", "--symbol", "BTC/USDT", "--base-url", server]
    asked = [*command, "--out", str(tmp_path), "--since", "2024-02-01"]
    assert main(asked) == 66
    said = capsys.readouterr()
    assert "no faults" not in said.out and "719 rows (719 new)" in said.out
    assert "85 missing, at the start: 2024-02-01 00:00:00 to 2024-02-04 12:00:00" in said.out
    assert "binance did not serve all that was asked for: 85 candles since 2024-02-01 are missing" in said.err
    assert main([*asked[:-1], "2024-02-10"]) == 0
    assert "no faults" in capsys.readouterr().out


def test_missing_funding_rates_are_told_by_the_distance_of_their_neighbours() -> None:
    eight, hour = 28_800.0, 3600.0
    start = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    every = start + eight * np.arange(90) + 0.003
    whole = irregular_gaps(every, begin=start, stop=start + 90 * eight)
    assert whole == ()
    faster = np.concatenate([every, every[-1] + 4 * hour * np.arange(1, 60)])
    assert irregular_gaps(faster, begin=start, stop=faster[-1] + 1.0) == ()
    lacking = np.delete(every, [0, 1, 40, 41, 42, 89])
    found = irregular_gaps(lacking, begin=start, stop=start + 90 * eight)
    assert [(gap.where, gap.rows) for gap in found] == [("start", 2), ("inside", 3), ("end", 1)]
    (nothing,) = irregular_gaps(every[:1], begin=start, stop=start + 90 * eight)
    assert nothing.where == "all"


def test_weeks_that_begin_on_a_monday_are_not_missing() -> None:
    monday = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
    week = 604_800.0
    weeks = monday + week * np.arange(5)
    assert gaps(weeks, begin=monday, stop=monday + 5 * week, seconds=week) == ()
    (inside,) = gaps(np.delete(weeks, 2), begin=monday, stop=monday + 5 * week, seconds=week)
    assert (inside.where, inside.rows, inside.begin) == ("inside", 1, weeks[2])
