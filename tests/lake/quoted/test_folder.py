"""End-of-day option files of one's own: what is read, what is refused, and what was known when."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from lake import providers
from lake.point_in_time import UnknownKey
from lake.quoted import snapshot
from lake.quoted.folder import read_quotes
from lake.sample import Lake
from lake.settings import LakeSettings

HEAD = "quote_date,expiration,strike,option_type,bid_eod,ask_eod,underlying_bid_eod,underlying_ask_eod,trade_volume\n"
ROWS = """2024-03-04,2024-04-19,100,C,3.00,3.20,99.90,100.10,12
2024-03-04,2024-04-19,100,P,2.70,2.90,99.90,100.10,0
2024-03-04,2024-04-19,105,C,0,0.05,99.90,100.10,
2024-03-05,2024-04-19,100,C,3.50,3.70,100.90,101.10,7
2024-03-05,2024-03-06,100,C,1.10,1.20,100.90,101.10,7
"""


@pytest.fixture
def own(tmp_path: Path) -> LakeSettings:
    (tmp_path / "options").mkdir()
    (tmp_path / "options" / "ACME.csv").write_text(HEAD + ROWS)
    return LakeSettings(options="folder", path=str(tmp_path))


def of(lake: Lake, day: date) -> snapshot.Snapshot:
    return snapshot.last(lake, "ACME", as_of=day)


def test_the_last_snapshot_known_is_served_with_the_price_of_the_underlying(own: LakeSettings) -> None:
    lake = providers.open_lake(own)
    assert lake.has_option_quotes
    monday = of(lake, date(2024, 3, 4))
    assert (monday.day, monday.spot, monday.spot_origin) == (date(2024, 3, 4), 100.0, "with the quotes")
    assert monday.rows.bid == (3.0, 2.7, None) and monday.rows.ask == (3.2, 2.9, 0.05)
    assert monday.rows.volume == (12.0, 0.0, None) and monday.two_sided() == [0, 1]
    assert monday.years_to(date(2024, 4, 19)) == 46 / 365
    tuesday = of(lake, date(2024, 3, 5))
    assert (tuesday.spot, tuesday.expirations) == (101.0, (date(2024, 3, 6), date(2024, 4, 19)))


def test_nothing_is_known_the_day_before_and_what_expired_is_gone_the_day_after(own: LakeSettings) -> None:
    lake = providers.open_lake(own)
    assert not snapshot.is_quoted(lake, "ACME", as_of=date(2024, 3, 3))
    with pytest.raises(UnknownKey, match="no data on 'ACME' was known on 2024-03-03; known then: nothing"):
        of(lake, date(2024, 3, 3))
    assert of(lake, date(2024, 3, 6)).expirations == (date(2024, 4, 19),)
    with pytest.raises(ValueError, match=r"ACME were last quoted on 2024-03-05, more than 7 days before 2024-03-13"):
        of(lake, date(2024, 3, 13))


def test_a_file_of_the_future_is_not_read(own: LakeSettings) -> None:
    """Else the time of the answer, or an error about a row, would tell that it is there."""
    (Path(own.path) / "options" / "NEWCO.csv").write_text(HEAD + "2024-03-05,2024-04-19,100,X,3,4,99,101,1\n")
    lake = providers.open_lake(own)
    with pytest.raises(UnknownKey):
        lake.option_quotes.known("NEWCO", as_of=date(2024, 3, 4))
    with pytest.raises(ValueError, match="option_type must be C or P"):
        lake.option_quotes.known("NEWCO", as_of=date(2024, 3, 5))


def test_a_parquet_file_gives_what_the_csv_file_gives(own: LakeSettings) -> None:
    import duckdb

    folder = Path(own.path) / "options"
    duckdb.sql(f"COPY (SELECT * FROM read_csv('{folder}/ACME.csv')) TO '{folder}/BETA.parquet'")
    assert read_quotes(folder / "BETA.parquet") == read_quotes(folder / "ACME.csv")
    assert providers.open_lake(own).option_quotes.keys(as_of=date(2024, 3, 4)) == ("ACME", "BETA")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("100,C,3.00", "100,X,3.00", r"ACME.csv: row 1: option_type must be C or P, got 'X'"),
        ("100,C,3.00", "-1,C,3.00", r"row 1: strike must be above 0, got -1"),
        ("100,C,3.00", "100,C,-3.00", r"row 1: bid_eod must not be negative, got -3"),
        ("bid_eod,", "offer,", r"it lacks bid or bid_eod; it has quote_date"),
        (
            "100,P,2.70",
            "100,C,2.70",
            r"row 2: the 100 call of 2024-04-19 is quoted twice on 2024-03-04, first in row 1",
        ),
        ("strike", "exercise", r"it lacks strike; it has quote_date"),
    ],
)
def test_a_wrong_file_is_refused_by_file_row_and_column(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "ACME.csv"
    path.write_text((HEAD + ROWS).replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        read_quotes(path)


def test_without_a_price_of_the_underlying_its_close_of_the_day_is_taken_or_the_lack_is_told(tmp_path: Path) -> None:
    for name in ("options", "equities"):
        (tmp_path / name).mkdir()
    plain = "quote_date,expiration,strike,option_type,bid,ask\n2024-03-04,2024-04-19,100,call,3,3.2\n"
    (tmp_path / "options" / "ACME.csv").write_text(plain)
    (tmp_path / "equities" / "ACME.csv").write_text("date,open,high,low,close,volume\n2024-03-04,10,12,9,11,100\n")
    both = providers.open_lake(LakeSettings(options="folder", equities="folder", path=str(tmp_path)))
    assert of(both, date(2024, 3, 4)).spot == 11.0
    alone = providers.open_lake(LakeSettings(options="folder", path=str(tmp_path)))
    with pytest.raises(ValueError, match="hold no price of the underlying, and no close of that day"):
        of(alone, date(2024, 3, 4))


def test_a_lake_without_the_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"options is no folder; options: folder reads its files TICKER.csv"):
        providers.open_lake(LakeSettings(options="folder", path=str(tmp_path)))
