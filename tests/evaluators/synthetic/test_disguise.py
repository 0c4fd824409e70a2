"""Inputs told by other figures follow from what is shown, and from nothing that says something else."""

from __future__ import annotations

import collections
import random
import re
from datetime import date

import pytest

from evaluators.synthetic import expression
from evaluators.synthetic.bank import BANK
from evaluators.synthetic.dataset import DATASET
from evaluators.synthetic.disguise import disguised
from tests.evaluators.synthetic.played import problem_of


def figures_of(row):
    """The figures of a row, read from what it shows."""
    if found := re.fullmatch(r"from (\S+) to (\S+)", row.shown):
        start, end = (date.fromisoformat(text) for text in found.groups())
        return (end.year - start.year) + (end.month - start.month) / 12
    if found := re.fullmatch(r"(\S+) months", row.shown):
        return float(found[1]) / 12
    if found := re.fullmatch(r"(-?\S+) basis points", row.shown):
        return float(found[1]) / 1e4
    text = row.shown.replace("$", "").replace(",", "")
    number = float(re.match(r"-?[\d.]+", text)[0])
    if found := re.search(r"on every \$([\d,]+)$", row.label):
        return number / float(found[1].replace(",", ""))
    scale = {"million": 1e6, "billion": 1e9}.get(text.split(" ")[-1], 1.0)
    return number * scale / (100 if text.endswith("%") else 1) * (1e3 if row.label.endswith("in thousands") else 1)


def test_a_disguised_input_follows_from_the_figures_that_are_shown():
    rng, seen = random.Random(4), collections.Counter()
    for _ in range(40):
        for template in BANK:
            values = template.draw(rng)
            for item in template.inputs:
                told = disguised(rng, item, values[item.name], "it")
                shown = [figures_of(row) for row in told.rows]
                label = told.rows[-1].label
                if len(shown) == 1:
                    (value,) = shown
                elif label.startswith("relative change"):
                    value = shown[0] * (1 + shown[1])
                elif label.startswith(("rise", "fall")):
                    value = shown[0] + shown[1] * (1 if label.startswith("rise") else -1)
                elif label.startswith("level"):
                    value = (shown[1] - shown[0]) / shown[0]
                else:
                    value = shown[0] * shown[1]
                seen[label.split(" ")[0]] += 1
                assert told.value == pytest.approx(value, rel=1e-9), (item, told)
                assert expression.resolve({"v": expression.parse(told.derivation)}, "v", {}) == pytest.approx(value)
                assert value == pytest.approx(values[item.name], rel=1e-2, abs=2e-4)
    assert {"relative", "rise", "fall", "level", "part", "shares", "it,", "it"} <= set(seen)


def test_two_levels_tell_nothing_but_the_relative_rise_from_one_to_the_other():
    """A fall of 10% is no level that grew by 10%, a yield's move no ratio, a return required no growth of anything."""
    rises = re.compile(r"(?:sales_change|growth_rate|fast_growth|slow_growth|up_move)$")
    told = set()
    for level in ("hard", "expert"):
        for case in DATASET.draw(seed=21, count=440, options={"difficulties": [level]}):
            derivations = problem_of(case).derivations
            told |= {name for name, source in derivations.items() if re.fullmatch(r"[\d.]+ / [\d.]+ - 1", source)}
    assert told and {name for name in told if not rises.search(name)} == set()
