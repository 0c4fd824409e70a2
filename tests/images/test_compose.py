"""The compose file names images, ports, hosts and variables that exist."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

import engine
from engine.agent import builtin as builtin_agents
from engine.cli import build_parser
from tests.images.dockerfile import ROOT, exposed, last, of_image, stages

COMPOSE = yaml.safe_load((ROOT / "images" / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
READ_BY_GREEN = {
    name
    for path in (ROOT / "agents" / "green").glob("*.py")
    for name in re.findall("TRADERBENCH_[A-Z_]+", path.read_text())
}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_a_stage_of_the_dockerfile_in_the_version_of_the_package(name: str) -> None:
    service = SERVICES[name]
    target = service["build"]["target"]
    assert target in stages() and service["build"]["dockerfile"] == "images/Dockerfile"
    assert (ROOT / "images" / service["build"]["context"]).resolve() == ROOT
    assert service["image"] == f"traderbench-{target}:{engine.__version__}"
    assert service["platform"] == "linux/amd64"
    assert service["cap_drop"] == ["ALL"] and service["security_opt"] == ["no-new-privileges:true"]


def test_everything_is_there() -> None:
    assert {"green", "quant", "llm", "tools"} <= set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_published_ports_are_exposed_and_open_to_this_machine_alone(name: str) -> None:
    service = SERVICES[name]
    for row in service.get("ports", ()):
        address, outside, inside = row.split(":")
        first, _, end = inside.partition("-")
        assert address == "127.0.0.1" and outside == inside
        assert set(range(int(first), int(end or first) + 1)) <= exposed(service["build"]["target"])


@pytest.mark.parametrize("name", SERVICES)
def test_the_names_of_variables_exist_in_the_code(name: str) -> None:
    service = SERVICES[name]
    set_here = set(service.get("environment", ()))
    target = service["build"]["target"]
    set_here |= {row.text.split("=")[0] for row in of_image(target) if row.name == "ENV"} - {"PATH", "PYTHONUNBUFFERED"}
    known = {"green": READ_BY_GREEN, "llm": set(builtin_agents.lookup("llm").inherits)}.get(name, set())
    assert set_here <= known


@pytest.mark.parametrize("name", SERVICES)
def test_a_command_parses_behind_the_entrypoint_of_its_image(name: str) -> None:
    service = SERVICES[name]
    program, *words = last(service["build"]["target"], "ENTRYPOINT").words()
    if program == "traderbench":
        parsed = build_parser().parse_args([*words, *service["command"]])
        assert parsed.command in ("agent", "mcp", "run")


@pytest.mark.parametrize("name", ["green", "quant", "llm"])
def test_a_card_tells_an_address_of_the_network(name: str) -> None:
    flag, url = SERVICES[name]["command"]
    port = max(exposed(SERVICES[name]["build"]["target"]))
    assert (flag, url) == ("--card-url", f"http://{name}:{port}/")


def test_agents_are_told_the_name_by_which_they_reach_the_tools() -> None:
    assert SERVICES["green"]["environment"]["TRADERBENCH_PUBLIC_HOST"] == "green"
    words = SERVICES["run"]["command"]
    assert words[words.index("--public-host") + 1] == SERVICES["run"]["hostname"]
    tools = SERVICES["tools"]["command"]
    assert tools[tools.index("--allowed-host") + 1] == "tools"


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_waited_for_has_a_health_check_and_volumes_are_declared(name: str) -> None:
    for other, rule in SERVICES[name].get("depends_on", {}).items():
        assert rule == {"condition": "service_healthy"}
        assert last(SERVICES[other]["build"]["target"], "HEALTHCHECK")
    for row in SERVICES[name].get("volumes", ()):
        volume, place = row.split(":")
        assert volume in COMPOSE["volumes"] and place == last(SERVICES[name]["build"]["target"], "VOLUME").text
