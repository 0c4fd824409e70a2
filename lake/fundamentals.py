"""Company figures as they were filed, with their restatements as later rows."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from importlib import resources
from typing import Any, Literal, Protocol, TypeAlias

from lake.point_in_time import PointInTime, Source
from lake.records import Facts

Version: TypeAlias = Literal["latest", "original", "all"]

LINE_ITEMS: dict[str, tuple[str, ...]] = {
    "Revenue": ("RevenueFromContractWithCustomerExcludingAssessedTax", "Revenues", "SalesRevenueNet"),
    "CostOfRevenue": ("CostOfGoodsAndServicesSold", "CostOfRevenue"),
    "GrossProfit": ("GrossProfit",),
    "ResearchAndDevelopment": ("ResearchAndDevelopmentExpense",),
    "SellingGeneralAndAdministrative": ("SellingGeneralAndAdministrativeExpense",),
    "OperatingIncome": ("OperatingIncomeLoss",),
    "IncomeTax": ("IncomeTaxExpenseBenefit",),
    "NetIncome": ("NetIncomeLoss",),
    "EPSBasic": ("EarningsPerShareBasic",),
    "EPSDiluted": ("EarningsPerShareDiluted",),
    "SharesBasic": ("WeightedAverageNumberOfSharesOutstandingBasic",),
    "SharesDiluted": ("WeightedAverageNumberOfDilutedSharesOutstanding",),
    "Assets": ("Assets",),
    "CurrentAssets": ("AssetsCurrent",),
    "Cash": ("CashAndCashEquivalentsAtCarryingValue",),
    "Inventory": ("InventoryNet",),
    "Receivables": ("AccountsReceivableNetCurrent",),
    "Liabilities": ("Liabilities",),
    "CurrentLiabilities": ("LiabilitiesCurrent",),
    "LongTermDebt": ("LongTermDebtNoncurrent",),
    "Equity": ("StockholdersEquity",),
    "OperatingCashFlow": (
        "NetCashProvidedByUsedInOperatingActivities",
        "NetCashProvidedByUsedInOperatingActivitiesContinuingOperations",
    ),
    "CapitalExpenditure": ("PaymentsToAcquirePropertyPlantAndEquipment", "PaymentsToAcquireProductiveAssets"),
    "DepreciationAndAmortization": (
        "DepreciationDepletionAndAmortization",
        "DepreciationAmortizationAndAccretionNet",
        "DepreciationAndAmortization",
    ),
    "Dividends": ("PaymentsOfDividends",),
    "ShareRepurchases": ("PaymentsForRepurchaseOfCommonStock",),
}
"""Line item -> the us-gaap tags that carried it over the years, the preferred one first. Apple moved its revenue from
``SalesRevenueNet`` to ``Revenues`` and then to ``RevenueFromContract...``; Nvidia back to ``Revenues``.
"""

STATEMENTS: dict[str, tuple[str, ...]] = {
    "income": (
        "Revenue", "CostOfRevenue", "GrossProfit", "ResearchAndDevelopment", "SellingGeneralAndAdministrative",
        "OperatingIncome", "IncomeTax", "NetIncome", "EPSBasic", "EPSDiluted", "SharesBasic", "SharesDiluted",
    ),
    "balance": (
        "Assets", "CurrentAssets", "Cash", "Inventory", "Receivables", "Liabilities", "CurrentLiabilities",
        "LongTermDebt", "Equity",
    ),
    "cash_flow": (
        "OperatingCashFlow", "CapitalExpenditure", "DepreciationAndAmortization", "Dividends", "ShareRepurchases",
    ),
}  # fmt: skip
"""Statement -> its line items, in the usual order."""


@dataclass(frozen=True)
class Company:
    """A filer.

    Attributes
    ----------
    cik
        SEC's ten-digit Central Index Key.
    fiscal_year_end_month
        1 to 12; the fiscal year is named after the calendar year in which it ends.
    """

    ticker: str
    name: str
    cik: str
    exchange: str
    sic: str
    industry: str
    fiscal_year_end_month: int


COMPANIES: dict[str, Company] = {
    row.ticker: row
    for row in (
        Company("AAPL", "Apple Inc.", "0000320193", "Nasdaq", "3571", "Electronic Computers", 9),
        Company("NVDA", "NVIDIA Corporation", "0001045810", "Nasdaq", "3674", "Semiconductors", 1),
    )
}


class Companies(Protocol):
    """A directory of filers."""

    def find(self, ticker: str) -> Company | None:
        """Return the company with this ticker, or None."""
        ...

    def search(self, text: str, *, limit: int) -> list[Company]:
        """Return up to ``limit`` companies whose ticker, CIK or name holds ``text``."""
        ...


class EmbeddedCompanies:
    """The companies of the embedded sample."""

    def find(self, ticker: str) -> Company | None:
        """Return the company with this ticker, or None."""
        return COMPANIES.get(ticker)

    def search(self, text: str, *, limit: int) -> list[Company]:
        """Return up to ``limit`` companies whose ticker, CIK, name or industry holds ``text``."""
        needle = text.strip().lower()
        rows = [
            row for row in COMPANIES.values() if needle in f"{row.ticker} {row.name} {row.cik} {row.industry}".lower()
        ]
        return rows[:limit]


def _row(cells: Mapping[str, str]) -> tuple[Any, ...]:
    start = cells["period_start"]
    return (
        date.fromisoformat(cells["filed"]),
        cells["concept"],
        int(cells["fiscal_year"]),
        cells["fiscal_period"],
        date.fromisoformat(start) if start else None,
        date.fromisoformat(cells["period_end"]),
        float(cells["value"]),
        cells["unit"],
        cells["form"],
        cells["accession"],
    )


def _load() -> dict[str, Facts]:
    rows: dict[str, list[tuple[Any, ...]]] = {}
    text = resources.files("lake").joinpath("embedded/fundamentals.csv").read_text(encoding="utf-8")
    for cells in csv.DictReader(text.splitlines()):
        rows.setdefault(cells["ticker"], []).append(_row(cells))
    return {ticker: Facts.of(items) for ticker, items in rows.items()}


def embedded() -> Source[Facts]:
    """Return the embedded sample: AAPL and NVDA, fiscal years from 2009, some quarters from 2018."""
    return PointInTime("SEC EDGAR XBRL company facts (US public domain), figures typed into lake/embedded", _load)


def concepts_of(item: str) -> tuple[str, ...]:
    """Return the tags of a line item, or ``(item,)`` when ``item`` is itself a tag."""
    known_tags = {tag for tags in LINE_ITEMS.values() for tag in tags}
    if item in LINE_ITEMS:
        return LINE_ITEMS[item]
    if item in known_tags:
        return (item,)
    raise ValueError(f"unknown line item {item!r}; known: {', '.join(LINE_ITEMS)} (or one of their us-gaap tags)")


def select(
    facts: Facts,
    item: str,
    *,
    fiscal_year: int | None = None,
    fiscal_period: str | None = None,
    version: Version = "latest",
) -> Facts:
    """Return the rows of one line item (or tag) within facts that are already cut at a date.

    Parameters
    ----------
    facts
        What :meth:`Source.known` returned.
    item
        A key of :data:`LINE_ITEMS`, or a us-gaap tag of it.
    fiscal_year, fiscal_period
        None keeps every one.
    version
        ``original`` keeps the figure of each period as first filed, ``latest`` the last known restatement, ``all``
        every filed value.

    Returns
    -------
    Facts
        In ascending order of filing date; one row a period unless ``version="all"``.

    Raises
    ------
    ValueError
        Unknown item or version.
    """
    if version not in ("latest", "original", "all"):
        raise ValueError(f"version must be latest, original or all, got {version!r}")
    tags = concepts_of(item)
    rows = [
        row
        for row, concept in enumerate(facts.concept)
        if concept in tags
        and (fiscal_year is None or facts.fiscal_year[row] == fiscal_year)
        and (fiscal_period is None or facts.fiscal_period[row] == fiscal_period)
    ]
    return facts.take(rows if version == "all" else _one_a_period(facts, rows, tags, version))


def _one_a_period(facts: Facts, rows: list[int], tags: tuple[str, ...], version: Version) -> list[int]:
    # One filing may carry a figure under two tags: the preferred tag decides.
    sign = 1 if version == "latest" else -1
    ranked = sorted(rows, key=lambda row: (sign * facts.known_on[row].toordinal(), -tags.index(facts.concept[row])))
    chosen = {(facts.fiscal_year[row], facts.fiscal_period[row]): row for row in ranked}
    return list(chosen.values())


def value(
    facts: Facts, item: str, *, fiscal_year: int, fiscal_period: str = "FY", version: Version = "latest"
) -> float | None:
    """Return one figure in its own unit, or None when it was not known."""
    found = select(facts, item, fiscal_year=fiscal_year, fiscal_period=fiscal_period, version=version)
    return found.value[0] if len(found) else None
