"""Market windows: drawn from the simulator or from candle files, each with its mirror image, without a name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
import numpy.typing as npt

import transforms
from backtest import simulators
from backtest.market import Market
from backtest.simulators.channels import Channels, mirrored
from evaluators.crypto.hindsight import Array
from evaluators.crypto.settings import TransformChoice

WARMUP_BARS = 68
"""Observed bars before the first decision: enough for a 50-bar average and the slower part of MACD."""
KNOWABLE_WARMUP_BARS = 240
"""The same on markets in which something can be known: ten days of hours, enough to find most of it."""

START_TIME = 1_600_000_000.0
"""Of simulated markets, about."""
DAY = 86_400.0
FIRST_TIME = 1_717_372_800.0
"""2024-06-03 00:00 UTC: the week in which every disguised window begins."""


class Known(NamedTuple):
    """What only the harness knows of simulated windows or episodes, and the channels that are shown beside candles.

    Attributes
    ----------
    channels
        Fields ``[..., bars]``, numpy.
    mean
        ``[..., bars]`` conditional mean of the bar's log-return from open to close in the market as it was drawn.
    drawn
        ``[..., bars]`` that return as it was drawn. What a transform made of the market beyond it is luck or the
        transform's own.
    deviation
        ``[..., bars]`` standard deviation that the return would have had without a structure.
    lean
        ``[..., bars]`` P(up) - P(down) of the bar given what was shown.
    traits
        Fields ``[...]``: what the markets were drawn with.
    """

    channels: Channels
    mean: Array
    drawn: Array
    deviation: Array
    lean: Array
    traits: simulators.Traits

    @property
    def structure(self) -> list[str]:
        """Return what could be known, a name of ``backtest.simulators.STRUCTURES`` for each."""
        return [simulators.MENU[kind] for kind in self.traits.kind]


class Twin(NamedTuple):
    """Markets that are played in their mirror images alone, and what is known of them."""

    market: Market
    known: Known


class Windows(NamedTuple):
    """Windows as they were found.

    Attributes
    ----------
    market
        Fields ``[windows, bars]``, numpy.
    family
        One label a window; windows that share bars share it.
    label
        Where the window comes from, for the report (never for the agent).
    warmup
        Bars that are shown before the first decision.
    known
        What could be known; None where nobody knows.
    twin
        What the mirror images are made of, window by window, where it is not the windows themselves (:func:`venue`).
    """

    market: Market
    family: tuple[str, ...]
    label: tuple[str, ...]
    warmup: int = WARMUP_BARS
    known: Known | None = None
    twin: Twin | None = None


class Episodes(NamedTuple):
    """Episodes as they are played: windows and mirrors, transformed and disguised, in shuffled order.

    Attributes
    ----------
    observed, traded
        Fields ``[episodes, bars]``, numpy.
    window
        ``[episodes]`` index of the window an episode comes from.
    mirrored
        ``[episodes]`` whether its log-returns are inverted.
    symbol
        Neutral names.
    warmup
        Bars that are shown before the first decision.
    known
        What could be known; None where nobody knows.
    """

    observed: Market
    traded: Market
    window: npt.NDArray[np.int64]
    mirrored: npt.NDArray[np.bool_]
    symbol: tuple[str, ...]
    warmup: int = WARMUP_BARS
    known: Known | None = None


@partial(jax.jit, static_argnames=("markets",))
def drawn_traits(key: jax.Array, markets: int) -> simulators.Traits:
    """Return what so many markets are drawn with, compiled."""
    traits: simulators.Traits = simulators.draw_traits(key, markets=markets)
    return traits


@partial(jax.jit, static_argnames=("bars",))
def _knowable(keys: jax.Array, traits: simulators.Traits, start_time: jax.Array, bars: int) -> simulators.Knowable:
    def simulate(key: jax.Array, traits: simulators.Traits, start_time: jax.Array) -> simulators.Knowable:
        made: simulators.Knowable = simulators.simulate_knowable(key, traits, bars=bars, start_time=start_time)
        return made

    made: simulators.Knowable = jax.vmap(simulate)(keys, traits, start_time)
    return made


def played(keys: jax.Array, traits: simulators.Traits, *, bars: int, start_time: Any = START_TIME) -> Twin:
    """Return markets with as many traded bars, and what can be known of them."""
    starts = np.broadcast_to(np.asarray(start_time, float), (len(keys),))
    made: simulators.Knowable = jax.device_get(_knowable(keys, traits, starts, KNOWABLE_WARMUP_BARS + bars))
    market = to_numpy(made.market)
    drawn = np.log(market.close / market.open)
    return Twin(
        market,
        Known(
            made.channels,
            np.asarray(made.mean),
            drawn,
            np.asarray(made.deviation),
            np.asarray(made.lean),
            jax.device_get(traits),
        ),
    )


def knowable(key: jax.Array, *, windows: int, bars: int, name: str) -> Windows:
    """Return windows of simulated markets in which something can be known, hourly, ``bars`` of them traded."""
    traits_key, key = jax.random.split(key)
    traits = drawn_traits(traits_key, windows)
    made = played(jax.random.split(key, windows), traits, bars=bars)
    return Windows(made.market, labels(name, windows), ("simulated",) * windows, KNOWABLE_WARMUP_BARS, made.known)


def labels(name: str, windows: int) -> tuple[str, ...]:
    """Return where each of so many windows comes from, for the report."""
    return tuple(f"{name}-{index:03d}" for index in range(windows))


def episodes(windows: Windows, choice: TransformChoice, *, key: jax.Array, seed: list[int]) -> Episodes:
    """Return the episodes of one task.

    Parameters
    ----------
    windows
        What is played.
    choice
        The market condition.
    key
        Random key of the transform.
    seed
        Entropy of the disguise: scale, time, names, order.

    Raises
    ------
    ValueError
        When a bar of either channel is not finite or has a price that is not above 0.
    """
    changed = _changed(windows.market, choice, key)
    observed, traded = to_numpy(changed.observed), to_numpy(changed.traded)
    # A twin meets the same key, and so the same lies at the same bars: what leans one way in the window leans the other
    # way in the image.
    other = changed if windows.twin is None else _changed(windows.twin.market, choice, key)
    inverted, pivot = (to_numpy(other.observed), to_numpy(other.traded)), np.asarray(other.traded.open)[:, :1]
    seen, real = (
        paired(channel, mirror(image, pivot)) for channel, image in zip((observed, traded), inverted, strict=True)
    )
    for name, channel in (("observed", seen), ("traded", real)):
        check(channel, f"{choice.name} at severity {choice.severity:g}, {name} channel")
    count = 2 * len(windows.label)
    rng = np.random.default_rng(seed)
    order = rng.permutation(count)
    scale = 10.0 ** rng.uniform(0.5, 3.5, (count, 1)) / real.open[:, :1]
    first_time = FIRST_TIME + DAY * rng.integers(0, 7, (count, 1)) + real.time[:, :1] % DAY
    crowd = 10.0 ** rng.uniform(-0.5, 0.5, (count, 1))
    seen = disguised(seen, scale=scale, first_time=first_time)
    real = disguised(real, scale=scale, first_time=first_time)
    seen = seen._replace(volume=seen.volume * crowd)
    return Episodes(
        observed=of(field[order] for field in seen),
        traded=of(field[order] for field in real),
        window=np.tile(np.arange(count // 2), 2)[order],
        mirrored=(np.arange(count) >= count // 2)[order],
        symbol=tuple(f"ASSET{number:02d}" for number in range(1, count + 1)),
        warmup=windows.warmup,
        known=None if windows.known is None else _both_images(windows.known, windows.twin, order),
    )


def _changed(market: Market, choice: TransformChoice, key: jax.Array) -> transforms.Transformed:
    return transforms.apply(choice.name, key, market, severity=choice.severity, **choice.params)


def _both_images(known: Known, twin: Twin | None, order: npt.NDArray[np.int64]) -> Known:
    """Return what is known of windows and their mirrors, in the order of the episodes."""
    other = known if twin is None else twin.known
    image = Known(
        mirrored(other.channels),
        -other.mean,
        -other.drawn,
        other.deviation,
        -other.lean,
        jax.device_get(simulators.mirrored_traits(other.traits)),
    )
    both: Known = jax.tree.map(lambda one, other: np.concatenate([one, other])[order], known, image)
    return both


def mirror(market: Market, pivot: Any) -> Market:
    """Return the market with inverted log-returns around ``pivot`` ``[windows, 1]``; all else stays.

    Funding stays, too: it is mostly positive in every market, so that inverted it would say which image is the mirror.
    """
    return market._replace(
        open=pivot * (pivot / market.open),
        high=pivot * (pivot / market.low),
        low=pivot * (pivot / market.high),
        close=pivot * (pivot / market.close),
    )


def check(market: Market, where: str) -> None:
    """Refuse windows and their mirrors, fields ``[2 * windows, bars]``, that no account could be kept in.

    Raises
    ------
    ValueError
        When a value is not finite or a price is not above 0, with ``where``, the field, the first place and the count.
    """
    for name, values in market._asdict().items():
        priced = name in ("open", "high", "low", "close")
        bad = ~np.isfinite(values) | ((values <= 0.0) if priced else False)
        if bad.any():
            episode, bar = (int(place) for place in np.argwhere(bad)[0])
            image = "" if episode < len(values) // 2 else " (mirrored)"
            wanted = "a finite price above 0" if priced else "a finite number"
            raise ValueError(
                f"crypto: {where}: {name} of window {episode % (len(values) // 2)}{image}, bar {bar} must be {wanted}, "
                f"got {float(values[episode, bar])!r} ({int(bad.sum())} of {bad.size} values)"
            )


def paired(first: Market, second: Market) -> Market:
    """Return two batches as one, first the one, then the other."""
    return of(np.concatenate(fields) for fields in zip(first, second, strict=True))


def disguised(market: Market, *, scale: Any, first_time: Any) -> Market:
    """Return the market with rescaled prices, volumes that keep their notional, and another date."""
    return market._replace(
        time=market.time - market.time[:, :1] + first_time,
        open=market.open * scale,
        high=market.high * scale,
        low=market.low * scale,
        close=market.close * scale,
        volume=market.volume / scale,
    )


def to_numpy(market: Market) -> Market:
    """Return the market with numpy fields: the harness reads single bars of it, which is slow on device arrays."""
    return of(np.asarray(field) for field in jax.device_get(market))


def of(fields: Iterable[Any]) -> Market:
    """Return the record of ``fields``, numpy or jax."""
    return Market(*fields)
