"""The command ``traderbench``: a door that imports next to nothing, so that Ctrl-C finds it open from the beginning."""

from __future__ import annotations

import signal
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
    finally:
        # all is done and told: one more Ctrl-C has nothing to stop but the interpreter's own end
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
