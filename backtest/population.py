"""The crowd without skill: what luck, drift and size earn in one market."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from backtest import native
from backtest import tally as tallies
from backtest.account import Account, Action, open_account
from backtest.episode import step
from backtest.market import Market, require_shapes
from backtest.rules import DEFAULT_RULES, Rules
from backtest.strategies.passive import from_targets
from backtest.tally import Tally
from pricing.inputs import require
from pricing.signature import checked, labelled, requires


class Record(NamedTuple):
    """What the skill score reads of an episode. Fields ``[...]``.

    Attributes
    ----------
    log_growth
        Log of final over initial equity, after all costs; minus infinity when ruined.
    mean_exposure
        Mean over bars of position value over equity at the close, with sign.
    holding_log_growth
        Log growth of holding ``mean_exposure`` all the time without costs, funding included; minus infinity where
        such a holder would have been ruined.
    excess
        ``log_growth - holding_log_growth``; NaN where both are minus infinity.
    risk
        Standard deviation over the episode (not annualised: per-bar deviation times the root of bars) of the
        account's return minus ``mean_exposure`` times the market's.
    volatility
        The same of the account's return alone.
    turnover
        Traded notional over mean equity, over the whole episode.
    """

    log_growth: jax.Array
    mean_exposure: jax.Array
    holding_log_growth: jax.Array
    excess: jax.Array
    risk: jax.Array
    volatility: jax.Array
    turnover: jax.Array


@labelled
def market_returns(market: Market) -> jax.Array:
    """Return what a long of one times equity earns in each bar, funding included, ``[..., bars]``.

    The first bar counts from its open.
    """
    before = jnp.concatenate([market.open[..., :1], market.close[..., :-1]], axis=-1)
    return (market.close - market.funding_rate * market.open) / before - 1.0


@checked
def holding_log_growth(exposure: jax.Array, returns: jax.Array) -> jax.Array:
    """Return the log growth of a constant exposure ``[policies]`` over market returns ``[bars]``, without costs."""
    if jnp.ndim(exposure) != 1 or jnp.ndim(returns) != 1:
        shapes = f"{jnp.shape(exposure)} and {jnp.shape(returns)}"
        raise ValueError(f"exposure and returns must have shapes [policies] and [bars], got {shapes}")
    exposure, returns = jnp.asarray(exposure), jnp.asarray(returns)
    wealth = 1.0 + returns[:, None] * exposure[None, :]
    return jnp.log(jnp.where(jnp.any(wealth <= 0.0, axis=0), 0.0, jnp.prod(wealth, axis=0)))


def _require_fit(
    market: Market, targets: jax.Array, rules: Rules = DEFAULT_RULES, equity: float | jax.Array = 10_000.0
) -> None:
    bars = require_shapes(market)
    if len(bars) != 1 or jnp.ndim(targets) != 2 or jnp.shape(targets)[-1:] != bars:
        raise ValueError(
            f"targets must have shape [policies, {bars[-1]}] for a market {bars}, got {jnp.shape(targets)}"
        )
    require("equity", equity, above=0.0, missing=False)


@checked
@requires(_require_fit)
@jax.jit
def play_targets(market: Market, targets: jax.Array, rules: Rules = DEFAULT_RULES, equity: float = 10_000.0) -> Record:
    """Return the record of policies given as exposures, all in one market.

    Parameters
    ----------
    market
        Traded channel, ``[bars]``. ``vmap`` for several markets.
    targets
        ``[policies, bars]``, signed multiples of equity; the one at index ``t`` waits when bar ``t`` opens; NaN holds.

    Raises
    ------
    ValueError
        For shapes that do not fit, and a starting equity that is not above 0.
    """
    account = _accounts(targets, equity)
    returns = market_returns(market)
    orders = jax.tree.map(lambda field: jnp.moveaxis(field, -1, 0), from_targets(targets))
    play = _play_native if native.available() else _play_portable
    state, tally = play(market, returns, orders, account, rules)
    return record(tally, state.ledger.traded_notional, returns)


def _play_native(
    market: Market, returns: jax.Array, orders: Action, account: Account, rules: Rules
) -> tuple[Account, Tally]:
    tally = tallies.start(account)
    after = native.advance(
        native.pack(account, tally),
        candles=Market(*(field[None] for field in market)),
        market_return=returns[None],
        kind=orders.kind,
        size=orders.size,
        rules=rules,
    )
    return native.unpack(after, bars=tally.bars + float(returns.shape[-1]), initial=account.equity)


def _play_portable(
    market: Market, returns: jax.Array, orders: Action, account: Account, rules: Rules
) -> tuple[Account, Tally]:
    def body(carry: tuple[Account, Tally], row: tuple[Market, Action, jax.Array]) -> tuple[tuple[Account, Tally], None]:
        state, tally = carry
        bar, order, market_return = row
        state = step(state, order, bar, rules=rules)
        return (state, tallies.add(tally, state, bar.close, market_return)), None

    last, _ = lax.scan(body, (account, tallies.start(account)), (market, orders, returns))
    return last


def _accounts(targets: jax.Array, equity: float | jax.Array) -> Account:
    flat = open_account(equity=1.0, shape=targets.shape[:-1])
    start = jnp.full(targets.shape[:-1], equity, flat.cash.dtype)
    return flat._replace(cash=start, equity=start, trade_equity=start)


@checked
def record(tally: Tally, traded_notional: jax.Array, returns: jax.Array) -> Record:
    """Return the record of policies ``[policies]`` from their tally in one market with ``returns`` ``[bars]``."""
    bars = returns.shape[-1]
    mean, variance, _, _ = tallies.moments(tally)
    exposure = tally.exposure_sum / bars
    market_mean = jnp.mean(returns)
    market_variance = jnp.mean((returns - market_mean) ** 2)
    covariance = tally.market_product / bars - mean * market_mean
    active = variance - 2.0 * exposure * covariance + exposure**2 * market_variance
    growth = jnp.log(tally.equity / tally.initial)
    holding = holding_log_growth(exposure, returns)
    return Record(
        log_growth=growth,
        mean_exposure=exposure,
        holding_log_growth=holding,
        excess=growth - holding,
        risk=jnp.sqrt(jnp.maximum(active, 0.0) * bars),
        volatility=jnp.sqrt(variance * bars),
        turnover=traded_notional / jnp.maximum(tally.equity_sum / bars, 1e-300),
    )


def _require_counts(key: jax.Array, *, policies: int, bars: int, largest: float = 1.0) -> None:
    for name, count in (("policies", policies), ("bars", bars)):
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")
    require("largest", largest, at_least=0.0)


@checked
@requires(_require_counts)
@partial(jax.jit, static_argnames=("policies", "bars"))
def no_skill_targets(key: jax.Array, *, policies: int, bars: int, largest: float = 1.0) -> jax.Array:
    """Return targets ``[policies, bars]`` of a population that never looks at the market.

    Half of the policies are random: each has its own chance of changing at a bar (log-uniform between once an episode
    and at every second bar) and its own largest exposure (uniform up to ``largest``). The other half hold one constant
    exposure, evenly spaced on ``[-largest, largest]``, 0 (flat) included where the number is odd.

    ``ValueError`` unless there is a policy, a bar, and a ``largest`` of 0 or more.
    """
    rate_key, size_key, switch_key, side_key = jax.random.split(key, 4)
    constants = policies // 2
    randoms = policies - constants
    rate = jnp.exp(jax.random.uniform(rate_key, (randoms, 1), minval=-jnp.log(float(bars)), maxval=jnp.log(0.5)))
    size = largest * jax.random.uniform(size_key, (randoms, 1))
    switches = jax.random.uniform(switch_key, (randoms, bars)) < rate
    switches = switches.at[:, 0].set(True)
    drawn = size * jax.random.uniform(side_key, (randoms, bars), minval=-1.0, maxval=1.0)
    constant = jnp.full((constants, bars), jnp.nan).at[:, 0].set(jnp.linspace(-largest, largest, constants))
    return jnp.concatenate([jnp.where(switches, drawn, jnp.nan), constant])
