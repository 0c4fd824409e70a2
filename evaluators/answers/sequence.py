"""Read an ordered list of item numbers out of what a reply states."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evaluators.answers.statement import Statement, alternatives, stated_answers
from evaluators.answers.typed_json import Refusal

MAX_ITEMS = 100
_WORDS = r"(?:and\s+then|and\s+finally|and\s+lastly|and|then|followed\s+by|finally|lastly|before)"
_SEPARATOR = rf"\s*(?:[,;、]\s*{_WORDS}(?=\s)|,|;|、|->|=>|→|➔|⇒|>|<|-|–|—|{_WORDS}(?=\s))\s*|\s*\)\s*\(\s*|\s+"
_RUN = re.compile(rf"(?<![\w.])[0-9]{{1,3}}(?:(?:{_SEPARATOR})[0-9]{{1,3}})+(?![\w%])(?!\.[0-9])", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()0-9]{0,300}\)")
_COUNT = re.compile(r"\b(?:the|all|these|those|of)\s+[0-9]{1,2}\s+(?:events|items|steps|stages)\b", re.IGNORECASE)
_ITEM_WORD = re.compile(r"(?:\b(?:events?|items?|steps?|E)|事件|#)\s*(?=[0-9])", re.IGNORECASE)
_PREFIX = re.compile(r"^\s*(?:[A-Za-z]+\s*)?[A-Za-z][0-9]{0,3}\s*[:.)]\s*")


@dataclass(frozen=True)
class StatedSequence:
    """An order that a reply states.

    Attributes
    ----------
    items
        The item numbers in the stated order.
    text
        The words they were read from.
    """

    items: tuple[int, ...]
    text: str


def _read(statement: Statement) -> StatedSequence | Refusal:
    text = _ITEM_WORD.sub("", _COUNT.sub(" ", _ASIDE.sub(" ", _PREFIX.sub("", statement.text))))
    written = [match.group() for match in _RUN.finditer(text)]
    runs = {tuple(int(item) for item in re.findall(r"[0-9]+", run)) for run in written}
    if not runs:
        return Refusal(f"no order in the stated answer, write 2,1,3: {statement.text[:80]!r}")
    if len(runs) > 1 or any("<" in run and ">" in run for run in written):
        return Refusal(f"several orders in the stated answer: {statement.text[:80]!r}")
    if re.search(r"[0-9]", _RUN.sub(" ", text)):
        return Refusal(f"numbers beside the order in the stated answer: {statement.text[:80]!r}")
    items = runs.pop()
    if len(items) > MAX_ITEMS:
        return Refusal(f"the stated order has {len(items)} items, more than {MAX_ITEMS}")
    if len(set(items)) < len(items):
        return Refusal(f"an item comes twice in the stated order: {statement.text[:80]!r}")
    return StatedSequence(items, statement.text)


def parse_sequence(text: str) -> StatedSequence | Refusal:
    """Return the one order that ``text`` states: ``2,1,4,3``, ``2-1-4-3``, ``2 -> 1 -> 4``, ``[2, 1]``, ``Q4: 2,1``.

    Two different orders, numbers beside the order, an item that comes twice, a negated or a hedged order are refusals.
    Never raises on any ``text``.
    """
    statements = stated_answers(text)
    if isinstance(statements, Refusal):
        return statements
    orders: list[StatedSequence] = []
    for statement in statements:
        order = alternatives(statement) or _read(statement)
        if isinstance(order, Refusal):
            return order
        orders.append(order)
    if any(order.items != orders[0].items for order in orders):
        return Refusal("several final answers that differ")
    return orders[-1]
