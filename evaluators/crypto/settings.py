"""What a crypto task is made of: the options of a config entry with every default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import transforms
from evaluators.contract import Json
from evaluators.crypto.options import Options

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
        Market windows of one task, each played twice: as it is and with inverted log-returns. 48 simulated ones have
        every structure twice with either sign, which is the default; on candles it is 24, for a strategy 64.
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
        Episodes in one message; None sends all of them, 1 gives the published one-episode message (which an agent
        that answers the first message in its form is sent in any case).
    """

    transforms: tuple[TransformChoice, ...]
    windows: int = 48
    bars: int = 12
    decision_every: int | None = None
    mode: Mode = "interactive"
    path: str | None = None
    batch: int | None = None


def parse(options: Options) -> Settings:
    """Return the settings with every default; a transform that cannot be made raises ``ValueError`` with its name."""
    mode = options.mode or "interactive"
    settings = Settings(
        transforms=tuple(
            choice(item, options.severity, candles=options.path is not None)
            for item in options.transforms or DEFAULT_TRANSFORMS
        ),
        windows=options.windows or _usual_windows(mode, options.path),
        bars=options.bars or (500 if mode == "strategy" else 12),
        decision_every=options.decision_every,
        mode=mode,
        path=options.path,
        batch=options.batch,
    )
    if settings.decision_every is not None and settings.bars % settings.decision_every:
        raise ValueError(f"bars ({settings.bars}) must be a multiple of decision_every ({settings.decision_every})")
    return settings


def _usual_windows(mode: Mode, path: str | None) -> int:
    if mode == "strategy":
        return 64
    return 48 if path is None else 24


def choice(item: str | Mapping[str, Json], severity: float | None, *, candles: bool) -> TransformChoice:
    """Return one market condition, checked against the transform; ``severity`` is for those that state none."""
    entry: Mapping[str, Json] = {"name": item} if isinstance(item, str) else item
    name, own = entry["name"], entry.get("severity", 1.0 if severity is None else severity)
    if isinstance(own, bool) or not isinstance(own, int | float):
        raise ValueError(f"severity of transform {name!r} must be a number, got {own!r}")
    params = {key: value for key, value in entry.items() if key not in ("name", "severity")}
    for part in transforms.check(name, severity=float(own), **params):
        _require_no_foresight(part, candles=candles)
    return TransformChoice(name, float(own), params)


def _require_no_foresight(transform: transforms.Transform, *, candles: bool) -> None:
    """Refuse a transform whose bars hang on later ones, where what happens is what counts.

    Whoever follows such bars would be paid for what nobody can know. On simulated markets the conditional mean counts,
    which knows nothing of later bars, as long as these are traded as they were drawn.
    """
    if transform.looks_ahead != 0 and (candles or transform.channel == "both"):
        where = "on candles" if candles else "where it is traded"
        raise ValueError(
            f"transforms: {transform.name!r} lets a bar hang on later ones: {where}, following it would pay for what "
            "nobody can know; take another (a sweep takes them all)"
        )
