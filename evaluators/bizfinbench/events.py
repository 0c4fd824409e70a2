"""Event logic reasoning: put shuffled events in order by the amounts that they start from and end with.

Which sentence follows which is neither in the words nor in a process that could be known: every event tells its change
and where it ends, and only the one that ends where another starts can come before it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.answers.expected import ExpectedOrder
from evaluators.bizfinbench.item import Item
from evaluators.bizfinbench.language import BANKS, COMPANIES, Language, numbered
from evaluators.bizfinbench.ledgers import PROCESSES, SITUATIONS, TAILS
from evaluators.bizfinbench.texts import TEXTS
from evaluators.contract import Difficulty

COUNTS: dict[Difficulty, int] = {"easy": 6, "hard": 7, "expert": 7}
UNTOLD: dict[Difficulty, int] = {"easy": 0, "hard": 0, "expert": 2}
"""Events that do not say where they end."""
MAX_ATTEMPTS = 200


class Event(NamedTuple):
    """A change in tenths of a million, and the amount after it, None where it is not told."""

    change: int
    after: int | None


def orders(start: int, events: Sequence[Event]) -> list[tuple[int, ...]]:
    """Return every order of the events, as places in ``events``, that agrees with all amounts."""
    found: list[tuple[int, ...]] = []

    def extend(amount: int, row: tuple[int, ...]) -> None:
        if len(row) == len(events):
            found.append(row)
        for place, event in enumerate(events):
            after = amount + event.change
            if place not in row and event.after in (None, after):
                extend(after, (*row, place))

    extend(start, ())
    return found


def _draw_events(rng: random.Random, difficulty: Difficulty) -> tuple[int, list[Event]]:
    """Return a start and events in their order, which is the only one that agrees and no order by size."""
    for _ in range(MAX_ATTEMPTS):
        start = amount = rng.randint(3000, 9000)
        events = []
        for _ in range(COUNTS[difficulty]):
            change = rng.choice((-1, 1)) * rng.randint(100, 1900)
            amount += change
            events.append(Event(change, amount))
        for place in rng.sample(range(1, len(events)), UNTOLD[difficulty]):
            events[place] = events[place]._replace(after=None)
        told = [event.after for event in events if event.after is not None]
        by_size = told in (sorted(told), sorted(told, reverse=True))
        if min(told) > 500 and not by_size and orders(start, events) == [tuple(range(len(events)))]:
            return start, events
    raise RuntimeError(f"no events with one order in {MAX_ATTEMPTS} draws")


def _written(tenths: int, language: Language, *, thousands: bool) -> str:
    size = abs(tenths)
    if thousands:
        return f"{size * 100:,} thousand" if language == "en" else f"{size * 10}万元"
    return f"{size / 10:g} million" if language == "en" else f"{size / 10:g}百万元"


def draw(
    rng: random.Random, language: Language, difficulty: Difficulty = "easy", text: int = 0, kind: str | None = None
) -> Item:
    """Draw events of one process, shuffled; the shuffle is never the right order."""
    process = next((row for row in PROCESSES if row.name == kind), None) or rng.choice(PROCESSES)
    start, events = _draw_events(rng, difficulty)
    amount, bank = process.amount[language], rng.choice(BANKS[language])
    actions = {
        sign: rng.sample(rows[language] * 3, 3 * len(rows[language]))
        for sign, rows in ((True, process.raising), (False, process.lowering))
    }
    lines = []
    for event in events:
        thousands = difficulty == "expert" and rng.random() < 0.5
        change = _written(event.change, language, thousands=thousands)
        action = actions[event.change > 0].pop().format(change=change, bank=bank)
        if event.after is None:
            lines.append(f"{action}{'.' if language == 'en' else '。'}")
        else:
            after = _written(event.after, language, thousands=difficulty == "expert" and rng.random() < 0.5)
            lines.append(rng.choice(TAILS[language]).format(action=action, amount=amount, after=after))
    shuffled = list(range(len(events)))
    while shuffled == sorted(shuffled):
        rng.shuffle(shuffled)
    begin = _written(start, language, thousands=False)
    company = rng.choice(COMPANIES[language])
    situation = SITUATIONS[language].format(amount=amount, company=company, start=begin)
    question = TEXTS["event_logic_reasoning"][language][text].format(
        situation=situation, events=numbered([lines[event] for event in shuffled])
    )
    order = tuple(shuffled.index(event) + 1 for event in range(len(events)))
    return Item(process.name, question, ExpectedOrder(order), 100.0 / math.factorial(len(events)))
