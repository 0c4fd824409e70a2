"""Invented annual accounts: consistent enough to compute ratios from, and nobody's."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from evaluators.bizfinbench.language import Language, table

LABELS: dict[str, dict[Language, str]] = {
    "company": {"en": "Company", "cn": "公司"},
    "revenue": {"en": "Revenue", "cn": "营业收入"},
    "operating_cost": {"en": "Operating cost", "cn": "营业成本"},
    "operating_cash_flow": {"en": "Net operating cash flow", "cn": "经营活动现金流净额"},
    "operating_profit": {"en": "Operating profit", "cn": "营业利润"},
    "interest": {"en": "Interest expense", "cn": "利息费用"},
    "net_profit": {"en": "Net profit", "cn": "净利润"},
    "current_assets": {"en": "Total current assets", "cn": "流动资产合计"},
    "inventory": {"en": "Inventory", "cn": "存货"},
    "current_liabilities": {"en": "Total current liabilities", "cn": "流动负债合计"},
    "assets": {"en": "Total assets", "cn": "资产总计"},
    "liabilities": {"en": "Total liabilities", "cn": "负债合计"},
}
UNIT: dict[Language, str] = {"en": "million", "cn": "百万元"}
THOUSANDS: dict[Language, str] = {"en": "thousand", "cn": "千元"}


@dataclass(frozen=True)
class Accounts:
    """One company's accounts: item -> year -> millions, two decimals."""

    company: str
    figures: dict[str, dict[int, float]]

    def __call__(self, item: str, year: int) -> float:
        """Return a figure in millions."""
        return self.figures[item][year]


def draw(rng: random.Random, company: str, years: Sequence[int]) -> Accounts:
    """Draw accounts in which every item is positive and parts stay below their totals."""
    revenue = rng.uniform(300, 9000)
    figures: dict[str, dict[int, float]] = {item: {} for item in LABELS if item != "company"}
    for year in years:
        revenue *= rng.uniform(0.92, 1.22)
        cost = revenue * rng.uniform(0.52, 0.78)
        profit = (revenue - cost) * rng.uniform(0.3, 0.6)
        assets = revenue * rng.uniform(0.9, 1.6)
        current = assets * rng.uniform(0.3, 0.55)
        drawn = {
            "revenue": revenue,
            "operating_cost": cost,
            "operating_profit": profit,
            "interest": profit * rng.uniform(0.06, 0.3),
            "net_profit": profit * rng.uniform(0.55, 0.75),
            "operating_cash_flow": profit * rng.uniform(0.7, 1.5),
            "assets": assets,
            "liabilities": assets * rng.uniform(0.35, 0.7),
            "current_assets": current,
            "inventory": current * rng.uniform(0.2, 0.45),
            "current_liabilities": current * rng.uniform(0.5, 1.1),
        }
        for item, value in drawn.items():
            figures[item][year] = round(value, 2)
    return Accounts(company, figures)


def told(
    rng: random.Random,
    companies: Sequence[Accounts],
    items: Sequence[str],
    years: Sequence[int],
    language: Language,
    *,
    plain: bool,
    thousands: bool = False,
) -> str:
    """Return one table: a row for each company, a column for each item and year, in millions or in thousands."""
    columns = [(item, year) for item in items for year in years]
    unit = THOUSANDS[language] if thousands else UNIT[language]
    header = [LABELS["company"][language], *(f"{LABELS[i][language]} {y} ({unit})" for i, y in columns)]
    scale, digits = (1000, 0) if thousands else (1, 2)
    rows = [[accounts.company, *(f"{scale * accounts(i, y):.{digits}f}" for i, y in columns)] for accounts in companies]
    return table(rng, header, rows, language, plain=plain)
