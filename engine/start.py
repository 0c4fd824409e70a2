"""The command ``traderbench``: a door that imports next to nothing, so that Ctrl-C finds it open from the beginning."""

from __future__ import annotations

import sys


def main() -> int:
    """Import the command line and run it; return the exit status."""
    try:
        from engine.cli import main

        return main()
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("traderbench: stopped\n")
        return 130
