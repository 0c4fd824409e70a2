"""A dataset of questions with rubrics that the user fetches: files in, judged cases out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path

from evaluators.contract import Case, Dataset, Given, Json, Score, Section, Session, Task, question_message
from evaluators.drawing import chosen, stream
from evaluators.judge import gates
from evaluators.judge.files import Reference, shown, told, with_deliverables
from evaluators.judge.judging import Judged
from evaluators.judge.options import RubricOptions
from evaluators.judge.panel import judge_by_all
from evaluators.judge.rubric import Criterion, positive_weight
from evaluators.judge.settings import JudgeSettings, read_settings
from lake.published import held
from lake.published.sources import SOURCES, missing
from lake.published.sums import PART


@dataclass(frozen=True)
class RubricItem:
    """One question of a file.

    Attributes
    ----------
    name
        Stable for the file's content.
    category
        What the option ``task_types`` chooses by.
    criteria
        The rubric. Never sent to the agent.
    stated
        Whether the criteria state the answer's own facts, so that a right answer repeats their wording.
    gold_text
        Reference answer; empty where the data has none.
    kinds
        Other names by which ``task_types`` chooses it.
    references
        Files that belong to the task: sent to the agent, told to the judge.
    deliverables
        Whether the reply may hold files.
    kept
        Columns that go with every copy of the rubric (a canary), into the record and never to an agent.
    """

    name: str
    category: str
    question: str
    answer_format: str
    criteria: tuple[Criterion, ...]
    context: Mapping[str, Json] = field(default_factory=dict)
    stated: bool = False
    gold_text: str = ""
    kinds: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    deliverables: bool = False
    kept: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Points:
    """The points of a judged reply: ``value`` and ``parts`` on 0-100."""

    value: float
    parts: Mapping[str, float]


Mark = Callable[[Sequence[Criterion], Mapping[str, bool]], Points]


class RubricSession(Session):
    """One question and its reply; the verdict needs the run's judge."""

    def __init__(self, task: Task, item: RubricItem, *, mark: Mark, pass_mark: float, judge: JudgeSettings | None):
        self._task, self._item, self._mark, self._pass_mark, self._judge = task, item, mark, pass_mark, judge
        self._reply = ""
        self._earlier: Mapping[str, Json] = {}
        self._score: Score | None = None

    def opening(self) -> dict[str, Json]:
        """Return the question, and the files that belong to it."""
        return question_message(self._task) | ({"files": list(self._files)} if self._files else {})

    def reply(self, text: str) -> None:
        """Keep the answer; the conversation is over."""
        self._reply, self._score = (with_deliverables(text) if self._item.deliverables else text), None

    def recall(self, details: Mapping[str, Json]) -> None:
        """Take the details of an earlier score: verdicts on the same reply, criterion and judge are not asked again."""
        self._earlier = details

    def score(self) -> Score:
        """Return the verdict; raise ``JudgeUnavailable`` when the judge is needed and cannot be had."""
        if self._score is None:
            self._score = self._judged_score()
        return self._score

    def oracle(self) -> str:
        """Return the reference answer, or a text that says that there is none."""
        return self._item.gold_text or "The data has no reference answer to this task."

    @cached_property
    def _files(self) -> Sequence[Json]:
        return shown(self._item.references)

    def _judged_score(self) -> Score:
        criteria = self._item.criteria
        copies = () if self._item.stated else criteria
        refused = gates.refusal(self._reply, message=question_message(self._task), criteria=copies)
        if refused:
            return Score(0.0, False, self._mark(criteria, dict.fromkeys((c.name for c in criteria), False)).parts,
                         {"gate": refused}, refused)  # fmt: skip
        told_of = [self._item.question, self._item.context, *([told(self._files)] if self._files else [])]
        task = json.dumps(told_of, ensure_ascii=False)
        judged, details = judge_by_all(
            self._reply, task=task, criteria=criteria, settings=self._judge, earlier=self._earlier
        )
        points = self._mark(criteria, judged.met())
        return Score(
            points.value,
            points.value >= self._pass_mark,
            points.parts,
            details
            | {"judged_weight_share": _judged_share(criteria, judged), "rubric": [asdict(c) for c in criteria]}
            | dict(self._item.kept),
            _reason(criteria, judged),
        )


def _judged_share(criteria: Sequence[Criterion], judged: Judged) -> float:
    """Return how much of the positive weight rests on the judge's word."""
    asked = {finding.criterion for finding in judged.findings if finding.by == "judge"}
    return sum(c.weight for c in criteria if c.weight > 0 and c.name in asked) / positive_weight(criteria)


def _reason(criteria: Sequence[Criterion], judged: Judged) -> str:
    if judged.misled:
        return "the reply makes the judge assert what is false: nothing that the judge said about it counts"
    met = judged.met()
    wanted = [c for c in criteria if c.weight > 0]
    faults = [c for c in criteria if c.weight < 0 and met[c.name]]
    code = sum(finding.by == "code" for finding in judged.findings)
    reason = f"{sum(met[c.name] for c in wanted)} of {len(wanted)} criteria met, {code} verdicts by code"
    return f"{reason}; {len(faults)} faults: {faults[0].text[:120]}" if faults else reason


@dataclass(frozen=True)
class RubricDataset(Dataset):
    """The dataset of one file format.

    Attributes
    ----------
    as_of
        Simulation date of every task.
    read
        Reads a file or folder into items, in a fixed order; raises ``ValueError`` that names file and place.
    mark
        Turns verdicts into points.
    options
        What a config entry of the dataset may say.
    judge
        The run's judge; None where it has none.
    """

    name: str
    section: Section
    version: str
    as_of: date
    read: Callable[[Path], list[RubricItem]]
    mark: Mark
    pass_mark: float
    options: type[RubricOptions]
    judge: JudgeSettings | None = None

    def judged_by(self, judge: JudgeSettings | Mapping[str, Json] | None) -> RubricDataset:
        """Return the dataset with the run's judge."""
        return self if judge is None else replace(self, judge=read_settings(judge))

    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` items of the file at ``path``, or all of them when it has fewer, in an order of the seed."""
        given = self.options.read(options)
        items = self.read(self._path(given))
        there = tuple(dict.fromkeys(name for item in items for name in (item.category, *item.kinds)))
        kinds = chosen("task_types", given.task_types, there)
        items = [item for item in items if {item.category, *item.kinds} & set(kinds)]
        if given.references is False:
            items = [item for item in items if not item.references]
        stream(self.name, self.version, seed).shuffle(items)
        return [self._case(item) for item in items[:count]]

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the file, or of the files of the folder, and of what the judge's verdicts depend on."""
        path = self._path(self.options.read(options))
        digest = hashlib.sha256(json.dumps(self.judge.identity() if self.judge else None).encode())
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            # the list of a pull, its lock and what is still coming are not the data
            if file.is_file() and file.name not in (held.LIST, ".lock") and file.suffix != PART:
                digest.update(f"{file.name}\n{hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
        return digest.hexdigest()

    def _path(self, options: RubricOptions) -> Path:
        if options.path is None:
            named = f"hf_dataset {options.hf_dataset!r} is not known, and " if options.hf_dataset else ""
            raise ValueError(
                f"path is missing: {named}no data is shipped with {self.name}; fetch it with: traderbench data pull "
                f"{self.name}, and write path: {SOURCES[self.name].folder}"
            )
        path = Path(options.path).expanduser()
        if lacks := missing(self.name, options.path):
            raise ValueError(f"path: {lacks}")
        return path

    def _case(self, item: RubricItem) -> Case:
        task = Task(
            task_id=f"{self.name}-{item.name}",
            section=self.section,
            dataset=self.name,
            category=item.category,
            family=f"{self.name}/{item.name}",
            as_of=self.as_of,
            question=item.question,
            answer_format=item.answer_format,
            context=item.context,
        )
        return Case(
            task,
            lambda: RubricSession(task, item, mark=self.mark, pass_mark=self.pass_mark, judge=self.judge),
            check=lambda: self._check(item),
        )

    def _check(self, item: RubricItem) -> None:
        """Raise where a file of the task is not here: without it nobody can do the work."""
        for reference in item.references:
            if not reference.path.is_file():
                raise ValueError(
                    f"its reference file {reference.name!r} is not here; fetch it with: traderbench data pull "
                    f"{self.name}, or write references: false for the tasks without files"
                )
