"""The published file format of question banks, ``questions.json``: questions with reference figures and a rubric.

A question of which we know the published text is asked and marked as our own template of it, with computed truth: the
printed figures are wrong in places. Any other is marked by its file: its figures by code, its rubric by the judge.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from evaluators.contract import Case, Json, Section, Task
from evaluators.judge import Criterion, Points, RubricItem, RubricSession, signed_share
from evaluators.judge.settings import JudgeSettings
from evaluators.records import Record

QUESTIONS = "questions.json"
MAX_BYTES = 32_000_000
FIGURES, RUBRIC = "figures", "rubric"
FIGURES_SHARE = 0.5
"""Of the marks, where a question has reference figures: no more than half is left to a judge then."""
PASS_MARK = 70.0
ANSWER_FORMAT = (
    "Answer in plain text or Markdown, complete in one reply. State every figure with its name and its unit in a line "
    "of its own."
)


class Component(Record, extra="ignore"):
    """A part of a rubric and its share of it."""

    name: str
    weight: float
    description: str
    expected_value: str | int | float | None = None


class Rubric(Record, extra="ignore"):
    """What a reply is marked by."""

    components: tuple[Component, ...]


class Question(Record, extra="ignore"):
    """One question of a file; of the two places of a reference answer, one bank uses this and one that."""

    question_id: str
    category: str
    question: str
    rubric: Rubric
    ground_truth: Json = None
    ground_truth_value: Json = None
    ground_truth_formatted: str = ""

    @property
    def digest(self) -> str:
        """What names its text: white space and the ends apart."""
        return hashlib.sha256(" ".join(self.question.split()).encode()).hexdigest()[:16]

    def figures(self) -> dict[str, float]:
        """Return the reference figures by name; none of a question whose reference is text."""
        given = self.ground_truth if self.ground_truth is not None else self.ground_truth_value
        rows = given.items() if isinstance(given, Mapping) else [("answer", given)]
        return {
            str(name): float(value)
            for name, value in rows
            if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        }


@dataclass(frozen=True)
class Marking:
    """Where questions that are marked by their file belong."""

    dataset: str
    section: Section
    as_of: date
    judge: JudgeSettings | None


def file_at(path: str) -> Path:
    """Return the file of a bank: the path, or ``questions.json`` in the folder that it names."""
    given = Path(path).expanduser()
    return given / QUESTIONS if given.is_dir() else given


def read(path: str) -> list[Question]:
    """Return the questions of a file, in its order.

    Raises
    ------
    ValueError
        It cannot be read, or is not in the format; names the file and the question.
    """
    file = file_at(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
        document = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"path: {file.name} cannot be read as JSON: {error}") from error
    rows = document.get("questions") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not rows:
        raise ValueError(f"path: {file.name} needs a list of questions under the key 'questions'")
    return [_question(row, f"{file.name} question {number}") for number, row in enumerate(rows, start=1)]


def content_hash(path: str) -> str:
    """Return the sha256 of the file."""
    return hashlib.sha256(file_at(path).read_bytes()).hexdigest()


def _question(row: Any, place: str) -> Question:
    try:
        found = Question.model_validate(row)
        _criteria(found)
    except ValueError as error:
        raise ValueError(f"{place}: {' '.join(str(error).split())[:300]}") from error
    return found


def judged_case(question: Question, marking: Marking) -> Case:
    """Return a question that is marked by its file."""
    criteria = _criteria(question)
    item = RubricItem(
        name=f"{question.question_id}-{question.digest}",
        category=question.category,
        question=question.question.strip(),
        answer_format=ANSWER_FORMAT,
        criteria=criteria,
        gold_text=question.ground_truth_formatted,
    )
    task = Task(
        task_id=f"{marking.dataset}-{item.name}",
        section=marking.section,
        dataset=marking.dataset,
        category=item.category,
        family=f"{marking.dataset}/{item.name}",
        as_of=marking.as_of,
        question=item.question,
        answer_format=item.answer_format,
    )
    return Case(task, lambda: RubricSession(task, item, mark=_mark, pass_mark=PASS_MARK, judge=marking.judge))


def _criteria(question: Question) -> tuple[Criterion, ...]:
    figures, parts = question.figures(), question.rubric.components
    if not parts or not all(math.isfinite(part.weight) and part.weight > 0 for part in parts):
        raise ValueError(f"{question.question_id}: a rubric needs components, each with a weight above 0")
    whole = math.fsum(part.weight for part in parts)
    shared = FIGURES_SHARE if figures else 0.0
    made = [
        Criterion(f"figure-{name}", f"The {name.replace('_', ' ')} is {_shown(value)}",
                  shared / len(figures), FIGURES, "decisive")
        for name, value in figures.items()
    ]  # fmt: skip
    made += [
        Criterion(f"part-{number}-{part.name}", _text(part), (1.0 - shared) * part.weight / whole, RUBRIC)
        for number, part in enumerate(parts, start=1)
    ]
    return tuple(made)


def _text(part: Component) -> str:
    expected = "" if part.expected_value is None else f" Expected: {part.expected_value}"
    return f"The response meets this: {part.description}.{expected}"


def _shown(value: float) -> str:
    return f"{value:,.10g}" if abs(value) < 1e15 else f"{value:.10g}"


def _mark(criteria: Sequence[Criterion], met: Mapping[str, bool]) -> Points:
    parts = {
        dimension: 100.0 * signed_share(mine, met)
        for dimension in (FIGURES, RUBRIC)
        if (mine := [criterion for criterion in criteria if criterion.dimension == dimension])
    }
    return Points(100.0 * signed_share(criteria, met), parts)


def draw(
    path: str,
    *,
    marking: Marking,
    known: Mapping[str, str],
    ours: Callable[[str], Case],
    kinds: Callable[[str], Sequence[str]],
    task_types: Sequence[str],
    order: Random,
    count: int,
) -> list[Case]:
    """Return ``count`` cases of the bank at ``path``, or all of them when it has fewer.

    Parameters
    ----------
    known
        Digest of a question's text -> name of our template of it.
    ours, kinds
        The case of a template by its name, and under which names ``task_types`` chooses it.
    """
    rows = [(question, known.get(question.digest)) for question in read(path)]
    names = [(question.category, *(kinds(name) if name else ())) for question, name in rows]
    there = sorted({name for row in names for name in row})
    for wanted in task_types:
        if wanted not in there:
            raise ValueError(f"task_types: unknown entry {wanted!r}; the file has: {', '.join(there)}")
    kept = [row for row, own in zip(rows, names, strict=True) if not task_types or set(task_types) & set(own)]
    order.shuffle(kept)
    return [ours(name) if name else judged_case(question, marking) for question, name in kept[:count]]
