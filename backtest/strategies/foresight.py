"""Policies that read the future of the traded market: the upper end of the score, and its ruler."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax

from backtest.account import Action
from backtest.costs import BPS
from backtest.market import Market
from backtest.rules import Rules
from backtest.strategies.passive import from_targets
from pricing.signature import checked

SIDES = (-1.0, 0.0, 1.0)


@checked
def hindsight_oracle(market: Market, rules: Rules, *, exposure: float = 1.0) -> Action:
    """Return the path of short, flat and long that grows most after fee, slippage and funding.

    Exact dynamic programming over the three sides of size ``exposure`` at every open, backwards; impact, minimum size
    and drift of the exposure between trades are not in its model, the account still pays them.

    Parameters
    ----------
    market
        Traded channel, ``[bars]`` or ``[batch, bars]``.

    Returns
    -------
    Action
        Fields shaped like the market, for ``backtest.episode.run``.
    """
    if not exposure > 0.0:
        raise ValueError(f"exposure must be above 0, got {exposure!r}")
    opens = jnp.moveaxis(jnp.asarray(market.open), -1, 0)
    last = jnp.moveaxis(jnp.asarray(market.close), -1, 0)[-1:]
    after = jnp.concatenate([opens[1:], last])
    funding = jnp.moveaxis(jnp.asarray(market.funding_rate), -1, 0)
    funding = jnp.concatenate([funding[1:], jnp.zeros_like(funding[:1])])
    earned = after * (1.0 - funding) / opens - 1.0
    cost = exposure * (rules.fee_bps + rules.slippage_bps) * BPS
    lanes = opens.shape[1:]
    start = jnp.zeros((len(SIDES), *lanes))
    _, choices = lax.scan(partial(_best, exposure=exposure, cost=cost), start, earned, reverse=True)
    flat = jnp.ones(lanes, jnp.int32)
    _, sides = lax.scan(_follow, flat, choices)
    targets = jnp.moveaxis(jnp.asarray(SIDES)[sides] * exposure, 0, -1)
    moved = jnp.diff(targets, axis=-1, prepend=jnp.zeros_like(targets[..., :1])) != 0.0
    return from_targets(jnp.where(moved, targets, jnp.nan))


def _best(
    values: jax.Array, earned: jax.Array, *, exposure: float, cost: float | jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the value of arriving at an open with each side, and the side to leave it with."""
    sides = jnp.asarray(SIDES).reshape((len(SIDES),) + (1,) * earned.ndim)
    growth = jnp.log(jnp.maximum(1.0 + sides * exposure * earned[None], 1e-9)) + values
    arrived = sides[:, None]
    paid = jnp.log1p(-jnp.minimum(jnp.abs(arrived - sides[None]) * cost, 0.999999))
    options = growth[None] + paid
    return jnp.max(options, axis=1), jnp.argmax(options, axis=1)


def _follow(side: jax.Array, choice: jax.Array) -> tuple[jax.Array, jax.Array]:
    chosen = jnp.take_along_axis(choice, side[None], axis=0)[0].astype(jnp.int32)
    return chosen, chosen


@checked
def noisy_oracle(
    key: jax.Array,
    market: Market,
    *,
    information_coefficient: float | jax.Array,
    horizon: int = 24,
    exposure: float = 1.0,
) -> Action:
    """Return a forecaster of known quality: every ``horizon`` bars it bets on the return of the next ``horizon`` bars.

    Its forecast is ``rho z + sqrt(1 - rho^2) e`` with ``z`` the coming log return in units of its standard deviation
    over the market, less its mean, and ``e`` standard normal: its correlation with what comes is ``rho``, the
    information coefficient (Grinold and Kahn). It trades to ``exposure`` times the forecast, cut at one.

    Parameters
    ----------
    market
        Traded channel, ``[bars]`` or ``[batch, bars]``; each market of a batch gets its own noise.
    information_coefficient
        In [0, 1].

    Returns
    -------
    Action
        Fields shaped like the market, for ``backtest.episode.run``.
    """
    bars = market.open.shape[-1]
    if not 1 <= horizon < bars:
        raise ValueError(f"horizon must be at least 1 and below the {bars} bars of the market, got {horizon}")
    opens = jnp.asarray(market.open)
    ends = jnp.concatenate([opens[..., 1:], jnp.asarray(market.close)[..., -1:]], axis=-1)
    starts = jnp.arange(0, bars, horizon)
    stops = jnp.minimum(starts + horizon, bars) - 1
    coming = jnp.log(ends[..., stops] / opens[..., starts])
    centred = coming - jnp.mean(coming, axis=-1, keepdims=True)
    scale = jnp.sqrt(jnp.mean(centred**2, axis=-1, keepdims=True))
    z = centred / jnp.where(scale > 0.0, scale, 1.0)
    rho = jnp.asarray(information_coefficient)
    forecast = rho * z + jnp.sqrt(1.0 - rho**2) * jax.random.normal(key, z.shape)
    targets = jnp.full(opens.shape, jnp.nan).at[..., starts].set(exposure * jnp.clip(forecast, -1.0, 1.0))
    return from_targets(targets)
