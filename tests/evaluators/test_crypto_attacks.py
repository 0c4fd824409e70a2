"""Schemes of agents that cannot forecast but react to their gains and losses: none may gain, whatever it wastes.

The oracle is a theorem: sums of fair bets with stakes chosen beforehand have expectation 0 (Doob). Returns are drawn
with symmetric signs; ``TASKS`` make the error of a mean some 0.04 points, so that 0.5 points would be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from evaluators.crypto.skill import judge, shares

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
        judge(np.stack([timing[:, task], np.broadcast_to(cost[:, task, None], (BARS, WINDOWS))], axis=-1), names)
        for task in range(500)
    ]
    values, errors = (np.array([getattr(skill, name) for skill in skills]) for name in ("value", "se"))
    assert 0.89 < np.mean(np.abs(values - values.mean()) < 1.96 * errors) <= 1.0
    assert errors.mean() < 2.0 * values.std(ddof=1)
    for skill in skills[:5]:
        assert skill.samples.mean() == pytest.approx(skill.value)
