"""The command line. Importing this package imports none of the heavy libraries; each command imports what it needs."""

from __future__ import annotations

import argparse
import contextlib
import errno
import sys
from collections.abc import Sequence
from typing import NoReturn

from engine import __version__, devices
from engine.cli import streams
from engine.errors import TraderBenchError, WriteFailed
from engine.machine import interrupts, jax_cache

DESCRIPTION = "Measure AI finance agents: truth by computation, markets that fight back, error bars on every number."
EXAMPLES = """examples:
  traderbench run quick                                           the embedded agent on embedded data
  traderbench run mine.yaml --agent http://127.0.0.1:9110 --seed 7 --out runs/mine
  traderbench resume runs/mine                                    finish a run that was stopped
  traderbench report runs/mine                                    write the report again from the store
  traderbench compare runs/mine runs/theirs                       who is better, and whether the data can tell
  traderbench leaderboard runs                                    every agent below a folder, ranked
  traderbench doctor                                              what works on this machine
"""


OUT_OF_ORDER = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EROFS,
    errno.EIO,
    errno.EACCES,
    errno.EPERM,
    errno.EMFILE,
    errno.ENFILE,
}
"""Errors of the machine or of its limits, which no traceback explains any better."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and where help is, exit with status 2."""
        self.exit(2, f"traderbench: error: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with all commands."""
    from engine.cli import agents, comparisons, data, doctor, runs, sweeps, tasks, validate

    parser = Parser(
        prog="traderbench",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"traderbench {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    for module in (runs, comparisons, tasks, agents, sweeps, validate, data, doctor):
        module.add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status."""
    with streams.reliable(), interrupts.as_ctrl_c():
        try:
            status = _run(arguments)
            if sys.stdout is not None:
                sys.stdout.flush()
            return status
        except TraderBenchError as error:
            print(f"traderbench: error: {error}", file=sys.stderr)
            return error.exit_status
        except BrokenPipeError:
            sys.stderr.close()
            return 141
        except OSError as error:
            if error.errno not in OUT_OF_ORDER:
                raise
            print(f"traderbench: error: {_in_words(error)}", file=sys.stderr)
            return WriteFailed.exit_status
        except KeyboardInterrupt:
            print("traderbench: stopped", file=sys.stderr)
            return 130


def _run(arguments: Sequence[str] | None) -> int:
    parsed, unknown = build_parser().parse_known_args(arguments)
    if unknown:
        # argparse would send the reader to the help of traderbench, which does not list the command's options
        parsed.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    jax_cache.enable()
    if parsed.run_on_processor:
        devices.pin()
    with streams.results_alone() if getattr(parsed, "json", False) else contextlib.nullcontext():
        status: int = parsed.run(parsed)
    return status


def _in_words(error: OSError) -> str:
    """Return what the machine refused, and the limit where it is one that can be raised."""
    where = f"{error.filename}: " if error.filename else ""
    hint = "; raise the limit (ulimit -n)" if error.errno == errno.EMFILE else ""
    return f"{where}{error.strerror}{hint}"
