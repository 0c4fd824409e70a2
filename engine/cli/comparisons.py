"""``traderbench compare | leaderboard``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import options

if TYPE_CHECKING:
    from engine.comparison.document import Document


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    compare = options.command(
        commands,
        "compare",
        compare_command,
        help="compare runs task by task: difference, interval, and whether the data can tell",
        example="traderbench compare runs/mine runs/theirs --html difference.html",
    )
    compare.add_argument(
        "runs", metavar="RUN", nargs="+", type=Path, help="two run folders or more, of one config and seed"
    )
    options.add_json(compare, "the comparison")
    _add_files(compare)

    leaderboard = options.command(
        commands,
        "leaderboard",
        leaderboard_command,
        help="rank the agents of all runs in a folder, with the ties that the data cannot break",
        example="traderbench leaderboard runs --html leaderboard.html",
    )
    leaderboard.add_argument("folder", metavar="FOLDER", type=Path, help="folder with run folders, at any depth")
    options.add_json(leaderboard, "the ranking")
    _add_files(leaderboard)


def _add_files(parser: argparse.ArgumentParser) -> None:
    for kind, what in (("html", "the page"), ("csv", "the rows"), ("parquet", "the rows")):
        parser.add_argument(f"--{kind}", metavar="FILE", type=Path, help=f"also write {what} to this file")


def compare_command(arguments: argparse.Namespace) -> int:
    """Compare runs, each with each."""
    import itertools

    from engine.comparison import words
    from engine.comparison.pair import compare
    from engine.comparison.played import labelled, read
    from engine.errors import ConfigError

    if len(arguments.runs) < 2:
        raise ConfigError(f"compare takes two runs or more, got {arguments.runs[0]} alone")
    runs = labelled([read(folder) for folder in arguments.runs])
    comparisons = [compare(first, second) for first, second in itertools.combinations(runs, 2)]
    values = words.comparison_values(comparisons[0]) if len(comparisons) == 1 else words.many_values(comparisons)
    _tell(arguments, values, words.comparison_document(comparisons), words.comparison_rows(comparisons))
    return 0


def leaderboard_command(arguments: argparse.Namespace) -> int:
    """Rank the agents below a folder."""
    from engine.comparison import words
    from engine.comparison.board import leaderboard
    from engine.comparison.played import below, read
    from engine.errors import ConfigError, TraderBenchError

    folders = list(below(arguments.folder))
    if not folders:
        raise ConfigError(
            f"{arguments.folder}: no run lies in or below this folder; name what --out named, or above it"
        )
    runs = []
    for folder in folders:
        try:
            runs.append(read(folder))
        except TraderBenchError as error:
            print(f"left out: {error}", file=sys.stderr)
    if not runs:
        raise ConfigError(f"{arguments.folder}: none of the {len(folders)} runs can be read; each says why above")
    rows = leaderboard(runs)
    _tell(arguments, words.standing_values(rows), words.board_document(rows), words.standing_rows(rows))
    return 0


def _tell(arguments: argparse.Namespace, values: Any, document: Document, rows: Sequence[dict[str, Any]]) -> None:
    """Print, and write the files that were asked for."""
    from engine.comparison import document as documents
    from engine.errors import WriteFailed

    try:
        if arguments.html:
            arguments.html.write_text(documents.as_html(document), encoding="utf-8", errors="backslashreplace")
        if arguments.csv or arguments.parquet:
            import pandas as pd

            frame = pd.DataFrame(rows)
            if arguments.csv:
                frame.map(_no_formula).to_csv(arguments.csv, index=False)
            if arguments.parquet:
                frame.to_parquet(arguments.parquet, index=False)
    except OSError as error:
        raise WriteFailed(f"{error.filename or 'the file'} cannot be written: {error.strerror or error}") from error
    if arguments.json:
        options.print_json(values)
    else:
        print(documents.as_text(document))


def _no_formula(cell: Any) -> Any:
    """Return a cell that a spreadsheet takes for text: an agent chooses its own name."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@") else cell
