"""The files by which AgentBeats starts evaluator and agents: read as it reads them, and their commands started."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import yaml

import engine
from engine import config
from engine.agent import builtin as builtin_agents
from tests.free_port import free_port
from tests.images.dockerfile import ROOT, last

GREEN = ROOT / "agents" / "green"
SCENARIO = tomllib.loads((GREEN / "scenario.toml").read_text())
STARTED = [SCENARIO["green_agent"], *SCENARIO["participants"]]


def json5(path: Path) -> Any:
    """Read the JSON5 that these files are in: less its comments it is YAML."""
    return yaml.safe_load(re.sub(r"(?m)(^|\s)//.*$", "", path.read_text()))


MANIFESTS = {name: json5(ROOT / "agents" / name / "amber-manifest.json5") for name in ("green", "quant", "llm")}
AMBER = json5(GREEN / "scenario.json5")


def card_of(url: str, process: subprocess.Popen[bytes]) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the command ended"
        try:
            answer = httpx.get(f"{url}/.well-known/agent-card.json", trust_env=False)
            card: dict[str, Any] = answer.raise_for_status().json()
            return card
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError("no card after a minute")


@pytest.mark.parametrize(("row", "name"), [(STARTED[0], "TraderBench"), (STARTED[1], "quant")])
def test_a_command_starts_in_any_folder_with_another_interpreter_first(row: Any, name: str, tmp_path: Path) -> None:
    # so does the platform's runner: its own interpreter knows nothing of this project
    venv.create(tmp_path / "other", with_pip=False)
    port = urlsplit(row["endpoint"]).port
    own = str(free_port())
    assert row["cmd"].count(str(port)) == 1
    command = shlex.split(row["cmd"].replace(str(port), own))
    installed = Path(sys.executable).parent
    path = os.pathsep.join([str(tmp_path / "other" / "bin"), str(installed), os.environ["PATH"]])
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PATH": path}
    with subprocess.Popen(command, env=environment, cwd=tmp_path) as process:
        try:
            card = card_of(f"http://127.0.0.1:{own}", process)
        finally:
            process.terminate()
    assert card["name"] == name


def test_no_command_names_a_file_or_an_interpreter() -> None:
    for row in STARTED:
        assert shlex.split(row["cmd"])[:2] == ["traderbench", "agent"]


def request(program: Callable[[str, str], ModuleType], settings: dict[str, Any], role: str) -> Any:
    text = json.dumps({"participants": {role: "http://127.0.0.1:9110"}, "config": settings})
    return program("green", "request").read(text)


def test_every_manifest_asks_for_the_same_assessment_and_it_is_one(program: Callable[[str, str], ModuleType]) -> None:
    gateway = AMBER["components"]["gateway"]["config"]
    metadata = MANIFESTS["green"]["metadata"]
    local = {key: value for key, value in SCENARIO["config"].items() if key != "conduct_debate"}
    assert metadata["assessment_config"] == gateway["assessment_config"] == local
    (role,) = metadata["participant_roles"]
    assert role == gateway["participant_roles"]["purple1"] == SCENARIO["participants"][0]["role"]
    assessment = request(program, local, role)
    assert assessment.notes == ()
    config.parse(assessment.config, source="manifest")


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_component_starts_the_image_as_the_image_starts_itself(name: str) -> None:
    program = MANIFESTS[name]["program"]
    assert program["image"] == f"traderbench-{name}:{engine.__version__}"
    assert shlex.split(program["entrypoint"]) == last(name, "ENTRYPOINT").words()
    (endpoint,) = program["network"]["endpoints"]
    words = shlex.split(program["entrypoint"])
    assert str(endpoint["port"]) == words[words.index("--port") + 1]


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_component_is_wired_by_the_rules_of_amber(name: str) -> None:
    manifest = MANIFESTS[name]
    endpoints = {row["name"] for row in manifest["program"]["network"]["endpoints"]}
    assert {row["endpoint"] for row in manifest["provides"].values()} <= endpoints
    assert set(manifest["exports"].values()) <= {*manifest["provides"], *manifest.get("slots", {})}
    wanted = re.findall(r"\$\{(config|slots)\.([a-z_]+)\}", json.dumps(manifest["program"]["env"]))
    settings = manifest.get("config_schema", {}).get("properties", {})
    assert {key for kind, key in wanted if kind == "slots"} == set(manifest.get("slots", {}))
    assert {key for kind, key in wanted if kind == "config"} == set(settings)
    assert all(settings[key].get("secret") for key in settings if "key" in key)


def test_the_variables_of_the_components_exist_in_the_code() -> None:
    read = (GREEN / "request.py").read_text()
    named = {key for key in MANIFESTS["green"]["program"]["env"] if not key.startswith("AMBER_")}
    assert all(key in read or (key == "TRADERBENCH_HOST" and 'f"TRADERBENCH_{name.upper()}"' in read) for key in named)
    assert set(MANIFESTS["llm"]["program"]["env"]) <= set(builtin_agents.lookup("llm").inherits)


def test_the_scenario_wires_components_that_exist() -> None:
    components = AMBER["components"]
    for component in components.values():
        if component["manifest"].startswith("."):
            assert (GREEN / component["manifest"]).resolve().is_file()
    for row in AMBER["bindings"]:
        for end in (row["to"], row["from"]):
            name, _, capability = end.removeprefix("#").partition(".")
            assert name in components and capability
            if components[name]["manifest"].startswith("."):
                manifest = json5((GREEN / components[name]["manifest"]).resolve())
                assert capability in (manifest.get("slots", {}) if end == row["to"] else manifest["exports"])
    assert AMBER["exports"] == {"results": "#gateway.results"}


def test_the_leaderboard_is_named_queries_over_results() -> None:
    rows = json.loads((GREEN / "leaderboard.json").read_text())
    assert [row["name"] for row in rows] == ["Overall", "Tasks"]
    assert all("results/*.json" in row["query"] and " AS id" in row["query"] for row in rows)
