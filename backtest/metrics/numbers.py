"""Quotients that may be undefined, and what measures require of their arguments."""

from __future__ import annotations

from statistics import NormalDist

import jax
import jax.numpy as jnp

from pricing.inputs import require
from pricing.signature import checked


@checked
def ratio(numerator: jax.Array, denominator: jax.Array) -> jax.Array:
    """Return a quotient, NaN where the denominator is not above 0."""
    return jnp.where(denominator > 0.0, numerator / jnp.where(denominator > 0.0, denominator, 1.0), jnp.nan)


def equity_path(equity: jax.Array, *, bars: int = 0) -> jax.Array:
    """Return an equity path, known values of which are at least 0 and begin above 0 (NaN passes)."""
    if jnp.ndim(equity) == 0 or equity.shape[-1] < bars + 1:
        wanted = "the initial value" + (" and at least one bar" if bars else "")
        raise ValueError(f"equity must hold {wanted}, got shape {jnp.shape(equity)}")
    require("equity", equity, at_least=0.0)
    require("the initial equity", equity[..., 0], above=0.0)
    return jnp.asarray(equity)


def one_a_bar(values: jax.Array, name: str = "returns") -> jax.Array:
    """Return one number a bar, at least one bar; known ones are finite (NaN passes)."""
    if jnp.ndim(values) == 0 or values.shape[-1] < 1:
        raise ValueError(f"{name} must have shape [..., bars] with at least one bar, got {jnp.shape(values)}")
    require(name, values)
    return jnp.asarray(values)


def require_bars_per_year(bars_per_year: float) -> None:
    """Refuse what is no number of bars per year."""
    if not bars_per_year > 0.0:
        raise ValueError(f"bars_per_year must be a finite number above 0, got {bars_per_year!r}")


def require_level(level: float) -> None:
    """Refuse what is no level of confidence."""
    if not 0.5 <= level < 1.0:
        raise ValueError(f"level must be in [0.5, 1), got {level!r}")


def normal_quantile(chance: float) -> float:
    """Return the quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(chance)
