"""The MCP face, the self-test, and the refusal where a machine cannot protect itself."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from mcp_servers import caller, sandbox
from mcp_servers.access import Grant
from mcp_servers.sandbox import kernel, readable, tiers
from mcp_servers.sandbox.outcome import SandboxUnavailable
from mcp_servers.sandbox.pool import Pool
from mcp_servers.sandbox.protection import Tier
from mcp_servers.sandbox.server import Execution, ExecutionUsage
from mcp_servers.sandbox.tiers import Check


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = tiers.selftest()
    assert found.tier is not None, found.reason
    with Pool(found.tier, size=1, modules=("numpy", "random")) as started:
        yield started


def grant(task_id: str = "t1", seed: int = 5) -> Grant:
    return Grant("run", task_id, date(2024, 6, 28), seed)


def call(pool: Pool, calls: list[dict[str, Any]], by: Grant | None = None) -> list[Any]:
    async def talk() -> list[Any]:
        async with Client(sandbox.build_server(pool=pool)) as client:
            return await asyncio.gather(*(client.call_tool("execute_python", arguments) for arguments in calls))

    with caller.acting_as(by or grant()):
        return asyncio.run(talk())


def test_the_tool_returns_result_output_usage_and_tier(pool: Pool) -> None:
    (answer,) = call(pool, [{"code": "print('hello')\nresult = data['x'] + 1", "data": {"x": 1}}])
    content = answer.structured_content
    assert not answer.is_error
    assert (content["ok"], content["result"], content["stdout"]) == (True, 2, "hello\n")
    assert content["tier"] == sandbox.tier()
    assert set(content) == {
        *(
            "ok",
            "result",
            "stdout",
            "stderr",
            "truncated",
            "error_class",
            "error",
            "killed_by",
            "usage",
            "session",
            "tier",
        )
    }
    assert set(content["usage"]) == {"wall_seconds", "cpu_seconds", "peak_bytes"}


def test_a_result_is_not_checked_again_on_the_event_loop() -> None:
    checked = list(range(10))
    usage = ExecutionUsage(wall_seconds=0.0, cpu_seconds=0.0, peak_bytes=0)
    rest = {"stdout": "", "stderr": "", "truncated": False, "error_class": None, "error": None, "killed_by": None}
    assert Execution(ok=True, result=checked, usage=usage, tier="", **rest).result is checked


def test_a_failure_of_the_code_is_an_answer_and_not_a_tool_error(pool: Pool) -> None:
    (answer,) = call(pool, [{"code": "{}['missing']"}])
    assert not answer.is_error
    assert answer.structured_content["error_class"] == "user_error"
    assert "KeyError" in answer.structured_content["stderr"]


def test_an_argument_over_its_limit_is_a_message_the_model_can_act_on(pool: Pool) -> None:
    (answer,) = call(pool, [{"code": "1", "timeout_s": 60}])
    assert answer.is_error
    assert "timeout_s is 60.0; it must be above 0 and at most 10.0" in answer.content[0].text


def test_the_seed_of_the_task_seeds_the_code(pool: Pool) -> None:
    code = {"code": "import random\nresult = random.random()"}
    first, again, other = (
        call(pool, [code], by)[0].structured_content["result"] for by in (grant(seed=1), grant("t2", 1), grant(seed=2))
    )
    assert first == again != other


def test_at_most_two_calls_of_a_task_run_at_a_time(pool: Pool) -> None:
    code = "import time\nbegan = time.monotonic()\ntime.sleep(0.5)\nresult = [began, time.monotonic()]"
    answers = call(pool, [{"code": code}] * 4)
    spans = [answer.structured_content["result"] for answer in answers]
    together = [sum(began <= start < ended for began, ended in spans) for start, _ in spans]
    assert max(together) == 2


def test_only_execute_python_is_listed_and_its_schema_states_the_limits(pool: Pool) -> None:
    async def listing() -> Any:
        async with Client(sandbox.build_server(pool=pool)) as client:
            return (await client.list_tools()).tools

    (tool,) = asyncio.run(listing())
    assert tool.name == "execute_python"
    assert "64 KiB" in tool.input_schema["properties"]["code"]["description"]
    assert "seconds" in tool.input_schema["properties"]["timeout_s"]["description"]


def test_without_a_working_tier_there_is_no_server_and_the_reason_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_works(tier: Tier, paths: readable.Readable) -> Check:
        return Check(tier.name, False, f"tier {tier.name}: PermissionError: seccomp: Operation not permitted")

    monkeypatch.setattr(tiers, "check", nothing_works)
    tiers.selftest.cache_clear()
    try:
        assert sandbox.tier() is None
        with pytest.raises(SandboxUnavailable, match=r"refuses to run code here: .*seccomp: Operation not permitted"):
            sandbox.build_server()
    finally:
        tiers.selftest.cache_clear()


def test_another_architecture_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "supported", lambda: False)
    tiers.selftest.cache_clear()
    try:
        assert "needs Linux on x86_64; this is" in sandbox.selftest().reason
        assert sandbox.tier() is None
    finally:
        tiers.selftest.cache_clear()


def test_a_tier_without_any_file_protection_cannot_be_asked_for() -> None:
    with pytest.raises(ValueError, match="needs a mount namespace"):
        Tier("none", landlock=False)


@pytest.mark.parametrize("claim", ["cannot fork", "cannot open a socket", "can run threads"])
def test_the_self_test_turns_a_tier_down_for_one_claim_that_does_not_hold(
    monkeypatch: pytest.MonkeyPatch, claim: str
) -> None:
    found = tiers.selftest()
    assert found.tier is not None
    broken = f"{tiers.PROBE}\nresult[{claim!r}] = not result[{claim!r}]"
    monkeypatch.setattr(tiers, "PROBE", broken)
    checked = tiers.check(found.tier, readable.find())
    assert not checked.works
    assert checked.reason.endswith(f"not true in it: {claim}")


def test_a_closed_folder_above_the_interpreter_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "closed" / "library.py"
    inside.parent.mkdir()
    inside.write_text("")
    paths = readable.Readable(trees=(str(inside),), hidden=(), packages=(), devices=(), links=())
    paths.require_access()
    really = readable.os.access
    monkeypatch.setattr(readable.os, "access", lambda path, mode: path != str(inside.parent) and really(path, mode))
    with pytest.raises(PermissionError, match=f"{inside.parent} is closed to user id .* needs {inside}"):
        paths.require_access()


def test_the_answers_of_the_benchmark_are_outside_what_may_be_read() -> None:
    paths = readable.find()
    project = Path(tiers.__file__).resolve().parents[2]
    for name in ("evaluators", "engine", "lake", "mcp_servers"):
        folder = str(project / name)
        assert not any(folder == tree or folder.startswith(tree + "/") for tree in paths.trees)
    for tree in paths.trees:
        assert not tree.endswith(("site-packages", "dist-packages"))


def test_importing_the_sandbox_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys\nfrom mcp_servers import sandbox\nsandbox.tier()\n"
        "print([m for m in ('numpy', 'pandas', 'mcp', 'jax', 'pydantic', 'ray') if m in sys.modules])"
    )
    project = Path(__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=project, check=True)
    assert ast.literal_eval(ran.stdout) == []
