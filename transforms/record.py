"""What a transform is, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from backtest.market import Market

Channel: TypeAlias = Literal["observed", "both"]

KINDS: tuple[str, ...] = (
    "none",
    "volume_spike",
    "trend_modification",
    "false_breakout",
    "level_violation",
    "false_cross",
    "false_divergence",
    "false_momentum",
    "crash",
    "pump",
    "liquidity_drought",
    "gap",
    "stale_bar",
    "missing_bar",
    "wash_volume",
    "regime_change",
    "resampled_block",
    "worst_case",
    "custom",
)
"""Names of injected events; an event array holds indices into this tuple."""


class Events(NamedTuple):
    """What was injected, bar by bar.

    Attributes
    ----------
    kind
        ``[bars]`` int32, an index into ``KINDS``; 0 where nothing was injected. The last transform of a composition
        wins where two meet in one bar.
    size
        ``[bars]`` the injected size: log-price deviation at the close for price events, volume multiple for volume
        events, bars of delay for feed events.
    """

    kind: jax.Array
    size: jax.Array


class Transformed(NamedTuple):
    """A market in its two channels.

    Attributes
    ----------
    observed
        What the agent is shown.
    traded
        What the account trades on.
    events
        What was injected, and where.
    """

    observed: Market
    traded: Market
    events: Events


TransformFunction: TypeAlias = Callable[..., Market | tuple[Market, Events]]


@dataclass(frozen=True)
class Transform:
    """A transform with what it declares about itself.

    Attributes
    ----------
    function
        ``(key, market, *, severity, **params) -> market`` or ``-> (market, events)`` for one market of shape
        ``[bars]``; pure, traceable by jit and vmap. Severity 0 gives the market back.
    channel
        ``observed`` when only the agent's view changes, ``both`` when the event really happens.
    looks_ahead
        How many bars of the future a bar of the result may depend on; None when it may depend on all of them.
    """

    function: TransformFunction
    channel: Channel
    looks_ahead: int | None = 0

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    @property
    def summary(self) -> str:
        """First line of the function's docstring."""
        return (self.function.__doc__ or "").strip().split("\n")[0]


def transform(*, channel: Channel, looks_ahead: int | None = 0) -> Callable[[TransformFunction], Transform]:
    """Declare a function as a transform; see :class:`Transform` for what it must be.

    Raises
    ------
    ValueError
        When the channel is neither ``observed`` nor ``both``.
    """
    if channel not in ("observed", "both"):
        raise ValueError(f"channel must be 'observed' or 'both', got {channel!r}")

    def declare(function: TransformFunction) -> Transform:
        return Transform(function, channel, looks_ahead)

    return declare


def no_events(market: Market) -> Events:
    """Return an empty event log for one market."""
    return Events(jnp.zeros(market.close.shape, jnp.int32), jnp.zeros_like(market.close))


def mark(kind: str, where: jax.Array, size: jax.Array) -> Events:
    """Return an event log with ``kind`` where ``where`` is true.

    Parameters
    ----------
    kind
        One of ``KINDS``.
    where
        ``[bars]`` bool.
    size
        ``[bars]`` injected size, kept where ``where`` is true.

    Raises
    ------
    ValueError
        For another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)} (custom for one of your own), got {kind!r}")
    return Events(jnp.where(where, KINDS.index(kind), 0).astype(jnp.int32), jnp.where(where, size, 0.0))


def overlay(first: Events, second: Events) -> Events:
    """Return one event log in which ``second`` wins where both have an event."""
    taken = second.kind != 0
    return Events(jnp.where(taken, second.kind, first.kind), jnp.where(taken, second.size, first.size))


def describe(events: Events) -> list[dict[str, str | int | float]]:
    """Return the event log of one market as rows ``{bar, kind, size}`` for people and reports."""
    kind, size = np.asarray(events.kind), np.asarray(events.size)
    return [{"bar": int(bar), "kind": KINDS[kind[bar]], "size": float(size[bar])} for bar in np.flatnonzero(kind)]
