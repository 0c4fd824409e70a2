"""The dataset ``fundamentals``: questions drawn from the lake, truth computed on the simulation date."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from evaluators.answers.expected import ExpectedNumber
from evaluators.contract import Case, Dataset, Difficulty, Family, Given, Json, Section, SingleTurn, Task
from evaluators.drawing import chosen, rotation, stream, task_id
from evaluators.fundamentals import dispute, filings, prices, statements
from evaluators.fundamentals.options import Options
from evaluators.fundamentals.question import NotDrawable, Question, Template
from lake import sample
from lake.sample import Lake

VERSION = "1.1"
MAX_ATTEMPTS = 60
TEMPLATES = {row.name: row for row in (*statements.TEMPLATES, *filings.TEMPLATES, *prices.TEMPLATES)}
HARD = frozenset(
    {"figure-on-date", "original-figure", "restatement-effect", "fourth-quarter", "which-filing", "filing-date"}
)
"""Templates where the figure that comes first to hand is the wrong one."""
CATEGORIES = tuple(dict.fromkeys(row.category for row in TEMPLATES.values()))


def draw_question(
    template: Template, lake: Lake, *name: object, avoid: frozenset[str] | set[str] = frozenset()
) -> Question:
    """Draw one question of ``template`` from the stream called ``name``.

    A question that 0 would nearly answer is drawn again. Texts in ``avoid`` are drawn again while there is hope of
    another; a template with nothing new left asks an old question on another simulation date.
    """
    rng, question = stream(*name), None
    for _ in range(MAX_ATTEMPTS):
        try:
            drawn = template.draw(rng, lake)
        except NotDrawable:
            continue
        if isinstance(drawn.expected, ExpectedNumber) and not drawn.expected.is_clear_of_zero():
            continue
        question = drawn
        if question.text not in avoid:
            return question
    if question is None:
        raise ValueError(f"template {template.name!r}: nothing to ask about in {MAX_ATTEMPTS} draws from this lake")
    return question


def _difficulty(template: Template) -> Difficulty:
    return "hard" if template.name in HARD else "easy"


def _case(question: Question, template: Template, task_id: str, lake: Lake) -> Case:
    context: dict[str, Json] = {"ticker": question.ticker}
    if question.fiscal_year is not None:
        context["fiscal_year"] = question.fiscal_year
    task = Task(
        task_id=task_id,
        section="knowledge_retrieval",
        dataset="fundamentals",
        category=template.category,
        family=f"fundamentals/{template.name}",
        as_of=question.as_of,
        question=question.text,
        answer_format=question.expected.answer_format(),
        context=context,
        servers=template.servers,
        difficulty=_difficulty(template),
    )
    expected = question.expected
    argued = dispute.of_question(question, lake)
    return Case(task, lambda: SingleTurn(task, judge=expected.grade, gold_text=expected.gold_text()), dispute=argued)


@dataclass(frozen=True)
class Fundamentals(Dataset):
    """Questions whose facts are not in the prompt: the agent has to fetch them through the tools."""

    name: str = "fundamentals"
    section: Section = "knowledge_retrieval"
    version: str = VERSION

    def families(self) -> Sequence[Family]:
        """Return a family for each template."""
        return [Family(f"{self.name}/{row.name}", row.category, (_difficulty(row),)) for row in TEMPLATES.values()]

    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases, every template once before any comes again."""
        names = _templates(Options.read(options))
        lake = sample.embedded()
        cases: list[Case] = []
        seen: set[str] = set()
        for index in range(count):
            template = TEMPLATES[rotation(names, index=index, name=(self.name, VERSION, seed))]
            name = (self.name, VERSION, seed, template.name, index)
            question = draw_question(template, lake, *name, avoid=seen)
            seen.add(question.text)
            cases.append(_case(question, template, task_id(*name, show=(0, 3)), lake))
        return cases

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the lake's tables and of the templates' source."""
        _templates(Options.read(options))
        digest = hashlib.sha256(sample.data_hash().encode())
        for module in ("statements.py", "filings.py", "prices.py", "question.py"):
            digest.update(resources.files(__package__).joinpath(module).read_bytes())
        return digest.hexdigest()


def _templates(options: Options) -> tuple[str, ...]:
    wanted = chosen("task_types", options.task_types, (*TEMPLATES, *CATEGORIES))
    return tuple(name for name, row in TEMPLATES.items() if name in wanted or row.category in wanted)


DATASET = Fundamentals()
