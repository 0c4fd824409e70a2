"""Tokens and money that one message uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from a2a_service import Usage


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens; None where they are unknown."""

    input_usd: float | None
    output_usd: float | None


@dataclass
class Meter:
    """Tokens and money that one message has used."""

    prices: Prices
    input_tokens: int = 0
    output_tokens: int = 0
    complete: bool = True

    def add(self, usage: Any) -> None:
        """Count the usage that the endpoint reported; where it reports none (None), the cost is unknown."""
        self.complete = self.complete and usage is not None
        self.input_tokens += getattr(usage, "prompt_tokens", 0) or 0
        self.output_tokens += getattr(usage, "completion_tokens", 0) or 0

    @property
    def cost_usd(self) -> float | None:
        """US dollars so far; None where they are unknown."""
        if self.prices.input_usd is None or self.prices.output_usd is None or not self.complete:
            return None
        return (self.input_tokens * self.prices.input_usd + self.output_tokens * self.prices.output_usd) / 1e6

    def report(self) -> Usage:
        """Return the usage as A2A metadata."""
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "cost_usd": self.cost_usd}
