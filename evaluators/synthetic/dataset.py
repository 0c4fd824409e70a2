"""The dataset ``synthetic``: draws problems from a seed and opens conversations about them."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from evaluators import published_bank
from evaluators.contract import Case, Dataset, Difficulty, Family, Given, Json, Score, Section, SingleTurn
from evaluators.judge.settings import JudgeSettings, read_settings
from evaluators.synthetic import dispute, scoring
from evaluators.synthetic.bank import BANK, PUBLISHED, select
from evaluators.synthetic.options import Options
from evaluators.synthetic.problem import AS_OF, WEIGHTS, Problem, written
from evaluators.synthetic.published_file import TEMPLATE_OF
from evaluators.synthetic.template import PITFALL_MARGIN, PROBES, Template

VERSION = "1.1"
_BY_NAME = {template.name: template for template in BANK}
HARD = frozenset({"bond_replication", "covered_interest", "rate_swap", "two_stage_value"})
"""Templates that take more than one idea."""


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
        """Return a family for each template."""
        return [Family(template.name, template.topic, (_difficulty(template),)) for template in BANK]

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
            chosen = select(task_types, BANK)
            return [_drawn_case(chosen, seed, index) for index in range(count)]
        chosen = select(task_types, PUBLISHED if variant == "as_published" else BANK)
        if count > len(chosen):
            raise ValueError(f"count: the variant {variant!r} holds {len(chosen)} such tasks, {count} are asked for")
        order = random.Random(f"{VERSION}/{variant}/{seed}").sample(chosen, len(chosen))
        return [_fixed_case(template, variant) for template in order[:count]]

    def held(self, options: Given) -> int | None:
        """Return how many tasks a variant with fixed inputs holds; drawn ones have no end."""
        given = Options.read(options)
        if given.path is not None or (given.variant or "drawn") == "drawn":
            return None
        bank = PUBLISHED if given.variant == "as_published" else BANK
        return len(select(list(given.task_types or ()), bank))

    def data_hash(self, options: Given) -> str:
        """Return the sha256 of the bank and the marking scheme."""
        path = Options.read(options).path
        file = [] if path is None else [published_bank.content_hash(path), self.judge and self.judge.identity()]
        rules = [WEIGHTS, scoring.PASS_MARK, PROBES, scoring.FORMULA_TOLERANCE, PITFALL_MARGIN]
        content = json.dumps([VERSION, rules, [asdict(template) for template in BANK], *file], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()


def _difficulty(template: Template) -> Difficulty:
    return "hard" if template.name in HARD else "easy"


def _drawn_case(chosen: Sequence[Template], seed: int, index: int) -> Case:
    """Every template comes once, in an order of the seed, before any comes again."""
    cycle, place = divmod(index, len(chosen))
    template = random.Random(f"{VERSION}/order/{seed}/{cycle}").sample(chosen, len(chosen))[place]
    values = template.draw(random.Random(f"{VERSION}/{template.name}/{seed}/{cycle}"))
    return _case(Problem(template, values), f"{seed}/{cycle}", "drawn")


def _fixed_case(template: Template, variant: str) -> Case:
    return _case(Problem(template, template.printed_values()), "printed", variant)


def _case(problem: Problem, origin: str, variant: str) -> Case:
    template = problem.template
    digest = hashlib.sha256(f"{VERSION}/{variant}/{template.name}/{origin}".encode()).hexdigest()[:10]
    task = replace(problem.task(f"synthetic-{template.name}-{digest}"), difficulty=_difficulty(template))
    rule, gold = scoring.judge, problem.perfect_reply()
    if variant == "as_published":
        rule, gold = scoring.judge_as_published, json.dumps({"answer": written(template.printed[0], template.answer)})
    judge: Callable[[str], Score] = functools.partial(rule, problem)
    # printed answers are what the paper says, right or wrong: there is nothing to defend them with
    argued = None if variant == "as_published" else dispute.of_problem(problem)
    return Case(task=task, open=lambda: SingleTurn(task=task, judge=judge, gold_text=gold), dispute=argued)


DATASET = Synthetic()
