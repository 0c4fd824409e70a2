"""An AgentBeats assessment request, and the benchmark config that it comes to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from chosen import BadRequest, choice, choose_datasets, whole

from engine import config as configs
from engine import shipped
from engine.config import RunConfig
from engine.errors import ConfigError

ROLE = "purple_agent"
STRATEGIES = ("stratified", "random", "sequential")
BACKENDS = ("serial", "ray")

__all__ = ["Assessment", "BadRequest", "read", "tool_addresses"]


@dataclass(frozen=True)
class Assessment:
    """What is to be run.

    Attributes
    ----------
    agent_url
        Address of the agent under test.
    config
        Benchmark config as plain data (the content of a YAML file).
    notes
        What of the request was left out, and why.
    """

    agent_url: str
    config: dict[str, Any]
    notes: tuple[str, ...]


def read(text: str, base: RunConfig | None = None) -> Assessment:
    """Return the assessment that a request asks for.

    Parameters
    ----------
    text
        ``{"participants": {role: url}, "config": {...}}``. The agent under test has the role ``purple_agent``, else it
        is the first one. Keys of ``config`` that are not ours are left out and named in the notes.
    base
        The operator's config, from which every assessment starts; None: the shipped one that the request names as its
        ``variant``, else ``quick``.

    Raises
    ------
    BadRequest
        When the request has no agent, or a value that is out of its range.
    """
    try:
        request = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"the request is not JSON: {error}") from error
    if not isinstance(request, dict):
        raise BadRequest('a request is a JSON object {"participants": {"purple_agent": url}, "config": {...}}')
    given = request.get("config") or {}
    if not isinstance(given, dict):
        raise BadRequest(f"config must be an object, got {type(given).__name__}")
    return _assessment(_agent_url(request.get("participants")), dict(given), base)


def _agent_url(participants: Any) -> str:
    if not isinstance(participants, dict) or not participants:
        raise BadRequest('participants must name the agent under test: {"purple_agent": "http://host:port"}')
    url = participants.get(ROLE) or next(iter(participants.values()))
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise BadRequest(f"the agent under test needs an address like http://host:port, got {url!r}")
    return url


def _assessment(agent_url: str, given: dict[str, Any], base: RunConfig | None) -> Assessment:
    loaded = _variant(given, base)
    config: dict[str, Any] = loaded.model_dump(mode="json", exclude_unset=True)
    sampling, execution = config.setdefault("sampling", {}), config.setdefault("execution", {})
    execution["ports"] = "auto"
    execution |= tool_addresses(os.environ)
    if "seed" in given:
        sampling["seed"] = whole(given.pop("seed"), "seed", low=0)
        sampling.pop("seed_drawn", None)
    if "sampling_strategy" in given:
        sampling["strategy"] = choice(given.pop("sampling_strategy"), "sampling_strategy", STRATEGIES)
    if "num_tasks" in given:
        sampling["total_limit"] = whole(given.pop("num_tasks"), "num_tasks", low=1)
    if "timeout_seconds" in given:
        seconds = whole(given.pop("timeout_seconds"), "timeout_seconds", low=1)
        config.setdefault("limits", {}).update(task_time_s=seconds, turn_time_s=seconds)
    if "backend" in given:
        execution["backend"] = choice(given.pop("backend"), "backend", BACKENDS)
    choose_datasets(config, given)
    _choose_debate(config, given)
    _choose_shard(sampling, given)
    try:
        configs.parse(config, source="config")
    except ConfigError as error:
        raise BadRequest(str(error)) from error
    notes = tuple(f"{key}: not a key of this benchmark, ignored" for key in sorted(given))
    return Assessment(agent_url, config, notes)


def tool_addresses(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return where the tool servers listen and how agents reach them, as the operator's environment says.

    ``TRADERBENCH_HOST``, ``TRADERBENCH_PUBLIC_HOST`` and ``TRADERBENCH_ALLOWED_HOSTS`` (names between commas): it is
    the operator who knows the network, not who sends a request.
    """
    given = {name: environment.get(f"TRADERBENCH_{name.upper()}", "") for name in ("host", "public_host")}
    names = [name.strip() for name in environment.get("TRADERBENCH_ALLOWED_HOSTS", "").split(",") if name.strip()]
    return {name: value for name, value in given.items() if value} | ({"allowed_hosts": names} if names else {})


def _variant(given: dict[str, Any], base: RunConfig | None) -> RunConfig:
    """Return the config to start from: the operator's, which a request may name but not replace, or a shipped one."""
    available = shipped.config_names("run") if base is None else [base.name]
    name = choice(given.pop("variant", "quick" if base is None else base.name), "variant", available)
    return base or configs.load(shipped.folder("configs") / f"{name}{shipped.SUFFIX}")


def _choose_debate(config: dict[str, Any], given: dict[str, Any]) -> None:
    """Take the debate's settings as they are: the config's own rules say what is right."""
    debate = given.pop("debate", {})
    if not isinstance(debate, dict):
        raise BadRequest(f"debate must be an object with the keys of the config's debate, got {debate!r}")
    if "conduct_debate" in given:
        wanted = given.pop("conduct_debate")
        if not isinstance(wanted, bool):
            raise BadRequest(f"conduct_debate must be true or false, got {wanted!r}")
        debate = {"enabled": wanted} | debate
    if debate:
        config["debate"] = config.get("debate", {}) | debate


def _choose_shard(sampling: dict[str, Any], given: dict[str, Any]) -> None:
    """Take the part of the tasks that is asked for; ``shard_index`` counts from 0, the config's ``index`` from 1."""
    if "num_shards" not in given and "shard_index" not in given:
        return
    shards = whole(given.pop("num_shards", 1), "num_shards", low=1)
    index = whole(given.pop("shard_index", 0), "shard_index", low=0)
    if index >= shards:
        raise BadRequest(f"shard_index must be below num_shards ({shards}), got {index}")
    sampling["shard"] = None if shards == 1 else {"index": index + 1, "count": shards}
