"""The books of a filer: every quarter's statements, kept forward in time so that they tie out to the dollar.

Quarters are booked one after the other from draws of the same length each, so that a later one changes no earlier one.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from functools import lru_cache

from lake.simulated_filers.directory import LAST_YEAR, Filer, filers
from lake.simulated_filers.streams import generator, stream

INCOME = (
    "Revenue", "CostOfRevenue", "GrossProfit", "ResearchAndDevelopment", "SellingGeneralAndAdministrative",
    "OperatingIncome", "InterestExpense", "IncomeTax", "NetIncome",
)  # fmt: skip
CASH_FLOW = (
    "OperatingCashFlow", "CapitalExpenditure", "DepreciationAndAmortization", "ShareBasedCompensation",
    "NetBorrowing", "Dividends", "ShareRepurchases",
)  # fmt: skip
BALANCE = (
    "Cash", "Receivables", "Inventory", "CurrentAssets", "PropertyPlantAndEquipment", "Goodwill", "Assets", "Payables",
    "AccruedLiabilities", "CurrentLiabilities", "LongTermDebt", "Liabilities", "Equity",
)  # fmt: skip
TAX_RATE = 0.21
SHOCKS = 8
Books = Mapping[str, "array[float]"]
"""Item -> dollars of each quarter from the first (``Shares`` in shares of the beginning, before any split)."""


@lru_cache(maxsize=1024)
def books(ticker: str, last_year: int = LAST_YEAR) -> Books:
    """Return the quarters of a filer: flows of the quarter, balances at its end."""
    filer = filers()[ticker]
    quarters = 4 * (last_year - filer.first_year + 1)
    shocks = generator(ticker, "books").standard_normal((quarters, SHOCKS)).tolist()
    rows = _kept(filer, shocks)
    return {name: array("d", column) for name, column in rows.items()}


def _kept(filer: Filer, shocks: list[list[float]]) -> dict[str, list[float]]:
    rng, trade, unit = stream(filer.ticker, "traits"), filer.trade, filer.unit
    low, high = (math.log(size * 1e6 / unit) for size in trade.sizes)
    level = rng.uniform(low, high)
    growth, spread = rng.uniform(0.002, 0.028), rng.uniform(0.015, 0.05)
    margin = rng.uniform(*trade.gross_margin)
    research = 0.0 if trade.research is None else rng.uniform(*trade.research)
    overhead = max(0.03, margin - research - rng.uniform(0.03, 0.17))
    season = [rng.uniform(-trade.season, trade.season) for _ in range(3)]
    season.append(-sum(season))
    receivable_days, inventory_days, payable_days = rng.uniform(25, 70), rng.uniform(20, 110), rng.uniform(25, 60)
    if trade.word in ("Software", "Logistics", "Instruction"):
        inventory_days = rng.uniform(1, 6)
    spending, wear = rng.uniform(0.02, 0.09), rng.uniform(0.025, 0.05)
    coupon, target_debt = rng.uniform(0.008, 0.016), rng.uniform(0.1, 1.6)
    pays, buys = rng.random() < 0.6, rng.random() < 0.7
    payout, buyback = rng.uniform(0.15, 0.5), rng.uniform(0.1, 0.5)
    accruals = rng.uniform(0.15, 0.45)

    revenue = math.exp(level)
    shares = round(revenue * 4 * unit / rng.uniform(8, 60))
    before = {
        "Cash": round(revenue * rng.uniform(0.5, 1.5)),
        "Receivables": round(revenue * receivable_days / 91),
        "Inventory": round(revenue * (1 - margin) * inventory_days / 91),
        "PropertyPlantAndEquipment": round(revenue * rng.uniform(0.6, 2.0)),
        "Payables": round(revenue * (1 - margin) * payable_days / 91),
        "AccruedLiabilities": round(revenue * accruals),
        "LongTermDebt": round(revenue * target_debt),
    }
    goodwill = round(revenue * rng.uniform(0.0, 1.5))
    equity = before["Cash"] + before["Receivables"] + before["Inventory"] + before["PropertyPlantAndEquipment"]
    equity += goodwill - before["Payables"] - before["AccruedLiabilities"] - before["LongTermDebt"]
    if equity < revenue:
        # a young company has raised what it needs
        before["Cash"] += round(revenue - equity)
        equity += round(revenue - equity)
    dividend = 0.0
    kept: dict[str, list[float]] = {name: [] for name in (*INCOME, *CASH_FLOW, *BALANCE, "Shares", "DividendAShare")}
    drift = 0.0
    for number, shock in enumerate(shocks):
        level += growth + spread * shock[0]
        drift = 0.9 * drift + 0.012 * shock[1]
        sales = round(math.exp(level) * (1 + season[number % 4]) * (1 + 0.01 * shock[2]))
        cost = round(sales * (1 - min(0.92, max(0.06, margin + drift))))
        developed = round(math.exp(level) * research * (1 + 0.05 * shock[3]))
        selling = round(math.exp(level) * overhead * (1 + 0.05 * shock[4]))
        earned = sales - cost - developed - selling
        interest = round(before["LongTermDebt"] * coupon)
        tax = round((earned - interest) * TAX_RATE * (1 + 0.1 * shock[5])) if earned > interest else 0
        income = earned - interest - tax
        worn = round(before["PropertyPlantAndEquipment"] * wear)
        spent = round(sales * spending * (1 + 0.2 * math.tanh(shock[6])))
        granted = round(sales * (0.004 + 0.1 * research))
        after = {
            "Receivables": round(sales * receivable_days / 91 * (1 + 0.05 * math.tanh(shock[7]))),
            "Inventory": round(cost * inventory_days / 91 * (1 - 0.05 * math.tanh(shock[1]))),
            "Payables": round(cost * payable_days / 91),
            "AccruedLiabilities": round(math.exp(level) * accruals * (1 + 0.05 * math.tanh(shock[3]))),
            "PropertyPlantAndEquipment": before["PropertyPlantAndEquipment"] + spent - worn,
        }
        tied_up = sum(after[name] - before[name] for name in ("Receivables", "Inventory"))
        tied_up -= sum(after[name] - before[name] for name in ("Payables", "AccruedLiabilities"))
        operations = income + worn + granted - tied_up
        if pays and number % 4 == 0 and income > 0:
            # the board sets a dividend a share once a year, and never cuts it below nothing
            dividend = max(dividend, math.floor(100 * payout * income * unit / shares) / 100)
        paid = round(dividend * shares / unit) if dividend * shares / unit < before["Cash"] else 0
        bought = round(buyback * income) if buys and income > 0 and shock[7] > -0.5 else 0
        free = before["Cash"] + operations - spent - paid - bought
        floor, ceiling = round(0.25 * math.exp(level)), round(2.5 * math.exp(level))
        borrowed = floor - free if free < floor else -min(before["LongTermDebt"], max(0, free - ceiling))
        if free > 3 * ceiling and buys:
            bought += free - 3 * ceiling
            free = 3 * ceiling
        after["Cash"] = free + borrowed
        after["LongTermDebt"] = before["LongTermDebt"] + borrowed
        equity += income + granted - paid - bought
        shares = round(shares * (1.0 + 0.001 * granted / max(1, sales) - (0.003 if bought else 0.0)))
        current = after["Cash"] + after["Receivables"] + after["Inventory"]
        owed = after["Payables"] + after["AccruedLiabilities"]
        values = after | {
            "Revenue": sales, "CostOfRevenue": cost, "GrossProfit": sales - cost, "ResearchAndDevelopment": developed,
            "SellingGeneralAndAdministrative": selling, "OperatingIncome": earned, "InterestExpense": interest,
            "IncomeTax": tax, "NetIncome": income, "OperatingCashFlow": operations, "CapitalExpenditure": spent,
            "DepreciationAndAmortization": worn, "ShareBasedCompensation": granted, "NetBorrowing": borrowed,
            "Dividends": paid, "ShareRepurchases": bought, "CurrentAssets": current, "Goodwill": goodwill,
            "Assets": current + after["PropertyPlantAndEquipment"] + goodwill, "CurrentLiabilities": owed,
            "Liabilities": owed + after["LongTermDebt"], "Equity": equity,
        }  # fmt: skip
        for name, value in values.items():
            kept[name].append(float(value) * unit)
        kept["Shares"].append(float(shares))
        kept["DividendAShare"].append(dividend if paid else 0.0)
        before = after
    return kept
