"""Runs with the debate, through the command line: real agents over A2A, real tool servers, a real store."""

import asyncio
import contextlib
import json
import shutil
import signal
from collections import Counter
from datetime import date
from pathlib import Path

import httpx
import pytest

from engine.agent.client import AgentFailure, Reply, Usage
from engine.run import execute, services
from engine.run.batch import Interrupted, resume_run
from engine.run.tool_access import ToolAccess
from engine.storage.store import Store
from evaluators import registry
from evaluators.debate.session import debated
from mcp_servers.access import Grant, new_key
from tests.engine.command_line import here, program
from tests.engine.run.attacked_run import Meanwhile, Purple, run

CONFIG = """
name: debated
datasets:
  - {{type: fundamentals, limit: 10, difficulties: [easy]}}
  - {{type: bizfinbench, limit: 2}}
  - {{type: synthetic, limit: 2}}
  - {{type: options, limit: 3, difficulties: [easy]}}
  - {{type: professional, limit: 1}}
debate: {{enabled: {enabled}}}
execution: {{backend: {backend}, ports: auto, concurrency: 2}}
"""
QUANTITIES = "financial_quantitative_computation"
NAMES = ("role", "alpha", "alpha_paper", "lookahead_penalty", "debate")


@pytest.fixture(scope="module")
def play(servers, tmp_path_factory):
    """Return a function that gives result and folder of a run, played once."""
    runs = {}

    def played(agent, *, enabled=True, backend="serial"):
        key = agent, enabled, backend
        if key not in runs:
            folder = tmp_path_factory.mktemp("debated")
            config = folder / "debated.yaml"
            config.write_text(CONFIG.format(enabled=str(enabled).lower(), backend=backend))
            command = ("run", config, "--agent", f"builtin:{agent}", "--out", folder / "run", "--json")
            done = program(*command) if backend == "ray" else here(*command, servers=servers)
            assert done.returncode == 0, done.stderr[-2000:]
            runs[key] = json.loads(done.stdout), folder / "run"
        return runs[key]

    return played


def told(folder):
    return json.loads((folder / "results.json").read_text())


def test_the_quant_defends_its_answers_with_evidence_over_a2a(play):
    result, folder = play("quant")
    assert result["debate"]["enabled"] and result["debate"]["tasks"] >= 11
    found = told(folder)
    assert found["evaluation_metadata"]["conduct_debate"] is True
    assert all(found["traderbench"][name] == result[name] for name in NAMES)
    rows = {row["task_id"]: row["debate"] for row in found["detailed_results"]}
    assert sum(row is not None for row in rows.values()) == result["debate"]["tasks"]
    proven = [row for row in rows.values() if row and row["multiplier"] == 1.2]
    assert len(proven) >= 5 and {row["reason"] for row in proven} == {"kept with evidence"}
    assert result["debate"]["verdicts"]["maintained"] >= len(proven)
    with Store.open(folder, read_only=True) as store:
        (record,) = [row for row in store.records() if row["dataset"] == "professional"]
        debates = [row for row in store.records() if row["details"].get("debate", {}).get("objection")]
    assert len(record["transcript"]) == 2, "a deliverable is not debated"
    assert debates and all(len(row["transcript"]) == 4 for row in debates)
    page = (folder / "report.html").read_text()
    assert "Alpha as printed" in page and f"{result['debate']['mean_multiplier']:.3f}" in page


def test_the_null_family_earns_nothing_and_the_oracle_keeps_its_100(play):
    null, _ = play("null")
    assert (null["overall"]["score"], null["debate"]["mean_multiplier"]) == (0.0, 0.8)
    assert null["role"]["score"] == null["alpha"]["score"] == 0.0
    oracle, _ = play("oracle")
    assert (oracle["overall"]["score"], oracle["debate"]["mean_multiplier"]) == (100.0, 1.2)
    assert oracle["role"]["score"] == pytest.approx(100.0)
    assert oracle["alpha"]["score"] == pytest.approx(120.0) and oracle["alpha_paper"]["score"] is None


def test_without_the_debate_everything_is_as_it_was(play):
    off, folder = play("oracle", enabled=False)
    assert off["debate"]["tasks"] == 0 and off["debate"]["mean_multiplier"] == 1.0
    assert off["alpha"]["score"] == pytest.approx(100.0)
    assert told(folder)["evaluation_metadata"]["conduct_debate"] is False
    with Store.open(folder, read_only=True) as store:
        assert all(len(row["transcript"]) == 2 and "debate" not in row["details"] for row in store.records())
        assert store.manifest()["config"]["debate"] == {"enabled": False}
    assert "multiplier" not in here("report", folder).stdout


def test_a_debated_run_is_scored_again_from_the_store_and_never_played_again(play, tmp_path):
    result, folder = play("quant")
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    again = json.loads(here("rescore", copy, "--json").stdout)
    assert again["changed"] == [] and all(again[name] == result[name] for name in NAMES)
    resumed = here("resume", copy, "--json")
    assert "nothing to play: every task has a result" in resumed.stderr
    assert json.loads(resumed.stdout)["debate"] == result["debate"]
    assert "mean multiplier" in here("report", copy).stdout


def test_runs_with_and_without_debate_stand_in_tables_of_their_own(play, tmp_path):
    for name, enabled in (("on", True), ("off", False)):
        shutil.copytree(play("oracle", enabled=enabled)[1], tmp_path / name)
    board = json.loads(here("leaderboard", tmp_path, "--json").stdout)
    assert len({row["benchmark"] for row in board}) == 2
    assert sorted(row["debate"] for row in board) == pytest.approx([1.0, 1.2])
    assert sorted(row["alpha"] for row in board) == pytest.approx([100.0, 120.0])


def test_a_debate_that_nothing_can_be_part_of_is_refused(tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text("name: x\ndatasets: [{type: professional, limit: 1}]\ndebate: {enabled: true}\n")
    refused = here("run", config, "--agent", "builtin:null", "--out", tmp_path / "run")
    assert refused.returncode == 2
    assert "debate.enabled: nothing of professional can be debated; add fundamentals" in refused.stderr


@pytest.mark.ray
@pytest.mark.campaign
def test_ray_workers_hold_the_same_debates(play):
    (serial, one), (by_ray, other) = play("quant"), play("quant", backend="ray")
    assert by_ray["debate"] == serial["debate"] and by_ray["role"] == serial["role"]
    rows = [{row["task_id"]: row["debate"] for row in told(folder)["detailed_results"]} for folder in (one, other)]
    assert rows[0] == rows[1]


def looking_ahead(message):
    """Ask the tool for a fiscal year that is not over, once a task, and answer something."""
    if "mcp_servers" in message and "edgar" in message["mcp_servers"]:
        arguments = {"ticker": "AAPL", "concept": "Revenue", "fiscal_year": 2030}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        call = body | {"params": {"name": "get_company_facts", "arguments": arguments}}
        headers = {"Accept": "application/json, text/event-stream"}
        httpx.post(message["mcp_servers"]["edgar"], json=call, headers=headers, timeout=30.0)
    return "Final answer: 12.5%"


def test_a_look_ahead_costs_alpha(servers, tmp_path):
    with Purple(looking_ahead) as agent:
        found = run(tmp_path / "run", agent.url, [{"type": "fundamentals", "limit": 4}], servers=servers)
    attempts = found["lookahead_attempts"]
    assert attempts >= 2
    assert found["lookahead_penalty"]["penalty"] == attempts / 4 == found["alpha"]["lookahead_penalty"]
    assert found["role"]["execution"] == {"score": 0.0, "se": 0.0, "n": attempts, "weight": 0.3 / 0.7}


def test_a_debate_that_is_over_is_never_held_again(servers, tmp_path):
    heard = Counter()

    def say(message):
        heard[message["task_id"], message["type"]] += 1
        return "Final answer: 12.5%" if "percentage>" in message.get("answer_format", "") else "Final answer: 12.5"

    folder, stop = tmp_path / "run", Meanwhile(after={2: lambda: signal.raise_signal(signal.SIGINT)})
    datasets, debate = [{"type": "bizfinbench", "limit": 8, "task_types": [QUANTITIES]}], {"enabled": True}
    with Purple(say) as agent:
        with pytest.raises(Interrupted):
            run(folder, agent.url, datasets, stop, servers=servers, debate=debate)
        with Store.open(folder) as store:
            done = {task["public_id"] for task in store.manifest()["tasks"] if task["key"] in store.finished()}
        assert 2 <= len(done) < 8
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(services, "tool_servers", lambda *_: contextlib.nullcontext(servers))
            found = resume_run(folder, agent=None, progress=Meanwhile())
    assert found["debate"]["tasks"] == 8 and found["complete"]
    once = {key: times for key, times in heard.items() if key[0] in done}
    assert set(once.values()) == {1} and {kind for _, kind in once} == {"question", "debate"}
    assert {name for name, _ in once} == done


class Falls:
    """Answers right, and fails at the objection."""

    name, digest = "falls", "d"

    def __init__(self, answer, failure):
        self.answer, self.failure, self.heard = answer, failure, 0

    def conversation(self, task_id):
        return self

    async def send(self, text, *, timeout_s):
        self.heard += 1
        if self.heard == 2:
            raise self.failure
        return Reply(self.answer, Usage(cost_usd=0.0))

    async def close(self):
        pass


@pytest.mark.parametrize(
    ("failure", "state"),
    [(AgentFailure("timeout", "no answer"), "agent_error"), (AgentFailure("unreachable", "gone"), "agent_unavailable")],
)
def test_who_breaks_off_at_the_objection_gets_nothing_and_replay_agrees(failure, state):
    (case,) = registry.get("synthetic").draw(seed=3, count=1, options={})
    case = debated(case, seed=5)
    limits = execute.Limits(
        task_time_s=5.0, turn_time_s=1.0, max_turns=3, max_tool_calls=3, max_tokens=None, max_cost_usd=None
    )
    work = execute.execute(
        case,
        public_id="p",
        grant=Grant("r", "t", date(2024, 12, 31), 1, max_tool_calls=3),
        agent=Falls(case.open().oracle(), failure),
        tools=ToolAccess({}, new_key(), {}),
        limits=limits,
    )
    record = asyncio.run(work)
    assert (record["state"], record["value"], len(record["transcript"])) == (state, 0.0, 3)
    assert execute.replay(case, record)["value"] == 0.0
