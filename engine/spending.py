"""What replies cost: what an agent says it used, added up without taking an unknown price for 0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.agent.dialect import Usage
from engine.prices import Price
from engine.record import Spent, TaskRecord


@dataclass
class Spending:
    """Tokens and money of some replies.

    Attributes
    ----------
    input_tokens, output_tokens
        Tokens reported.
    cost_usd
        US dollars reported: all of it when ``cost_known``, else a lower bound.
    cost_known
        Whether every reply came with its cost, or with tokens that have a price.
    price
        Of tokens whose cost the agent does not tell.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    cost_known: bool = True
    price: Price | None = None

    def add(self, usage: Usage) -> None:
        """Add what one reply cost."""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        cost = usage.cost_usd
        # no tokens at all: the agent has said nothing of what it used
        if cost is None and self.price is not None and usage.input_tokens + usage.output_tokens > 0:
            cost = self.price.of(usage.input_tokens, usage.output_tokens)
        self.cost_usd += cost or 0.0
        self.cost_known = self.cost_known and cost is not None

    def record(self) -> Spent:
        """Return the spending as it stands in a task's record."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "cost_known": self.cost_known,
        }


def is_known(usage: Spent) -> bool:
    """Return whether a record's ``usage`` holds the whole cost."""
    return bool(usage.get("cost_known", True))


def total(tasks: Iterable[Sequence[Spent]]) -> dict[str, Any]:
    """Return what tasks cost that are given as the ``usage`` of each attempt.

    ``cost_usd`` is None when any of it is unknown; ``cost_at_least_usd`` is what is known.
    """
    rows = [list(attempts) for attempts in tasks]
    known = math.fsum(usage["cost_usd"] for attempts in rows for usage in attempts)
    unknown = sum(not all(map(is_known, attempts)) for attempts in rows)
    return {"cost_usd": None if unknown else known, "cost_at_least_usd": known, "cost_unknown_tasks": unknown}


def in_words(at_least_usd: float, *, known: bool) -> str:
    """Return a cost for people."""
    if known:
        return dollars(at_least_usd)
    return f"at least {dollars(at_least_usd)}" if at_least_usd else "unknown"


def dollars(amount: float) -> str:
    """Return an amount with cents; two digits of what is less than a cent."""
    if amount == 0.0 or amount >= 0.01:
        return f"${amount:.2f}"
    return f"${float(f'{amount:.2g}'):.12f}".rstrip("0")


def judge_costs(record: TaskRecord) -> tuple[float | None, ...]:
    """Return what the judging of a task cost, and what the objection of its debate did; None where nobody knows."""
    details = record["details"]
    return details.get("judge_cost_usd", 0.0), details.get("debate", {}).get("judge_cost_usd", 0.0)
