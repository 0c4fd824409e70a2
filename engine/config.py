"""The YAML of a benchmark variant as frozen records; a misspelt key is an error with the nearest right name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializeAsAny,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from engine import devices, shipped
from engine.errors import ConfigError
from engine.prices import Price, price_table
from engine.tool_times import LIMIT_S
from evaluators import registry
from evaluators.contract import SECTIONS, Section
from evaluators.entry import Entry
from evaluators.judge.settings import JudgeSettings
from evaluators.records import Record, explain
from lake.settings import LakeSettings
from lake.vocabulary import nearest
from mcp_servers import addresses
from mcp_servers.catalog import SERVERS

TURNS_OF_A_DEBATE = 2
"""The answer and the rebuttal."""
SWEEP_KEYS = frozenset({"transforms", "severities", "seeds", "strategies", "windows", "bars"})
"""Keys that only the config of a sweep has at its top."""


def _device_name(text: str) -> str:
    devices.named(text)
    return text


DeviceName = Annotated[str, AfterValidator(_device_name)]
"""``cpu``, ``cuda``, ``tpu``, or one of several as ``cuda:1``."""


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

    Markets are drawn and answers computed on ``device`` (``engine.devices``); servers and agents stay on the processor.
    """

    backend: Literal["serial", "ray"] = "serial"
    device: DeviceName | None = None
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


class LakeConfig(Record):
    """Where the tools' data come from (``lake.settings``); what a provider lacks is served from the embedded sample.

    ``path`` is the folder that ``traderbench data pull`` filled. ``offline: false`` lets a server fetch a ticker that
    is not there when it is asked for it; then two runs of one config need not have the same data.
    """

    equities: Literal["embedded", "yfinance", "folder"] = "embedded"
    filings: Literal["embedded", "edgar"] = "embedded"
    options: Literal["simulated", "yfinance", "folder"] = "simulated"
    crypto: str | None = None
    macro: Literal["embedded", "fred_csv"] = "embedded"
    path: str = "data"
    cache: str | None = None
    offline: bool = True

    def settings(self) -> LakeSettings:
        """Return them as the lake takes them, its folders as seen from anywhere."""
        given = self.model_dump() | {"path": str(Path(self.path).absolute())}
        return LakeSettings(**given | {"cache": self.cache and str(Path(self.cache).absolute())})


class DebateConfig(Record):
    """The optional adversarial debate (:mod:`evaluators.debate`).

    With ``objections: judge`` the run's judge puts them into words; what is objected to is drawn all the same.
    """

    enabled: bool = False
    objections: Literal["bank", "judge"] = "bank"

    @model_serializer(mode="wrap")
    def _as_before(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # runs of former versions are the same benchmark as runs of this one that use the bank
        told: dict[str, Any] = write(self)
        return {name: value for name, value in told.items() if name != "objections" or value != "bank"}


def dataset_entry(raw: Any) -> Entry:
    """Return one entry of ``datasets`` as the record of its dataset, which knows the dataset's own options.

    Raises
    ------
    WrongRecord
        One line that names the key, the value and what would be right.
    """
    if isinstance(raw, Entry):
        return raw
    if not isinstance(raw, dict):
        raise ValueError(f"a dataset is a mapping with the key type, got {raw!r}")
    # whose options these are is said by the type: without one, or with a misspelt one, nothing else is looked at
    misspelt = [key for key in raw if "type" not in raw and len(str(key)) <= 5 and nearest(str(key), ["type"])]
    entry = Entry.read({key: raw[key] for key in raw if key in Entry.model_fields or key in misspelt})
    return registry.options(entry.type).read(raw)


class RunConfig(Record):
    """One benchmark variant.

    ``prices`` are for tokens of which an agent does not tell the cost, and for those of judges: a table by model or
    agent, or a file with it.

    ``withheld`` names tool servers that do not run: the tasks are the same, and an agent has to do without (an
    ablation).
    """

    name: str
    version: str = "1"
    description: str = ""
    datasets: tuple[Annotated[SerializeAsAny[Entry], BeforeValidator(dataset_entry)], ...]
    sampling: SamplingConfig = SamplingConfig()
    weights: dict[Section, Annotated[float, Field(ge=0)]] = Field(default_factory=lambda: dict.fromkeys(SECTIONS, 0.2))
    limits: LimitsConfig = LimitsConfig()
    execution: ExecutionConfig = ExecutionConfig()
    judge: JudgeSettings | None = None
    lake: LakeConfig = LakeConfig()
    debate: DebateConfig = DebateConfig()
    prices: Annotated[dict[str, Price], BeforeValidator(price_table)] = Field(default_factory=dict)
    withheld: tuple[str, ...] = ()

    @field_validator("withheld")
    @classmethod
    def _are_servers(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in SERVERS:
                raise ValueError(f"unknown tool server {name!r}; there are {', '.join(SERVERS)}")
        return tuple(name for name in SERVERS if name in value)

    @field_validator("datasets")
    @classmethod
    def _some_dataset(cls, value: tuple[Entry, ...]) -> tuple[Entry, ...]:
        if not value:
            raise ValueError(f"a run needs at least one dataset; available: {', '.join(registry.DATASETS)}")
        return value

    @field_validator("weights")
    @classmethod
    def _some_weight(cls, value: dict[Section, float]) -> dict[Section, float]:
        if not math.fsum(value.values()) > 0:
            raise ValueError(f"the weights {value!r} sum to 0; at least one section needs a positive weight")
        return value

    @model_validator(mode="after")
    def _a_debate_can_be_held(self) -> RunConfig:
        if self.debate.enabled and self.limits.max_turns < TURNS_OF_A_DEBATE:
            raise ValueError(
                f"limits.max_turns: a debate takes {TURNS_OF_A_DEBATE} turns, got {self.limits.max_turns}; allow as "
                "many, or leave debate.enabled out"
            )
        if self.debate.enabled and self.debate.objections == "judge" and self.judge is None:
            raise ValueError("debate.objections: judge needs the run's judge; add judge: {model: ...}, or write bank")
        return self

    @model_validator(mode="after")
    def _a_budget_of_judges_can_be_kept(self) -> RunConfig:
        if self.judge is None or self.judge.budget_usd is None:
            return self
        for member in self.judge.members():
            if member.model not in self.prices:
                raise ValueError(
                    f"judge.budget_usd: the price of {member.model!r} is not known; add prices: "
                    f"{{{member.model}: {{input_usd: ..., output_usd: ...}}}} (US dollars per million tokens)"
                )
        return self


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
