"""Every gold answer is computed a second time, from the raw tables and by other code."""

from __future__ import annotations

import bisect
import csv
import dataclasses
import json
import math
import re
from collections import defaultdict
from datetime import date, timedelta
from importlib import resources
from typing import Any

import numpy as np
import pytest
from bokeh_sampledata import stocks

from evaluators.contract import Case
from evaluators.fundamentals.dataset import CATEGORIES, DATASET, TEMPLATES, draw_question
from evaluators.fundamentals.question import Book
from lake import sample
from lake.fundamentals import COMPANIES, LINE_ITEMS
from lake.splits import SPLITS

FIGURES = {
    "gross profit": "GrossProfit",
    "operating income": "OperatingIncome",
    "net income": "NetIncome",
    "research and development expense": "ResearchAndDevelopment",
    "revenue": "Revenue",
    "diluted earnings per share": "EPSDiluted",
    "basic earnings per share": "EPSBasic",
    "total assets": "Assets",
    "stockholders' equity": "Equity",
    "net cash from operating activities": "OperatingCashFlow",
    "dividends paid": "Dividends",
}


def raw_rows() -> list[dict[str, str]]:
    text = resources.files("lake").joinpath("embedded/fundamentals.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


RAW = raw_rows()


def raw(ticker: str, item: str, year: int, *, period: str = "FY", as_of: date, first: bool = False) -> dict[str, str]:
    rows = [
        row
        for row in RAW
        if row["ticker"] == ticker
        and row["concept"] in LINE_ITEMS[item]
        and (row["fiscal_year"], row["fiscal_period"]) == (str(year), period)
        and row["filed"] <= as_of.isoformat()
    ]
    filed = {row["filed"] for row in rows}
    day = min(filed) if first else max(filed)
    return min((row for row in rows if row["filed"] == day), key=lambda row: LINE_ITEMS[item].index(row["concept"]))


def number(ticker: str, item: str, year: int, **how: Any) -> float:
    return float(raw(ticker, item, year, **how)["value"])


def gold(case: Case) -> float:
    session = case.open()
    session.reply(session.oracle())
    return float(session.score().details["expected_value"])


def cases_of(name: str, count: int = 12) -> list[Case]:
    return list(DATASET.draw(seed=11, count=count, options={"task_types": [name]}))


def year_of(case: Case) -> int:
    return int(case.task.context["fiscal_year"])


def ticker_of(case: Case) -> str:
    return str(case.task.context["ticker"])


@pytest.mark.parametrize("case", cases_of("margin"), ids=lambda case: case.task.task_id)
def test_a_margin_is_the_named_line_over_revenue(case: Case) -> None:
    words = re.search(r"that is (.+) divided by revenue", case.task.question)
    assert words is not None
    how = {"as_of": case.task.as_of}
    top = number(ticker_of(case), FIGURES[words[1]], year_of(case), **how)
    assert gold(case) == pytest.approx(top / number(ticker_of(case), "Revenue", year_of(case), **how), rel=1e-12)


@pytest.mark.parametrize("case", cases_of("revenue-growth"), ids=lambda case: case.task.task_id)
def test_revenue_growth_uses_what_was_known_on_the_simulation_date(case: Case) -> None:
    now, before = (number(ticker_of(case), "Revenue", year_of(case) - k, as_of=case.task.as_of) for k in (0, 1))
    assert gold(case) == pytest.approx(now / before - 1, rel=1e-12)


@pytest.mark.parametrize("case", cases_of("fourth-quarter"), ids=lambda case: case.task.task_id)
def test_a_fourth_quarter_is_the_year_less_three_quarters(case: Case) -> None:
    words = re.match(r"What was the (.+?) of ", case.task.question)
    assert words is not None
    item, how = FIGURES[words[1]], {"as_of": case.task.as_of}
    quarters = [number(ticker_of(case), item, year_of(case), period=q, **how) for q in ("Q1", "Q2", "Q3")]
    assert gold(case) == pytest.approx(number(ticker_of(case), item, year_of(case), **how) - sum(quarters), rel=1e-12)


def restated(case: Case) -> tuple[str, str]:
    match = re.search(r"its (.+?) for (?:(Q[123]) of )?fiscal", case.task.question)
    assert match is not None
    return FIGURES[match[1]], match[2] or "FY"


@pytest.mark.parametrize("case", cases_of("figure-on-date", 20), ids=lambda case: case.task.task_id)
def test_a_figure_on_a_date_is_the_last_one_filed_by_then(case: Case) -> None:
    item, period = restated(case)
    assert gold(case) == number(ticker_of(case), item, year_of(case), period=period, as_of=case.task.as_of)


@pytest.mark.parametrize("case", cases_of("original-figure", 20), ids=lambda case: case.task.task_id)
def test_an_original_figure_is_the_first_one_filed_and_differs_from_the_latest(case: Case) -> None:
    item, period = restated(case)
    how = {"period": period, "as_of": case.task.as_of}
    assert gold(case) == number(ticker_of(case), item, year_of(case), first=True, **how)
    assert gold(case) != pytest.approx(number(ticker_of(case), item, year_of(case), **how), rel=0.01)


def test_the_same_question_on_two_dates_has_two_answers_when_the_figure_was_restated_between_them() -> None:
    lake = sample.embedded()
    early, late = (Book(COMPANIES["AAPL"], day, lake) for day in (date(2009, 12, 1), date(2010, 3, 1)))
    assert (early.figure("Revenue", 2009), late.figure("Revenue", 2009)) == (36_537e6, 42_905e6)


@pytest.mark.parametrize("case", cases_of("which-filing", 6), ids=lambda case: case.task.task_id)
def test_the_filing_asked_for_is_the_one_that_first_held_the_figure(case: Case) -> None:
    item, _ = restated(case)
    expected = raw(ticker_of(case), item, year_of(case), as_of=case.task.as_of, first=True)["accession"]
    assert case.open().oracle() == f"Final answer: {expected}"


def closes(ticker: str, start: str, end: str) -> np.ndarray:
    table = getattr(stocks, ticker)
    return np.array([c for d, c in zip(table["date"], table["close"], strict=True) if start <= d <= end])


def window(case: Case) -> tuple[str, str]:
    match = re.search(r"from the close of (\S+) to the close of ([0-9-]+)", case.task.question)
    assert match is not None
    return match[1], match[2]


@pytest.mark.parametrize("name", ["price-return", "price-volatility", "price-drawdown", "relative-performance"])
def test_price_questions_agree_with_numpy_on_the_published_prices(name: str) -> None:
    real = [case for case in cases_of(name, 14) if not ticker_of(case).startswith("SIM-")]
    assert len(real) >= 3
    for case in real:
        prices = closes(ticker_of(case), *window(case))
        if name == "price-return":
            expected = prices[-1] / prices[0] - 1
        elif name == "price-volatility":
            expected = np.std(np.diff(np.log(prices)), ddof=1) * math.sqrt(252)
        elif name == "price-drawdown":
            expected = float(np.max(1 - prices / np.maximum.accumulate(prices)))
        else:
            other = re.search(r"exceed that of (\S+) from", case.task.question)
            assert other is not None
            against = closes(other[1], *window(case))
            expected = prices[-1] / prices[0] - against[-1] / against[0]
        assert gold(case) == pytest.approx(expected, rel=1e-9)


def test_the_splits_are_the_halvings_in_the_prices() -> None:
    """Apple's fall of 52% on 2000-09-29 was a profit warning, not a split."""
    halvings = {
        ticker: tuple(
            day
            for day, previous, close in zip(
                getattr(stocks, ticker)["date"][1:],
                getattr(stocks, ticker)["close"],
                getattr(stocks, ticker)["close"][1:],
                strict=False,
            )
            if close / previous < 0.6 and day != "2000-09-29"
        )
        for ticker in ("AAPL", "FB", "GOOG", "IBM", "MSFT")
    }
    assert {k: v for k, v in halvings.items() if v} == {
        ticker: tuple(str(split.day) for split in found) for ticker, found in SPLITS.items()
    }


def test_no_price_window_crosses_a_share_split() -> None:
    for name in ("price-return", "price-volatility", "price-drawdown"):
        for case in cases_of(name, 25):
            start, end = window(case)
            assert not any(start < str(split.day) <= end for split in SPLITS.get(ticker_of(case), ()))


class Spoiled:
    """A source whose figures change by one part in a million once they are later than a date."""

    def __init__(self, source: Any, after: date) -> None:
        self.source, self.after, self.origin = source, after, source.origin

    def keys(self, *, as_of: date) -> tuple[str, ...]:
        return self.source.keys(as_of=as_of)

    def known(self, key: str, *, as_of: date) -> Any:
        table = self.source.known(key, as_of=as_of)
        late = bisect.bisect_right(table.known_on, self.after)
        return dataclasses.replace(table, **{
            name: (*column[:late], *(value * 1.000001 for value in column[late:]))
            for name, column in table.columns()
            if column and isinstance(column[0], float)
        })  # fmt: skip


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_what_becomes_known_after_the_simulation_date_changes_no_answer(name: str) -> None:
    lake = sample.embedded()
    for index in range(4):
        question = draw_question(TEMPLATES[name], lake, "canary", name, index)
        spoiled = dataclasses.replace(
            lake,
            facts=Spoiled(lake.facts, question.as_of),
            bars=Spoiled(lake.bars, question.as_of),
            simulated_bars=Spoiled(lake.simulated_bars, question.as_of),
        )
        assert draw_question(TEMPLATES[name], spoiled, "canary", name, index) == question


def test_every_category_and_template_is_drawn_before_one_comes_again() -> None:
    cases = DATASET.draw(seed=3, count=len(TEMPLATES), options={})
    assert {case.task.family for case in cases} == {f"fundamentals/{name}" for name in TEMPLATES}
    assert {case.task.category for case in cases} == set(CATEGORIES)


def test_a_template_with_nothing_new_left_asks_again_on_another_date() -> None:
    cases = cases_of("original-figure", 50)
    texts = [case.task.question for case in cases]
    assert len(set(texts)) > 20
    assert len(set(texts)) < len(texts)
    assert len({case.task.task_id for case in cases}) == len(cases)


def test_the_facts_are_not_in_the_message() -> None:
    for case in DATASET.draw(seed=5, count=50, options={}):
        message = json.dumps(case.open().opening())
        assert case.task.servers
        assert case.open().oracle().removeprefix("Final answer: ").rstrip("0") not in message


def test_a_wrong_percent_scale_is_told_in_the_reason() -> None:
    case = cases_of("margin", 1)[0]
    session = case.open()
    session.reply(f"Final answer: {100 * gold(case):.2f}")
    score = session.score()
    assert score.value == 0.0
    assert "write the percent sign or a fraction" in score.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_type": ["margin"]}, "task_type: unknown key (did you mean 'task_types'?)"),
        ({"task_types": ["margins"]}, "task_types: unknown value 'margins'"),
        ({"task_types": []}, "task_types must be a non-empty list"),
    ],
)
def test_a_bad_option_is_one_clear_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DATASET.draw(seed=1, count=1, options=options)


def test_simulation_dates_lie_soon_after_the_facts_became_known() -> None:
    delays = defaultdict(list)
    for case in DATASET.draw(seed=2, count=50, options={"task_types": ["Fundamental Analysis"]}):
        filed = raw(ticker_of(case), "NetIncome", year_of(case), as_of=case.task.as_of, first=True)["filed"]
        delays[ticker_of(case)].append(case.task.as_of - date.fromisoformat(filed))
    assert all(timedelta(0) < delay <= timedelta(days=240) for values in delays.values() for delay in values)
