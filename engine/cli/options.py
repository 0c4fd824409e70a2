"""Arguments that several commands share, and the one way a command is declared."""

from __future__ import annotations

import argparse
import json
import math
import secrets
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from engine import devices
from engine.cli import streams

Commands = Any
"""What ``argparse.ArgumentParser.add_subparsers`` returns; its type is private."""

RUN_CONFIG = (
    "YAML file of a benchmark variant, or the name of a shipped one: quick, categories, llm, offline, full, paper-18, "
    "paper-fab, paper-traderbench"
)


def command(
    commands: Commands, name: str, run: Callable[[argparse.Namespace], int], *, help: str, example: str
) -> argparse.ArgumentParser:
    """Add a command with its help line and an example at the end of its help."""
    parser = group(commands, name, help=help, example=example)
    parser.set_defaults(run=run, parser=parser, run_on_processor=True)
    return parser


def group(commands: Commands, name: str, *, help: str, example: str) -> argparse.ArgumentParser:
    """Add a command that only holds others, with its help line and the example of one of them."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        description=help[0].upper() + help[1:] + ".",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


class DrawnSeed(int):
    """A seed that was drawn at random for this run: nobody can have prepared an agent for it."""


def seed(text: str) -> int:
    """Parse a seed: a whole number, 0 to 2**63 - 1, or ``random`` for one that nobody can have prepared for."""
    if text == "random":
        return DrawnSeed(secrets.randbits(63))
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a seed is a whole number or the word random, got {text!r}") from None
    if not 0 <= value < 2**63:
        raise argparse.ArgumentTypeError(f"a seed lies between 0 and 2**63 - 1, got {text}")
    return value


def shard(text: str) -> dict[str, int]:
    """Parse a shard: ``1/3`` is the first of three."""
    index, slash, count = text.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"a shard is written INDEX/COUNT, from 1/3 to 3/3 for three, got {text!r}")
    return {"index": int(index), "count": int(count)}


def positive(text: str) -> float:
    """Parse a number above 0."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number above 0 is needed, got {text!r}") from None
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"a number above 0 is needed, got {text}")
    return value


def from_zero(text: str) -> float:
    """Parse a number from 0."""
    return 0.0 if text.strip() in ("0", "0.0") else positive(text)


def count(text: str) -> int:
    """Parse a whole number from 1."""
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 is needed, got {text!r}")
    return int(text)


def names(text: str) -> tuple[str, ...]:
    """Parse names between commas; the word none is none."""
    return () if text == "none" else tuple(name.strip() for name in text.split(","))


def day(text: str) -> date:
    """Parse a day of the calendar, YYYY-MM-DD."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a day is written YYYY-MM-DD, such as 2013-03-01, got {text!r}") from None


def device(text: str) -> str:
    """Check the name of a device."""
    try:
        devices.named(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add ``--device``."""
    parser.add_argument(
        "--device",
        type=device,
        metavar="NAME",
        help="where to compute: cpu, cuda or tpu, or one of several such as cuda:1 (default: as configured, else cpu)",
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON on standard output")


def add_run_folder(parser: argparse.ArgumentParser) -> None:
    """Add the RUN argument: a run folder."""
    parser.add_argument("folder", metavar="RUN", type=Path, help="run folder (what --out named)")


def print_json(value: Any) -> None:
    """Print a result for a script: strict JSON, no NaN."""
    print(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False), file=streams.results())
