"""The purse of a run's judges: what they may cost together, by the prices of the config."""

from __future__ import annotations

import math
from collections.abc import Iterable

from engine.config import RunConfig
from engine.record import TaskRecord
from engine.spending import judge_costs
from evaluators.judge.purse import Payer, Purse


def with_purse(config: RunConfig, stored: Iterable[TaskRecord] = ()) -> RunConfig:
    """Return the config with a judge whose calls are counted, those of ``stored`` tasks included."""
    if config.judge is None:
        return config
    spent = math.fsum(cost or 0.0 for record in stored for cost in judge_costs(record))
    prices = {name: price.of for name, price in config.prices.items()}
    purse = Purse(config.judge.budget_usd, prices, spent_usd=spent)
    return paid_from(config, purse)


def paid_from(config: RunConfig, purse: Payer) -> RunConfig:
    """Return the config with a judge, where it has one, whose calls are paid from ``purse``."""
    return config if config.judge is None else config.model_copy(update={"judge": config.judge.paid_from(purse)})
