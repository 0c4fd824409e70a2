"""Draws one problem of a level: inputs, how the text tells them, and the text."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evaluators import names
from evaluators.contract import Difficulty
from evaluators.synthetic import composition, exhibit, frames
from evaluators.synthetic.bank import WORDINGS
from evaluators.synthetic.composition import Composition, Part
from evaluators.synthetic.disguise import Row, Told, disguised, nature, plain, rounded
from evaluators.synthetic.problem import Gap, Problem, range_of
from evaluators.synthetic.template import MAX_ATTEMPTS, Input, Template, given_away, numbers_in

SHARE_WITH_A_GAP = 1 / 3
"""Of expert questions, how many leave an input open."""
GAP_WIDTH = 0.08
"""How far, relatively, an assumption may lie from the value drawn."""


class Text(NamedTuple):
    """A question and what it shows."""

    question: str
    rows: Sequence[Row]


def draw(rng: random.Random, template: Template, level: Difficulty, number: int, *, held_back: bool) -> Problem:
    """Return a problem of the template, its question asked in the way ``number``.

    Raises
    ------
    RuntimeError
        When hardly any draw makes sense, which is an error of the template.
    """
    for _ in range(MAX_ATTEMPTS):
        whole = _composition(rng, template, level)
        values = {item.name: item.draw(rng) for item in whole.template.inputs}
        if not whole.template.is_clear(values):
            continue
        problem = _told(rng, whole, values, level, number, held_back=held_back)
        if problem is not None:
            return problem
    raise RuntimeError(f"template {template.name!r}, {level}: no sound problem in {MAX_ATTEMPTS} draws")


def _composition(rng: random.Random, template: Template, level: Difficulty) -> Composition:
    if level == "expert":
        return composition.draw(rng, template.name)
    return Composition(template, (Part(template, {item.name: item.name for item in template.inputs}, {}),))


def _told(
    rng: random.Random,
    whole: Composition,
    values: Mapping[str, float],
    level: Difficulty,
    number: int,
    *,
    held_back: bool,
) -> Problem | None:
    """Return the problem with its text; None where a figure asked for stands in it, or disguises moved too much."""
    template = whole.template
    needed = template.needed(template.answer.name)
    inputs = {item.name: item for item in template.inputs}
    gap = None
    if level == "expert" and rng.random() < SHARE_WITH_A_GAP:
        gap = _gap(rng, [item for item in template.inputs if item.name in needed], values)
    hidden: set[str] = set()
    if level != "easy":
        able = [name for name, item in inputs.items() if name in needed and nature(item) != "fixed"]
        able = [name for name in able if gap is None or name != gap.item.name]
        hidden = set(rng.sample(able, min(len(able), rng.randint(1, 2))))
    told: dict[str, Told] = {}
    for part in whole.parts:
        for own, name in part.names.items():
            label = rng.choice(WORDINGS[part.template.name].names(own, held_back=held_back))
            way = disguised(rng, inputs[name], values[name], label) if name in hidden else None
            told[name] = way or plain(inputs[name], values[name], label)
    values = {name: item.value for name, item in told.items()}
    if hidden and not template.is_clear(values):
        return None
    writers = {"easy": _easy, "hard": _hard, "expert": _expert}
    text = writers[level](rng, whole, told, gap, number, held_back=held_back)
    problem = Problem(
        template,
        values,
        text.question,
        level,
        None if level == "easy" else {name: item.derivation for name, item in told.items()},
        tuple(item.step for item in told.values() if item.step is not None),
        gap,
    )
    figures = [(figure, problem.truth[figure.name]) for figure in (*problem.steps, template.answer)]
    plainly = [values[name] for name, item in told.items() if item.step is None]
    shown = [*numbers_in(text.question), *plainly, *(row.value for row in text.rows)]
    return None if given_away(figures, shown) else problem


def _gap(rng: random.Random, inputs: Sequence[Input], values: Mapping[str, float]) -> Gap | None:
    """Return an input to be left open, of those whose size is a matter of judgement."""
    able = [
        item for item in inputs if item.unit in ("usd", "percent") and nature(item) != "fixed" and values[item.name] > 0
    ]
    if not able:
        return None
    item = rng.choice(able)
    value = values[item.name]
    return Gap(
        item,
        rounded(value * (1 - GAP_WIDTH * rng.random()), 3),
        rounded(value * (1 + GAP_WIDTH * rng.uniform(0.3, 1)), 3),
    )


def _easy(
    rng: random.Random, whole: Composition, told: Mapping[str, Told], gap: Gap | None, number: int, *, held_back: bool
) -> Text:
    (part,) = whole.parts
    wording = WORDINGS[part.template.name]
    rows = [row for item in told.values() for row in item.rows]
    shown = exhibit.apart(rng, exhibit.compared(rng, rows), held_back=held_back)
    ask = wording.ask(number, held_back=held_back)
    frame = frames.one(rng, held_back=held_back)
    return Text(frames.fill(rng, frame, setting=wording.setting, exhibit=shown, ask=ask), rows)


def _hard(
    rng: random.Random, whole: Composition, told: Mapping[str, Told], gap: Gap | None, number: int, *, held_back: bool
) -> Text:
    (part,) = whole.parts
    wording = WORDINGS[part.template.name]
    rows = [row for item in told.values() for row in item.rows]
    firm = names.company(rng)
    shown = exhibit.table(rng, rows, held_back=held_back, firm=firm)
    ask = wording.ask(number, held_back=held_back)
    frame = frames.one(rng, held_back=held_back)
    return Text(frames.fill(rng, frame, setting=wording.setting, exhibit=shown, ask=ask, firm=firm), rows)


def _expert(
    rng: random.Random, whole: Composition, told: Mapping[str, Told], gap: Gap | None, number: int, *, held_back: bool
) -> Text:
    firm = names.company(rng)
    contested = rng.sample(sorted(name for name in told if gap is None or name != gap.item.name), min(2, len(told) - 1))
    notes: list[str] = []
    shown: list[Row] = []
    for part in whole.parts:
        wording = WORDINGS[part.template.name]
        rows: list[Row] = []
        remarks: list[str] = []
        for name in part.names.values():
            own = list(told[name].rows)
            if gap is not None and name == gap.item.name:
                remarks.append(frames.left_open(rng, own[0].label, range_of(gap), held_back=held_back))
                continue
            if name == contested[0]:
                own[0], remark = exhibit.corrected(rng, own[0], held_back=held_back)
                remarks.append(remark)
            elif name in contested:
                remarks.append(exhibit.doubted(rng, own[0], held_back=held_back))
            rows += own
            shown += told[name].rows
        for name, meaning in part.fed.items():
            label = rng.choice(wording.names(name, held_back=held_back))
            remarks.append(frames.link(rng, label, meaning, held_back=held_back))
        table = exhibit.table(rng, rows, held_back=held_back, firm=firm) if rows else ""
        notes.append(frames.note(rng, wording.setting, table, rng.sample(remarks, len(remarks))))
    ask = WORDINGS[whole.parts[-1].template.name].ask(number, held_back=held_back)
    return Text(frames.document(rng, firm, notes, ask, held_back=held_back), shown)
