"""Event logic reasoning: put the shuffled events of a financial process in order."""

from __future__ import annotations

import math
import random

from evaluators.answers.expected import ExpectedOrder
from evaluators.bizfinbench.chains import CHAINS, Language
from evaluators.bizfinbench.item import Item

MIN_EVENTS, MAX_EVENTS = 5, 6
COMPANIES: dict[Language, tuple[str, ...]] = {
    "en": ("Aldermoor", "Brightwater", "Corvane", "Delphane", "Estermont", "Fenwick Works", "Galloway", "Harrowgate"),
    "cn": ("晨曜科技", "远帆股份", "青岚实业", "启衡集团", "云栖制造", "瑞禾控股", "博澜工业", "星陆电子"),
}
BANKS: dict[Language, tuple[str, ...]] = {
    "en": ("Kestrel Bank", "Union Harbour Bank", "Meridian Trust", "Northgate Bank"),
    "cn": ("华澜银行", "东辰银行", "中泽证券", "海岳银行"),
}
_INSTRUCTIONS: dict[Language, tuple[str, str]] = {
    "en": (
        "Read the situation and put the events in their causal and chronological order, the earliest first.",
        "Events",
    ),
    "cn": ("阅读以下情境，并将事件按因果与时间顺序排列，最早发生的排在最前。", "事件"),
}


def draw(rng: random.Random, language: Language) -> Item:
    """Draw a stretch of one chain, shuffled; the shuffle is never the right order."""
    chain = rng.choice(CHAINS)
    events = chain.events[language]
    count = rng.randint(MIN_EVENTS, MAX_EVENTS)
    first = rng.randrange(len(events) - count + 1)
    company, rival = rng.sample(COMPANIES[language], 2)
    names = {
        "company": company,
        "rival": rival,
        "bank": rng.choice(BANKS[language]),
        "amount": rng.randrange(40, 900, 5),
        "percent": rng.randint(6, 38),
        "rate": rng.randrange(8, 24) / 4,
    }
    shuffled = list(range(count))
    while shuffled == sorted(shuffled):
        rng.shuffle(shuffled)
    listed = [f"{place}. {events[first + event].format(**names)}" for place, event in enumerate(shuffled, start=1)]
    order = tuple(shuffled.index(event) + 1 for event in range(count))
    instruction, heading = _INSTRUCTIONS[language]
    text = "\n".join([instruction, "", chain.situation[language].format(**names), "", f"{heading}:", *listed])
    return Item(
        kind=chain.name,
        text=text,
        expected=ExpectedOrder(order),
        chance_score=100.0 / math.factorial(count),
    )
