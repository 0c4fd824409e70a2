"""An agent that asks for a bearer token: the run sends it, and keeps it nowhere."""

import asyncio
import contextlib
import json
import os
import zlib

import pytest

from engine.agent import builtin as builtin_agents
from engine.agent import token as agent_token
from engine.agent.client import connect
from engine.config import ExecutionConfig
from engine.errors import ConfigError
from engine.run import services
from engine.run.backends import Worker
from engine.run.tool_access import ToolAccess
from mcp_servers.access import new_key
from tests.engine.command_line import here

TOKEN = "t0ken-of.the_agent~1"
CONFIG = """
name: tiny
datasets: [{type: synthetic, limit: 4}]
execution: {backend: serial, ports: auto, concurrency: 1}
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """Yield the address of a quant that answers only who has the token."""
    path = tmp_path_factory.mktemp("token") / "token"
    path.write_text(TOKEN)
    with asyncio.Runner() as runner:
        stack = contextlib.AsyncExitStack()
        program = builtin_agents.start("quant", arguments=("--token-file", str(path)), apart=False)
        agent = runner.run(stack.enter_async_context(program))
        yield agent.url
        runner.run(stack.aclose())


@pytest.mark.parametrize("given", ["Bearer x", "two words", "caf\u00e9"])
def test_what_is_no_token_is_refused_and_not_repeated(monkeypatch, given):
    monkeypatch.setenv(agent_token.VARIABLE, given)
    with pytest.raises(ConfigError, match="TRADERBENCH_AGENT_TOKEN: a bearer token is one word") as refused:
        services.check_agent("http://127.0.0.1:9110")
    assert given not in str(refused.value)
    services.check_agent("builtin:quant")


def test_a_ray_worker_is_given_the_token(guarded):
    async def digest():
        agent = await connect(guarded)
        await agent.close()
        return agent.digest

    raw = {"name": "x", "datasets": [{"type": "synthetic", "limit": 1}]}
    card = asyncio.run(digest())
    for token, states in ((None, {"agent_unavailable"}), (TOKEN, {"passed", "failed"})):
        worker = Worker(raw, "r", guarded, card, ToolAccess({}, new_key()), token)
        record = asyncio.run(worker.execute(0, 1, 1))
        assert record["state"] in states, record["reason"]


@pytest.mark.slow
def test_a_run_sends_the_token_of_its_environment_and_stores_it_nowhere(guarded, tmp_path):
    path, command = tmp_path / "tiny.yaml", ("--agent", guarded, "--json", "--out")
    path.write_text(CONFIG)
    with services.tool_servers(ExecutionConfig(backend="serial", ports="auto")) as servers:
        without = here("run", path, *command, tmp_path / "without", servers=servers)
        wrong = here("run", path, *command, tmp_path / "wrong", servers=servers, TRADERBENCH_AGENT_TOKEN="wrong")
        done = here("run", path, *command, tmp_path / "with", servers=servers, TRADERBENCH_AGENT_TOKEN=TOKEN)
    for refused in (without, wrong):
        assert refused.returncode == 69
        reasons = {task["reason"] for task in json.loads(refused.stdout)["tasks"][:3]}
        (reason,) = reasons
        assert "HTTP 401 Unauthorized; TRADERBENCH_AGENT_TOKEN holds the bearer token" in reason
    assert done.returncode == 0, done.stderr
    assert {task["state"] for task in json.loads(done.stdout)["tasks"]} <= {"passed", "failed"}

    written = [file.read_bytes() for file in (tmp_path / "with").rglob("*") if file.is_file()]
    transcripts = [zlib.decompress(file.read_bytes()) for file in (tmp_path / "with").rglob("*.json.zz")]
    assert len(transcripts) == 4 and any(b"synthetic" in text for text in transcripts)
    assert not any(
        TOKEN.encode() in text for text in [*written, *transcripts, done.stdout.encode(), done.stderr.encode()]
    )


def test_agents_of_ours_get_no_token(monkeypatch):
    monkeypatch.setenv(agent_token.VARIABLE, TOKEN)

    async def run():
        async with services.connected_agent("builtin:null") as (agent, _):
            return agent.token

    assert asyncio.run(run()) is None and TOKEN in os.environ.values()
