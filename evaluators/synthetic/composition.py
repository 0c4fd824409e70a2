"""Questions made of two or three templates: a figure of one is an input of the next."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluators.synthetic.bank import BANK
from evaluators.synthetic.expression import FUNCTIONS
from evaluators.synthetic.template import Template

LINKS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("ebitda", "enterprise_multiple", {"ebitda": "ebitda"}),
    ("free_cash_flow", "two_stage_value", {"cash_flow": "free_cash_flow"}),
    ("relevered_beta", "capm", {"beta": "new_beta"}),
    ("relevered_beta", "jensen_alpha", {"beta": "new_beta"}),
    ("relevered_beta", "beta_adjustment", {"beta_x": "new_beta"}),
    ("capm", "gordon_growth", {"required_return": "required_return"}),
    ("capm", "wacc", {"cost_of_equity": "required_return"}),
    ("capm", "levered_volatility", {"expected_return": "required_return"}),
    ("wacc", "two_stage_value", {"discount_rate": "wacc"}),
    ("wacc", "economic_value_added", {"cost_of_capital": "wacc"}),
    ("levered_roe", "sustainable_growth", {"return_on_equity": "roe"}),
    ("sustainable_growth", "gordon_growth", {"growth_rate": "growth"}),
    ("gordon_growth", "rights_issue", {"share_price": "value"}),
    ("gordon_growth", "stock_split", {"share_price": "value"}),
    ("gordon_growth", "homemade_leverage", {"share_price": "value"}),
    ("rights_issue", "stock_split", {"share_price": "ex_rights_price"}),
    (
        "breakeven",
        "operating_leverage",
        {"units": "units", "price": "price", "variable_cost": "variable_cost", "fixed_costs": "fixed_costs"},
    ),
    ("operating_leverage", "combined_leverage", {"operating_leverage": "dol"}),
    ("financial_leverage", "combined_leverage", {"financial_leverage": "dfl"}),
    ("cash_conversion", "cycle_financing", {"cycle_days": "cycle"}),
    ("effective_rate", "present_value", {"rate": "effective_rate"}),
    ("effective_rate", "perpetuity_repricing", {"new_rate": "effective_rate"}),
    ("effective_rate", "put_call_parity", {"riskless_rate": "continuous_rate"}),
    ("effective_rate", "futures_mispricing", {"riskless_rate": "continuous_rate"}),
    ("effective_rate", "forward_parity", {"usd_rate": "effective_rate"}),
    ("effective_rate", "covered_interest", {"usd_rate": "effective_rate"}),
    ("npv_crossover", "present_value", {"rate": "crossover_rate"}),
    ("rate_swap", "lease_or_buy", {"borrowing_rate": "fixed_rate_y"}),
    ("rate_swap", "wacc", {"cost_of_debt": "fixed_rate_y"}),
    ("rate_swap", "loan_payment", {"nominal_rate": "fixed_rate_y"}),
    ("forward_rate", "fra_settlement", {"contract_rate": "forward"}),
    (
        "bond_convexity",
        "duration_convexity",
        {"price": "price", "modified_duration": "modified_duration", "convexity": "convexity"},
    ),
    ("bond_convexity", "duration_match", {"duration_a": "modified_duration"}),
    ("bond_replication", "duration_convexity", {"price": "price"}),
    ("risk_neutral_probability", "bull_call_spread", {"premium_bought": "call_value", "strike_low": "spot"}),
    (
        "levered_volatility",
        "m_squared",
        {
            "portfolio_volatility": "standard_deviation",
            "portfolio_return": "target_return",
            "riskless_rate": "riskless_rate",
        },
    ),
    ("jensen_alpha", "information_ratio", {"alpha": "alpha", "beta": "beta"}),
)
"""What may feed what: template, next template, and the input of the next beside the figure or input that it is."""

SHARED = frozenset({"tax_rate", "riskless_rate"})
"""Inputs that are one and the same where two templates of a question have them."""

SLACK = 0.25
"""How far, relatively, a computed input may lie outside the range it is drawn from elsewhere."""

_BY_NAME = {template.name: template for template in BANK}
_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Part:
    """One template within a question.

    Attributes
    ----------
    template
        As it stands alone.
    names
        Its inputs that the text tells here, and what the whole calls them.
    fed
        Its inputs that the text does not tell, and what they are.
    """

    template: Template
    names: Mapping[str, str]
    fed: Mapping[str, str]


@dataclass(frozen=True)
class Composition:
    """A question of several templates as one template, and its parts in the order of computation."""

    template: Template
    parts: tuple[Part, ...]


def compositions(name: str) -> tuple[Composition, ...]:
    """Return the questions of two or three templates with the one of this name in them."""
    return _compositions()[name]


def draw(rng: random.Random, name: str) -> Composition:
    """Return one composition with the template in it."""
    return rng.choice(compositions(name))


@functools.cache
def _compositions() -> Mapping[str, tuple[Composition, ...]]:
    found: dict[str, list[Composition]] = {template.name: [] for template in BANK}
    for first, second, feeds in LINKS:
        pair = _join(_alone(first), _BY_NAME[second], feeds)
        triples = [_join(pair, _BY_NAME[then], more) for start, then, more in LINKS if start == second]
        for whole in (pair, *triples):
            for part in whole.parts:
                found[part.template.name].append(whole)
    return {name: tuple(wholes) for name, wholes in found.items()}


def _alone(name: str) -> Composition:
    template = _BY_NAME[name]
    return Composition(template, (Part(template, {item.name: item.name for item in template.inputs}, {}),))


def _join(before: Composition, after: Template, feeds: Mapping[str, str]) -> Composition:
    """Return ``after`` with some inputs taken from ``before``, whose names get a prefix unless they are shared."""
    up = before.template
    own = {item.name for item in after.inputs} - feeds.keys()
    shared = {item.name for item in up.inputs} & own & SHARED
    last = before.parts[-1].template.name
    new = {name: name if name in shared else f"{last}_{name}" for name in (*(i.name for i in up.inputs), *up.formulas)}
    needed = frozenset[str]().union(*(up.needed(figure) for figure in feeds.values()))
    ranges = {item.name: (float(item.low), float(item.high)) for item in after.inputs if item.name in feeds}
    whole = Template(
        name=f"{up.name}>{after.name}",
        number=0,
        topic=after.topic,
        wording="",
        inputs=(
            *(replace(item, name=new[item.name]) for item in up.inputs if item.name not in shared),
            *(item for item in after.inputs if item.name not in feeds),
        ),
        definitions={
            **{new[name]: _renamed(source, new) for name, source in up.definitions.items()},
            **{name: new[figure] for name, figure in feeds.items()},
            **after.definitions,
        },
        steps=(
            *(replace(figure, name=new[figure.name]) for figure in (*up.steps, up.answer) if figure.name in needed),
            *after.steps,
        ),
        answer=after.answer,
        positive=(
            *(_renamed(source, new) for source in up.positive),
            *(f"{name} - {low - SLACK * abs(low):.10f}" for name, (low, _) in ranges.items()),
            *(f"{high + SLACK * abs(high):.10f} - {name}" for name, (_, high) in ranges.items()),
            *after.positive,
        ),
        pitfalls=after.pitfalls,
    )
    feeding = before.parts[-1].template
    meanings = {item.name: item.meaning for item in feeding.inputs}
    meanings |= {figure.name: figure.meaning for figure in (*feeding.steps, feeding.answer)}
    parts = (
        *(replace(part, names={here: new[there] for here, there in part.names.items()}) for part in before.parts),
        Part(
            after,
            {item.name: item.name for item in after.inputs if item.name in own - shared},
            {name: meanings[figure] for name, figure in feeds.items()},
        ),
    )
    return Composition(whole, parts)


def _renamed(source: str, names: Mapping[str, str]) -> str:
    return _NAME.sub(lambda match: match[0] if match[0] in FUNCTIONS else names.get(match[0], match[0]), source)
