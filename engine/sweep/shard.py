"""One shard of a sweep: a block of seeds of one window, under every transform and severity, by every strategy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import transforms
from backtest import batch, simulators, strategies, tally
from backtest.account import open_account
from backtest.market import Market
from backtest.metrics import Summary
from backtest.rules import DEFAULT_RULES, Rules
from engine.sweep.config import SweepConfig
from transforms.baseline import baseline

YEAR_SECONDS = 365.0 * 86_400.0
START_EQUITY = 10_000.0


class Shard(NamedTuple):
    """A unit of work: it is computed and stored as a whole.

    Attributes
    ----------
    number
        Place in the plan.
    window
        Index of the window.
    first, seeds
        First seed and number of seeds.
    """

    number: int
    window: int
    first: int
    seeds: int


def plan(config: SweepConfig) -> list[Shard]:
    """Return the shards of a sweep, in order."""
    starts = range(config.first_seed, config.first_seed + config.seeds, config.seeds_per_shard)
    end = config.first_seed + config.seeds
    blocks = [(first, min(config.seeds_per_shard, end - first)) for first in starts]
    pairs = [(window, first, seeds) for window in range(config.windows) for first, seeds in blocks]
    return [Shard(number, *pair) for number, pair in enumerate(pairs)]


@partial(jax.jit, static_argnames=("bars", "bar_seconds"))
def _simulated(keys: jax.Array, bars: int, bar_seconds: float) -> Market:
    markets: Market = jax.vmap(lambda key: simulators.simulate(key, bars=bars, bar_seconds=bar_seconds))(keys)
    return markets


def _seen_and_traded(
    name: str, keys: jax.Array, market: Market, severity: float, unchanged: Market
) -> tuple[Market, Market]:
    """Return observed and traded channel, ``[lanes, bars]``; the market itself where a channel is not changed."""
    parts = transforms.check(name)
    if all(part is baseline for part in parts):
        return unchanged, unchanged
    observed, traded = _transformed(name, keys, market, jnp.asarray(severity))
    return observed, unchanged if traded is None else traded


@partial(jax.jit, static_argnames=("name",))
def _transformed(name: str, keys: jax.Array, market: Market, severity: jax.Array) -> tuple[Market, Market | None]:
    """Return observed and traded channel; None for a traded one that is the market itself."""
    real = any(part.channel == "both" for part in transforms.check(name))

    def one(key: jax.Array, alone: Market) -> tuple[Market, Market]:
        changed = transforms.apply(name, key, alone, severity=severity)
        return changed.observed, changed.traded

    observed, traded = jax.vmap(one, in_axes=(0, 0 if market.close.ndim == 2 else None))(keys, market)
    return observed, traded if real else None


@partial(jax.jit, static_argnames=("lanes",))
def _for_all(market: Market, lanes: int) -> Market:
    """Return one market as every lane trades it, ``[lanes, bars]``."""
    return Market(*(jnp.broadcast_to(field, (lanes, *field.shape)) for field in market))


@partial(jax.jit, static_argnames=("played", "bars_per_year", "dtype"))
def _backtested(
    traded: Market, observed: Market, rules: Rules, played: tuple[Any, ...], bars_per_year: float, dtype: str
) -> Summary:
    """Return all measures, fields ``[strategies, lanes]``."""
    lanes, bars = traded.close.shape
    account = open_account(equity=START_EQUITY, shape=(lanes,), dtype=dtype)
    outcomes = batch.play(traded, observed, played, rules=rules, account=account)
    rows = [
        tally.summarise(each.tally, each.account.ledger, bars=bars, bars_per_year=bars_per_year) for each in outcomes
    ]
    return Summary(*(jnp.stack(fields) for fields in zip(*rows, strict=True)))


def seed_keys(config: SweepConfig, shard: Shard) -> tuple[jax.Array, jax.Array]:
    """Return a market key and a transform key for each lane; lanes beyond the shard's seeds repeat its last."""
    numbers = np.minimum(np.arange(lanes_of(config)), shard.seeds - 1) + shard.first
    keys: tuple[jax.Array, jax.Array] = _keys(shard.window, numbers)
    return keys


@jax.jit
def _keys(window: int, numbers: np.ndarray) -> tuple[jax.Array, jax.Array]:
    keys = jax.vmap(lambda number: jax.random.fold_in(jax.random.key(window), number))(jnp.asarray(numbers))
    pairs = jax.vmap(jax.random.split)(keys)
    return pairs[:, 0], pairs[:, 1]


def lanes_of(config: SweepConfig) -> int:
    """Return the number of lanes of every shard: equal shapes compile once."""
    return min(config.seeds_per_shard, config.seeds)


def rules_of(config: SweepConfig) -> Rules:
    """Return the trading rules of a sweep."""
    return DEFAULT_RULES._replace(**config.rules.model_dump(exclude_none=True))


def real_windows(config: SweepConfig) -> tuple[Market, ...]:
    """Return the windows of a sweep on candle files, each ``[bars]``.

    Raises
    ------
    ValueError
        When there are no candles, or fewer windows than asked for.
    """
    return _windows(config.data or "", config.bars, config.bar_seconds, config.windows)


@lru_cache(maxsize=4)
def _windows(data: str, bars: int, bar_seconds: float, windows: int) -> tuple[Market, ...]:
    from lake.candles.folder import stretches

    found = [
        (stretch.market, first)
        for stretch in stretches(data)
        if abs(stretch.seconds - bar_seconds) < 1e-6 * bar_seconds
        for first in range(0, len(stretch.market.time) - bars + 1, bars)
    ]
    if len(found) < windows:
        raise ValueError(
            f"path {data!r} holds {len(found)} windows of {bars} bars of {bar_seconds:g} s without a gap; "
            f"{windows} are asked for"
        )
    spread = np.linspace(0, len(found) - 1, windows).round().astype(int)
    chosen = [found[place] for place in spread]
    return tuple(Market(*(jnp.asarray(field)[first : first + bars] for field in market)) for market, first in chosen)


def compute(config: SweepConfig, shard: Shard) -> dict[str, np.ndarray]:
    """Return the rows of one shard as columns; the order of rows is that of the nested loops below."""
    played = tuple(strategies.get(choice.name, **choice.params) for choice in config.strategies)
    market_keys, transform_keys = seed_keys(config, shard)
    if config.data is None:
        market = unchanged = _simulated(market_keys, config.bars, config.bar_seconds)
    else:
        market = real_windows(config)[shard.window]
        unchanged = _for_all(market, lanes_of(config))
    rules, per_year = rules_of(config), YEAR_SECONDS / config.bar_seconds
    columns: dict[str, list[Any]] = {}
    for transform in config.transforms:
        for severity in config.severities:
            observed, traded = _seen_and_traded(transform, transform_keys, market, severity, unchanged)
            summary = jax.device_get(_backtested(traded, observed, rules, played, per_year, config.precision))
            block = rows_of(config, shard, transform, severity, summary)
            for name, values in block.items():
                columns.setdefault(name, []).append(values)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def warm_up(config: SweepConfig, shard: Shard, *, workers: int) -> None:
    """Compile, or load from the cache, everything that a shard needs; transforms side by side."""
    parts = [
        config.model_copy(update={"transforms": (name,), "severities": config.severities[:1]})
        for name in config.transforms
    ]
    with ThreadPoolExecutor(max_workers=workers) as pool:
        list(pool.map(lambda part: compute(part, shard._replace(seeds=1)), parts))


def rows_of(
    config: SweepConfig, shard: Shard, transform: str, severity: float, summary: Summary
) -> dict[str, np.ndarray]:
    """Return the rows of one transform and severity: strategies, then seeds."""
    count = len(config.strategies) * shard.seeds
    titles = [choice.title for choice in config.strategies]
    block: dict[str, np.ndarray] = {
        "transform": np.full(count, transform, dtype=object),
        "severity": np.full(count, severity),
        "window": np.full(count, shard.window, dtype=np.int32),
        "seed": np.tile(np.arange(shard.first, shard.first + shard.seeds, dtype=np.int64), len(titles)),
        "strategy": np.repeat(np.asarray(titles, dtype=object), shard.seeds),
    }
    for name, values in zip(Summary._fields, summary, strict=True):
        measure = np.asarray(values, dtype=np.float64)[:, : shard.seeds]
        if not np.isnan(measure).all():
            block[name] = measure.ravel()
    return block
