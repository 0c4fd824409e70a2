"""Legs: how they are read, and that every requirement can be met and can be failed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from evaluators.answers import Refusal
from evaluators.options.bank import TEMPLATES
from evaluators.options.chain import MAX_LEGS, Holding, Series
from evaluators.options.legs import read_legs
from evaluators.options.telling.drawn import draw

CALL = Series(kind="call", strike=100.0, days=30, price=2.0, volatility=0.2)
PUT = Series(kind="put", strike=100.0, days=30, price=2.0, volatility=0.2)
LATER = Series(kind="call", strike=100.0, days=60, price=3.0, volatility=0.2)


def leg(**changes):
    return {"option_type": "call", "strike": 100, "quantity": 2} | changes


def test_a_leg_is_found_by_kind_and_strike_and_its_sign_is_kept():
    assert read_legs([leg(), leg(option_type="put", quantity=-3.0)], [CALL, PUT], stock=False) == (
        Holding(CALL, 2),
        Holding(PUT, -3),
    )


def test_stock_is_a_leg_where_it_can_be_traded():
    assert read_legs([{"option_type": "stock", "quantity": -150}], [], stock=True) == (Holding(None, -150),)
    assert isinstance(read_legs([{"option_type": "stock", "quantity": -150}], [], stock=False), Refusal)


def test_as_many_legs_and_pieces_as_allowed_are_read_and_one_more_is_not():
    series = [replace(CALL, strike=100.0 + number) for number in range(MAX_LEGS + 1)]
    legs = [leg(strike=item.strike) for item in series]
    read = read_legs(legs[:MAX_LEGS], series, stock=False)
    assert read == tuple(Holding(item, 2) for item in series[:MAX_LEGS])
    assert read_legs(legs, series, stock=False) == Refusal(f"at most {MAX_LEGS} legs, got {MAX_LEGS + 1}")
    for quantity in (1_000_000, -1_000_000):
        assert read_legs([leg(quantity=quantity)], [CALL], stock=False) == (Holding(CALL, quantity),)
    assert isinstance(read_legs([leg(quantity=1_000_001)], [CALL], stock=False), Refusal)


def test_the_words_of_the_published_bank_mean_the_same():
    sold = {"action": "sell", "strike": 100, "type": "call", "price": 12, "quantity": 3}
    assert read_legs([sold], [CALL], stock=False) == (Holding(CALL, -3),)
    assert read_legs([sold | {"quantity": -3}], [CALL], stock=False) == (Holding(CALL, -3),)
    assert read_legs([sold | {"action": "Buy"}], [CALL], stock=False) == (Holding(CALL, 3),)


def test_the_expiry_is_needed_where_there_are_several():
    assert read_legs([leg(days_to_expiry=60)], [CALL, LATER], stock=False) == (Holding(LATER, 2),)
    assert isinstance(read_legs([leg()], [CALL, LATER], stock=False), Refusal)
    assert read_legs([leg()], [CALL], stock=False) == (Holding(CALL, 2),)


@pytest.mark.parametrize(
    ("legs", "reason"),
    [
        (None, "no legs"),
        ([], "no legs"),
        ("long straddle", "no legs"),
        ([leg()] * 9, "at most 8"),
        ([leg(), leg(quantity=1)], "leg 2: listed twice"),
        ([leg(), "put"], "leg 2: not an object"),
        ([leg(quantity=0)], "whole number"),
        ([leg(quantity=1.5)], "whole number"),
        ([leg(quantity=10**9)], "whole number"),
        ([leg(quantity="2")], "quantity"),
        ([leg(quantity=True)], "quantity"),
        ([{"option_type": "call", "quantity": 1}], "strike"),
        ([leg(strike=101)], "no such series"),
        ([leg(option_type="put")], "no such series"),
        ([leg(option_type=["call"])], "no such series"),
        ([leg(days_to_expiry=31)], "no such series"),
        ([leg(action="buy", quantity=-2)], "contradicts"),
        ([leg(action="write")], "action must be"),
        ([leg(type="put")], "given twice"),
    ],
)
def test_anything_else_is_refused_with_the_leg_and_the_reason(legs, reason):
    refusal = read_legs(legs, [CALL], stock=True)
    assert isinstance(refusal, Refusal) and reason in refusal.reason


def neighbours(problem):
    """Positions around the solution: scaled, turned, a leg left out, moved to another series, or stock added."""
    solution = problem.solution()
    for factor in (-1, 2, 5):
        yield tuple(replace(holding, quantity=factor * holding.quantity) for holding in solution)
    for place, holding in enumerate(solution):
        others = solution[:place] + solution[place + 1 :]
        if others:
            yield others
        for quantity in (-holding.quantity, 3 * holding.quantity, holding.quantity // 2 or 1, 1):
            yield (*others, replace(holding, quantity=quantity))
        for series in problem.tradable()[::2]:
            yield (*others, Holding(series, holding.quantity))
    for series in problem.tradable()[::4]:
        yield (*solution, Holding(series, solution[0].quantity))
    if problem.stock:
        yield (Holding(None, 1),)


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.family)
def test_every_requirement_is_met_by_the_solution_and_failed_by_a_position_near_it(template):
    failed, known = set(), set()
    for seed in range(2):
        problem = draw(template, random.Random(seed), "easy", 0).problem
        for name, review in (("structure", problem.structure), ("limits", problem.limits)):
            checks = review(problem.solution())
            assert all(check.met for check in checks)
            known |= {(name, place) for place in range(len(checks))}
            for position in neighbours(problem):
                failed |= {(name, place) for place, check in enumerate(review(position)) if not check.met}
    assert known - failed == set()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.family)
def test_every_figure_is_known_for_the_solution_and_only_figures_asked_for_are_marked(template):
    problem = draw(template, random.Random(5), "easy", 0).problem
    asked = [figure for figures in problem.figures().values() for figure in figures]
    fixed, of_legs = problem.fixed(), problem.of_legs(problem.solution())
    assert len({figure.name for figure in asked}) == len(asked)
    for figure in asked:
        assert (figure.name in of_legs) == figure.of_legs and (figure.name in fixed) != figure.of_legs, figure.name
