"""Every family of the casebook by name."""

from __future__ import annotations

from evaluators.casebook.families import (
    beat_or_miss,
    copy_trading,
    financial_data_description,
    macro_analysis,
    multi_turn_perception,
    options_pricing,
    pnl_attribution,
    race_to_10m,
    risk_management,
    sec_filing_analysis,
    sentiment_analysis,
    strategy_construction,
    strategy_defense,
    trader_allocation,
    trend_analysis,
    unknown_odds,
    volatility_trading,
)
from evaluators.casebook.family import Template

TEMPLATES: dict[str, Template] = {
    row.name: row
    for module in (
        macro_analysis,
        copy_trading,
        trader_allocation,
        race_to_10m,
        unknown_odds,
        strategy_defense,
        financial_data_description,
        multi_turn_perception,
        sentiment_analysis,
        beat_or_miss,
        sec_filing_analysis,
        trend_analysis,
        options_pricing,
        strategy_construction,
        volatility_trading,
        pnl_attribution,
        risk_management,
    )
    for row in module.TEMPLATES
}
CATEGORIES = tuple(dict.fromkeys(row.category for row in TEMPLATES.values()))
