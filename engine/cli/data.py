"""``traderbench data``: candles of an exchange; the rest is in :mod:`engine.cli.pulls` and :mod:`engine.cli.banks`."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli import banks, options, pulls, streams


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    example = "traderbench data pull crypto --exchange binance --symbol BTC/USDT --timeframe 1h --since 2020-01-01"
    data = options.group(commands, "data", help="fetch market data and public task banks", example=example)
    actions = data.add_subparsers(dest="action", metavar="ACTION", required=True)
    pull = options.group(actions, "pull", help="fetch from a provider", example=example)
    kinds = pull.add_subparsers(dest="kind", metavar="KIND", required=True)
    crypto = options.command(
        kinds,
        "crypto",
        pull_crypto_command,
        help="fetch candles (or funding rates) of an exchange, going on where an earlier pull ended",
        example=example,
    )
    crypto.add_argument("--exchange", required=True, help="ccxt's name, such as binance")
    crypto.add_argument(
        "--symbol", required=True, help="ccxt's name, such as BTC/USDT (spot) or BTC/USDT:USDT (perpetual)"
    )
    crypto.add_argument("--timeframe", default="1h", help="length of a candle (default: %(default)s)")
    crypto.add_argument("--since", metavar="YYYY-MM-DD", help="first day, UTC; needed but for --order-book")
    crypto.add_argument("--until", metavar="YYYY-MM-DD", help="day after the last, UTC (default: now)")
    crypto.add_argument("--funding", action="store_true", help="fetch funding rates instead of candles")
    crypto.add_argument(
        "--order-book",
        action="store_true",
        help="add a snapshot of the order book as it is now; exchanges show no past",
    )
    crypto.add_argument("--depth", type=options.count, default=50, help="levels of a snapshot (default: %(default)s)")
    crypto.add_argument("--out", metavar="FOLDER", type=Path, default=Path("data/crypto"), help="default: %(default)s")
    crypto.add_argument("--base-url", metavar="URL", help="another address of the exchange's API")
    pulls.add_kinds(kinds)
    banks.add_kinds(kinds)
    banks.add_checks(actions)


def pull_crypto_command(arguments: argparse.Namespace) -> int:
    """Fetch and say what is there now."""
    from engine.errors import ConfigError, NotAllServed, ServiceUnavailable
    from lake.candles import exchange
    from lake.candles.pages import listed

    if arguments.since is None and not arguments.order_book:
        raise ConfigError("--since YYYY-MM-DD is needed: the first day of candles or funding rates, UTC")
    try:
        if arguments.order_book:
            return _pull_book(arguments)
        if arguments.funding:
            pulled = exchange.pull_funding(
                arguments.out,
                exchange=arguments.exchange,
                symbol=arguments.symbol,
                since=arguments.since,
                until=arguments.until,
                base_url=arguments.base_url,
                progress=streams.tell,
            )
        else:
            pulled = exchange.pull(
                arguments.out,
                exchange=arguments.exchange,
                symbol=arguments.symbol,
                timeframe=arguments.timeframe,
                since=arguments.since,
                until=arguments.until,
                base_url=arguments.base_url,
                progress=streams.tell,
            )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    except ConnectionError as error:
        raise ServiceUnavailable(str(error)) from error
    print(f"{pulled.folder}: {pulled.rows:,} rows ({pulled.new_rows:,} new), sha256 {pulled.sha256}")
    if pulled.report is not None:
        print(str(pulled.report).removesuffix("\n  no faults") if pulled.missing else pulled.report)
    if not pulled.missing:
        return 0
    for line in listed(pulled.missing):
        print(f"  {line}")
    total, rows = sum(gap.rows for gap in pulled.missing), "rates" if arguments.funding else "candles"
    raise NotAllServed(
        f"{arguments.exchange} did not serve all that was asked for: {total:,} {rows} since {arguments.since} are "
        "missing; what came is kept, and the same command asks for the rest again"
    )


def _pull_book(arguments: argparse.Namespace) -> int:
    """Add a snapshot of the order book and say what is there now."""
    from datetime import UTC, datetime

    from lake import clock, crypto
    from lake.candles import exchange
    from lake.records import OrderBooks

    if arguments.since or arguments.until or arguments.funding:
        raise ValueError("--order-book is of now: leave out --since, --until and --funding")
    book = exchange.read_book(
        arguments.exchange, symbol=arguments.symbol, depth=arguments.depth, base_url=arguments.base_url
    )
    moment = datetime.fromtimestamp(book.read_at, UTC)
    rows = [
        (clock.day_in(clock.UTC, moment), moment, side, level, *row)
        for side, levels in (("bid", book.bids), ("ask", book.asks))
        for level, row in enumerate(levels, start=1)
    ]
    table = crypto.books(arguments.out, arguments.exchange)
    table.add(arguments.symbol, OrderBooks.of(rows), source=f"{arguments.exchange} through ccxt")
    held = table.entries()[arguments.symbol]
    best = f"{book.bids[0][0]:g} / {book.asks[0][0]:g}"
    print(
        f"{table.folder}: {arguments.symbol} of {moment:%Y-%m-%d %H:%M:%S} UTC, {best}; {held['rows']:,} levels in all"
    )
    return 0
