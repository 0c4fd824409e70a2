"""Declarative strategies, and tasks on candle files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from backtest import episode, simulators, strategies
from backtest.rules import DEFAULT_RULES
from evaluators.crypto import real_windows
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.strategy_program import program
from evaluators.crypto.strategy_rules import SCHEMA, BadStrategy, read_strategy
from evaluators.crypto.strategy_session import REFERENCES, StrategySession
from evaluators.crypto.windows import KNOWABLE_WARMUP_BARS, WARMUP_BARS
from lake.candles.folder import stretches

CROSS: dict[str, Any] = {
    "indicators": {"fast": {"type": "ema", "window": 12}, "slow": {"type": "ema", "window": 26}},
    "enter_long": [{"left": "fast", "op": ">", "right": "slow"}],
    "exit_long": [],
    "enter_short": [{"left": "fast", "op": "<", "right": "slow"}],
    "exit_short": [],
    "size": 1.0,
}
OPTIONS = {"mode": "strategy", "windows": 4, "bars": 120, "transforms": ["baseline", "noisy"]}


def drawn() -> StrategySession:
    session = DATASET.draw(seed=2, count=1, options=OPTIONS)[0].open()
    assert isinstance(session, StrategySession)
    return session


def test_a_declared_moving_average_cross_trades_like_the_reference_strategy() -> None:
    market = simulators.simulate(jax.random.key(9), bars=300)
    declared = episode.run(market, program(read_strategy(CROSS), bars_per_year=8760.0))
    reference = episode.run(market, strategies.get("moving_average_cross"))
    np.testing.assert_allclose(declared.equity, reference.equity, rtol=1e-12)


def test_conditions_stops_and_sizes_do_what_they_say() -> None:
    market = simulators.simulate(jax.random.key(9), bars=300)
    spec = CROSS | {
        "enter_long": [{"left": "close", "op": "crosses_above", "right": "b.upper"}],
        "enter_short": [],
        "exit_long": [{"left": "r", "op": "<=", "right": 50}],
        "indicators": {"b": {"type": "bollinger", "window": 20}, "r": {"type": "rsi"}},
        "size": 2.0,
        "stop_loss": 0.01,
        "take_profit": 0.5,
    }
    played = episode.run(market, program(read_strategy(spec), bars_per_year=8760.0))
    exposure = np.asarray(played.exposure)
    assert (exposure >= 0.0).all() and 1.8 < exposure.max() < 2.2
    entered = np.flatnonzero((np.asarray(played.position)[1:] > 0.0) & (np.asarray(played.position)[:-1] == 0.0)) + 1
    close = np.asarray(market.close)
    for bar in entered:
        past = close[bar - 20 : bar]
        assert close[bar - 1] > past.mean() + 2.0 * past.std()
    losses = np.diff(np.log(np.asarray(played.equity)))
    assert losses.min() > -0.06
    steady = program(read_strategy(CROSS | {"volatility_target": 0.05, "size": 3.0}), bars_per_year=8760.0)
    assert np.abs(np.asarray(episode.run(market, steady).exposure)).max() < 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": 1}, "unknown key 'sizes'"),
        ({"size": 0}, "size must be above 0 and at most 3"),
        ({"size": 1e308}, "size must be above 0 and at most 3"),
        ({"size": float("nan")}, "size must be a finite number"),
        ({"size": "all"}, "size must be a number"),
        ({"indicators": {"x": {"type": "crystal_ball"}}}, "type must be one of"),
        ({"indicators": {"x": {"type": "ema", "window": 0}}}, "window must be from 1 to 500, got 0"),
        ({"indicators": {"x": {"type": "ema", "window": 2.5}}}, "window must be a whole number from 1 to 500, got 2.5"),
        ({"indicators": {"close": {"type": "ema"}}}, "must be a plain word that is no price"),
        ({"indicators": {"x": {"type": "macd", "fast": 30, "slow": 20}}}, "fast must be below slow"),
        ({"enter_long": [{"left": "fast", "op": "=", "right": 1}]}, "op must be one of"),
        ({"enter_long": [{"left": "nothing", "op": ">", "right": 1}]}, "neither a price nor one of your indicators"),
        ({"enter_long": [{"left": "fast.upper", "op": ">", "right": 1}]}, "has the parts none"),
        ({"enter_long": "always"}, "must be a list"),
        ({"stop_loss": -0.1}, "stop_loss must be above 0"),
    ],
)
def test_a_bad_strategy_is_refused_with_what_is_wrong(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadStrategy, match=message):
        read_strategy(CROSS | change)


def test_the_question_shows_the_schema_and_nonsense_scores_zero() -> None:
    session = drawn()
    body = session.opening()
    assert body["type"] == "question" and body["answer_schema"] == SCHEMA
    for text in ("", "buy low, sell high", json.dumps(CROSS | {"size": -1})):
        session.reply(text)
        score = session.score()
        assert score.value == 0.0 and not score.passed and "fault" in score.details
    session.reply(json.dumps(CROSS | {"enter_long": [], "enter_short": []}))
    assert session.score().value == 0.0


def test_a_strategy_is_played_under_every_condition_on_the_same_windows() -> None:
    session = drawn()
    session.reply(REFERENCES[0])
    score = session.score()
    json.dumps(score.details, allow_nan=False)
    table = score.details["robustness"]
    assert [row["transform"] for row in table] == ["baseline", "noisy"]
    assert score.value == pytest.approx(np.mean([row["skill"] for row in table]))
    assert len(score.details["samples"]) == 4
    assert np.mean([row["value"] for row in score.details["samples"]]) == pytest.approx(score.value)
    again = drawn()
    again.reply(REFERENCES[0])
    assert again.score() == score
    _, _, first = session.conditions[0]
    _, _, second = session.conditions[1]
    np.testing.assert_array_equal(first().traded.close, second().traded.close)
    assert (first().observed.close != second().observed.close).any()
    assert jnp.asarray(first().traded.close).shape == (8, KNOWABLE_WARMUP_BARS + 120)


def candles(folder: Path, bars: int) -> Path:
    market = simulators.simulate(jax.random.key(4), bars=bars)
    rows = ["timestamp,open,high,low,close,volume"]
    for time, *values in zip(*(np.asarray(field) for field in market[:6]), strict=True):
        rows.append(",".join(f"{value:.10g}" for value in (time, *values)))
    path = folder / "THING_1h.csv.gz"
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    return path


def test_tasks_on_candle_files_hide_where_they_come_from_and_share_no_window(tmp_path: Path) -> None:
    path = candles(tmp_path, 1200)
    options = {"path": str(tmp_path), "windows": 4, "bars": 28}
    cases = DATASET.draw(seed=1, count=8, options=options)
    with pytest.raises(
        ValueError, match=r"holds 40 windows of 28 decisions, enough for 10 tasks of 4 .* apart in time"
    ):
        DATASET.draw(seed=1, count=11, options=options)
    seen: set[float] = set()
    for case in cases:
        assert case.task.as_of.isoformat() <= "2020-11-10"
        session: Any = case.open()
        text = json.dumps(session.opening())
        assert "THING" not in text and "2020-" not in text
        moves = np.log(session.traded.close[:, 1:] / session.traded.close[:, :-1])
        keys = {round(float(abs(move)), 12) for move in moves[:, 0]}
        assert len(keys) == 4 and not keys & seen
        seen |= keys
    before = DATASET.data_hash(options)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"\n"))
    assert DATASET.data_hash(options) != before


def test_no_window_of_a_task_shows_the_future_of_another_whatever_the_symbol(tmp_path: Path) -> None:
    first = candles(tmp_path, 2000)
    (tmp_path / "OTHER_1h.csv.gz").write_bytes(first.read_bytes())
    found = real_windows.places(str(tmp_path), decisions=28, every=1, rules=DEFAULT_RULES)
    made = real_windows.bundles(found, windows=4, seed=1)
    assert len(found) == 138 and len(made) >= 25
    length = (WARMUP_BARS + 28) * 3600.0
    places = [place for bundle in made for place in bundle]
    assert len({(place.stretch.label, place.first) for place in places}) == len(places)
    for bundle in made:
        starts = sorted(float(place.stretch.market.time[place.first]) for place in bundle)
        assert (np.diff(starts) >= length).all()
    assert not real_windows.bundles(found, windows=40, seed=1)


def test_funding_of_the_folder_is_carried_and_its_absence_is_said(tmp_path: Path) -> None:
    path = candles(tmp_path, 400)
    (tmp_path / "OTHER_1h.csv.gz").write_bytes(path.read_bytes())
    times = np.loadtxt(gzip.open(path), delimiter=",", skiprows=1)[:, 0]
    rows = [f"{time:.0f},{0.0001 * (number + 1):.6f}" for number, time in enumerate(times[:200:8])]
    (tmp_path / "THING_funding_rate.csv").write_text("\n".join(["timestamp,funding_rate", *rows]))
    other, thing = stretches(str(tmp_path))
    assert other.label.startswith("OTHER") and not other.market.funding_rate.any()
    np.testing.assert_allclose(thing.market.funding_rate[[0, 8, 16]], [1e-4, 2e-4, 3e-4])
    assert np.count_nonzero(thing.market.funding_rate) == 25
    labels = {
        place.first: place.label
        for place in real_windows.places(str(tmp_path), decisions=28, every=1, rules=DEFAULT_RULES)
        if place.stretch is thing
    }
    assert labels[0].endswith("with funding") and labels[224].endswith("without funding (0)")
    assert labels[112].endswith("funding for a part")
    case = DATASET.draw(seed=1, count=1, options={"path": str(tmp_path), "windows": 2, "bars": 28})[0]
    assert all("funding" in source for source in case.open().score().details["sources"])
