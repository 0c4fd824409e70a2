"""``python -m tests.mutation``: how many small errors in scorers and parser the tests notice, and which they do not."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from tests.mutation.equivalent import EQUIVALENT, key
from tests.mutation.play import chosen, play

WANTED = 0.9
SURVIVED = "SURVIVED "


def _content(name: str) -> tuple[str, str]:
    """Return module and change: lines move."""
    place, _, change = name.removeprefix(SURVIVED).partition(" ")
    return place.split(":")[0], change


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--only", default="", help="modules whose name holds this")
    parser.add_argument("--count", type=int, help="a sample of so many mutants (default: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="name the mutants and play none")
    parser.add_argument("--again", type=Path, help="only the survivors that this file names, wherever they stand now")
    asked = parser.parse_args()
    rows = chosen(asked.only, asked.count, asked.seed)
    if asked.again is not None:
        named = {_content(line) for line in asked.again.read_text().splitlines() if line.startswith(SURVIVED)}
        rows = [row for row in rows if _content(row[0].name) in named]
    if asked.list:
        for mutant, _ in rows:
            print(mutant.name)
        print(f"{len(rows):,} mutants")
        return 0
    made, killed, unnoticeable = Counter[str](), Counter[str](), 0
    for outcome in play(rows):
        made[outcome.mutant.module] += 1
        killed[outcome.mutant.module] += outcome.killed
        if reason := "" if outcome.killed else EQUIVALENT.get(key(outcome.mutant), ""):
            unnoticeable += 1
            print(f"equal    {outcome.mutant.name} ({reason})", flush=True)
        elif not outcome.killed:
            print(f"{SURVIVED}{outcome.mutant.name}", flush=True)
    for module in sorted(made):
        print(f"{module:<40} {killed[module]:>5} of {made[module]:>5}  {killed[module] / made[module]:6.1%}")
    share = killed.total() / max(1, made.total())
    print(f"{'mutation score':<40} {killed.total():>5} of {made.total():>5}  {share:6.1%}")
    others = made.total() - unnoticeable
    without = f"without {unnoticeable} that change nothing"
    print(f"{without:<40} {killed.total():>5} of {others:>5}  {killed.total() / max(1, others):6.1%}")
    return 0 if share >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
