"""What a declared strategy may make of the series that it is shown: lags, signs, products, sums, beliefs.

A formula has a memory and one update a bar, like an indicator, but reads any operands and not the candles alone. It is
NaN until it has seen enough bars. A few small ones say every structure of ``backtest.simulators``
(``evaluators.crypto.venue_strategy``), and much else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp

from backtest.simulators.draws import PER_SIZE
from native.windows import greatest_of, least_of, push, ring

Memory: TypeAlias = Any
HOURS = 24
MOST_SIZES = 4.0
"""Usual sizes that a single return counts for at most in what is usual."""


class Formula(NamedTuple):
    """A formula over streams, elementwise.

    Attributes
    ----------
    init
        An array of the shape of the operands -> memory.
    update
        ``(memory, *operands) -> (memory, value)``; the operands are those of the :class:`Kind`, then what it reads of
        itself.
    """

    init: Callable[[jax.Array], Memory]
    update: Callable[..., tuple[Memory, jax.Array]]


@dataclass(frozen=True)
class Kind:
    """One kind of formula, as an agent writes it.

    Attributes
    ----------
    make
        Takes the numbers by name and returns the formula.
    operands
        Keys whose values are a number, a series, or something that was named before.
    numbers
        Keys whose values are numbers, with their ranges.
    whole
        Those of ``numbers`` that are whole.
    defaults
        Of keys that may be left out.
    hours
        Whether there is a key ``values`` besides, of 24 numbers.
    reads
        Series that it reads of itself, after its operands.
    text
        What it is, for the agent.
    """

    make: Callable[..., Formula]
    text: str
    operands: tuple[str, ...] = ()
    numbers: tuple[tuple[str, float, float], ...] = ()
    whole: tuple[str, ...] = ()
    defaults: tuple[tuple[str, float], ...] = ()
    hours: bool = False
    reads: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key beside ``type``."""
        return (*self.operands, *self.numbered)

    @property
    def numbered(self) -> tuple[str, ...]:
        """Keys of what ``make`` takes."""
        return (*(name for name, _, _ in self.numbers), *(("values",) if self.hours else ()))


def _nothing(like: jax.Array) -> tuple[()]:
    return ()


def _pure(value: Callable[..., jax.Array]) -> Formula:
    """Return a formula that remembers nothing."""
    return Formula(_nothing, lambda memory, *operands: (memory, value(*operands)))


@cache
def lag(*, bars: int) -> Formula:
    """Return what ``of`` was so many bars before."""

    def update(memory: tuple[jax.Array, ...], of: jax.Array) -> tuple[Memory, jax.Array]:
        return (of, *memory[:-1]), memory[-1]

    # Single values and no ring: their oldest is read by its place, which the compiled loops of a sweep cannot do.
    return Formula(lambda like: (jnp.full_like(like, jnp.nan),) * bars, update)


@cache
def sign() -> Formula:
    """Return 1, -1 or 0."""
    return _pure(jnp.sign)


@cache
def product() -> Formula:
    """Return ``of * by``."""
    return _pure(lambda of, by: of * by)


@cache
def sum_of(*, weight: float) -> Formula:
    """Return ``of + weight * plus``."""
    return _pure(lambda of, plus: of + weight * plus)


@cache
def clip(*, scale: float) -> Formula:
    """Return ``of * scale``, cut to -1 and 1."""
    return _pure(lambda of: jnp.clip(of * scale, -1.0, 1.0))


@cache
def mean(*, window: int) -> Formula:
    """Return the exponential mean with weight ``2 / (window + 1)``, from the first value that is known."""
    weight = 2.0 / (window + 1.0)

    def update(memory: jax.Array, of: jax.Array) -> tuple[Memory, jax.Array]:
        moved = jnp.where(jnp.isnan(memory), of, memory + weight * (of - memory))
        value = jnp.where(jnp.isnan(of), memory, moved)
        return value, value

    return Formula(lambda like: jnp.full_like(like, jnp.nan), update)


@cache
def hours(*, values: tuple[float, ...]) -> Formula:
    """Return the number of the hour of the day at which the next bar opens."""

    def value(next_hour: jax.Array) -> jax.Array:
        chosen = jnp.full_like(next_hour, values[0])
        for hour, number in enumerate(values[1:], start=1):
            chosen = jnp.where(next_hour == hour, number, chosen)
        return chosen

    return _pure(value)


@cache
def agreement(*, strength: float, switching: float) -> Formula:
    """Return the belief, -1 to 1, that the next bar goes the way of ``of``'s sign and not the other, by Bayes.

    Of two states the one lets a bar's side agree with the sign of ``of`` a bar before, the other disagree, each by
    ``strength``; the state changes with probability ``switching`` from bar to bar.
    """

    def update(memory: tuple[jax.Array, jax.Array], of: jax.Array, move: jax.Array) -> tuple[Memory, jax.Array]:
        belief, before = memory
        evidence = strength * before * jnp.sign(move)
        learnt = (1.0 - 2.0 * switching) * (belief + evidence) / (1.0 + belief * evidence)
        return (learnt, jnp.where(jnp.isnan(of), 0.0, jnp.sign(of))), learnt

    return Formula(lambda like: (jnp.zeros_like(like), jnp.zeros_like(like)), update)


class _Usual(NamedTuple):
    close: jax.Array
    size: jax.Array


def _begun(like: jax.Array) -> _Usual:
    return _Usual(jnp.full_like(like, jnp.nan), jnp.full_like(like, jnp.nan))


def _move(memory: _Usual, close: jax.Array, window: int) -> tuple[_Usual, jax.Array]:
    """Return the usual size with one more bar, and the log return from the close before."""
    change = jnp.log(close / memory.close)
    size = PER_SIZE * jnp.abs(change)
    weight = 2.0 / (window + 1.0)
    grown = memory.size + weight * (jnp.minimum(size, MOST_SIZES * memory.size) - memory.size)
    usual = jnp.where(memory.size > 0.0, grown, size)
    return _Usual(close, jnp.where(jnp.isnan(change), memory.size, usual)), change


@cache
def surprise(*, window: int) -> Formula:
    """Return the log return from close to close, in usual deviations (an exponential mean of sizes until then)."""

    def update(memory: _Usual, close: jax.Array) -> tuple[Memory, jax.Array]:
        after, change = _move(memory, close, window)
        return after, jnp.where(memory.size > 0.0, change / memory.size, jnp.nan)

    return Formula(_begun, update)


USUAL_WINDOW = 19


@cache
def beyond(*, window: int) -> Formula:
    """Return how far the close is above the highest close before (negative: below the lowest), in deviations."""

    def update(memory: tuple[_Usual, Memory], close: jax.Array) -> tuple[Memory, jax.Array]:
        usual, closes = memory
        after, _ = _move(usual, close, USUAL_WINDOW)
        above = jnp.maximum(jnp.log(close / greatest_of(closes)), 0.0)
        below = jnp.maximum(jnp.log(least_of(closes) / close), 0.0)
        size = jnp.where(after.size > 0.0, after.size, jnp.nan)
        return (after, push(closes, close)), (above - below) / size

    return Formula(lambda like: (_begun(like), ring(like, window)), update)


FORMULAS: dict[str, Kind] = {
    "lag": Kind(lag, "what of was so many bars before", ("of",), (("bars", 1, 48),), ("bars",)),
    "sign": Kind(sign, "1, -1 or 0", ("of",)),
    "product": Kind(product, "of times by", ("of", "by")),
    "sum": Kind(sum_of, "of + weight * plus", ("of", "plus"), (("weight", -1e6, 1e6),), defaults=(("weight", 1.0),)),
    "clip": Kind(clip, "of * scale cut to -1 and 1", ("of",), (("scale", -1e6, 1e6),), defaults=(("scale", 1.0),)),
    "mean": Kind(mean, "exponential mean", ("of",), (("window", 1, 500),), ("window",)),
    "hours": Kind(
        hours, "values[h] with h the hour (0 to 23) at which the next bar opens", hours=True, reads=("next_hour",)
    ),
    "agreement": Kind(
        agreement,
        "belief, -1 to 1, that the next bar goes the way of of's sign rather than the other, by Bayes: in one of two "
        "states sides agree with of of the bar before, in the other they disagree, by strength = P(agree) - "
        "P(disagree); the state changes with probability switching a bar",
        ("of",),
        (("strength", 0.0, 0.99), ("switching", 0.0, 0.5)),
        reads=("move",),
    ),
    "surprise": Kind(
        surprise,
        "log-return from the close before, over its usual deviation until then",
        numbers=(("window", 2, 500),),
        whole=("window",),
        defaults=(("window", USUAL_WINDOW),),
        reads=("close",),
    ),
    "beyond": Kind(
        beyond,
        "how far the close is above the highest of so many closes before it, negative: below the lowest, else 0; in "
        "usual deviations",
        numbers=(("window", 1, 500),),
        whole=("window",),
        reads=("close",),
    ),
}
"""Kinds of formulas by the name that agents write."""
