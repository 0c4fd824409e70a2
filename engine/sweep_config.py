"""What a sweep crosses: transforms, severities, windows, seeds, strategies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError, field_validator

from engine.config import Record, nearest
from engine.errors import ConfigError


class StrategyChoice(Record):
    """One strategy: a reference strategy by name with its parameters."""

    name: str
    label: str = ""
    params: dict[str, float] = Field(default_factory=dict)

    @property
    def title(self) -> str:
        """Name in results."""
        return self.label or self.name


class RulesConfig(Record):
    """Trading rules that differ from the defaults of ``backtest.rules``."""

    fee_bps: Annotated[float, Field(ge=0)] | None = None
    slippage_bps: Annotated[float, Field(ge=0)] | None = None
    impact_bps: Annotated[float, Field(ge=0)] | None = None
    max_leverage: Annotated[float, Field(gt=0)] | None = None
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
    bar_seconds: Annotated[float, Field(gt=0)] = 3600.0
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
    def _not_negative(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        for severity in value:
            if severity < 0.0:
                raise ValueError(f"a severity is at least 0, got {severity!r}")
        return value

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


def load(path: Path) -> SweepConfig:
    """Return the sweep of a YAML file.

    Raises
    ------
    ConfigError
        When the file cannot be read, or a key or value is wrong; one line that names it.
    """
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(raw, dict):
        raise ConfigError(f"{path} must hold a mapping of keys, got {type(raw).__name__}")
    return parse(raw, source=str(path))


def parse(raw: dict[str, Any], *, source: str) -> SweepConfig:
    """Return the checked sweep of a mapping; see :func:`load` for errors."""
    import transforms
    from backtest import strategies

    try:
        config = SweepConfig.model_validate(raw)
        for name in config.transforms:
            transforms.check(name)
        for choice in config.strategies:
            strategies.get(choice.name, **choice.params)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        hint = nearest(key, SweepConfig.model_fields) if first["type"] == "extra_forbidden" else ""
        what = f"unknown key {key!r}{hint}" if first["type"] == "extra_forbidden" else f"{key}: {first['msg']}"
        raise ConfigError(f"{source}: {what}") from error
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from error
    titles = [choice.title for choice in config.strategies]
    for title in titles:
        if titles.count(title) > 1:
            raise ConfigError(f"{source}: strategies: two are called {title!r}; give one a label")
    return config
