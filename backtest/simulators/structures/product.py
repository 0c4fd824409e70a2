"""Two things at once: the side of one signal times the side of another. Each by itself says nothing."""

from __future__ import annotations

from itertools import combinations

import jax
import jax.numpy as jnp

from backtest.simulators.structures.contract import Bar, Signal, Structure, Traits, nothing, open_signal

FACTORS = ("side", "flow", "book", "leader")
PAIRS = tuple(combinations(FACTORS, 2))


def _step(state: tuple[()], bar: Bar, traits: Traits, lean: jax.Array) -> tuple[tuple[()], Signal]:
    products = [jnp.sign(getattr(bar, one) * getattr(bar, other)) for one, other in PAIRS]
    chosen = products[0]
    for number, product in enumerate(products[1:], start=1):
        chosen = jnp.where(traits.choice == number, product, chosen)
    return state, open_signal(chosen)


PRODUCT = Structure(nothing, _step, parity="even", lags=(1, 2), choices=len(PAIRS), spread=1.0)
