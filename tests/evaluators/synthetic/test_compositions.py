"""Questions of two or three templates: what feeds what, stated here in words, and the second route of the whole."""

from __future__ import annotations

import itertools
import random

import pytest

from evaluators.synthetic import composition
from evaluators.synthetic.bank import BANK
from evaluators.synthetic.dataset import DATASET
from evaluators.synthetic.template import Figure, Input
from tests.evaluators.synthetic.played import problem_of
from tests.evaluators.synthetic.second_routes.by_name import ROUTES
from tests.evaluators.synthetic.second_routes.root import Values

MEANT: dict[str, dict[str, str]] = {
    # an input of the second, and which figure or input of the first it is in the firm, the market or the contract
    "ebitda>enterprise_multiple": {"EBITDA": "EBITDA"},
    "free_cash_flow>two_stage_value": {"free cash flow of the past year": "free cash flow to the firm"},
    "relevered_beta>capm": {"beta of the share": "equity beta of the firm"},
    "relevered_beta>jensen_alpha": {"beta of the portfolio": "equity beta of the firm"},
    "relevered_beta>beta_adjustment": {"beta of X": "equity beta of the firm"},
    "capm>gordon_growth": {"required return": "return required of the share"},
    "capm>wacc": {"cost of equity": "return required of the share"},
    "capm>levered_volatility": {"expected return of the stock": "return required of the share"},
    "wacc>two_stage_value": {"cost of capital": "weighted average cost of capital after tax"},
    "wacc>economic_value_added": {"cost of capital": "weighted average cost of capital after tax"},
    "levered_roe>sustainable_growth": {"return on equity": "return on equity"},
    "sustainable_growth>gordon_growth": {"growth of the dividend": "sustainable growth rate"},
    "gordon_growth>rights_issue": {"price with the right attached": "value of the share today"},
    "gordon_growth>stock_split": {"price before the split": "value of the share today"},
    "gordon_growth>homemade_leverage": {"price of a share of the unlevered firm": "value of the share today"},
    "rights_issue>stock_split": {"price before the split": "theoretical price without the right"},
    "breakeven>operating_leverage": {
        "units sold a year": "units to be sold",
        "price of a unit": "price of a unit",
        "variable cost of a unit": "variable cost of a unit",
        "fixed operating costs a year": "fixed costs a year",
    },
    "operating_leverage>combined_leverage": {"degree of operating leverage": "degree of operating leverage"},
    "financial_leverage>combined_leverage": {"degree of financial leverage": "degree of financial leverage"},
    "cash_conversion>cycle_financing": {"days until the money is back": "cash conversion cycle in days"},
    "effective_rate>present_value": {"yearly rate": "effective annual rate"},
    "effective_rate>perpetuity_repricing": {"market rate after": "effective annual rate"},
    # two contracts in continuous time, two in years
    "effective_rate>put_call_parity": {
        "riskless rate, continuously compounded": "the same with continuous compounding"
    },
    "effective_rate>futures_mispricing": {
        "riskless rate, continuously compounded": "the same with continuous compounding"
    },
    "effective_rate>forward_parity": {"yearly dollar rate": "effective annual rate"},
    "effective_rate>covered_interest": {"yearly dollar rate": "effective annual rate"},
    "npv_crossover>present_value": {"yearly rate": "the discount rate of equal net present value"},
    "rate_swap>lease_or_buy": {"borrowing rate before tax": "fixed rate that Y pays in the end"},
    "rate_swap>wacc": {"cost of debt before tax": "fixed rate that Y pays in the end"},
    "rate_swap>loan_payment": {"nominal yearly rate": "fixed rate that Y pays in the end"},
    "forward_rate>fra_settlement": {"agreed rate": "forward rate a year"},
    "bond_convexity>duration_convexity": {
        "price of the bond": "price of the bond",
        "modified duration": "modified duration",
        "convexity": "convexity",
    },
    "bond_convexity>duration_match": {"duration of the shorter bond in years": "modified duration"},
    "bond_replication>duration_convexity": {"price of the bond": "price of the bond"},
    # the call that is valued is struck at today's price, so it is the bought one
    "risk_neutral_probability>bull_call_spread": {
        "premium paid per share": "value today of a one-period call struck at today's stock price",
        "strike of the call bought": "stock price",
    },
    "levered_volatility>m_squared": {
        "volatility of the fund": "standard deviation of the portfolio",
        "return of the fund": "target expected return",
        "riskless rate": "riskless rate",
    },
    "jensen_alpha>information_ratio": {
        "alpha of the fund a year": "Jensen's alpha, with its sign",
        "beta of the fund": "beta of the portfolio",
    },
}
SAME_FOR_ALL = {"tax_rate", "riskless_rate"}
"""A firm has one tax rate and a market one riskless rate, whatever else is asked of them."""
TEMPLATES = {template.name: template for template in BANK}


def of_meaning(name: str) -> dict[str, Input | Figure]:
    """Return what a template is told and asked, by what each is called there."""
    template = TEMPLATES[name]
    return {each.meaning: each for each in (*template.inputs, *template.steps, template.answer)}


def feeds(first: str, second: str) -> dict[str, str]:
    """Return the inputs of the second template beside the figure or input of the first that they are."""
    meant = MEANT.get(f"{first}>{second}", {})
    return {of_meaning(second)[fed].name: of_meaning(first)[by].name for fed, by in meant.items()}


def test_every_link_is_stated_and_joins_what_is_of_one_unit() -> None:
    assert [f"{first}>{second}" for first, second, _ in composition.LINKS] == list(MEANT)
    for link, meant in MEANT.items():
        first, second = link.split(">")
        for fed, by in meant.items():
            assert of_meaning(second)[fed].unit == of_meaning(first)[by].unit, link


@pytest.mark.parametrize("template", BANK, ids=lambda template: template.name)
def test_a_question_of_several_templates_is_the_second_route_of_each_after_the_other(template):
    rng = random.Random(template.name)
    for whole in composition.compositions(template.name):
        values = whole.template.draw(rng)
        truth = {**values, **whole.template.truth(values)}
        known: Values = {}
        before = ""
        prefix = "".join(f"{part.template.name}_" for part in whole.parts[::-1][1:])
        for part in whole.parts:
            # an input is told, fed by the template before, or the same as there
            own = {name: values[there] for name, there in part.names.items()}
            own |= {name: known[figure] for name, figure in feeds(before, part.template.name).items()}
            same = {item.name for item in part.template.inputs} - own.keys()
            assert same <= SAME_FOR_ALL, whole.template.name
            own |= {name: known[name] for name in same}
            known = own | ROUTES[part.template.name](own)
            for figure in (*part.template.steps, part.template.answer):
                names = [name for name in (f"{prefix}{figure.name}", figure.name) if name in truth]
                assert truth[names[0]] == pytest.approx(known[figure.name], rel=1e-6), (whole.template.name, figure)
            before = part.template.name
            prefix = prefix[: -len(before) - 1]


def test_an_expert_question_tells_what_every_input_is_that_it_gives_no_figure_of() -> None:
    seen = set()
    for case in DATASET.draw(seed=3, count=132, options={"difficulties": ["expert"]}):
        for first, second in itertools.pairwise(problem_of(case).template.name.split(">")):
            seen.add(f"{first}>{second}")
            for by in MEANT[f"{first}>{second}"].values():
                assert f"the {by}" in case.task.question, (case.task.task_id, by)
    assert len(seen) > len(MEANT) / 2
