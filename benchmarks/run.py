"""Run every benchmark in turn: ``python benchmarks/run.py [--peers-python PATH]``. Arguments go to each program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAMS = ("chain_price_and_greeks", "implied_volatility", "value_at_risk", "american", "backtest_speed")


def main() -> int:
    folder = Path(__file__).parent
    failed = [
        name
        for name in PROGRAMS
        if subprocess.run([sys.executable, str(folder / f"{name}.py"), *sys.argv[1:]]).returncode != 0
    ]
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
