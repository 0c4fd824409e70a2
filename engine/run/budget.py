"""The budget of a run: what all its tasks together may cost."""

from __future__ import annotations

from collections.abc import Iterable

from engine import spending
from engine.agent.model_settings import ModelSettings
from engine.config import LimitsConfig
from engine.errors import ConfigError, RunIncomplete
from engine.record import Spent


class BudgetSpent(RunIncomplete):
    """The run may cost no more; a larger budget lets it go on."""


class Budget:
    """Counts what a run spends, every attempt of every sitting, against ``limits.max_cost_usd``.

    A reply's price is known when it has come, so the last task can go over the budget; how far is held down by starting
    a task beside others only where the dearest one so far would still fit for each of them.
    """

    def __init__(self, limit_usd: float | None, *, spent: Iterable[Spent] = ()) -> None:
        self._limit_usd = limit_usd
        self._spent_usd = sum(usage["cost_usd"] for usage in spent)
        self._dearest_usd: float | None = None

    def add(self, usage: Spent) -> None:
        """Count what one attempt cost."""
        self._spent_usd += usage["cost_usd"]
        self._dearest_usd = max(self._dearest_usd or 0.0, usage["cost_usd"])

    def has_room(self, under_way: int) -> bool:
        """Return whether one more task may start beside those under way, or whether waiting for them is no use."""
        if self._limit_usd is None or under_way == 0:
            return True
        return self._dearest_usd is not None and self._spent_usd + under_way * self._dearest_usd < self._limit_usd

    def exhausted(self) -> BudgetSpent | None:
        """Return why no further task may start, when the budget is spent."""
        if self._limit_usd is None or self._spent_usd < self._limit_usd:
            return None
        return BudgetSpent(
            f"the budget of {spending.dollars(self._limit_usd)} (limits.max_cost_usd) is spent: "
            f"{spending.dollars(self._spent_usd)}"
        )


def refuse_unmetered(limits: LimitsConfig, model: ModelSettings) -> None:
    """Refuse limits in dollars for the language model without prices: they would never be met."""
    named = [name for name in ("max_cost_usd", "max_task_cost_usd") if getattr(limits, name) is not None]
    if named and not model.is_priced:
        raise ConfigError(
            f"limits.{named[0]}: the prices of builtin:llm are unknown, so that this limit cannot be kept; give "
            "--input-price and --output-price (US dollars per million tokens), or set OPENAI_INPUT_PRICE and "
            "OPENAI_OUTPUT_PRICE, or name the model in the config's prices, or limit max_tokens"
        )
