"""The published crypto scenarios are read as candles."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lake.candles import files
from lake.candles.folder import stretches


def states(count: int, symbol: str = "BTCUSDT") -> list[dict[str, Any]]:
    start = datetime(2022, 1, 1, tzinfo=UTC)
    return [
        {
            "timestamp": (start + timedelta(minutes=bar)).isoformat().replace("+00:00", "Z"),
            "symbol": symbol,
            "ohlcv": {"open": 100.0 + bar, "high": 103.0 + bar, "low": 99.0 + bar, "close": 101.0 + bar, "volume": 5.0},
            "indicators": {"rsi": 50.0},
            "market_metrics": {"funding_rate": 0.5},
        }
        for bar in range(count)
    ]


def write(folder: Path, rows: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "market_data.json"
    path.write_text(json.dumps({"metadata": {"timeframe": "1m"}, "market_states": rows}))
    return path


def test_symbols_times_and_bars_are_read(tmp_path):
    both = [row for pair in zip(states(4), states(4, "ETHUSDT"), strict=True) for row in pair]
    btc, eth = files.read(write(tmp_path / "crash", both))
    assert (btc.symbol, eth.symbol, btc.seconds, btc.source) == ("BTCUSDT", "ETHUSDT", 60.0, "crash/market_data.json")
    assert btc.time[0] == datetime(2022, 1, 1, tzinfo=UTC).timestamp() and list(btc.open) == [100, 101, 102, 103]
    assert list(btc.close) == [101, 102, 103, 104] and list(btc.volume) == [5.0] * 4


def test_a_folder_of_scenarios_is_stretches_and_a_gap_ends_one(tmp_path):
    write(tmp_path / "one", states(30))
    rows = states(30)
    write(tmp_path / "two", rows[:10] + rows[12:])
    (tmp_path / "one" / "metadata.json").write_text("{}")
    found = stretches(str(tmp_path))
    assert sorted(len(part.market.time) for part in found) == [10, 18, 30]
    assert not any(part.funded.any() for part in found)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "it lacks a list under the key 'market_states'"),
        ([{"timestamp": "2022-01-01"}], "state 1 is no bar of timestamp, symbol and ohlcv"),
        ([*states(1), {"timestamp": "noon", "symbol": "B", "ohlcv": {}}], "state 2 is no bar"),
        ([states(1)[0] | {"ohlcv": {"open": "x"}}], "state 1 is no bar"),
    ],
)
def test_what_is_no_scenario_is_told(tmp_path, rows, said):
    with pytest.raises(ValueError, match=r"market_data.json: ") as raised:
        files.read(write(tmp_path, rows))
    assert said in str(raised.value)


@pytest.mark.shared_data
def test_the_published_sample_is_read(shared_data):
    (btc,) = files.read(shared_data / "agentbusters" / "crypto_scenarios_sample_btc_window_market_data.json")
    assert (btc.symbol, btc.seconds, btc.open[0], btc.close[0]) == ("BTCUSDT", 60.0, 47000.0, 47050.0)
