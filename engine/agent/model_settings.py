"""The settings of ``builtin:llm``: which model plays a run, and how. They are resolved once and kept with the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from engine.config import LimitsConfig
from engine.errors import ConfigError
from engine.prices import Price
from lake.vocabulary import did_you_mean
from mcp_servers.catalog import SERVERS

AGENT = "builtin:llm"
NO_SERVERS = "none"
HOSTED = "https://api.openai.com/v1"
MAX_TEMPERATURE = 2.0
REQUEST_SHARE = 0.9
"""Of ``limits.turn_time_s``: a call of the model that takes longer could not be told of in time."""
COST_SHARE = 0.8
"""Of ``limits.max_task_cost_usd``: from there on the model has to answer, which costs a little more."""
ENVIRONMENT = {
    "model": "OPENAI_MODEL",
    "base_url": "OPENAI_BASE_URL",
    "input_price": "OPENAI_INPUT_PRICE",
    "output_price": "OPENAI_OUTPUT_PRICE",
}
"""What is taken from the environment where the command line does not say it."""


@dataclass(frozen=True)
class ModelSettings:
    """Which model plays, and how.

    Attributes
    ----------
    model, base_url
        Its name, and the address of its API (None: OpenAI's own).
    temperature, seed_model
        Sent where they are given; an endpoint that refuses them is asked without, and the agent's card says so.
    max_turns
        Calls of the model per message.
    max_output_tokens
        Tokens of one reply of the model.
    servers
        Tool servers that it is offered, of those that a task names; None for all.
    input_price, output_price
        US dollars per million tokens; None where they are unknown.
    request_timeout
        Seconds for one call; None for 0.9 of ``limits.turn_time_s``.
    """

    model: str
    base_url: str | None = None
    temperature: float | None = None
    seed_model: int | None = None
    max_turns: int = 16
    max_output_tokens: int = 8192
    servers: tuple[str, ...] | None = None
    input_price: float | None = None
    output_price: float | None = None
    request_timeout: float | None = None

    @property
    def is_priced(self) -> bool:
        """Return whether what it costs is known."""
        return self.input_price is not None and self.output_price is not None

    def priced(self, prices: Mapping[str, Price]) -> ModelSettings:
        """Return the settings with the price that the table has for the model, where none was given."""
        price = prices.get(self.model)
        if self.is_priced or price is None:
            return self
        return replace(self, input_price=price.input_usd, output_price=price.output_usd)

    def arguments(self, limits: LimitsConfig) -> list[str]:
        """Return the flags of the agent's program; the address, which may hold a password, goes by the environment."""
        timeout = self.request_timeout or REQUEST_SHARE * limits.turn_time_s
        given = asdict(self) | {
            "servers": None if self.servers is None else ",".join(self.servers) or NO_SERVERS,
            "request_timeout": timeout,
            "turn_time": limits.turn_time_s,
            "task_time": limits.task_time_s,
            "max_cost_usd": limits.max_task_cost_usd and COST_SHARE * limits.max_task_cost_usd,
        }
        given["model"] = self.model or "unnamed"
        told = {name: value for name, value in given.items() if value is not None and name != "base_url"}
        return [f"--{name.replace('_', '-')}={value}" for name, value in told.items()]

    def environment(self) -> dict[str, str]:
        """Return the environment of the agent's program."""
        return {ENVIRONMENT["base_url"]: self.base_url or HOSTED}

    def record(self) -> dict[str, Any]:
        """Return the settings as they stand in the manifest."""
        return asdict(self) | {"servers": None if self.servers is None else list(self.servers)}


def resolve(
    given: Mapping[str, Any], environment: Mapping[str, str], limits: LimitsConfig, *, to_play: bool = True
) -> ModelSettings:
    """Return the settings that the command line gives, or else the environment.

    Without ``to_play`` (for an estimate) neither a model nor an endpoint has to be known.

    Raises
    ------
    ConfigError
        Naming what is missing or wrong, and what would be right.
    """
    values = {name: value for name, value in given.items() if value is not None}
    for name, variable in ENVIRONMENT.items():
        if name not in values and environment.get(variable):
            values[name] = _price(variable, environment[variable]) if name.endswith("price") else environment[variable]
    if not to_play:
        values.setdefault("model", "")
    elif "model" not in values:
        raise ConfigError(f"--agent {AGENT}: no model is named; give --model NAME, or set OPENAI_MODEL")
    if to_play and not environment.get("OPENAI_API_KEY") and "base_url" not in values:
        raise ConfigError(
            f"--agent {AGENT}: set OPENAI_API_KEY, or --base-url (OPENAI_BASE_URL) for a model of your own"
        )
    return checked(ModelSettings(**values), limits)


def stored(record: Mapping[str, Any], moved: Mapping[str, Any], limits: LimitsConfig) -> ModelSettings:
    """Return the settings of a run's manifest, with what has moved since."""
    known = {field.name for field in fields(ModelSettings)}
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in record.items() if name in known
    }
    settings = ModelSettings(**values)
    changes = {name: value for name, value in moved.items() if value is not None}
    return checked(replace(settings, **changes), limits)


def checked(settings: ModelSettings, limits: LimitsConfig) -> ModelSettings:
    """Return the settings, or refuse what cannot go together."""
    if (settings.input_price is None) != (settings.output_price is None):
        raise ConfigError("--input-price and --output-price (OPENAI_INPUT_PRICE, OPENAI_OUTPUT_PRICE) go together")
    for name in settings.servers or ():
        if name not in SERVERS:
            raise ConfigError(
                f"--servers: unknown server {name!r}{did_you_mean(name, SERVERS)}; available: {', '.join(SERVERS)}, "
                f"between commas, or {NO_SERVERS}"
            )
    if settings.temperature is not None and settings.temperature > MAX_TEMPERATURE:
        raise ConfigError(f"--temperature {settings.temperature:g}: a number from 0 to {MAX_TEMPERATURE:g} is needed")
    if settings.request_timeout is not None and settings.request_timeout >= limits.turn_time_s:
        raise ConfigError(
            f"--request-timeout {settings.request_timeout:g}: must be below limits.turn_time_s "
            f"({limits.turn_time_s:g}), or the run would give up before the agent can say why"
        )
    return settings


def _price(variable: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise ConfigError(f"{variable}: US dollars per million tokens, a number from 0, are needed, got {text!r}")
    return value
