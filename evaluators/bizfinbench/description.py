"""Financial data description: which sentences about a table of accounts are wrong."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias

from evaluators.bizfinbench import accounts
from evaluators.bizfinbench.accounts import LABELS, Accounts
from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.language import COMPANIES, Language, numbered
from evaluators.bizfinbench.public_answers import ExpectedSet
from evaluators.bizfinbench.texts import TEXTS
from evaluators.contract import Difficulty

COUNTS: dict[Difficulty, int] = {"easy": 6, "hard": 8, "expert": 10}
ITEMS = ("revenue", "operating_cost", "operating_profit", "net_profit", "assets")
YEARS = 3
LEAST_OF_A_KIND = 2
"""Wrong sentences, and right ones: a single one is found by naming any number."""
CLEARLY = 1.15
"""A wrong figure is off by this factor at least, a wrong order by so much between the two."""

Sentence: TypeAlias = Callable[[random.Random, "list[Accounts]", range, Language, bool], "str | None"]
"""Draws a sentence that is right, or wrong where the last argument says so; None where the accounts allow none."""


def _label(item: str, language: Language) -> str:
    return LABELS[item][language].lower() if language == "en" else LABELS[item][language]


def _off(rng: random.Random, value: float) -> float:
    return value * rng.choice((rng.uniform(CLEARLY, 1.6), 1 / rng.uniform(CLEARLY, 1.6)))


def _growth(rng: random.Random, books: list[Accounts], years: range, language: Language, wrong: bool) -> str | None:
    book, item, year = rng.choice(books), rng.choice(ITEMS), rng.choice(years[1:])
    change = book(item, year) / book(item, year - 1) - 1
    if abs(change) < 0.02:
        return None
    shown = abs(_off(rng, change) if wrong else change)
    if language == "en":
        way = "grew" if change > 0 else "shrank"
        return f"{_label(item, language).capitalize()} of {book.company} {way} by {100 * shown:.1f}% in {year}."
    return f"{year}年{book.company}的{_label(item, language)}{'增长' if change > 0 else '下降'}{100 * shown:.1f}%。"


def _margin(rng: random.Random, books: list[Accounts], years: range, language: Language, wrong: bool) -> str | None:
    book, item, year = rng.choice(books), rng.choice(("operating_profit", "net_profit")), rng.choice(years)
    share = book(item, year) / book("revenue", year)
    shown = 100 * (_off(rng, share) if wrong else share)
    if language == "en":
        return f"{_label(item, language).capitalize()} of {book.company} was {shown:.1f}% of its revenue in {year}."
    return f"{year}年{book.company}的{_label(item, language)}占营业收入的{shown:.1f}%。"


def _first(rng: random.Random, books: list[Accounts], years: range, language: Language, wrong: bool) -> str | None:
    item, year = rng.choice(ITEMS), rng.choice(years)
    ranked = sorted(books, key=lambda book: -book(item, year))
    if ranked[0](item, year) < CLEARLY * ranked[1](item, year):
        return None
    named = rng.choice(ranked[1:]) if wrong else ranked[0]
    if language == "en":
        return f"Of the three, {named.company} had the largest {_label(item, language)} in {year}."
    return f"{year}年{_label(item, language)}最高的是{named.company}。"


def _together(rng: random.Random, books: list[Accounts], years: range, language: Language, wrong: bool) -> str | None:
    item, year = rng.choice(ITEMS), rng.choice(years)
    total = sum(book(item, year) for book in books)
    shown = _off(rng, total) if wrong else total
    if language == "en":
        return f"Together, they showed {_label(item, language)} of {shown / 1000:.3f} billion for {year}."
    return f"{year}年各公司{_label(item, language)}合计{shown / 100:.2f}亿元。"


def _points(rng: random.Random, books: list[Accounts], years: range, language: Language, wrong: bool) -> str | None:
    """Draw a change of a margin in percentage points; wrong is the relative change under that name."""
    book, year = rng.choice(books), rng.choice(years[1:])
    now, then = (book("operating_profit", when) / book("revenue", when) for when in (year, year - 1))
    right, relative = 100 * (now - then), 100 * (now / then - 1)
    if abs(right) < 0.3 or abs(relative) < 1.5 * abs(right):
        return None
    shown = abs(relative if wrong else right)
    if language == "en":
        way = "up" if now > then else "down"
        return f"The operating margin of {book.company} was {way} by {shown:.1f} percentage points in {year}."
    return f"{year}年{book.company}的营业利润率{'上升' if now > then else '下降'}{shown:.1f}个百分点。"


def _multiple(rng: random.Random, books: list[Accounts], years: range, language: Language, wrong: bool) -> str | None:
    """Draw one company's item as a multiple of another's, wrong by a factor."""
    (one, two), item, year = rng.sample(books, 2), rng.choice(ITEMS), rng.choice(years)
    ratio = one(item, year) / two(item, year)
    if not CLEARLY < ratio < 20:
        return None
    shown = _off(rng, ratio) if wrong else ratio
    if language == "en":
        return f"In {year}, {one.company} had {shown:.2f} times the {_label(item, language)} of {two.company}."
    return f"{year}年{one.company}的{_label(item, language)}是{two.company}的{shown:.2f}倍。"


SENTENCES: dict[Difficulty, tuple[Sentence, ...]] = {
    "easy": (_growth, _margin, _first),
    "hard": (_growth, _margin, _first, _together, _points),
    "expert": (_growth, _margin, _together, _points, _multiple),
}
RESTATED: dict[Language, str] = {
    "en": "{item} of {name} for {year} was restated afterwards, to {value:.2f} million; the new figure counts.",
    "cn": "{name}{year}年的{item}其后重述为{value:.2f}百万元，以重述后的数字为准。",
}


def draw(
    rng: random.Random, language: Language, difficulty: Difficulty = "easy", text: int = 0, kind: str | None = None
) -> Item:
    """Draw accounts and sentences about them; at expert one figure of the table is restated beneath it."""
    last = rng.randint(2018, 2025)
    years = range(last - YEARS + 1, last + 1)
    books = [accounts.draw(rng, company, years) for company in rng.sample(COMPANIES[language], 3)]
    shown, note = accounts.told(rng, books, ITEMS, years, language, plain=difficulty == "easy"), ""
    if difficulty == "expert":
        book, item, year = rng.choice(books), rng.choice(ITEMS[:4]), rng.choice(years)
        value = round(book(item, year) * rng.uniform(0.7, 0.85), 2)
        book.figures[item][year] = value
        label = LABELS[item][language]
        note = "\n" + RESTATED[language].format(item=label, name=book.company, year=year, value=value)
    sentences: list[tuple[str, bool]] = []
    while len(sentences) < COUNTS[difficulty]:
        wrong = rng.random() < 0.45
        sentence = rng.choice(SENTENCES[difficulty])(rng, books, years, language, wrong)
        if sentence is not None and sentence not in [known for known, _ in sentences]:
            sentences.append((sentence, wrong))
    question = TEXTS["financial_data_description"][language][text].format(
        data=shown + note, sentences=numbered([sentence for sentence, _ in sentences])
    )
    gold = frozenset(number for number, (_, wrong) in enumerate(sentences, start=1) if wrong)
    if not LEAST_OF_A_KIND <= len(gold) <= len(sentences) - LEAST_OF_A_KIND:
        return draw(rng, language, difficulty, text, kind)
    return Item("accounts", question, ExpectedSet(gold), 100.0 / (2 ** len(sentences) - 1))
