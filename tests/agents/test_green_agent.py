"""The evaluator as an A2A agent: AgentBeats requests and results."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from engine import config
from engine.agent import builtin as builtin_agents
from engine.agent.client import A2AAgent, AgentFailure, connect
from tests.free_port import free_port

ROOT = Path(__file__).resolve().parents[2]
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


def read(request_module: Any, settings: dict[str, Any], participants: Any = PURPLE, base: Any = None) -> Any:
    return request_module.read(json.dumps({"participants": participants, "config": settings}), base)


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


def test_the_debate_goes_to_the_config_which_says_what_is_right(request_module: Any) -> None:
    for settings in ({"conduct_debate": True}, {"debate": {"enabled": True}}):
        assessment = read(request_module, settings)
        assert config.parse(assessment.config, source="request").debate.enabled and assessment.notes == ()
    with pytest.raises(request_module.BadRequest, match=r"debate\.rouns: unknown key"):
        read(request_module, {"conduct_debate": False, "debate": {"rouns": 2}})
    with pytest.raises(request_module.BadRequest, match="conduct_debate must be true or false, got 'no'"):
        read(request_module, {"conduct_debate": "no"})
    with pytest.raises(request_module.BadRequest, match=r"debate\.objections: judge needs the run's judge"):
        read(request_module, {"conduct_debate": True, "debate": {"objections": "judge"}})
    assert read(request_module, {"conduct_debate": False}).config["debate"] == {"enabled": False}


def test_a_failed_assessment_says_whether_it_would_have_been_debated(program: Callable[[str, str], ModuleType]) -> None:
    failed_result = program("green", "assessment").failed_result
    assert failed_result("gone", debated=True)["evaluation_metadata"]["conduct_debate"] is True


def test_the_agent_under_test_is_the_purple_agent_else_the_first(request_module: Any) -> None:
    both = {"judge": "http://127.0.0.1:1", "purple_agent": "http://127.0.0.1:2"}
    assert read(request_module, {}, both).agent_url == "http://127.0.0.1:2"
    assert read(request_module, {}, {"trader": "http://127.0.0.1:3"}).agent_url == "http://127.0.0.1:3"


def test_options_of_a_dataset_are_those_of_a_config_and_the_others_stay(request_module: Any) -> None:
    wanted = [
        {"type": "crypto", "transforms": ["noisy", {"name": "gap", "severity": 2}], "windows": 4, "bars": 48},
        "fundamentals",
        {"type": "professional", "first": [], "limit": 2},
    ]
    assessment = read(request_module, {"datasets": wanted, "crypto_limit": 3})
    parsed = config.parse(assessment.config, source="request")
    assert [entry.type for entry in parsed.datasets] == ["fundamentals", "crypto", "professional"]
    crypto = parsed.datasets[1]
    assert (crypto.limit, crypto.windows, crypto.bars) == (3, 4, 48)
    assert crypto.transforms == ("noisy", {"name": "gap", "severity": 2})
    of_the_variant = next(entry for entry in config.load("quick").datasets if entry.type == "fundamentals")
    assert parsed.datasets[0] == of_the_variant, "an entry by name alone is the variant's own"
    assert (parsed.datasets[2].limit, parsed.datasets[2].first) == (2, ())


@pytest.mark.parametrize(
    ("datasets", "complaint"),
    [
        ([{"type": "crypto", "windows": 0}], r"datasets\[0\]\.windows: .*greater than or equal to 2 \(got 0\)"),
        (["options", {"type": "crypto", "widows": 4}], r"datasets\[1\]\.widows: unknown key .*did you mean 'windows'"),
        ([{"type": "crypto", "mode": "fast"}], r"datasets\[0\]\.mode: .*'interactive' or 'strategy' \(got 'fast'\)"),
        ([{"type": "bizfinbench", "path": "/etc"}], r"datasets\[0\]\.path cannot be chosen by a request, got '/etc'"),
        ([{"type": "crypto", "transforms": ["noisy+/tmp/x.py:f"]}], r"\[0\]\.transforms: a request names registered"),
        ([{"type": "crypto", "transforms": [{"name": "/x.py:f"}]}], r"\[0\]\.transforms: a request names registered"),
        ([{"type": "cryto"}], r"datasets\[0\]: unknown 'cryto' \(did you mean 'crypto'\?\); this variant has"),
        (["crypto", {"type": "crypto", "bars": 9}], r"datasets\[1\]: 'crypto' is named twice"),
        ([{"limit": 3}], r"datasets\[0\] must be a name or an entry such as"),
        ([3], r"datasets\[0\] must be a name or an entry such as"),
        ([], "datasets must be a list of names or of entries"),
        ("crypto", "datasets must be a list of names or of entries"),
    ],
)
def test_a_wrong_option_names_field_value_and_what_is_right(request_module: Any, datasets: Any, complaint: str) -> None:
    with pytest.raises(request_module.BadRequest, match=complaint):
        read(request_module, {"datasets": datasets})


def test_a_shard_of_a_request_counts_from_0_and_splits_tasks(request_module: Any) -> None:
    for index in range(29):
        parsed = config.parse(read(request_module, {"num_shards": 29, "shard_index": index}).config, source="request")
        assert parsed.sampling.shard == config.ShardConfig(index=index + 1, count=29)
    assert read(request_module, {"num_shards": 1, "shard_index": 0}).config["sampling"]["shard"] is None


@pytest.fixture
def operators_config(tmp_path: Path) -> config.RunConfig:
    text = """
name: house
datasets:
  - {type: bizfinbench, limit: 3, path: data/bank}
  - {type: crypto, limit: 2, windows: 4}
  - {type: crypto, limit: 1, windows: 2, mode: strategy}
limits: {max_cost_usd: 3}
"""
    (tmp_path / "house.yaml").write_text(text)
    return config.load(tmp_path / "house.yaml")


def test_the_operators_config_is_the_base_of_every_request(request_module: Any, operators_config: Any) -> None:
    for settings in ({}, {"variant": "house"}):
        made = config.parse(read(request_module, settings, base=operators_config).config, source="request")
        assert made.datasets == operators_config.datasets and made.limits.max_cost_usd == 3
        assert made.execution.ports == "auto"
    chosen = read(request_module, {"datasets": ["crypto"], "seed": 9}, base=operators_config).config
    assert [(entry["type"], entry["windows"]) for entry in chosen["datasets"]] == [("crypto", 4), ("crypto", 2)]
    own = read(request_module, {"datasets": [{"type": "bizfinbench", "limit": 1}]}, base=operators_config).config
    assert own["datasets"] == [{"type": "bizfinbench", "limit": 1, "path": "data/bank"}]
    for settings, complaint in (
        ({"variant": "quick"}, "variant must be one of house, got 'quick'"),
        ({"datasets": ["options"]}, "this variant has bizfinbench, crypto"),
        ({"crypto_limit": 1}, "crypto_limit: this variant has 2 entries of 'crypto'"),
        ({"datasets": [{"type": "crypto", "limit": 1}]}, r"datasets\[0\]: this variant has 2 entries of 'crypto'"),
    ):
        with pytest.raises(request_module.BadRequest, match=complaint):
            read(request_module, settings, base=operators_config)


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
        (
            '{"participants": {"purple_agent": "http://h"}, "config": {"variant": "sweep"}}',
            "must be one of categories, full, llm, offline, paper-18",
        ),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"num_shards": 2, "shard_index": 2}}', "below num"),
        ('{"participants": {"purple_agent": "http://h"}, "config": {"shard_index": 1}}', "below num_shards"),
    ],
)
def test_a_bad_request_says_what_is_wrong(request_module: Any, text: str, complaint: str) -> None:
    with pytest.raises(request_module.BadRequest, match=complaint):
        request_module.read(text)


def test_the_scenario_file_is_a_request_that_is_understood(request_module: Any) -> None:
    scenario = tomllib.loads((ROOT / "agents/green/scenario.toml").read_text())
    participants = {row["role"]: row["endpoint"] for row in scenario["participants"]}
    assessment = read(request_module, scenario["config"], participants)
    assert assessment.agent_url == "http://127.0.0.1:9110" and assessment.notes == ()
    config.parse(assessment.config, source="scenario.toml")


@asynccontextmanager
async def green(folder: Path, *arguments: str, token: str = "") -> AsyncIterator[A2AAgent]:
    port = free_port()
    command = builtin_agents.command("green", host="127.0.0.1", port=port, arguments=("--a-flag", "x", *arguments))
    (folder / "tmp").mkdir(exist_ok=True)
    environment = dict(os.environ) | {"TRADERBENCH_GREEN_TOKEN": token, "TMPDIR": str(folder / "tmp")}
    process = subprocess.Popen([sys.executable, *command], cwd=folder, env=environment)
    try:
        while True:
            try:
                agent = await connect(f"http://127.0.0.1:{port}", token=token)
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
    wanted = [{"type": "fundamentals", "task_types": ["margin"], "difficulties": ["easy"], "limit": 2}]
    settings = {"datasets": wanted, "backend": "serial", "seed": 3}

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
            for name, url in (("quant", quant.url), ("debated", quant.url), ("away", "http://127.0.0.1:1")):
                asked = settings | ({"conduct_debate": True} if name == "debated" else {})
                request = {"participants": {"purple_agent": url}, "config": asked}
                replies[name] = json.loads((await conversation.send(json.dumps(request), timeout_s=120.0)).text)
            for name, changed in (
                ("shards", {"num_shards": 3}),
                ("task types", {"datasets": [{"type": "synthetic", "task_types": ["Astrology"]}]}),
            ):
                request = {"participants": {"purple_agent": quant.url}, "config": settings | changed}
                try:
                    await conversation.send(json.dumps(request), timeout_s=120.0)
                except AgentFailure as failure:
                    replies[name] = failure
        return replies

    return asyncio.run(run())


@pytest.mark.slow
def test_an_assessment_ends_with_a_result_of_schema_2(assessments: dict[str, Any]) -> None:
    result = assessments["quant"]
    assert set(result) == RESULT_FIELDS
    assert result["schema_version"] == "2.0" and result["error"] is None
    assert 0.0 < result["overall_score"]["score"] <= 100.0 and result["overall_score"]["max_score"] == 100.0
    assert result["section_scores"]["knowledge_retrieval"]["task_count"] == 2
    assert result["evaluation_metadata"]["purple_agent"] == "quant"
    assert len(result["detailed_results"]) == result["evaluation_metadata"]["num_tasks"] == 2
    assert result["effective_config"]["config"]["sampling"]["seed"] == 3


@pytest.mark.slow
def test_an_assessment_holds_the_debate_that_it_is_asked_for(assessments: dict[str, Any]) -> None:
    debated, plain = assessments["debated"], assessments["quant"]
    assert debated["error"] is None and debated["evaluation_metadata"]["conduct_debate"] is True
    assert plain["evaluation_metadata"]["conduct_debate"] is False and plain["traderbench"]["debate"]["tasks"] == 0
    found = debated["traderbench"]["debate"]
    assert found["enabled"] and found["tasks"] == sum(found["verdicts"].values()) == 2
    assert all(row["debate"]["verdict"] in found["verdicts"] for row in debated["detailed_results"])
    before = [row["debate"]["value_before"] for row in debated["detailed_results"]]
    assert before == [row["value"] for row in plain["detailed_results"]]


@pytest.mark.slow
def test_an_agent_that_is_away_is_a_result_with_the_error_and_the_same_fields(assessments: dict[str, Any]) -> None:
    result = assessments["away"]
    assert set(result) == RESULT_FIELDS
    assert "no agent answers" in result["error"]
    assert result["overall_score"]["score"] is None
    assert set(result["section_scores"]) == set(assessments["quant"]["section_scores"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shards", "sampling.shard.count: must be at most 2, the number of tasks of this run, got 3"),
        ("task types", "datasets[0] (synthetic): task_types: unknown entry 'Astrology'; available: "),
    ],
)
def test_what_only_the_draw_can_tell_is_a_bad_request_too(assessments: dict[str, Any], name: str, said: str) -> None:
    failure = assessments[name]
    assert failure.kind == "rejected" and str(failure).removeprefix("the agent rejected the message: ").startswith(said)


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


def test_a_run_gets_no_token_of_the_operator(
    program: Callable[[str, str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    assessment = program("green", "assessment")
    given: dict[str, str] = {}

    def launch(arguments: list[str], *, environment: dict[str, str], **options: Any) -> None:
        given.update(environment)
        raise FileNotFoundError

    monkeypatch.setattr(assessment.agent_process, "launch", launch)
    monkeypatch.setenv("TRADERBENCH_GREEN_TOKEN", "one")
    monkeypatch.setenv("TRADERBENCH_AGENT_TOKEN", "other")
    monkeypatch.setenv("TRADERBENCH_HOST", "0.0.0.0")
    with pytest.raises(FileNotFoundError):
        asyncio.run(assessment.carry_out(program("green", "request").Assessment("http://127.0.0.1:9", {}, ()), print))
    assert given["TRADERBENCH_HOST"] == "0.0.0.0" and not {"one", "other"} & set(given.values())


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
    shard = quant | {
        "traderbench": quant["traderbench"] | {"shard": {"index": 1, "count": 3}},
        "overall_score": {"score": 99.0, "max_score": 100.0},
    }
    for name, result in (("quant", quant), ("weak", weak), ("away", assessments["away"]), ("shard", shard)):
        (tmp_path / "results" / f"{name}.json").write_text(json.dumps(result))
    tables = {}
    for entry in json.loads((ROOT / "agents/green/leaderboard.json").read_text()):
        found = duckdb.sql(entry["query"])
        assert found.columns[0] == "id"
        tables[entry["name"]] = found.fetchall()
    assert [row[0] for row in tables["Overall"]] == ["quant", "weak"]
    assert [row[0] for row in tables["Tasks"]] == ["quant", "weak"]
    assert tables["Overall"][1][1] == 0.0
    assert tables["Overall"][0][1] == round(quant["overall_score"]["score"], 2)  # a part of a run is no run


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--eval-config", "quik"), r"--eval-config: cannot read config quik: no such file \(did you mean 'quick'\?\)"),
        (
            ("--eval-config", "bad.yaml"),
            r"--eval-config: bad.yaml: datasets\[0\].type: unknown dataset 'synthetc' \(did",
        ),
        (("--eval-config", "sweep"), "--eval-config: sweep: this is the config of a sweep"),
        (("--max-assessments", "0"), "--max-assessments: at least 1, got 0"),
        (("--token-file", "none"), "--token-file: .*No such file"),
        (("--port", "1"), "TRADERBENCH_GREEN_TOKEN: a token is one word .* what is there is not one"),
    ],
)
def test_what_the_evaluator_cannot_be_served_with_is_told_at_its_start(
    tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    (tmp_path / "bad.yaml").write_text("name: x\ndatasets: [{type: synthetc}]\n")
    command = [*builtin_agents.command("green", host="127.0.0.1", port=1), *flags]
    environment = dict(os.environ) | ({"TRADERBENCH_GREEN_TOKEN": "two words"} if "--port" in flags else {})
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert re.search(f"agents/green: error: (argument )?{said}", done.stderr), done.stderr
    assert "two words" not in done.stderr


class Watched:
    """An assessment as its client sees it: its progress and its end, by the protocol's own stream."""

    def __init__(self, client: httpx.AsyncClient, agent_url: str, settings: dict[str, Any]) -> None:
        self._client = client
        self._request = json.dumps({"participants": {"purple_agent": agent_url}, "config": settings})
        self._changed = asyncio.Condition()
        self.task_id = ""
        self.states: list[str] = []
        self.said: list[str] = []
        self.result: dict[str, Any] = {}
        self._reading = asyncio.create_task(self._read())

    async def _call(self, method: str, params: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}
        async with self._client.stream("POST", "/", json=body, headers={"A2A-Version": "1.0"}) as response:
            async for line in response.aiter_lines():
                if line.removeprefix("data:").strip().startswith("{"):
                    yield json.loads(line.removeprefix("data:"))["result"]

    async def _read(self) -> None:
        message = {"messageId": uuid.uuid4().hex, "role": "ROLE_USER", "parts": [{"text": self._request}]}
        async for event in self._call("SendStreamingMessage", {"message": message}):
            if "artifactUpdate" in event:
                self.result = json.loads(event["artifactUpdate"]["artifact"]["parts"][0]["text"])
            else:
                body = event.get("task") or event["statusUpdate"]
                self.task_id = self.task_id or body.get("id", "")
                self.states.append(body["status"]["state"])
                self.said += [part["text"] for part in body["status"].get("message", {}).get("parts", [])]
            async with self._changed:
                self._changed.notify_all()

    async def says(self, *words: str) -> None:
        """Wait until its progress has one of the words."""
        async with asyncio.timeout(120.0), self._changed:
            await self._changed.wait_for(lambda: any(word in said for said in self.said for word in words))

    async def cancel(self) -> str:
        """Ask for its end; return the state that the evaluator tells."""
        (event,) = [event async for event in self._call("CancelTask", {"id": self.task_id})]
        return str(event["status"]["state"])

    async def end(self) -> None:
        """Wait for the end of the stream."""
        await asyncio.wait_for(self._reading, 180.0)


RUNS = ("drawing tasks", "connecting to the agent", "starting the MCP servers", "warming")
HOUSE = """
name: house
datasets:
  - {type: synthetic, limit: 2}
  - {type: crypto, limit: 1, windows: 2, bars: 20, transforms: ["mine.py:doubled"]}
execution: {backend: serial, concurrency: 1}
"""
MINE = """
import transforms

@transforms.transform(channel="observed")
def doubled(key, market, *, severity=1.0):
    return market._replace(volume=market.volume * (1.0 + severity))
"""


@pytest.mark.campaign
def test_assessments_beyond_the_places_wait_and_a_cancelled_one_makes_room(tmp_path: Path) -> None:
    (tmp_path / "house.yaml").write_text(HOUSE)
    (tmp_path / "mine.py").write_text(MINE)
    token, runs = "a-token", tmp_path / "kept"
    flags = ("--max-assessments", "1", "--eval-config", "house.yaml", "--runs", "kept")

    async def run() -> list[Watched]:
        async with (
            green(tmp_path, *flags, token=token) as evaluator,
            builtin_agents.start("quant") as quant,
            httpx.AsyncClient(base_url=evaluator.url, timeout=None, trust_env=False) as client,
        ):
            assert (await client.post("/", json={})).status_code == 401
            client.headers["Authorization"] = f"Bearer {token}"
            first = Watched(client, quant.url, {"seed": 1})
            await first.says(*RUNS)
            second = Watched(client, quant.url, {"seed": 2})
            await second.says("waiting for a place: number 1 in the queue, 1 under way")
            third = Watched(client, quant.url, {"seed": 3})
            await third.says("waiting for a place: number 2 in the queue, 1 under way")
            fourth = Watched(client, quant.url, {"seed": 2, "num_shards": 3, "shard_index": 2})
            await fourth.says("number 3 in the queue")
            # one that waits and the one that runs
            assert await third.cancel() == await first.cancel() == "TASK_STATE_CANCELED"
            await fourth.says("number 2 in the queue")
            await second.says(*RUNS)
            await fourth.says("number 1 in the queue")
            for watched in (first, second, third, fourth):
                await watched.end()
            return [first, second, third, fourth]

    first, second, third, fourth = asyncio.run(run())
    assert first.result == third.result == {} and not any(word in said for said in third.said for word in RUNS)
    for watched in (second, fourth):
        assert watched.states[-1] == "TASK_STATE_COMPLETED" and watched.result["error"] is None
        assert watched.result["effective_config"]["config"]["sampling"]["seed"] == 2
        assert watched.result["traderbench"]["seed"] == 2 and watched.result["traderbench"]["config"] == "house"
    rows = second.result["detailed_results"]
    assert [row["dataset"] for row in rows] == ["synthetic", "synthetic", "crypto"]
    assert fourth.result["detailed_results"] == rows[2:]
    assert len(list(runs.glob("*/results.json"))) == 2
    assert list((tmp_path / "tmp").glob("traderbench-*")) == []


@pytest.mark.campaign
def test_ten_assessments_at_once_equal_ten_in_a_row_whatever_happens_beside_them(tmp_path: Path) -> None:
    settings = {"datasets": ["fundamentals", "synthetic"], "fundamentals_limit": 1, "synthetic_limit": 2}
    settings["backend"] = "serial"

    async def run() -> tuple[list[Any], list[Any], list[Any]]:
        async with (
            green(tmp_path, "--max-assessments", "12") as evaluator,
            builtin_agents.start("quant") as quant,
            httpx.AsyncClient(base_url=evaluator.url, timeout=None, trust_env=False) as client,
        ):
            in_a_row = []
            for seed in range(10):
                in_a_row.append(Watched(client, quant.url, settings | {"seed": seed}))
                await in_a_row[-1].end()
            at_once = [Watched(client, quant.url, settings | {"seed": seed}) for seed in range(10)]
            away = Watched(client, "http://127.0.0.1:9", settings)
            cancelled = Watched(client, quant.url, settings)
            await cancelled.says(*RUNS)
            assert await cancelled.cancel() == "TASK_STATE_CANCELED"
            for watched in (*at_once, away):
                await asyncio.wait_for(watched._reading, 580.0)
            return in_a_row, at_once, [away, cancelled]

    in_a_row, at_once, (away, cancelled) = asyncio.run(run())
    assert "no agent answers" in away.result["error"] and cancelled.result == {}
    assert [watched.result["error"] for watched in (*in_a_row, *at_once)] == [None] * 20
    rows = [watched.result["detailed_results"] for watched in in_a_row]
    assert [watched.result["detailed_results"] for watched in at_once] == rows
    assert all(len(found) == 3 for found in rows) and len({row["task_id"] for found in rows for row in found}) == 30
    for watched in (*in_a_row, *at_once):
        assert watched.result["error"] is None and watched.result["traderbench"]["complete"]
