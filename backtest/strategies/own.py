"""Strategies in a Python file of the user's own, and what is required of them before a market is played."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.errors import ConcretizationTypeError
from jax.typing import DTypeLike

from backtest import naming
from backtest.account import Action, open_account
from backtest.episode import Strategy, run
from backtest.loops import writing
from backtest.market import Market
from backtest.naming import Parameters
from backtest.rules import FREE
from native.emit import NotElementwise

LANES = 3
TRIED_BARS = 64


def from_file(name: str, text: str, parameters: Parameters = ()) -> Strategy:
    """Return the strategy that ``path/to/mine.py:name`` stands for in a file of this text.

    It is a :class:`backtest.episode.Strategy`, or a factory that makes one of the parameters. The same one comes back
    for the same arguments, so that it is compiled once.

    Raises
    ------
    ValueError
        In one line: when the file or the name is missing, a parameter is unknown or missing, the factory fails or gives
        something else.
    """
    # 1, 1.0 and True are equal, and not the same parameter
    return _made(name, text, parameters, tuple(type(value) for _, value in parameters))


@lru_cache(maxsize=4096)
def _made(name: str, text: str, parameters: Parameters, kinds: tuple[type, ...]) -> Strategy:
    del kinds
    made = naming.attribute_of(name, text, what="strategy", kind=(Strategy, Callable))
    if isinstance(made, Strategy):
        if parameters:
            raise ValueError(f"bad parameters for strategy {name!r}: it is a Strategy, not a factory, and takes none")
        return made
    if not callable(made):
        raise ValueError(
            f"strategy {name!r} is a {type(made).__name__}; a backtest.episode.Strategy or its factory is wanted"
        )
    naming.check_parameters("strategy", name, made, dict(parameters))
    try:
        strategy = made(**dict(parameters))
    except Exception as error:
        raise ValueError(f"strategy {name!r} fails: {naming.said(error)}") from error
    if not isinstance(strategy, Strategy):
        raise ValueError(f"strategy {name!r} gives a {type(strategy).__name__}, not a backtest.episode.Strategy")
    return strategy


def check(name: str, strategy: Strategy, *, dtype: DTypeLike = jnp.float64) -> None:
    """Trace a strategy for one bar, or raise.

    Raises
    ------
    ValueError
        When ``init`` or ``decide`` cannot be traced, the memory changes its shape or type, the order is none, or what
        is decided in one market depends on the markets beside it.
    """
    lanes = jnp.zeros(LANES, dtype)
    bar = Market(jnp.zeros(LANES), *([lanes] * (len(Market._fields) - 1)))
    account = open_account(shape=(LANES,), dtype=dtype)
    memory = _traced(name, "init", strategy.init, bar)
    answer = _traced(name, "decide", strategy.decide, memory, bar, account)
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Action)):
        raise ValueError(f"strategy {name!r}: decide must return (memory, backtest.account.Action)")
    after, order = answer
    before, now = (jax.tree.map(_kind, each) for each in (memory, after))
    if before != now:
        raise ValueError(f"strategy {name!r}: the memory must stay as init made it, {before}; decide makes it {now}")
    for field, value in zip(Action._fields, order, strict=True):
        wanted = f"{'int32' if field == 'kind' else lanes.dtype}[{LANES}]"
        if value is None and field in ("stop_loss", "take_profit"):
            continue
        if value is None or _kind(value) != wanted:
            found = None if value is None else _kind(value)
            raise ValueError(
                f"strategy {name!r}: for bars {wanted[-3:]} the order's {field} must be {wanted}, got {found}"
            )
    try:
        writing.strategy(strategy, str(jnp.dtype(dtype)))
    except NotElementwise as reason:
        # what a loop can do never looks across markets; all else is tried
        _require_apart(name, strategy, str(reason))


def _require_apart(name: str, strategy: Strategy, reason: str) -> None:
    """Refuse a strategy that plays a market in another way when there are others beside it."""
    rng = np.random.default_rng(7)
    close = 100.0 * np.exp(np.cumsum(rng.normal(0.0, 0.02, (LANES, TRIED_BARS)), axis=1))
    opens = np.concatenate([np.full((LANES, 1), 100.0), close[:, :-1]], axis=1)
    hours = np.broadcast_to(np.arange(TRIED_BARS) * 3600.0, close.shape)
    high, low = np.maximum(opens, close) * 1.01, np.minimum(opens, close) * 0.99
    volume, rate = rng.uniform(1e3, 1e5, close.shape), np.full(close.shape, 1e-5)
    markets = Market(*(jnp.asarray(field) for field in (hours, opens, high, low, close, volume, rate)))
    together = _equity_of(markets, strategy)
    for lane in range(LANES):
        alone = _equity_of(Market(*(field[lane : lane + 1] for field in markets)), strategy)
        if not np.allclose(alone[0], together[lane], rtol=1e-6, equal_nan=True):
            raise ValueError(
                f"strategy {name!r}: what it decides in a market depends on the markets beside it ({reason}); init and "
                "decide get a batch of markets and must treat each by itself"
            )


def _equity_of(markets: Market, strategy: Strategy) -> np.ndarray:
    return np.asarray(run(markets, strategy, FREE).equity)


def _kind(leaf: Any) -> str:
    return f"{leaf.dtype}{list(leaf.shape)}"


def _traced(name: str, part: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return jax.eval_shape(function, *arguments)
    except Exception as error:
        reason = naming.said(error)
        if isinstance(error, ConcretizationTypeError) or "truth value" in reason:
            reason += " (a choice between values is jnp.where, not if)"
        raise ValueError(f"strategy {name!r}: {part} cannot be traced by jax: {reason}") from error
