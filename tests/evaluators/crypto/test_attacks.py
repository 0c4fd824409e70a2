"""Schemes of agents that cannot forecast but react to their gains and losses: none may gain, whatever it wastes.

The oracle is a theorem: sums of fair bets with stakes chosen beforehand have expectation 0 (Doob). Returns are drawn
with symmetric signs; ``TASKS`` make the error of a mean some 0.04 points, so that 0.5 points would be seen.

Below them stand the leaks: what an agent may see or know, and what it would be worth.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from backtest import simulators
from backtest.account import TARGET, Action, open_account
from backtest.market import Market
from backtest.rules import DEFAULT_RULES
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.hindsight import available, usual_move
from evaluators.crypto.play import Played, joined, play
from evaluators.crypto.policies import by_funding, moved
from evaluators.crypto.policies import play as play_policy
from evaluators.crypto.session import InteractiveSession
from evaluators.crypto.settings import TransformChoice
from evaluators.crypto.skill import best_moves, judge, moves, shares
from evaluators.crypto.windows import WARMUP_BARS, Windows, episodes, mirror, of, paired, to_numpy
from tests.evaluators.crypto.fair_play import fair_windows

TASKS, WINDOWS, BARS = 8_000, 16, 28
SPREAD = 4.5
"""Of one bar in one window, points: 28 bars of 16 windows have an error of 6 points, as a default task has."""


class Past(NamedTuple):
    """What an agent knows before a bar.

    Attributes
    ----------
    by_window
        Its timing so far, ``[tasks, windows]``.
    total
        Of the task, ``[tasks]``.
    value
        Of the score so far, ``[tasks]``.
    last
        Its timing in the bar before, ``[tasks, windows]``.
    stake
        Its stakes in the bar before, ``[tasks, windows]``.
    """

    by_window: np.ndarray
    total: np.ndarray
    value: np.ndarray
    last: np.ndarray
    stake: np.ndarray


Scheme = Callable[[Past], tuple[np.ndarray, np.ndarray]]
"""Stakes ``[tasks, windows]`` and costs ``[tasks]``, points, of the next bar."""

ONE = np.ones((TASKS, WINDOWS))
QUIET, CHURN = 0.05, 1.5


def churn_behind(past: Past) -> tuple[np.ndarray, np.ndarray]:
    return ONE, np.where(past.total < 0.0, CHURN, QUIET)


def churn_ahead(past: Past) -> tuple[np.ndarray, np.ndarray]:
    return ONE, np.where(past.total > 0.0, CHURN, QUIET)


def churn_to_freeze_the_value(past: Past) -> tuple[np.ndarray, np.ndarray]:
    return ONE, np.where(past.value > 1.0, CHURN, 0.0)


def stop_ahead_and_double_behind(past: Past) -> tuple[np.ndarray, np.ndarray]:
    stake = np.where(past.by_window > 0.0, 0.0, np.where(past.last < 0.0, 2.0 * past.stake, past.stake))
    return np.minimum(stake, 1024.0), np.full(TASKS, 0.3)


def size_up_after_losses(past: Past) -> tuple[np.ndarray, np.ndarray]:
    return np.where(past.last < 0.0, 1.3 * past.stake, past.stake), np.full(TASKS, QUIET)


def quit_after_a_gain(past: Past) -> tuple[np.ndarray, np.ndarray]:
    return ONE * (past.value <= 2.0)[:, None], np.where(past.value <= 2.0, 0.2, 0.0)


def trade_at_random(past: Past) -> tuple[np.ndarray, np.ndarray]:
    return ONE, np.full(TASKS, CHURN)


SCHEMES = [
    churn_behind,
    churn_ahead,
    churn_to_freeze_the_value,
    stop_ahead_and_double_behind,
    size_up_after_losses,
    quit_after_a_gain,
    trade_at_random,
]


def played(scheme: Scheme, *, drift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return timing ``[bars, tasks, windows]`` and cost ``[bars, tasks]``, per unit of the largest stake so far."""
    rng = np.random.default_rng(5)
    timing, cost = np.zeros((BARS, TASKS, WINDOWS)), np.zeros((BARS, TASKS))
    stake, largest = 0.01 * ONE, np.full((TASKS, WINDOWS), 0.01)
    for bar in range(BARS):
        means = timing[:bar].mean(axis=2)
        value = (shares(means, cost[:bar]) * means).sum(axis=0) if bar else np.zeros(TASKS)
        past = Past(timing[:bar].sum(axis=0), means.sum(axis=0), value, timing[bar - 1], stake)
        stake, cost[bar] = scheme(past)
        largest = np.maximum(largest, stake)
        timing[bar] = stake / largest * rng.normal(drift, SPREAD, (TASKS, WINDOWS))
    return timing, cost


def errors_from_zero(values: np.ndarray) -> float:
    return float(values.mean() / (values.std(ddof=1) / np.sqrt(len(values))))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_scheme_without_skill_gains_or_loses(scheme: Scheme) -> None:
    timing, cost = played(scheme)
    means = timing.mean(axis=2)
    values = (shares(means, cost) * means).sum(axis=0)
    assert abs(errors_from_zero(values)) < 3.0
    assert values.std() / np.sqrt(TASKS) < 0.1


def test_a_function_of_the_final_sums_would_pay_for_churning_while_behind() -> None:
    timing, cost = played(churn_behind)
    earned, paid = timing.mean(axis=2).sum(axis=0), cost.sum(axis=0)
    values = np.sign(earned) * (np.hypot(earned, paid) - paid)
    assert values.mean() > 0.5 and errors_from_zero(values) > 10.0


@pytest.mark.parametrize("scheme", [trade_at_random, size_up_after_losses])
@pytest.mark.parametrize("drift", [0.0, 0.5, 2.0])
def test_the_stated_interval_covers_the_mean_of_many_tasks(scheme: Scheme, drift: float) -> None:
    timing, cost = played(scheme, drift=drift)
    names = [str(window) for window in range(WINDOWS)]
    skills = [
        judge(
            np.stack([timing[:, task], np.broadcast_to(cost[:, task, None], (BARS, WINDOWS))], axis=-1),
            np.full(WINDOWS, 100.0),
            names,
        )
        for task in range(500)
    ]
    values, errors = (np.array([getattr(skill, name) for skill in skills]) for name in ("value", "se"))
    assert 0.89 < np.mean(np.abs(values - values.mean()) < 1.96 * errors) <= 1.0
    assert errors.mean() < 2.0 * values.std(ddof=1)
    for skill in skills[:5]:
        assert skill.samples.mean() == pytest.approx(skill.value)


MANY = 16_000
"""Windows, each with its mirror: the error of a side that is held in all of them is some 0.3 points."""


@cache
def many_markets(parameters: simulators.Parameters, windows: int) -> Market:
    simulate = jax.jit(jax.vmap(lambda key: simulators.simulate(key, bars=WARMUP_BARS + BARS, parameters=parameters)))
    parts = [to_numpy(simulate(jax.random.split(jax.random.key(number), 8_000))) for number in range(windows // 8_000)]
    found = of(np.concatenate(fields) for fields in zip(*parts, strict=True))
    return paired(found, mirror(found, found.open[:, :1]))


class Held(NamedTuple):
    """Points of a side held, one value a window."""

    skill: np.ndarray
    timing: np.ndarray
    timing_by_sizes_to_come: np.ndarray


@cache
def held(side: float, *, parameters: simulators.Parameters = simulators.FAIR_PARAMETERS, windows: int = MANY) -> Held:
    """Play ``side`` in the windows as they are and the other one in their mirrors, by the engine's own step."""
    both = many_markets(parameters, windows)
    before, traded = (
        of(np.asarray(f)[:, part] for f in both) for part in (slice(WARMUP_BARS), slice(WARMUP_BARS, None))
    )
    count = len(both.close)
    sides = side * np.repeat([1.0, -1.0], count // 2)
    unset = jnp.full(count, jnp.nan)
    start = Played(open_account(shape=(count,)), jnp.asarray(before.close[:, -1]), jnp.zeros(count))
    order = Action(jnp.full(count, TARGET, jnp.int32), jnp.asarray(sides), unset, unset)
    _, played_bars = play(start, order, of(jnp.asarray(f.T) for f in traded), DEFAULT_RULES)
    measured = joined([played_bars])
    offered = available(traded, decision_every=1, rules=DEFAULT_RULES, equity=10_000.0)
    usual, window = usual_move(before), np.tile(np.arange(count // 2), 2)
    shown = moves(measured.timing, measured.cost / measured.largest, usual, window)
    best = best_moves(offered, usual, window)
    names = [str(number) for number in range(WINDOWS)]
    tasks = [slice(first, first + WINDOWS) for first in range(0, count // 2, WINDOWS)]
    skills = [judge(shown[:, task], best[task], names) for task in tasks]
    sizes = np.abs(offered.returns).sum(axis=0)
    flawed = 100.0 / np.mean((offered.timing - offered.cost) / sizes) * (measured.timing.sum(axis=0) / sizes)
    return Held(
        np.array([skill.value for skill in skills]),
        np.array([skill.timing for skill in skills]),
        flawed.reshape(2, -1).mean(axis=0),
    )


@pytest.mark.campaign
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_who_knows_which_image_is_the_mirror_knows_no_direction(side: float) -> None:
    shown = held(side)
    for points in (shown.skill, shown.timing):
        assert abs(errors_from_zero(points)) < 3.0 and abs(points.mean()) < 1.0
        assert points.std() / np.sqrt(len(points)) < 0.4


@pytest.mark.campaign
def test_a_unit_that_knows_the_sizes_of_the_moves_to_come_would_pay_for_knowing_the_mirror() -> None:
    """With the leverage effect moves are smaller after a rise: it would count for more than the fall does."""
    points = held(1.0).timing_by_sizes_to_come
    assert points.mean() > 2.0 and errors_from_zero(points) > 8.0


@pytest.mark.campaign
def test_a_drift_would_pay_for_knowing_the_mirror() -> None:
    rising = simulators.FAIR_PARAMETERS._replace(drift=(2.0, 2.0, 2.0))
    assert errors_from_zero(held(1.0, parameters=rising, windows=8_000).timing) > 8.0


@pytest.mark.campaign
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_sign_of_the_funding_rate_names_no_mirror_and_earns_nothing(sign: float) -> None:
    for number, name in enumerate(("baseline", "noisy")):
        key = jax.random.key(40 + number)
        found = fair_windows(key, windows=96, bars=BARS)
        made = episodes(found, TransformChoice(name), key=key, seed=[number])
        session = InteractiveSession(made, families=found.family, decision_every=1, batch=None, info={})
        score = play_policy(session, by_funding(sign))
        assert score.details["cost_points"] > 0.3  # It does trade.
        assert abs(score.details["timing_points"]) < 0.4 and abs(score.value) < 0.4


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "pays"), [("adversarial", False), ("worst_case", True), ("worst_path", True)])
def test_the_last_bar_of_the_worst_market_would_pay_where_what_happens_counts(name: str, pays: bool) -> None:
    """That is why no task on candles has it (``settings.py``); one that looks back alone tells nothing."""
    key = jax.random.key(400)
    found = fair_windows(key, windows=48, bars=BARS)
    made = episodes(found, TransformChoice(name), key=key, seed=[1])
    session = InteractiveSession(made, families=found.family, decision_every=1, batch=None, info={})
    score = play_policy(session, moved(1, sign=1.0))
    assert score.value == 100.0 if pays else abs(score.value) < 20.0


@pytest.mark.campaign
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_last_bar_of_the_worst_feed_pays_nothing_where_what_was_knowable_counts(sign: float) -> None:
    cases = DATASET.draw(seed=8, count=3, options={"transforms": ["worst_case"]})
    values = [play_policy(case.open(), moved(1, sign=sign)).value for case in cases]
    assert abs(np.mean(values)) < 10.0


def test_a_window_and_its_mirror_show_the_same_funding_and_so_it_is_on_candles_of_a_bull_market() -> None:
    rng = np.random.default_rng(6)
    bars = WARMUP_BARS + BARS
    close = 100.0 * np.exp(np.cumsum(0.004 + 0.002 * rng.standard_normal((4, bars)), axis=1))
    open_ = np.concatenate([np.full((4, 1), 100.0), close[:, :-1]], axis=1)
    time = np.tile(1.6e9 + 3600.0 * np.arange(bars), (4, 1))
    rate = np.where(np.arange(bars) % 8 == 0, 1e-4, 0.0) + np.zeros((4, 1))
    market = Market(
        time, open_, np.maximum(open_, close), np.minimum(open_, close), close, np.full((4, bars), 1e6), rate
    )
    found = Windows(market, tuple("abcd"), ("file",) * 4)
    made = episodes(found, TransformChoice("baseline"), key=jax.random.key(0), seed=[1])
    for channel in (made.observed, made.traded):
        np.testing.assert_array_equal(channel.funding_rate, np.tile(rate[0], (8, 1)))
    session = InteractiveSession(made, families=found.family, decision_every=1, batch=None, info={})
    score = play_policy(session, by_funding(1.0))
    assert score.details["cost_points"] > 0.05 and abs(score.details["timing_points"]) < 0.01
