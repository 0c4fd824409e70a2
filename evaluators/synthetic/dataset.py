"""The dataset ``synthetic``: draws problems from a seed and opens conversations about them."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

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
from evaluators.drawing import chosen, rotation, stream, task_id, without_collection
from evaluators.judge.settings import JudgeSettings, read_settings
from evaluators.synthetic import dispute, scoring
from evaluators.synthetic.bank import BANK, PUBLISHED, WORDINGS, select
from evaluators.synthetic.composition import LINKS
from evaluators.synthetic.drawing import draw
from evaluators.synthetic.options import Options
from evaluators.synthetic.problem import AS_OF, MOST_STEPS, WEIGHTS, Problem, printed, written
from evaluators.synthetic.published_file import TEMPLATE_OF
from evaluators.synthetic.template import PITFALL_MARGIN, PROBES, Template

VERSION = "2.0"
_BY_NAME = {template.name: template for template in BANK}


@dataclass(frozen=True)
class Synthetic(Dataset):
    """Questions of analytical reasoning whose truth is computed from drawn inputs."""

    name: str = "synthetic"
    section: Section = "analytical_reasoning"
    version: str = VERSION
    judge: JudgeSettings | None = None

    def judged_by(self, judge: JudgeSettings | Mapping[str, Json] | None) -> Synthetic:
        """Return the dataset with the run's judge, for questions that are marked by their file."""
        return self if judge is None else replace(self, judge=read_settings(judge))

    def families(self) -> Sequence[Family]:
        """Return a family for each template, in every difficulty."""
        texts = [(template, WORDINGS[template.name]) for template in BANK]
        return [
            Family(template.name, template.topic, DIFFICULTIES, len(text.asks), len(text.held_back))
            for template, text in texts
        ]

    @without_collection()
    def draw(self, *, seed: int, count: int, options: Given) -> Sequence[Case]:
        """Draw ``count`` cases.

        Raises
        ------
        ValueError
            For a wrong option, a negative count, or more cases than a fixed variant holds.
        """
        given = Options.read(options)
        variant, task_types = given.variant or "drawn", list(given.task_types or ())
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        if given.path is not None:
            return published_bank.draw(
                given.path,
                marking=published_bank.Marking(self.name, self.section, AS_OF, self.judge),
                known=TEMPLATE_OF,
                ours=lambda name: _fixed_case(_BY_NAME[name], given.variant or "canonical"),
                kinds=lambda name: (name, _BY_NAME[name].topic),
                task_types=task_types,
                order=random.Random(f"{VERSION}/published/{seed}"),
                count=count,
            )
        if variant == "drawn":
            templates = select(task_types, BANK)
            levels = chosen("difficulties", given.difficulties, DIFFICULTIES)
            held_back = given.wordings == "held_back"
            return [_drawn_case(templates, levels, seed, index, held_back=held_back) for index in range(count)]
        templates = select(task_types, PUBLISHED if variant == "as_published" else BANK)
        if count > len(templates):
            raise ValueError(f"count: the variant {variant!r} holds {len(templates)} such tasks, {count} are asked for")
        order = random.Random(f"{VERSION}/{variant}/{seed}").sample(templates, len(templates))
        return [_fixed_case(template, variant) for template in order[:count]]

    def held(self, options: Given) -> int | None:
        """Return how many tasks a variant with fixed inputs holds; drawn ones have no end."""
        given = Options.read(options)
        if given.path is not None or (given.variant or "drawn") == "drawn":
            return None
        bank = PUBLISHED if given.variant == "as_published" else BANK
        return len(select(list(given.task_types or ()), bank))

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the bank, its texts and the marking scheme."""
        given = Options.read(options)
        select(list(given.task_types or ()) if given.path is None else (), BANK)
        chosen("difficulties", given.difficulties, DIFFICULTIES)
        file = (
            []
            if given.path is None
            else [published_bank.content_hash(given.path), self.judge and self.judge.identity()]
        )
        rules = [WEIGHTS, MOST_STEPS, scoring.PASS_MARK, PROBES, scoring.FORMULA_TOLERANCE, PITFALL_MARGIN, LINKS]
        texts = {name: asdict(wording) for name, wording in WORDINGS.items()}
        content = [VERSION, rules, [asdict(template) for template in BANK], texts, *file]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _drawn_case(
    templates: Sequence[Template], levels: Sequence[Difficulty], seed: int, index: int, *, held_back: bool
) -> Case:
    """Every template comes once, in an order of the seed, before any comes again; levels take turns all the time."""
    named = ("synthetic", VERSION, seed)
    template = rotation(templates, index=index, name=named)
    level = rotation(levels, index=index, name=(*named, "difficulty"))
    wording = WORDINGS[template.name]
    texts = wording.held_back if held_back else wording.asks
    mark = "held-back" if held_back else "usual"
    number = rotation(range(len(texts)), index=index // len(templates), name=(*named, template.name, mark))
    name = (*named, template.name, level, mark, index)
    problem = draw(stream(*name), template, level, number, held_back=held_back)
    return _case(problem, template, task_id(*name, show=(0, 3)), f"{mark} {number + 1}")


def _fixed_case(template: Template, variant: str) -> Case:
    name = ("synthetic", VERSION, variant, template.name)
    return _case(printed(template), template, task_id(*name, show=(0, 3)), "as printed", variant)


def _case(problem: Problem, family: Template, name: str, wording: str, variant: str = "drawn") -> Case:
    task = problem.task(name, family, wording)
    rule, gold = scoring.judge, problem.perfect_reply()
    if variant == "as_published":
        rule, gold = scoring.judge_as_published, json.dumps({"answer": written(family.printed[0], family.answer)})
    judge: Callable[[str], Score] = functools.partial(rule, problem)
    # printed answers are what the paper says, right or wrong: there is nothing to defend them with
    argued = None if variant == "as_published" else dispute.of_problem(problem)
    return Case(task=task, open=lambda: SingleTurn(task=task, judge=judge, gold_text=gold), dispute=argued)


DATASET = Synthetic()
