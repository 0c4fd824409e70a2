"""Every assignment is solved again from its inputs by other code; the marks are taken apart one by one."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from evaluators.answers import StatedNumber, read_number
from evaluators.contract import Case, Score, SingleTurn
from evaluators.professional.dataset import DATASET, TEMPLATES
from evaluators.professional.deliverables import read_deliverables
from evaluators.professional.marks import DIMENSIONS, Mark, gate, total, verdict
from lake import sample

Inputs = dict[str, Any]
Rows = dict[str, dict[str, float]]
Figures = dict[str, float]


def drawn(name: str, count: int = 4) -> list[Case]:
    return list(DATASET.draw(seed=21, count=count, options={"task_types": [name]}))


def files(case: Case) -> dict[str, str]:
    return {entry["name"]: entry["content"] for entry in json.loads(case.open().oracle())["deliverables"]}


def inputs_of(case: Case) -> Inputs:
    """What the figures follow from, which is told in the text and never sent by name."""
    session = case.open()
    assert isinstance(session, SingleTurn)
    return dict(session.judge.__self__.inputs)


def rows(case: Case) -> Rows:
    (name,) = [name for name in files(case) if name.endswith(".csv")]
    table = list(csv.DictReader(io.StringIO(files(case)[name])))
    key = next(iter(table[0]))
    return {row[key]: {column: float(cell) for column, cell in row.items() if column != key} for row in table}


def figures(case: Case) -> Figures:
    found = {}
    for label, text in re.findall(r"(?m)^- ([^:]+): (.+)$", files(case)["memo.md"]):
        kind = "currency" if "$" in text else "percent" if "%" in text else "number"
        stated = read_number(text, kind=kind)
        assert isinstance(stated, StatedNumber), text
        found[label] = stated.value
    return found


def conclusion(case: Case) -> str:
    return files(case)["memo.md"].split("## Conclusion\n")[1].split(".")[0]


def hand_in(case: Case, contents: dict[str, str]) -> Score:
    session = case.open()
    session.reply(json.dumps({"deliverables": [{"name": n, "content": c} for n, c in contents.items()]}))
    return session.score()


def check_loan(case: Case, inputs: Inputs) -> None:
    loan, table, stated = inputs["loan"], rows(case), figures(case)
    rate, balance = loan["annual_rate"] / 12, loan["principal"]
    payment = stated["Level payment"]
    assert payment == pytest.approx(
        loan["principal"] / sum((1 + rate) ** -k for k in range(1, loan["months"] + 1)), abs=0.005
    )
    for month, row in table.items():
        assert row["interest"] == pytest.approx(balance * rate, abs=0.0051)
        extra = loan["extra_payment"] if int(month) == loan["extra_payment_month"] else 0.0
        if balance > payment + extra:
            assert row["principal"] == pytest.approx(payment - row["interest"] + extra, abs=1e-6)
        balance -= row["principal"]
        assert row["closing_balance"] == pytest.approx(balance, abs=1e-4)
    assert balance == pytest.approx(0.0, abs=1e-4)
    interest = sum(row["interest"] for row in table.values())
    plain = payment * loan["months"] - loan["principal"]
    assert stated["Total interest"] == pytest.approx(interest, abs=0.01)
    assert stated["Interest saved"] == pytest.approx(plain - interest, abs=1.0)
    assert stated["Number of payments"] == len(table) < loan["months"]
    assert conclusion(case) == ("PREPAY" if stated["Interest saved"] > loan["prepayment_fee"] else "KEEP")


def check_bonds(case: Case, inputs: Inputs) -> None:
    rate, stated, table = inputs["flat_yield"], figures(case), rows(case)
    value = weighted = 0.0
    for bond in inputs["bonds"]:
        years = np.arange(1, bond["years"] + 1)
        flows = np.full(bond["years"], bond["face"] * bond["coupon"])
        flows[-1] += bond["face"]
        value += float(np.sum(flows * (1 + rate) ** -years))
        weighted += float(np.sum(years * flows * (1 + rate) ** -years))
    assert stated["Present value"] == pytest.approx(value, abs=0.01)
    assert stated["Macaulay duration"] == pytest.approx(weighted / value, rel=1e-4)
    assert sum(row["present_value"] for row in table.values()) == pytest.approx(value, abs=0.1)
    bumped = sum((row["cash_flow"]) * (1 + rate + 1e-6) ** -k for k, row in enumerate(table.values(), start=1))
    slope = (bumped - value) / 1e-6
    assert stated["Value change"] == pytest.approx(slope * 0.005, rel=2e-3)
    assert list(table) == sorted(table) and all(date.fromisoformat(day) for day in table)
    longer = weighted / value > inputs["target_duration_years"]
    assert conclusion(case) == ("LONGER" if longer else "SHORTER")


def check_rebalancing(case: Case, inputs: Inputs) -> None:
    table, stated = rows(case), figures(case)
    frame = pd.DataFrame(inputs["holdings"]).set_index("ticker")
    nav = inputs["cash"] + float((frame.shares * frame.price).sum())
    after = frame.shares + pd.Series({ticker: row["trade_shares"] for ticker, row in table.items()})
    gap = frame.target_weight * nav - after * frame.price
    assert ((gap >= -1e-6) & (gap < frame.price)).all()
    traded = sum(abs(row["trade_value"]) for row in table.values())
    cost = traded * inputs["fee_bps"] / 1e4
    cash = nav - float((after * frame.price).sum()) - cost
    assert stated["Cash after trading"] == pytest.approx(cash, abs=0.05)
    assert stated["Turnover"] == pytest.approx(traded / nav, abs=1e-5)
    assert sum(row["cost"] for row in table.values()) == pytest.approx(cost, abs=0.05)
    assert conclusion(case) == ("STAGE" if traded / nav > inputs["turnover_limit"] else "EXECUTE")


def check_shortfall(case: Case, inputs: Inputs) -> None:
    """Perold: the paper portfolio's gain less the real one's."""
    order, stated = inputs["order"], figures(case)
    fills = pd.DataFrame(inputs["fills"])
    sign = 1 if order["side"] == "buy" else -1
    traded = float((fills.shares * fills.price).sum())
    fees = traded * inputs["fee_bps"] / 1e4
    paper = sign * order["shares"] * (order["close_price"] - order["arrival_price"])
    real = sign * (fills.shares.sum() * order["close_price"] - traded) - fees
    assert stated["Implementation shortfall"] == pytest.approx(paper - real, abs=0.02)
    assert stated["Average price"] == pytest.approx(traded / fills.shares.sum(), abs=0.01)
    assert stated["Slippage cost"] == pytest.approx(sum(row["slippage_cost"] for row in rows(case).values()), abs=0.2)
    bps = 1e4 * (paper - real) / (order["shares"] * order["arrival_price"])
    assert conclusion(case) == ("BREACH" if bps > inputs["limit_bps"] else "WITHIN")


def check_blotter(case: Case, inputs: Inputs) -> None:
    frame = pd.DataFrame(inputs["records"])
    valid = frame[frame.status == "OK"].drop_duplicates("id").copy()
    valid["ticker"] = valid.ticker.str.strip().str.upper()
    valid["buy"] = valid.side.str.upper().str.startswith("B")
    valid["shares"] = valid.quantity.str.replace(",", "").astype(float).astype(int)
    valid["value"] = valid.price.str.replace(r"[$ USD]", "", regex=True).astype(float)
    valid["day"] = [pd.to_datetime(text, format=fmt) for text in valid.date for fmt in [_date_format(text)]]
    for ticker, group in valid.sort_values("day").groupby("ticker"):
        units = {buy: np.repeat(part.value.to_numpy(), part.shares.to_numpy()) for buy, part in group.groupby("buy")}
        bought, sold = units[True], units.get(False, np.array([]))
        row = rows(case)[str(ticker)]
        assert row["realised_pnl"] == pytest.approx(float(sold.sum() - bought[: len(sold)].sum()), abs=0.02)
        assert row["closing_position"] == len(bought) - len(sold)
        assert row["open_cost"] == pytest.approx(float(bought[len(sold) :].sum()), abs=0.02)
    excluded = len(frame) - len(valid)
    assert figures(case)["Excluded records"] == excluded
    assert figures(case)["Valid trades"] == len(valid)
    assert figures(case)["Traded value"] == pytest.approx(float((valid.value * valid.shares).sum()), abs=0.02)
    over = excluded / len(frame) > inputs["excluded_share_limit"]
    assert conclusion(case) == ("ESCALATE" if over else "ACCEPT")


def _date_format(text: str) -> str:
    return "%Y-%m-%d" if text[4:5] == "-" else "%d-%b-%Y" if "-" in text else "%Y%m%d"


def check_cash_flow(case: Case, inputs: Inputs) -> None:
    growth = np.cumprod(1 + np.array(inputs["revenue_growth"]))
    revenue = inputs["base_year_revenue"] * growth
    added = np.diff(revenue, prepend=inputs["base_year_revenue"])
    flows = (
        revenue * inputs["ebit_margin"] * (1 - inputs["tax_rate"])
        + revenue * inputs["depreciation_rate"]
        - revenue * inputs["capital_expenditure_rate"]
        - added * inputs["working_capital_rate"]
    )

    def enterprise(rate: float) -> float:
        """The perpetuity is summed for two thousand years."""
        far = flows[-1] * (1 + inputs["terminal_growth"]) ** np.arange(1, 2001)
        every = np.concatenate([flows, far])
        return float(np.sum(every * (1 + rate) ** -np.arange(1, len(every) + 1.0)))

    stated, rate = figures(case), inputs["cost_of_capital"]
    assert stated["Enterprise value"] == pytest.approx(1e6 * enterprise(rate), rel=1e-6)
    share = (enterprise(rate) - inputs["net_debt"]) / inputs["shares"]
    assert stated["Value per share"] == pytest.approx(share, abs=0.006)
    stressed = (enterprise(rate + 0.01) - inputs["net_debt"]) / inputs["shares"]
    assert stated["Value per share at higher cost of capital"] == pytest.approx(stressed, abs=0.006)
    assert [row["free_cash_flow"] for row in rows(case).values()] == pytest.approx(list(flows), abs=0.006)
    assert conclusion(case) == ("UNDERVALUED" if share > inputs["share_price"] else "OVERVALUED")


def check_comparables(case: Case, inputs: Inputs) -> None:
    peers, target, stated = pd.DataFrame(inputs["peers"]), inputs["target"], figures(case)
    value = peers.share_price * peers.shares + peers.debt - peers.cash
    multiple, earnings = (value / peers.ebitda).median(), (peers.share_price * peers.shares / peers.net_income).median()
    assert stated["Median EV/EBITDA"] == pytest.approx(multiple, abs=1e-4)
    assert stated["Median P/E"] == pytest.approx(earnings, abs=1e-4)
    prices = [
        (multiple * target["ebitda"] - target["debt"] + target["cash"]) / target["shares"],
        earnings * target["net_income"] / target["shares"],
    ]
    assert stated["Midpoint"] == pytest.approx(np.mean(prices), abs=0.006)
    assert [row["enterprise_value"] for row in rows(case).values()] == pytest.approx(list(value), abs=0.006)
    assert conclusion(case) == ("CHEAP" if np.mean(prices) > target["share_price"] else "DEAR")


def check_variance(case: Case, inputs: Inputs) -> None:
    stated = figures(case)
    for product in inputs["products"]:
        row, budget, actual = rows(case)[product["product"]], product["budget"], product["actual"]
        moved = actual["volume"] * (actual["price"] - actual["unit_cost"]) - budget["volume"] * (
            budget["price"] - budget["unit_cost"]
        )
        assert sum(row.values()) == pytest.approx(moved, abs=0.02)
        flexed = (budget["price"] - budget["unit_cost"]) * actual["volume"]
        assert row["volume_variance"] == pytest.approx(
            flexed - budget["volume"] * (budget["price"] - budget["unit_cost"]), abs=0.01
        )
        assert row["price_variance"] == pytest.approx(actual["volume"] * (actual["price"] - budget["price"]), abs=0.01)
    parts = {name: stated[f"{name} variance"] for name in ("Price", "Volume", "Cost")}
    assert sum(parts.values()) == pytest.approx(stated["Actual contribution"] - stated["Budget contribution"], abs=0.05)
    assert conclusion(case) == max(parts, key=lambda name: abs(parts[name])).upper()


def check_hedge(case: Case, inputs: Inputs) -> None:
    """Black-Scholes-Merton written out with scipy's normal distribution."""
    spot, rate, carry = inputs["spot"], inputs["rate"], inputs["dividend_yield"]
    net = np.zeros(4)
    for position in inputs["positions"]:
        strike, time, vol = position["strike"], position["days_to_expiry"] / 365, position["volatility"]
        d1 = (np.log(spot / strike) + (rate - carry + vol**2 / 2) * time) / (vol * np.sqrt(time))
        sign = 1 if position["option_type"] == "call" else -1
        forward, bond = spot * np.exp(-carry * time), strike * np.exp(-rate * time)
        price = sign * (forward * norm.cdf(sign * d1) - bond * norm.cdf(sign * (d1 - vol * np.sqrt(time))))
        delta = sign * np.exp(-carry * time) * norm.cdf(sign * d1)
        gamma = np.exp(-carry * time) * norm.pdf(d1) / (spot * vol * np.sqrt(time))
        vega = forward * norm.pdf(d1) * np.sqrt(time) / 100
        expected = 100 * position["contracts"] * np.array([price, delta, gamma, vega])
        assert list(rows(case)[position["position"]].values()) == pytest.approx(list(expected), rel=1e-5, abs=0.006)
        net += expected
    stated = figures(case)
    assert stated["Book value"] == pytest.approx(net[0], abs=0.01)
    assert stated["Net delta"] == pytest.approx(net[1], rel=1e-5, abs=1e-3)
    assert stated["Hedge trade"] == -round(net[1])
    assert conclusion(case) == ("HEDGE" if abs(net[1]) * spot > inputs["delta_limit_dollars"] else "HOLD")


def check_value_at_risk(case: Case, inputs: Inputs) -> None:
    lake = sample.embedded()
    first, last = date.fromisoformat(inputs["first_close"]), date.fromisoformat(inputs["last_close"])
    prices = {}
    for holding in inputs["holdings"]:
        bars = lake.bars_of(holding["ticker"], as_of=case.task.as_of)[0]
        prices[holding["ticker"]] = [c for d, c in zip(bars.known_on, bars.close, strict=True) if first <= d <= last]
    frame = pd.DataFrame(prices)
    assert len(frame) == 251 and last <= case.task.as_of
    returns = np.log(frame).diff().dropna()
    values = np.array([h["shares"] for h in inputs["holdings"]]) * frame.iloc[-1].to_numpy()
    covariance = np.cov(returns.to_numpy().T)
    deviation = float(np.sqrt(values @ covariance @ values))
    stated, at_risk = figures(case), norm.ppf(0.99) * deviation
    assert stated["Value at risk"] == pytest.approx(at_risk, abs=0.01)
    assert stated["Expected shortfall"] == pytest.approx(deviation * norm.pdf(norm.ppf(0.99)) / 0.01, abs=0.01)
    alone = norm.ppf(0.99) * float(np.sum(values * np.sqrt(np.diag(covariance))))
    assert stated["Diversification benefit"] == pytest.approx(alone - at_risk, abs=0.01)
    components = [row["component_var"] for row in rows(case).values()]
    assert components == pytest.approx(list(norm.ppf(0.99) * values * (covariance @ values) / deviation), abs=0.006)
    assert conclusion(case) == ("BREACH" if at_risk > inputs["value_at_risk_limit"] else "WITHIN")


def check_paper_trading(case: Case, inputs: Inputs) -> None:
    """The stated cost formulas, written out over the bars of the lake."""
    lake, table, stated = sample.embedded(), rows(case), figures(case)
    cash, traded, paid, held = inputs["cash"], 0.0, 0.0, dict[str, float]()
    for order in inputs["orders"]:
        bars = lake.bars_of(order["ticker"], as_of=case.task.as_of)[0]
        row = [str(day) > order["placed_on"] for day in bars.known_on].index(True)
        sign = 1 if order["side"] == "buy" else -1
        slip = 1e-4 * (1 + 50 * (order["shares"] / bars.volume[row]) ** 0.5)
        price = bars.open[row] * (1 + sign * slip)
        fee = 1e-4 * price * order["shares"]
        assert table[order["order"]]["fill_price"] == pytest.approx(price, abs=6e-5)
        assert table[order["order"]]["fee"] == pytest.approx(fee, abs=6e-3)
        assert table[order["order"]]["slippage_cost"] == pytest.approx(
            order["shares"] * bars.open[row] * slip, abs=6e-3
        )
        cash -= sign * order["shares"] * price + fee
        traded, paid = traded + order["shares"] * price, paid + fee + order["shares"] * bars.open[row] * slip
        held[order["ticker"]] = held.get(order["ticker"], 0.0) + sign * order["shares"]
    assert cash > 0 and min(held.values()) >= 0
    last = {ticker: lake.bars_of(ticker, as_of=case.task.as_of)[0].close[-1] for ticker in held}
    equity = cash + sum(shares * last[ticker] for ticker, shares in held.items())
    assert stated["Closing equity"] == pytest.approx(equity, abs=0.02)
    assert stated["Profit"] == pytest.approx(equity - inputs["cash"], abs=0.02)
    assert conclusion(case) == ("BREACH" if 1e4 * paid / traded > inputs["cost_limit_bps"] else "WITHIN")


SOLVED: dict[str, Callable[[Case, Inputs], None]] = {
    "loan-prepayment": check_loan,
    "bond-ladder": check_bonds,
    "rebalancing": check_rebalancing,
    "implementation-shortfall": check_shortfall,
    "trade-blotter": check_blotter,
    "discounted-cash-flow": check_cash_flow,
    "comparable-companies": check_comparables,
    "budget-variance": check_variance,
    "option-hedge": check_hedge,
    "value-at-risk": check_value_at_risk,
    "paper-trading": check_paper_trading,
}


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_assignment_is_solved_again_from_its_inputs(name: str) -> None:
    for case in drawn(name):
        SOLVED[name](case, inputs_of(case))


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_both_conclusions_occur(name: str) -> None:
    assert len({conclusion(case) for case in drawn(name, 16)}) >= 2


def test_the_reference_points_of_the_paper_add_up_to_76_5() -> None:
    assert total({"completion": 19.0, "accuracy": 19.8, "format": 18.2, "professionalism": 19.5}) == 76.5
    with pytest.raises(ValueError, match="accuracy must lie in"):
        total({"completion": 19.0, "accuracy": 25.1, "format": 18.2, "professionalism": 19.5})


def test_form_counts_only_as_far_as_the_figures_are_right() -> None:
    assert [gate(accuracy) for accuracy in (0.0, 0.4, 0.5, 0.75, 1.0)] == [0.0, 0.0, 0.0, 0.5, 1.0]
    for accuracy, value in ((1.0, 100.0), (0.75, 25 * 0.75 + 75 * 0.5), (0.5, 12.5), (0.0, 0.0)):
        marks = [Mark(d, "all", accuracy if d == "accuracy" else 1.0) for d in DIMENSIONS]
        assert verdict(marks).value == pytest.approx(value)


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_perfect_report_on_other_numbers_is_worth_next_to_nothing(name: str) -> None:
    case, *others = drawn(name, 4)
    for other in others:
        session = case.open()
        session.reply(other.open().oracle())
        score = session.score()
        assert score.value <= 6.0, score.reason
        assert not score.passed


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_a_template_filled_with_one_number_is_worth_next_to_nothing(name: str) -> None:
    case = drawn(name, 1)[0]
    for number in ("0", "1", "100"):
        contents = {
            file: re.sub(r"(?m)(?<=[,:])( ?-?\$?)[0-9][0-9,.]*%?(?=,|$)", number, content)
            for file, content in files(case).items()
        }
        assert hand_in(case, contents).value <= 6.0


def swap(case: Case, file: str, old: str, new: str, count: int = 1) -> Score:
    contents = files(case)
    assert old in contents[file]
    return hand_in(case, contents | {file: contents[file].replace(old, new, count)})


def test_each_fault_costs_in_its_own_dimension() -> None:
    case = drawn("bond-ladder", 1)[0]
    full = dict.fromkeys(DIMENSIONS, 100.0)
    faults: list[tuple[str, str, str, str]] = [
        ("cash_flows.csv", "coupons,cash_flow", "Coupons,cash_flow", "format"),
        ("memo.md", "To: Investment Committee", "To: Whom it may concern", "format"),
        ("memo.md", "## Summary\n", "# Summary\n", "format"),
        ("memo.md", "Subject: ", "Subject: Re ", "none"),
        ("memo.md", " bond ladder\n", " report\n", "professionalism"),
        ("memo.md", "All inputs are", "TBD All inputs are", "professionalism"),
    ]
    for file, old, new, dimension in faults:
        score = swap(case, file, old, new)
        lower = {name for name in DIMENSIONS if score.parts[name] < full[name] - 1e-9}
        assert lower == ({dimension} if dimension != "none" else set()), (old, score.reason)
        assert score.passed


def test_a_wrong_conclusion_costs_a_third_of_professionalism() -> None:
    case = drawn("value-at-risk", 1)[0]
    right = conclusion(case)
    wrong = {"WITHIN": "BREACH", "BREACH": "WITHIN"}[right]
    score = swap(case, "memo.md", f"## Conclusion\n{right}", f"## Conclusion\n{wrong}")
    assert score.parts["professionalism"] == pytest.approx(100 * 4 / 6)
    both = swap(case, "memo.md", f"## Conclusion\n{right}", f"## Conclusion\n{right} or {wrong}")
    assert both.parts["professionalism"] == score.parts["professionalism"]


def test_hedged_doubled_and_missing_figures_are_wrong() -> None:
    case = drawn("bond-ladder", 1)[0]
    line = re.search(r"(?m)^- Present value: .+$", files(case)["memo.md"])
    assert line is not None
    for replacement in (f"{line[0]} or $1", f"{line[0]}\n- Present value: $1", "", line[0].replace("$", "€")):
        score = swap(case, "memo.md", line[0], replacement)
        assert score.parts["accuracy"] == pytest.approx(100 * (0.5 + 0.5 * 3 / 4)), replacement


def test_extra_and_doubled_rows_lower_accuracy() -> None:
    case = drawn("rebalancing", 1)[0]
    table = files(case)["trades.csv"]
    first = table.splitlines()[1]
    for addition in (first, "ZZZZ,1,1.00,0.01"):
        assert hand_in(case, files(case) | {"trades.csv": f"{table}{addition}\n"}).parts["accuracy"] < 100.0


def test_numbers_with_signs_and_separators_are_read_but_cost_format() -> None:
    case = drawn("bond-ladder", 1)[0]
    table = re.sub(r"(?<=,)([0-9.]+)(?=,|\n)", r"$\1", files(case)["cash_flows.csv"])
    score = hand_in(case, files(case) | {"cash_flows.csv": table})
    assert score.parts["accuracy"] == 100.0
    assert score.parts["format"] < 100.0


def test_a_missing_file_is_said_and_costs() -> None:
    case = drawn("option-hedge", 1)[0]
    score = hand_in(case, {"memo.md": files(case)["memo.md"]})
    assert score.value == pytest.approx(12.5)
    assert not score.passed
    assert "greeks.csv" in score.reason


def test_fenced_blocks_that_name_their_file_are_read() -> None:
    case = drawn("loan-prepayment", 1)[0]
    blocks = [
        f"```{'csv' if name.endswith('csv') else 'markdown'} {name}\n{text}```" for name, text in files(case).items()
    ]
    session = case.open()
    session.reply("Here is my work.\n\n" + "\n\n".join(blocks) + "\n\nKind regards")
    assert session.score().value == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "no JSON object"),
        ('{"deliverables": []}', "no list 'deliverables'"),
        ('{"deliverables": [{"name": "memo.md"}]}', "needs a 'name' and a 'content'"),
        (
            '{"deliverables": [{"name": "a.md", "content": ""}, {"name": "a.md", "content": ""}]}',
            "a.md is handed in 2 times",
        ),
        ("```memo.md\n\n```\n```memo.md\n\n```", "memo.md is handed in 2 times"),
        ('{"deliverables": [{"name": "a", "content": 1e999}]}', "out of range"),
        (json.dumps({"deliverables": [{"name": f"{n}", "content": ""} for n in range(11)]}), "11 files, more than 10"),
    ],
)
def test_what_holds_no_clear_files_is_refused_with_the_reason(reply: str, reason: str) -> None:
    refusal = read_deliverables(reply)
    assert not isinstance(refusal, dict)
    assert reason in refusal.reason
    session = drawn("rebalancing", 1)[0].open()
    session.reply(reply)
    assert session.score().value == 0.0


def test_hostile_files_are_marked_without_an_error() -> None:
    case = drawn("bond-ladder", 1)[0]
    for content in ("", "\x00", '"', "date\n" * 5_000, "a," * 40_000, "## " * 20_000, "<" * 50_000, "[" * 50_000):
        score = hand_in(case, dict.fromkeys(files(case), content))
        assert score.value <= 1.0


def test_a_reply_of_many_unclosed_blocks_is_read_quickly() -> None:
    began = time.process_time()
    for reply in ("```a.md\n" * 12_000, "~~~ x\n" * 12_000, "# a: " * 20_000, "- Present value: " + " | x" * 20_000):
        read_deliverables(reply)
        hand_in(drawn("bond-ladder", 1)[0], {"memo.md": "## Key figures\n" + reply})
    assert time.process_time() - began < 10.0


def test_the_price_task_names_the_tool_it_needs() -> None:
    assert drawn("value-at-risk", 1)[0].task.servers == ("yfinance",)


def test_an_unknown_template_is_an_error_that_lists_what_exists() -> None:
    with pytest.raises(ValueError, match=r"task_types: unknown value 'memo'; allowed: loan-prepayment, bond-ladder"):
        DATASET.draw(seed=1, count=1, options={"task_types": ["memo"]})


@pytest.mark.parametrize("seed", range(8))
def test_every_round_of_the_templates_begins_with_those_that_are_first(seed: int) -> None:
    first = ["paper-trading", "rebalancing"]
    names = [case.task.family for case in DATASET.draw(seed=seed, count=22, options={"first": first})]
    assert all(set(names[start : start + 2]) == {f"professional/{name}" for name in first} for start in (0, 11))
    assert len(set(names[:11])) == len(set(names[11:])) == 11


def test_the_others_keep_their_drawn_order_and_a_longer_draw_begins_with_a_shorter_one() -> None:
    def families(count: int, **options: list[str]) -> list[str]:
        return [case.task.family for case in DATASET.draw(seed=5, count=count, options=options)]

    plain, moved = families(11), families(11, first=["paper-trading"])
    assert moved == ["professional/paper-trading", *(name for name in plain if name != "professional/paper-trading")]
    assert families(4, first=["paper-trading"]) == moved[:4]


def test_first_must_be_among_the_types_that_are_drawn() -> None:
    with pytest.raises(ValueError, match="first: unknown value 'rebalancing'; allowed: bond-ladder"):
        DATASET.draw(seed=1, count=1, options={"task_types": ["bond-ladder"], "first": ["rebalancing"]})
