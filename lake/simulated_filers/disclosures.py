"""What a filer tells in words in its annual report: segments, customers, guidance, covenants, claims, commitments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from lake.simulated_filers.books import books
from lake.simulated_filers.directory import Filer, filers
from lake.simulated_filers.schedule import year_of
from lake.simulated_filers.statements import error_of, quarters_of, stated_value
from lake.simulated_filers.streams import stream

LEVERAGE_STEP = 0.25


@dataclass(frozen=True)
class Segment:
    """A part of the business; dollars of the year and of the year before."""

    name: str
    revenue: float
    revenue_before: float
    operating_income: float


@dataclass(frozen=True)
class Disclosures:
    """The facts behind the texts of one annual report, in dollars; shares and growth in percent.

    Attributes
    ----------
    segments
        Their revenues add up to the company's; their operating incomes, less ``corporate_costs``, too.
    largest_customer, second_customer
        Shares of revenue.
    growth_guided, spending_guided
        Range of next year's revenue growth and capital expenditure.
    steady_growth
        Growth of revenue at the exchange rates of the year before.
    most_leverage
        Debt over the year's operating income and depreciation that the credit agreement allows.
    facility, drawn
        Of the revolving credit agreement.
    floating_share
        Of long-term debt at floating rates.
    claimed, accrued, further_loss
        Of the largest lawsuit: what is claimed, what is provided for, what may be lost beyond that.
    settled
        What an older, closed lawsuit cost.
    commitments
        Purchase obligations due in each of the next three years, and after that.
    lease_commitments
        The same of leases.
    backlog, backlog_next_year
        Unfilled orders, and the part of them to be filled within twelve months.
    """

    segments: tuple[Segment, ...]
    corporate_costs: float
    largest_customer: float
    second_customer: float
    growth_guided: tuple[float, float]
    spending_guided: tuple[float, float]
    steady_growth: float | None
    most_leverage: float
    facility: float
    drawn: float
    floating_share: float
    claimed: float
    accrued: float
    further_loss: float
    settled: float
    commitments: tuple[float, float, float, float]
    lease_commitments: tuple[float, float, float, float]
    backlog: float
    backlog_next_year: float
    employees: int


def _segment_revenues(filer: Filer, year: int) -> list[float]:
    """Return the revenue of each segment, the first as it is without any error; they add up."""
    count = 3 + stream(filer.ticker, "segments").randrange(2)
    base, rng = stream(filer.ticker, "segment shares"), stream(filer.ticker, year, "segment shares")
    weights = [base.uniform(0.5, 2.0) * rng.uniform(0.85, 1.15) for _ in range(count)]
    total = sum(books(filer.ticker)["Revenue"][quarters_of(filer, year, "FY")])
    parts = [_rounded(filer, total * weight / sum(weights)) for weight in weights[1:]]
    return [total - sum(parts), *parts]


def _rounded(filer: Filer, value: float) -> float:
    return float(round(value / filer.unit) * filer.unit)


@lru_cache(maxsize=4096)
def disclosures(ticker: str, year: int, error: float = 0.0) -> Disclosures:
    """Return what the report on a fiscal year tells; an error in revenue lies in the first segment."""
    filer, rng = filers()[ticker], stream(ticker, year, "disclosures")

    def rounded(value: float) -> float:
        return _rounded(filer, value)

    revenue = stated_value(filer, "Revenue", year, "FY", error=error)
    earned = stated_value(filer, "OperatingIncome", year, "FY", error=error)
    spent = stated_value(filer, "CapitalExpenditure", year, "FY")
    debt = stated_value(filer, "LongTermDebt", year, "FY")
    now = _segment_revenues(filer, year)
    now[0] += error
    first = year == filer.first_year
    before = [0.0 for _ in now] if first else _segment_revenues(filer, year - 1)
    costs = rounded(revenue * rng.uniform(0.02, 0.05))
    incomes = [rounded((earned + costs) * part / revenue * rng.uniform(0.6, 1.4)) for part in now[1:]]
    incomes = [earned + costs - sum(incomes), *incomes]
    largest = rng.randint(110, 340) / 10
    second = rng.randint(50, 99) / 10
    low = rng.randint(-20, 90) / 10
    low_spent = rounded(spent * rng.uniform(0.8, 1.2))
    steady = None
    if not first:
        grown = 100.0 * (revenue / sum(before) - 1.0)
        steady = round(grown + rng.choice((-1, 1)) * rng.uniform(0.6, 4.5), 1)
    cash_earned = earned + stated_value(filer, "DepreciationAndAmortization", year, "FY")
    leverage = debt / cash_earned if cash_earned > 0 else 4.0
    facility = rounded(revenue * rng.uniform(0.05, 0.2))
    claimed = rounded(revenue * rng.uniform(0.01, 0.08))
    accrued = rounded(claimed * rng.uniform(0.1, 0.35))

    def schedule(share: float) -> tuple[float, float, float, float]:
        fall = rng.uniform(0.5, 0.9)
        parts = [rounded(revenue * share * fall**place * rng.uniform(0.85, 1.15)) for place in range(4)]
        return parts[0], parts[1], parts[2], parts[3]

    commitments, leases = schedule(rng.uniform(0.03, 0.12)), schedule(rng.uniform(0.01, 0.04))
    backlog = rounded(revenue * rng.uniform(0.15, 0.9))
    return Disclosures(
        segments=tuple(Segment(*row) for row in zip(filer.trade.segments, now, before, incomes, strict=False)),
        corporate_costs=costs,
        largest_customer=largest,
        second_customer=second,
        growth_guided=(low, round(low + rng.randint(10, 40) / 10, 1)),
        spending_guided=(low_spent, rounded(low_spent * rng.uniform(1.08, 1.4))),
        steady_growth=steady,
        most_leverage=LEVERAGE_STEP * (int(leverage / LEVERAGE_STEP) + rng.randint(3, 9)),
        facility=facility,
        drawn=rounded(facility * rng.uniform(0.05, 0.8)),
        floating_share=rng.randint(120, 780) / 10,
        claimed=claimed,
        accrued=accrued,
        further_loss=rounded((claimed - accrued) * rng.uniform(0.2, 0.9)),
        settled=rounded(claimed * rng.uniform(0.1, 0.6)),
        commitments=commitments,
        lease_commitments=leases,
        backlog=backlog,
        backlog_next_year=rounded(backlog * rng.uniform(0.4, 0.85)),
        employees=round(revenue / rng.uniform(180_000, 520_000)),
    )


def as_first_filed(ticker: str, year: int) -> Disclosures:
    """Return what the first report on a fiscal year told, with the error that an amendment may have taken back."""
    errors = [error for error in year_of(ticker, year).errors if error.period == "FY"]
    return disclosures(ticker, year, error_of(filers()[ticker], errors[0]) if errors else 0.0)
