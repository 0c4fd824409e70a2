"""What a sweep crosses: transforms, severities, windows, seeds, strategies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from backtest import rules
from backtest.metrics import own as own_metrics
from backtest.metrics.measures import MEASURES
from backtest.strategies import own
from engine import shipped
from engine.config import DeviceName
from engine.errors import ConfigError
from engine.sweep.rows import (
    KEYS,
    Row,
    StrategyRow,
    metric_of,
    named,
    require_titles,
    strategy_of,
    texts_of,
    trace_transform,
    transforms_of,
    with_declared,
)
from evaluators.records import Record, explain

MOST_SEVERE = 1000.0
MOST_BARS_A_SHARD = 20_000_000
"""A shard is held in memory as a whole: its markets alone take about 1 GB at this size."""
MOST_SHARDS = 1_000_000
SEEDS_END = 2**32
"""Random keys are made of 32 bits of the seed."""


class SweepExecutionConfig(Record):
    """Where a sweep is computed (``engine.devices``): it changes results by rounding, and so is not part of them."""

    device: DeviceName | None = None


class SweepConfig(Record):
    """The YAML of a sweep.

    Every combination of transform, severity, window, seed and strategy is one cell. On simulated markets a seed draws
    a market of its own and the noise of the transform; on candle files the market is the window's, and a seed draws
    the noise.

    Attributes
    ----------
    metrics
        Measures that the report and ``--json`` show besides log growth, Sharpe ratio and largest drawdown: own ones,
        which are stored with the others, or some that are always stored, by name.
    texts
        What the own files say that rows name, by their paths: filled in by :func:`load`. So the sweep's identity holds
        them, and workers need no files.
    """

    name: str
    version: str = "1"
    description: str = ""
    transforms: Annotated[tuple[Row, ...], Field(min_length=1)]
    severities: Annotated[tuple[float, ...], Field(min_length=1)] = (1.0,)
    seeds: Annotated[int, Field(ge=1, le=10_000_000)]
    first_seed: Annotated[int, Field(ge=0)] = 0
    strategies: Annotated[tuple[StrategyRow, ...], Field(min_length=1)]
    metrics: tuple[Row, ...] = ()
    windows: Annotated[int, Field(ge=1)] = 1
    bars: Annotated[int, Field(ge=2)]
    bar_seconds: Annotated[float, Field(ge=1, le=366 * 86_400)] = 3600.0
    data: str | None = None
    rules: dict[str, float] = Field(default_factory=dict)
    precision: Literal["float64", "float32"] = "float64"
    seeds_per_shard: Annotated[int, Field(ge=1, le=65_536)] = 125
    execution: SweepExecutionConfig = SweepExecutionConfig()
    texts: dict[str, str] = Field(default_factory=dict)

    @field_validator("strategies", "transforms", "metrics", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return named(value)

    @field_validator("rules", mode="before")
    @classmethod
    def _given(cls, value: Any) -> Any:
        return (
            {name: number for name, number in value.items() if number is not None} if isinstance(value, dict) else value
        )

    @field_validator("severities")
    @classmethod
    def _in_range(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        for severity in value:
            if not 0.0 <= severity <= MOST_SEVERE:
                raise ValueError(f"a severity lies between 0 and {MOST_SEVERE:g}, got {severity!r}")
        return value

    @field_validator("severities")
    @classmethod
    def _once(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        for item in value:
            if value.count(item) > 1:
                raise ValueError(f"{item!r} stands there twice")
        return value

    @model_validator(mode="after")
    def _of_possible_size(self) -> SweepConfig:
        held = self.bars * min(self.seeds, self.seeds_per_shard)
        if held > MOST_BARS_A_SHARD:
            raise ValueError(
                f"bars times seeds_per_shard: {held:,} bars would be held in memory at once, at most "
                f"{MOST_BARS_A_SHARD:,}; lower seeds_per_shard or bars"
            )
        shards = self.windows * -(-self.seeds // self.seeds_per_shard)
        if shards > MOST_SHARDS:
            raise ValueError(
                f"windows times seeds: this sweep has {shards:,} shards, at most {MOST_SHARDS:,}; raise seeds_per_shard"
            )
        if self.first_seed + self.seeds > SEEDS_END:
            raise ValueError(f"first_seed: seeds end at 2**32, got {self.first_seed} and {self.seeds} after it")
        return self

    def on(self, device: str) -> SweepConfig:
        """Return the sweep on another device."""
        return self.model_copy(update={"execution": SweepExecutionConfig(device=device)})

    @property
    def cells(self) -> int:
        """Number of backtests."""
        return len(self.transforms) * len(self.severities) * self.windows * self.seeds * len(self.strategies)

    @property
    def bar_steps(self) -> int:
        """Number of bars over all backtests."""
        return self.cells * self.bars

    def identity(self) -> dict[str, Any]:
        """Return everything that a result depends on, but for its rounding."""
        return self.model_dump(mode="json", exclude={"description", "execution"})

    def digest(self) -> str:
        """Return the sha256 of :meth:`identity`."""
        return hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode()).hexdigest()


def load(path: str | Path) -> SweepConfig:
    """Return the sweep of a YAML file, or of a shipped one by name (:func:`engine.shipped.config_file`).

    Raises
    ------
    ConfigError
        When the file cannot be read, or a key or value is wrong; one line that names it.
    """
    file = shipped.config_file(path, kind="sweep")
    try:
        raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read config {path}: {error}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path} must hold a mapping of keys, got {type(raw).__name__}")
    return parse(raw, source=str(path), folder=file.parent)


def parse(raw: dict[str, Any], *, source: str, folder: Path) -> SweepConfig:
    """Return the checked sweep of a mapping whose own files are seen from ``folder``; see :func:`load` for errors."""
    if "datasets" in raw:
        raise ConfigError(f"{source}: this is the config of a run; run it with: traderbench run {source}")
    if "texts" in raw:
        raise ConfigError(f"{source}: texts: this key is filled in from the files that rows name; leave it out")
    try:
        config = SweepConfig.model_validate(raw)
        config = _with_files(config, folder=folder)
        _check_rows(config)
    except ValidationError as error:
        raise ConfigError(f"{source}: {explain(error, SweepConfig)}") from error
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error
    return config


def _with_files(config: SweepConfig, *, folder: Path) -> SweepConfig:
    """Return the sweep with what its own files say."""
    texts = texts_of(config.strategies, what="strategy", folder=folder)
    texts |= texts_of(config.transforms, what="transform", folder=folder)
    texts |= texts_of(config.metrics, what="metric", folder=folder)
    declared = tuple(with_declared(row, folder=folder) for row in config.strategies)
    return config.model_copy(update={"texts": texts, "strategies": declared})


def _check_rows(config: SweepConfig) -> None:
    """Raise ``ValueError`` for the first row, or trading rule, that a shard would fail on."""
    rules.changed(config.rules)
    for row in config.transforms:
        parts = transforms_of(row, config.texts)
        if row.files or row.params:
            trace_transform(row, parts, bars=config.bars)
    for row in config.strategies:
        strategy = strategy_of(row, config.texts, bar_seconds=config.bar_seconds)
        if row.files:
            own.check(row.title, strategy, dtype=config.precision)
    for row in config.metrics:
        measure = metric_of(row, config.texts)
        if row.files:
            own_metrics.check(row.title, measure)
            if row.title in (*KEYS, *MEASURES):
                raise ValueError(f"metrics: {row.title!r} is a column of every sweep; give yours another label")
    require_titles(config.metrics, what="metrics")
    require_titles(config.transforms, what="transforms")
    require_titles(config.strategies, what="strategies")
