"""A surface of SVI curves: total variance between them, and the figures that traders read off it.

Between two expiries total variance is linear in time at a fixed log-moneyness against the forward, which keeps calendar
spreads free of arbitrage when the curves are. Before the first expiry volatility is that of the first, beyond the last
that of the last. Forwards are linear in log between expiries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike

from pricing import normal
from pricing.inputs import require
from pricing.signature import checked, labelled
from pricing.surface.svi import SVI, svi_total_variance


class Surface(NamedTuple):
    """Curves by expiry.

    Attributes
    ----------
    time
        Years to each expiry, ascending, shape ``[expiries]``.
    forward
        Forward of the underlying at each expiry, shape ``[expiries]``.
    curve
        SVI parameters, each of shape ``[expiries]``.
    """

    time: jax.Array
    forward: jax.Array
    curve: SVI

    @classmethod
    @checked
    def of(cls, *, time: Sequence[float], forward: Sequence[float], curves: Sequence[SVI]) -> Surface:
        """Collect curves; ``ValueError`` when times are not ascending and positive or the lengths differ."""
        times, forwards = np.ravel(time), np.ravel(forward)
        if not times.size == forwards.size == len(curves) or not times.size:
            raise ValueError(
                f"time, forward, curves must have one length, got {times.size}, {forwards.size}, {len(curves)}"
            )
        if not (np.diff(times, prepend=0.0) > 0.0).all():
            raise ValueError(f"time must be positive and ascending, got {times.tolist()}")
        require("forward", forwards, above=0.0, missing=False)
        stacked = SVI(*(jnp.stack([jnp.asarray(c[i]) for c in curves]) for i in range(5)))
        return cls(jnp.asarray(times, float), jnp.asarray(forwards, float), stacked)


@labelled
def total_variance(surface: Surface, log_moneyness: ArrayLike, time: ArrayLike) -> jax.Array:
    """Total variance at any log-moneyness and time > 0 (``ValueError``), which broadcast."""
    require("time", time, above=0.0)
    variance: jax.Array = _total_variance(surface, jnp.asarray(log_moneyness, float), jnp.asarray(time, float))
    return variance


@jax.jit
def _total_variance(surface: Surface, log_moneyness: jax.Array, time: jax.Array) -> jax.Array:
    k, t = jnp.broadcast_arrays(log_moneyness, time)
    last = surface.time.size - 1
    after = jnp.clip(jnp.searchsorted(surface.time, t), 0, last)
    before = jnp.clip(after - 1, 0, last)
    low = svi_total_variance(SVI(*(p[before] for p in surface.curve)), k)
    high = svi_total_variance(SVI(*(p[after] for p in surface.curve)), k)
    t0, t1 = surface.time[before], surface.time[after]
    share = jnp.where(after == before, 0.0, (t - t0) / jnp.where(after == before, 1.0, t1 - t0))
    inside = low + share * (high - low)
    beyond = jnp.where(t > surface.time[-1], high * (t / t1), inside)
    return jnp.where(t < surface.time[0], low * (t / surface.time[0]), beyond)


@labelled
def forward_at(surface: Surface, time: ArrayLike) -> jax.Array:
    """Forward of the underlying, constant outside the expiries."""
    return jnp.exp(jnp.interp(jnp.asarray(time, float), surface.time, jnp.log(surface.forward)))


@labelled
def volatility(surface: Surface, strike: ArrayLike, time: ArrayLike) -> jax.Array:
    """Black volatility at ``strike`` > 0 and ``time`` > 0 (``ValueError``), which broadcast."""
    require("strike", strike, above=0.0)
    k = jnp.log(jnp.asarray(strike, float) / forward_at(surface, time))
    return jnp.sqrt(total_variance(surface, k, time) / jnp.asarray(time, float))


@labelled
def at_the_money_volatility(surface: Surface, time: ArrayLike) -> jax.Array:
    """Volatility where strike equals forward: the term structure."""
    return jnp.sqrt(total_variance(surface, jnp.zeros_like(jnp.asarray(time, float)), time) / jnp.asarray(time, float))


@checked
def skew(surface: Surface, time: float) -> jax.Array:
    """Slope of volatility in log-moneyness at the money: negative where low strikes cost more."""
    slope: jax.Array = jax.grad(lambda k: jnp.sqrt(total_variance(surface, k, time) / time))(0.0)
    return slope


@checked
def strike_at_delta(surface: Surface, delta: float, time: float) -> jax.Array:
    """Strike whose option has the given forward delta: positive for calls, negative for puts.

    The fixed point of strike and volatility, by bisection on the standardised distance. ``ValueError`` unless
    0 < abs(delta) < 1.
    """
    if not 0.0 < abs(delta) < 1.0:
        raise ValueError(f"delta must be between 0 and 1 (calls) or -1 and 0 (puts), got {delta!r}")
    of_call = jnp.asarray(delta if delta > 0.0 else 1.0 + delta)
    strike: jax.Array = forward_at(surface, time) * jnp.exp(
        _log_moneyness_at_delta(surface, of_call, jnp.asarray(time, float))
    )
    return strike


@jax.jit
def _log_moneyness_at_delta(surface: Surface, of_call: jax.Array, time: jax.Array) -> jax.Array:
    def halve(_: int, ends: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        low, high = ends
        k = 0.5 * (low + high)
        variance = _total_variance(surface, k, time)
        deviation = jnp.sqrt(variance)
        too_low = normal.cdf(-k / deviation + 0.5 * deviation) > of_call
        return jnp.where(too_low, k, low), jnp.where(too_low, high, k)

    low, high = jax.lax.fori_loop(0, 60, halve, (jnp.asarray(-5.0), jnp.asarray(5.0)))
    middle: jax.Array = 0.5 * (low + high)
    return middle


@checked
def risk_reversal(surface: Surface, time: float, delta: float = 0.25) -> jax.Array:
    """Volatility of the call less that of the put with the given absolute delta."""
    call, put = (volatility(surface, strike_at_delta(surface, d, time), time) for d in (delta, -delta))
    return call - put
