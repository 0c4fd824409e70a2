"""Heston variance, Merton jumps (together: Bates 1996) under a hidden regime, with volume and funding.

Full-truncation Euler scheme (Lord, Koekkoek and van Dijk 2010), one step a bar. The range of a bar is drawn from the
extremes of a Brownian bridge between open and close, so highs and lows carry the bar's variance.

A jump happens between one bar's close and the next bar's open. Within a bar the path is continuous, so a stop there
fills at its level, which is fair; a jump within the bar would be a path through every price on its way, and a stop
would sell in the middle of a fall that nobody could sell in. Real hourly perpetual candles hardly gap (Binance BTCUSDT
and ETHUSDT 2023 to 2026: half of the opens equal the close before, 99.9% lie within a basis point, gaps make 1e-4 of
the variance): their jumps are fast moves within an hour. The simulator draws these as gaps because a candle cannot say
that nobody traded between two prices.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax

from backtest.market import YEAR_SECONDS, Market
from backtest.simulators.draws import Draws, draw
from pricing.inputs import require
from pricing.signature import checked, requires

Number: TypeAlias = jax.Array | float
PerRegime: TypeAlias = jax.Array | tuple[float, ...]

FUNDING_SECONDS = 28_800.0


class Parameters(NamedTuple):
    """Parameters of the process; rates are per year of 365 days, log returns.

    The defaults are set so that hourly bars show the figures of ``FACTS`` in ``backtest.simulators.facts``.

    Attributes
    ----------
    start_price, start_volume
        Price before the first bar (its open, unless it opens with a jump), quote currency; typical volume of one bar,
        base currency.
    drift
        Drift of the price for each regime (calm, usual, turbulent), ``[regimes]``, per year.
    convexity
        Share of the variance that the log price loses: 0.5 makes ``drift`` the drift of the price, 0 that of its
        logarithm.
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
    convexity: Number = 0.5
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

FAIR_PARAMETERS = DEFAULT_PARAMETERS._replace(drift=(0.0, 0.0, 0.0), convexity=0.0, jump_mean=0.0)
"""Markets in which the log return of every bar and of every gap has expectation 0 given all that came before.

Whoever knew which of two mirror images was drawn, and in which regime, would still know no direction."""

_PER_REGIME = ("drift", "variance", "jump_rate", "switch_rate")
_ABOVE_ZERO = ("start_price", "start_volume", "variance", "switch_rate", "mean_reversion")
_NOT_NEGATIVE = (
    "jump_rate",
    "vol_of_vol",
    "jump_volatility",
    "volume_noise",
    "premium_noise",
    "funding_clamp",
    "funding_cap",
)


class Process(NamedTuple):
    """Where a market stands between two bars. ``price`` is the last close; variance, volume and premium are hidden."""

    regime: jax.Array
    variance: jax.Array
    log_volume: jax.Array
    premium: jax.Array
    interval_return: jax.Array
    price: jax.Array


class Path(NamedTuple):
    """What the scan leaves behind of each bar; all else is computed for a block of bars at once."""

    variance: jax.Array
    jump: jax.Array
    move: jax.Array
    log_volume: jax.Array
    premium: jax.Array
    open: jax.Array
    close: jax.Array


def require_possible(
    key: jax.Array,
    *,
    bars: int,
    parameters: Parameters = DEFAULT_PARAMETERS,
    bar_seconds: float = 3600.0,
    start_time: float = 1_600_000_000.0,
) -> None:
    """Raise ``ValueError`` for what no market can be made of; the arguments are those of :func:`simulate`."""
    if bars < 1:
        raise ValueError(f"bars must be at least 1, got {bars}")
    require("bar_seconds", bar_seconds, above=0.0)
    for name, value in parameters._asdict().items():
        above, at_least = 0.0 if name in _ABOVE_ZERO else None, 0.0 if name in _NOT_NEGATIVE else None
        for each in value if isinstance(value, tuple) else (value,):
            require(f"parameters.{name}", each, above=above, at_least=at_least, missing=False)
    require("parameters.correlation", parameters.correlation, at_least=-1.0)
    require("minus parameters.correlation", -jnp.asarray(parameters.correlation), at_least=-1.0)
    regimes = {name: jnp.size(jnp.asarray(getattr(parameters, name))) for name in _PER_REGIME}
    if len(set(regimes.values())) != 1:
        raise ValueError(f"parameters must have one value for each regime, got {regimes}")


@checked
@requires(require_possible)
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
        Random key; the same key, number of bars, parameters and jax version give the same market.
    bars
        Number of bars.
    bar_seconds, start_time
        Length of a bar and open time of the first, seconds; the first is moved back to a multiple of 8 hours.

    Notes
    -----
    Random numbers (their grids: ``draws.Draws``) and returns are float32, prices are summed up in float64: a return is
    right to 1e-7 of itself. Bars are made in blocks that fit into the cache, which is twice as fast as all at once.

    Raises
    ------
    ValueError
        When there is no bar, or a parameter known before tracing is out of its range.
    """
    exact = Parameters(*(jnp.asarray(value, jnp.float64) for value in parameters))
    single = Parameters(*(jnp.asarray(value, jnp.float32) for value in exact))
    dt = jnp.asarray(bar_seconds / YEAR_SECONDS, jnp.float32)
    block = block_bars(bars)
    blocks = -(-bars // block)
    first_time = jnp.floor(start_time / FUNDING_SECONDS) * FUNDING_SECONDS
    regime_key, path_key = jax.random.split(key)
    process = begin(regime_key, single)._replace(price=jnp.asarray(exact.start_price))

    def add(carry: tuple[Process, Market], number: jax.Array) -> tuple[tuple[Process, Market], None]:
        before, made = carry
        drawn = draw(jax.random.fold_in(path_key, number), block)
        time = first_time + bar_seconds * (number * block + jnp.arange(block))
        pays = jnp.floor(time / FUNDING_SECONDS) != jnp.floor((time - bar_seconds) / FUNDING_SECONDS)
        after, path = lax.scan(partial(step, p=single, dt=dt), before, (drawn, pays))
        # In float64, so that the rate is the very interest of the parameters where it sticks to it.
        funding = jnp.where(pays, funding_rate(path.premium + exact.premium_mean, exact), 0.0)
        shown = candles(path, time, funding, drawn, single, dt)
        fields = zip(made, shown, strict=True)
        written = (
            lax.dynamic_update_slice(whole, part.astype(whole.dtype), (number * block,)) for whole, part in fields
        )
        return (after, Market(*written)), None

    empty = Market(*(jnp.zeros((blocks * block,)) for _ in Market._fields))
    (_, market), _ = lax.scan(add, (process, empty), jnp.arange(blocks))
    return Market(*(field[:bars] for field in market))


def begin(key: jax.Array, p: Parameters) -> Process:
    """Return a market before its first bar, in a regime drawn by its share of time."""
    # Leaving to every other regime with equal chance, the share of time in one is inverse to its rate of leaving.
    regime = jax.random.categorical(key, -jnp.log(jnp.asarray(p.switch_rate)))
    zero = jnp.zeros((), jnp.float32)
    return Process(regime, of_regime(p.variance, regime), zero, zero, zero, jnp.asarray(p.start_price))


def block_bars(bars: int) -> int:
    """Return the length of a block, 96 to 192 bars, that leaves the fewest bars over; all bars when they are few."""
    return bars if bars <= 192 else min(range(96, 193), key=lambda length: (-bars % length, -length))


def of_regime(values: PerRegime, regime: jax.Array) -> jax.Array:
    """Return the value of a regime: for a handful of them, selections are faster than a look-up."""
    each = jnp.asarray(values)
    chosen = each[0]
    for number in range(1, each.size):
        chosen = jnp.where(regime == number, each[number], chosen)
    return chosen


def step(
    process: Process,
    inputs: tuple[Draws, jax.Array],
    *,
    p: Parameters,
    dt: jax.Array,
    expected: jax.Array | float = 0.0,
) -> tuple[Process, Path]:
    """Return the market after a bar, and what the bar leaves behind.

    Parameters
    ----------
    inputs
        The bar's draws, and whether funding is paid at its open.
    expected
        Mean of the price's draw. Variance and premium answer to what was not expected of it.
    """
    drawn, pays = inputs
    regime, event = _switched(process.regime, drawn.event, p, dt)
    positive = jnp.maximum(process.variance, 0.0)
    deviation = jnp.sqrt(positive * dt)
    shock = p.correlation * (drawn.price - expected) + jnp.sqrt(1.0 - p.correlation**2) * drawn.variance
    variance = process.variance + p.mean_reversion * (of_regime(p.variance, regime) - positive) * dt
    variance = variance + p.vol_of_vol * deviation * shock
    jumps = event < of_regime(-jnp.expm1(-jnp.asarray(p.jump_rate) * dt), regime)
    jump = jnp.where(jumps, p.jump_mean + p.jump_volatility * drawn.jump, 0.0)
    move = (of_regime(p.drift, regime) - p.convexity * positive) * dt + deviation * drawn.price
    log_volume = p.volume_persistence * process.log_volume + p.volume_noise * drawn.volume
    pushed = p.premium_persistence * process.premium + p.premium_noise * drawn.premium
    premium = jnp.where(pays, pushed + p.premium_to_return * process.interval_return, process.premium)
    interval_return = jnp.where(pays, 0.0, process.interval_return) + jump + (move - deviation * expected)
    open_ = process.price * (1.0 + jnp.expm1(jump).astype(jnp.float64))
    close = open_ * (1.0 + jnp.expm1(move).astype(jnp.float64))
    return Process(regime, variance, log_volume, premium, interval_return, close), Path(
        positive, jump, move, log_volume, premium, open_, close
    )


def _switched(regime: jax.Array, event: jax.Array, p: Parameters, dt: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the regime after a bar's chance of leaving it, and what is left of the uniform: uniform again."""
    regimes = jnp.asarray(p.switch_rate).size
    if regimes == 1:
        return regime, event
    leaves = of_regime(-jnp.expm1(-jnp.asarray(p.switch_rate) * dt), regime)
    choice = event / leaves * (regimes - 1)
    number = jnp.minimum(jnp.floor(choice), regimes - 2)  # The quotient may round up to the number of others.
    other = (regime + 1 + number.astype(regime.dtype)) % regimes
    stays = event >= leaves
    rest = jnp.where(stays, (event - leaves) / (1.0 - leaves), choice - number)
    return jnp.where(stays, regime, other), rest


def candles(path: Path, time: jax.Array, funding: jax.Array, drawn: Draws, p: Parameters, dt: jax.Array) -> Market:
    """Return the candles of a path: range from the extremes of a Brownian bridge, and volume."""
    move, spread = path.move, path.variance * dt
    up, down = (jnp.sqrt(move**2 - 2.0 * spread * log_uniform) for log_uniform in (drawn.above, drawn.below))
    above = jnp.maximum(0.5 * (move + up) - jnp.maximum(move, 0.0), 0.0)
    below = jnp.maximum(0.5 * (down - move) + jnp.minimum(move, 0.0), 0.0)
    usual = jnp.mean(jnp.asarray(p.variance))
    heat = jnp.maximum(path.variance / usual, 0.01)
    size = jnp.minimum(jnp.abs(path.jump + move) / jnp.sqrt(heat * usual * dt), 8.0)
    busy = p.volume_to_volatility * jnp.log(heat) + p.volume_to_move * size + path.log_volume
    return Market(
        time=time,
        open=path.open,
        high=jnp.maximum(path.open, path.close) * jnp.exp(above),
        low=jnp.minimum(path.open, path.close) * jnp.exp(-below),
        close=path.close,
        volume=p.start_volume * jnp.exp(busy),
        funding_rate=funding,
    )


def funding_rate(premium: jax.Array, p: Parameters) -> jax.Array:
    """Return the rate that the venue makes of a premium: the interest, while the premium is not far from it."""
    away = p.funding_interest - premium
    rate = jnp.where(jnp.abs(away) <= p.funding_clamp, p.funding_interest, premium + jnp.sign(away) * p.funding_clamp)
    return jnp.clip(rate, -p.funding_cap, p.funding_cap)
