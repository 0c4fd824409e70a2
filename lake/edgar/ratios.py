"""Ratios of a fiscal year from its filed line items, each with its formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from lake.edgar import figures
from lake.fundamentals import Version
from lake.records import Facts


class Ratio(NamedTuple):
    """A ratio: its formula in words, the line items that it needs, and how they make it."""

    formula: str
    items: tuple[str, ...]
    of: Callable[..., float]


def _share(top: float, bottom: float) -> float:
    return top / bottom


RATIOS: Mapping[str, Ratio] = {
    "gross_margin": Ratio("GrossProfit / Revenue", ("GrossProfit", "Revenue"), _share),
    "operating_margin": Ratio("OperatingIncome / Revenue", ("OperatingIncome", "Revenue"), _share),
    "net_margin": Ratio("NetIncome / Revenue", ("NetIncome", "Revenue"), _share),
    "research_to_revenue": Ratio("ResearchAndDevelopment / Revenue", ("ResearchAndDevelopment", "Revenue"), _share),
    "return_on_assets": Ratio("NetIncome / Assets at the end", ("NetIncome", "Assets"), _share),
    "return_on_equity": Ratio("NetIncome / Equity at the end", ("NetIncome", "Equity"), _share),
    "asset_turnover": Ratio("Revenue / Assets at the end", ("Revenue", "Assets"), _share),
    "current_ratio": Ratio("CurrentAssets / CurrentLiabilities", ("CurrentAssets", "CurrentLiabilities"), _share),
    "cash_ratio": Ratio("Cash / CurrentLiabilities", ("Cash", "CurrentLiabilities"), _share),
    "liabilities_to_assets": Ratio("Liabilities / Assets", ("Liabilities", "Assets"), _share),
    "debt_to_equity": Ratio("LongTermDebt / Equity", ("LongTermDebt", "Equity"), _share),
    "free_cash_flow_margin": Ratio(
        "(OperatingCashFlow - CapitalExpenditure) / Revenue",
        ("OperatingCashFlow", "CapitalExpenditure", "Revenue"),
        lambda cash, spent, revenue: (cash - spent) / revenue,
    ),
    "payout_ratio": Ratio("Dividends / NetIncome", ("Dividends", "NetIncome"), _share),
}


class Computed(NamedTuple):
    """A ratio of one company and year, with the filings that its figures stand in."""

    name: str
    value: float
    formula: str
    accessions: tuple[str, ...]


def compute(facts: Facts, *, fiscal_year: int, version: Version = "latest") -> list[Computed]:
    """Return the ratios whose line items were known and whose denominator is not 0."""
    found = []
    for name, ratio in RATIOS.items():
        rows = [
            figures.select(facts, item, fiscal_year=fiscal_year, fiscal_period="FY", version=version)
            for item in ratio.items
        ]
        if any(len(row) == 0 for row in rows):
            continue
        values = [row.value[0] for row in rows]
        if values[-1] == 0.0:
            continue
        accessions = tuple(dict.fromkeys(row.accession[0] for row in rows))
        found.append(Computed(name, ratio.of(*values), ratio.formula, accessions))
    return found
