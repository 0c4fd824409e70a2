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
    log_price: jax.Array
    log_volume: jax.Array
    premium: jax.Array
    interval_return: jax.Array


class _Draws(NamedTuple):
    normals: jax.Array
    uniforms: jax.Array


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
    """
    values = Parameters(*(jnp.asarray(value, jnp.float64) for value in parameters))
    dt = jnp.asarray(bar_seconds / YEAR_SECONDS, jnp.float64)
    normal_key, uniform_key = jax.random.split(key)
    draws = _Draws(jax.random.normal(normal_key, (bars, 5)), jax.random.uniform(uniform_key, (bars, 5)))
    time = jnp.floor(start_time / FUNDING_SECONDS) * FUNDING_SECONDS + bar_seconds * jnp.arange(bars)
    pays = jnp.floor(time / FUNDING_SECONDS) != jnp.floor((time - bar_seconds) / FUNDING_SECONDS)
    variances = jnp.asarray(values.variance)
    # Leaving to every other regime with equal chance, the share of time in one is inverse to its rate of leaving.
    regime = jax.random.categorical(jax.random.fold_in(key, 1), -jnp.log(jnp.asarray(values.switch_rate)))
    zero = jnp.zeros(())
    start = _Process(regime, variances[regime], jnp.log(values.start_price), zero, zero, zero)
    _, candles = lax.scan(partial(_bar, parameters=values, dt=dt), start, (draws, pays))
    return Market(time, *candles)


def _bar(
    process: _Process, inputs: tuple[_Draws, jax.Array], *, parameters: Parameters, dt: jax.Array
) -> tuple[_Process, tuple[jax.Array, ...]]:
    draws, pays = inputs
    z, u = draws
    p = parameters
    regime = _next_regime(process.regime, u[0], u[1], p, dt)
    positive = jnp.maximum(process.variance, 0.0)
    deviation = jnp.sqrt(positive * dt)
    variance_shock = p.correlation * z[0] + jnp.sqrt(1.0 - p.correlation**2) * z[1]
    variance = process.variance + p.mean_reversion * (p.variance[regime] - positive) * dt
    variance = variance + p.vol_of_vol * deviation * variance_shock
    jumped = u[2] < -jnp.expm1(-p.jump_rate[regime] * dt)
    jump = jnp.where(jumped, p.jump_mean + p.jump_volatility * z[2], 0.0)
    moved = (p.drift[regime] - 0.5 * positive) * dt + deviation * z[0]
    log_return = moved + jump
    swing = jnp.sqrt(log_return**2 - 2.0 * deviation**2 * jnp.log(jnp.stack([1.0 - u[3], 1.0 - u[4]])))
    high = process.log_price + 0.5 * (log_return + swing[0])
    low = process.log_price + 0.5 * (log_return - swing[1])
    close = process.log_price + log_return
    usual = jnp.mean(jnp.asarray(p.variance))
    heat = 0.5 * jnp.log(jnp.maximum(positive, 0.01 * usual) / usual)
    move = jnp.abs(log_return) / jnp.sqrt(jnp.maximum(positive, 0.01 * usual) * dt)
    log_volume = p.volume_persistence * process.log_volume + p.volume_noise * z[3]
    busy = p.volume_to_volatility * 2.0 * heat + p.volume_to_move * jnp.minimum(move, 8.0)
    volume = p.start_volume * jnp.exp(log_volume + busy)
    shock = p.premium_noise * z[4] + p.premium_to_return * process.interval_return
    premium = jnp.where(pays, p.premium_persistence * process.premium + shock, process.premium)
    funding = jnp.where(pays, funding_rate(premium + p.premium_mean, p), 0.0)
    interval_return = jnp.where(pays, 0.0, process.interval_return) + log_return
    candle = (jnp.exp(process.log_price), jnp.exp(high), jnp.exp(low), jnp.exp(close))
    after = _Process(regime, variance, close, log_volume, premium, interval_return)
    return after, (*_ordered(*candle), volume, funding)


def funding_rate(premium: jax.Array, p: Parameters) -> jax.Array:
    """Return the rate that the venue makes of a premium: the interest, while the premium is not far from it."""
    away = p.funding_interest - premium
    rate = jnp.where(jnp.abs(away) <= p.funding_clamp, p.funding_interest, premium + jnp.sign(away) * p.funding_clamp)
    return jnp.clip(rate, -p.funding_cap, p.funding_cap)


def _ordered(open_: jax.Array, high: jax.Array, low: jax.Array, close: jax.Array) -> tuple[jax.Array, ...]:
    """Undo the last-digit rounding that could put a close above its high."""
    return open_, jnp.maximum(high, jnp.maximum(open_, close)), jnp.minimum(low, jnp.minimum(open_, close)), close


def _next_regime(regime: jax.Array, leave: jax.Array, where: jax.Array, p: Parameters, dt: jax.Array) -> jax.Array:
    regimes = jnp.asarray(p.variance).size
    steps = 1 + jnp.floor(where * (regimes - 1)).astype(regime.dtype)
    return jnp.where(leave < -jnp.expm1(-p.switch_rate[regime] * dt), (regime + steps) % regimes, regime)
