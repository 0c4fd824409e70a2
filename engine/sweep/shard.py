"""One shard of a sweep: a block of seeds of one window, under every transform and severity, by every strategy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

import native
from backtest import batch, loops, rules, simulators
from backtest.market import YEAR_SECONDS, Market, problems
from backtest.metrics import Summary
from backtest.metrics.measures import MEASURES, OF_A_PATH
from backtest.naming import Parameters
from engine import devices
from engine.errors import ConfigError
from engine.sweep.config import SweepConfig
from engine.sweep.rows import Row, metric_of, strategy_of, transforms_of
from native.spread import spread
from transforms import pipeline
from transforms.baseline import baseline
from transforms.record import Transform

START_EQUITY = 10_000.0
Devices: TypeAlias = tuple[jax.Device, ...]


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


@partial(jax.jit, static_argnames=("bars", "bar_seconds", "on"))
def _simulated(keys: jax.Array, bars: int, bar_seconds: float, on: Devices) -> Market:
    simulate = jax.vmap(lambda key: simulators.simulate(key, bars=bars, bar_seconds=bar_seconds))
    markets: Market = spread(simulate, devices=on)(keys)
    return markets


def _seen_and_traded(
    row: Row,
    config: SweepConfig,
    keys: jax.Array,
    market: Market,
    severity: float,
    unchanged: Market,
    on: Devices,
) -> tuple[Market, Market]:
    """Return observed and traded channel, ``[lanes, bars]``; the market itself where a channel is not changed."""
    parts = transforms_of(row, config.texts)
    if all(part is baseline for part in parts):
        return unchanged, unchanged
    observed, traded = _transformed(parts, row.pairs, keys, market, jnp.asarray(severity), on)
    return observed, unchanged if traded is None else traded


@partial(jax.jit, static_argnames=("parts", "params", "on"))
def _transformed(
    parts: tuple[Transform, ...],
    params: Parameters,
    keys: jax.Array,
    market: Market,
    severity: jax.Array,
    on: Devices,
) -> tuple[Market, Market | None]:
    """Return observed and traded channel; None for a traded one that is the market itself."""
    real = any(part.channel == "both" for part in parts)

    def one(key: jax.Array, alone: Market, severity: jax.Array) -> tuple[Market, Market | None]:
        changed = pipeline.compose(parts, key, alone, severity=severity, params=dict(params))
        return changed.observed, changed.traded if real else None

    axes = (0, 0 if market.close.ndim == 2 else None, None)
    channels: tuple[Market, Market | None] = spread(jax.vmap(one, in_axes=axes), devices=on, in_axes=axes)(
        keys, market, severity
    )
    return channels


def _refuse_impossible_candles(row: Row, severity: float, *channels: Market) -> None:
    """Refuse what a transform of the user's own made, if no market can be so."""
    for channel, market in zip(("observed", "traded"), channels, strict=True):
        times = jnp.broadcast_to(market.time, market.close.shape)
        if faults := problems(market._replace(time=times)):
            raise ConfigError(f"transform {row.title!r} at severity {severity:g}, {channel} channel: {faults[0]}")


@partial(jax.jit, static_argnames=("lanes",))
def _for_all(market: Market, lanes: int) -> Market:
    """Return one market as every lane trades it, ``[lanes, bars]``."""
    return Market(*(jnp.broadcast_to(field, (lanes, *field.shape)) for field in market))


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
    """Return the number of lanes of every shard: equal shapes compile once, and every device gets as many."""
    count = len(devices.chosen())
    return -(-min(config.seeds_per_shard, config.seeds) // count) * count


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
    played = tuple(strategy_of(row, config.texts, bar_seconds=config.bar_seconds) for row in config.strategies)
    on = devices.chosen()
    market_keys, transform_keys = seed_keys(config, shard)
    if config.data is None:
        market = unchanged = _simulated(market_keys, config.bars, config.bar_seconds, on)
    else:
        market = real_windows(config)[shard.window]
        unchanged = _for_all(market, lanes_of(config))
    venue = rules.changed(config.rules)
    own = tuple(metric_of(row, config.texts) for row in config.metrics if row.files)
    columns: dict[str, list[Any]] = {}
    for row in config.transforms:
        for severity in config.severities:
            observed, traded = _seen_and_traded(row, config, transform_keys, market, severity, unchanged, on)
            if row.files:
                _refuse_impossible_candles(row, severity, observed, traded)
            summary = batch.evaluate(
                traded,
                played,
                venue,
                observed=None if observed is traded else observed,
                equity=START_EQUITY,
                bars_per_year=YEAR_SECONDS / config.bar_seconds,
                dtype=config.precision,
                metrics=own,
                devices=on,
            )
            for name, values in rows_of(config, shard, row.title, severity, jax.device_get(summary)).items():
                columns.setdefault(name, []).append(values)
    return {name: np.concatenate(parts) for name, parts in columns.items()}


def decided_by_xla(config: SweepConfig) -> dict[str, str]:
    """Return own and declared strategies that no compiled loop can play on this machine, which has them, and why."""
    if native.status() != "native":
        return {}
    reasons = {
        row.title: loops.status(strategy_of(row, config.texts, bar_seconds=config.bar_seconds), config.precision)
        for row in config.strategies
        if row.files or row.declared is not None
    }
    return {title: reason for title, reason in reasons.items() if reason != "native"}


def warm_up(config: SweepConfig, shard: Shard, *, workers: int) -> None:
    """Compile, or load from the cache, everything that a shard needs; transforms side by side."""
    parts = [
        config.model_copy(update={"transforms": (row,), "severities": config.severities[:1]})
        for row in config.transforms
    ]
    with ThreadPoolExecutor(max_workers=workers) as pool:
        list(pool.map(lambda part: compute(part, shard._replace(seeds=1)), parts))


def rows_of(
    config: SweepConfig, shard: Shard, transform: str, severity: float, summary: Summary
) -> dict[str, np.ndarray]:
    """Return the rows of one transform and severity: strategies, then seeds."""
    played = [row.title for row in config.strategies]
    count = len(played) * shard.seeds
    block: dict[str, np.ndarray] = {
        "transform": np.full(count, transform, dtype=object),
        "severity": np.full(count, severity),
        "window": np.full(count, shard.window, dtype=np.int32),
        "seed": np.tile(np.arange(shard.first, shard.first + shard.seeds, dtype=np.int64), len(played)),
        "strategy": np.repeat(np.asarray(played, dtype=object), shard.seeds),
    }
    titles = [*MEASURES, *(row.title for row in config.metrics if row.files)]
    for name, values in zip(titles, [*summary[: len(MEASURES)], *summary.own], strict=True):
        # what shards had a value of must not decide their columns: their files are read as one table
        if name not in OF_A_PATH:
            block[name] = np.asarray(values, dtype=np.float64)[:, : shard.seeds].ravel()
    return block
