"""What was pulled from Yahoo as sources of the lake: equities, and options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from lake.layers import Layered
from lake.records import Actions, Bars, Earnings, Estimates, News, OptionQuotes, StatementLines
from lake.sample import Lake
from lake.settings import LakeSettings
from lake.tables import Table

ORIGIN = "Yahoo Finance through yfinance, as pulled (terms of Yahoo: personal use); prices as traded"
HINT = "; what was pulled is served: traderbench data pull equities --ticker TICKER"
OPTIONS_HINT = "; what was pulled is served: traderbench data pull options --ticker TICKER"
Fetch = Callable[[str], None] | None


class Tables(NamedTuple):
    """The tables of the folder ``equities/yahoo``."""

    bars: Table[Bars]
    actions: Table[Actions]
    earnings: Table[Earnings]
    estimates: Table[Estimates]
    statements: Table[StatementLines]
    news: Table[News]


def tables(path: Path, fetch: Fetch = None) -> Tables:
    """Return the tables of the lake at ``path``; with ``fetch`` a ticker that is not there is pulled when asked for."""
    folder = path / "equities" / "yahoo"
    return Tables(
        Table(folder / "bars", Bars, origin=ORIGIN, hint=HINT, fetch=fetch),
        Table(folder / "actions", Actions, origin=ORIGIN, hint=HINT, fetch=fetch),
        Table(folder / "earnings", Earnings, origin=ORIGIN, hint=HINT, fetch=fetch),
        Table(folder / "estimates", Estimates, origin=ORIGIN, hint=HINT, fetch=fetch),
        Table(folder / "statements", StatementLines, origin=ORIGIN, hint=HINT, fetch=fetch),
        Table(folder / "news", News, origin=ORIGIN, hint=HINT, fetch=fetch),
    )


def option_quotes(path: Path, fetch: Fetch = None) -> Table[OptionQuotes]:
    """Return the table of option quotes of the lake at ``path``."""
    return Table(path / "options" / "yahoo" / "quotes", OptionQuotes, origin=ORIGIN, hint=OPTIONS_HINT, fetch=fetch)


def into(lake: Lake, settings: LakeSettings) -> Lake:
    """Put what was pulled before the embedded sample."""
    path = Path(settings.path)
    if settings.equities == "yfinance":
        held = tables(path, None if settings.offline else _fetcher(path, "equities"))
        _require("equities", bool(held.bars.entries()), path, settings)
        lake = replace(
            lake,
            bars=Layered(held.bars, lake.bars, hint=HINT),
            actions=Layered(held.actions, lake.actions, hint=HINT),
            earnings=Layered(held.earnings, lake.earnings, hint=HINT),
            estimates=Layered(held.estimates, lake.estimates, hint=HINT),
            statements=held.statements,
            news=held.news,
        )
    if settings.options == "yfinance":
        quotes = option_quotes(path, None if settings.offline else _fetcher(path, "options"))
        _require("options", bool(quotes.entries()), path, settings)
        lake = replace(lake, option_quotes=quotes)
    return lake


def _require(kind: str, held: bool, path: Path, settings: LakeSettings) -> None:
    if settings.offline and not held:
        raise ValueError(
            f"{kind}: yfinance: nothing was pulled into {path / kind}; traderbench data pull {kind} --ticker AAPL "
            f"--out {settings.path} does, or set offline: false"
        )


def _fetcher(path: Path, kind: str) -> Callable[[str], None]:
    from lake.yahoo import pull, session

    shared = session.new()

    def fetch(ticker: str) -> None:
        try:
            if kind == "options":
                pull.pull_options(path, ticker, session=shared)
            else:
                pull.pull(path, ticker, session=shared)
        except ValueError:
            # Yahoo has no such ticker: the table's own error says that nothing is known
            return

    return fetch
