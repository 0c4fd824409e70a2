"""Every figure of the bank by a second route: cash flows, root finding, replication, simulation, QuantLib."""

from __future__ import annotations

import pytest

from evaluators.synthetic.bank import BANK, MOVED, PUBLISHED
from evaluators.synthetic.dataset import DATASET
from evaluators.synthetic.template import close, given_away, numbers_in
from tests.evaluators.synthetic.played import problem_of
from tests.evaluators.synthetic.second_routes.by_name import ROUTES

CORRECTED = {
    1: 134_661_000_000,
    3: 0.20,
    4: 5_500_000,
    5: 0.68 / 1.2,
    6: 0.375,
    7: 0.40,
    8: 1106.6666667,
    9: 2 / 3,
    10: -1 / 6,
    11: 53.0,
    12: 0.112,
    13: 3_000_000,
    14: 50 / 3,
    15: 105.0,
    16: 4 / 7,
    17: -1.633204,
    18: 0.095,
    19: 77.096988,
    20: 1272.727273,
}
"""Design page on scoring, section 5, and Appendix D of the paper where it is right."""

WRONG_IN_PRINT = {5, 8, 17, 18, 19, 20}


@pytest.mark.parametrize("template", BANK, ids=lambda template: template.name)
def test_every_figure_is_the_same_by_a_second_route(template):
    second_route = ROUTES[template.name]
    for values in (template.printed_values(), *(values for values, _ in template.probes)):
        truth, check = template.truth(values), second_route(values)
        for figure in (*template.steps, template.answer):
            assert truth[figure.name] == pytest.approx(check[figure.name], rel=1e-7), (figure.name, values)


@pytest.mark.parametrize("template", PUBLISHED, ids=lambda template: template.name)
def test_the_printed_inputs_lead_to_the_corrected_figures(template):
    truth = template.truth(template.printed_values())[template.answer.name]
    assert truth == pytest.approx(CORRECTED[template.number], rel=1e-6)
    printed_is_wrong = not close(truth, template.printed[0])
    assert printed_is_wrong == (template.number in WRONG_IN_PRINT)
    assert bool(template.correction) >= printed_is_wrong


def test_the_whole_published_bank_is_here_or_accounted_for():
    assert {template.number for template in PUBLISHED} | set(MOVED) == set(range(1, 21))
    assert len({template.name for template in BANK}) == len(BANK) == 44


def test_premises_that_the_printed_bond_question_contradicts_hold_in_every_drawn_one():
    template = next(t for t in BANK if t.name == "bond_replication")
    printed = template.truth(template.printed_values())
    assert printed["annuity_factor"] == pytest.approx(16 / 3)
    for values, _ in template.probes:
        truth = template.truth(values)
        zero = values["zero_price"] / values["face"]
        assert zero * values["years"] < truth["annuity_factor"] < values["years"]


def test_no_drawn_question_contains_or_invites_a_figure_that_is_asked_for():
    for case in DATASET.draw(seed=5, count=264, options={}):
        problem = problem_of(case)
        answer = problem.truth[problem.template.answer.name]
        figures = [(figure, problem.truth[figure.name]) for figure in (*problem.steps, problem.template.answer)]
        assert given_away(figures, numbers_in(case.task.question)) == [], case.task.task_id
        for wrong in problem.template.wrong_answers(problem.values).values():
            assert not close(wrong, answer, 0.0119)
