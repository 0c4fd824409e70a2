"""Counterfactual inference: what would have come of a year if one thing had gone differently."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from evaluators.answers import Tolerance
from evaluators.answers.expected import ExpectedNumber
from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.language import COMPANIES, Language
from evaluators.bizfinbench.texts import TEXTS
from evaluators.contract import Difficulty

TOLERANCE = Tolerance(relative=0.01)
LEAST = 0.02
"""A smaller effect is not asked for."""

ASKED: dict[Language, str] = {
    "en": "By how many percent would {measure} have been higher (negative: lower) than it was?",
    "cn": "那么{measure}会比实际高出百分之多少（更低则为负）？",
}


class Story(NamedTuple):
    """What happened, what is supposed, the measure's name, and the measure in fact and under the supposition."""

    facts: str
    supposition: str
    measure: str
    actual: float
    supposed: float


def _pricing(rng: random.Random, language: Language, difficulty: Difficulty) -> Story:
    """Draw a price rise that cost volume; at hard with a rebate, at expert with a bonus that hangs on profit."""
    units, price, cost = rng.randint(200, 900), rng.randint(40, 160), rng.randint(15, 35)
    rise, lost = rng.randint(6, 18), rng.randint(3, 12)
    fixed = round(units * (price - cost) * rng.uniform(0.3, 0.6))
    rebate = 0 if difficulty == "easy" else rng.randint(4, 11)
    bonus, threshold = 0, 0
    before_units, before_price = units / (1 - lost / 100), price / (1 + rise / 100)

    def profit(volume: float, each: float) -> float:
        result = volume * (each * (1 - rebate / 100) - cost) - fixed
        return result - (bonus if result > threshold else 0.0)

    if difficulty == "expert":
        results = sorted((profit(units, price), profit(before_units, before_price)))
        threshold, bonus = round(sum(results) / 2), round(abs(results[1]) * rng.uniform(0.05, 0.15))
    name = rng.choice(COMPANIES[language])
    if language == "en":
        facts = (
            f"{name} raised its price by {rise}% to {price} dollars a unit and, as a consequence, sold {lost}% fewer "
            f"units than it would have, {units} thousand. A unit cost {cost} dollars to make, fixed costs were {fixed} "
            "thousand dollars."
        )
        facts += f" Dealers got a rebate of {rebate}% on the price." if rebate else ""
        facts += (
            f" Where operating profit before it is above {threshold} thousand dollars, a bonus of {bonus} thousand is "
            "paid out of it."
            if bonus
            else ""
        )
        return Story(facts, "the price had not been raised.", "operating profit", profit(units, price),
                     profit(before_units, before_price))  # fmt: skip
    facts = (
        f"{name}提价{rise}%至每件{price}元，销量因此比不提价时少{lost}%，为{units}千件。"
        f"单位成本{cost}元，固定成本{fixed}千元。"
    )
    facts += f"经销商享受价格{rebate}%的返利。" if rebate else ""
    facts += f"若发放前营业利润高于{threshold}千元，则从中发放奖金{bonus}千元。" if bonus else ""
    return Story(facts, "没有提价。", "营业利润", profit(units, price), profit(before_units, before_price))


def _currency(rng: random.Random, language: Language, difficulty: Difficulty) -> Story:
    """Draw a currency that moved; at hard a part was hedged, at expert costs arise in it, too."""
    sales, old = rng.randint(120, 900), rng.randint(70, 130)
    new = round(old * rng.choice((rng.uniform(0.75, 0.93), rng.uniform(1.07, 1.25))))
    home = rng.randint(150, 900)
    hedged = 0 if difficulty == "easy" else rng.randint(15, 60)
    foreign = rng.randint(30, sales // 2) if difficulty == "expert" else 0
    costs = round((home + sales * old / 100) * rng.uniform(0.5, 0.75))

    def profit(rate: float) -> float:
        abroad = sales * (hedged * old + (100 - hedged) * rate) / 10000
        return home + abroad - costs - foreign * rate / 100

    name = rng.choice(COMPANIES[language])
    if language == "en":
        facts = (
            f"{name} sold for {home} million dollars at home and for {sales} million crowns abroad; its costs in "
            f"dollars were {costs} million. A hundred crowns bought {old} dollars when the year was planned, and {new} "
            "dollars, the rate at which crowns were changed, when it was over."
        )
        facts += f" Of the sales in crowns {hedged}% had been sold forward at the planned rate." if hedged else ""
        facts += f" Besides, costs of {foreign} million crowns arose abroad, which nobody hedged." if foreign else ""
        return Story(facts, "the currency had stayed at its planned rate.", "operating profit", profit(new),
                     profit(old))  # fmt: skip
    facts = (
        f"{name}国内销售{home}百万元，国外销售{sales}百万克朗，人民币成本{costs}百万元。"
        f"计划时100克朗兑{old}元，年末实际结汇时为{new}元。"
    )
    facts += f"克朗销售额的{hedged}%已按计划汇率远期卖出。" if hedged else ""
    facts += f"另有未对冲的国外成本{foreign}百万克朗。" if foreign else ""
    return Story(facts, "汇率一直保持在计划水平。", "营业利润", profit(new), profit(old))


def _borrowing(rng: random.Random, language: Language, difficulty: Difficulty) -> Story:
    """Draw a rate that rose; at hard part of the debt is fixed, at expert interest above a cap is not deductible."""
    debt = rng.randint(300, 1500)
    before, rise = rng.randint(8, 20) / 4, rng.randint(3, 14) / 4
    result = round(debt * rng.uniform(0.12, 0.3))
    fixed = 0 if difficulty == "easy" else rng.randint(20, 65)
    tax = rng.randint(18, 30)
    cap = round(debt * (before + rise / 2) / 100, 1) if difficulty == "expert" else 0.0

    def profit(rate: float) -> float:
        interest = debt * (fixed * before + (100 - fixed) * rate) / 10000
        deducted = min(interest, cap) if cap else interest
        return result - interest - (result - deducted) * tax / 100

    name = rng.choice(COMPANIES[language])
    if language == "en":
        facts = (
            f"{name} earned {result} million dollars before interest and tax and owed {debt} million all year. The "
            f"rate on its loans, {before:g}% at first, was raised by {rise:g} percentage points on the first day of "
            f"the year. Tax is {tax}% of profit after deductible interest."
        )
        facts += f" The rate on {fixed}% of the debt was fixed and did not rise." if fixed else " All interest deducts."
        facts += f" Of interest, {cap:g} million can be deducted at most." if cap else ""
        return Story(facts, "the rate had not been raised.", "net profit", profit(before + rise), profit(before))
    facts = (
        f"{name}息税前利润{result}百万元，全年负债{debt}百万元。贷款利率原为{before:g}%，年初第一天上调{rise:g}个百分点。"
        f"税率为扣除可抵扣利息后利润的{tax}%。"
    )
    facts += f"其中{fixed}%的负债为固定利率，未上调。" if fixed else "利息全部可抵扣。"
    facts += f"利息最多可抵扣{cap:g}百万元。" if cap else ""
    return Story(facts, "利率没有上调。", "净利润", profit(before + rise), profit(before))


STORIES: dict[str, Callable[[random.Random, Language, Difficulty], Story]] = {
    "pricing": _pricing,
    "currency": _currency,
    "borrowing": _borrowing,
}


def draw(
    rng: random.Random, language: Language, difficulty: Difficulty = "easy", text: int = 0, kind: str | None = None
) -> Item:
    """Draw a year and what would have come of it; profits are positive in both."""
    name = kind or rng.choice(sorted(STORIES))
    while True:
        story = STORIES[name](rng, language, difficulty)
        if story.actual > 5 and story.supposed > 5 and LEAST < abs(story.supposed / story.actual - 1) < 3:
            break
    question = TEXTS["counterfactual_inference"][language][text].format(
        facts=story.facts,
        supposition=story.supposition,
        asked=ASKED[language].format(measure=story.measure),
    )
    return Item(name, question, ExpectedNumber(story.supposed / story.actual - 1, "percent", TOLERANCE))
