"""What a run's judges may cost together."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Protocol

from evaluators.contract import JudgeUnavailable

Price = Callable[[int, int], float]
"""Tokens read and written in, US dollars out."""


class PurseEmpty(JudgeUnavailable):
    """The judges may cost no more: whatever they have not judged stays unjudged."""


class Payer(Protocol):
    """What the calls of a judge are paid from."""

    def open(self) -> None:
        """Raise :class:`PurseEmpty` where nothing is left."""
        ...

    def pay(self, model: str, tokens: tuple[int, int] | None) -> float:
        """Pay one call and return its cost in US dollars, NaN where it is unknown."""
        ...


class Purse:
    """Counts what judges cost, and ends it at a limit; calls under way when it is reached are still paid.

    Parameters
    ----------
    limit_usd
        What may be spent; None: any amount.
    prices
        By the model's name; a model without one costs what nobody knows, which a limit does not allow.
    spent_usd
        What was spent before.
    """

    def __init__(self, limit_usd: float | None, prices: Mapping[str, Price], *, spent_usd: float = 0.0) -> None:
        self.limit_usd, self.prices, self.spent_usd = limit_usd, dict(prices), spent_usd
        self._lock = threading.Lock()

    def open(self) -> None:
        """Raise :class:`PurseEmpty` where nothing is left."""
        with self._lock:
            if self.limit_usd is not None and self.spent_usd >= self.limit_usd:
                spent, limit = f"${self.spent_usd:.6g}", f"${self.limit_usd:.6g}"
                raise PurseEmpty(f"the judges' budget of {limit} (judge.budget_usd) is spent: {spent}")

    def pay(self, model: str, tokens: tuple[int, int] | None) -> float:
        """Pay one call and return its cost in US dollars, NaN where it is unknown.

        Raises
        ------
        PurseEmpty
            The endpoint tells no tokens, so that the limit cannot be kept.
        """
        price = self.prices.get(model)
        cost = math.nan if price is None or tokens is None else price(*tokens)
        with self._lock:
            if math.isnan(cost):
                if self.limit_usd is not None:
                    raise PurseEmpty(f"the judge {model} does not tell its tokens: judge.budget_usd cannot be kept")
                return cost
            self.spent_usd += cost
            return cost
