"""Built-in agents run as processes of their own and leave nothing behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from engine.agent import builtin as builtin_agents
from engine.agent.builtin import BUILTIN_AGENTS, BuiltinAgent, locate_programs, lookup, start
from engine.agent.client import AgentFailure, Reply

EPISODES = {f"e{index:02d}": [10.0, 0, 1.5] for index in range(3)}


def ask(name: str, *bodies: Any, **options: Any) -> list[str]:
    async def run() -> list[Reply]:
        async with start(name, **options) as agent:
            conversation = agent.conversation("task")
            texts = [body if isinstance(body, str) else json.dumps(body) for body in bodies]
            return [await conversation.send(text, timeout_s=20.0) for text in texts]

    return [reply.text for reply in asyncio.run(run())]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_the_null_agent_says_nothing_and_holds() -> None:
    question, one, many = ask(
        "null",
        {"type": "question", "question": "What is 2 + 2?"},
        {"type": "trading_decision", "state": {}},
        {"type": "trading_decisions", "episodes": EPISODES},
    )
    assert question.strip() == ""
    assert json.loads(one)["action"] == "HOLD"
    decisions = json.loads(many)["decisions"]
    assert [(d["episode"], d["action"]) for d in decisions] == [(name, "HOLD") for name in EPISODES]


def test_the_echo_agent_returns_the_message() -> None:
    body = {"type": "question", "question": "grüße \u0000 <script>"}
    assert json.loads(ask("echo", body)[0]) == body


def test_a_recording_agent_keeps_every_message_it_receives(tmp_path: Path) -> None:
    messages = ['{"type": "question", "question": "größer?"}', "second"]
    ask("null", *messages, arguments=("--record", str(tmp_path / "received.jsonl")), apart=False)
    lines = (tmp_path / "received.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["received"] for line in lines] == messages


def test_the_keyword_agent_says_one_text_to_everything() -> None:
    replies = ask("keyword", "one question", {"type": "trading_decision", "state": {}})
    assert replies[0] == replies[1] and "free cash flow" in replies[0]


def test_the_random_agent_fills_the_schema_and_ignores_addresses() -> None:
    schema = {
        "type": "object",
        "properties": {"price": {"type": "number"}, "side": {"enum": ["call", "put"]}, "n": {"type": "integer"}},
    }
    body = {"type": "question", "question": "price?", "answer_schema": schema}
    first, again, other = ask(
        "random", body, body | {"mcp_servers": {"edgar": "http://127.0.0.1:1/t/x/mcp"}}, body | {"question": "other"}
    )
    answer = json.loads(first)
    assert isinstance(answer["price"], float) and answer["side"] in ("call", "put") and isinstance(answer["n"], int)
    assert first == again
    assert first != other


def test_the_random_agent_guesses_in_the_form_that_is_asked_for() -> None:
    question = "Order these.\n1. one\n2. two\n3. three"
    forms = ("percentage", "item numbers in order, separated by commas", "date", "accession number", "amount")
    bodies = [{"question": question, "answer_format": f"Final answer: <{form}>"} for form in forms]
    percent, order, day, accession, amount = ask("random", *bodies)
    assert percent.endswith("%")
    assert sorted(order.removeprefix("Final answer: ").split(",")) == ["1", "2", "3"]
    assert date.fromisoformat(day.removeprefix("Final answer: "))
    assert [len(part) for part in accession.removeprefix("Final answer: ").split("-")] == [10, 2, 6]
    assert float(amount.removeprefix("Final answer: ")) > 0


def test_the_random_agent_decides_every_episode() -> None:
    decisions = json.loads(ask("random", {"type": "trading_decisions", "episodes": EPISODES})[0])["decisions"]
    assert [decision["episode"] for decision in decisions] == ["e00", "e01", "e02"]
    assert all(decision["action"] in ("BUY", "SELL", "HOLD", "CLOSE") for decision in decisions)
    assert all(0.0 <= decision["size"] <= 1.0 for decision in decisions)


def test_the_agent_process_gets_no_environment_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRADERBENCH_SIGNING_KEY", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")

    async def environment() -> str:
        async with start("null", env={"GIVEN": "yes"}) as agent:
            port = agent.url.split(":")[2].strip("/")
            pid = next(pid for pid in _children() if f"--port\0{port}\0" in _read(pid, "cmdline"))
            return _read(pid, "environ")

    text = asyncio.run(environment())
    assert "GIVEN=yes" in text
    assert "secret" not in text


def _children() -> list[int]:
    return [int(pid) for pid in Path("/proc/self/task").glob("*/children") for pid in pid.read_text().split()]


def _read(pid: int, name: str) -> str:
    return Path(f"/proc/{pid}/{name}").read_text()


def test_nothing_is_left_when_the_block_ends_or_raises() -> None:
    seen: list[int] = []

    async def run() -> None:
        before = set(_children())
        async with start("null"):
            seen.extend(set(_children()) - before)
            raise KeyError("the harness failed")

    with pytest.raises(KeyError):
        asyncio.run(run())
    assert len(seen) == 1 and not is_alive(seen[0])


def test_the_agent_dies_with_a_killed_harness() -> None:
    script = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from engine.agent.builtin import start\n"
        "async def main():\n"
        "    async with start('null'):\n"
        "        (children,) = Path('/proc/self/task').glob('*/children')\n"
        "        print(children.read_text(), flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    harness = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        cwd=Path(builtin_agents.__file__).parents[2],
    )
    assert harness.stdout is not None
    agent = int(harness.stdout.readline())
    assert is_alive(agent)
    os.kill(harness.pid, signal.SIGKILL)
    harness.communicate()
    while is_alive(agent):
        time.sleep(0.02)


def test_an_agent_that_cannot_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILTIN_AGENTS, "broken", BuiltinAgent("no such program"))
    with pytest.raises(AgentFailure, match=r"ended at its start: .*no such program"):
        ask("broken", "hello")


def test_the_same_agent_on_another_port_has_the_same_digest_and_another_agent_has_not() -> None:
    async def digests() -> list[str]:
        found = []
        for name in ("null", "null", "echo"):
            async with start(name) as agent:
                found.append(agent.digest)
        return found

    first, second, other = asyncio.run(digests())
    assert first == second != other


def test_an_unknown_agent_lists_what_exists() -> None:
    with pytest.raises(ValueError, match="unknown built-in agent 'nul'; available: echo, keyword, learner, llm, null"):
        lookup("builtin:nul")


def test_every_row_names_a_program_that_exists() -> None:
    for row in BUILTIN_AGENTS.values():
        assert (locate_programs() / row.program / "__main__.py").is_file()
