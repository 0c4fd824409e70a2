"""Heston variance, Merton jumps (together: Bates 1996) under a hidden regime, with volume and funding.

Full-truncation Euler scheme (Lord, Koekkoek and van Dijk 2010), one step a bar. The range of a bar is drawn from the
extremes of a Brownian bridge between open and close, so highs and lows carry the bar's variance.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from backtest.market import Market

Number: TypeAlias = jax.Array | float
PerRegime: TypeAlias = jax.Array | tuple[float, ...]

YEAR_SECONDS = 365.0 * 86_400.0
FUNDING_SECONDS = 28_800.0


class Parameters(NamedTuple):
    """Parameters of the process; rates are per year of 365 days, log returns.

    The defaults are set so that hourly bars show the figures of ``FACTS`` in ``backtest.simulators.facts``.

    Attributes
    ----------
    start_price, start_volume
        First open, quote currency; typical volume of one bar, base currency.
    drift
        Drift of the price for each regime (calm, usual, turbulent), ``[regimes]``, per year.
    variance
        Long-run variance for each regime, ``[regimes]``, per year.
    jump_rate
        Jumps per year for each regime, ``[regimes]``.
    switch_rate
        Rate of leaving each regime (to any other with equal chance), ``[regimes]``, per year.
    mean_reversion, vol_of_vol, correlation
        Heston: per year; per sqrt(year) of the variance's square root; between return and variance shocks.
    jump_mean, jump_volatility
        Of the log jump.
    volume_persistence, volume_noise
        AR(1) coefficient per bar and shock of log volume.
    volume_to_volatility, volume_to_move
        How much log volume grows with the log of variance, and with a move of one standard deviation.
    premium_mean, premium_persistence, premium_noise, premium_to_return
        Premium of the future over the index, one value each 8 hours: mean; AR(1) coefficient; shock; dependence on the
        log return of the 8 hours.
    funding_interest, funding_clamp, funding_cap
        The venue's rule: ``premium + clip(interest - premium, -clamp, clamp)``, within the cap.
    """

    start_price: Number = 50_000.0
    start_volume: Number = 3_000.0
    drift: PerRegime = (0.3, 0.2, -0.5)
    variance: PerRegime = (0.13, 0.28, 0.9)
    jump_rate: PerRegime = (60.0, 150.0, 500.0)
    switch_rate: PerRegime = (8.0, 7.0, 25.0)
    mean_reversion: Number = 300.0
    vol_of_vol: Number = 14.0
    correlation: Number = -0.3
    jump_mean: Number = -0.002
    jump_volatility: Number = 0.02
    volume_persistence: Number = 0.75
    volume_noise: Number = 0.45
    volume_to_volatility: Number = 0.4
    volume_to_move: Number = 0.25
    premium_mean: Number = 1e-4
    premium_persistence: Number = 0.94
    premium_noise: Number = 1.6e-4
    premium_to_return: Number = 0.004
    funding_interest: Number = 1e-4
    funding_clamp: Number = 5e-4
    funding_cap: Number = 0.0075


DEFAULT_PARAMETERS = Parameters()


class _Process(NamedTuple):
    regime: jax.Array
    variance: jax.Array
    log_volume: jax.Array
    premium: jax.Array
    interval_return: jax.Array


class _Path(NamedTuple):
    """What the scan leaves behind of each bar; all else is computed for all bars at once."""

    variance: jax.Array
    log_return: jax.Array
    log_volume: jax.Array
    premium: jax.Array


@partial(jax.jit, static_argnames=("bars",))
def simulate(
    key: jax.Array,
    *,
    bars: int,
    parameters: Parameters = DEFAULT_PARAMETERS,
    bar_seconds: float = 3600.0,
    start_time: float = 1_600_000_000.0,
) -> Market:
    """Return one market ``[bars]``, float64. ``vmap`` over keys for a batch.

    Parameters
    ----------
    key
        Random key; the same key, parameters and jax version give the same market.
    bars
        Number of bars.
    bar_seconds, start_time
        Length of a bar and open time of the first, seconds; the first is moved back to a multiple of 8 hours.

    Notes
    -----
    Random numbers are drawn in float32, three times as fast: a grid of 1e-7 standard deviations, cut at 5.4 of them.
    """
    values = Parameters(*(jnp.asarray(value, jnp.float64) for value in parameters))
    dt = jnp.asarray(bar_seconds / YEAR_SECONDS, jnp.float64)
    normal_key, uniform_key = jax.random.split(key)
    normals = jax.random.normal(normal_key, (5, bars), jnp.float32)
    uniforms = jax.random.uniform(uniform_key, (5, bars), jnp.float32)
    time = jnp.floor(start_time / FUNDING_SECONDS) * FUNDING_SECONDS + bar_seconds * jnp.arange(bars)
    pays = jnp.floor(time / FUNDING_SECONDS) != jnp.floor((time - bar_seconds) / FUNDING_SECONDS)
    # Leaving to every other regime with equal chance, the share of time in one is inverse to its rate of leaving.
    regime = jax.random.categorical(jax.random.fold_in(key, 1), -jnp.log(jnp.asarray(values.switch_rate)))
    zero = jnp.zeros(())
    start = _Process(regime, _of_regime(values.variance, regime), zero, zero, zero)
    _, path = lax.scan(partial(_bar, p=values, dt=dt), start, (normals.T, uniforms[:3].T, pays))
    return _candles(path, time, pays, uniforms[3:], values, dt)


def _of_regime(values: PerRegime, regime: jax.Array) -> jax.Array:
    """Return the value of a regime: for a handful of them, selections are faster than a look-up."""
    each = jnp.asarray(values)
    chosen = each[0]
    for number in range(1, each.size):
        chosen = jnp.where(regime == number, each[number], chosen)
    return chosen


def _bar(
    process: _Process, inputs: tuple[jax.Array, jax.Array, jax.Array], *, p: Parameters, dt: jax.Array
) -> tuple[_Process, _Path]:
    z, u, pays = inputs
    leaves = -jnp.expm1(-jnp.asarray(p.switch_rate) * dt)
    jumps = -jnp.expm1(-jnp.asarray(p.jump_rate) * dt)
    regimes = jnp.asarray(p.variance).size
    other = (process.regime + 1 + jnp.floor(u[1] * (regimes - 1)).astype(process.regime.dtype)) % regimes
    regime = jnp.where(u[0] < _of_regime(leaves, process.regime), other, process.regime)
    positive = jnp.maximum(process.variance, 0.0)
    deviation = jnp.sqrt(positive * dt)
    shock = p.correlation * z[0] + jnp.sqrt(1.0 - p.correlation**2) * z[1]
    variance = process.variance + p.mean_reversion * (_of_regime(p.variance, regime) - positive) * dt
    variance = variance + p.vol_of_vol * deviation * shock
    jump = jnp.where(u[2] < _of_regime(jumps, regime), p.jump_mean + p.jump_volatility * z[2], 0.0)
    log_return = (_of_regime(p.drift, regime) - 0.5 * positive) * dt + deviation * z[0] + jump
    log_volume = p.volume_persistence * process.log_volume + p.volume_noise * z[3]
    pushed = p.premium_persistence * process.premium + p.premium_noise * z[4]
    premium = jnp.where(pays, pushed + p.premium_to_return * process.interval_return, process.premium)
    interval_return = jnp.where(pays, 0.0, process.interval_return) + log_return
    return _Process(regime, variance, log_volume, premium, interval_return), _Path(
        positive, log_return, log_volume, premium
    )


def _candles(
    path: _Path, time: jax.Array, pays: jax.Array, uniforms: jax.Array, p: Parameters, dt: jax.Array
) -> Market:
    """Return the candles of a path: range from the extremes of a Brownian bridge, volume and funding."""
    log_return = path.log_return
    close = p.start_price * jnp.exp(jnp.cumsum(log_return))
    open_ = jnp.concatenate([jnp.full((1,), p.start_price), close[:-1]])
    move, spread = log_return.astype(jnp.float32), (path.variance * dt).astype(jnp.float32)
    up, down = (jnp.sqrt(move**2 - 2.0 * spread * jnp.log1p(-uniform)) for uniform in uniforms)
    above = jnp.maximum(0.5 * (move + up) - jnp.maximum(move, 0.0), 0.0)
    below = jnp.maximum(0.5 * (down - move) + jnp.minimum(move, 0.0), 0.0)
    usual = jnp.mean(jnp.asarray(p.variance))
    heat = jnp.maximum(path.variance / usual, 0.01).astype(jnp.float32)
    size = jnp.minimum(jnp.abs(move) / jnp.sqrt(heat * (usual * dt).astype(jnp.float32)), 8.0)
    busy = p.volume_to_volatility * jnp.log(heat) + p.volume_to_move * size + path.log_volume
    return Market(
        time=time,
        open=open_,
        high=jnp.maximum(open_, close) * jnp.exp(above),
        low=jnp.minimum(open_, close) * jnp.exp(-below),
        close=close,
        volume=p.start_volume * jnp.exp(busy.astype(jnp.float32)),
        funding_rate=jnp.where(pays, funding_rate(path.premium + p.premium_mean, p), 0.0),
    )


def funding_rate(premium: jax.Array, p: Parameters) -> jax.Array:
    """Return the rate that the venue makes of a premium: the interest, while the premium is not far from it."""
    away = p.funding_interest - premium
    rate = jnp.where(jnp.abs(away) <= p.funding_clamp, p.funding_interest, premium + jnp.sign(away) * p.funding_clamp)
    return jnp.clip(rate, -p.funding_cap, p.funding_cap)
