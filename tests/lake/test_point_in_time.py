"""A record is visible from the day it became known, and never before."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lake import fundamentals, sample
from lake.point_in_time import PointInTime, UnknownKey
from lake.records import Observations

LAKE = sample.embedded()


@given(st.dates(date(2000, 1, 1), date(2027, 1, 1)), st.randoms(use_true_random=False))
def test_no_source_returns_a_row_known_after_as_of(as_of: date, rng: random.Random) -> None:
    for source in (LAKE.facts, LAKE.bars, LAKE.simulated_bars, LAKE.rates):
        keys = source.keys(as_of=as_of)
        for key in rng.sample(keys, min(len(keys), 6)):
            table = source.known(key, as_of=as_of)
            assert len(table) > 0
            assert max(table.known_on) <= as_of


def test_apple_fiscal_2024_revenue_appears_on_its_filing_day_2024_11_01() -> None:
    filed = date(2024, 11, 1)
    before = LAKE.facts.known("AAPL", as_of=filed - timedelta(days=1))
    after = LAKE.facts.known("AAPL", as_of=filed)
    assert fundamentals.value(before, "Revenue", fiscal_year=2024) is None
    assert fundamentals.value(after, "Revenue", fiscal_year=2024) == 391_035_000_000


def test_a_price_is_known_at_the_close_of_its_day() -> None:
    bars = LAKE.bars.known("AAPL", as_of=date(2012, 9, 19))
    assert bars.known_on[-1] == date(2012, 9, 19)
    assert bars.close[-1] == 702.10  # record close before the 2014 split


def test_a_source_that_knew_nothing_says_what_is_known() -> None:
    with pytest.raises(UnknownKey, match=r"no data on 'FB' was known on 2012-05-17; known then: AAPL, GOOG, IBM, MSFT"):
        LAKE.bars.known("FB", as_of=date(2012, 5, 17))


def test_columns_must_be_in_order_of_knowledge_and_equally_long() -> None:
    early, late = date(2020, 1, 1), date(2020, 1, 2)
    with pytest.raises(ValueError, match="ascending"):
        Observations((late, early), (late, early), (1.0, 2.0))
    with pytest.raises(ValueError, match="differ in length"):
        Observations((early, late), (early,), (1.0, 2.0))


def test_a_planted_future_row_stays_hidden_until_its_day() -> None:
    today, tomorrow = date(2020, 1, 1), date(2020, 1, 2)
    rows = [(tomorrow, tomorrow, 666.0), (today, today, 1.0)]
    source = PointInTime("fixture", lambda: {"X": Observations.of(rows), "Y": Observations.of(rows[:1])})
    assert source.known("X", as_of=today).value == (1.0,)
    assert source.keys(as_of=today) == ("X",)
    assert source.known("X", as_of=tomorrow).value == (1.0, 666.0)


def test_a_treasury_bill_rate_is_known_on_the_weekday_after_its_day() -> None:
    friday = date(2023, 6, 30)
    bills = LAKE.rates.known("DTB3", as_of=friday + timedelta(days=2))
    assert friday not in bills.day
    assert friday in LAKE.rates.known("DTB3", as_of=friday + timedelta(days=3)).day


def test_simulated_markets_do_not_depend_on_the_date_they_are_asked_on() -> None:
    short = LAKE.simulated_bars.known("SIM-TECH", as_of=date(2015, 1, 2))
    long = LAKE.simulated_bars.known("SIM-TECH", as_of=date(2025, 1, 2))
    assert long.head(len(short)) == short


def test_simulated_bars_are_valid_candles() -> None:
    for ticker in LAKE.simulated_bars.keys(as_of=date(2030, 1, 1)):
        bars = LAKE.simulated_bars.known(ticker, as_of=date(2030, 1, 1))
        columns = (bars.open, bars.high, bars.low, bars.close)
        for opened, high, low, closed in zip(*columns, strict=True):
            assert 0 < low <= min(opened, closed) <= max(opened, closed) <= high


def test_the_data_hash_repeats_and_covers_every_data_file(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = sample.data_hash.__wrapped__
    first = fresh()
    assert first == fresh() and len(first) == 64
    folder = Path(sample.__file__).parent
    assert {f"embedded/{file.name}" for file in (folder / "embedded").glob("*.csv")} <= set(sample.DATA_FILES)
    monkeypatch.setattr(sample, "DATA_FILES", sample.DATA_FILES[1:])
    assert fresh() != first
