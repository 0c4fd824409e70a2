"""Faults around a dataset that is read from a file and marked by a judge."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from tests.engine.run.attacked_run import Purple
from tests.faults.row import Fault
from tests.faults.scene import Scene
from tests.free_port import free_port

QUESTIONS = (
    ("Why did the revenue of the bank grow?", "Because more loans were made in Europe."),
    ("Which segment carried the growth of the chip maker?", "The data centre segment."),
)
REPLY = "The growth came from a larger demand of customers abroad, and prices were raised twice in that year."


def _write(path: Path, questions: tuple[tuple[str, str], ...]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("Question", "Answer", "Question Type", "Rubric"))
        for question, answer in questions:
            rubric = [{"operator": "correctness", "criteria": answer}]
            rows.writerow((question, answer, "Qualitative", json.dumps(rubric)))


def _nobody() -> str:
    """Return an address where nobody listens."""
    return f"http://127.0.0.1:{free_port()}/v1"


def _play(scene: Scene, agent: str) -> tuple[int, dict[str, Any]]:
    path = scene.folder / "public.csv"
    _write(path, QUESTIONS)
    judge = {"model": "none", "base_url": _nobody(), "attempts": 1, "timeout_s": 2.0}
    config = {"datasets": [{"type": "public_csv", "path": str(path)}], "judge": judge}
    ended = scene.end(scene.start(agent, config=config, more={"OPENAI_API_KEY": "none"}))
    return ended.status, ended.result


def judge_down(scene: Scene) -> str:
    """Play tasks whose judge does not answer."""
    with Purple(lambda message: REPLY) as agent:
        status, result = _play(scene, agent.url)
    if not result:
        return str(status)
    states = {task["state"] for task in result["tasks"]}
    bounds = " to ".join(f"{bound:g}" for bound in result["overall"]["bounds"])
    return f"{status}, {'unscored' if states == {'infra_unavailable'} else states}, bounds {bounds}"


def data_changed(scene: Scene) -> str:
    """Resume a run after the file of its questions has changed."""
    with Purple(lambda message: REPLY) as agent:
        status, _ = _play(scene, agent.url)
        _write(scene.folder / "public.csv", (*QUESTIONS[:1], ("What else?", "Nothing.")))
        ended = scene.end(scene.resume(more={"OPENAI_API_KEY": "none"}))
    return f"{status}, then refused, {ended.status}" if not ended.result else f"{status}, then played"


FAULTS = (
    Fault("judge-down", "76, unscored, bounds 0 to 100", judge_down),
    Fault("data-changed", "76, then refused, 2", data_changed),
)
