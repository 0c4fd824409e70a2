"""The lake of a run: the sources that tools and task generators read. The embedded sample is the default."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from importlib import metadata, resources

from lake import fundamentals, prices, rates, simulated
from lake.fundamentals import Companies, EmbeddedCompanies
from lake.layers import Layered, LayeredCompanies, LayeredTexts
from lake.point_in_time import Source, UnknownKey, listed
from lake.records import (
    Actions,
    Bars,
    CryptoBars,
    Earnings,
    Estimates,
    Facts,
    FilingIndex,
    FundingRates,
    News,
    Observations,
    OptionQuotes,
    OrderBooks,
    Sections,
    StatementLines,
)
from lake.simulated_filers import outlook, statements, texts
from lake.simulated_filers.directory import SimulatedCompanies
from lake.simulated_filers.source import Generated, GeneratedFacts, GeneratedSections
from lake.tables import RecordT, Searchable, Table

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


SIMULATED = "SIM-"
"""What the names of simulated markets begin with, and of no others."""
NOTHING = "nothing"
"""Origin of what a lake does not have."""
_RUN = "; a run serves what was pulled before: traderbench data pull"
_FILINGS = f"{_RUN} filings --ticker TICKER, and lake: {{filings: edgar}} in its config"
_EQUITIES = f"{_RUN} equities --ticker TICKER, and lake: {{equities: yfinance}} in its config"
_OPTIONS = f"{_RUN} options --ticker TICKER, and lake: {{options: yfinance}} in its config"

_CRYPTO = f"{_RUN} crypto --exchange binance --symbol BTC/USDT, and lake: {{crypto: binance}} in its config"


def _none(record: type[RecordT], hint: str) -> Table[RecordT]:
    return Table(None, record, origin=NOTHING, hint=hint)


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
        The filers whose figures ``facts`` holds, simulated ones (``SIMF-...``) last.
    filings, sections
        The filings of a ticker, and their texts.
    actions, earnings, estimates, statements, news
        What Yahoo shows of a ticker.
    option_quotes
        Snapshots of listed options by underlying.
    crypto_candles, funding, order_books
        Of an exchange: candles by symbol and timeframe (``BTC/USDT 1h``), the others by symbol.
    """

    facts: Source[Facts]
    bars: Source[Bars]
    simulated_bars: Source[Bars]
    rates: Source[Observations]
    companies: Companies = field(default_factory=EmbeddedCompanies)
    filings: Source[FilingIndex] = field(default_factory=lambda: _none(FilingIndex, _FILINGS))
    sections: Searchable[Sections] = field(default_factory=lambda: _none(Sections, _FILINGS))
    actions: Source[Actions] = field(default_factory=lambda: _none(Actions, _EQUITIES))
    earnings: Source[Earnings] = field(default_factory=lambda: _none(Earnings, _EQUITIES))
    estimates: Source[Estimates] = field(default_factory=lambda: _none(Estimates, _EQUITIES))
    statements: Source[StatementLines] = field(default_factory=lambda: _none(StatementLines, _EQUITIES))
    news: Source[News] = field(default_factory=lambda: _none(News, _EQUITIES))
    option_quotes: Source[OptionQuotes] = field(default_factory=lambda: _none(OptionQuotes, _OPTIONS))
    crypto_candles: Source[CryptoBars] = field(default_factory=lambda: _none(CryptoBars, _CRYPTO))
    funding: Source[FundingRates] = field(default_factory=lambda: _none(FundingRates, _CRYPTO))
    order_books: Source[OrderBooks] = field(default_factory=lambda: _none(OrderBooks, _CRYPTO))

    @property
    def has_option_quotes(self) -> bool:
        """Whether a provider of quotes was chosen; without one every chain is simulated."""
        return self.option_quotes.origin != NOTHING

    def bars_of(self, ticker: str, *, as_of: date) -> tuple[Bars, str]:
        """Return the bars known on ``as_of`` and their origin, real or simulated; :class:`UnknownKey` if neither."""
        simulated = ticker.startswith(SIMULATED)
        source = self.simulated_bars if simulated else self.bars
        if isinstance(source, Layered):
            source = source.holder(ticker, as_of=as_of) or source
        try:
            return source.known(ticker, as_of=as_of), source.origin
        except UnknownKey:
            tickers = self.tickers(as_of=as_of)
            raise UnknownKey(f"no prices of {ticker!r} were known on {as_of}; known: {listed(tickers)}") from None

    def tickers(self, *, as_of: date) -> tuple[str, ...]:
        """Return the tickers that had prices on ``as_of``."""
        return self.bars.keys(as_of=as_of) + self.simulated_bars.keys(as_of=as_of)


@cache
def embedded() -> Lake:
    """Return the sample that ships with the project. It needs no network; tables are read when first asked for."""
    lake = Lake(fundamentals.embedded(), prices.embedded(), simulated.simulated(), rates.embedded())
    return with_simulated_filers(lake)


def with_simulated_filers(lake: Lake) -> Lake:
    """Return a lake with the simulated filers behind what it has.

    What analysts expected of a filer is small and slow to make: it is kept of all of them.
    """
    return replace(
        lake,
        facts=Layered(lake.facts, GeneratedFacts(statements.facts)),
        companies=LayeredCompanies(lake.companies, SimulatedCompanies()),
        filings=Layered(lake.filings, Generated(statements.filings), hint=_FILINGS),
        sections=LayeredTexts(lake.sections, GeneratedSections(texts.sections)),
        actions=Layered(lake.actions, Generated(outlook.actions), hint=_EQUITIES),
        earnings=Layered(lake.earnings, Generated(cache(outlook.earnings)), hint=_EQUITIES),
        estimates=Layered(lake.estimates, Generated(cache(outlook.estimates)), hint=_EQUITIES),
    )


@cache
def data_hash() -> str:
    """Return the sha256 over :data:`DATA_FILES`, the simulated filers and the version of the price package."""
    digest = hashlib.sha256()
    folder = resources.files("lake")
    for name in DATA_FILES:
        content = folder.joinpath(name).read_bytes()
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    for file in sorted(folder.joinpath("simulated_filers").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            digest.update(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}\n".encode())
    digest.update(f"bokeh_sampledata {metadata.version('bokeh-sampledata')}\n".encode())
    return digest.hexdigest()
