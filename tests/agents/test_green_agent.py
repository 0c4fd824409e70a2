"""The evaluator as an A2A agent: AgentBeats requests and results."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine import builtin_agents, config
from engine.agent_client import A2AAgent, AgentFailure, connect

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT / "configs"
PURPLE = {"purple_agent": "http://127.0.0.1:9110"}
RESULT_FIELDS = {
    "schema_version",
    "benchmark",
    "version",
    "overall_score",
    "section_scores",
    "evaluation_metadata",
    "detailed_results",
    "traderbench",
    "error",
    "effective_config",
}


@pytest.fixture
def request_module(program: Callable[[str, str], ModuleType]) -> Any:
    return program("green", "request")


def read(request_module: Any, settings: dict[str, Any], participants: Any = PURPLE) -> Any:
    return request_module.read(json.dumps({"participants": participants, "config": settings}), CONFIGS)


def test_the_config_of_a_request_is_a_valid_benchmark_config(request_module: Any) -> None:
    settings = {
        "num_tasks": 7,
        "seed": 5,
        "sampling_strategy": "random",
        "timeout_seconds": 60,
        "datasets": ["synthetic", "options"],
        "options_limit": 3,
        "num_instances": 4,
    }
    assessment = read(request_module, settings)
    parsed = config.parse(assessment.config, source="request")
    assert [entry.type for entry in parsed.datasets] == ["synthetic", "options"]
    assert parsed.datasets[1].limit == 3
    assert (parsed.sampling.total_limit, parsed.sampling.seed, parsed.sampling.strategy) == (7, 5, "random")
    assert parsed.limits.task_time_s == 60 and parsed.execution.ports == "auto"
    assert assessment.notes == ("num_instances: not a key of this benchmark, ignored",)


def test_the_operator_says_where_the_tools_are_and_the_request_cannot(
    request_module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRADERBENCH_HOST", "0.0.0.0")
    monkeypatch.setenv("TRADERBENCH_PUBLIC_HOST", "green")
    monkeypatch.setenv("TRADERBENCH_ALLOWED_HOSTS", "bench.example, evaluator")
    assessment = read(request_module, {"public_host": "elsewhere"})
    execution = config.parse(assessment.config, source="request").execution
    assert (execution.host, execution.public_host) == ("0.0.0.0", "green")
    assert execution.allowed_hosts == ("bench.example", "evaluator")
    assert assessment.notes == ("public_host: not a key of this benchmark, ignored",)


def test_the_debate_that_is_not_there_is_noted_and_not_an_error(request_module: Any) -> None:
    (note,) = read(request_module, {"conduct_debate": True}).notes
    assert "debate" in note


def test_the_agent_under_test_is_the_purple_agent_else_the_first(request_module: Any) -> None:
    both = {"judge": "http://127.0.0.1:1", "purple_agent": "http://127.0.0.1:2"}
    assert read(request_module, {}, both).agent_url == "http://127.0.0.1:2"
    assert read(request_module, {}, {"trader": "http://127.0.0.1:3"}).agent_url == "http://127.0.0.1:3"


@pytest.mark.parametrize("total", [None, 11])
def test_shards_hold_every_dataset_once_and_as_many_tasks_as_the_whole(request_module: Any, total: int | None) -> None:
    settings = {} if total is None else {"num_tasks": total}
    whole = read(request_module, {}).config["datasets"]
    shards = [read(request_module, settings | {"num_shards": 4, "shard_index": i}).config for i in range(4)]
    entries = [entry for shard in shards for entry in shard["datasets"]]
    assert sorted(entry["type"] for entry in entries) == sorted(entry["type"] for entry in whole)
    assert sum(entry["limit"] for entry in entries) == (total or sum(entry["limit"] for entry in whole))
    assert all("total_limit" not in shard["sampling"] for shard in shards)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hello", "not JSON"),
        ("[]", "a request is a JSON object"),
        ('{"config": {}}', "participants must name"),
        ('{"participants": {"purple_agent": "localhost:9110"}}', "needs an address like"),
        ('{"participants": {"purple_agent": "http://h"}, "config": 3}', "config must be an object"),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"num_tasks": 0}}', "num_tasks must be"),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"seed": -1}}', "seed must be"),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"datasets": ["equities"]}}', "unknown 'equities'"),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"variant": "../x"}}', "variant must be one of"),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"num_shards": 2, "shard_index": 2}}', "below num"),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"num_shards": 99}}', "num_shards must be at most"),
    ],
)
def test_a_bad_request_says_what_is_wrong(request_module: Any, text: str, complaint: str) -> None:
    with pytest.raises(request_module.BadRequest, match=complaint):
        request_module.read(text, CONFIGS)


def test_the_scenario_file_is_a_request_that_is_understood(request_module: Any) -> None:
    scenario = tomllib.loads((ROOT / "agents/green/scenario.toml").read_text())
    participants = {row["role"]: row["endpoint"] for row in scenario["participants"]}
    assessment = read(request_module, scenario["config"], participants)
    assert assessment.agent_url == "http://127.0.0.1:9110" and assessment.notes == ()
    config.parse(assessment.config, source="scenario.toml")


@asynccontextmanager
async def green(folder: Path) -> AsyncIterator[A2AAgent]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = builtin_agents.command("green", host="127.0.0.1", port=port, arguments=("--eval-config", "x"))
    process = subprocess.Popen([sys.executable, *command], cwd=folder, env=dict(os.environ))
    try:
        while True:
            try:
                agent = await connect(f"http://127.0.0.1:{port}")
                break
            except AgentFailure:
                assert process.poll() is None
                await asyncio.sleep(0.05)
        yield agent
        await agent.close()
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def assessments(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The replies of one evaluator to three requests: a run, an agent that is away, no request."""
    folder = tmp_path_factory.mktemp("green")
    settings = {"datasets": ["synthetic"], "synthetic_limit": 2, "backend": "serial", "seed": 3}

    async def run() -> dict[str, Any]:
        replies: dict[str, Any] = {}
        async with (
            green(folder) as evaluator,
            builtin_agents.start("quant") as quant,
        ):
            conversation = evaluator.conversation("assessment")
            try:
                await conversation.send("hello", timeout_s=30.0)
            except AgentFailure as failure:
                replies["nonsense"] = failure
            for name, url in (("quant", quant.url), ("away", "http://127.0.0.1:1")):
                request = {"participants": {"purple_agent": url}, "config": settings}
                replies[name] = json.loads((await conversation.send(json.dumps(request), timeout_s=120.0)).text)
        return replies

    return asyncio.run(run())


@pytest.mark.slow
def test_an_assessment_ends_with_a_result_of_schema_2(assessments: dict[str, Any]) -> None:
    result = assessments["quant"]
    assert set(result) == RESULT_FIELDS
    assert result["schema_version"] == "2.0" and result["error"] is None
    assert 0.0 < result["overall_score"]["score"] <= 100.0 and result["overall_score"]["max_score"] == 100.0
    assert result["section_scores"]["analytical_reasoning"]["task_count"] == 2
    assert result["evaluation_metadata"]["purple_agent"] == "quant"
    assert len(result["detailed_results"]) == result["evaluation_metadata"]["num_tasks"] == 2
    assert result["effective_config"]["config"]["sampling"]["seed"] == 3


@pytest.mark.slow
def test_an_agent_that_is_away_is_a_result_with_the_error_and_the_same_fields(assessments: dict[str, Any]) -> None:
    result = assessments["away"]
    assert set(result) == RESULT_FIELDS
    assert "no agent answers" in result["error"]
    assert result["overall_score"]["score"] is None
    assert set(result["section_scores"]) == set(assessments["quant"]["section_scores"])


@pytest.mark.slow
def test_a_run_that_stopped_by_itself_keeps_its_scores_beside_the_error(
    program: Callable[[str, str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    assessment = program("green", "assessment")

    async def stopped(agent_url: str, folder: Path, out: Path, progress: Any) -> str:
        out.mkdir()
        (out / "results.json").write_text('{"overall_score": {"score": 40.0}}')
        return "traderbench: error: the agent was not available for 3 tasks in a row"

    async def ignore(text: str) -> None:
        pass

    monkeypatch.setattr(assessment, "_run", stopped)
    asked = program("green", "request").Assessment("http://127.0.0.1:9", {}, ())
    result = asyncio.run(assessment.carry_out(asked, ignore))
    assert result["overall_score"] == {"score": 40.0}
    assert "3 tasks in a row" in result["error"]


def test_nonsense_is_rejected_with_a_text(assessments: dict[str, Any]) -> None:
    failure = assessments["nonsense"]
    assert failure.kind == "rejected" and "not JSON" in str(failure)


@pytest.mark.slow
def test_the_leaderboard_queries_run_over_stacked_results(
    assessments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    quant = assessments["quant"]
    weak = quant | {
        "evaluation_metadata": quant["evaluation_metadata"] | {"purple_agent": "weak"},
        "overall_score": {"score": 0.0, "max_score": 100.0},
        "detailed_results": [row | {"is_correct": False, "score": 0.0} for row in quant["detailed_results"]],
    }
    for name, result in (("quant", quant), ("weak", weak), ("away", assessments["away"])):
        (tmp_path / "results" / f"{name}.json").write_text(json.dumps(result))
    tables = {}
    for entry in json.loads((ROOT / "agents/green/leaderboard.json").read_text()):
        found = duckdb.sql(entry["query"])
        assert found.columns[0] == "id"
        tables[entry["name"]] = found.fetchall()
    assert [row[0] for row in tables["Overall"]] == ["quant", "weak"]
    assert [row[0] for row in tables["Tasks"]] == ["quant", "weak"]
    assert tables["Overall"][1][1] == 0.0
