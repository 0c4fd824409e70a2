"""What the images are made of exists, and what they start is a command of this project."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from engine.cli import build_parser
from mcp_servers.catalog import SERVERS
from tests.free_port import free_port
from tests.images.dockerfile import ROOT, copied, exposed, last, of_image, stages

SERVICES = ("green", "tools", "quant", "llm")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROVIDED_BY = {"a2a": "a2a-sdk", "starlette": "a2a-sdk", "google": "a2a-sdk", "mcp": "mcp", "pydantic": "mcp"}


def entrypoint(target: str) -> list[str]:
    return last(target, "ENTRYPOINT").words()


def test_every_image_is_on_the_interpreter_that_the_project_supports() -> None:
    text = (ROOT / "images" / "Dockerfile").read_text()
    version = re.search(r"^ARG PYTHON_IMAGE=python:(3\.\d+)-slim-", text, re.MULTILINE)
    assert version and f"Programming Language :: Python :: {version[1]}" in PROJECT["project"]["classifiers"]
    assert {stage.base for stage in stages().values()} <= {"${PYTHON_IMAGE}", *stages()}


def test_what_is_copied_exists_and_is_all_that_the_wheel_wants() -> None:
    assert all((ROOT / source).exists() for source in copied()), copied()
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*wheel["packages"], *wheel["force-include"], PROJECT["project"]["readme"]}
    needed |= {*PROJECT["project"]["license-files"], "pyproject.toml", "uv.lock"}
    assert needed <= set(copied())


def test_the_build_context_is_what_is_copied_and_no_more() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert rules[0] == "*"
    allowed = {rule[1:] for rule in rules if rule.startswith("!")}
    assert allowed == {source.split("/")[0] for source in copied()}
    kept_out = [rule.removeprefix("**/") for rule in rules[1:] if not rule.startswith("!")]
    for name in (".env", ".env.local", "__pycache__", "module.pyc"):
        assert any(fnmatch.fnmatch(name, rule) for rule in kept_out), name


@pytest.mark.parametrize("target", [*SERVICES, "cli"])
def test_no_image_runs_as_root_and_each_may_write_its_working_folder(target: str) -> None:
    user = last(target, "USER").text
    assert user == "10001:10001"
    made = " ".join(row.text for row in of_image(target) if row.name == "RUN")
    assert "useradd --uid 10001 --gid 10001" in made and "--owner bench --group bench /data" in made
    assert last(target, "WORKDIR").text == "/data"


def test_the_ports_are_those_of_the_code() -> None:
    tools = {spec.port for spec in SERVERS.values()}
    assert exposed("tools") == tools
    assert exposed("green") == {9109} | tools
    assert exposed("quant") == exposed("llm") == {9110}
    assert "9109 for green, 9110 for the others" in " ".join(subcommand_help("agent").split())


def subcommand_help(name: str) -> str:
    command = [sys.executable, "-m", "engine.cli", name, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


@pytest.mark.parametrize("target", ["green", "tools"])
def test_the_engines_images_start_commands_that_parse(target: str) -> None:
    program, *arguments = entrypoint(target)
    assert program == "traderbench"
    parsed = build_parser().parse_args(arguments)
    assert (parsed.name, "0.0.0.0" in arguments) == ({"green": "green", "tools": "all"}[target], True)


@pytest.mark.parametrize("target", ["quant", "llm"])
def test_the_agents_images_start_programs_that_they_copied(target: str) -> None:
    program, path, *flags = entrypoint(target)
    assert program == "python" and flags == ["--host", "0.0.0.0", "--port", "9110"]
    assert f"agents/{target} {path}" in [row.text for row in stages()["agent-built"].instructions]
    assert (ROOT / "agents" / Path(path).name / "__main__.py").is_file()


@pytest.mark.parametrize("target", ["quant", "llm"])
def test_the_packages_of_the_agents_image_are_those_that_the_agents_import(target: str) -> None:
    (install,) = [row.text for row in stages()["agent-built"].instructions if "pip install" in row.text]
    installed = {re.split(r"[\[=<>]", word.strip('"'))[0] for word in install.split("constraints.txt")[1].split()}
    agents = ROOT / "agents"
    shared = [agents / name for name in ("a2a_service.py", "mcp_toolbox.py", "market_learner.py")]
    files = [*shared, *(agents / target).rglob("*.py")]
    own = {path.stem for path in files} | {path.parent.name for path in files}
    imported = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.split(".")[0])
    foreign = {name for name in imported if name not in sys.stdlib_module_names and name not in own}
    assert {PROVIDED_BY.get(name, name) for name in foreign} <= installed


@pytest.mark.parametrize("target", ["green", "quant"])
def test_the_health_check_tells_a_service_that_is_up_from_one_that_is_not(target: str, tmp_path: Path) -> None:
    port, declared = str(free_port()), {"green": "9109", "quant": "9110"}[target]
    check = [word.replace(declared, port) for word in last(target, "HEALTHCHECK").words()]
    assert check[0] == "python" and check != last(target, "HEALTHCHECK").words()
    command = [word.replace(declared, port).replace("0.0.0.0", "127.0.0.1") for word in entrypoint(target)]
    command = [
        word.replace("/data/runs", str(tmp_path)).replace("/opt/agents", str(ROOT / "agents")) for word in command
    ]
    start = {"traderbench": [sys.executable, "-m", "engine.cli"], "python": [sys.executable]}[command[0]]
    healthy = [sys.executable, *check[1:]]
    assert subprocess.run(healthy, capture_output=True).returncode != 0
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([*start, *command[1:]], cwd=tmp_path, env=environment) as service:
        try:
            deadline = time.monotonic() + 60
            while (ended := subprocess.run(healthy, capture_output=True).returncode) and time.monotonic() < deadline:
                assert service.poll() is None
            assert ended == 0
        finally:
            service.terminate()
