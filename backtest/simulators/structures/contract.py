"""What a kind of knowledge is: a signal in [-1, 1] of what was shown, which leans the direction of a later bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

MOST_LAG = 8
"""Bars from a signal to the return that depends on it, at most."""


class Traits(NamedTuple):
    """What one market was drawn with, fields ``[]`` or ``[markets]``. Hidden from agents.

    Attributes
    ----------
    kind
        Which structure, by its number in the menu.
    lag
        Bars from the signal to the return that depends on it; 1 is the next bar.
    choice
        Which of the structure's variants: an hour, a pair of signals.
    sign
        1.0, or -1.0 where the same signal means the opposite.
    coefficient
        Information coefficient of who reads the structure perfectly: the correlation of the conditional mean with the
        return of a bar of given volatility.
    """

    kind: jax.Array
    lag: jax.Array
    choice: jax.Array
    sign: jax.Array
    coefficient: jax.Array


class Bar(NamedTuple):
    """What everybody has seen of a bar once it is over, and one number that nobody sees, float32.

    Attributes
    ----------
    surprise
        Log-return from the close before, over the volatility that was usual until then.
    side
        1 where the bar closed above its open, -1 where below, 0 where at it.
    level
        Logarithm of the close over the price at the start.
    usual
        Usual size of a bar's return, this bar included.
    hour
        Hour of the day at which the next bar begins.
    flow, book, premium, leader
        The news in the channel of that name, uniform on (-1, 1).
    news
        The announcement: -1, 0 or 1.
    luck
        Uniform on (-1, 1), for what a structure keeps hidden.
    """

    surprise: jax.Array
    side: jax.Array
    level: jax.Array
    usual: jax.Array
    hour: jax.Array
    flow: jax.Array
    book: jax.Array
    premium: jax.Array
    leader: jax.Array
    news: jax.Array
    luck: jax.Array


class Signal(NamedTuple):
    """Where a signal points, in [-1, 1].

    Attributes
    ----------
    known
        Its mean given all that was shown.
    real
        What the market follows: the same, unless the structure keeps something hidden.
    """

    known: jax.Array
    real: jax.Array


@dataclass(frozen=True)
class Structure:
    """One kind of knowledge.

    Attributes
    ----------
    init
        Returns the state before the first bar.
    step
        ``(state, bar, traits, lean) -> (state, signal)``, elementwise; ``lean`` is the most by which the direction of
        a bar leans, signed.
    parity
        What the signal of the mirror image is: ``odd`` its negative, ``even`` the same.
    lags
        Lags to draw from. Signals that hold the bar's own return begin late, or returns were autocorrelated at one
        bar; those that hide something have lag 1 only.
    choices
        Number of variants.
    spread
        Root mean square of ``known``, as measured over markets with the middle of the coefficients.
    """

    init: Callable[[], Any]
    step: Callable[[Any, Bar, Traits, jax.Array], tuple[Any, Signal]]
    parity: Literal["odd", "even"]
    lags: tuple[int, ...]
    choices: int
    spread: float


def of_the_bar(signal: Callable[[Bar], jax.Array]) -> Callable[[Any, Bar, Traits, jax.Array], tuple[Any, Signal]]:
    """Return the step of a structure that needs nothing but the bar itself."""

    def step(state: Any, bar: Bar, traits: Traits, lean: jax.Array) -> tuple[Any, Signal]:
        return state, open_signal(signal(bar))

    return step


def open_signal(known: jax.Array) -> Signal:
    """Return the signal of a structure that hides nothing."""
    return Signal(known, known)


def nothing() -> tuple[()]:
    """Return the state of a structure that remembers nothing."""
    return ()


def firm(number: jax.Array) -> jax.Array:
    """Return a number of (-1, 1) times 1.5, cut at the ends: most bars say much, so that some dozens teach it."""
    return jnp.clip(1.5 * number, -1.0, 1.0)


FIRM_SPREAD = (5.0 / 9.0) ** 0.5
"""Root mean square of ``firm`` of a uniform number."""
