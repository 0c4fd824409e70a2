"""The market record every other file speaks about, and what makes one valid."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pricing.inputs import brief, number, numbers
from pricing.signature import checked

YEAR_SECONDS = 365.0 * 86_400.0
"""Of a market that never closes."""
_LATEST = 1e11
"""Seconds since 1970, about the year 5100: numbers beyond are milliseconds or smaller."""


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

    @classmethod
    def from_frame(cls, frame: Any, *, time: str | None = None, funding_rate: float | None = None) -> Market:
        """Return the checked market of a pandas DataFrame of candles, one row a bar.

        >>> import pandas as pd
        >>> hours = pd.date_range("2026-01-01", periods=2, freq="h", tz="UTC")
        >>> columns = {"Open": [1.0, 2.0], "High": 3.0, "Low": 0.5, "Close": 2.0, "Volume": 9.0}
        >>> candles = pd.DataFrame(columns, index=hours)
        >>> Market.from_frame(candles, funding_rate=0.0).close.tolist()
        [2.0, 2.0]

        Parameters
        ----------
        frame
            Columns ``open``, ``high``, ``low``, ``close``, ``volume`` and ``funding_rate``, in any case of letters.
        time
            Column with the open times: dates (UTC where they state no zone) or seconds since 1970. The index when
            omitted.
        funding_rate
            For all bars, where the frame has no such column: 0.0 where no funding is exchanged.

        Raises
        ------
        ValueError
            For a missing or double column, times that are neither dates nor seconds, and all that :func:`check` finds.
        """
        return check(cls(**_columns(frame, time, funding_rate)))


def _columns(frame: Any, time: str | None, funding_rate: float | None) -> dict[str, Any]:
    if not (hasattr(type(frame), "to_numpy") and hasattr(frame, "columns")):
        raise ValueError(f"frame must be a DataFrame, got {brief(frame)}")
    there = [str(label) for label in frame.columns]
    found: dict[str, Any] = {}
    for name in Market._fields[1:]:
        places = [place for place, label in enumerate(there) if label.lower() == name]
        if len(places) > 1:
            raise ValueError(f"frame must have one column {name!r}, got {[there[place] for place in places]}")
        if places:
            found[name] = np.asarray(numbers(name, frame.iloc[:, places[0]]), float)
        elif name == "funding_rate" and funding_rate is not None:
            found[name] = np.full(len(frame), number(name, funding_rate))
        else:
            cure = "; pass funding_rate=0.0 where no funding is exchanged" if name == "funding_rate" else ""
            raise ValueError(f"frame has no column {name!r}, it has {', '.join(there)}{cure}")
    if time is not None and there.count(time) != 1:
        raise ValueError(f"time must name one column of the frame ({', '.join(there)}), got {time!r}")
    return {"time": _seconds(frame.index if time is None else frame.iloc[:, there.index(time)]), **found}


def _seconds(times: Any) -> Any:
    """Seconds since 1970 UTC of dates with or without a zone; of numbers, which must be such seconds."""
    if getattr(times.dtype, "kind", "O") == "M":
        return times.to_numpy(dtype="datetime64[ns]").astype(np.int64) / 1e9
    plain = np.asarray(times)
    if plain.size and isinstance(plain.flat[0], str):
        raise ValueError(f"time must be dates or seconds since 1970, got text {plain.flat[0]!r}: pandas.to_datetime it")
    seconds = np.asarray(numbers("time", times), float)
    if seconds.size and not (np.abs(seconds) < _LATEST).all():
        raise ValueError(f"time must be dates or seconds since 1970, got {seconds[0]!r}: milliseconds?")
    if seconds.size > 1 and np.array_equal(seconds, np.arange(seconds.size)):
        raise ValueError("time must be dates or seconds since 1970, got 0, 1, 2, ...: name the column that holds it")
    return seconds


@checked
def bar_at(market: Market, index: int) -> Market:
    """Return bar ``index`` of a market: every field without its last axis. ``ValueError`` without such a bar."""
    bars = require_shapes(market)[-1]
    if not -bars <= index < bars:
        raise ValueError(f"index must be one of the {bars} bars, got {index}")
    return Market(*(field[..., index] for field in market))


@checked
def window(market: Market, start: int, stop: int) -> Market:
    """Return bars ``start`` to ``stop`` (excluded) of a market. ``ValueError`` unless ``0 <= start < stop <= bars``."""
    bars = require_shapes(market)[-1]
    if not 0 <= start < stop <= bars:
        raise ValueError(
            f"start and stop must hold 0 <= start < stop <= {bars}, the number of bars; got {start}, {stop}"
        )
    return Market(*(field[..., start:stop] for field in market))


def bars_last_to_first(market: Market) -> Market:
    """Return the market with the bar axis first, the layout a scan reads."""
    return Market(*(jnp.moveaxis(field, -1, 0) for field in market))


@checked
def stack(markets: list[Market]) -> Market:
    """Return a batch ``[batch, bars]`` of markets ``[bars]`` of equal length (``ValueError``)."""
    if not markets:
        raise ValueError("markets must hold at least one market, got none")
    if len(require_shapes(*markets)) != 1:
        raise ValueError(f"markets must each have shape [bars], got {jnp.shape(markets[0].close)}")
    return Market(*(jnp.stack(fields) for fields in zip(*markets, strict=True)))


def require_shapes(*markets: Market) -> tuple[int, ...]:
    """Return the one shape of all fields of some markets, ``[bars]`` or ``[batch, bars]``, or raise."""
    shape = jnp.shape(markets[0].close)
    if len(shape) not in (1, 2) or 0 in shape:
        raise ValueError(f"a market must have shape [bars] or [batch, bars] with at least one bar, got {shape}")
    for place, market in enumerate(markets):
        for name, field in zip(Market._fields, market, strict=True):
            if jnp.shape(field) != shape:
                which = f" of market {place}" if place else ""
                raise ValueError(f"{name}{which} must have the shape of close, {shape}, got {jnp.shape(field)}")
    return shape


@checked
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


@checked
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
