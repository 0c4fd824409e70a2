"""Candles, funding and order books through the real ccxt are known from their last moment, by UTC days."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from engine.cli import main
from lake import providers
from lake.candles import exchange
from lake.point_in_time import UnknownKey
from lake.settings import LakeSettings
from tests.lake.candles.exchange_site import BOOK, NOW, Exchange

DAY = date(2024, 1, 12)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    Exchange.plan, Exchange.asked, Exchange.manner, Exchange.lost, Exchange.book = [], [], "first", set(), BOOK
    monkeypatch.setattr(exchange.time, "sleep", lambda seconds: None)
    web = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{web.server_port}"
    web.shutdown()
    thread.join()
    web.server_close()


def command(server: str, path: Path, *more: str) -> list[str]:
    place = ["--out", str(path / "crypto"), "--base-url", server]
    return ["data", "pull", "crypto", "--exchange", "binance", *place, *more]


def lake_of(path: Path) -> Any:
    return providers.open_lake(LakeSettings(crypto="binance", path=str(path)))


def test_candles_are_known_when_they_have_closed_and_funding_when_it_was_paid(server: str, tmp_path: Path) -> None:
    span = ["--since", "2024-01-10", "--until", "2024-01-15"]
    assert main(command(server, tmp_path, "--symbol", "BTC/USDT", *span)) == 0
    assert main(command(server, tmp_path, "--symbol", "BTC/USDT:USDT", "--funding", *span)) == 0
    lake = lake_of(tmp_path)
    candles = lake.crypto_candles.known("BTC/USDT 1h", as_of=DAY)
    assert candles.opened[-1] == datetime(2024, 1, 12, 23, tzinfo=UTC) and candles.known_on[-1] == DAY
    assert len(candles) == 72 and len(lake.crypto_candles.known("BTC/USDT 1h", as_of=date(9999, 12, 31))) == 120
    paid = lake.funding.known("BTC/USDT:USDT", as_of=DAY)
    assert len(paid) == 9 and paid.paid[-1].date() == DAY and set(paid.rate) == {0.0001}
    for source, key in ((lake.crypto_candles, "BTC/USDT 1h"), (lake.funding, "BTC/USDT:USDT")):
        assert source.keys(as_of=DAY) == (key,) and source.keys(as_of=date(2024, 1, 9)) == ()
        said = []
        for name in (key, "../.. 1h"):
            with pytest.raises(UnknownKey) as error:
                source.known(name, as_of=date(2024, 1, 9))
            said.append(str(error.value).replace(name, "KEY"))
        assert said[0] == said[1] and "known then: nothing; what was pulled is served" in said[0]


def test_a_month_that_was_changed_is_served_to_nobody(server: str, tmp_path: Path) -> None:
    main(command(server, tmp_path, "--symbol", "BTC/USDT", "--since", "2024-01-10", "--until", "2024-01-15"))
    (month,) = (tmp_path / "crypto").rglob("2024-01.parquet")
    month.write_bytes(month.read_bytes()[:-1])
    with pytest.raises(RuntimeError, match="was changed or lost since it was pulled"):
        lake_of(tmp_path).crypto_candles.known("BTC/USDT 1h", as_of=DAY)


def test_order_books_are_snapshots_that_add_up(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book = command(server, tmp_path, "--symbol", "BTC/USDT", "--order-book")
    assert main(book) == 0
    assert "BTC/USDT of 2024-03-05 12:30:00 UTC, 40000.1 / 40000.2; 4 levels in all" in capsys.readouterr().out
    assert main(book) == 0
    assert "4 levels in all" in capsys.readouterr().out
    known = lake_of(tmp_path).order_books.known("BTC/USDT", as_of=datetime.fromtimestamp(NOW / 1000, UTC).date())
    assert known.price == (40000.1, 40000.0, 40000.2, 40001.0) and known.side == ("bid", "bid", "ask", "ask")
    with pytest.raises(UnknownKey):
        lake_of(tmp_path).order_books.known("BTC/USDT", as_of=date(2024, 3, 4))


@pytest.mark.parametrize("mood", [403, 429, 503, "cut", "half", "garbage", "slow"])
def test_a_moody_exchange_is_asked_for_its_book_again(
    server: str, monkeypatch: pytest.MonkeyPatch, mood: int | str
) -> None:
    monkeypatch.setattr(exchange, "TIMEOUT_S", 0.4)
    Exchange.plan = [mood, mood]
    assert exchange.read_book("binance", symbol="BTC/USDT", base_url=server).bids[0] == (40000.1, 0.5)
    assert len(Exchange.asked) == 3


@pytest.mark.parametrize(
    "book", [{"bids": []}, {"bids": [["40000.3", "1"]]}, {"asks": [["40002", "1"], ["40001", "1"]]}]
)
def test_a_book_that_cannot_be_is_refused(server: str, book: dict[str, Any], tmp_path: Path) -> None:
    Exchange.book = BOOK | book
    # ccxt sorts what it is given; a crossed book and an empty side stay wrong
    sorted_by_ccxt = "asks" in book
    status = main(command(server, tmp_path, "--symbol", "BTC/USDT", "--order-book"))
    assert status == (0 if sorted_by_ccxt else 2)


def test_what_is_missing_is_one_line(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(server, tmp_path, "--symbol", "BTC/USDT")) == 2
    assert "--since YYYY-MM-DD is needed" in capsys.readouterr().err
    assert main(command(server, tmp_path, "--symbol", "BTC/USDT", "--order-book", "--since", "2024-01-01")) == 2
    assert "--order-book is of now: leave out --since" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"crypto: binance: nothing was pulled into .*traderbench data pull crypto"):
        lake_of(tmp_path)
