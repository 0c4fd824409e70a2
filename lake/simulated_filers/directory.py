"""Who files: some hundreds of companies with invented names, each with a trade and a fiscal calendar of its own."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache

from lake.fundamentals import Company
from lake.simulated_filers.calendar import FiscalCalendar
from lake.simulated_filers.streams import stream

COUNT = 480
TICKER = "SIMF-"
"""What the tickers of simulated filers begin with, and of no others."""
CIK = 9_900_000_000
"""CIKs of simulated filers lie above this; the SEC's are far below."""
EXCHANGE = "Simulated"
FIRST_YEARS = (2007, 2013)
LAST_YEAR = 2031
"""Fiscal years that are made; the first of a filer is drawn."""

_HEADS = (
    "Vel", "Zor", "Quen", "Brax", "Ily", "Ostra", "Threm", "Yav", "Kesp", "Drun", "Falo", "Merv", "Nux", "Pell",
    "Sarv", "Uld", "Wex", "Cyra", "Jor", "Lum",
)  # fmt: skip
_TAILS = (
    "unor", "ithane", "addo", "ovik", "emmet", "isk", "antha", "oquil", "ubrex", "yndal", "ostrum", "efar", "azzin",
    "orrel", "ipta", "uvane", "eldric", "omund", "ashti", "ienko", "urdle", "axtor", "ivond", "enquist",
)  # fmt: skip
_FORMS = ("Inc.", "Corp.", "Holdings Inc.", "Group Inc.", "Co.")
_YEAR_ENDS = (12, 12, 12, 12, 1, 2, 3, 5, 6, 6, 8, 9, 9, 10)
_LAST_WEEKDAYS = (None, None, None, 5, 5, 4, 6)


@dataclass(frozen=True)
class Trade:
    """What kind of business a company is in, and what that means for its figures.

    Attributes
    ----------
    gross_margin
        Lowest and highest of the companies in it.
    research
        Research and development over revenue, lowest and highest; None: not reported.
    sizes
        Revenue of a first quarter in millions of dollars, lowest and highest.
    season
        Largest deviation of a quarter's revenue from the year's mean, a fraction.
    segments
        Names of parts of the business.
    """

    word: str
    sic: str
    industry: str
    gross_margin: tuple[float, float]
    research: tuple[float, float] | None
    sizes: tuple[float, float]
    season: float
    segments: tuple[str, ...]


TRADES = (
    Trade("Instruments", "3826", "Laboratory Analytical Instruments", (0.45, 0.62), (0.07, 0.14), (40, 900), 0.06,
          ("Spectrometry", "Sample Handling", "Field Service", "Reagents")),
    Trade("Systems", "3571", "Electronic Computers", (0.30, 0.45), (0.05, 0.11), (90, 4000), 0.18,
          ("Workstations", "Storage", "Edge Devices", "Support Contracts")),
    Trade("Semiconductor", "3674", "Semiconductors & Related Devices", (0.42, 0.63), (0.12, 0.22), (60, 3000), 0.08,
          ("Analog", "Power Management", "Sensors", "Licensing")),
    Trade("Software", "7372", "Services-Prepackaged Software", (0.62, 0.80), (0.14, 0.24), (30, 1500), 0.05,
          ("Subscriptions", "Hosting", "Professional Services", "Maintenance")),
    Trade("Foods", "2000", "Food and Kindred Products", (0.26, 0.40), (0.01, 0.02), (120, 3500), 0.10,
          ("Frozen Meals", "Bakery", "Beverages", "Food Service")),
    Trade("Apparel", "2300", "Apparel & Other Finished Products", (0.42, 0.56), None, (60, 1400), 0.25,
          ("Outerwear", "Footwear", "Wholesale", "Direct to Consumer")),
    Trade("Materials", "2821", "Plastic Materials & Resins", (0.20, 0.34), (0.02, 0.04), (150, 4000), 0.06,
          ("Resins", "Coatings", "Films", "Recycling")),
    Trade("Devices", "3841", "Surgical & Medical Instruments", (0.55, 0.70), (0.08, 0.15), (50, 2000), 0.04,
          ("Orthopedics", "Imaging", "Monitoring", "Disposables")),
    Trade("Logistics", "4213", "Trucking", (0.18, 0.28), None, (150, 3000), 0.08,
          ("Full Truckload", "Parcel", "Warehousing", "Brokerage")),
    Trade("Machinery", "3560", "General Industrial Machinery", (0.28, 0.42), (0.02, 0.05), (80, 2500), 0.07,
          ("Pumps", "Compressors", "Aftermarket Parts", "Automation")),
    Trade("Stores", "5331", "Retail-Variety Stores", (0.26, 0.38), None, (200, 6000), 0.30,
          ("Urban Stores", "Suburban Stores", "Online", "Franchise")),
    Trade("Instruction", "8200", "Services-Educational Services", (0.48, 0.64), (0.01, 0.03), (30, 500), 0.22,
          ("Certificates", "Corporate Training", "Tutoring", "Publishing")),
)  # fmt: skip


@dataclass(frozen=True)
class Filer:
    """A simulated company.

    Attributes
    ----------
    unit
        Dollars in which its statements are rounded: a thousand or a million.
    """

    company: Company
    trade: Trade
    calendar: FiscalCalendar
    first_year: int
    unit: int

    @property
    def ticker(self) -> str:
        """The ticker, which begins with :data:`TICKER`."""
        return self.company.ticker


def _made(number: int, name: str, code: str, rng: random.Random) -> Filer:
    trade = rng.choice(TRADES)
    calendar = FiscalCalendar(rng.choice(_YEAR_ENDS), rng.choice(_LAST_WEEKDAYS))
    company = Company(
        ticker=TICKER + code,
        name=f"{name} {trade.word} {rng.choice(_FORMS)} (Sim)",
        cik=f"{CIK + number:010d}",
        exchange=EXCHANGE,
        sic=trade.sic,
        industry=trade.industry,
        fiscal_year_end_month=calendar.month,
    )
    return Filer(company, trade, calendar, rng.randint(*FIRST_YEARS), 1000 if trade.sizes[1] < 2000 else 1_000_000)


@cache
def filers() -> dict[str, Filer]:
    """Return every filer by its ticker."""
    names = [(head + tail, head[:2] + tail[:2]) for head in _HEADS for tail in _TAILS]
    stream("names").shuffle(names)
    made: dict[str, Filer] = {}
    for number, (name, short) in enumerate(names[:COUNT], start=1):
        code = short.upper() if TICKER + short.upper() not in made else f"{short.upper()}{number}"
        filer = _made(number, name, code, stream("filer", name))
        made[filer.ticker] = filer
    return made


class SimulatedCompanies:
    """The directory of simulated filers."""

    def find(self, ticker: str) -> Company | None:
        """Return the company with this ticker, or None."""
        filer = filers().get(ticker)
        return None if filer is None else filer.company

    def search(self, text: str, *, limit: int) -> list[Company]:
        """Return up to ``limit`` companies whose ticker, CIK, name or industry holds ``text``."""
        needle = text.strip().lower()
        rows = (filer.company for filer in filers().values())
        found = [row for row in rows if needle in f"{row.ticker} {row.name} {row.cik} {row.industry}".lower()]
        return found[:limit]
