"""The templates of options tasks, and the instances with the parameters of the published bank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from evaluators.contract import Json
from evaluators.options.problem import Problem
from evaluators.options.tasks import (
    book_hedge,
    collar,
    debit_spread,
    delta_book,
    fair_value,
    forward_volatility,
    iron_condor,
    profit_attribution,
    quoted_option,
    single_option,
    spread_sizing,
    straddle_attribution,
    traded_option,
    volatility_view,
)

TEMPLATES: tuple[type[Problem], ...] = (
    fair_value.FairValue,
    quoted_option.QuotedOption,
    single_option.SingleOption,
    delta_book.NetDelta,
    book_hedge.BookHedge,
    iron_condor.IronCondor,
    debit_spread.DebitSpread,
    volatility_view.VolatilityView,
    forward_volatility.ForwardVolatility,
    profit_attribution.ProfitAttribution,
    straddle_attribution.StraddleAttribution,
    traded_option.TradedOption,
    spread_sizing.SpreadSizing,
    delta_book.ValueAtRiskLimit,
    collar.Collar,
)
CATEGORIES: tuple[str, ...] = tuple(sorted({template.category for template in TEMPLATES}))


@dataclass(frozen=True)
class Published:
    """A question of the published bank.

    Attributes
    ----------
    build
        Returns the template's instance with its parameters.
    identifier
        Its name there.
    figures
        The figures printed for it, right or wrong, in the units printed.
    """

    build: Callable[[], Problem]
    identifier: str
    figures: Mapping[str, Json] = field(default_factory=dict)

    def shown(self) -> dict[str, Json]:
        """Return what the report shows beside the truth."""
        return {"id": self.identifier, **self.figures}


PUBLISHED: dict[str, Published] = {
    "fair_value": Published(lambda: fair_value.PRINTED, "opt_pricing_001", {"call_price": 3.22, "put_price": 7.48}),
    "quoted_option": Published(
        lambda: quoted_option.PRINTED,
        "opt_pricing_002",
        {"theoretical_price": 25.18, "market_price": 18.50, "stated_volatility": 0.45},
    ),
    "single_option": Published(
        lambda: single_option.PRINTED,
        "greeks_001",
        {"delta": 0.474, "gamma": 0.012, "theta": -0.321, "vega": 0.234},
    ),
    "net_delta": Published(lambda: delta_book.PRINTED_NET_DELTA, "greeks_002", {"net_delta_contracts": 0.75}),
    "iron_condor": Published(
        iron_condor.printed,
        "strategy_001",
        {"max_profit": 8.0, "max_loss": 12.0, "breakeven_lower": 4412, "breakeven_upper": 4588},
    ),
    "debit_spread": Published(
        debit_spread.printed, "copy_001", {"max_profit": 2.70, "max_loss": 2.30, "breakeven": 187.30}
    ),
    "profit_attribution": Published(
        lambda: profit_attribution.PRINTED,
        "pnl_001",
        {"delta_pnl": 1.80, "gamma_pnl": 0.24, "theta_pnl": -0.24, "vega_pnl": 0.30, "unexplained": -0.40},
    ),
    "spread_sizing": Published(
        spread_sizing.printed,
        "risk_001",
        {"max_loss_per_spread": 750, "position_size": 2, "buying_power_required": 1500},
    ),
    "value_at_risk_limit": Published(
        lambda: delta_book.PRINTED_VALUE_AT_RISK,
        "risk_002",
        {"net_delta_exposure": 39350, "daily_vol_dollar": 708.3, "var_95": 1165.65},
    ),
}
"""By family. The other five published questions ask for opinions that no figure can check."""


def select(task_types: Sequence[str], *, published: bool = False) -> tuple[type[Problem], ...]:
    """Return the templates whose family or category is among ``task_types``; all of them when it is empty.

    Raises
    ------
    ValueError
        When an entry is neither a family nor a category.
    """
    known = {template.family for template in TEMPLATES} | set(CATEGORIES)
    for entry in task_types:
        if entry not in known:
            raise ValueError(f"task_types: unknown entry {entry!r}; available: {', '.join(sorted(known))}")
    chosen = set(task_types) or known
    return tuple(
        template
        for template in TEMPLATES
        if (template.family in chosen or template.category in chosen)
        and (template.family in PUBLISHED or not published)
    )
