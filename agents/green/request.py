"""An AgentBeats assessment request, and the benchmark config that it comes to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROLE = "purple_agent"
STRATEGIES = ("stratified", "random", "sequential")
BACKENDS = ("serial", "ray")


class BadRequest(ValueError):
    """The request cannot be carried out; the message says what is wrong and what would be right."""


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


def read(text: str, configs: Path) -> Assessment:
    """Return the assessment that a request asks for.

    Parameters
    ----------
    text
        ``{"participants": {role: url}, "config": {...}}``. The agent under test has the role ``purple_agent``, else it
        is the first one. Keys of ``config`` that are not ours are left out and named in the notes.
    configs
        Folder of the benchmark variants.

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
    return _assessment(_agent_url(request.get("participants")), dict(given), configs)


def _agent_url(participants: Any) -> str:
    if not isinstance(participants, dict) or not participants:
        raise BadRequest('participants must name the agent under test: {"purple_agent": "http://host:port"}')
    url = participants.get(ROLE) or next(iter(participants.values()))
    if not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise BadRequest(f"the agent under test needs an address like http://host:port, got {url!r}")
    return url


def _assessment(agent_url: str, given: dict[str, Any], configs: Path) -> Assessment:
    notes: list[str] = []
    config = _variant(given.pop("variant", "quick"), configs)
    sampling, execution = config.setdefault("sampling", {}), config.setdefault("execution", {})
    execution["ports"] = "auto"
    execution |= tool_addresses(os.environ)
    if "seed" in given:
        sampling["seed"] = _whole(given.pop("seed"), "seed", low=0)
    if "sampling_strategy" in given:
        sampling["strategy"] = _choice(given.pop("sampling_strategy"), "sampling_strategy", STRATEGIES)
    if "num_tasks" in given:
        sampling["total_limit"] = _whole(given.pop("num_tasks"), "num_tasks", low=1)
    if "timeout_seconds" in given:
        seconds = _whole(given.pop("timeout_seconds"), "timeout_seconds", low=1)
        config.setdefault("limits", {}).update(task_time_s=seconds, turn_time_s=seconds)
    if "backend" in given:
        execution["backend"] = _choice(given.pop("backend"), "backend", BACKENDS)
    if given.pop("conduct_debate", False):
        notes.append("conduct_debate: the debate is not available in this version; the run is without it")
    _choose_datasets(config, given)
    _shard(config, given)
    notes += [f"{key}: not a key of this benchmark, ignored" for key in sorted(given)]
    return Assessment(agent_url, config, tuple(notes))


def tool_addresses(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return where the tool servers listen and how agents reach them, as the operator's environment says.

    ``TRADERBENCH_HOST``, ``TRADERBENCH_PUBLIC_HOST`` and ``TRADERBENCH_ALLOWED_HOSTS`` (names between commas): it is
    the operator who knows the network, not who sends a request.
    """
    given = {name: environment.get(f"TRADERBENCH_{name.upper()}", "") for name in ("host", "public_host")}
    names = [name.strip() for name in environment.get("TRADERBENCH_ALLOWED_HOSTS", "").split(",") if name.strip()]
    return {name: value for name, value in given.items() if value} | ({"allowed_hosts": names} if names else {})


def _variant(name: Any, configs: Path) -> dict[str, Any]:
    import yaml

    available = sorted(path.stem for path in configs.glob("*.yaml"))
    if name not in available:
        raise BadRequest(f"variant must be one of {', '.join(available)}, got {name!r}")
    loaded: dict[str, Any] = yaml.safe_load((configs / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


def _choose_datasets(config: dict[str, Any], given: dict[str, Any]) -> None:
    """Keep the datasets asked for, with their limits."""
    entries = {entry["type"]: entry for entry in config["datasets"]}
    if "datasets" in given:
        wanted = given.pop("datasets")
        if not isinstance(wanted, list) or not wanted:
            raise BadRequest(f"datasets must be a list of names, got {wanted!r}")
        unknown = [name for name in wanted if name not in entries]
        if unknown:
            raise BadRequest(f"datasets: unknown {unknown[0]!r}; this variant has {', '.join(entries)}")
        entries = {name: entry for name, entry in entries.items() if name in wanted}
    for name, entry in entries.items():
        if f"{name}_limit" in given:
            entry["limit"] = _whole(given.pop(f"{name}_limit"), f"{name}_limit", low=0)
    config["datasets"] = list(entries.values())


def _shard(config: dict[str, Any], given: dict[str, Any]) -> None:
    """Keep this shard's share. Shards split the datasets, so that their results add up to the unsharded rows."""
    shards = _whole(given.pop("num_shards", 1), "num_shards", low=1)
    index = _whole(given.pop("shard_index", 0), "shard_index", low=0)
    if index >= shards:
        raise BadRequest(f"shard_index must be below num_shards ({shards}), got {index}")
    if shards == 1:
        return
    if shards > len(config["datasets"]):
        raise BadRequest(f"num_shards must be at most {len(config['datasets'])}, the number of datasets, got {shards}")
    if "total_limit" in config["sampling"]:
        _spread_limit(config["datasets"], config["sampling"].pop("total_limit"))
    config["datasets"] = config["datasets"][index::shards]


def _spread_limit(entries: list[dict[str, Any]], total: int) -> None:
    """Turn a limit over all datasets into a limit for each, as stratified sampling does: they take turns."""
    room = [entry.get("limit") or 0 for entry in entries]
    take = [0] * len(entries)
    while sum(take) < min(total, sum(room)):
        for row in range(len(entries)):
            if take[row] < room[row] and sum(take) < total:
                take[row] += 1
    for entry, count in zip(entries, take, strict=True):
        entry["limit"] = count


def _whole(value: Any, key: str, *, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < low:
        raise BadRequest(f"{key} must be a whole number from {low}, got {value!r}")
    return value


def _choice(value: Any, key: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise BadRequest(f"{key} must be one of {', '.join(allowed)}, got {value!r}")
    return str(value)
