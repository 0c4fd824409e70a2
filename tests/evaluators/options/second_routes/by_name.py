"""The second route of every template, by its family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.evaluators.options.second_routes import attribution, paper_account, spreads, values_and_greeks, volatility

ROUTES: dict[str, Callable[[Mapping[str, Any], list[Any]], dict[str, float]]] = {
    route.__name__: route
    for route in (
        values_and_greeks.fair_value,
        values_and_greeks.quoted_option,
        values_and_greeks.single_option,
        values_and_greeks.net_delta,
        values_and_greeks.book_hedge,
        spreads.iron_condor,
        spreads.debit_spread,
        spreads.spread_sizing,
        spreads.collar,
        volatility.volatility_view,
        volatility.forward_volatility,
        attribution.profit_attribution,
        attribution.straddle_attribution,
        paper_account.traded_option,
    )
}
ROUTES["value_at_risk_limit"] = values_and_greeks.net_delta
