"""A task on knowable markets without messages: windows, their mirrors, and exposures that are held for a bar each."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from backtest import simulators
from backtest.costs import one_way
from backtest.market import Market
from backtest.rules import DEFAULT_RULES
from backtest.simulators import Knowable
from evaluators.crypto.hindsight import Array, usual_move
from evaluators.crypto.knowledge import Informed, credited, informed, informed_moves, judge_known, spent
from evaluators.crypto.skill import Skill, judge, moves
from tests.evaluators.crypto import learning

WINDOWS, WARMUP, BARS = 16, 128, 28
ONE_WAY = float(one_way(quantity=jnp.zeros(()), volume=jnp.ones(()), rules=DEFAULT_RULES))


class Task(NamedTuple):
    """Windows as they are, then their mirrors; played bars ``[BARS, 2 * WINDOWS]``."""

    shown: Knowable
    mean: Array
    returns: Array
    deviation: Array
    cost: Array
    usual: Array
    window: Any
    best: Informed

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(str(each) for each in range(WINDOWS))


@jax.jit
def _windows(key: jax.Array) -> tuple[Knowable, Knowable]:
    traits_key, key = jax.random.split(key)
    traits = simulators.draw_traits(traits_key, markets=WINDOWS)

    def simulate(key: jax.Array, traits: simulators.Traits) -> tuple[Knowable, Knowable]:
        made = simulators.simulate_knowable(key, traits, bars=WARMUP + BARS)
        return made, simulators.mirror(made, traits)[0]

    return jax.vmap(simulate)(jax.random.split(key, WINDOWS), traits)


def draw(seed: int) -> Task:
    made, image = _windows(jax.random.key(seed))
    shown = jax.tree.map(lambda one, other: np.concatenate([one, other]), made, image)
    mean, deviation, close, open_ = (
        np.asarray(field)[:, WARMUP:].T
        for field in (shown.mean, shown.deviation, shown.market.close, shown.market.open)
    )
    before = Market(*(field[:, :WARMUP] for field in shown.market))
    cost = np.full(mean.shape, ONE_WAY)
    window = np.tile(np.arange(WINDOWS), 2)
    returns = np.log(close / open_)
    return Task(shown, mean, returns, deviation, cost, usual_move(before), window, informed(mean, cost))


def judged(task: Task, exposure: Array, *, realised: bool = False) -> Skill:
    """Return the skill of exposures ``[BARS, 2 * WINDOWS]``, by what could be known or by what happened."""
    largest = np.maximum.accumulate(np.abs(exposure), axis=0)
    cost = spent(exposure, task.cost) / np.where(largest > 0.0, largest, 1.0)
    if not realised:
        timing = credited(exposure, largest, task.mean)
        return judge_known(timing, cost, task.best, usual=task.usual, window=task.window, families=task.families)
    timing = credited(exposure, largest, task.returns)
    best = informed_moves(task.best, task.usual, task.window)
    return judge(moves(timing, cost, task.usual, task.window), best, task.families)


def moved(task: Task, back: int) -> Array:
    """Return the log-return of the ``back`` bars before each played bar."""
    close = np.log(task.shown.market.close).T
    return close[WARMUP - 1 : -1] - close[WARMUP - 1 - back : -1 - back]


def learnt(task: Task) -> Array:
    """Return the forecasts of the learner, ``[BARS, 2 * WINDOWS]``."""
    market, channels = task.shown.market, task.shown.channels._asdict()
    hours = (np.asarray(market.time) % 86_400 // 3_600).astype(np.int64)
    return np.stack(
        [
            learning.forecasts(
                market.open[index],
                market.close[index],
                {name: values[index] for name, values in channels.items()},
                hours[index],
                WARMUP,
            )
            for index in range(2 * WINDOWS)
        ],
        axis=1,
    )
