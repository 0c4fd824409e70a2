"""The judges' budget in dollars: calls are paid by the config's prices, and what is left over stays unjudged."""

from __future__ import annotations

import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engine.config import RunConfig, parse
from engine.errors import ConfigError
from engine.plan.judges import with_purse
from engine.run.backends import Worker
from engine.run.tool_access import ToolAccess
from evaluators.contract import JudgeUnavailable
from evaluators.judge.endpoint import connected
from evaluators.judge.prompt import SYSTEM, question_text
from evaluators.judge.settings import read_settings
from mcp_servers.access import new_key
from tests.engine.command_line import here, program

sys.path.insert(0, str(Path(__file__).parent))
from test_judge import GOOD, dataset, scored

from evaluators.judge import RubricItem
from evaluators.judge.rubric import Criterion

CALL = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
PRICES = {"fake": {"input_usd": 1.0, "output_usd": 10.0}}
OF_A_CALL = 0.002
"""1,000 tokens at $1 and 100 at $10 a million."""
CRITERIA = (
    Criterion("cause", "The response explains that freight costs reduced the gross margin.", 8.0),
    Criterion("hedge", "The response recommends aluminium futures against rising input prices.", 5.0),
)


def config(judge: dict[str, Any], **more: Any) -> RunConfig:
    given = {"name": "n", "datasets": [{"type": "synthetic"}], "judge": judge, "prices": PRICES}
    return parse(given | more, source="n.yaml")


def case(judge: dict[str, Any], tmp_path: Path, stored: list[Any] | None = None, number: int = 1) -> Any:
    item = RubricItem(f"m{number}", "Margins", "Why did the margin of Acme fall?", "Plain text.", CRITERIA)
    judged = dataset(item).judged_by(with_purse(config(judge), stored or []).judge)
    return judged.draw(seed=1, count=1, options={"path": str(tmp_path)})[0]


def test_what_a_task_cost_is_in_its_details(truthful_judge, tmp_path):
    truthful_judge.usage = CALL
    score = scored(case(truthful_judge.settings, tmp_path), GOOD)
    calls = score.details["judge_calls"] + score.details["probe_calls"]
    assert calls >= 3 and score.details["judge_cost_usd"] == pytest.approx(calls * OF_A_CALL)


class Meeting:
    """A purse that takes two calls at the same time and no other."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2, timeout=30.0)

    def open(self) -> None:
        pass

    def pay(self, model: str, tokens: tuple[int, int] | None) -> float:
        self.both.wait()
        return 0.5


def test_calls_that_are_paid_at_the_same_time_are_both_counted(truthful_judge):
    truthful_judge.usage = CALL
    settings = read_settings(truthful_judge.settings).paid_from(Meeting())
    text = question_text(task=json.dumps(["Why?"]), criterion="The response says why.", reply=GOOD)
    with connected(settings) as ask, ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, [SYSTEM] * 2, [text] * 2))
        assert ask.cost_usd == 1.0


def test_an_endpoint_that_tells_no_tokens_has_no_known_cost_and_can_have_no_budget(truthful_judge, tmp_path):
    assert scored(case(truthful_judge.settings, tmp_path), GOOD).details["judge_cost_usd"] is None
    with pytest.raises(JudgeUnavailable, match="the judge fake does not tell its tokens"):
        scored(case(truthful_judge.settings | {"budget_usd": 1.0}, tmp_path), GOOD)


def test_a_spent_budget_ends_the_judging_at_once(truthful_judge, tmp_path):
    truthful_judge.usage = CALL
    given = truthful_judge.settings | {"budget_usd": 0.004, "concurrency": 1, "attempts": 5}
    began = time.monotonic()
    with pytest.raises(JudgeUnavailable, match=r"budget of \$0.004 \(judge.budget_usd\) is spent: \$0.004"):
        scored(case(given, tmp_path), GOOD)
    assert len(truthful_judge.asked) == 2 and time.monotonic() - began < 5.0


def test_what_stored_tasks_cost_counts(truthful_judge, tmp_path):
    truthful_judge.usage = CALL
    given = truthful_judge.settings | {"budget_usd": 1.0}
    stored = [
        {"details": {"judge_cost_usd": 0.5}},
        {"details": {"judge_cost_usd": 0.3, "debate": {"judge_cost_usd": 0.2}}},
        {"details": {"debate": {"objection": None}}},
    ]
    with pytest.raises(JudgeUnavailable, match="is spent"):
        scored(case(given, tmp_path, stored), GOOD)
    assert truthful_judge.asked == []


@pytest.mark.parametrize(
    ("judge", "more", "told"),
    [
        (
            {"model": "dear", "budget_usd": 1},
            {},
            "judge.budget_usd: the price of 'dear' is not known; add prices",
        ),
        ({"model": "fake", "panel": [{"model": "dear"}], "budget_usd": 1}, {}, "the price of 'dear' is not known"),
        ({"model": "fake", "budget_usd": 0}, {}, "judge.budget_usd: Input should be greater than 0 (got 0)"),
    ],
)
def test_a_budget_that_could_not_be_kept_is_refused(judge: dict[str, Any], more: dict[str, Any], told: str):
    with pytest.raises(ConfigError) as error:
        config(judge, **more)
    assert told in str(error.value)


PARTS = [{"name": "method", "weight": 1.0, "description": "Explains the covenant and the call of the loan"}]


def judged_run(folder: Path, judge: dict[str, Any], execution: dict[str, Any]) -> Path:
    """Return the config of a run of four questions that a judge marks."""
    rubric = {"components": PARTS}
    questions = [
        {"question_id": f"Q{n}", "category": "Credit", "question": f"May lender {n} call the loan?", "rubric": rubric}
        for n in range(4)
    ]
    bank, path = folder / "questions.json", folder / "run.yaml"
    bank.write_text(json.dumps({"questions": questions}))
    given = {"name": "judged", "datasets": [{"type": "synthetic", "path": str(bank), "limit": 4}], "judge": judge}
    path.write_text(json.dumps(given | {"prices": PRICES, "execution": execution | {"ports": "auto"}}))
    return path


def test_a_run_says_what_its_budget_left_unjudged_and_rescore_goes_on_with_a_larger_one(truthful_judge, tmp_path):
    truthful_judge.usage = CALL
    path = judged_run(tmp_path, truthful_judge.settings | {"budget_usd": 0.005}, {"concurrency": 1})
    servers = (ToolAccess({}, new_key()), "none")
    done = here("run", path, "--agent", "builtin:keyword", "--out", tmp_path / "run", "--json", servers=servers)
    told = json.loads(done.stdout)["judging"]
    assert 0 < told["unjudged_tasks"] < 4, done.stderr[-2000:]
    assert told["cost_usd"] == pytest.approx(told["calls"] * OF_A_CALL) and 0 < told["cost_usd"] < 0.01
    assert "budget of $0.005 (judge.budget_usd) is spent" in told["unjudged_reason"]
    again = here("rescore", tmp_path / "run", "--judge-budget-usd", "1")
    assert "unjudged" not in again.stdout and "calls, $0.0" in again.stdout, again.stdout + again.stderr


@pytest.mark.ray
@pytest.mark.campaign
def test_the_workers_of_a_cluster_pay_from_one_purse(truthful_judge, tmp_path):
    truthful_judge.usage = CALL
    judge = truthful_judge.settings | {"budget_usd": 0.005, "concurrency": 1}
    path = judged_run(tmp_path, judge, {"backend": "ray", "concurrency": 2})
    done = program("run", path, "--agent", "builtin:keyword", "--out", tmp_path / "run", "--json")
    told = json.loads(done.stdout)["judging"]
    # three calls are paid before it is spent, and each of two workers may have one more under way; a task takes two
    calls = len(truthful_judge.asked)
    assert 3 <= calls <= 4 and told["unjudged_tasks"] >= 2, done.stderr[-2000:]
    assert "constructor arguments" not in done.stderr, "a worker could not be started again on another node"
    assert told["cost_usd"] <= calls * OF_A_CALL + 1e-12
    assert "budget of $0.005 (judge.budget_usd) is spent" in told["unjudged_reason"]


def test_a_worker_without_the_purse_of_the_run_does_not_start(truthful_judge):
    raw = config(truthful_judge.settings | {"budget_usd": 1.0}).model_dump(mode="json")
    with pytest.raises(ValueError, match=r"judge.budget_usd: a worker without the run's purse cannot keep it"):
        Worker(raw, "r", "http://127.0.0.1:9", "digest", ToolAccess({}, new_key()))
