"""``python -m tests.debates 200 --seed 1``: agents of known behaviour with the debate on and off, as a table."""

from __future__ import annotations

import argparse

from engine.machine import jax_cache
from tests.debates.play import play
from tests.debates.policies import POLICIES


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.debates", description=__doc__)
    parser.add_argument("tasks", type=int, nargs="?", default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    jax_cache.enable()
    print("| agent | off | on | mean multiplier (95%) | maintained | weakened | collapsed | true objections |")
    print("|---|---|---|---|---|---|---|---|")
    for name, policy in POLICIES.items():
        found = play(policy, count=asked.tasks, seed=asked.seed)
        argued = found.argued
        low, high = argued.ci95 or (float("nan"), float("nan"))
        off, on = (f"{row.score:.1f} ({row.ci95[0]:.1f} to {row.ci95[1]:.1f})" for row in (found.off, found.on))
        counts = " | ".join(str(count) for count in argued.verdicts.values())
        objected = argued.true_objections + argued.false_objections
        print(
            f"| {name} | {off} | {on} | {argued.mean_multiplier:.3f} ({low:.3f} to {high:.3f}) | {counts} | "
            f"{argued.true_objections} of {objected} |"
        )


if __name__ == "__main__":
    main()
