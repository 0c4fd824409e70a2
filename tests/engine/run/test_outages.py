"""Outages, shares of errors, budgets and retries: a run in this process, with agents of this process."""

import asyncio
import io
import json
from datetime import date

import pytest

from engine import config, report
from engine.agent.client import AgentFailure, Reply, Usage
from engine.agent.model_settings import ModelSettings
from engine.config import LimitsConfig
from engine.errors import AgentUnreachable, ConfigError, RunIncomplete
from engine.plan import build
from engine.report import results
from engine.run import batch
from engine.run.backends import Worker
from engine.run.batch import Setup
from engine.run.budget import Budget, refuse_unmetered
from engine.run.outages import Watch
from engine.run.progress import Lines
from engine.run.tool_access import ToolAccess
from engine.storage.store import Store
from evaluators.contract import Case, Score, SingleTurn, Task
from mcp_servers.access import new_key

AWAY = AgentFailure("unreachable", "no agent answers")
BROKEN = AgentFailure("protocol", "no JSON")


def make_case(number):
    name = f"t-{number:02d}"
    task = Task(name, "options_trading", "options", "c", f"f{number}", date(2013, 3, 1), name, "A number.", servers=())

    def judge(text):
        return Score(100.0 if text == "42" else 0.0, text == "42")

    return Case(task, lambda: SingleTurn(task, judge, "42"))


class Agent:
    """Says to the n-th question what stands at the n-th place of its script; the last entry is repeated."""

    name, digest = "inside", "d"

    def __init__(self, *script, cost_usd=0.0):
        self.script, self.usage = script, Usage(10, 5, cost_usd)
        self.asked = []
        self.under_way = self.most_under_way = 0

    def conversation(self, task_id):
        return self

    async def send(self, text, *, timeout_s):
        self.asked.append(json.loads(text)["question"].split()[0])
        said = self.script[min(len(self.asked), len(self.script)) - 1]
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        await asyncio.sleep(0.01)
        self.under_way -= 1
        if isinstance(said, AgentFailure):
            raise said
        return Reply(said, self.usage)

    async def close(self):
        pass


def settings(**limits):
    concurrency = limits.pop("concurrency", 1)
    raw = {"name": "x", "datasets": [{"type": "options", "limit": 1}], "limits": limits}
    return config.parse(raw | {"execution": {"concurrency": concurrency}}, source="test")


def play(folder, agent, *, tasks=8, retry=False, **limits):
    """Start the run in ``folder``, or go on with it."""
    made = build.plan(settings(**limits), agent_digest="d", cases=[make_case(number) for number in range(tasks)])
    described = {"spec": "inside", "name": "inside", "digest": "d"}
    if (folder / "manifest.json").exists():
        store = Store.open(folder)
    else:
        store = Store.create(folder, build.manifest(made, run_id="r", agent=described, sandbox_tier="none"))
    setup = Setup(agent, "", ToolAccess({}, new_key(), {}), "none")
    progress = Lines(io.StringIO())

    async def run():
        return await batch._play_and_report(made, store, setup, progress, store.retriable() if retry else {})

    with store:
        return asyncio.run(run())


def states(result):
    return [task["state"] for task in result["tasks"]]


def test_three_unreachable_in_a_row_stop_the_run_and_leave_the_rest_to_resume(tmp_path):
    gone = Agent("42", AWAY)
    result = play(tmp_path / "run", gone)
    assert states(result) == ["passed", *["agent_unavailable"] * 3, *["not_run"] * 4]
    assert len(gone.asked) == 4
    assert (result["exit_status"], result["complete"], result["not_run"]) == (69, False, 4)
    assert "not available for 3 tasks in a row; the last: unreachable: no agent answers" in result["stopped"]
    back = Agent("42")
    result = play(tmp_path / "run", back)
    assert back.asked == ["t-04", "t-05", "t-06", "t-07"]
    assert states(result) == ["passed", *["agent_unavailable"] * 3, *["passed"] * 4]
    assert (result["exit_status"], result["stopped"], result["complete"]) == (0, None, True)
    assert result["overall"]["score"] == pytest.approx(100.0 * 5 / 8)


def test_an_error_of_transport_counts_0_and_is_told_apart_from_an_answer(tmp_path):
    result = play(tmp_path / "run", Agent("42", AWAY, "41", BROKEN, "42"), tasks=5)
    assert states(result) == ["passed", "agent_unavailable", "failed", "agent_error", "passed"]
    assert result["overall"]["score"] == pytest.approx(40.0) and result["overall"]["n"] == 5
    assert result["errors"] == {"agent_error": 1, "agent_unavailable": 1}
    lines = results.table(result).splitlines()
    assert (
        "1 of 5 tasks was an error of transport, not an answer, and counts 0; most often (1): "
        "unreachable: no agent answers" in lines
    )
    assert "1 of 5 tasks ended in an error of the agent and counts 0; most often (1): protocol: no JSON" in lines
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert found["traderbench"]["errors"] == result["errors"]
    assert found["detailed_results"][1]["state"] == "agent_unavailable"
    page = (tmp_path / "run" / "report.html").read_text()
    assert "1 of 5 tasks was an error of transport, not an answer" in page
    assert '<span class="state agent_unavailable">agent not available</span>' in page


def test_a_run_too_short_for_three_in_a_row_that_nobody_answered_is_no_success(tmp_path):
    result = play(tmp_path / "run", Agent(AWAY), tasks=2)
    assert states(result) == ["agent_unavailable"] * 2
    assert result["exit_status"] == 69 and "for every task" in result["stopped"]


def test_a_retry_plays_errors_of_transport_again_and_says_so(tmp_path):
    play(tmp_path / "run", Agent("42", AWAY, BROKEN, "42", cost_usd=0.25), tasks=4)
    back = Agent("42", cost_usd=0.25)
    result = play(tmp_path / "run", back, tasks=4, retry=True)
    assert back.asked == ["t-01"]
    assert states(result) == ["passed", "passed", "agent_error", "passed"]
    assert (result["retried"], result["exit_status"]) == (1, 0)
    assert "1 task played again after an error of transport, on request" in results.table(result)
    assert "1 task played again after an error of transport" in (tmp_path / "run" / "report.html").read_text()
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert found["traderbench"]["retried"] == 1
    assert [row["attempts"] for row in found["detailed_results"]] == [1, 2, 1, 1]
    with Store.open(tmp_path / "run") as store:
        assert store.attempts() == 5
        (former,) = store.former_attempts()["t-01"]
    assert (former["state"], former["reason"]) == ("agent_unavailable", "unreachable: no agent answers")


def test_a_retry_that_finds_nobody_again_stays_retriable_and_is_counted(tmp_path):
    play(tmp_path / "run", Agent("42", AWAY, "42"), tasks=3)
    result = play(tmp_path / "run", Agent(AWAY), tasks=3, retry=True)
    assert states(result) == ["passed", "agent_unavailable", "passed"]
    assert (result["retried"], result["exit_status"]) == (1, 69)
    result = play(tmp_path / "run", Agent("42"), tasks=3, retry=True)
    assert (states(result)[1], result["retried"], result["exit_status"]) == ("passed", 1, 0)


def test_an_agent_that_died_before_a_ray_worker_met_it_is_an_outage_and_no_lost_worker():
    """Before, the worker's failure to connect was a failure of the harness, which no number of them would stop."""
    raw = {"name": "x", "datasets": [{"type": "synthetic", "limit": 1}]}
    worker = Worker(raw, "r", "http://127.0.0.1:9", "d", ToolAccess({}, new_key(), {}))
    record = asyncio.run(worker.execute(0, 3, 2))
    assert (record["state"], record["value"], record["draw"]) == ("agent_unavailable", 0.0, 2)
    assert "unreachable: no agent answers at http://127.0.0.1:9" in record["reason"]


def test_a_share_of_errors_above_the_limit_stops_the_run(tmp_path):
    result = play(tmp_path / "run", Agent(BROKEN), tasks=20)
    assert states(result) == ["agent_error"] * 10 + ["not_run"] * 10
    assert (result["exit_status"], RunIncomplete.exit_status) == (76, 76)
    assert result["stopped"].startswith("10 of 10 tasks ended in an error of the agent, more than limits.max_error")
    assert "10 tasks were not run: the overall score lies between 0.0 and 50.0" in results.table(result)


def test_no_limit_on_the_share_of_errors_plays_everything(tmp_path):
    result = play(tmp_path / "run", Agent(BROKEN), tasks=12, max_error_share=None)
    assert states(result) == ["agent_error"] * 12
    assert result["exit_status"] == 0


def test_half_of_the_tasks_may_break_and_a_harness_failure_is_nobodys():
    watch = Watch(0.5)
    for state in ["failed", "agent_error"] * 10:
        assert watch.see({"state": state, "reason": "r"}) is None
    assert isinstance(watch.see({"state": "agent_error", "reason": "r"}), RunIncomplete)
    watch = Watch(None)
    for state in ["agent_unavailable", "infra_unavailable", "agent_unavailable"]:
        assert watch.see({"state": state, "reason": "r"}) is None
    assert isinstance(watch.see({"state": "agent_unavailable", "reason": "r"}), AgentUnreachable)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_budget_is_of_the_run_and_not_of_the_task(tmp_path, concurrency):
    """Before, six tasks of $0.0033 spent $0.02 under a limit of $0.001."""
    agent = Agent("42", cost_usd=0.0033)
    result = play(tmp_path / "run", agent, tasks=6, max_cost_usd=0.001, concurrency=concurrency)
    assert result["cost_usd"] == pytest.approx(0.0033)
    assert states(result) == ["passed"] + ["not_run"] * 5
    assert result["exit_status"] == 76
    assert result["stopped"] == "the budget of $0.001 (limits.max_cost_usd) is spent: $0.0033"
    again = play(tmp_path / "run", agent, tasks=6, max_cost_usd=0.001)
    assert (len(agent.asked), again["exit_status"]) == (1, 76)
    more = play(tmp_path / "run", agent, tasks=6, max_cost_usd=0.01, concurrency=concurrency)
    assert more["cost_usd"] == pytest.approx(4 * 0.0033)
    assert states(more) == ["passed"] * 4 + ["not_run"] * 2


def test_tasks_run_side_by_side_only_as_far_as_the_dearest_fits(tmp_path):
    agent = Agent("42", cost_usd=1.0)
    result = play(tmp_path / "run", agent, tasks=8, max_cost_usd=4.0, concurrency=8)
    assert result["cost_usd"] == 4.0
    assert agent.most_under_way == 3
    free = Agent("42")
    play(tmp_path / "free", free, tasks=8, concurrency=8)
    assert free.most_under_way == 8


def test_what_was_spent_before_a_retry_counts_against_the_budget():
    budget = Budget(1.0, spent=[{"cost_usd": 0.6}, {"cost_usd": 0.4}])
    assert budget.exhausted() is not None
    assert Budget(None, spent=[{"cost_usd": 1e9}]).exhausted() is None


def test_an_unknown_price_is_shown_as_unknown(tmp_path):
    result = play(tmp_path / "run", Agent("42", cost_usd=None), tasks=3, max_cost_usd=1.0)
    assert (result["cost_usd"], result["cost_at_least_usd"], result["cost_unknown_tasks"]) == (None, 0.0, 3)
    table = results.table(result)
    assert "cost: unknown" in table.splitlines() and "$0.00" not in table
    assert "the budget of $1.00 could not be kept: 3 tasks did not say what they cost" in table
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert [row["cost_usd"] for row in found["detailed_results"]] == [None] * 3
    page = (tmp_path / "run" / "report.html").read_text()
    assert "cost unknown" in page and "$0.00" not in page


def test_a_cost_that_is_known_in_part_is_a_lower_bound(tmp_path):
    known = play(tmp_path / "run", Agent("42", cost_usd=0.5), tasks=2)
    assert "cost: $1.00" in results.table(known)
    with Store.open(tmp_path / "run") as store:
        manifest, records = store.manifest(), results.all_records(store)
    records[0]["usage"] |= {"cost_known": False}
    assert "cost: at least $1.00" in results.table(results.summary(manifest, records))
    assert "cost at least $0.50" in report.render(manifest, records)


def test_the_spending_of_a_reply_that_failed_is_counted(tmp_path):
    failed = AgentFailure("agent_error", "gave up")
    failed.usage = Usage(1000, 20, 0.75)
    result = play(tmp_path / "run", Agent(failed), tasks=1)
    assert result["cost_usd"] == 0.75
    found = json.loads((tmp_path / "run" / "results.json").read_text())
    assert found["detailed_results"][0]["input_tokens"] == 1000


def test_a_limit_in_dollars_is_refused_where_the_prices_are_unknown():
    limits, unpriced = LimitsConfig(max_cost_usd=5.0), ModelSettings("m")
    with pytest.raises(ConfigError, match=r"max_cost_usd: the prices of builtin:llm are unknown.*OPENAI_INPUT_PRICE"):
        refuse_unmetered(limits, unpriced)
    refuse_unmetered(limits, ModelSettings("m", input_price=1.0, output_price=2.0))
    refuse_unmetered(LimitsConfig(), unpriced)
