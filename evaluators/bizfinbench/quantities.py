"""Financial quantitative computation: pick the formula, read the table, apply the assumptions, compute.

Hard items have a table in thousands, all formulas to choose from, and a second assumption in millions; expert ones
besides correct a figure of the table and ask how far the company is ahead of another one.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from evaluators.answers import Kind, Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.bizfinbench import accounts
from evaluators.bizfinbench.accounts import Accounts
from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.language import COMPANIES, Language
from evaluators.bizfinbench.texts import TEXTS
from evaluators.contract import Difficulty

TOLERANCE = Tolerance(relative=0.01)
LAST_YEARS = range(2018, 2026)

FORMULAS: dict[str, dict[Language, str]] = {
    "growth": {
        "en": "Compound annual growth rate = (terminal value / base value)^(1 / number of years) - 1",
        "cn": "复合年增长率 = (期末值 / 基期值)^(1 / 年数) - 1",
    },
    "gross-margin": {
        "en": "Gross margin = (revenue - operating cost) / revenue",
        "cn": "毛利率 = (营业收入 - 营业成本) / 营业收入",
    },
    "quick-ratio": {
        "en": "Quick ratio = (total current assets - inventory) / total current liabilities",
        "cn": "速动比率 = (流动资产合计 - 存货) / 流动负债合计",
    },
    "equity-multiplier": {
        "en": "Equity multiplier = total assets / (total assets - total liabilities)",
        "cn": "权益乘数 = 资产总计 / (资产总计 - 负债合计)",
    },
    "inventory-days": {
        "en": "Days of inventory = 365 x mean of opening and closing inventory / operating cost of the year",
        "cn": "存货周转天数 = 365 × 期初与期末存货的平均值 / 当年营业成本",
    },
    "interest-cover": {
        "en": "Interest cover = operating profit / interest expense",
        "cn": "利息保障倍数 = 营业利润 / 利息费用",
    },
    "return-on-assets": {
        "en": "Return on assets = net profit / mean of opening and closing total assets",
        "cn": "总资产收益率 = 净利润 / 期初与期末资产总计的平均值",
    },
    "cash-ratio": {
        "en": "Cash flow ratio = net operating cash flow / total current liabilities",
        "cn": "现金流量比率 = 经营活动现金流净额 / 流动负债合计",
    },
}


class Computation(NamedTuple):
    """A kind of computation.

    Attributes
    ----------
    items
        Columns of the table.
    years
        Number of years in the table, the last one being asked about.
    changed
        The item that the assumption changes, and in which year (0 the last, -1 the first of the table).
    value
        ``(accounts, last year, first year)`` -> gold.
    ask
        The question; ``{name}``, ``{first}``, ``{last}``, ``{item}``, ``{change}`` are filled in.
    """

    formula: str
    kind: Kind
    items: tuple[str, ...]
    years: int
    changed: tuple[str, int]
    value: Callable[[Accounts, int, int], float]
    ask: dict[Language, str]
    unit: str = ""


_ASSUMING: dict[Language, str] = {
    "en": "Assuming that the {item} of {name} in {year} had been {change}% {direction}, ",
    "cn": "假设{name}{year}年的{item}{direction}{change}%，",
}
_DIRECTION: dict[Language, dict[bool, str]] = {
    "en": {True: "higher", False: "lower"},
    "cn": {True: "提高", False: "降低"},
}


def _growth(books: Accounts, last: int, first: int) -> float:
    base = books("operating_cash_flow", first)
    return float((books("operating_cash_flow", last) / base) ** (1 / (last - first)) - 1)


COMPUTATIONS: dict[str, Computation] = {
    "cash-flow-growth": Computation(
        "growth", "percent", ("operating_cash_flow", "operating_profit"), 4, ("operating_cash_flow", -1), _growth,
        {"en": "what was the compound annual growth rate of its net operating cash flow from {first} to {last}?",
         "cn": "{first}年至{last}年其经营活动现金流净额的复合年增长率是多少？"},
    ),
    "gross-margin": Computation(
        "gross-margin", "percent", ("revenue", "operating_cost", "operating_profit"), 2, ("operating_cost", 0),
        lambda books, last, first: 1 - books("operating_cost", last) / books("revenue", last),
        {"en": "what would its gross margin in {last} have been?", "cn": "其{last}年的毛利率是多少？"},
    ),
    "quick-ratio": Computation(
        "quick-ratio", "number", ("current_assets", "inventory", "current_liabilities", "assets"), 2, ("inventory", 0),
        lambda books, last, first: (books("current_assets", last) - books("inventory", last))
        / books("current_liabilities", last),
        {"en": "with all other figures unchanged, what would its quick ratio at the end of {last} have been?",
         "cn": "在其他数据不变的情况下，其{last}年末的速动比率是多少？"},
    ),
    "equity-multiplier": Computation(
        "equity-multiplier", "number", ("assets", "liabilities", "current_liabilities"), 2, ("liabilities", 0),
        lambda books, last, first: books("assets", last)
        / (books("assets", last) - books("liabilities", last)),
        {"en": "with all other figures unchanged, what would its equity multiplier at the end of {last} have been?",
         "cn": "在其他数据不变的情况下，其{last}年末的权益乘数是多少？"},
    ),
    "inventory-days": Computation(
        "inventory-days", "number", ("inventory", "operating_cost", "revenue"), 2, ("operating_cost", 0),
        lambda books, last, first: 365 * (books("inventory", last) + books("inventory", last - 1)) / 2
        / (books("operating_cost", last)),
        {"en": "how many days of inventory would it have had in {last}?", "cn": "其{last}年的存货周转天数是多少天？"},
        "days",
    ),
    "interest-cover": Computation(
        "interest-cover", "number", ("operating_profit", "interest", "net_profit"), 2, ("interest", 0),
        lambda books, last, first: books("operating_profit", last) / (books("interest", last)),
        {"en": "what would its interest cover in {last} have been?", "cn": "其{last}年的利息保障倍数是多少？"},
    ),
    "return-on-assets": Computation(
        "return-on-assets", "percent", ("net_profit", "assets", "revenue"), 2, ("net_profit", 0),
        lambda books, last, first: 2 * books("net_profit", last)
        / (books("assets", last) + books("assets", last - 1)),
        {"en": "what would its return on assets in {last} have been?", "cn": "其{last}年的总资产收益率是多少？"},
    ),
    "cash-ratio": Computation(
        "cash-ratio", "percent", ("operating_cash_flow", "current_liabilities", "current_assets"), 2,
        ("operating_cash_flow", 0),
        lambda books, last, first: books("operating_cash_flow", last)
        / books("current_liabilities", last),
        {"en": "what would its cash flow ratio in {last} have been, as a percentage?",
         "cn": "其{last}年的现金流量比率是多少（以百分比表示）？"},
    ),
}  # fmt: skip

ALSO: dict[Language, str] = {
    "en": "Assuming besides that the {item} of {name} in {year} had been {amount} million {direction}, ",
    "cn": "另外假设{name}{year}年的{item}{direction}{amount}百万元，",
}
AHEAD: dict[Language, str] = {
    "en": " State by how {much} that exceeds the same measure of {other}, as reported (negative where it does not).",
    "cn": "请给出该指标比{other}（按报告数字）高出{much}（若低则为负）。",
}
MUCH: dict[Language, dict[bool, str]] = {
    "en": {True: "many percentage points", False: "much"},
    "cn": {True: "多少个百分点", False: "多少"},
}
"""By whether the measure is a percentage: what it exceeds another by is then no percentage of that one."""
CORRECTED: dict[Language, str] = {
    "en": "Correction: {item} of {name} in {year} was {value:.0f} thousand.",
    "cn": "更正：{name}{year}年的{item}为{value:.0f}千元。",
}


def _formula_list(rng: random.Random, right: str, language: Language, *, every: bool) -> str:
    others = sorted(set(FORMULAS) - {right})
    names = [right, *(others if every else rng.sample(others, 3))]
    rng.shuffle(names)
    return "\n".join(f"- {FORMULAS[name][language]}" for name in names)


def _drawable(gold: float) -> bool:
    """Return whether 1% of the answer is more than the rounding of an answer with four significant digits."""
    return 0.01 < abs(gold) < 1e6


def changed(books: Accounts, item: str, year: int, value: float) -> Accounts:
    """Return the accounts with another value of one figure."""
    return replace(books, figures={**books.figures, item: {**books.figures[item], year: value}})


def _second(rng: random.Random, computation: Computation, books: Accounts, last: int, first: int) -> str | None:
    """Return another item whose change in the last year changes the answer; None where there is none."""
    gold = computation.value(books, last, first)
    moving = [
        item
        for item in computation.items
        if item != computation.changed[0]
        and computation.value(changed(books, item, last, 1.1 * books(item, last)), last, first) != gold
    ]
    return rng.choice(moving) if moving else None


def draw(
    rng: random.Random, language: Language, difficulty: Difficulty = "easy", text: int = 0, kind: str | None = None
) -> Item:
    """Draw a computation on invented accounts, under assumptions that change one figure or two."""
    name = kind or rng.choice(sorted(COMPUTATIONS))
    while True:
        item = _drawn(rng, name, language, difficulty, text)
        if item is not None:
            return item


def _drawn(rng: random.Random, name: str, language: Language, difficulty: Difficulty, text: int) -> Item | None:
    computation = COMPUTATIONS[name]
    last = rng.choice(LAST_YEARS)
    years = range(last - computation.years + 1, last + 1)
    books = [accounts.draw(rng, company, years) for company in rng.sample(COMPANIES[language], 3)]
    asked, other = rng.sample(books, 2)
    easy = difficulty == "easy"
    data = accounts.told(rng, books, computation.items, years, language, plain=easy, thousands=not easy)
    item, place = computation.changed
    year = last if place == 0 else years[0]
    if difficulty == "expert":
        value = round(asked(item, year) * rng.uniform(0.75, 0.9), 2)
        asked = changed(asked, item, year, value)
        label = accounts.LABELS[item][language]
        data += "\n" + CORRECTED[language].format(item=label, name=asked.company, year=year, value=1000 * value)
    change, higher = rng.randint(5, 25), rng.random() < 0.5
    supposed = changed(asked, item, year, asked(item, year) * (1 + change / 100 * (1 if higher else -1)))
    facts = {"name": asked.company, "first": years[0], "last": last}
    label = accounts.LABELS[item][language]
    question = _ASSUMING[language].format(
        **facts, year=year, item=_lower(label), change=change, direction=_DIRECTION[language][higher]
    )
    if not easy and (also := _second(rng, computation, supposed, last, years[0])) is not None:
        amount = round(asked(also, last) * rng.uniform(0.03, 0.1), 1)
        more = rng.random() < 0.5
        supposed = changed(supposed, also, last, supposed(also, last) + (amount if more else -amount))
        label, direction = accounts.LABELS[also][language], _DIRECTION[language][more]
        told = ALSO[language].format(**facts, year=last, item=_lower(label), amount=f"{amount:g}", direction=direction)
        question += told[0].lower() + told[1:] if language == "en" else told
    question += computation.ask[language].format(**facts)
    gold = computation.value(supposed, last, years[0])
    if difficulty == "expert":
        gold -= computation.value(other, last, years[0])
        much = MUCH[language][computation.kind == "percent"]
        question += AHEAD[language].format(other=other.company, much=much)
    if not _drawable(gold) or supposed(item, year) <= 0:
        return None
    wording = TEXTS["financial_quantitative_computation"][language][text].format(
        formulas=_formula_list(rng, computation.formula, language, every=not easy), data=data, question=question
    )
    return Item(name, wording, ExpectedNumber(gold, computation.kind, TOLERANCE, computation.unit))


def _lower(label: str) -> str:
    return label.lower()
