"""An agent on another host: two network namespaces, joined by a cable and sharing nothing else of the network."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.command_line import here

ROOT = Path(__file__).resolve().parents[3]
BENCH, AGENT = "10.231.77.1", "10.231.77.2"


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[str, str]]:
    """Yield the names of two namespaces, of the benchmark and of the agent."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and the program ip")
    tag = secrets.token_hex(3)
    names = f"tb-a-{tag}", f"tb-b-{tag}"
    made = []
    try:
        try:
            for name in names:
                ip("netns", "add", name)
                made.append(name)
            ip("link", "add", f"tba{tag}", "netns", names[0], "type", "veth", "peer", f"tbb{tag}", "netns", names[1])
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
        for name, link, address in zip(names, (f"tba{tag}", f"tbb{tag}"), (BENCH, AGENT), strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", link)
            ip("-n", name, "link", "set", link, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in made:
            ip("netns", "del", name)


@pytest.fixture(scope="module")
def agent(hosts: tuple[str, str]) -> Iterator[str]:
    """Yield the address of the quant agent on the other host."""
    command = [sys.executable, "-m", "engine.cli", "agent", "quant", "--host", AGENT, "--port", "9110"]
    url = f"http://{AGENT}:9110"
    process = subprocess.Popen(["ip", "netns", "exec", hosts[1], *command, "--card-url", f"{url}/"], cwd=ROOT)
    try:
        yield url
    finally:
        process.terminate()
        process.wait()


def on_the_bench(hosts: tuple[str, str], *arguments: object) -> subprocess.CompletedProcess[str]:
    command = ["ip", "netns", "exec", hosts[0], sys.executable, "-m", "engine.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def comparable(result: dict[str, Any]) -> list[tuple[str, str, float]]:
    return [(task["id"], task["state"], task["value"]) for task in result["tasks"]]


@pytest.mark.campaign
def test_an_agent_on_another_host_calls_the_servers_to_the_table_of_a_local_one(
    hosts: tuple[str, str], agent: str, tmp_path: Path
) -> None:
    config = ROOT / "configs" / "quick.yaml"
    chosen = ("--backend", "serial", "--ports", "auto", "--agent", agent, "--json")
    while True:
        refused = on_the_bench(hosts, "run", config, *chosen, "--out", tmp_path / "refused")
        if refused.returncode != 69:  # nobody there yet
            break
        time.sleep(0.5)
    assert refused.returncode == 2
    assert f"could not reach tool servers on 127.0.0.1; let them listen where it can: --host {BENCH}" in refused.stderr
    assert not (tmp_path / "refused").exists()
    done = on_the_bench(hosts, "run", config, *chosen, "--host", "0.0.0.0", "--out", tmp_path / "far")
    assert done.returncode == 0, done.stderr[-2000:]
    far = json.loads(done.stdout)
    done = here("run", config, "--backend", "serial", "--ports", "auto", "--json", "--out", tmp_path / "near")
    near = json.loads(done.stdout)
    assert {name for name, calls in far["tool_calls"].items() if calls} == {"edgar", "sandbox", "options", "risk"}
    assert far["tool_calls"] == near["tool_calls"] and comparable(far) == comparable(near)
