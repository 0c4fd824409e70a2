"""Questions on the texts of annual reports: segments, customers, lawsuits, commitments, covenants, guidance.

They are about simulated filers, whose texts are written from facts that are known here; an agent finds them in the
sections of the filing alone, and the figures to go with them in the filed facts.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from evaluators.contract import Difficulty
from evaluators.fundamentals.levels import drawn, placed
from evaluators.fundamentals.measures import YEAR, Measure
from evaluators.fundamentals.question import Drawn, Template
from evaluators.fundamentals.world import Lacking, View, World
from lake.simulated_filers.disclosures import Disclosures, as_first_filed

CATEGORY = "SEC Filing Analysis"
RULES = "Use annual reports on form 10-K as first filed, their texts and figures, and no amendments."
LEAST_CHANGE = 0.03


def _told(view: View) -> Disclosures:
    return as_first_filed(view.book.company.ticker, view.year)


def _first_segment(view: View) -> float:
    told = _told(view)
    return told.segments[-1].operating_income / told.segments[-1].revenue


def _customer_revenue(view: View) -> float:
    return _told(view).largest_customer / 100.0 * view.flow("Revenue")


def _covenant_headroom(view: View) -> float:
    earned = view.flow("OperatingIncome") + view.flow("DepreciationAndAmortization")
    room = _told(view).most_leverage * earned - view.stock("LongTermDebt")
    if room <= 0:
        raise Lacking("no headroom")
    return room


def _currency_effect(view: View) -> float:
    steady = _told(view).steady_growth
    if steady is None:
        raise Lacking("no growth in a first report")
    # the year before stands in the report's own statements, as last reported by then
    return view.base("Revenue") / _before(view, "Revenue") - 1 - steady / 100.0


def _before(view: View, item: str) -> float:
    report = view.book.row(item, view.year, version="original").known_on[0]
    rows = view.book.of_item(item)
    known = [
        row
        for row, day in enumerate(rows.known_on)
        if day <= report and (rows.fiscal_year[row], rows.fiscal_period[row]) == (view.year - 1, "FY")
    ]
    if not known:
        raise Lacking("no year before")
    return rows.value[known[-1]]


def _guided_revenue(view: View) -> float:
    low, high = _told(view).growth_guided
    return view.flow("Revenue") * (1.0 + (low + high) / 200.0)


def _floating_debt(view: View) -> float:
    debt = view.stock("LongTermDebt")
    if debt <= 0:
        raise Lacking("no debt")
    return _told(view).floating_share / 100.0 * debt


MEASURES = {
    "segment-margin": Measure(_first_segment, "percent", 1, YEAR),
    "customer-revenue": Measure(_customer_revenue, "money", 1, YEAR),
    "lawsuit-exposure": Measure(lambda view: _told(view).accrued + _told(view).further_loss, "money", 1, YEAR),
    "purchase-commitments": Measure(lambda view: sum(_told(view).commitments[1:]), "money", 1, YEAR),
    "covenant-headroom": Measure(_covenant_headroom, "money", 1, YEAR),
    "currency-effect": Measure(_currency_effect, "points", 1, YEAR),
    "guided-revenue": Measure(_guided_revenue, "money", 1, YEAR),
    "floating-debt": Measure(_floating_debt, "money", 1, YEAR),
}


def _draw(name: str) -> Callable[[random.Random, World, Difficulty], Drawn]:
    measure = MEASURES[name]

    def draw(rng: random.Random, world: World, level: Difficulty) -> Drawn:
        at = placed(rng, world, level, measure, simulated=True, version="original")
        asked = measure
        if level == "hard":
            asked = measure._replace(of=_change, unit="points" if measure.unit == "percent" else measure.unit)
            points = "" if measure.unit == "money" else " in percentage points"
            at = at._replace(
                period=f"{at.period}, stated as the change{points} from the fiscal year before (each year by its own "
                "report; negative for a fall)"
            )
        # names of segments do not change from year to year
        words = {"segment": _told(at.view).segments[-1].name}
        if level == "expert":
            words = {"segment": "the segment that its segment note of that year shows with the least revenue"}
            asked = asked._replace(of=_smallest_segment) if name == "segment-margin" else asked
        elif name == "segment-margin":
            words = {"segment": f"the segment {words['segment']}"}
        return replace(drawn(at, asked, changed=level == "hard"), words=words, rules=RULES)

    def _change(view: View) -> float:
        now, before = measure.of(view), measure.of(view.back())
        if abs(now - before) < LEAST_CHANGE * abs(now):
            raise Lacking("hardly changed")
        return now - before

    return draw


def _smallest_segment(view: View) -> float:
    smallest = min(_told(view).segments, key=lambda segment: segment.revenue)
    return smallest.operating_income / smallest.revenue


TEMPLATES = tuple(
    Template(name, CATEGORY, _draw(name), asks, held_back)
    for name, asks, held_back in (
        ("segment-margin",
         ("the operating margin (operating income over revenue) of {segment}",
          "operating income as a share of revenue, in {segment},"),
         ("what was left of each dollar of revenue as operating income in {segment}",)),
        ("customer-revenue",
         ("the revenue, in dollars, that the largest customer accounted for",
          "the dollars of revenue from the one customer that bought most"),
         ("the amount in dollars that the biggest customer contributed to revenue",)),
        ("lawsuit-exposure",
         ("the largest loss, accrued or reasonably possible beyond that, from the lawsuit that was still pending",
          "what the pending lawsuit could cost in all (the provision and the possible loss beyond it)"),
         ("the most that the open lawsuit might take, by the company's own account of accrual and further loss,",)),
        ("purchase-commitments",
         ("the sum of purchase obligations (without leases) that fall due later than in the next fiscal year",
          "the purchase obligations due in later years (leases and the next fiscal year left out)"),
         ("what is owed under purchase obligations, not leases, beyond the twelve months of the next fiscal year,",)),
        ("covenant-headroom",
         ("the further debt that the leverage covenant would have allowed at year-end (its limit times operating "
          "income before depreciation and amortization, less long-term debt)",
          "the distance in dollars between long-term debt and the most that the covenant on debt allowed"),
         ("how much more could have been borrowed at year-end before the covenant on debt was met",)),
        ("currency-effect",
         ("the effect of exchange rates on the growth of revenue in percentage points (growth by the statements less "
          "growth at constant exchange rates)",
          "the percentage points that exchange rates added to the growth of revenue (reported growth less growth "
          "without them)"),
         ("the number of points by which reported revenue growth differs from that at unchanged exchange rates "
          "(reported less unchanged)",)),
        ("guided-revenue",
         ("the next fiscal year's revenue by management's outlook (midpoint of the range of growth that it guided to)",
          "the revenue in dollars that management guided to for the next fiscal year (middle of its range of growth)"),
         ("the sales that management's outlook implies for the following year (middle of its range)",)),
        ("floating-debt",
         ("the long-term debt, in dollars, that bore floating interest at year-end",
          "the dollars of long-term debt whose interest was not fixed at year-end"),
         ("the part of long-term debt, as an amount, that followed market rates at year-end",)),
    )
)  # fmt: skip
