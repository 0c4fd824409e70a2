"""``python -m tests.fuzz 200000 --seed 1``: play, print the outcomes by function, fail on any that must not be."""

from __future__ import annotations

import argparse
import sys
import time

import jax

from engine.machine import jax_cache
from tests.fuzz.cases import CASES
from tests.fuzz.play import CLEAR, RIGHT, SILENT, UNCLEAR, play


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("calls", type=int, nargs="?", default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="functions whose name holds this")
    asked = parser.parse_args()
    jax_cache.enable()
    jax.config.update("jax_numpy_rank_promotion", "raise")
    started = time.process_time()
    tally = play([case for case in CASES if asked.only in case.name], asked.calls, seed=asked.seed)
    print(f"{'function':56} {RIGHT:>14} {CLEAR:>13} {SILENT:>20} {UNCLEAR:>14}")
    for name, count in sorted(tally.outcomes.items()):
        print(f"{name:56} {count[RIGHT]:14,} {count[CLEAR]:13,} {count[SILENT]:20,} {count[UNCLEAR]:14,}")
    sums = [tally.total(each) for each in (RIGHT, CLEAR, SILENT, UNCLEAR)]
    print(f"{f'{tally.total():,} calls':56} {sums[0]:14,} {sums[1]:13,} {sums[2]:20,} {sums[3]:14,}")
    print(f"{time.process_time() - started:.0f} s of CPU")
    for fault in tally.faults[:40]:
        print(fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
