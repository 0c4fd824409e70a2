"""``traderbench data pull`` of public task banks, ``data list`` and ``data verify``."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli import options
from engine.cli.streams import tell
from lake.published.sources import SOURCES

OPTIONS = "options"
"""Quotes and tasks go by this name: with tickers the former are pulled (:mod:`engine.cli.pulls`)."""


def add_kinds(kinds: options.Commands) -> None:
    """Declare the banks that have a command of their own."""
    for kind, source in SOURCES.items():
        if kind == OPTIONS:
            continue
        parser = options.command(
            kinds,
            kind,
            pull_command,
            help=f"fetch the public tasks of {source.repository} into {source.folder}; terms: {source.terms}",
            example=f"traderbench data pull {kind}",
        )
        parser.set_defaults(bank=kind)
        parser.add_argument("--out", type=Path, metavar="FOLDER", help=f"default: {source.folder}")
        add_source(parser)


def add_source(parser: argparse.ArgumentParser) -> None:
    """Add where a bank is fetched from, and which state of it."""
    parser.add_argument(
        "--revision", metavar="NAME", help="branch, tag or commit (default: that of the first pull, or the newest)"
    )
    parser.add_argument("--base-url", metavar="URL", help="another address that speaks the host's paths")


def add_checks(actions: options.Commands) -> None:
    """Declare ``data list`` and ``data verify``."""
    listing = options.command(
        actions, "list", list_command, help="list the data that was pulled", example="traderbench data list"
    )
    options.add_json(listing, "the rows")
    verify = options.command(
        actions,
        "verify",
        verify_command,
        help="compare every pulled file with the sha256 that was written down when it came",
        example="traderbench data verify",
    )
    for parser in (listing, verify):
        parser.add_argument(
            "--path", type=Path, default=Path("data"), metavar="FOLDER", help="lake.path (default: %(default)s)"
        )


def pull_command(arguments: argparse.Namespace) -> int:
    """Fetch a bank and say what is there now."""
    from engine.errors import ConfigError, NotAllServed, ServiceUnavailable
    from lake.point_in_time import ProviderUnavailable
    from lake.published.pull import pull

    try:
        pulled = pull(
            arguments.bank,
            folder=arguments.out,
            revision=arguments.revision,
            base_url=arguments.base_url,
            progress=tell,
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    except ProviderUnavailable as error:
        raise ServiceUnavailable(str(error)) from error
    print(
        f"{pulled.folder}: {pulled.files:,} files ({pulled.new:,} new), {pulled.size:,} bytes, commit "
        f"{pulled.commit[:12]}, sha256 {pulled.sha256}"
    )
    for line in pulled.missing:
        print(f"  missing: {line}")
    if pulled.missing:
        raise NotAllServed(f"{len(pulled.missing)} files did not come; the same command asks for them again")
    return 0


def list_command(arguments: argparse.Namespace) -> int:
    """List what was pulled."""
    from engine.errors import ConfigError
    from lake.published import held

    try:
        rows = held.listed(arguments.path)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if arguments.json:
        options.print_json([row._asdict() for row in rows])
    elif not rows:
        print(f"nothing was pulled; traderbench data pull KIND, with one of {', '.join(SOURCES)}, fetches a bank")
    for row in () if arguments.json else rows:
        print(f"{row.kind:<12} {row.folder:<40} {row.files:>6,} files {row.size:>14,} bytes  {row.version}")
    return 0


def verify_command(arguments: argparse.Namespace) -> int:
    """Read every pulled file again."""
    from engine.errors import ConfigError, StoreCorrupt
    from lake.published import held

    try:
        count, faults = held.faults(arguments.path)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    for line in faults:
        print(line)
    if faults:
        raise StoreCorrupt(f"{len(faults)} of {count:,} files are not what was pulled; pull them again")
    print(f"{count:,} files are what was pulled")
    return 0
