"""The market record every other file speaks about, and what makes one valid."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Market(NamedTuple):
    """Candles of one market, or of a batch of markets.

    Every field has shape ``[bars]`` or ``[batch, bars]``. Prices are in units of the quote currency. One bar is a
    Market whose fields have lost the last axis.

    Attributes
    ----------
    time
        Open time of each bar, seconds since 1970-01-01 UTC, strictly increasing.
    open, high, low, close
        Prices, > 0, with ``low <= min(open, close)`` and ``high >= max(open, close)``.
    volume
        Traded amount of the base currency within the bar, >= 0.
    funding_rate
        Rate that a long pays to a short **at the open of this bar**, as a fraction of notional; 0 where no funding is
        exchanged in this bar.
    """

    time: jax.Array
    open: jax.Array
    high: jax.Array
    low: jax.Array
    close: jax.Array
    volume: jax.Array
    funding_rate: jax.Array


def bar_at(market: Market, index: int) -> Market:
    """Return bar ``index`` of a market: every field without its last axis."""
    return Market(*(field[..., index] for field in market))


def window(market: Market, start: int, stop: int) -> Market:
    """Return bars ``start`` to ``stop`` (excluded) of a market."""
    return Market(*(field[..., start:stop] for field in market))


def bars_last_to_first(market: Market) -> Market:
    """Return the market with the bar axis first, the layout a scan reads."""
    return Market(*(jnp.moveaxis(field, -1, 0) for field in market))


def stack(markets: list[Market]) -> Market:
    """Return a batch ``[batch, bars]`` of markets of equal length."""
    return Market(*(jnp.stack(fields) for fields in zip(*markets, strict=True)))


def problems(market: Market) -> list[str]:
    """Return one line for each kind of fault in a market of concrete arrays; empty when it is valid.

    Each line names the field, the first faulty bar, its value, and how many bars are concerned. Nothing is repaired.
    """
    fields = {name: np.asarray(value) for name, value in zip(Market._fields, market, strict=True)}
    shape = fields["close"].shape
    unequal = [f"{name} has shape {value.shape}" for name, value in fields.items() if value.shape != shape]
    if unequal:
        return [f"every field must have the shape of close, {shape}: {', '.join(unequal)}"]
    if len(shape) not in (1, 2) or 0 in shape:
        return [f"a market must have shape [bars] or [batch, bars] with at least one bar, got {shape}"]
    faults: list[str] = []

    def rule(name: str, bad: np.ndarray, wanted: str) -> None:
        if bad.any():
            where = tuple(int(i) for i in np.argwhere(bad)[0])
            bar = ", ".join(str(i) for i in where)
            value = fields[name][where].item()
            faults.append(f"{name}[{bar}] = {value!r} must be {wanted} ({int(bad.sum())} of {bad.size} bars)")

    for name, value in fields.items():
        rule(name, ~np.isfinite(value), "finite")
    for name in ("open", "high", "low", "close"):
        rule(name, fields[name] <= 0, "above 0")
    rule("low", fields["low"] > np.minimum(fields["open"], fields["close"]), "at most min(open, close)")
    rule("high", fields["high"] < np.maximum(fields["open"], fields["close"]), "at least max(open, close)")
    rule("volume", fields["volume"] < 0, "at least 0")
    rule("funding_rate", np.abs(fields["funding_rate"]) >= 1, "between -1 and 1")
    backwards = np.zeros(shape, bool)
    backwards[..., 1:] = np.diff(fields["time"], axis=-1) <= 0
    rule("time", backwards, "later than the bar before")
    return faults


def check(market: Market) -> Market:
    """Return the market unchanged, or raise.

    Raises
    ------
    ValueError
        With every fault that :func:`problems` finds.
    """
    faults = problems(market)
    if faults:
        raise ValueError("not a valid market: " + "; ".join(faults))
    return market
