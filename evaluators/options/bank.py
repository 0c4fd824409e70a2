"""The templates of options tasks by name, and the printed instances."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evaluators.contract import Json
from evaluators.options import (
    attribution_tasks,
    collar_tasks,
    exposure_tasks,
    greeks_tasks,
    pricing_tasks,
    spread_tasks,
    strategy_tasks,
    volatility_tasks,
)
from evaluators.options.problem import Problem

MAX_ATTEMPTS = 200


@dataclass(frozen=True)
class Template:
    """A family of tasks.

    Attributes
    ----------
    name
        Also the family by which standard errors are clustered.
    category
        FAB++ category.
    draw
        Random instance; it may be unsound and is then drawn again.
    printed
        The instance with the parameters of the published bank, None where there is none.
    published_id, published_figures
        Its identifier there and the figures printed for it, right or wrong.
    """

    name: str
    category: str
    draw: Callable[[random.Random], Problem]
    printed: Callable[[], Problem] | None = None
    published_id: str = ""
    published_figures: Mapping[str, Json] = field(default_factory=dict)

    def as_published(self) -> Problem:
        """Return the printed instance, its printed figures beside the truth.

        Raises
        ------
        ValueError
            When the published bank has no such question.
        """
        if self.printed is None:
            raise ValueError(f"the published bank has no question for the template {self.name!r}")
        return replace(self.printed(), printed={"id": self.published_id, **self.published_figures})

    def sound(self, rng: random.Random) -> Problem:
        """Draw until an instance has a solution and no figure for which zero would do.

        Raises
        ------
        RuntimeError
            When hardly any instance is sound, which is an error of the template.
        """
        for _ in range(MAX_ATTEMPTS):
            problem = self.draw(rng)
            if problem.is_sound():
                return problem
        raise RuntimeError(f"template {self.name!r} found no sound instance in {MAX_ATTEMPTS} draws")


TEMPLATES: tuple[Template, ...] = (
    Template(
        "fair_value",
        "Options Pricing",
        lambda rng: pricing_tasks.FairValue.draw(rng).problem(),
        lambda: pricing_tasks.PRINTED_FAIR_VALUE.problem(),
        "opt_pricing_001",
        {"call_price": 3.22, "put_price": 7.48},
    ),
    Template(
        "quoted_option",
        "Options Pricing",
        lambda rng: pricing_tasks.QuotedOption.draw(rng).problem(),
        lambda: pricing_tasks.PRINTED_QUOTED_OPTION.problem(),
        "opt_pricing_002",
        {"theoretical_price": 25.18, "market_price": 18.50, "stated_volatility": 0.45},
    ),
    Template(
        "single_option",
        "Greeks Analysis",
        lambda rng: greeks_tasks.SingleOption.draw(rng).problem(),
        lambda: greeks_tasks.PRINTED_SINGLE_OPTION.problem(),
        "greeks_001",
        {"delta": 0.474, "gamma": 0.012, "theta": -0.321, "vega": 0.234},
    ),
    Template(
        "net_delta",
        "Greeks Analysis",
        lambda rng: exposure_tasks.DeltaBook.draw(rng, neutral=True).problem(),
        lambda: exposure_tasks.PRINTED_NET_DELTA.problem(),
        "greeks_002",
        {"net_delta_contracts": 0.75},
    ),
    Template("book_hedge", "Greeks Analysis", lambda rng: greeks_tasks.BookHedge.draw(rng).problem()),
    Template(
        "iron_condor",
        "Strategy Construction",
        lambda rng: strategy_tasks.IronCondor.draw(rng).problem(),
        lambda: strategy_tasks.printed_iron_condor().problem(),
        "strategy_001",
        {"max_profit": 8.0, "max_loss": 12.0, "breakeven_lower": 4412, "breakeven_upper": 4588},
    ),
    Template(
        "debit_spread",
        "Strategy Construction",
        lambda rng: spread_tasks.DebitSpread.draw(rng).problem(),
        lambda: spread_tasks.printed_debit_spread().problem(),
        "copy_001",
        {"max_profit": 2.70, "max_loss": 2.30, "breakeven": 187.30},
    ),
    Template("volatility_view", "Volatility Trading", lambda rng: volatility_tasks.VolatilityView.draw(rng).problem()),
    Template(
        "forward_volatility", "Volatility Trading", lambda rng: volatility_tasks.ForwardVolatility.draw(rng).problem()
    ),
    Template(
        "profit_attribution",
        "P&L Attribution",
        lambda rng: attribution_tasks.ProfitAttribution.draw(rng).problem(),
        lambda: attribution_tasks.PRINTED_PROFIT_ATTRIBUTION.problem(),
        "pnl_001",
        {"delta_pnl": 1.80, "gamma_pnl": 0.24, "theta_pnl": -0.24, "vega_pnl": 0.30, "unexplained": -0.40},
    ),
    Template(
        "straddle_attribution", "P&L Attribution", lambda rng: attribution_tasks.StraddleAttribution.draw(rng).problem()
    ),
    Template(
        "spread_sizing",
        "Risk Management",
        lambda rng: spread_tasks.SpreadSizing.draw(rng).problem(),
        lambda: spread_tasks.printed_spread_sizing().problem(),
        "risk_001",
        {"max_loss_per_spread": 750, "position_size": 2, "buying_power_required": 1500},
    ),
    Template(
        "value_at_risk_limit",
        "Risk Management",
        lambda rng: exposure_tasks.DeltaBook.draw(rng, neutral=False).problem(),
        lambda: exposure_tasks.PRINTED_VALUE_AT_RISK.problem(),
        "risk_002",
        {"net_delta_exposure": 39350, "daily_vol_dollar": 708.3, "var_95": 1165.65},
    ),
    Template("collar", "Risk Management", lambda rng: collar_tasks.Collar.draw(rng).problem()),
)
CATEGORIES: tuple[str, ...] = tuple(sorted({template.category for template in TEMPLATES}))


def select(task_types: Sequence[str], templates: Sequence[Template]) -> tuple[Template, ...]:
    """Return the templates whose name or category is among ``task_types``; all of them when it is empty.

    Raises
    ------
    ValueError
        When an entry is neither a name nor a category.
    """
    known = {template.name for template in TEMPLATES} | set(CATEGORIES)
    for entry in task_types:
        if entry not in known:
            raise ValueError(f"task_types: unknown entry {entry!r}; available: {', '.join(sorted(known))}")
    chosen = set(task_types) or known
    return tuple(template for template in templates if template.name in chosen or template.category in chosen)
