"""Slow tools are the harness's doing: the task is marked, keeps its score, and the bounds say what it may have been."""

import asyncio
from datetime import date

import pytest

from engine import config, tool_times
from engine.agent.client import Reply, Usage
from engine.report import results
from engine.run import backends, execute
from engine.run.tool_access import ToolAccess
from engine.scoring import score
from evaluators.contract import SECTIONS, Case, Score, SingleTurn, Task
from mcp_servers.access import Grant, new_key

TASK = Task("t-1", "options_trading", "d", "c", "f", date(2013, 3, 1), "How much?", "A number.", servers=())
CASE = Case(TASK, lambda: SingleTurn(TASK, lambda text: Score(0.0, False, reason="compared"), "42"))
GRANT = Grant("r", "t", date(2013, 3, 1), 1)
RAW = {"name": "x", "datasets": [{"type": "synthetic", "limit": 1}]}


def call(seconds, *, server="risk", own=0.0, given_up=False):
    return {
        "server": server,
        "milliseconds": 1000.0 * seconds,
        "agent_milliseconds": 1000.0 * own,
        "given_up": given_up,
    }


class Tools(ToolAccess):
    async def finish(self, grant, needed):
        return [call(20.0), call(20.1), call(58.0), call(65.0, server="sandbox", own=50.0)], []


class Agent:
    name, digest = "inside", "d"

    def conversation(self, task_id):
        return self

    async def send(self, text, *, timeout_s):
        return Reply("41", Usage())

    async def close(self):
        pass


def played(**limits):
    made = config.parse(RAW | {"limits": limits}, source="test")
    tools = Tools({}, new_key(), {})
    return asyncio.run(
        execute.execute(CASE, public_id="p", grant=GRANT, agent=Agent(), tools=tools, limits=backends.limits(made))
    )


def test_calls_over_20_seconds_on_our_side_mark_the_task_and_leave_its_score():
    record = played()
    assert record["slow_tool_calls"] == 2
    assert (record["state"], record["value"], record["reason"]) == ("failed", 0.0, "compared")


def test_the_limit_is_the_configs_and_a_task_without_slow_calls_has_no_mark():
    assert played(tool_time_s=50)["slow_tool_calls"] == 1
    assert "slow_tool_calls" not in played(tool_time_s=60)


def test_times_are_nearest_ranks_without_the_agents_own_time():
    calls = [call(n + 1.0, own=1.0, given_up=n == 3) for n in range(100)]
    found = tool_times.per_server([{"tool_calls": calls[:60]}, {"tool_calls": calls[60:]}], ["risk", "edgar"])
    assert found["risk"] == {
        "calls": 100,
        "given_up": 1,
        "p50_s": 49.0,
        "p95_s": 94.0,
        "p99_s": 98.0,
        "max_s": 99.0,
    }
    assert found["edgar"] == {"calls": 0, "given_up": 0, "p50_s": None, "p95_s": None, "p99_s": None, "max_s": None}


def marked(value, slow):
    record = {
        "section": "options_trading",
        "value": value,
        "state": "failed",
        "passed": False,
        "family": f"f{value}",
        "category": "",
    }
    return record | {"details": {}} | ({"slow_tool_calls": slow} if slow else {})


def test_the_upper_bound_counts_a_marked_task_as_100_and_the_score_counts_what_it_got():
    weights = dict.fromkeys(SECTIONS, 0.2)
    overall, _ = score.summarize([marked(40.0, 0), marked(20.0, 2)], weights)
    assert (overall.score, overall.bounds) == (30.0, (30.0, 70.0))


def test_the_warning_names_the_tasks_the_limit_and_the_longest_call():
    records = [{"slow_tool_calls": 1, "tool_calls": [call(58.0), call(1.0)]}, {"tool_calls": [call(3.0)]}]
    one = tool_times.slow_tasks(records, 20.0)
    assert one == {"limit_s": 20.0, "tasks": 1, "calls": 1, "longest_s": 58.0}
    assert tool_times.sentence(one) == (
        "1 task met tool calls slower than 20 s on our side (longest 58 s): its score may be too low, "
        "run again on a calmer machine"
    )
    two = tool_times.slow_tasks([records[0], records[0]], 20.0)
    assert tool_times.sentence(two).startswith(
        "2 tasks met tool calls slower than 20 s on our side (longest 58 s): their"
    )
    assert tool_times.sentence(tool_times.slow_tasks(records[1:], 20.0)) == ""


@pytest.mark.parametrize("limit", [0, -1, "long"])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(Exception, match="tool_time_s"):
        config.parse(RAW | {"limits": {"tool_time_s": limit}}, source="test")


def test_the_table_tells_of_slow_tools():
    manifest = {
        "run_id": "r",
        "seed": 1,
        "agent": {"name": "a"},
        "config": {"name": "x", "weights": dict.fromkeys(SECTIONS, 0.2), "limits": {"tool_time_s": 20.0}},
    }
    record = marked(20.0, 1) | {
        "task_id": "t",
        "dataset": "d",
        "category": "",
        "parts": {},
        "reason": "",
        "lookahead_attempts": 0,
        "usage": {"cost_usd": 0.0},
        "tool_calls": [call(58.0)],
    }
    told = results.summary(manifest, [record])
    assert told["slow_tools"] == {"limit_s": 20.0, "tasks": 1, "calls": 1, "longest_s": 58.0}
    assert told["tool_times"]["risk"]["max_s"] == 58.0 and told["tasks"][0]["slow_tool_calls"] == 1
    table = results.table(told)
    assert "its score may be too low, run again on a calmer machine; if they counted 100 the overall score" in table
