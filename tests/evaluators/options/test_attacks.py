"""Guessing options tasks: constants and legs at fixed places, learnt on many tasks of each template, earn nothing.

The attacker knows the templates, the marks and the solutions of 200 other tasks, and computes nothing on the task
itself: each figure is the constant that was right most often, the legs stand at the places and sizes that were usual.
"""

from __future__ import annotations

import itertools
import json
import random
import statistics
from collections import Counter

import pytest

from evaluators.contract import DIFFICULTIES
from evaluators.options.bank import TEMPLATES
from evaluators.options.chain import Holding
from evaluators.options.problem import written
from evaluators.options.scoring import judge
from evaluators.options.telling.drawn import draw

TRAINING, TRIALS, FRESH = 200, 60, 60
USUAL_PLACES = 3
MOST_OF_A_TEMPLATE = 3.0
SIZES = ("contracts", "contracts_held", "contracts_sold", "straddles", "shares_held")


def size_of(problem):
    context = problem.context()
    size = next((context[name] for name in SIZES if name in context), 1)
    return size / 100 if "shares_held" in context else size


def shape(problem):
    """Return the legs of the solution as places in the chain and multiples of the size that the task names."""
    chain = list(problem.tradable())
    return tuple(
        (None if holding.series is None else chain.index(holding.series), holding.quantity / size_of(problem))
        for holding in problem.solution()
    )


def usual_shapes(known):
    """Return the commonest places of legs, with the middle one of the sizes seen there; and no legs at all."""
    places, seen = Counter(), {}
    for legs in map(shape, known):
        key = tuple((place, round(size, 1) if place is not None else None) for place, size in legs)
        places[key] += 1
        seen.setdefault(key, []).append(legs)
    yield None
    for key, _ in places.most_common(USUAL_PLACES):
        middles = [statistics.median_low(legs[row][1] for legs in seen[key]) for row in range(len(key))]
        yield tuple((place, middle) for (place, _), middle in zip(key, middles, strict=True))


def position(problem, legs):
    if legs is None:
        return None
    chain = list(problem.tradable())
    return tuple(
        Holding(None if place is None else chain[place], round(size * size_of(problem)) or 1) for place, size in legs
    )


def most_often_right(ranges):
    """Return the constant inside the most of the intervals."""
    edges = sorted([(low, 0) for low, _ in ranges] + [(high, 1) for _, high in ranges])
    inside = best = 0
    constant = 0.0
    for number, (edge, closes) in enumerate(edges):
        inside += -1 if closes else 1
        if inside > best:
            best, constant = inside, (edge + edges[number + 1][0]) / 2
    return constant


def learn(known, legs):
    """Return the figures of a reply: for each the best constant, for the position that these legs would be."""
    ranges = {}
    for problem in known:
        held = position(problem, legs)
        if held is not None and not all(item.met for item in problem.structure(held)):
            held = None
        truth = problem.truth(held)
        for dimension, figures in problem.figures().items():
            for figure in figures:
                row = ranges.setdefault(dimension, {}).setdefault(figure.name, [])
                if figure.name in truth:
                    value = truth[figure.name]
                    margin = max(figure.tolerance * abs(value), figure.floor)
                    row.append((value - margin, value + margin))
    return {part: {name: most_often_right(row) for name, row in rows.items()} for part, rows in ranges.items()}


def scores(tasks, figures, legs):
    values = []
    for problem in tasks:
        held = position(problem, legs) or ()
        reply = figures | {"strategy": {"legs": [written(holding) for holding in held]}}
        values.append(judge(problem, json.dumps(reply), printed={}).value)
    return values


def problems(template, name, count):
    """Return draws of all levels in turn."""
    return [
        draw(template, random.Random(f"{name}/{template.family}/{seed}"), DIFFICULTIES[seed % 3], seed % 5).problem
        for seed in range(count)
    ]


def attack(template):
    """Return the scores, on fresh seeds, of the guess that did best in training."""
    known = problems(template, "known", TRAINING)
    guesses = []
    for legs in usual_shapes(known):
        figures = learn(known if legs is None else known[:TRIALS], legs)
        guesses.append((statistics.mean(scores(known[:TRIALS], figures, legs)), figures, legs))
    _, figures, legs = max(guesses, key=lambda guess: guess[0])
    return scores(problems(template, "fresh", FRESH), figures, legs)


@pytest.mark.campaign
@pytest.mark.timeout(1200)
def test_constants_and_legs_at_fixed_places_earn_nothing_in_any_template():
    found = {template.family: attack(template) for template in TEMPLATES}
    means = {family: statistics.mean(values) for family, values in found.items()}
    error = sum(statistics.variance(values) / len(values) for values in found.values()) ** 0.5 / len(found)
    print(f"guessing: {statistics.mean(means.values()):.2f} +- {error:.2f}", means)
    assert {family: mean for family, mean in means.items() if mean > MOST_OF_A_TEMPLATE} == {}
    assert statistics.mean(means.values()) <= 1.0 and error < 0.2, (means, error)


@pytest.mark.parametrize("family", ["iron_condor", "debit_spread"])
def test_no_constant_is_the_probability_of_many_spreads(family):
    template = next(template for template in TEMPLATES if template.family == family)
    drawn = [draw(template, random.Random(f"chance/{seed}"), "easy", 0).problem for seed in range(40)]
    truths = [problem.truth(problem.solution())["probability_of_profit"] for problem in drawn]
    constant = most_often_right([(truth - 0.005, truth + 0.005) for truth in truths])
    assert sum(abs(truth - constant) <= 0.005 for truth in truths) <= 5


def cheapest(problem):
    """Return the position of the solution's shape in the series that cost least, by their quotes alone."""
    legs = problem.solution()
    rows = [
        sorted((s for s in problem.tradable() if s.kind == leg.series.kind), key=lambda s: s.price)[:6] for leg in legs
    ]
    tried = (
        tuple(Holding(series, leg.quantity) for series, leg in zip(choice, legs, strict=True))
        for choice in itertools.product(*rows)
        if len(set(choice)) == len(choice)
    )
    whole = [position for position in tried if all(item.met for item in problem.structure(position))]
    return min(whole, key=lambda position: sum(holding.series.price for holding in position))


@pytest.mark.parametrize("family", ["iron_condor", "debit_spread"])
def test_sums_of_prices_and_greeks_of_zero_in_the_cheapest_series_pass_nothing(family):
    """Who adds up quotes and strikes, chooses what costs least and states 0 for all that takes a model."""
    summed = {"cost", "max_profit", "max_loss", "breakeven", "breakeven_low", "breakeven_high", "return_on_risk",
              "reward_to_risk"}  # fmt: skip
    template = next(template for template in TEMPLATES if template.family == family)
    for problem in problems(template, "cheapest", 45):
        position = cheapest(problem)
        truth = problem.truth(position)
        figures = {
            dimension: {row.name: truth.get(row.name, 0.0) if row.name in summed else 0.0 for row in rows}
            for dimension, rows in problem.figures().items()
        }
        reply = {**figures, "strategy": {"legs": [written(holding) for holding in position]}}
        verdict = judge(problem, json.dumps(reply), printed={})
        assert verdict.parts["greeks"] <= 25.0 and not verdict.passed, (problem, verdict.parts)
