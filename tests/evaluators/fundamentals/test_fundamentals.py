"""Every gold answer is computed a second time; what is drawn is spread, dated and fresh."""

from __future__ import annotations

import bisect
import dataclasses
import json
import re
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluators.answers.expected import ExpectedNumber, ExpectedToken
from evaluators.contract import DIFFICULTIES, Difficulty
from evaluators.fundamentals import dataset, disclosed, prices, surprises
from evaluators.fundamentals.dataset import CATEGORIES, DATASET, TEMPLATES, draw_question, world_of
from evaluators.fundamentals.question import FRAMES, Drawn
from evaluators.fundamentals.world import LAST_YEAR, Lacking, World
from lake import sample
from lake.edgar.provider import COMPANIES as COMPANIES_FILE
from lake.edgar.provider import tables
from lake.fundamentals import COMPANIES, LINE_ITEMS
from lake.layers import Layered
from lake.point_in_time import PointInTime
from lake.records import Facts, FilingIndex
from lake.settings import LakeSettings
from lake.simulated_filers.directory import filers
from lake.simulated_filers.schedule import schedule
from tests.evaluators.fundamentals import second_route

WORLD = world_of(None)
TEXTS, SURPRISES, PRICES = ({row.name for row in module.TEMPLATES} for module in (disclosed, surprises, prices))
DRAWS = 4
EVERY = [(name, level) for name in TEMPLATES for level in DIFFICULTIES]


def drawn_of(name: str, level: Difficulty, number: int, world: World = WORLD) -> Drawn:
    return draw_question(TEMPLATES[name], world, level, "test", name, level, number)


def second(name: str, drawn: Drawn) -> float | str:
    """Return the answer by the second route."""
    given = drawn.inputs
    if name in PRICES:
        return second_route.priced(name, drawn)
    if name in SURPRISES:
        return second_route.surprise(name, drawn)
    ticker, year = (drawn.ticker, given["year"]) if "companies" not in given else second_route.chosen(drawn)
    if name in TEXTS:
        segment = drawn.words["segment"].removeprefix("the segment ")
        segment = "" if segment.startswith("that its segment note") else segment
        value = second_route.disclosed(name, ticker, year, drawn.as_of, segment)
        if given["changed"]:
            value -= second_route.disclosed(name, ticker, year - 1, drawn.as_of, segment)
        return value
    if name in ("which-filing", "filing-date"):
        row = second_route.Raw(ticker, drawn.as_of, "original").found(given["item"], year, given["period"])
        assert row is not None
        return row[5] if name == "which-filing" else row[0].isoformat()
    if name in ("figure-on-date", "original-figure", "restatement-effect"):
        first, last = (
            second_route.Raw(ticker, drawn.as_of, version).get(given["item"], year, given["period"])
            for version in ("original", "latest")
        )
        return {"figure-on-date": last, "original-figure": first, "restatement-effect": last / first - 1}[name]
    raw = second_route.Raw(ticker, drawn.as_of, given["version"])
    return second_route.measured(name, raw, year, given["period"], given)


@pytest.mark.parametrize(("name", "level"), EVERY)
def test_every_gold_answer_is_the_one_of_a_second_route(name: str, level: Difficulty) -> None:
    for number in range(DRAWS):
        drawn = drawn_of(name, level, number)
        if isinstance(drawn.expected, ExpectedToken):
            assert drawn.expected.gold == second(name, drawn)
            continue
        assert isinstance(drawn.expected, ExpectedNumber)
        assert drawn.expected.gold == pytest.approx(second(name, drawn), rel=1e-9, abs=1e-12), drawn


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


@pytest.mark.parametrize(("name", "level"), EVERY)
def test_what_becomes_known_after_the_simulation_date_changes_no_answer(name: str, level: Difficulty) -> None:
    drawn = drawn_of(name, level, 77)
    sources = ("facts", "bars", "simulated_bars", "earnings")
    spoiled = {source: Spoiled(getattr(WORLD.lake, source), drawn.as_of) for source in sources}
    assert drawn_of(name, level, 77, World(dataclasses.replace(WORLD.lake, **spoiled))) == drawn


def test_the_same_question_on_two_dates_has_two_answers_when_the_figure_was_restated_between_them() -> None:
    early, late = (WORLD.book(COMPANIES["AAPL"], day) for day in (date(2009, 12, 1), date(2010, 3, 1)))
    assert (early.figure("Revenue", 2009), late.figure("Revenue", 2009)) == (36_537e6, 42_905e6)


@pytest.mark.parametrize("ticker", sorted(filers())[7::160])
def test_a_book_holds_what_the_lake_served_on_its_day_and_nothing_later(ticker: str) -> None:
    company = WORLD.lake.companies.find(ticker)
    assert company is not None
    published = sorted({report.filed for report in (*schedule(ticker).reports, *schedule(ticker).errors)})
    with pytest.raises(Lacking):
        WORLD.book(company, published[0] - timedelta(days=1))
    for day in sorted({filed + timedelta(days=apart) for filed in published for apart in (-1, 0, 1)})[1:]:
        book, served = WORLD.book(company, day), WORLD.lake.facts.known(ticker, as_of=day)
        for item in ("Revenue", "EPSDiluted", "OperatingCashFlow"):
            of_item = served.take(row for row, tag in enumerate(served.concept) if tag in LINE_ITEMS[item])
            assert book.of_item(item) == of_item
        rows = zip(served.concept, served.fiscal_period, served.fiscal_year, strict=True)
        annual = {year for *what, year in rows if what == ["NetIncomeLoss", "FY"]}
        assert book.years(first=0) == sorted(year for year in annual if year <= LAST_YEAR)


def test_a_company_that_another_source_served_on_an_earlier_day_is_read_as_on_that_day() -> None:
    def stated(day: date, value: float) -> Facts:
        return Facts.of([(day, "NetIncomeLoss", 2015, "FY", None, date(2015, 12, 31), value, "USD", "10-K", "a")])

    early, late = date(2016, 2, 1), date(2016, 9, 1)
    pulled, behind = (
        PointInTime("fixture", lambda rows=rows: {"ACME": rows}) for rows in (stated(late, 9.0), stated(early, 5.0))
    )
    world = World(dataclasses.replace(WORLD.lake, facts=Layered(pulled, behind)))
    company = dataclasses.replace(COMPANIES["AAPL"], ticker="ACME")
    days = (late, early, late - timedelta(days=1))
    assert [world.book(company, day).figure("NetIncome", 2015) for day in days] == [9.0, 5.0, 5.0]


def test_a_consensus_of_no_growth_at_all_is_not_asked_about() -> None:
    # one of the quarters that this stream draws was expected to bring the revenue of the year before to the dollar
    name = ("fundamentals", "2.0", 1, "revenue-surprise", 1189, "expert", "usual")
    expected = draw_question(TEMPLATES["revenue-surprise"], WORLD, "expert", *name).expected
    assert isinstance(expected, ExpectedNumber) and 0.05 < abs(expected.gold) < 10


def test_every_family_is_drawn_before_one_comes_again_and_its_levels_take_turns() -> None:
    cases = DATASET.draw(seed=3, count=3 * len(TEMPLATES), options={})
    assert Counter(case.task.family for case in cases) == {f"fundamentals/{name}": 3 for name in TEMPLATES}
    assert {case.task.category for case in cases} == set(CATEGORIES)
    for name in TEMPLATES:
        levels = {case.task.difficulty for case in cases if case.task.family == f"fundamentals/{name}"}
        assert levels == set(DIFFICULTIES)
    assert len({case.task.question for case in cases}) == len(cases)
    again = DATASET.draw(seed=3, count=20, options={})
    assert [case.task for case in again] == [case.task for case in cases[:20]]


def test_wordings_take_turns_and_held_back_ones_are_drawn_by_their_option_alone() -> None:
    options = {"task_types": ["margin"], "difficulties": ["easy"]}
    usual = DATASET.draw(seed=4, count=10, options=options)
    held = DATASET.draw(seed=4, count=4, options={**options, "wordings": "held_back"})
    assert {case.task.wording for case in usual} == {f"usual {number}" for number in range(1, 6)}
    assert {case.task.wording for case in held} == {"held-back 1", "held-back 2"}
    assert all("was left as" in case.task.question for case in held)
    assert not any("was left as" in case.task.question for case in usual)


@pytest.mark.parametrize("name", ["which-filing", "filing-date"])
def test_a_release_that_gives_the_figure_before_the_report_is_ruled_out(name: str) -> None:
    """The revenue of a quarter stands in the release on form 8-K first, so that the question has to leave it aside."""
    told_before = 0
    for number in range(40):
        drawn = drawn_of(name, "hard", number)
        given = drawn.inputs
        assert "Releases on form 8-K do not count." in drawn.rules
        row = second_route.Raw(drawn.ticker, drawn.as_of, "original").found("Revenue", given["year"], given["period"])
        if given["item"] == "Revenue" and row is not None:
            filings = WORLD.lake.filings.known(drawn.ticker, as_of=row[0])
            told_before += any(form == "8-K" for form in filings.form)
    assert told_before


def test_a_change_between_two_reports_says_its_unit_and_where_the_year_before_is_read() -> None:
    for name, measure in disclosed.MEASURES.items():
        period = drawn_of(name, "hard", 0).period
        assert "each year by its own report" in period
        assert ("in percentage points" in period) == (measure.unit != "money"), name


def test_neither_the_answer_nor_the_ticker_beyond_the_text_is_in_the_message() -> None:
    for case in DATASET.draw(seed=5, count=48, options={}):
        message = case.open().opening()
        assert case.task.servers and "context" not in message and "ticker" not in message
        assert case.open().oracle().removeprefix("Final answer: ").rstrip("0") not in json.dumps(message)


def pulled(folder: Path) -> LakeSettings:
    """Write the figures of a simulated filer as if they were those of a company that was pulled."""
    facts = sample.embedded().facts.known("AAPL", as_of=date(2026, 1, 1))
    held = tables(folder / "filings")
    held.facts.write("PULL", facts, source="test")
    held.filings.write("PULL", FilingIndex.of([]), source="test")
    about = {"PULL": {**dataclasses.asdict(COMPANIES["AAPL"]), "ticker": "PULL", "name": "Pulled Company"}}
    (folder / "filings" / COMPANIES_FILE).write_text(json.dumps(about), encoding="utf-8")
    return LakeSettings(filings="edgar", path=str(folder))


def test_companies_of_the_runs_lake_are_asked_about_too(tmp_path: Path) -> None:
    dataset = DATASET.over(pulled(tmp_path))
    options = {"task_types": ["margin"], "difficulties": ["easy"]}
    cases = dataset.draw(seed=1, count=12, options=options)
    about = ["Pulled Company" in case.task.question for case in cases]
    assert 2 <= sum(about) <= 10
    assert dataset.data_hash(options) != DATASET.data_hash(options)


def test_a_lake_that_fetches_when_asked_cannot_be_drawn_from(tmp_path: Path) -> None:
    settings = dataclasses.replace(pulled(tmp_path), offline=False)
    with pytest.raises(ValueError, match=r"lake\.offline: fundamentals draws from filings that were pulled, got false"):
        DATASET.over(settings).draw(seed=1, count=1, options={})


def test_a_wrong_percent_scale_is_told_in_the_reason() -> None:
    case = DATASET.draw(seed=11, count=1, options={"task_types": ["margin"]})[0]
    session = case.open()
    session.reply(case.open().oracle().rstrip("%"))
    score = session.score()
    assert score.value == 0.0
    assert "write the percent sign or a fraction" in score.reason


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_type": ["margin"]}, "task_type: unknown key (did you mean 'task_types'?)"),
        ({"task_types": ["margins"]}, "task_types: unknown value 'margins'"),
        ({"task_types": []}, "task_types must be a non-empty list"),
        ({"difficulties": ["medium"]}, "difficulties: unknown value 'medium'"),
        ({"wordings": "other"}, "wordings"),
    ],
)
def test_a_bad_option_is_one_clear_error(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        DATASET.draw(seed=1, count=1, options=options)


def test_the_same_is_never_asked_twice_and_a_longer_draw_begins_with_a_shorter_one() -> None:
    """Of these 1,500 six repeat another when each is drawn by itself."""
    options = {"task_types": ["earnings-surprise", "revenue-surprise"]}
    cases = DATASET.draw(seed=5, count=1500, options=options)
    assert len({case.task.question for case in cases}) == 1500
    assert len({case.task.task_id for case in cases}) == 1500
    assert [case.task for case in DATASET.draw(seed=5, count=1400, options=options)] == [
        case.task for case in cases[:1400]
    ]


def test_where_nothing_else_is_there_the_same_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    only = drawn_of("earnings-surprise", "easy", 1)
    monkeypatch.setattr(dataset, "draw_question", lambda *_: only)
    cases = DATASET.draw(seed=5, count=3 * len(FRAMES), options={"task_types": ["earnings-surprise"]})
    assert len({case.task.task_id for case in cases}) == 3 * len(FRAMES)
    assert len({case.task.question for case in cases}) == len(FRAMES)
