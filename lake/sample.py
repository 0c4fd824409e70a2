"""The lake of a run: the sources that tools and task generators read. The embedded sample is the default."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from importlib import metadata, resources

from lake import fundamentals, prices, rates, simulated
from lake.fundamentals import Companies, EmbeddedCompanies
from lake.point_in_time import Source, UnknownKey
from lake.records import Bars, Facts, Observations

DATA_FILES = (
    "embedded/fundamentals.csv",
    "embedded/rates.csv",
    "fundamentals.py",
    "rates.py",
    "simulated.py",
    "splits.py",
    "chains.py",
)
"""What the embedded data are made of, besides the price package: tables, and the code that gives them their meaning."""


@dataclass(frozen=True)
class Lake:
    """Point-in-time sources, one for each kind of record.

    Attributes
    ----------
    facts
        Company figures by ticker.
    bars
        Daily bars of real shares by ticker.
    simulated_bars
        Daily bars of simulated markets by ticker.
    rates
        Rate series by name.
    companies
        The filers whose figures ``facts`` holds.
    """

    facts: Source[Facts]
    bars: Source[Bars]
    simulated_bars: Source[Bars]
    rates: Source[Observations]
    companies: Companies = field(default_factory=EmbeddedCompanies)

    def bars_of(self, ticker: str, *, as_of: date) -> tuple[Bars, str]:
        """Return the bars known on ``as_of`` and their origin, real or simulated; :class:`UnknownKey` if neither."""
        for source in (self.bars, self.simulated_bars):
            if ticker in source.keys(as_of=as_of):
                return source.known(ticker, as_of=as_of), source.origin
        raise UnknownKey(
            f"no prices of {ticker!r} were known on {as_of}; known: {', '.join(self.tickers(as_of=as_of))}"
        )

    def tickers(self, *, as_of: date) -> tuple[str, ...]:
        """Return the tickers that had prices on ``as_of``."""
        return self.bars.keys(as_of=as_of) + self.simulated_bars.keys(as_of=as_of)


@cache
def embedded() -> Lake:
    """Return the sample that ships with the project. It needs no network; tables are read when first asked for."""
    return Lake(fundamentals.embedded(), prices.embedded(), simulated.simulated(), rates.embedded())


@cache
def data_hash() -> str:
    """Return the sha256 over :data:`DATA_FILES` and the version of the price package."""
    digest = hashlib.sha256()
    folder = resources.files("lake")
    for name in DATA_FILES:
        content = folder.joinpath(name).read_bytes()
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    digest.update(f"bokeh_sampledata {metadata.version('bokeh-sampledata')}\n".encode())
    return digest.hexdigest()
