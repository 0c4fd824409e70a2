"""The texts of filings, by section, written from what the filer discloses; no sentence holds a figure of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from lake.records import Sections
from lake.simulated_filers.directory import Filer, filers
from lake.simulated_filers.disclosures import Disclosures, disclosures
from lake.simulated_filers.schedule import Error, Report, schedule
from lake.simulated_filers.statements import error_of, share_figures, stated_value
from lake.simulated_filers.streams import stream

NOTICE = "A simulated company: invented by traderbench, with no counterpart in any market."
TITLES = {
    "": "",
    "1": "Business",
    "1A": "Risk Factors",
    "3": "Legal Proceedings",
    "7": "Management's Discussion and Analysis of Financial Condition and Results of Operations",
    "7A": "Quantitative and Qualitative Disclosures About Market Risk",
    "8": "Financial Statements and Supplementary Data",
    "I-2": "Management's Discussion and Analysis of Financial Condition and Results of Operations",
    "2.02": "Results of Operations and Financial Condition",
}


def money(filer: Filer, value: float) -> str:
    """Return an amount in words, to the unit in which the filer rounds."""
    sign = "-" if value < 0 else ""
    size = abs(value)
    if filer.unit == 1000:
        return f"{sign}${size / 1e6:,.3f} million"
    return f"{sign}${size / 1e9:,.3f} billion" if size >= 1e9 else f"{sign}${size / 1e6:,.0f} million"


def _cell(filer: Filer, value: float) -> str:
    amount = round(value / filer.unit)
    return f"({-amount:,})" if amount < 0 else f"{amount:,}"


def _unit(filer: Filer) -> str:
    return "(in thousands)" if filer.unit == 1000 else "(in millions)"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(" | ".join(cells) for cells in (head, *rows))


def _sections(parts: dict[str, str]) -> list[tuple[int, str, str, str]]:
    return [(number, name, TITLES[name], text) for number, (name, text) in enumerate(parts.items())]


def _annual(filer: Filer, report: Report, told: Disclosures, error: float, *, amended: bool) -> dict[str, str]:
    rng, year = stream(filer.ticker, report.year, "words"), report.year
    name = filer.company.name.removesuffix(" (Sim)")
    kind = "AMENDMENT NO. 1 TO THE ANNUAL REPORT ON FORM 10-K" if amended else "ANNUAL REPORT ON FORM 10-K"
    cover = f"{kind}\n{name}\nFor the fiscal year ended {report.end:%B %d, %Y}\n{NOTICE}"
    if amended:
        cover += (
            "\nThis amendment restates revenue that was recognised in the wrong fiscal year, and what follows from it."
        )
    return {
        "": cover,
        "1": _business(filer, told, rng, name),
        "1A": _risks(filer, told, rng),
        "3": _legal(filer, told, rng),
        "7": _discussion(filer, year, told, rng, error),
        "7A": _market_risk(told, rng),
        "8": _notes(filer, year, told, rng),
    }


def _business(filer: Filer, told: Disclosures, rng: random.Random, name: str) -> str:
    names = ", ".join(segment.name for segment in told.segments)
    later = told.backlog - told.backlog_next_year
    orders = rng.choice(
        (
            f"At year-end our backlog stood at {money(filer, told.backlog)}, of which we expect to fill "
            f"{money(filer, told.backlog_next_year)} within twelve months.",
            f"Unfilled orders amounted to {money(filer, told.backlog)} when the year closed; {money(filer, later)} of "
            "them fall due for delivery later than the coming twelve months.",
        )
    )
    return (
        f"{name} reports in {len(told.segments)} segments: {names}. We employed {told.employees:,} people at the end "
        f"of the year. {orders} Orders may be cancelled, and backlog is no measure of what will be earned on it.\n"
        "Competition is intense and rests on price, delivery and service. We hold patents and trade marks, none of "
        "which is by itself essential to us. Raw materials and parts come from several sources."
    )


def _risks(filer: Filer, told: Disclosures, rng: random.Random) -> str:
    both = told.largest_customer + told.second_customer
    customers = rng.choice(
        (
            f"Our largest customer accounted for {told.largest_customer:.1f}% of revenue in the year, and the next for "
            f"{told.second_customer:.1f}%. No other customer reached 5%.",
            f"We sold {both:.1f}% of our revenue to two customers, {told.second_customer:.1f}% to the smaller of them. "
            "The loss of either would hurt.",
        )
    )
    return (
        f"We depend on few customers. {customers} They buy by order and owe us no volumes.\n"
        f"We have debt. The credit agreement limits total debt to {told.most_leverage:.2f} times operating income "
        "before depreciation and amortization of the year; if we exceeded it, the lenders could call what we owe.\n"
        "Our results vary from quarter to quarter. Interruptions of supply, of our systems or of transport may keep us "
        "from delivering. We may not find the people we need. Acquisitions may disappoint."
    )


def _legal(filer: Filer, told: Disclosures, rng: random.Random) -> str:
    suit = rng.choice(
        (
            f"A former distributor claims {money(filer, told.claimed)} from us. We have accrued "
            f"{money(filer, told.accrued)}, and it is reasonably possible that we lose up to "
            f"{money(filer, told.further_loss)} beyond the amount accrued.",
            f"In a suit over patents the plaintiff asks for {money(filer, told.claimed)}. Our provision for it is "
            f"{money(filer, told.accrued)}; losses in excess of the provision could come to as much as "
            f"{money(filer, told.further_loss)}.",
        )
    )
    closed = (
        f"An older suit over a warranty was closed in the year by a payment of {money(filer, told.settled)}, which had "
        "been provided for in full."
    )
    parts = [suit, closed] if rng.random() < 0.5 else [closed, suit]
    return "\n".join((*parts, "Other claims against us are, in our view, not material."))


def _discussion(filer: Filer, year: int, told: Disclosures, rng: random.Random, error: float) -> str:
    revenue = stated_value(filer, "Revenue", year, "FY", error=error)
    earned = stated_value(filer, "OperatingIncome", year, "FY", error=error)
    first = told.segments[0]
    text = [f"Revenue of fiscal {year} was {money(filer, revenue)}, and operating income {money(filer, earned)}."]
    if told.steady_growth is not None:
        text.append(
            rng.choice(
                (
                    f"At constant exchange rates, revenue changed by {told.steady_growth:+.1f}% against the year "
                    "before; the figures of our statements include the effect of exchange rates.",
                    "Leaving the effect of exchange rates aside, revenue would have moved by "
                    f"{told.steady_growth:+.1f}% from the year before.",
                )
            )
        )
        text.append(
            f"Revenue of {first.name} was {money(filer, first.revenue)}, after {money(filer, first.revenue_before)}."
        )
    low, high = told.growth_guided
    spend_low, spend_high = told.spending_guided
    outlook = rng.choice(
        (
            f"For fiscal {year + 1} we expect revenue to grow by {low:.1f}% to {high:.1f}%, and capital expenditure of "
            f"{money(filer, spend_low)} to {money(filer, spend_high)}.",
            f"Outlook: in fiscal {year + 1} revenue growth should lie between {low:.1f}% and {high:.1f}%. We plan to "
            f"spend between {money(filer, spend_low)} and {money(filer, spend_high)} on property and equipment.",
        )
    )
    liquidity = (
        f"Our revolving credit facility is of {money(filer, told.facility)}, of which {money(filer, told.drawn)} was "
        f"drawn at year-end. Total debt may not exceed {told.most_leverage:.2f} times operating income before "
        "depreciation and amortization; we complied with this covenant throughout the year."
    )
    return "\n".join((" ".join(text), outlook, liquidity))


def _market_risk(told: Disclosures, rng: random.Random) -> str:
    fixed = 100.0 - told.floating_share
    share = rng.choice(
        (
            f"{told.floating_share:.1f}% of our long-term debt bore interest at floating rates at year-end.",
            f"Of our long-term debt, {fixed:.1f}% bore fixed interest at year-end, and the rest floating.",
        )
    )
    return (
        f"{share} A change of market rates would reach this debt within a quarter. We hold no derivatives for trading."
        "\nWe sell in several currencies and hedge part of what we expect to receive within the next twelve months."
    )


def _notes(filer: Filer, year: int, told: Disclosures, rng: random.Random) -> str:
    rows = [
        [part.name, _cell(filer, part.revenue), _cell(filer, part.revenue_before), _cell(filer, part.operating_income)]
        for part in told.segments
    ]
    if told.steady_growth is None:
        rows = [[row[0], row[1], "-", row[3]] for row in rows]
    rng.shuffle(rows)
    head = ["Segment", f"Revenue {year}", f"Revenue {year - 1}", f"Operating income {year}"]
    rows.append(["Corporate costs", "-", "-", _cell(filer, -told.corporate_costs)])
    due = [f"{year + 1}", f"{year + 2}", f"{year + 3}", "Thereafter"]
    obligations = [
        [when, _cell(filer, bought), _cell(filer, leased)]
        for when, bought, leased in zip(due, told.commitments, told.lease_commitments, strict=True)
    ]
    return (
        f"Note 1. Basis. Amounts are in US dollars {_unit(filer)}, except per share; fiscal years end on the dates of "
        "the statements. The statements themselves are filed as XBRL figures.\n"
        f"Note 2. Segments {_unit(filer)}\n{_table(head, rows)}\n"
        f"Note 3. Commitments, by fiscal year in which they fall due {_unit(filer)}\n"
        f"{_table(['Fiscal year', 'Purchase obligations', 'Operating leases'], obligations)}\n"
        "Note 4. Contingencies. See Legal Proceedings."
    )


def _release(filer: Filer, report: Report, factor: int, error: float) -> str:
    quarter = "Q4" if report.period == "FY" else report.period
    # an error of the year's report was made in its last quarter
    revenue = stated_value(filer, "Revenue", report.year, quarter, error=error)
    words = f"the fourth quarter of fiscal {report.year}" if quarter == "Q4" else f"{quarter} of fiscal {report.year}"
    earned = share_figures(filer, report.year, quarter, factor=factor, error=error)["EPSDiluted"]
    return (
        f"{filer.company.name.removesuffix(' (Sim)')} announced results of {words}, ended {report.end:%B %d, %Y}: "
        f"revenue of {money(filer, revenue)} and diluted earnings of ${earned:.2f} a share. {NOTICE}"
    )


def _quarterly(filer: Filer, report: Report, error: float, *, amended: bool) -> dict[str, str]:
    revenue = stated_value(filer, "Revenue", report.year, report.period, error=error)
    income = stated_value(filer, "NetIncome", report.year, report.period, error=error)
    kind = "AMENDMENT TO THE QUARTERLY REPORT ON FORM 10-Q" if amended else "QUARTERLY REPORT ON FORM 10-Q"
    cover = f"{kind}\n{filer.company.name}\nFor the quarter ended {report.end:%B %d, %Y}\n{NOTICE}"
    text = (
        f"In {report.period} of fiscal {report.year} we earned {money(filer, income)} on revenue of "
        f"{money(filer, revenue)}. Cash flows are stated from the beginning of the fiscal year."
    )
    return {"": cover, "I-2": text}


def sections(ticker: str) -> Sections:
    """Return the texts of all filings of a company."""
    filer, dates = filers()[ticker], schedule(ticker)
    rows: list[tuple[Any, ...]] = []
    corrected: dict[tuple[int, str], Error] = {(each.year, each.period): each for each in dates.errors}
    for report in dates.reports:
        error = corrected.get((report.year, report.period))
        wrong = 0.0 if error is None else error_of(filer, error)
        day = report.announced.date()
        release = {"2.02": _release(filer, report, dates.factor(day), wrong)}
        told = [(day, report.announcement, "8-K", release)]
        told.append((report.filed, report.accession, report.form, _report(filer, report, wrong, amended=False)))
        if error is not None:
            told.append((error.filed, error.accession, error.form, _report(filer, report, 0.0, amended=True)))
        for filed, accession, form, parts in told:
            rows += [(filed, ticker, accession, form, *section) for section in _sections(parts)]
    return Sections.of(rows)


def _report(filer: Filer, report: Report, error: float, *, amended: bool) -> dict[str, str]:
    if report.period != "FY":
        return _quarterly(filer, report, error, amended=amended)
    told = disclosures(filer.ticker, report.year, error)
    return _annual(filer, report, told, error, amended=amended)
