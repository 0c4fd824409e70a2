"""Many markets and many strategies at once, with nothing stored but the measures.

The state of every strategy is a record of arrays over markets ("lanes"), the bars are the scan: this is the layout in
which XLA fuses the account, the strategy and the tally of a bar into a few vector loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike

from backtest import tally as tallies
from backtest.account import Account, Action, hold, open_account
from backtest.episode import Memory, Strategy, step
from backtest.market import Market, bars_last_to_first
from backtest.metrics import Summary
from backtest.rules import DEFAULT_RULES, Rules
from backtest.tally import Tally

Lane: TypeAlias = tuple[Account, Memory, Action, Tally]


class Outcome(NamedTuple):
    """What is left of an episode: the account after the last bar, and the sums over its bars. Fields ``[...]``."""

    account: Account
    tally: Tally


def play(
    traded: Market,
    observed: Market,
    strategies: Sequence[Strategy],
    *,
    rules: Rules,
    account: Account,
    warmup: int = 0,
) -> tuple[Outcome, ...]:
    """Return the outcome of each strategy in each market. Pure; meant to be traced within a larger ``jit``.

    Parameters
    ----------
    traded, observed
        Both channels with the **bar axis first**, ``[bars, lanes]`` (or ``[bars]``).
    strategies
        Unrolled: every strategy adds its own fused loops to the body of the scan.
    account
        Before the first bar, fields ``[lanes]``; every strategy starts from it, in its float type.
    warmup
        Bars at the beginning that strategies see before they may trade.
    """
    dtype = account.cash.dtype
    traded, observed = (
        Market(channel.time, *(field.astype(dtype) for field in channel[1:])) for channel in (traded, observed)
    )
    first = Market(*(field[0] for field in observed))

    def look(memories: tuple[Memory, ...], bar: Market) -> tuple[tuple[Memory, ...], None]:
        return tuple(s.decide(m, bar, account)[0] for s, m in zip(strategies, memories, strict=True)), None

    memories = tuple(strategy.init(first) for strategy in strategies)
    waiting = tuple(hold(account.cash) for _ in strategies)
    if warmup:
        memories, _ = lax.scan(look, memories, _bars(observed, 0, warmup - 1))
        last = Market(*(field[warmup - 1] for field in observed))
        decided = tuple(s.decide(m, last, account) for s, m in zip(strategies, memories, strict=True))
        memories, waiting = tuple(memory for memory, _ in decided), tuple(order for _, order in decided)
        before = traded.close[warmup - 1]
    else:
        before = traded.open[0]
    lanes = tuple((account, m, w, tallies.start(account)) for m, w in zip(memories, waiting, strict=True))
    body = partial(_bar, strategies=tuple(strategies), rules=rules)
    (lanes, _), _ = lax.scan(body, (lanes, before), (_bars(traded, warmup), _bars(observed, warmup)))
    return tuple(Outcome(lane[0], lane[3]) for lane in lanes)


def _bars(market: Market, start: int, stop: int | None = None) -> Market:
    return Market(*(field[start:stop] for field in market))


def _bar(
    carry: tuple[tuple[Lane, ...], jax.Array],
    bars: tuple[Market, Market],
    *,
    strategies: tuple[Strategy, ...],
    rules: Rules,
) -> tuple[tuple[tuple[Lane, ...], jax.Array], None]:
    lanes, close_before = carry
    traded, observed = bars
    market_return = (traded.close - traded.funding_rate * traded.open) / close_before - 1.0
    after: list[Lane] = []
    for strategy, (account, memory, action, tally) in zip(strategies, lanes, strict=True):
        account = step(account, action, traded, rules=rules)
        tally = tallies.add(tally, account, traded.close, market_return)
        memory, action = strategy.decide(memory, observed, account)
        after.append((account, memory, action, tally))
    return (tuple(after), traded.close), None


@partial(jax.jit, static_argnames=("strategies", "warmup", "bars_per_year"))
def _evaluate(
    market: Market,
    observed: Market,
    account: Account,
    rules: Rules,
    strategies: tuple[Strategy, ...],
    warmup: int,
    bars_per_year: float,
) -> Summary:
    outcomes = play(
        bars_last_to_first(market),
        bars_last_to_first(observed),
        strategies,
        rules=rules,
        account=account,
        warmup=warmup,
    )
    bars = market.close.shape[-1] - warmup
    rows = [
        tallies.summarise(each.tally, each.account.ledger, bars=bars, bars_per_year=bars_per_year) for each in outcomes
    ]
    return Summary(*(jnp.stack(fields) for fields in zip(*rows, strict=True)))


def evaluate(
    market: Market,
    strategies: Sequence[Strategy],
    rules: Rules = DEFAULT_RULES,
    *,
    observed: Market | None = None,
    warmup: int = 0,
    equity: float = 10_000.0,
    bars_per_year: float = 8760.0,
    dtype: DTypeLike = jnp.float64,
) -> Summary:
    """Return the measures of every strategy in every market, fields ``[strategies, ...]``.

    Arguments as in ``backtest.episode.run``, which gives the same numbers and keeps the path. Markets are not checked
    here: a sweep checks what it loads once, with ``backtest.market.check``.
    """
    account = open_account(equity=equity, shape=market.close.shape[:-1], dtype=dtype)
    seen = market if observed is None else observed
    result: Summary = _evaluate(market, seen, account, rules, tuple(strategies), warmup, bars_per_year)
    return result
