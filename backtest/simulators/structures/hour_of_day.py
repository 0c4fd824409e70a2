"""The hour: a fixed rhythm of rising and falling hours, begun at an hour of the market's own."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from backtest.simulators.structures.contract import Bar, Signal, Structure, Traits, nothing, open_signal

RHYTHM = "-+++++--++----+--++-+-+-"
"""Balanced, uncorrelated with itself an hour later, and by at most a sixth at any other lag but the whole day: found by
search among balanced rhythms of 24, so that no fixed look-back sees it."""
_UP = sum(1 << hour for hour, mark in enumerate(RHYTHM) if mark == "+")


def _step(state: tuple[()], bar: Bar, traits: Traits, lean: jax.Array) -> tuple[tuple[()], Signal]:
    place = (bar.hour + traits.choice) % len(RHYTHM)
    up = (jnp.int32(_UP) >> place.astype(jnp.int32)) & 1
    return state, open_signal(jnp.where(up == 1, 1.0, -1.0).astype(jnp.float32))


HOUR_OF_DAY = Structure(nothing, _step, parity="even", lags=(1,), choices=len(RHYTHM), spread=1.0)
