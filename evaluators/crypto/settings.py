"""The dataset's own keys of a config entry, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal, TypeAlias, cast

import transforms
from evaluators.contract import Json

Mode: TypeAlias = Literal["interactive", "strategy"]


@dataclass(frozen=True)
class TransformChoice:
    """One market condition.

    Attributes
    ----------
    name
        As ``transforms.apply`` takes it: a registered name, ``path/to/file.py:name``, or several joined by ``+``.
    severity
        Relative to the transform's default, >= 0.
    params
        Other parameters of the transform.
    """

    name: str
    severity: float = 1.0
    params: Mapping[str, Json] = field(default_factory=dict)


DEFAULT_TRANSFORMS = ("baseline", "noisy", "meta", "adversarial")


@dataclass(frozen=True)
class Settings:
    """What a crypto task is made of.

    Attributes
    ----------
    transforms
        Market conditions; task ``i`` of a draw is under condition ``i`` modulo their number.
    windows
        Market windows of one task, each played twice: as it is and with inverted log-returns.
    bars
        Traded bars of an episode.
    decision_every
        Bars from one decision to the next. None: 1 on simulated markets; on a data folder, as many as make a typical
        move between decisions large against the trading costs.
    mode
        ``interactive`` asks for decisions bar by bar, ``strategy`` once for a declarative strategy.
    path
        Folder or file of candles; None draws simulated markets.
    batch
        Episodes in one message; None sends all of them, 1 gives the published one-episode message.
    """

    transforms: tuple[TransformChoice, ...]
    windows: int = 16
    bars: int = 28
    decision_every: int | None = None
    mode: Mode = "interactive"
    path: str | None = None
    batch: int | None = None


def parse(options: Mapping[str, Json]) -> Settings:
    """Return the settings; an unknown key or value raises ``ValueError`` naming it and what is allowed."""
    allowed = [*Settings.__dataclass_fields__, "severity"]
    if "hf_dataset" in options:
        raise ValueError(
            f"crypto: hf_dataset {options['hf_dataset']!r} is not fetched by this dataset; download its candle files "
            "and give their folder as path, or leave both out for simulated markets"
        )
    for key in options:
        if key not in allowed:
            near = get_close_matches(str(key), allowed, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"crypto: unknown option {key!r}{hint} (allowed: {', '.join(allowed)})")
    mode = options.get("mode", "interactive")
    if mode not in ("interactive", "strategy"):
        raise ValueError(f"crypto: mode must be 'interactive' or 'strategy', got {mode!r}")
    path = options.get("path")
    if path is not None and not isinstance(path, str):
        raise ValueError(f"crypto: path must be a folder or file of candles, got {path!r}")
    settings = Settings(
        transforms=tuple(choice(item, options.get("severity", 1.0)) for item in items(options.get("transforms"))),
        windows=whole(options, "windows", 64 if mode == "strategy" else 16, low=2, high=4096),
        bars=whole(options, "bars", 500 if mode == "strategy" else 28, low=2, high=100_000),
        decision_every=optional_whole(options, "decision_every", low=1, high=1440),
        mode=cast(Mode, mode),
        path=path,
        batch=optional_whole(options, "batch", low=1, high=8192),
    )
    if settings.decision_every is not None and settings.bars % settings.decision_every:
        raise ValueError(
            f"crypto: bars ({settings.bars}) must be a multiple of decision_every ({settings.decision_every})"
        )
    return settings


def items(value: Json) -> list[Json]:
    """Return the entries of ``transforms``."""
    if value is None:
        return list(DEFAULT_TRANSFORMS)
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"crypto: transforms must be a list of names or of {{name, severity, ...}}, got {value!r}")
    return list(value)


def choice(item: Json, severity: Json) -> TransformChoice:
    """Return one market condition, checked against the transform; ``severity`` is for those that state none."""
    entry = {"name": item} if isinstance(item, str) else item
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        raise ValueError(f"crypto: a transform is a name or {{name, severity, ...}}, got {item!r}")
    own = entry.get("severity", severity)
    if isinstance(own, bool) or not isinstance(own, int | float):
        raise ValueError(f"crypto: severity of transform {entry['name']!r} must be a number, got {own!r}")
    params = {key: value for key, value in entry.items() if key not in ("name", "severity")}
    transforms.check(entry["name"], severity=float(own), **params)
    return TransformChoice(entry["name"], float(own), params)


def whole(options: Mapping[str, Json], name: str, default: int, *, low: int, high: int) -> int:
    """Return a whole number of the options within its range."""
    value = options.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"crypto: {name} must be a whole number from {low} to {high}, got {value!r}")
    return value


def optional_whole(options: Mapping[str, Json], name: str, *, low: int, high: int) -> int | None:
    """Return a whole number of the options within its range, or None when it is not given."""
    return None if options.get(name) is None else whole(options, name, low, low=low, high=high)
