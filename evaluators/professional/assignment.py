"""One piece of professional work: what is asked, what is handed in, how it is marked."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from evaluators.answers import Refusal
from evaluators.contract import Case, Difficulty, Json, Score, SingleTurn, Task
from evaluators.professional import deliverables, marks
from evaluators.professional.briefs import Brief
from evaluators.professional.memo import Memo
from evaluators.professional.sheet import Sheet
from evaluators.professional.table import Table
from evaluators.professional.telling import tell


@dataclass(frozen=True)
class Assignment:
    """A drawn assignment with its right deliverables.

    Attributes
    ----------
    fields
        What stands in the braces of every wording.
    inputs
        What the figures follow from, by name: for a second computation, never sent.
    sheet
        The same as it is told in the text.
    """

    fields: Mapping[str, str]
    inputs: Mapping[str, Json]
    sheet: Sheet
    table: Table
    memo: Memo
    as_of: date

    def question(self, rng: random.Random, wording: str, difficulty: Difficulty) -> str:
        """Return the whole text of the task."""
        return (
            f"{wording.format_map(self.fields)}\n\n{tell(rng, self.sheet, difficulty)}\n\nDeliverables\n"
            f"1. {self.table.describe()}\n2. {self.memo.describe()}"
        )

    def judge(self, reply: str) -> Score:
        """Return the verdict on a reply."""
        files = deliverables.read_deliverables(reply)
        if isinstance(files, Refusal):
            return marks.nothing(files.reason)
        names = (self.table.name, self.memo.name)
        present = sum(name in files for name in names) / len(names)
        listed = [marks.Mark("completion", "files", present, 1.0, f"handed in: {', '.join(files)[:120]}")]
        listed += self.table.marks(files.get(self.table.name))
        listed += self.memo.marks(files.get(self.memo.name))
        return marks.verdict(listed)

    def perfect_reply(self) -> str:
        """Return the right deliverables as one reply."""
        files = [
            {"name": self.table.name, "content": self.table.render()},
            {"name": self.memo.name, "content": self.memo.render()},
        ]
        return json.dumps({"deliverables": files}, ensure_ascii=False)


@dataclass(frozen=True)
class Template:
    """A kind of assignment.

    Attributes
    ----------
    name
        Also the family of its tasks.
    category
        FAB++ category, or the field's name for this work.
    draw
        Draws one assignment.
    brief
        Its texts, with the names of ``Assignment.fields`` in braces.
    servers
        Tool servers without which it cannot be done.
    """

    name: str
    category: str
    draw: Callable[[random.Random], Assignment]
    brief: Brief
    servers: tuple[str, ...] = ()

    def case(self, rng: random.Random, difficulty: Difficulty, text: str, *, wording: str, task_id: str) -> Case:
        """Draw an assignment, put by this text of the brief; return the task and its session."""
        assignment = self.draw(rng)
        task = Task(
            task_id=task_id,
            section="professional_tasks",
            dataset="professional",
            category=self.category,
            family=f"professional/{self.name}",
            as_of=assignment.as_of,
            question=assignment.question(rng, text, difficulty),
            answer_format=deliverables.answer_format((assignment.table.name, assignment.memo.name)),
            answer_schema=deliverables.SCHEMA,
            servers=self.servers,
            difficulty=difficulty,
            wording=wording,
        )
        return Case(task, lambda: SingleTurn(task, judge=assignment.judge, gold_text=assignment.perfect_reply()))


def limit_near(rng: random.Random, value: float) -> float:
    """Draw a limit 5% to 25% away from a positive value, on either side, with three significant digits."""
    factor = rng.uniform(0.75, 0.95) if rng.random() < 0.5 else rng.uniform(1.05, 1.25)
    return float(f"{value * factor:.3g}")


def any_day(rng: random.Random) -> date:
    """Draw a date for a memo."""
    return date(rng.randint(2015, 2025), rng.randint(1, 12), rng.randint(1, 28))
