"""What a sweep crosses: transforms, severities, windows, seeds, strategies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator, model_validator

from engine import shipped
from engine.errors import ConfigError
from evaluators.records import Record, explain

MOST_SEVERE = 1000.0
MOST_BARS_A_SHARD = 20_000_000
"""A shard is held in memory as a whole: its markets alone take about 1 GB at this size."""
MOST_SHARDS = 1_000_000
SEEDS_END = 2**32
"""Random keys are made of 32 bits of the seed."""


class StrategyChoice(Record):
    """One strategy: a reference strategy by name with its parameters."""

    name: str
    label: str = ""
    params: dict[str, int | float] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name in results."""
        return self.label or self.name


class RulesConfig(Record):
    """Trading rules that differ from the defaults of ``backtest.rules``."""

    fee_bps: Annotated[float, Field(ge=0, le=10_000)] | None = None
    slippage_bps: Annotated[float, Field(ge=0, le=10_000)] | None = None
    impact_bps: Annotated[float, Field(ge=0, le=10_000)] | None = None
    max_leverage: Annotated[float, Field(gt=0, le=1000)] | None = None
    maintenance_margin: Annotated[float, Field(ge=0, lt=1)] | None = None


class SweepConfig(Record):
    """The YAML of a sweep.

    Every combination of transform, severity, window, seed and strategy is one cell. On simulated markets a seed draws
    a market of its own and the noise of the transform; on candle files the market is the window's, and a seed draws
    the noise.
    """

    name: str
    version: str = "1"
    description: str = ""
    transforms: Annotated[tuple[str, ...], Field(min_length=1)]
    severities: Annotated[tuple[float, ...], Field(min_length=1)] = (1.0,)
    seeds: Annotated[int, Field(ge=1, le=10_000_000)]
    first_seed: Annotated[int, Field(ge=0)] = 0
    strategies: Annotated[tuple[StrategyChoice, ...], Field(min_length=1)]
    windows: Annotated[int, Field(ge=1)] = 1
    bars: Annotated[int, Field(ge=2)]
    bar_seconds: Annotated[float, Field(ge=1, le=366 * 86_400)] = 3600.0
    data: str | None = None
    rules: RulesConfig = RulesConfig()
    precision: Literal["float64", "float32"] = "float64"
    seeds_per_shard: Annotated[int, Field(ge=1, le=65_536)] = 125

    @field_validator("strategies", mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return (
            [{"name": item} if isinstance(item, str) else item for item in value] if isinstance(value, list) else value
        )

    @field_validator("severities")
    @classmethod
    def _in_range(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        for severity in value:
            if not 0.0 <= severity <= MOST_SEVERE:
                raise ValueError(f"a severity lies between 0 and {MOST_SEVERE:g}, got {severity!r}")
        return value

    @field_validator("transforms", "severities")
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

    @property
    def cells(self) -> int:
        """Number of backtests."""
        return len(self.transforms) * len(self.severities) * self.windows * self.seeds * len(self.strategies)

    @property
    def bar_steps(self) -> int:
        """Number of bars over all backtests."""
        return self.cells * self.bars

    def digest(self) -> str:
        """Return the sha256 of everything that a result depends on."""
        body = self.model_dump(mode="json", exclude={"description"})
        return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


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
    return parse(raw, source=str(path))


def parse(raw: dict[str, Any], *, source: str) -> SweepConfig:
    """Return the checked sweep of a mapping; see :func:`load` for errors."""
    import transforms
    from backtest import strategies

    if "datasets" in raw:
        raise ConfigError(f"{source}: this is the config of a run; run it with: traderbench run {source}")
    try:
        config = SweepConfig.model_validate(raw)
        for name in config.transforms:
            transforms.check(name)
        for choice in config.strategies:
            strategies.get(choice.name, **choice.params)
    except ValidationError as error:
        raise ConfigError(f"{source}: {explain(error, SweepConfig)}") from error
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error
    titles = [choice.title for choice in config.strategies]
    for title in titles:
        if titles.count(title) > 1:
            raise ConfigError(f"{source}: strategies: two are called {title!r}; give one a label")
    return config
