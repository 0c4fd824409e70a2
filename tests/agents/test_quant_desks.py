"""The desks of the offline quant: formula lists, event order, attribution, structures, deliverables."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

Importer = Callable[[str, str], ModuleType]


def run(program: Importer, module: str, body: dict[str, Any]) -> str | None:
    """Return a module's answer without any tool server."""
    toolbox = program("quant", "mcp_toolbox").Toolbox({})
    answer: str | None = asyncio.run(program("quant", module).answer(body, toolbox))
    return answer


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("a + b * 2 ^ 3", 26.0),
        ("-(a - b) / 2", 0.5),
        ("sqrt(a + b * 5 - 1)", 4.0),
        ("max(a, b, 1)", 3.0),
        ("1e3", 1000.0),
    ],
)
def test_arithmetic_is_evaluated(program: Importer, expression: str, expected: float) -> None:
    assert program("quant", "reading.calculator").evaluate(expression, {"a": 2.0, "b": 3.0}) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').getpid()",
        "a.real",
        "[1][0]",
        "9^9^9^9^9",
        "1/0",
        "log(0)",
        "c",
        "lambda: 1",
        "",
        "(" * 500,
        "'x'",
    ],
)
def test_nothing_but_arithmetic_is_evaluated_and_all_of_it_ends(program: Importer, expression: str) -> None:
    assert program("quant", "reading.calculator").evaluate(expression, {"a": 2.0}) is None


FORMULA_QUESTION = """Answer from the list and the data.

- Stock days = 365 x mean of opening and closing stock / cost of the year
- Coverage = operating profit / interest expense
- Compound annual growth rate = (terminal value / base value)^(1 / number of years) - 1

|Company|Stock 2019 (m)|Stock 2020 (m)|Cost 2019 (m)|Cost 2020 (m)|
|---|---|---|---|---|
|Able|100.00|140.00|700.00|730.00|
|Bold|1,000.00|1,210.00|5.00|6.00|

### User question
"""


@pytest.mark.parametrize(
    ("question", "form", "expected"),
    [
        ("What were the stock days of Able in 2020?", "<number>", 365 * 120 / 730),
        (
            "Assuming that the cost of Able in 2020 had been 20% lower, what were its stock days in 2020?",
            "<number>",
            75,
        ),
        ("What was the compound annual growth rate of the stock of Bold from 2019 to 2020?", "<percentage>", 21.0),
    ],
)
def test_a_listed_formula_is_filled_in_from_the_table(
    program: Importer, question: str, form: str, expected: float
) -> None:
    reply = run(program, "questions.formula_list", {"question": FORMULA_QUESTION + question, "answer_format": form})
    assert reply is not None
    assert float(reply.rsplit("Final answer: ", 1)[1].rstrip("%")) == pytest.approx(expected, rel=1e-4)


def test_a_formula_whose_figures_are_missing_is_not_guessed(program: Importer) -> None:
    question = "What was the coverage of Able in 2020?"
    assert run(program, "questions.formula_list", {"question": FORMULA_QUESTION + question}) is None


def test_events_that_refer_back_come_later(program: Importer) -> None:
    text = (
        "Put the events in order.\n\n1. Shareholders approve the proposed dividend.\n"
        "2. The approved dividend is paid.\n3. A dividend is proposed by a new board."
    )
    assert run(program, "questions.event_order", {"question": text}) == "Final answer: 3,1,2"


def test_profit_is_split_by_the_greeks_and_the_parts_add_up(program: Importer) -> None:
    names = ("total", "delta_pnl", "gamma_pnl", "theta_pnl", "vega_pnl", "unexplained")
    body = {
        "answer_schema": {"properties": {name: {"type": "number"} for name in names}},
        "context": {
            "contracts": 2,
            "before": {"spot": 100.0, "price": 5.0},
            "after": {"spot": 104.0, "price": 7.0},
            "volatility_change_points": -1.0,
            "days_passed": 3,
            "greeks_per_share": {"delta": 0.5, "gamma": 0.02, "theta_per_day": -0.04, "vega_per_point": 0.2},
        },
    }
    parts = json.loads(run(program, "desks.attribution", body) or "{}")
    assert parts["total"] == pytest.approx(400.0)
    assert parts["delta_pnl"] == pytest.approx(400.0)
    assert parts["gamma_pnl"] == pytest.approx(0.5 * 0.02 * 16 * 200)
    assert sum(parts[name] for name in names[1:]) == pytest.approx(parts["total"])


def test_every_iron_condor_is_bought_outside_and_sold_inside_with_equal_wings(program: Importer) -> None:
    position, structures = program("quant", "desks.position"), program("quant", "desks.structures")
    market = position.Underlying(100.0, 0.0, 0.0, 0.2)
    chain = [
        position.Leg(kind, 0.0, strike, 30.0, 1.0)
        for strike in (80.0, 90.0, 95.0, 105.0, 110.0, 120.0)
        for kind in ("call", "put")
    ]
    found = list(structures.iron_condors(chain, 3, market))
    assert found
    for low, high, near, far in found:
        assert (low.quantity, high.quantity, near.quantity, far.quantity) == (3, -3, -3, 3)
        assert low.strike < high.strike < 100.0 < near.strike < far.strike
        assert high.strike - low.strike == far.strike - near.strike


def test_profit_range_and_credit_of_a_vertical_spread(program: Importer) -> None:
    position, structures = program("quant", "desks.position"), program("quant", "desks.structures")
    bought = position.Leg("call", 1.0, 100.0, 30.0, 8.0)
    sold = replace(bought, quantity=-1.0, strike=110.0, price=3.0)
    assert structures.payoff_range([bought, sold]) == (-500.0, 500.0)
    assert structures.credit([bought, sold]) == -500.0


ASSIGNMENT = """Prepare the schedule.

Deliverables
1. `plan.csv`: comma-separated, these columns: `month` is the number of the payment; `interest` is the interest (2 \
decimals); `closing_balance` is the balance after it (2 decimals). Numbers are plain.
2. `note.md`: a memo. It opens with `To: Credit Desk`, `From: Analyst`, `Date: 2024-01-02` and `Subject: ...` (naming \
Alder loan), followed by the sections `## Summary`, `## Key figures`, `## Assumptions`, `## Conclusion`. Key figures \
holds one line `- Label: value` for each of: Level payment (a month; regular); Interest saved (against no extra). \
The conclusion states **PREPAY** or **KEEP**: PREPAY if the interest saved exceeds the prepayment fee, else KEEP.
"""
LOAN = {
    "principal": 1000.0,
    "annual_rate": 0.12,
    "months": 10,
    "extra_payment": 300.0,
    "extra_payment_month": 2,
    "prepayment_fee": 5.0,
}


def test_an_assignment_is_handed_in_in_the_form_that_it_describes(program: Importer) -> None:
    reply = json.loads(run(program, "assignments.reply", {"question": ASSIGNMENT, "context": {"loan": LOAN}}) or "{}")
    table, memo = (entry["content"] for entry in reply["deliverables"])
    assert [entry["name"] for entry in reply["deliverables"]] == ["plan.csv", "note.md"]
    lines = table.splitlines()
    assert lines[0] == "month,interest,closing_balance"
    # 1% of 1,000; the level payment of 1,000 over 10 months at 1% is 105.58
    assert lines[1] == "1,10.00,904.42" and lines[-1].endswith(",0.00")
    assert memo.startswith("To: Credit Desk\nFrom: Analyst\nDate: 2024-01-02\nSubject: Alder loan\n")
    assert "- Level payment: 105.58" in memo and "- Interest saved: " in memo
    assert "## Conclusion\nPREPAY." in memo


def test_the_conclusion_follows_the_rule(program: Importer) -> None:
    loan = LOAN | {"prepayment_fee": 500.0}
    reply = json.loads(run(program, "assignments.reply", {"question": ASSIGNMENT, "context": {"loan": loan}}) or "{}")
    assert "## Conclusion\nKEEP." in reply["deliverables"][1]["content"]


def test_an_assignment_without_a_desk_for_it_is_left_alone(program: Importer) -> None:
    assert run(program, "assignments.reply", {"question": ASSIGNMENT, "context": {"ships": 3}}) is None


def test_a_flat_ladder_at_its_coupon_is_worth_par(program: Importer) -> None:
    bonds = [{"face": 100, "coupon": 0.05, "years": year, "maturity": f"20{year}0-01-01"} for year in (1, 2, 3)]
    desk = program("quant", "assignments.fixed_income")
    work = asyncio.run(desk.bond_ladder({"bonds": bonds, "flat_yield": 0.05}, None))
    assert work.figures["Present value"] == pytest.approx(300.0)


def test_rebalancing_trades_down_to_whole_shares(program: Importer) -> None:
    lines = [
        {"ticker": "A", "shares": 10, "price": 30.0, "target_weight": 0.5},
        {"ticker": "B", "shares": 0, "price": 7.0, "target_weight": 0.4},
    ]
    context = {"holdings": lines, "cash": 100.0, "fee_bps": 10}
    work = asyncio.run(program("quant", "assignments.portfolio").rebalancing(context, None))
    assert work.columns["trade_shares"] == [-4, 22]
    assert work.figures["Cash after trading"] == pytest.approx(100.0 + 120.0 - 154.0 - 0.274)


def test_the_declared_strategy_is_one_that_the_crypto_dataset_reads(program: Importer) -> None:
    from evaluators.crypto.strategy_rules import SCHEMA, read_strategy

    reply = run(program, "desks.declared_strategy", {"answer_schema": SCHEMA})
    assert reply is not None
    assert len(read_strategy(json.loads(reply)).indicators) == 3
