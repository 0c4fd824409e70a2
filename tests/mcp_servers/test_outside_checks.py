"""The six servers before the protocol's own inspector and conformance suite, where Node 22 and the packages are."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from mcp_servers import access
from mcp_servers.access import Grant
from mcp_servers.server_set import ServerSet, start_servers
from tests.mcp_servers.test_published_tools import tools_of

PACKAGES = Path(__file__).with_name("node") / "node_modules"
NODE = PACKAGES / "node" / "bin" / "node"
SERVERS = ("edgar", "yfinance", "sandbox", "options", "trading", "risk")
SCENARIOS = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""Of the suite; the others drive tools, resources and prompts of a fixture that a server of it has to have."""
AS_OF = date(2013, 3, 1)
CALLS = {
    "edgar": ("search_companies", {"query": "apple"}, "AAPL"),
    "yfinance": ("get_quote", {"ticker": "IBM"}, "202.91"),
    "sandbox": ("execute_python", {"code": "6*7"}, "42"),
    "options": ("get_options_chain", {"ticker": "SIM-TECH"}, "call_bid"),
    "trading": ("open_account", {"cash": "50000"}, "50000"),
    "risk": ("calculate_max_drawdown", {"returns": "[0.1, -0.5, 0.2]"}, "0.5"),
}

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not NODE.exists(), reason="no Node packages: npm ci in tests/mcp_servers/node"),
]


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    running = start_servers(SERVERS, ports="auto")
    yield running
    running.close()


def address(servers: ServerSet, name: str, task: str) -> str:
    return servers.urls(access.issue(Grant("run", task, AS_OF, 1), servers.key))[name]


def node(program: str, *arguments: str) -> str:
    command = [str(NODE), str(PACKAGES / ".bin" / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", SERVERS)
def test_the_conformance_suite_passes(servers: ServerSet, name: str, scenario: str, tmp_path: Path) -> None:
    url = address(servers, name, f"{name} {scenario}")
    said = node("conformance", "server", "--url", url, "--scenario", scenario, "-o", str(tmp_path))
    passed, failed = map(int, re.findall(r"Passed: (\d+)/\d+, (\d+) failed", said)[0])
    assert passed > 0 and failed == 0, said


@pytest.mark.parametrize("name", SERVERS)
def test_the_inspector_lists_and_calls_the_tools(servers: ServerSet, name: str) -> None:
    url = address(servers, name, f"{name} inspector")

    def inspect(*arguments: str) -> Any:
        return json.loads(node("mcp-inspector", "--cli", url, "--transport", "http", *arguments))

    listed = inspect("--method", "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [tool.name for tool in tools_of(name)]
    assert all(tool["outputSchema"] and tool["annotations"] and tool["description"] for tool in listed)
    tool, arguments, expected = CALLS[name]
    given = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
    answer = inspect("--method", "tools/call", "--tool-name", tool, *given)
    assert not answer.get("isError") and expected in json.dumps(answer["structuredContent"]), answer
