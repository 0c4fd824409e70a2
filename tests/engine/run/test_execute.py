"""One task with ready objects: whose fault is what, and what becomes of it."""

import asyncio
import hashlib
import itertools
from dataclasses import replace
from datetime import date

import pytest

from engine import config
from engine.agent.client import AgentFailure, Reply, Usage
from engine.errors import ConfigError
from engine.plan import build
from engine.run import execute
from engine.run.backends import Worker
from engine.run.tool_access import ToolAccess
from engine.storage.store import Store
from evaluators.contract import Case, Score, SingleTurn, Task
from mcp_servers.access import Grant, new_key
from tests.engine.run.attacked_run import Purple

TASK = Task("t-1", "options_trading", "d", "c", "f", date(2013, 3, 1), "How much?", "A number.", servers=())
GRANT = Grant("r", "t", date(2013, 3, 1), 1, max_tool_calls=3)
LIMITS = execute.Limits(
    task_time_s=5.0, turn_time_s=1.0, max_turns=3, max_tool_calls=3, max_tokens=100, max_cost_usd=0.5
)


def judge(text):
    return Score(100.0 if text == "42" else 0.0, text == "42", reason="compared")


CASE = Case(TASK, lambda: SingleTurn(TASK, judge, "42"))


class Agent:
    """An agent in this process; the harness's rules do not depend on the wire."""

    name, digest = "inside", "d"

    def __init__(self, answer, usage=None):
        self.answer, self.usage = answer, usage or Usage()

    def conversation(self, task_id):
        return self

    async def send(self, text, *, timeout_s):
        if isinstance(self.answer, Exception):
            raise self.answer
        return Reply(self.answer, self.usage)

    async def close(self):
        pass


class Restarted(ToolAccess):
    """Servers that are another process each time they are asked."""

    boots = itertools.count()

    async def _boot(self, client, name):
        return f"boot {next(self.boots)}"

    async def _end(self, client, token, name, patience_s):
        return []


def play(agent, *, tools=None, case=CASE, limits=LIMITS, **options):
    tools = tools or ToolAccess({}, new_key(), {})
    done = execute.execute(case, public_id="p", grant=GRANT, agent=agent, tools=tools, limits=limits, **options)
    return asyncio.run(done)


def test_a_right_answer_passes_and_a_wrong_one_does_not():
    assert (play(Agent("42"))["state"], play(Agent("42"))["value"]) == ("passed", 100.0)
    assert (play(Agent("41"))["state"], play(Agent("41"))["value"]) == ("failed", 0.0)


def test_a_failure_of_the_agent_scores_0_with_the_reason():
    record = play(Agent(AgentFailure("timeout", "no answer in 5 s")))
    assert (record["state"], record["value"], record["reason"]) == ("agent_error", 0.0, "timeout: no answer in 5 s")


@pytest.mark.parametrize(
    ("usage", "said"),
    [(Usage(90, 20, 0.0), "110 tokens used of 100"), (Usage(1, 1, 0.6), "cost 0.6000 USD of 0.5 USD")],
)
def test_tokens_and_cost_are_capped_with_the_reason(usage, said):
    record = play(Agent("42", usage))
    assert (record["state"], record["value"]) == ("agent_error", 0.0)
    assert record["reason"] == f"limit: {said}"


def test_what_was_not_read_of_a_reply_stands_in_the_reason_of_a_task_that_did_not_pass():
    class Noted(Agent):
        async def send(self, text, *, timeout_s):
            return Reply(self.answer, self.usage, ("the reply's file part a.xls was not read",))

    record = play(Noted("41"))
    assert record["reason"] == "compared; the reply's file part a.xls was not read"
    assert execute.replay(CASE, record)["reason"] == record["reason"]
    assert play(Noted("42"))["reason"] == "compared"


def test_a_missing_server_is_a_failure_of_the_harness_and_names_why():
    task = Task(**{**TASK.__dict__, "servers": ("sandbox",)})
    tools = ToolAccess({}, new_key(), {"sandbox": "no Landlock here"})
    record = play(Agent("42"), tools=tools, case=Case(task, CASE.open))
    assert record["state"] == "infra_unavailable"
    assert "sandbox: no Landlock here" in record["reason"]


def test_a_conversation_that_is_over_is_scored_without_a_log_that_cannot_be_read(monkeypatch):
    monkeypatch.setattr("engine.run.tool_access.BRIEF_PATIENCE_S", 0.0)
    monkeypatch.setattr("engine.run.tool_access.RESTART_S", 0.0)
    # port 9 (discard) answers nothing here, as a flooded server would
    flooded = ToolAccess({"sandbox": "http://127.0.0.1:9"}, new_key(), channels={"sandbox": "http://127.0.0.1:9"})
    record = play(Agent("41"), tools=flooded)
    assert (record["state"], record["value"], record["tool_log_missing"]) == ("failed", 0.0, ["sandbox"])


def test_a_needed_server_that_does_not_answer_is_waited_for_and_then_the_failure_of_the_harness(monkeypatch):
    monkeypatch.setattr("engine.run.tool_access.READY_TIMEOUT_S", 0.0)
    task = replace(TASK, servers=("edgar",))
    tools = ToolAccess({"edgar": "http://127.0.0.1:9"}, new_key(), channels={"edgar": "http://127.0.0.1:9"})
    record = play(Agent("42"), tools=tools, case=Case(task, CASE.open))
    assert record["state"] == "infra_unavailable" and record["transcript"] == []
    assert record["reason"] == "tool server not available: no answer for 0 s from edgar"


@pytest.mark.parametrize("answer", ["42", "41", AgentFailure("timeout", "no answer in 1 s")])
def test_a_needed_server_that_was_another_process_at_the_end_leaves_the_task_without_a_score(answer):
    tools = Restarted({"edgar": "http://127.0.0.1:9"}, new_key(), channels={"edgar": "http://127.0.0.1:9"})
    record = play(Agent(answer), tools=tools, case=Case(replace(TASK, servers=("edgar",)), CASE.open))
    assert (record["state"], record["server_deaths"]) == ("infra_unavailable", ["edgar"])


@pytest.mark.parametrize(("afresh", "state"), [(None, "infra_unavailable"), (lambda number: CASE, "failed")])
def test_the_death_of_a_server_that_was_only_offered_counts_where_a_repeat_shows_nothing_new(afresh, state):
    tools = Restarted({"risk": "http://127.0.0.1:9"}, new_key(), channels={"risk": "http://127.0.0.1:9"})
    assert play(Agent("41"), tools=tools, case=replace(CASE, afresh=afresh))["state"] == state


def test_an_offered_server_that_stays_away_holds_nobody_up_for_long(monkeypatch):
    monkeypatch.setattr("engine.run.tool_access.RESTART_S", 0.0)
    monkeypatch.setattr("engine.run.tool_access.BRIEF_PATIENCE_S", 0.0)
    gone = ToolAccess({"risk": "http://127.0.0.1:9"}, new_key(), channels={"risk": "http://127.0.0.1:9"})
    assert play(Agent("42"), tools=gone)["state"] == "passed"


def test_what_a_reply_says_after_what_any_reader_takes_is_neither_read_nor_kept():
    record = play(Agent("x" * 300_000))
    assert len(record["transcript"][1]["text"]) == 200_001
    digest = hashlib.sha256(b"x" * 300_000).hexdigest()
    assert f"the reply's 300000 characters (sha256 {digest}) were read up to number 200001" in record["reason"]


def test_a_conversation_of_millions_of_characters_ends():
    class Endless:
        def handouts(self):
            return {}

        def opening(self):
            return {}

        def reply(self, text):
            return {}

        def score(self):
            return Score(0.0, False)

    limits = replace(LIMITS, max_turns=100, max_tokens=None, task_time_s=60.0)
    record = play(Agent("x" * 200_000), case=Case(TASK, Endless), limits=limits)
    assert (record["state"], record["reason"]) == ("agent_error", "limit: 4000000 characters in one task")
    assert len(record["transcript"]) == 2 * 20 + 1


def test_a_bug_of_ours_is_not_the_agents_fault():
    def broken(text):
        raise RuntimeError("our bug")

    record = play(Agent("42"), case=Case(TASK, lambda: SingleTurn(TASK, broken, "42")))
    assert record["state"] == "infra_unavailable"
    assert "RuntimeError: our bug" in record["reason"]


def test_losses_of_a_broken_crypto_conversation_stay():
    score = execute.failed_score(Score(-12.0, False), "left")
    assert score.value == -12.0
    assert execute.failed_score(Score(30.0, True), "left").value == 0.0


def test_hostile_text_in_an_error_can_be_stored_and_shown(tmp_path):
    record = play(Agent(AgentFailure("agent_error", "\ud800\x1b[2J\nx")))
    assert record["reason"] == "agent_error: \\ud800\\x1b[2J x"
    with Store.create(tmp_path / "run", {"run_id": "r", "tasks": []}) as store:
        assert store.commit(key="k", position=0, record=record)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"datasets": [{"type": "synthetic", "limit": 0}]}, "no task was drawn"),
        ({"weights": {"options_trading": 1.0}}, "analytical_reasoning have no weight"),
    ],
)
def test_a_run_that_could_not_be_added_up_is_refused_before_it_is_played(change, said):
    raw = {"name": "x", "datasets": [{"type": "synthetic", "limit": 1}]} | change
    with pytest.raises(ConfigError, match=said):
        build.plan(config.parse(raw, source="test"), agent_digest="d")


def test_a_ray_worker_refuses_an_agent_whose_card_is_not_the_runs():
    raw = {"name": "x", "datasets": [{"type": "synthetic", "limit": 1}]}
    with Purple(lambda _: "42") as agent:
        worker = Worker(raw, "r", agent.url, "another digest", ToolAccess({}, new_key()))
        record = asyncio.run(worker.execute(0, 1, 1))
    assert (record["state"], record["reason"]) == (
        "agent_unavailable",
        "the agent's card is another than at the start of the run",
    )
