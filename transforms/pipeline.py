"""Applying transforms: one or several in a row, to one market or to a batch."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from backtest import naming
from backtest.market import Market
from transforms.record import Events, Transform, Transformed, no_events, overlay
from transforms.registry import get


def apply(
    name: str, key: jax.Array, market: Market, *, severity: float | jax.Array = 1.0, **params: Any
) -> Transformed:
    """Return what the agent observes, what the account trades on, and what was injected.

    Parameters
    ----------
    name
        A registered name, ``path/to/file.py:name``, or several joined by ``+`` and applied from left to right
        (``noisy+flash_crash``). A transform of the observed channel changes only what is observed; one of both
        channels changes the traded market too, and the observed one in the same way.
    key
        Random key; the same key gives the same result. A batch splits it, one for each market.
    market
        One market ``[bars]`` or a batch ``[batch, bars]``.
    severity
        Size of the effect relative to the default of the transform, >= 0; 0 leaves the market as it is.
    **params
        Parameters of the transform; for a composition each goes to every part that knows it.

    Raises
    ------
    ValueError
        For an unknown transform or parameter, a parameter that is no plain value, or a negative or non-finite severity.
    """
    parts = tuple(check(name, severity=severity, **params))
    changed: Transformed = _applied(parts, tuple(sorted(params.items())), key, market, severity)
    return changed


@partial(jax.jit, static_argnames=("parts", "params"))
def _applied(
    parts: tuple[Transform, ...],
    params: tuple[tuple[str, Any], ...],
    key: jax.Array,
    market: Market,
    severity: float | jax.Array,
) -> Transformed:
    def one(one_key: jax.Array, one_market: Market) -> Transformed:
        return compose(parts, one_key, one_market, severity=severity, params=dict(params))

    if market.close.ndim == 1:
        return one(key, market)
    batched: Transformed = jax.vmap(one)(jax.random.split(key, market.close.shape[0]), market)
    return batched


def check(name: str, *, severity: float | jax.Array = 1.0, **params: Any) -> list[Transform]:
    """Return the parts that ``name`` stands for, or raise as :func:`apply` would."""
    parts = [get(part.strip()) for part in name.split("+")]
    check_severity(severity)
    check_params(name, parts, params)
    return parts


def compose(
    parts: Sequence[Transform], key: jax.Array, market: Market, *, severity: float | jax.Array, params: dict[str, Any]
) -> Transformed:
    """Apply the parts to one market, each with its own key (the first keeps ``key`` when it is alone)."""
    keys = [key] if len(parts) == 1 else list(jax.random.split(key, len(parts)))
    observed = traded = market
    events = no_events(market)
    for part, part_key in zip(parts, keys, strict=True):
        own = {name: value for name, value in params.items() if name in accepted(part)}
        apart = observed is not traded
        if part.channel == "both":
            traded, injected = call(part, part_key, traded, severity=severity, **own)
            observed = call(part, part_key, observed, severity=severity, **own)[0] if apart else traded
        else:
            observed, injected = call(part, part_key, observed, severity=severity, **own)
        events = overlay(events, injected)
    return Transformed(observed, traded, events)


def call(part: Transform, key: jax.Array, market: Market, **params: Any) -> tuple[Market, Events]:
    """Run one transform and give it an event log where it has none of its own."""
    result = part.function(key, market, **params)
    if isinstance(result, Market):
        return result, no_events(market)
    return result


def accepted(part: Transform) -> list[str]:
    """Return the parameter names of a transform besides key, market and severity."""
    return [name for name in list(inspect.signature(part.function).parameters)[2:] if name != "severity"]


def check_params(name: str, parts: list[Transform], params: dict[str, Any]) -> None:
    """Refuse a parameter that no part knows."""
    known = sorted({parameter for part in parts for parameter in accepted(part)})
    for parameter in params:
        if parameter not in known:
            hint = f"{naming.nearest(parameter, known)}; it takes {', '.join(known) or 'none'}"
            raise ValueError(f"transform {name!r} has no parameter {parameter!r}{hint}")


def check_severity(severity: float | jax.Array) -> None:
    """Refuse a severity that is known before tracing and makes no sense."""
    if isinstance(severity, jax.core.Tracer):
        return
    values = np.asarray(severity)
    if values.ndim or not math.isfinite(float(values)) or float(values) < 0.0:
        raise ValueError(f"severity must be one finite number >= 0, got {severity!r}")
