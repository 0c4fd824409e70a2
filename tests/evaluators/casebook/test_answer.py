"""What a turn of the casebook asks for and what a reply to it is worth, by hand and by scipy."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from evaluators.casebook import answer
from evaluators.casebook.answer import Figure, Forecast, Verdict

TRUE = Forecast("f", "f", mean=100.0, deviation=4.0, naive=92.0)


@pytest.mark.parametrize(
    ("mean", "deviation", "least", "most"),
    [
        (100.0, 4.0, 1.0, 1.0),
        (101.0, 4.0, 0.85, 0.999),
        (100.0, 8.0, 0.3, 0.95),
        (100.0, 0.4, 0.1, 0.9),
        (96.0, 4.0, 0.0, 0.5),
        (92.0, 4.0, 0.0, 0.0),
        (92.0, 9.0, 0.0, 0.02),
        (92.0, 0.1, 0.0, 0.0),
        (100.0, 0.0, 0.0, 0.0),
        (100.0, -4.0, 0.0, 0.0),
        (100.0, 1e9, 0.0, 0.0),
        (1e300, 1e300, 0.0, 0.0),
    ],
)
def test_a_forecast_earns_most_where_it_is_true_and_nothing_where_it_is_the_last_value(
    mean: float, deviation: float, least: float, most: float
) -> None:
    assert least <= TRUE.credit(mean, deviation) <= most


def test_the_score_of_a_forecast_is_the_expected_one() -> None:
    """The continuous ranked probability score by its integral, averaged over outcomes of the true law."""
    grid = np.linspace(40, 160, 6_001)
    stated = stats.norm.cdf(grid, 103, 6)
    outcomes = stats.norm.ppf((np.arange(400) + 0.5) / 400, 100, 4)
    scores = [np.trapezoid((stated - (grid >= outcome)) ** 2, grid) for outcome in outcomes]
    assert TRUE.expected_score(103, 6) == pytest.approx(np.mean(scores), rel=2e-3)


FIGURES = (Figure("a", "a", 40.0), Figure("b", "b", -3.0, floor=0.5), Verdict("c", "c", ("up",), ("up", "down")))


@pytest.mark.parametrize(
    ("reply", "credited"),
    [
        ({"a": 40.15, "b": -3.4, "c": "UP "}, 3),
        ({"a": 40.15, "b": 3.0, "c": "up"}, 1),
        ({"a": 40.3, "b": -3, "c": "up"}, 1),
        ({"a": 40.0, "b": -3.0, "c": "down"}, 2),
        ({"a": "40", "b": True, "c": "up"}, 0),
        ({"c": "up"}, 0),
    ],
)
def test_a_word_counts_beside_figures_that_are_all_right(reply: dict[str, object], credited: int) -> None:
    assert answer.mark(FIGURES, json.dumps(reply))[0] == credited


def test_a_set_of_labels_is_right_as_a_whole_in_any_order() -> None:
    labels = Verdict("d", "d", ("A", "C"), ("A", "B", "C"), several=True)
    assert labels.is_right(["C", "a"]) and not labels.is_right(["A"]) and not labels.is_right(["A", "C", "C"])
    assert not labels.is_right("A") and not labels.is_right(None) and not labels.is_right([["A"], "C"])
    assert Verdict("d", "d", (), ("A",), several=True).is_right([])


def by_scipy(mean: float, deviation: float, true: Forecast = TRUE) -> float:
    """E|X - Y| - E|X - X'| / 2 of X, X' as stated and Y true (Gneiting and Raftery 2007, eq. 21), by quadrature."""

    def distance(apart: float, spread: float) -> float:
        low, high = apart - 12 * spread, apart + 12 * spread
        bounds = (point for point in (0.0,) if low < point < high)
        return float(
            integrate.quad(lambda z: abs(z) * stats.norm.pdf(z, apart, spread), low, high, points=[*bounds])[0]
        )

    return distance(mean - true.mean, math.hypot(deviation, true.deviation)) - distance(0.0, deviation * 2**0.5) / 2


@pytest.mark.parametrize(("mean", "deviation"), [(100.0, 4.0), (103.0, 6.0), (92.0, 2.0), (97.0, 5.0)])
def test_the_score_of_a_forecast_is_that_of_quadrature(mean: float, deviation: float) -> None:
    assert TRUE.expected_score(mean, deviation) == pytest.approx(by_scipy(mean, deviation), rel=1e-9)


@pytest.mark.parametrize("true", [TRUE, Forecast("f", "f", mean=5.0, deviation=4.0, naive=-4.0)])
def test_the_credit_of_a_forecast_is_its_way_from_the_best_around_the_last_value_to_the_truth(true: Forecast) -> None:
    worst = optimize.minimize_scalar(
        lambda wide: by_scipy(true.naive, wide, true), bounds=(0.1, 40.0), method="bounded"
    )
    best = by_scipy(true.mean, 4.0, true)
    for apart, deviation in ((-1.0, 5.0), (1.5, 4.0), (0.0, 6.5)):
        way = (worst.fun - by_scipy(true.mean + apart, deviation, true)) / (worst.fun - best)
        assert 0.5 < way < 1.0
        # what lies in the second half of the way counts, on 0 to 1
        assert true.credit(true.mean + apart, deviation) == pytest.approx(2 * way - 1, rel=1e-6)


@pytest.mark.parametrize("stated", [(math.inf, 4.0), (math.nan, 4.0), (100.0, math.inf), (100.0, math.nan)])
def test_a_forecast_without_finite_numbers_earns_nothing(stated: tuple[float, float]) -> None:
    assert TRUE.credit(*stated) == 0.0


def test_a_last_value_three_quarters_of_a_deviation_away_is_too_near() -> None:
    for naive, clear in ((97.0, False), (96.9, True), (103.0, False), (103.1, True)):
        assert Forecast("f", "f", 100.0, 4.0, naive).is_clear_of_naive() is clear


def test_a_figure_is_right_within_half_a_percent_or_its_floor() -> None:
    plain, floored, chance = (
        Figure("a", "a", -40.0),
        Figure("b", "b", 3.0, floor=0.5),
        Figure.of_probability("p", "p", 40.0),
    )
    assert (plain.margin, floored.margin, chance.margin) == pytest.approx((0.2, 0.5, 0.25))
    assert [plain.is_right(value) for value in (-40.2, -39.8, -40.21, -39.79, 40.0)] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert [floored.is_right(value) for value in (3.5, 2.5, 3.51)] == [True, True, False]
    # of a probability a quarter of a point, whatever its size
    assert [chance.is_right(value) for value in (40.25, 39.75, 40.26)] == [True, True, False]


def test_a_gold_of_six_floors_is_too_near_to_nothing() -> None:
    found = [Figure("a", "a", gold, floor=0.5).is_clear_of_zero() for gold in (3.0, 3.01, -3.01, 0.0)]
    assert found == [False, True, True, False]
    assert not Figure("a", "a", 1e-9).is_clear_of_zero() and Figure("a", "a", 2e-9).is_clear_of_zero()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (Figure("a", "the gain", 5.0), "the gain; a JSON number, right within 0.5% of its value"),
        (
            Figure("a", "the gain", 5.0, floor=0.1),
            "the gain; a JSON number, right within 0.5% of its value or 0.1, whichever is wider",
        ),
        (Figure.of_probability("a", "the chance", 5.0), "the chance; a JSON number, right within 0.25"),
        (Figure("a", "the gain", 5.0, tolerance=0.02), "the gain; a JSON number, right within 2% of its value"),
        (Verdict("a", "the turn", ("up",), ("up", "down")), 'the turn; one of "up", "down"'),
        (Verdict("a", "turns", ("up",), ("up", "down"), several=True), 'turns; a JSON array of any of "up", "down"'),
    ],
)
def test_what_is_asked_says_what_is_near_enough(asked: answer.Asked, told: str) -> None:
    assert asked.describe() == told


def test_the_schema_says_what_is_wanted() -> None:
    asked = (*FIGURES, Verdict("d", "d", ("A",), ("A", "B"), several=True), TRUE)
    schema = answer.answer_schema(asked)
    assert schema["required"] == ["a", "b", "c", "d", "f"]
    assert schema["properties"] == {
        "a": {"type": "number", "description": "a"},
        "b": {"type": "number", "description": "b"},
        "c": {"type": "string", "enum": ["up", "down"], "description": "c"},
        "d": {"type": "array", "items": {"type": "string", "enum": ["A", "B"]}},
        "f": {
            "type": "object", "properties": {"mean": {"type": "number"}, "deviation": {"type": "number"}},
            "required": ["mean", "deviation"],
        },
    }  # fmt: skip
    told = answer.answer_format(asked)
    assert told.endswith("Each key is worth the same. Words count only beside figures that are all right.")
    assert answer.answer_format(FIGURES[:2]).endswith("Each key is worth the same.")


def test_the_perfect_reply_earns_every_key() -> None:
    asked = (Figure("a", "a", 1.23456789012), Verdict("d", "d", ("B", "A"), ("A", "B"), several=True), TRUE, FIGURES[2])
    perfect = answer.perfect_reply(asked)
    assert json.loads(perfect) == {
        "a": 1.2345679, "d": ["B", "A"], "f": {"mean": 100.0, "deviation": 4.0}, "c": "up"
    }  # fmt: skip
    credited, notes = answer.mark(asked, perfect)
    assert credited == 4.0 and all(note["right"] is True for note in notes.values())


def test_a_note_tells_what_was_given_and_what_was_wrong_with_it() -> None:
    asked = (FIGURES[0], TRUE, FIGURES[2])
    _, notes = answer.mark(asked, json.dumps({"a": "40", "f": {"mean": 100.0}, "c": "down"}))
    assert notes["a"] == {"right": False, "expected": 40.0, "note": 'a: must be a JSON number, got "40"'}
    assert notes["f"]["note"] == "deviation: missing"
    assert notes["c"] == {"right": False, "expected": "up", "given": '"down"'}
    _, notes = answer.mark(asked, json.dumps({"a": 41, "f": [100, 4], "c": "up"}))
    assert notes["a"] == {"right": False, "expected": 40.0, "given": 41.0} and notes["f"]["note"] == "mean: missing"
    credited, notes = answer.mark(asked, "40, up")
    assert credited == 0.0 and {note["note"] for note in notes.values()} == {"the reply holds no JSON object"}


def test_a_forecast_counts_by_its_credit_and_is_right_from_nine_tenths_on() -> None:
    """Between 101 and 102 the credit passes 0.9."""
    rights = []
    for mean in (100.0, 101.0, 102.0, 104.0):
        credited, notes = answer.mark(
            (TRUE, FIGURES[2]), json.dumps({"f": {"mean": mean, "deviation": 4.0}, "c": "up"})
        )
        rights.append(notes["f"]["right"])
        assert notes["f"]["credit"] == TRUE.credit(mean, 4.0)
        # the word counts beside a forecast that is right
        assert credited == pytest.approx(TRUE.credit(mean, 4.0) + (mean < 102.0))
        assert (TRUE.credit(mean, 4.0) >= 0.9) is (mean < 102.0)
    assert rights == [True, True, False, False]
