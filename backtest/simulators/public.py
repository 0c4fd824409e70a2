"""What everybody has seen: from candles and channels to the bar that structures read.

The usual volatility is a moving average that anybody can compute: of absolute returns, each counted up to a few times
the average, so that a jump does not blind the signals for a day.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from backtest.simulators.channels import LEADER_VOLATILITY, PREMIUM_NOISE, PREMIUM_PERSISTENCE, Channels
from backtest.simulators.draws import PER_SIZE
from backtest.simulators.structures import STRUCTURES, Traits
from backtest.simulators.structures.contract import MOST_LAG, Bar, Signal

MEMORY = 0.9
MOST = 4.0
"""Usual sizes that a single return counts for at most."""
FIRST_VOLATILITY = 0.55
"""Usual volatility before the first bar, per year."""
HOUR, DAY = 3600.0, 86_400.0


class Reading(NamedTuple):
    """What a reader of one market remembers.

    Attributes
    ----------
    usual
        Usual standard deviation of a bar's return.
    level
        Logarithm of the last close over the price at the start.
    memories
        Of every structure on the menu.
    due
        ``[MOST_LAG]`` the signals of the drawn structure for the bar to come and those after it, as they can be known.
    hidden
        What the real signal for the bar to come has more.
    """

    usual: jax.Array
    level: jax.Array
    memories: tuple[Any, ...]
    due: jax.Array
    hidden: jax.Array


def begin(menu: tuple[str, ...], years: jax.Array) -> Reading:
    """Return what a reader knows before the first bar; ``years`` is the length of a bar."""
    none = jnp.zeros((), jnp.float32)
    usual = FIRST_VOLATILITY * jnp.sqrt(jnp.asarray(years, jnp.float32))
    return Reading(usual, none, tuple(STRUCTURES[name].init() for name in menu), jnp.zeros(MOST_LAG, jnp.float32), none)


def lean(traits: Traits, menu: tuple[str, ...]) -> jax.Array:
    """Return the most by which a bar's direction leans: P(up) less P(down) where the signal is 1."""
    spread = _chosen([jnp.float32(STRUCTURES[name].spread) for name in menu], traits.kind)
    most: jax.Array = traits.sign * traits.coefficient * PER_SIZE / spread
    return most


def pointing(reading: Reading, traits: Traits, menu: tuple[str, ...]) -> Signal:
    """Return by how much the direction of the bar to come leans: as can be known, and really."""
    most = lean(traits, menu)
    known = reading.due[0]
    return Signal(most * known, most * (known + reading.hidden))


def after(reading: Reading, bar: Bar, change: jax.Array, traits: Traits, menu: tuple[str, ...]) -> Reading:
    """Return what a reader knows after a bar.

    Parameters
    ----------
    bar
        Of which ``surprise``, ``level`` and ``usual`` are filled in here.
    change
        Log-return from the close before, gap included.
    """
    surprise = change / reading.usual
    size = jnp.minimum(jnp.abs(change) * PER_SIZE, MOST * reading.usual)
    usual = MEMORY * reading.usual + (1.0 - MEMORY) * size
    level = reading.level + change
    seen = bar._replace(surprise=surprise, usual=usual, level=level)
    most = lean(traits, menu)
    stepped = [
        STRUCTURES[name].step(memory, seen, traits, most) for name, memory in zip(menu, reading.memories, strict=True)
    ]
    signal = Signal(*(_chosen(list(field), traits.kind) for field in zip(*(made for _, made in stepped), strict=True)))
    # Without the barrier XLA works the signal out again for each place that it is written to.
    signal = lax.optimization_barrier(signal)
    later = jnp.concatenate([reading.due[1:], jnp.zeros(1, jnp.float32)])
    due = jnp.where(traits.lag == jnp.arange(1, MOST_LAG + 1), signal.known, later)
    return Reading(usual, level, tuple(memory for memory, _ in stepped), due, signal.real - signal.known)


def read(
    open_: jax.Array,
    close: jax.Array,
    time: jax.Array,
    channels: Channels,
    traits: Traits,
    *,
    menu: tuple[str, ...],
    bar_seconds: float,
) -> jax.Array:
    """Return the lean of each bar's direction ``[bars]`` for a reader who knows the traits, from what was shown alone.

    Parameters
    ----------
    open_, close, time
        Of the candles, ``[bars]``, from the first bar of the market on.
    """
    years = bar_seconds / (365.0 * DAY)
    before = jnp.concatenate([open_[:1], close[:-1]])
    change = jnp.log(close / before).astype(jnp.float32)
    earlier = jnp.concatenate([jnp.zeros_like(channels.premium[:1]), channels.premium[:-1]])
    zero = jnp.zeros_like(change)
    bars = Bar(
        surprise=zero,
        side=jnp.sign(close - open_).astype(jnp.float32),
        level=zero,
        usual=zero,
        hour=hour_of(time + bar_seconds),
        flow=channels.flow.astype(jnp.float32),
        book=channels.book.astype(jnp.float32),
        premium=((channels.premium - PREMIUM_PERSISTENCE * earlier) / PREMIUM_NOISE).astype(jnp.float32),
        leader=lax.erf(channels.leader / (LEADER_VOLATILITY * (2.0 * years) ** 0.5)).astype(jnp.float32),
        news=channels.news.astype(jnp.float32),
        luck=zero,
    )

    def add(reading: Reading, seen: tuple[Bar, jax.Array]) -> tuple[Reading, jax.Array]:
        return after(reading, *seen, traits, menu), pointing(reading, traits, menu).known

    return lax.scan(add, begin(menu, jnp.asarray(years)), (bars, change))[1]


def hour_of(time: jax.Array) -> jax.Array:
    """Return the hour of the day of a time in seconds, int32."""
    return jnp.floor((time % DAY) / HOUR).astype(jnp.int32)


def _chosen(each: list[jax.Array], number: jax.Array) -> jax.Array:
    chosen = each[0]
    for place in range(1, len(each)):
        chosen = jnp.where(number == place, each[place], chosen)
    return chosen
