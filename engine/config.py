"""The YAML of a benchmark variant as frozen records; a misspelt key is an error with the nearest right name."""

from __future__ import annotations

import difflib
import math
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from engine import shipped
from engine.errors import ConfigError
from engine.tool_times import LIMIT_S
from evaluators.contract import SECTIONS, Section
from evaluators.registry import DATASETS
from mcp_servers import addresses

SELECTION_KEYS = frozenset({"type", "limit", "limit_per_task"})
"""Keys of a dataset entry that the engine uses; the others are the dataset's own options."""

SWEEP_KEYS = frozenset({"transforms", "severities", "seeds", "strategies", "windows", "bars"})
"""Keys that only the config of a sweep has at its top."""


class Record(BaseModel):
    """Base of every config record: immutable, unknown keys refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DatasetConfig(Record):
    """One dataset of a run and how much of it is drawn."""

    type: str
    limit: Annotated[int, Field(ge=0)] | None = None
    limit_per_task: Annotated[int, Field(ge=1)] | None = None
    path: str | None = None
    hf_dataset: str | None = None
    task_types: tuple[str, ...] | None = None
    first: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    variant: str | None = None
    transforms: tuple[str | dict[str, Any], ...] | None = None
    severity: Annotated[float, Field(ge=0)] | None = None
    windows: Annotated[int, Field(ge=1)] | None = None
    bars: Annotated[int, Field(ge=1)] | None = None
    decision_every: Annotated[int, Field(ge=1)] | None = None
    mode: Literal["interactive", "strategy"] | None = None
    batch: Annotated[int, Field(ge=1)] | None = None

    @field_validator("type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in DATASETS:
            raise ValueError(f"unknown dataset {value!r}{nearest(value, DATASETS)}; available: {', '.join(DATASETS)}")
        return value

    def options(self) -> dict[str, Any]:
        """Return the dataset's own options that were given."""
        return self.model_dump(mode="json", exclude_none=True, exclude=set(SELECTION_KEYS))


class ShardConfig(Record):
    """Which part of the run's tasks is played: shard ``index``, from 1, of ``count`` (``engine.plan.shards``)."""

    index: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1)]

    @model_validator(mode="after")
    def _is_one_of_them(self) -> ShardConfig:
        if self.index > self.count:
            raise ValueError(f"index must be at most count, which is {self.count}, got {self.index}")
        return self


class SamplingConfig(Record):
    """Which of the drawn tasks are played; ``seed_drawn`` is set by ``--seed random``."""

    strategy: Literal["stratified", "random", "sequential"] = "stratified"
    total_limit: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 42
    seed_drawn: bool = False
    shard: ShardConfig | None = None


class LimitsConfig(Record):
    """What one task may take, and the whole run.

    A task that meets a limit of its own scores 0 and says which. The run's are ``max_cost_usd``, its budget, and
    ``max_error_share``, the share of tasks that the agent may break (from the tenth on; None: any).

    ``tool_time_s`` is no limit for the agent but one for the harness: a tool call that takes longer on the harness's
    side, without what the agent's own code ran, marks the task.
    """

    task_time_s: Annotated[float, Field(gt=0)] = 300.0
    turn_time_s: Annotated[float, Field(gt=0)] = 120.0
    max_turns: Annotated[int, Field(ge=1)] = 2000
    max_tool_calls: Annotated[int, Field(ge=0)] = 200
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_task_cost_usd: Annotated[float, Field(gt=0)] | None = None
    max_cost_usd: Annotated[float, Field(gt=0)] | None = None
    max_error_share: Annotated[float, Field(ge=0, le=1)] | None = 0.5
    tool_time_s: Annotated[float, Field(gt=0)] = LIMIT_S


class ExecutionConfig(Record):
    """How the tasks are run; changes no score.

    With ``date_order`` the tasks that use dated tools are played in the order of their dates, so that no tool shows
    anything later than a task that is still to be done (``engine.plan.date_order``). Without it they run side by side
    and only each grant has its date.

    The tool servers listen on ``host``; agents are told ``public_host``, by default the address by which this machine
    reaches them. Requests may address the servers by these names, by IP addresses, and by ``allowed_hosts``.
    """

    backend: Literal["serial", "ray"] = "serial"
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    infrastructure_retries: Annotated[int, Field(ge=0)] = 2
    date_order: bool = True
    ports: Literal["fixed", "auto"] = "fixed"
    host: str = "127.0.0.1"
    public_host: str | None = None
    allowed_hosts: tuple[str, ...] = ()

    @field_validator("host", "public_host", "allowed_hosts")
    @classmethod
    def _are_names(cls, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        for name in (value,) if isinstance(value, str) else value or ():
            addresses.checked(name)
        return value


class JudgeConfig(Record):
    """The model that answers single rubric criteria, for datasets that cannot be scored by code alone."""

    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: Annotated[float, Field(ge=0)] = 0.0
    timeout_s: Annotated[float, Field(gt=0)] = 60.0
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4


class DebateConfig(Record):
    """The optional adversarial debate."""

    enabled: bool = False


class RunConfig(Record):
    """One benchmark variant."""

    name: str
    version: str = "1"
    description: str = ""
    datasets: tuple[DatasetConfig, ...]
    sampling: SamplingConfig = SamplingConfig()
    weights: dict[Section, Annotated[float, Field(ge=0)]] = Field(default_factory=lambda: dict.fromkeys(SECTIONS, 0.2))
    limits: LimitsConfig = LimitsConfig()
    execution: ExecutionConfig = ExecutionConfig()
    judge: JudgeConfig | None = None
    debate: DebateConfig = DebateConfig()

    @field_validator("datasets")
    @classmethod
    def _some_dataset(cls, value: tuple[DatasetConfig, ...]) -> tuple[DatasetConfig, ...]:
        if not value:
            raise ValueError(f"a run needs at least one dataset; available: {', '.join(DATASETS)}")
        return value

    @field_validator("weights")
    @classmethod
    def _some_weight(cls, value: dict[Section, float]) -> dict[Section, float]:
        if not math.fsum(value.values()) > 0:
            raise ValueError(f"the weights {value!r} sum to 0; at least one section needs a positive weight")
        return value

    @model_validator(mode="after")
    def _debate_is_not_built(self) -> RunConfig:
        if self.debate.enabled:
            raise ValueError("debate.enabled: true is not available in this version; leave it out or set false")
        return self


def nearest(word: str, names: Any) -> str:
    """Return ``" (did you mean 'x'?)"`` for the nearest of ``names``, or an empty string."""
    close = difflib.get_close_matches(word, list(names), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def load(path: str | Path) -> RunConfig:
    """Read a config: a file, or one that is shipped, by name (:func:`engine.shipped.config_file`).

    Raises
    ------
    ConfigError
        One line that names the file, the field, the value and what would be right.
    """
    file = shipped.config_file(path, kind="run")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read config {path}: {error}") from error
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    return parse(raw, source=str(path))


def parse(raw: Any, *, source: str) -> RunConfig:
    """Validate a config given as plain data; ``source`` names it in errors."""
    if not isinstance(raw, dict):
        raise ConfigError(f"{source}: a config is a mapping with the keys {', '.join(RunConfig.model_fields)}")
    if "datasets" not in raw and len(SWEEP_KEYS & raw.keys()) > 1:
        raise ConfigError(f"{source}: this is the config of a sweep; run it with: traderbench sweep {source}")
    try:
        return RunConfig.model_validate(raw)
    except ValidationError as error:
        raise ConfigError(f"{source}: {explain(error, RunConfig)}") from error


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Return every fault of a config in one line: field, value and what would be right.

    A key that is missing because it was misspelt is one fault, not two.
    """
    items = error.errors()
    meant = {
        (*item["loc"][:-1], name)
        for item in items
        if item["type"] == "extra_forbidden" and (name := _meant(item["loc"], model))
    }
    told = [item for item in items if item["type"] != "missing" or tuple(item["loc"]) not in meant]
    # a list whose only item is wrong counts as too short besides
    told = [item for item in told if item["type"] != "too_short" or not item["input"]]
    return "; ".join(_explain(item, model) for item in told)


def _explain(item: Any, model: type[BaseModel]) -> str:
    """Turn one pydantic error into field, value and what would be right."""
    location = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in item["loc"]).lstrip(".")
    if item["type"] == "extra_forbidden":
        name = _meant(item["loc"], model)
        known = f" (did you mean {name!r}?)" if name else f"; known: {', '.join(_fields_at(item['loc'][:-1], model))}"
        return f"{location}: unknown key{known}"
    if item["type"] == "missing":
        return f"{location}: this key is required"
    if item["type"] == "too_short":
        return f"{location}: at least one is needed, got none"
    message = item["msg"].removeprefix("Value error, ")
    if item["type"] == "value_error":
        return f"{location}: {message}" if location else message
    shown = repr(item["input"])
    return f"{location}: {message} (got {shown if len(shown) <= 80 else shown[:77] + '...'})"


def _meant(location: tuple[int | str, ...], model: type[BaseModel]) -> str | None:
    """Return the key that an unknown one is most like, if it is like any."""
    close = difflib.get_close_matches(str(location[-1]), _fields_at(location[:-1], model), n=1, cutoff=0.5)
    return close[0] if close else None


def _fields_at(parents: tuple[int | str, ...], model: type[BaseModel]) -> list[str]:
    """Return the keys that exist where an unknown one was found."""
    for part in parents:
        if part in model.model_fields:
            model = _record_in(model.model_fields[str(part)].annotation) or model
    return list(model.model_fields)


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """Return the record that a field holds, alone, optional or as the items of a sequence."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _record_in(inner))), None)
