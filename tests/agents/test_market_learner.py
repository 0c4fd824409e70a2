"""The learner finds what was planted, trades only where it pays, and asks once for what came before."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

Importer = Callable[[str, str], ModuleType]
COLUMNS = ["close", "hour", "gap", "move", "flow", "book", "premium", "leader", "news"]
BARS = 300


@pytest.fixture
def learner(program: Importer) -> ModuleType:
    return program("learner", "market_learner")


def planted(sign: float, *, noise: float = 0.0, seed: int = 1) -> dict[str, Any]:
    """Return 300 bars whose moves lean by the flow of the bar before; ``noise`` lies about every price."""
    rng = np.random.default_rng(seed)
    channels = {name: rng.uniform(-100.0, 100.0, BARS) for name in ("flow", "book", "leader")}
    flow = np.concatenate([[0.0], channels["flow"][:-1]])
    size = np.abs(rng.normal(0.0, 60.0, BARS))
    move = size * np.where(rng.uniform(-1.0, 1.0, BARS) < 0.75 * sign * np.sign(flow), 1.0, -1.0)
    opens, closes = (noise * rng.standard_normal(BARS) for _ in range(2))
    gap = opens - np.concatenate([[0.0], closes[:-1]])
    premium = np.zeros(BARS)
    for bar in range(1, BARS):
        premium[bar] = 0.8 * premium[bar - 1] + rng.uniform(-1.0, 1.0)
    return {
        "gap": gap,
        "move": move + closes - opens,
        **channels,
        "premium": premium,
        "news": rng.integers(-1, 2, BARS),
    }


def with_wicks(columns: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return the bars with highs and lows: a Brownian path's wicks about the move, for bars of 60 basis points."""
    rng = np.random.default_rng(seed)
    upper, lower = (np.abs(rng.normal(0.0, 30.0, BARS)) for _ in range(2))
    return columns | {"high": np.maximum(columns["move"], 0.0) + upper, "low": np.minimum(columns["move"], 0.0) - lower}


def with_false_signals(columns: dict[str, Any]) -> dict[str, Any]:
    """Return the bars with plateaus of 6 usual moves up and down, four bars each, that a feed makes up; wicks stay."""
    false = np.diff(360.0 * np.sign(np.sin((np.arange(BARS + 1) + 0.5) * np.pi / 4.0)))
    top, bottom = (
        columns[name] - side(columns["move"], 0.0) for name, side in (("high", np.maximum), ("low", np.minimum))
    )
    move = columns["move"] + false
    return columns | {"move": move, "high": np.maximum(move, 0.0) + top, "low": np.minimum(move, 0.0) + bottom}


def forecasts(learner: ModuleType, columns: dict[str, Any], first: int) -> Any:
    found = []
    for bar in range(first, BARS):
        market = learner.Market()
        market.begin(0.0, {name: values[:bar].tolist() for name, values in columns.items()}, 1.0)
        found.append(market.decide(0.0))
    return np.array(found)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_it_finds_a_planted_signal_and_its_sign(learner: ModuleType, sign: float) -> None:
    columns = planted(sign)
    sides = forecasts(learner, columns, 250)
    assert (sides == sign * np.sign(columns["flow"][249:-1])).mean() > 0.9


def test_where_prices_are_told_with_noise_it_still_finds_more_than_luck(learner: ModuleType) -> None:
    right = []
    for seed in range(6):
        columns = planted(1.0, noise=60.0, seed=seed)
        right.append((forecasts(learner, columns, 280) == np.sign(columns["flow"][279:-1])).mean())
    assert np.mean(right) > 0.65


def test_made_up_signals_in_the_feed_cost_it_little_because_wicks_do_not_have_them(learner: ModuleType) -> None:
    right, blind = [], []
    for seed in range(6):
        columns = with_false_signals(with_wicks(planted(1.0, seed=seed), seed))
        side = np.sign(columns["flow"][279:-1])
        right.append((forecasts(learner, columns, 280) == side).mean())
        without = {name: values for name, values in columns.items() if name not in ("high", "low")}
        blind.append((forecasts(learner, without, 280) == side).mean())
    assert np.mean(right) > 0.85
    assert np.mean(right) > np.mean(blind) + 0.1


def test_how_far_a_move_is_believed(learner: ModuleType) -> None:
    rng = np.random.default_rng(0)
    true = rng.standard_normal(240)
    sides, moves = learner.believed(true)
    np.testing.assert_allclose(sides[np.abs(true) > 0.6], np.sign(true[np.abs(true) > 0.6]), atol=0.25)
    assert np.corrcoef(moves, true)[0, 1] > 0.95
    false = true + np.where(rng.random(240) < 0.4, 20.0 * rng.standard_normal(240), 0.0)
    sides, moves = learner.believed(false)
    large = np.abs(false) > 4.0
    assert large.sum() > 40 and np.abs(moves[large]).max() < 1.0 and np.abs(sides[large]).max() < 0.5
    told, shown = (np.corrcoef(each, np.sign(true))[0, 1] for each in (sides, np.sign(false)))
    assert told > shown + 0.02


def test_nothing_is_forecast_of_a_bar_by_the_bar_itself_or_a_later_one(learner: ModuleType) -> None:
    columns = planted(1.0)
    changed = {name: np.concatenate([values[:280], values[280:] * -3.0 + 1.0]) for name, values in columns.items()}
    np.testing.assert_array_equal(forecasts(learner, columns, 270)[:11], forecasts(learner, changed, 270)[:11])


def test_a_forecast_that_does_not_pay_for_a_trade_changes_nothing(learner: ModuleType) -> None:
    market = learner.Market()
    market.begin(0.0, {name: values.tolist() for name, values in planted(1.0).items()}, 1.0)
    assert market.decide(1.0) == 0.0
    assert abs(market.decide(0.0)) == 1.0
    assert market.decide(1.0) == market.side


def message(number: int, episodes: dict[str, dict[str, Any]], bar: int) -> dict[str, Any]:
    rows = {
        name: [10.0, bar % 24, *(float(columns[key][bar]) for key in COLUMNS[2:])] for name, columns in episodes.items()
    }
    return {
        "type": "trading_decisions",
        "decision": number,
        "seconds_per_bar": 3600.0,
        "columns": COLUMNS,
        "episodes": rows,
    }


def test_a_conversation_begins_with_what_came_before_and_others_do_not_mix_with_it(learner: ModuleType) -> None:
    episodes = {"e01": planted(1.0, seed=3), "e02": planted(-1.0, seed=4)}
    agent = learner.Learner()
    assert agent.reply(message(1, episodes, 249), "c") == {"history": "all"}
    history = [
        {"episode": name, "first_hour": 10, **{key: columns[key][:250].tolist() for key in COLUMNS[2:]}}
        for name, columns in episodes.items()
    ]
    right = []
    reply = agent.reply({"type": "trading_history", "history": history}, "c")
    for bar in range(250, 299):
        for name, sign in (("e01", 1.0), ("e02", -1.0)):
            right.append(reply["exposures"][name] == sign * np.sign(episodes[name]["flow"][bar - 1]))
        reply = agent.reply(message(bar - 248, episodes, bar), "c")
    assert np.mean(right) > 0.85
    assert agent.reply(message(1, episodes, 249), "other") == {"history": "all"}


def test_quant_trades_by_it_and_the_program_says_so_of_other_things(program: Importer) -> None:
    import asyncio

    episodes = {"e01": planted(1.0), "e02": planted(-1.0)}
    solver = program("quant", "solver").Solver()
    said = asyncio.run(solver.reply(json.dumps(message(1, episodes, 249)), "c"))
    assert json.loads(said) == {"history": "all"}
