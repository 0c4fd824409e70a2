"""Pulled records on disk: served by date, checked against what was pulled, and read only when asked for."""

from __future__ import annotations

import contextlib
import json
import time
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from lake import clock, sample
from lake.point_in_time import ProviderUnavailable, UnknownKey
from lake.records import Bars, News
from lake.tables import Table

DAY = date(2024, 3, 4)


def bars(*days: date, close: float = 10.0) -> Bars:
    return Bars.of([(day, close, close + 1, close - 1, close, 100.0) for day in days])


@pytest.fixture
def table(tmp_path: Path) -> Table[Bars]:
    return Table(tmp_path / "bars", Bars, origin="fixture", hint="; pull it")


def test_what_is_written_is_read_again_up_to_the_date(table: Table[Bars]) -> None:
    whole = sample.embedded().bars.known("IBM", as_of=date(2013, 3, 1))
    table.write("IBM", whole, source="fixture")
    assert table.known("IBM", as_of=date(2013, 3, 1)) == whole
    cut = table.known("IBM", as_of=date(2005, 6, 1))
    assert cut == whole.head(len(cut)) and cut.known_on[-1] == date(2005, 6, 1)


def test_a_key_of_tomorrow_and_a_key_that_is_not_there_give_the_same_error(table: Table[Bars]) -> None:
    table.write("OLD", bars(DAY), source="fixture")
    table.write("NEW", bars(date(2024, 3, 5)), source="fixture")
    said = []
    for key in ("NEW", "NIX"):
        with pytest.raises(UnknownKey) as error:
            table.known(key, as_of=DAY)
        said.append(str(error.value).replace(key, "KEY"))
    assert said[0] == said[1] == "no data on 'KEY' was known on 2024-03-04; known then: OLD; pull it"
    assert table.keys(as_of=DAY) == ("OLD",)
    assert table.keys(as_of=date(9999, 12, 31)) == ("NEW", "OLD")


def test_a_file_that_was_changed_or_lost_is_served_to_nobody(table: Table[Bars]) -> None:
    table.write("A", bars(DAY), source="fixture")
    path = table.folder / "A.parquet"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"known_on", b"known_0n"))
    with pytest.raises(ProviderUnavailable, match=r"A\.parquet was changed or lost since it was pulled"):
        table.known("A", as_of=DAY)
    path.unlink()
    with pytest.raises(ProviderUnavailable, match="changed or lost"):
        table.known("A", as_of=DAY)


def test_a_file_of_the_future_is_not_opened(table: Table[Bars]) -> None:
    """Else the time of the answer, or an error about the file, would tell that it is there."""
    table.write("B", bars(date(2024, 3, 5)), source="fixture")
    (table.folder / "B.parquet").unlink()
    with pytest.raises(UnknownKey):
        table.known("B", as_of=DAY)
    with pytest.raises(ProviderUnavailable):
        table.known("B", as_of=date(2024, 3, 5))


@pytest.mark.parametrize("key", ["../../x", "/etc/passwd", "BTC/USDT:USDT", "\0", "^VIX"])
def test_no_key_leads_out_of_the_folder(table: Table[Bars], key: str) -> None:
    table.write(key, bars(DAY), source="fixture")
    assert len(table.known(key, as_of=DAY)) == 1
    assert {path.parent for path in table.folder.rglob("*")} == {table.folder}
    with pytest.raises(UnknownKey):
        table.known(f"{key}.parquet", as_of=DAY)


def test_rows_are_added_once_and_the_digest_tells_whether_any_was_new(table: Table[Bars]) -> None:
    table.write("A", bars(DAY), source="fixture")
    before = table.digest()
    assert table.add("A", bars(DAY), source="again") is False and table.digest() == before
    assert table.add("A", bars(date(2024, 3, 5)), source="again") is True and table.digest() != before
    assert table.known("A", as_of=date(2024, 3, 9)).known_on == (DAY, date(2024, 3, 5))


def test_a_selection_by_a_condition_passes_the_same_gate(tmp_path: Path) -> None:
    table: Table[News] = Table(tmp_path, News, origin="fixture")
    moments = [datetime(2024, 3, day, 12, tzinfo=UTC) for day in (4, 5)]
    rows = [(moment.date(), moment, f"Rise of {moment.day}", "", "", "") for moment in moments]
    table.write("A", News.of(rows), source="fixture")
    assert table.select("title LIKE ?", ["Rise%"], as_of=DAY).title == ("Rise of 4",)
    assert table.select("title LIKE ?", ["Rise%"], key="A", as_of=date(2024, 3, 5)).published == tuple(moments)
    assert len(table.select("1=1", key="B", as_of=DAY)) == 0


def test_a_key_that_is_not_here_is_fetched_once_and_never_a_name_that_no_provider_has(tmp_path: Path) -> None:
    asked: list[str] = []

    def fetch(key: str) -> None:
        asked.append(key)
        if key == "A":
            table.write(key, bars(DAY), source="fixture")

    table = Table(tmp_path, Bars, origin="fixture", fetch=fetch)
    for _ in range(2):
        assert len(table.known("A", as_of=DAY)) == 1
        for key in ("B", "b; DROP", "../x", "é"):
            with pytest.raises(UnknownKey):
                table.known(key, as_of=DAY)
    assert asked == ["A", "B"]


def test_whether_a_key_is_fetched_does_not_depend_on_the_date(tmp_path: Path) -> None:
    """Else the time of an answer would tell that something is still to come."""

    def asked_on(day: str) -> list[str]:
        asked: list[str] = []

        def fetch(key: str) -> None:
            asked.append(key)
            table.write(key, bars(DAY), source="fixture")

        table = Table(tmp_path / day, Bars, origin="fixture", fetch=fetch)
        for _ in range(2):
            with contextlib.suppress(UnknownKey):
                table.known("A", as_of=date.fromisoformat(day))
        return asked

    assert [asked_on(day) for day in ("2001-01-01", "2024-03-04", "9999-12-31")] == [["A"]] * 3


def test_a_thousand_tickers_cost_no_start_up(tmp_path: Path) -> None:
    table = Table(tmp_path, Bars, origin="fixture")
    table.write("T0", bars(DAY), source="fixture")
    path = tmp_path / "manifest.json"
    document = json.loads(path.read_text())
    document["keys"] = {f"T{number}": document["keys"]["T0"] for number in range(1000)}
    path.write_text(json.dumps(document))
    began = time.process_time()
    fresh = Table(tmp_path, Bars, origin="fixture")
    assert len(fresh.keys(as_of=DAY)) == 1000
    assert time.process_time() - began < 0.2
    assert len(fresh.known("T999", as_of=DAY)) == 1


@pytest.mark.parametrize(
    ("market", "moment", "day"),
    [
        # 22:01 of 31 October in New York is the morning of 1 November in London and in Tokyo
        (clock.NEW_YORK, datetime(2024, 11, 1, 2, 1, tzinfo=UTC), date(2024, 10, 31)),
        ("Asia/Tokyo", datetime(2024, 10, 31, 15, 0, tzinfo=UTC), date(2024, 11, 1)),
        (clock.UTC, datetime(2024, 10, 31, 23, 59, tzinfo=UTC), date(2024, 10, 31)),
    ],
)
def test_the_day_of_a_moment_is_that_of_the_market(market: str, moment: datetime, day: date) -> None:
    assert clock.day_in(market, moment) == day


def test_a_moment_without_a_zone_and_an_unknown_zone_are_refused() -> None:
    with pytest.raises(ValueError, match="a moment needs a time zone"):
        clock.day_in(clock.UTC, datetime(2024, 1, 1))
    with pytest.raises(ValueError, match="unknown time zone 'Mars/Base'"):
        clock.zone("Mars/Base")
