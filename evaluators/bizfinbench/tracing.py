"""Anomaly information tracing: which statements account for a change of a profit, and which only seem to.

Those count that concern the company, the year and a line above the profit that is asked about; together they make the
change to the last digit. Each of the others has the sign and the amount of one that counts, so that many choices of the
statements make the change and trying them all does not tell which one does. Every sentence counts in one item and not
in another, so that no list of sentences helps.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.language import COMPANIES, Language, numbered
from evaluators.bizfinbench.public_answers import ExpectedSet
from evaluators.bizfinbench.texts import TEXTS
from evaluators.contract import Difficulty

CAUSES: dict[Difficulty, int] = {"easy": 3, "hard": 4, "expert": 5}
COUNTS: dict[Difficulty, int] = {"easy": 8, "hard": 9, "expert": 11}
MAX_ATTEMPTS = 400
LEAST_CHOICES = 16
"""Choices of the statements that make the change, of which one is about the company, the year and the profit."""


MEASURES: dict[str, dict[Language, str]] = {
    "gross-profit": {"en": "Gross profit", "cn": "毛利润"},
    "operating-profit": {"en": "Operating profit", "cn": "营业利润"},
    "pretax-profit": {"en": "Profit before tax", "cn": "税前利润"},
}
"""Each is what the one before is, less further lines."""


class Line(NamedTuple):
    """A sentence with ``{name}``, ``{year}`` and ``{amount}``.

    Attributes
    ----------
    sign
        Of its effect on profit.
    first
        The first of the measures that it changes; their number where it changes none.
    text
        By language.
    once
        Whether it is of its year alone: what did not come again moves the year after it, too.
    """

    sign: int
    first: int
    text: dict[Language, str]
    once: bool = False


LINES: tuple[Line, ...] = (
    Line(1, 0, {"en": "In {year} {name} sold more to old customers, which added {amount} to its gross margin.",
                "cn": "{year}年{name}向老客户销售增加，毛利因此增加{amount}。"}),
    Line(-1, 0, {"en": "Raw materials cost {name} {amount} more in {year} than the year before.",
                 "cn": "{year}年{name}的原材料成本比上年多{amount}。"}),
    Line(-1, 0, {"en": "{name} wrote spoilt goods of {amount} down through cost of sales in {year}.",
                 "cn": "{year}年{name}将{amount}的变质商品计入营业成本。"}, once=True),
    Line(1, 0, {"en": "Better prices from its suppliers saved {name} {amount} of cost of sales in {year}.",
                "cn": "{year}年供应商降价，{name}的营业成本减少{amount}。"}),
    Line(-1, 0, {"en": "In {year} {name} granted rebates that took {amount} from its revenue.",
                 "cn": "{year}年{name}给予客户折扣，营业收入减少{amount}。"}, once=True),
    Line(-1, 1, {"en": "Salaries in the administration of {name} grew by {amount} in {year}.",
                 "cn": "{year}年{name}的管理人员薪酬增加{amount}。"}),
    Line(1, 1, {"en": "{name} advertised less in {year}, and spent {amount} less on it.",
                "cn": "{year}年{name}减少广告，销售费用下降{amount}。"}),
    Line(-1, 1, {"en": "A new head office brought {name} additional depreciation of {amount} in {year}.",
                 "cn": "{year}年新总部使{name}的管理费用中的折旧增加{amount}。"}),
    Line(1, 1, {"en": "The rent that {name} pays for its offices fell by {amount} in {year}.",
                "cn": "{year}年{name}的办公室租金减少{amount}。"}),
    Line(-1, 2, {"en": "Interest on {name}'s loans was {amount} higher in {year}.",
                 "cn": "{year}年{name}的贷款利息增加{amount}。"}),
    Line(1, 2, {"en": "In {year} deposits of {name} bore {amount} more of interest income.",
                "cn": "{year}年{name}的存款利息收入增加{amount}。"}),
    Line(1, 2, {"en": "Cheaper foreign loans gave {name} a currency gain of {amount} in its result of {year}.",
                "cn": "{year}年{name}的外币贷款产生汇兑收益{amount}，计入财务费用。"}, once=True),
    Line(1, 3, {"en": "The tax office returned {amount} of income tax to {name} in {year}.",
                "cn": "{year}年税务机关向{name}退还所得税{amount}。"}),
    Line(-1, 3, {"en": "{name} raised its dividend by {amount} in {year}.", "cn": "{year}年{name}股息增加{amount}。"}),
    Line(-1, 3, {"en": "{name} paid {amount} at the end of {year} for land on which nothing is built yet.",
                 "cn": "{year}年末{name}支付{amount}购买尚未开发的土地。"}),
)  # fmt: skip
ANOMALY: dict[Language, str] = {
    "en": "{measure} of {name} went from {before} million in {last} to {after} million in {year}.",
    "cn": "{name}的{measure}从{last}年的{before}百万元变为{year}年的{after}百万元。",
}


def choices(effects: Sequence[int], change: int) -> list[tuple[int, ...]]:
    """Return every choice of places whose effects add up to the change."""
    places = range(len(effects))
    every = itertools.chain.from_iterable(itertools.combinations(places, size) for size in range(1, len(effects) + 1))
    return [row for row in every if sum(effects[place] for place in row) == change]


def _written(tenths: int, language: Language, *, thousands: bool) -> str:
    if thousands:
        return f"{tenths * 100:,} thousand" if language == "en" else f"{tenths * 10}万元"
    return f"{tenths / 10:g} million" if language == "en" else f"{tenths / 10:g}百万元"


def draw(
    rng: random.Random, language: Language, difficulty: Difficulty = "easy", text: int = 0, kind: str | None = None
) -> Item:
    """Draw causes and others, each of which has the amount of a cause in the same direction."""
    measure = kind or rng.choice(sorted(MEASURES))
    rank = list(MEASURES).index(measure)
    name, other = rng.sample(COMPANIES[language], 2)
    year, before = rng.randint(2015, 2025), rng.randint(4000, 9000)
    elsewhere = ((other, year), (name, year - 1), (other, year - 1))
    for _ in range(MAX_ATTEMPTS):
        causing = [line for line in LINES if line.first <= rank]
        causes = min(CAUSES[difficulty] + rng.choice((-1, 0, 0)), len(causing))
        told = [(line, name, year) for line in rng.sample(causing, causes)]
        for _ in range(COUNTS[difficulty] - causes):
            below = [line for line in LINES if line.first > rank]
            if rng.random() < 0.3:
                told.append((rng.choice(below), name, year))
                continue
            line = rng.choice(causing)
            told.append((line, *rng.choice([place for place in elsewhere if not line.once or place[0] != name])))
        sizes = _sizes(rng, [row[0].sign for row in told], causes)
        if sizes is None or len(set(_told_of(told))) < len(told):
            continue
        effects = [row[0].sign * size for row, size in zip(told, sizes, strict=True)]
        change = sum(effects[:causes])
        if abs(change) > 20 and len(choices(effects, change)) >= LEAST_CHOICES:
            break
    else:
        raise RuntimeError(f"no statements of which many choices make the change in {MAX_ATTEMPTS} draws")
    places = rng.sample(range(len(told)), len(told))
    statements = []
    for place in places:
        line, who, when = told[place]
        thousands = difficulty != "easy" and rng.random() < 0.5
        amount = _written(sizes[place], language, thousands=thousands)
        statements.append(line.text[language].format(name=who, year=when, amount=amount))
    anomaly = ANOMALY[language].format(
        measure=MEASURES[measure][language],
        name=name,
        last=year - 1,
        year=year,
        before=f"{before / 10:g}",
        after=f"{(before + change) / 10:g}",
    )
    question = TEXTS["anomaly_information_tracing"][language][text].format(
        anomaly=anomaly, statements=numbered(statements)
    )
    gold = frozenset(number for number, place in enumerate(places, start=1) if place < causes)
    return Item(measure, question, ExpectedSet(gold), 100.0 / (2 ** len(told) - 1))


def _sizes(rng: random.Random, signs: Sequence[int], causes: int) -> list[int] | None:
    """Return the amounts: of causes drawn, of the others those of causes in turn; None where a sign has no cause."""
    sizes = [rng.randint(11, 999) for _ in range(causes)]
    used = [0] * causes
    for sign in signs[causes:]:
        like = [place for place in range(causes) if signs[place] == sign]
        if not like:
            return None
        place = min(like, key=lambda place: used[place])
        used[place] += 1
        sizes.append(sizes[place])
    return sizes


def _told_of(told: Sequence[tuple[Line, str, int]]) -> list[tuple[str, str, int]]:
    """Return which sentence is told of whom and when, so that none comes twice."""
    return [(line.text["en"], who, when) for line, who, when in told]
