"""The dataset ``options``: draws tasks from a seed and opens conversations about them."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from evaluators import published_bank
from evaluators.contract import (
    DIFFICULTIES,
    Case,
    Dataset,
    Difficulty,
    Family,
    Given,
    Json,
    Score,
    Section,
    SingleTurn,
)
from evaluators.drawing import chosen, rotation, stream, without_collection
from evaluators.judge.settings import JudgeSettings, read_settings
from evaluators.options import dispute, scoring
from evaluators.options.bank import PUBLISHED, TEMPLATES, select
from evaluators.options.options import Options
from evaluators.options.problem import (
    AS_OF,
    LEVEL_TOLERANCE,
    PROBABILITY_TOLERANCE,
    RELATIVE_TOLERANCE,
    UNLOCKING_FIGURES,
    Problem,
)
from evaluators.options.published_file import FAMILY_OF
from evaluators.options.telling.drawn import draw
from evaluators.options.telling.texts import TEXTS, USUAL

VERSION = "2.0"
_BY_FAMILY = {template.family: template for template in TEMPLATES}


@dataclass(frozen=True)
class OptionsTrading(Dataset):
    """Options Alpha: pricing, Greeks, strategies, volatility, attribution and risk, with truth from the engine."""

    name: str = "options"
    section: Section = "options_trading"
    version: str = VERSION
    judge: JudgeSettings | None = None

    def judged_by(self, judge: JudgeSettings | Mapping[str, Json] | None) -> OptionsTrading:
        """Return the dataset with the run's judge, for questions that are marked by their file."""
        return self if judge is None else replace(self, judge=read_settings(judge))

    def families(self) -> Sequence[Family]:
        """Return a family for each template, in every difficulty."""
        return [
            Family(row.family, row.category, DIFFICULTIES, USUAL, len(TEXTS[row.family]) - USUAL) for row in TEMPLATES
        ]

    @without_collection()
    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases.

        Raises
        ------
        ValueError
            For a wrong option, a negative count, or more cases than the printed bank holds.
        """
        given = Options.read(options)
        variant, task_types = given.variant or "drawn", list(given.task_types or ())
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        if given.path is not None:
            return published_bank.draw(
                given.path,
                marking=published_bank.Marking(self.name, self.section, AS_OF, self.judge),
                known=FAMILY_OF,
                ours=lambda name: _printed_case(_BY_FAMILY[name]),
                kinds=lambda name: (name, _BY_FAMILY[name].category),
                task_types=task_types,
                order=random.Random(f"{VERSION}/published/{seed}"),
                count=count,
            )
        if variant == "drawn":
            families = select(task_types)
            levels = chosen("difficulties", given.difficulties, DIFFICULTIES)
            held_back = given.wordings == "held_back"
            return [_drawn_case(families, seed, index, levels, held_back=held_back) for index in range(count)]
        printed = select(task_types, published=True)
        if count > len(printed):
            raise ValueError(
                f"count: the variant 'as_published' holds {len(printed)} such tasks, {count} are asked for"
            )
        order = random.Random(f"{VERSION}/{variant}/{seed}").sample(printed, len(printed))
        return [_printed_case(template) for template in order[:count]]

    def held(self, options: Given) -> int | None:
        """Return how many printed tasks there are; drawn ones have no end."""
        given = Options.read(options)
        fixed = given.path is None and given.variant == "as_published"
        return len(select(list(given.task_types or ()), published=True)) if fixed else None

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the printed tasks and of fixed draws of every template, with the marking scheme."""
        path = Options.read(options).path
        file = [] if path is None else [published_bank.content_hash(path), self.judge and self.judge.identity()]
        tolerances = [RELATIVE_TOLERANCE, LEVEL_TOLERANCE, PROBABILITY_TOLERANCE, UNLOCKING_FIGURES]
        rules = [VERSION, scoring.PASS_MARK, *tolerances, [t.family for t in TEMPLATES]]
        probes = [
            _probe(template, level, random.Random(f"hash/{template.family}/{level}"))
            for template in TEMPLATES
            for level in DIFFICULTIES
        ]
        printed = [_content(question.build()) for question in PUBLISHED.values()]
        return hashlib.sha256(json.dumps([rules, probes, printed, *file], sort_keys=True).encode()).hexdigest()


def _probe(template: type[Problem], level: Difficulty, rng: random.Random) -> list[Json]:
    drawn = draw(template, rng, level, 0)
    return [drawn.question, TEXTS[template.family], *_rules(drawn.problem)]


def _content(problem: Problem) -> list[Json]:
    task = problem.task("")
    return [task.question, task.answer_format, task.context, problem.perfect_reply()]


def _rules(problem: Problem) -> list[Json]:
    return [problem.task("", question="").answer_format, problem.perfect_reply()]


def _drawn_case(
    families: Sequence[type[Problem]], seed: int, index: int, levels: Sequence[Difficulty], *, held_back: bool
) -> Case:
    """Every template comes once, in an order of the seed, before any comes again: in another level and text."""
    cycle, place = divmod(index, len(families))
    template = random.Random(f"{VERSION}/order/{seed}/{cycle}").sample(families, len(families))[place]
    mark = "held-back" if held_back else "usual"
    named = (VERSION, template.family, seed, mark)
    level = rotation(levels, index=cycle, name=(*named, "difficulty"))
    texts = range(USUAL, len(TEXTS[template.family])) if held_back else range(USUAL)
    text = rotation(texts, index=cycle, name=(*named, "text"))
    drawn = draw(template, stream(*named, level, cycle), level, text)
    wording = f"{mark} {text + 1 - (USUAL if held_back else 0)}"
    case = _case(drawn.problem, f"{seed}/{cycle}/{level}/{mark}", {}, drawn.question)
    return replace(case, task=replace(case.task, difficulty=level, wording=wording))


def _printed_case(template: type[Problem]) -> Case:
    question = PUBLISHED[template.family]
    return _case(question.build(), "printed", question.shown())


def _case(problem: Problem, origin: str, printed: Mapping[str, Json], question: str | None = None) -> Case:
    digest = hashlib.sha256(f"{VERSION}/{problem.family}/{origin}".encode()).hexdigest()[:10]
    task = problem.task(f"options-{problem.family}-{digest}", question=question)
    judge: Callable[[str], Score] = functools.partial(scoring.judge, problem, printed=printed)

    def session() -> SingleTurn:
        return SingleTurn(task=task, judge=judge, gold_text=problem.perfect_reply())

    return Case(task=task, open=session, dispute=dispute.of_problem(problem))


DATASET = OptionsTrading()
