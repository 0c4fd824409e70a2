"""Many markets and many strategies at once, with nothing stored but the measures.

Where XLA plays, the state of every strategy is a record of arrays over markets ("lanes") and the bars are the scan: in
this layout it fuses the account, the strategy and the tally of a bar into a few vector loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jax.typing import DTypeLike

from backtest import loops
from backtest import tally as tallies
from backtest.account import Account, Action, hold, last_asked, open_account
from backtest.episode import Memory, Strategy, step
from backtest.market import Market, bars_last_to_first, require_shapes
from backtest.metrics.measures import Measure, Summary, summarise
from backtest.rules import DEFAULT_RULES, Rules, check_rules
from backtest.tally import Tally
from native.choice import by_platform
from native.spread import spread
from pricing.signature import checked

Lane: TypeAlias = tuple[Account, Memory, Action, Tally]


class Outcome(NamedTuple):
    """What is left of an episode: the account after the last bar, and the sums over its bars. Fields ``[...]``."""

    account: Account
    tally: Tally


@checked
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

    On a processor with a compiler :mod:`backtest.loops` plays every strategy whose decisions can be written as a loop;
    the rest, and everything elsewhere, is played by ``backtest.episode.step``.

    Parameters
    ----------
    traded, observed
        Both channels, ``[lanes, bars]``.
    strategies
        Unrolled where XLA plays them: each adds its own fused loops to the body of a scan.
    account
        Before the first bar, fields ``[lanes]``; every strategy starts from it, in its float type.
    warmup
        Bars at the beginning that strategies see before they may trade; what one asked for last in them waits at the
        first bar after them.
    """
    dtype = account.cash.dtype
    results: dict[int, Outcome] = {}
    looped = [place for place, each in enumerate(strategies) if loops.status(each, dtype) == "native"]
    for chosen, player in (
        (looped, _play_loops),
        ([place for place in range(len(strategies)) if place not in looped], _play_portable),
    ):
        if chosen:
            group = tuple(strategies[place] for place in chosen)
            outcomes = player(traded, observed, group, rules=rules, account=account, warmup=warmup)
            results |= dict(zip(chosen, outcomes, strict=True))
    return tuple(results[place] for place in range(len(strategies)))


def _play_loops(
    traded: Market,
    observed: Market,
    strategies: tuple[Strategy, ...],
    *,
    rules: Rules,
    account: Account,
    warmup: int,
) -> list[Outcome]:
    """Let compiled loops decide and settle on a processor, and XLA elsewhere."""
    same = all(one is other for one, other in zip(traded, observed, strict=True))

    def compiled(traded: Market, observed: Market | None, account: Account, rules: Rules) -> list[Outcome]:
        seen = traded if observed is None else observed
        tally = tallies.start(account)
        bars = tally.bars + float(traded.close.shape[1] - warmup)
        played = loops.play(traded, seen, account, tally, rules, strategies=strategies, warmup=warmup)
        return [Outcome(after, Tally(bars=bars, initial=account.equity, **sums)) for after, sums in played]

    def portable(traded: Market, observed: Market | None, account: Account, rules: Rules) -> list[Outcome]:
        seen = traded if observed is None else observed
        return _play_portable(traded, seen, strategies, rules=rules, account=account, warmup=warmup)

    outcomes: list[Outcome] = by_platform(
        traded, None if same else observed, account, rules, cpu=compiled, other=portable
    )
    return outcomes


Channels: TypeAlias = tuple[Market, Market]
Start: TypeAlias = tuple[tuple[Memory, Action], ...]


def _turned(market: Market, account: Account, start: int, stop: int | None = None) -> Market:
    """Return some bars of a market, bar axis first, in the account's float type."""
    bars = bars_last_to_first(Market(*(field[..., start:stop] for field in market)))
    return Market(bars.time, *(field.astype(account.cash.dtype) for field in bars[1:]))


def _look(observed: Market, strategies: Sequence[Strategy], account: Account, warmup: int) -> Start:
    """Return memories and waiting orders after the bars of the warm-up; ``observed`` is ``[lanes, bars]``."""
    before = _turned(observed, account, 0, max(warmup, 1))
    first = Market(*(field[0] for field in before))
    memories = [strategy.init(first) for strategy in strategies]
    shapes = [jax.eval_shape(s.decide, m, first, account)[1] for s, m in zip(strategies, memories, strict=True)]
    start = tuple(zip(memories, map(_nothing, shapes), strict=True))

    def look(carry: Start, bar: Market) -> tuple[Start, None]:
        after: list[tuple[Memory, Action]] = []
        for strategy, (memory, waiting) in zip(strategies, carry, strict=True):
            memory, order = strategy.decide(memory, bar, account)
            after.append((memory, last_asked(waiting, order)))
        return tuple(after), None

    return lax.scan(look, start, before)[0] if warmup else start


def _nothing(shape: Action) -> Action:
    """Return a hold with the structure, shape and types of a strategy's own orders."""
    held = hold(jnp.zeros(shape.size.shape, shape.size.dtype))
    none = jnp.full_like(held.size, jnp.nan)
    return held._replace(
        stop_loss=None if shape.stop_loss is None else none, take_profit=None if shape.take_profit is None else none
    )


def _play_portable(
    traded: Market,
    observed: Market,
    strategies: tuple[Strategy, ...],
    *,
    rules: Rules,
    account: Account,
    warmup: int,
) -> list[Outcome]:
    """Let XLA decide and settle, one bar after the other."""
    start = _look(observed, strategies, account, warmup)
    channels = (_turned(traded, account, warmup), _turned(observed, account, warmup))
    lanes = tuple((account, memory, order, tallies.start(account)) for memory, order in start)
    body = partial(_bar, strategies=strategies, rules=rules)
    lanes, _ = lax.scan(body, lanes, channels)
    return [Outcome(lane[0], lane[3]) for lane in lanes]


def _bar(
    lanes: tuple[Lane, ...], bars: Channels, *, strategies: tuple[Strategy, ...], rules: Rules
) -> tuple[tuple[Lane, ...], None]:
    traded, observed = bars
    after: list[Lane] = []
    for strategy, (account, memory, action, tally) in zip(strategies, lanes, strict=True):
        account = step(account, action, traded, rules=rules)
        tally = tallies.add(tally, account, traded.close)
        memory, action = strategy.decide(memory, observed, account)
        after.append((account, memory, action, tally))
    return tuple(after), None


@partial(jax.jit, static_argnames=("strategies", "warmup", "bars_per_year", "metrics", "devices"))
def _evaluate(
    market: Market,
    observed: Market | None,
    account: Account,
    rules: Rules,
    strategies: tuple[Strategy, ...],
    warmup: int,
    bars_per_year: float,
    metrics: tuple[Measure, ...],
    devices: tuple[jax.Device, ...],
) -> Summary:
    def measured(market: Market, observed: Market | None, account: Account, rules: Rules) -> Summary:
        seen = market if observed is None else observed
        outcomes = play(market, seen, strategies, rules=rules, account=account, warmup=warmup)
        bars = market.close.shape[-1] - warmup
        rows = [
            summarise(
                tallies.statistics(each.tally, each.account.ledger, bars=bars, bars_per_year=bars_per_year), own=metrics
            )
            for each in outcomes
        ]
        summary: Summary = jax.tree.map(lambda *fields: jnp.stack(fields), *rows)
        return summary

    in_parts = spread(measured, devices=devices, in_axes=(0, 0, 0, None), out_axes=1)
    result: Summary = in_parts(market, observed, account, rules)
    return result


@checked
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
    metrics: Sequence[Measure] = (),
    devices: Sequence[jax.Device] = (),
) -> Summary:
    """Return the measures of every strategy in every market, fields ``[strategies, ...]``.

    Arguments as in ``backtest.episode.run``, which gives the same numbers and keeps the path. Markets are not checked
    here: a sweep checks what it loads once, with ``backtest.market.check``.

    Parameters
    ----------
    metrics
        Measures of your own: functions of ``backtest.metrics.Statistics``, whose results stand in ``Summary.own``.
    devices
        Several divide the markets between them, whatever their number, to the same bits; by default jax's own one.

    Raises
    ------
    ValueError
        For shapes that differ, and for a bad warm-up, starting equity, rules or bars per year, naming it.
    """
    require_shapes(market, market if observed is None else observed)
    check_rules(rules)
    bars = market.close.shape[-1]
    if not 0 <= warmup <= bars:
        raise ValueError(f"warmup must lie between 0 and the {bars} bars of the market, got {warmup}")
    if not bars_per_year > 0.0:
        raise ValueError(f"bars_per_year must be above 0, got {bars_per_year!r}")
    if not strategies:
        raise ValueError("strategies must hold at least one strategy, got none")
    alone = market.close.ndim == 1
    if alone:
        market, observed = _batch_of_one(market), None if observed is None else _batch_of_one(observed)
    account = open_account(equity=equity, shape=market.close.shape[:-1], dtype=dtype)
    result: Summary = _evaluate(
        market, observed, account, rules, tuple(strategies), warmup, bars_per_year, tuple(metrics), tuple(devices)
    )
    return jax.tree.map(lambda field: field[:, 0], result) if alone else result


def _batch_of_one(market: Market) -> Market:
    return Market(*(jnp.asarray(field)[None] for field in market))
