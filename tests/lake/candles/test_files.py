"""Candle files of every format, and the report on what is wrong with them."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lake.candles import files
from lake.candles.candles import Candles, Funding
from lake.candles.faults import examine, stretches
from lake.candles.market import funding_of_bars, has_funding, market

START = pd.Timestamp("2024-01-01", tz="UTC")


def frame(bars: int = 48) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    close = 100.0 * np.exp(np.cumsum(rng.normal(0.0, 0.01, bars)))
    opens = np.append(100.0, close[:-1])
    return pd.DataFrame(
        {
            "timestamp": START + pd.to_timedelta(np.arange(bars), "h"),
            "open": opens,
            "high": np.maximum(opens, close) * 1.001,
            "low": np.minimum(opens, close) * 0.999,
            "close": close,
            "volume": rng.lognormal(3.0, 1.0, bars),
        }
    )


def candles(bars: int = 48) -> Candles:
    table = frame(bars)
    time = START.timestamp() + 3600.0 * np.arange(bars)
    columns = [np.array(table[name]) for name in ("open", "high", "low", "close", "volume")]
    return Candles("made up", "BTCUSDT", 3600.0, time, *columns)


def write(table: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        table.set_index("timestamp").to_parquet(path)
    elif path.suffix == ".feather":
        table.rename(columns={"timestamp": "date"}).to_feather(path)
    else:
        table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["BTCUSDT_1h.csv", "BTCUSDT_1h.csv.gz", "BTCUSDT_1h.parquet", "BTCUSDT-1h.feather"])
def test_every_format_gives_the_same_candles(name: str, tmp_path: Path) -> None:
    (read,) = files.read(write(frame(), tmp_path / name))
    wanted = candles()
    assert read.symbol == "BTCUSDT"
    assert read.seconds == 3600.0
    for field in ("time", "open", "high", "low", "close", "volume"):
        np.testing.assert_allclose(getattr(read, field), getattr(wanted, field), rtol=1e-12)
    assert examine(read).faults == ()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_numeric_times_are_understood_in_every_unit(unit: str) -> None:
    column = pd.Series((START.timestamp() + 3600.0 * np.arange(5)) * {"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit])
    np.testing.assert_allclose(files.seconds(column, "x"), START.timestamp() + 3600.0 * np.arange(5))


def test_times_with_a_zone_become_utc() -> None:
    column = pd.Series(["2024-01-01 09:00:00+09:00", "2024-01-01 10:00:00+09:00"])
    np.testing.assert_allclose(files.seconds(column, "x"), [START.timestamp(), START.timestamp() + 3600.0])


def test_a_time_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ValueError, match=r"x: row 1 holds 'soon', which is no time"):
        files.seconds(pd.Series(["2024-01-01", "soon"]), "x")


def test_missing_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("close,volume\n1,2\n")
    with pytest.raises(
        ValueError, match="no candles, it lacks open, high, low, a column of times; it has close, volume"
    ):
        files.read(path)


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown format; known are"):
        files.read(tmp_path / "a.xlsx")


def archive(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(f"{name}.csv", text)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(path.name + ".CHECKSUM").write_text(f"{digest}  {path.name}\n")
    return path


def archive_rows(first: int, count: int, parts: int) -> str:
    rows = []
    for i in range(first, first + count):
        open_time = int((START.timestamp() + 3600 * i) * parts)
        rows.append(f"{open_time},100,101,99,100.5,{i + 1},{open_time + 3600 * parts - 1},1,1,1,1,0")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("header", ["", ",".join(files.ARCHIVE_COLUMNS) + "\n"], ids=["no names", "names"])
@pytest.mark.parametrize("parts", [1000, 1_000_000], ids=["ms", "us"])
def test_a_file_of_the_exchanges_archive_is_read_with_and_without_names_and_in_both_units(
    header: str, parts: int, tmp_path: Path
) -> None:
    (read,) = files.read(archive(tmp_path, "BTCUSDT-1h-2024-01", header + archive_rows(20, 10, parts)))
    assert (read.symbol, read.seconds) == ("BTCUSDT", 3600.0)
    np.testing.assert_allclose(read.time, START.timestamp() + 3600.0 * np.arange(20, 30))
    np.testing.assert_allclose(read.volume, 1.0 + np.arange(20, 30))
    assert examine(read).faults == ()


def test_an_archive_that_fails_its_checksum_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path, "BTCUSDT-1h-2024-01", archive_rows(0, 5, 1000))
    path.with_name(path.name + ".CHECKSUM").write_text("0" * 64 + "  x\n")
    with pytest.raises(ValueError, match="its CHECKSUM file says 0000"):
        files.read(path)


def broken(field: str, row: int, value: float) -> Candles:
    made = candles()
    getattr(made, field)[row] = value
    return made


@pytest.mark.parametrize(
    ("field", "value", "kind"),
    [
        ("close", np.nan, "not_finite"),
        ("open", 0.0, "not_positive"),
        ("high", 1.0, "range"),
        ("low", 1e6, "range"),
        ("volume", -1.0, "negative_volume"),
        ("time", 1.0, "unsorted"),
    ],
)
def test_each_fault_is_reported_at_its_row(field: str, value: float, kind: str) -> None:
    faults = {fault.kind: fault for fault in examine(broken(field, 7, value)).faults}
    assert faults[kind].row == 7
    assert faults[kind].bars == 1


def test_gaps_duplicates_and_odd_times_are_told_apart() -> None:
    made = candles()
    made.time[20:] += 3 * 3600.0
    made.time[30] = made.time[29]
    made.time[40] += 60.0
    report = examine(made)
    kinds = {fault.kind: fault.bars for fault in report.faults}
    assert kinds["duplicate"] == 1
    assert kinds["off_grid"] == 1
    assert kinds["gap"] >= 3
    assert "nothing between 2024-01-01 19:00:00 and 2024-01-01 23:00:00" in str(report)


def test_a_ticker_that_restarts_as_another_coin_is_reported() -> None:
    made = candles()
    luna = Candles(
        "x", "LUNA/USDT", 3600.0, made.time, *(getattr(made, n) for n in ("open", "high", "low", "close")), made.volume
    )
    luna.time[24:] += 18 * 86_400.0
    for name in ("open", "high", "low", "close"):
        getattr(luna, name)[:24] *= 1e-6
    (fault,) = [fault for fault in examine(luna).faults if fault.kind == "coin_change"]
    assert fault.row == 24
    assert "2022-05-31 as another coin" in fault.text


def test_a_market_is_made_from_faultless_candles_only() -> None:
    made = market(candles())
    assert made.close.shape == (48,)
    with pytest.raises(ValueError, match=r"not_positive: 1 bars, first at row 3"):
        market(broken("open", 3, -5.0))
    with pytest.raises(ValueError, match="there are no candles"):
        market(candles().rows(slice(0, 0)))


def test_stretches_end_at_every_fault() -> None:
    made = candles()
    made.close[10] = np.nan
    made.time[30:] += 7200.0
    made.volume[47] = -1.0
    assert [len(run) for run in stretches(made)] == [10, 19, 17]
    assert all(examine(run).faults == () for run in stretches(made))


def test_funding_falls_into_the_bar_that_opens_with_it() -> None:
    funding = Funding("x", START.timestamp() + np.array([0.0, 28_800.01, 57_600.0]), np.array([1e-4, -2e-4, 3e-4]))
    rates = np.asarray(market(candles(), funding).funding_rate)
    assert np.flatnonzero(rates).tolist() == [0, 8, 16]
    np.testing.assert_allclose(rates[[0, 8, 16]], [1e-4, -2e-4, 3e-4])


def test_the_funding_of_a_day_is_summed_into_its_bar() -> None:
    funding = Funding("x", START.timestamp() + 28_800.0 * np.arange(6), np.full(6, 1e-4))
    days = START.timestamp() + 86_400.0 * np.arange(2)
    np.testing.assert_allclose(funding_of_bars(funding, days, 86_400.0), [3e-4, 3e-4])


def test_funding_of_another_year_is_refused() -> None:
    with pytest.raises(ValueError, match="no funding rate falls into the candles: rates from 1970-01-01 00:00:00"):
        market(candles(), Funding("x", np.array([0.0, 28_800.0]), np.array([1e-4, 1e-4])))


def test_funding_files_are_read_in_three_shapes(tmp_path: Path) -> None:
    times = START + pd.to_timedelta(8 * np.arange(3), "h")
    plain = tmp_path / "a.csv"
    pd.DataFrame({"timestamp": times, "funding_rate": [1e-4, 2e-4, -1e-4]}).to_csv(plain, index=False)
    shaped = tmp_path / "b.feather"
    zeros = np.zeros(3)
    pd.DataFrame({"date": times, "open": [1e-4, 2e-4, -1e-4], "high": zeros, "low": zeros, "close": zeros}).to_feather(
        shaped
    )
    stamps = [int(stamp.timestamp() * 1000) for stamp in times]
    text = "\n".join(f"{t},8,{rate}" for t, rate in zip(stamps, (1e-4, 2e-4, -1e-4), strict=True)) + "\n"
    zipped = archive(tmp_path, "BTCUSDT-fundingRate-2024-01", text)
    for path in (plain, shaped, zipped):
        read = files.read_funding(path)
        np.testing.assert_allclose(read.time, START.timestamp() + 28_800.0 * np.arange(3))
        np.testing.assert_allclose(read.rate, [1e-4, 2e-4, -1e-4])


@pytest.mark.shared_data
def test_real_candles_and_funding_make_a_market(shared_data: Path) -> None:
    (bitcoin,) = files.read(shared_data / "crypto/perp/BTCUSDT_1h_perp_2023_2026.parquet")
    funding = files.read_funding(shared_data / "crypto/sky1241/funding_rate_BTCUSDT.csv.gz")
    made = market(bitcoin, funding)
    assert made.close.shape == (28_310,)
    paid = np.flatnonzero(np.asarray(made.funding_rate))
    assert (np.asarray(made.time)[paid] % 28_800 == 0).all()


@pytest.mark.shared_data
def test_the_holes_of_the_real_two_hour_file_are_found(shared_data: Path) -> None:
    (bitcoin,) = files.read(shared_data / "crypto/sky1241/BTC_USDT_2h.csv.gz")
    (gap,) = examine(bitcoin).faults
    assert gap.kind == "gap"
    assert gap.bars == 53
    assert sum(len(run) for run in stretches(bitcoin)) == len(bitcoin)


@pytest.mark.shared_data
def test_a_file_of_many_windows_is_taken_apart(shared_data: Path) -> None:
    parts = files.read(shared_data / "crypto/stress_windows/crypto_stress_windows_1h.csv.gz")
    luna = next(part for part in parts if part.symbol == "LUNAUSDT")
    assert "luna_2022_05" in luna.source
    assert float(luna.close[-1]) < 0.001
    assert all(examine(part).faults == () for part in parts)


def test_candles_without_one_sound_row_have_no_stretch() -> None:
    made = candles(4)
    made.close[:] = 0.0
    assert stretches(made) == []


@pytest.mark.parametrize(
    ("name", "symbol", "wanted"),
    [
        ("BTC_USDT_USDT-8h-funding_rate.feather", "BTCUSDT", True),
        ("funding_rate_BTCUSDT.csv.gz", "BTC", True),
        ("BTCUSDT-fundingRate-2024-01.zip", "BTC/USDT:USDT", True),
        ("BTC_USDT_USDT-8h-funding_rate.feather", "ETHUSDT", False),
        ("BTCUSDT_1h.parquet", "BTCUSDT", False),
        ("funding_rate_BTCUSDT.csv", "USDT", False),
    ],
)
def test_a_funding_file_belongs_to_the_coin_that_its_name_says(name: str, symbol: str, wanted: bool) -> None:
    assert files.is_funding_of(Path(name), symbol) is wanted


def test_funding_covers_bars_until_the_next_rate_is_overdue() -> None:
    hours = np.arange(40.0)
    rates = Funding("made up", 3600.0 * np.array([4.0, 12.0, 20.0]) + 0.005, np.full(3, 1e-4))
    covered = has_funding(rates, 3600.0 * hours)
    np.testing.assert_array_equal(np.flatnonzero(covered), np.arange(4, 28))
