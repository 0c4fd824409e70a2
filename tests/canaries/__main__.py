"""``python -m tests.canaries 100000 --seed 1``: random calls on a lake with planted future rows; fails on any leak."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext

from engine.machine import jax_cache
from mcp_servers.sandbox import tiers
from mcp_servers.sandbox.pool import Pool
from tests.canaries.play import play


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.canaries", description=__doc__)
    parser.add_argument("calls", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    jax_cache.enable()
    started = time.process_time()
    found = tiers.selftest().tier
    with nullcontext() if found is None else Pool(found) as pool:
        tally = play(asked.calls, seed=asked.seed, pool=pool)
    slower = tally.slower()
    print(f"{'tool':32} {'answered':>10} {'refused':>10} {'slower with tomorrow':>22}")
    for tool in sorted(tally.answered | tally.refused):
        share = f"{slower[tool][0]:.1%} ({slower[tool][1]:+.1f} sd)" if tool in slower else "-"
        print(f"{tool:32} {tally.answered[tool]:10,} {tally.refused[tool]:10,} {share:>22}")
    print(f"{'all':32} {tally.answered.total():10,} {tally.refused.total():10,}")
    print(
        f"{len(tally.leaks)} leaks, {len(tally.different)} answers that tell of tomorrow, "
        f"{len(tally.unclear)} unclear errors, {time.process_time() - started:.0f} s of CPU"
    )
    for fault in [*tally.leaks[:20], *tally.different[:20], *tally.unclear[:20]]:
        print(fault)
    return 1 if tally.leaks or tally.different or tally.unclear else 0


if __name__ == "__main__":
    sys.exit(main())
