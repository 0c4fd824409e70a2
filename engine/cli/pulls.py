"""``traderbench data pull filings | equities | options | macro``: what a run's lake reads, each ticker by itself."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli import banks, options
from engine.cli.streams import tell
from lake.published.sources import SOURCES

if TYPE_CHECKING:
    from lake.sec import SecClient


def add_kinds(kinds: options.Commands) -> None:
    """Declare the kinds of data."""
    filings = options.command(
        kinds,
        "filings",
        pull_filings_command,
        help="fetch the filings of companies from SEC EDGAR: list, XBRL figures, texts by section",
        example="traderbench data pull filings --ticker AAPL --since 2020-01-01",
    )
    _add_tickers(filings)
    filings.add_argument(
        "--forms", type=options.names, default=("10-K", "10-Q", "8-K"), metavar="FORMS",
        help="forms whose texts are fetched, between commas, or none (default: 10-K,10-Q,8-K)",
    )  # fmt: skip
    filings.add_argument("--since", type=options.day, default=date.min, metavar="YYYY-MM-DD", help="first day of texts")
    filings.add_argument("--until", type=options.day, default=date.max, metavar="YYYY-MM-DD", help="last day of texts")
    filings.add_argument(
        "--search",
        metavar="WORDS",
        help="only filings that the SEC's full-text search finds (since 2001), of the tickers or of all companies",
    )
    filings.add_argument(
        "--limit", type=options.count, default=100, help="most filings of a search (default: %(default)s)"
    )
    filings.add_argument("--base-url", metavar="URL", help="another address that serves the SEC's paths")
    equities = options.command(
        kinds,
        "equities",
        pull_equities_command,
        help="fetch prices as traded, actions, earnings, estimates, statements and news of tickers from Yahoo Finance",
        example="traderbench data pull equities --ticker AAPL NVDA --since 2015-01-01",
    )
    _add_tickers(equities)
    equities.add_argument("--since", type=options.day, metavar="YYYY-MM-DD", help="first day of prices (default: all)")
    equities.add_argument("--base-url", metavar="URL", help="another address that serves Yahoo's paths")
    quotes = options.command(
        kinds,
        "options",
        pull_options_command,
        help="with tickers, add a snapshot of all listed options on them from Yahoo Finance, which shows no past ones; "
        "without, fetch the published options tasks",
        example="traderbench data pull options --ticker AAPL SPY",
    )
    _add_tickers(quotes, f"lake.path, data; of the tasks {SOURCES[banks.OPTIONS].folder}")
    banks.add_source(quotes)
    quotes.set_defaults(bank=banks.OPTIONS)
    macro = options.command(
        kinds,
        "macro",
        pull_macro_command,
        help="fetch macro series from FRED, and on later days what is new or revised in them",
        example="traderbench data pull macro --series DTB3 DGS10",
    )
    macro.add_argument("--series", nargs="+", required=True, metavar="SERIES", help="FRED's names, such as DTB3")
    _add_out(macro)
    macro.add_argument("--base-url", metavar="URL", help="another address of FRED's CSV files")


def _add_tickers(parser: argparse.ArgumentParser, out: str = "") -> None:
    parser.add_argument("--ticker", nargs="+", default=[], metavar="TICKER", help="such as AAPL; several are allowed")
    parser.add_argument("--tickers", type=Path, metavar="FILE", help="a file with one ticker a line")
    if out:
        parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"default: {out}")
    else:
        _add_out(parser)


def _add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, default=Path("data"), metavar="FOLDER", help="lake.path (default: %(default)s)"
    )


def _tickers(arguments: argparse.Namespace, *, needed: bool = True) -> list[str]:
    from engine.errors import ConfigError

    names = list(arguments.ticker)
    if arguments.tickers is not None:
        try:
            names += arguments.tickers.read_text(encoding="utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"--tickers {arguments.tickers}: {error}") from error
    if not names and needed:
        raise ConfigError("no ticker is given: --ticker AAPL NVDA, or --tickers FILE with one a line")
    return list(dict.fromkeys(name.upper() for name in names))


def each(tickers: Sequence[str], pull: Callable[[str], Sequence[str]]) -> int:
    """Pull ticker after ticker, each as far as its provider serves it; ``pull`` returns what is missing of one.

    Raises
    ------
    ConfigError
        Nothing came because a ticker does not exist.
    ServiceUnavailable
        The provider answered for none of them.
    NotAllServed
        Something is missing; what came is kept, and the same command asks for the rest.
    """
    from engine.errors import ConfigError, NotAllServed, ServiceUnavailable
    from lake.point_in_time import ProviderUnavailable

    missing: list[str] = []
    failed: list[ConfigError | ServiceUnavailable] = []
    for ticker in tickers:
        try:
            missing += pull(ticker)
        except ValueError as error:
            failed.append(ConfigError(str(error)))
        except ProviderUnavailable as error:
            failed.append(ServiceUnavailable(str(error)))
    if len(failed) == len(tickers):
        raise failed[0]
    missing += [str(error) for error in failed]
    for line in missing:
        print(f"  missing: {line}")
    if missing:
        raise NotAllServed(f"{len(missing)} of what was asked for did not come; the same command asks for it again")
    return 0


def pull_filings_command(arguments: argparse.Namespace) -> int:
    """Fetch filings and say what is there now."""
    from engine.errors import ConfigError
    from lake.edgar import pull
    from lake.edgar.provider import tables
    from lake.sec import SecClient

    tickers = _tickers(arguments, needed=arguments.search is None)
    folder = arguments.out / "filings"
    base = arguments.base_url
    urls = {} if base is None else {"data_url": base, "files_url": base}
    urls |= (
        {} if base is None else {"archives_url": f"{base}/Archives/edgar/data", "search_url": f"{base}/search-index"}
    )
    try:
        client = SecClient(folder / "cache", **urls)
    except ValueError as error:
        raise ConfigError(str(error)) from error

    chosen = _searched(arguments, client, tickers) if arguments.search is not None else None
    if chosen is not None:
        tickers = list(chosen)

    def one(ticker: str) -> Sequence[str]:
        pulled = pull.pull(
            folder,
            client,
            ticker,
            forms=arguments.forms,
            since=arguments.since,
            until=arguments.until,
            documents=bool(arguments.forms),
            accessions=None if chosen is None else chosen[ticker],
            progress=tell,
        )
        print(
            f"{ticker}: {pulled.filings:,} filings, {pulled.figures:,} figures, {pulled.documents:,} texts "
            f"({pulled.new_documents:,} new)"
        )
        return pulled.missing

    status = each(tickers, one)
    held = tables(folder)
    for table in (held.facts, held.filings, held.sections):
        print(f"{table.folder}: {len(table.entries()):,} companies, sha256 {table.digest()}")
    return status


def _searched(arguments: argparse.Namespace, client: SecClient, tickers: Sequence[str]) -> dict[str, list[str]]:
    """Return by ticker the filings that hold the words that are searched for."""
    from engine.errors import ConfigError, ServiceUnavailable
    from lake.edgar.search import search
    from lake.point_in_time import ProviderUnavailable

    span = {"since": arguments.since, "until": arguments.until, "limit": arguments.limit}
    try:
        hits = search(client, arguments.search, forms=arguments.forms, **span)
    except ProviderUnavailable as error:
        raise ServiceUnavailable(str(error)) from error
    chosen: dict[str, list[str]] = {}
    for hit in hits:
        if not tickers or hit.ticker in tickers:
            chosen.setdefault(hit.ticker, []).append(hit.accession)
    if not chosen:
        whose = f" of {', '.join(tickers)}" if tickers else ""
        raise ConfigError(f"--search: the SEC finds {arguments.search!r} in no {', '.join(arguments.forms)}{whose}")
    print(f"{sum(map(len, chosen.values())):,} filings of {len(chosen):,} companies hold {arguments.search!r}")
    return chosen


def pull_equities_command(arguments: argparse.Namespace) -> int:
    """Fetch what Yahoo shows of tickers and say what is there now."""
    from lake.yahoo import pull, session
    from lake.yahoo.provider import tables

    shared = session.new(base_url=arguments.base_url)

    def one(ticker: str) -> Sequence[str]:
        pulled = pull.pull(arguments.out, ticker, session=shared, since=arguments.since, progress=tell)
        rows = ", ".join(f"{count:,} {name}" for name, count in pulled.rows.items())
        print(f"{ticker}: {rows}{' (read today, already here)' if pulled.fresh else ''}")
        return pulled.missing

    status = each(_tickers(arguments), one)
    bars = tables(arguments.out).bars
    print(f"{bars.folder}: {len(bars.entries()):,} tickers, sha256 {bars.digest()}")
    return status


def pull_options_command(arguments: argparse.Namespace) -> int:
    """Add a snapshot of option quotes, or fetch the published tasks, and say what is there now."""
    if not arguments.ticker and arguments.tickers is None:
        return banks.pull_command(arguments)
    from engine.errors import ConfigError
    from lake.yahoo import pull, session
    from lake.yahoo.provider import option_quotes

    if arguments.revision is not None:
        raise ConfigError("--revision is for the published tasks; quotes of tickers are of now")
    out, shared = arguments.out or Path("data"), session.new(base_url=arguments.base_url)

    def one(ticker: str) -> Sequence[str]:
        pulled = pull.pull_options(out, ticker, session=shared)
        print(f"{ticker}: {pulled.rows['quotes']:,} quotes of all snapshots")
        return ()

    status = each(_tickers(arguments), one)
    table = option_quotes(out)
    print(f"{table.folder}: {len(table.entries()):,} underlyings, sha256 {table.digest()}")
    return status


def pull_macro_command(arguments: argparse.Namespace) -> int:
    """Fetch macro series and say what is there now."""
    from lake import macro

    def one(series: str) -> Sequence[str]:
        pulled = macro.pull(arguments.out, series, base_url=arguments.base_url)
        print(f"{series}: {pulled.rows:,} rows ({pulled.new_rows:,} new), {pulled.first} to {pulled.last}")
        return ()

    status = each(list(dict.fromkeys(name.upper() for name in arguments.series)), one)
    held = macro.table(arguments.out)
    print(f"{held.folder}: {len(held.entries()):,} series, sha256 {held.digest()}")
    return status
