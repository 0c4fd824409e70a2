"""``traderbench sweep``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli import options

if TYPE_CHECKING:
    from engine.sweep.run import Progress


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    sweep = options.command(
        commands,
        "sweep",
        sweep_command,
        help="backtest strategies over transforms, seeds, windows and severities",
        example="traderbench sweep sweep --json",
    )
    sweep.add_argument(
        "config",
        metavar="CONFIG",
        type=Path,
        help="YAML file of a sweep, or the name of a shipped one: sweep, sweep-table14",
    )
    sweep.add_argument(
        "--out", metavar="DIR", type=Path, help="folder of the results; a part of the same sweep in it is finished"
    )
    sweep.add_argument("--backend", choices=("serial", "ray"), default="serial", help="threads, or a Ray cluster")
    sweep.add_argument("--workers", type=int, metavar="N", help="shards under way at once (default: one a core)")
    sweep.add_argument("--address", help="Ray cluster to join with --backend ray (default: a private one)")
    options.add_device(sweep)
    options.add_json(sweep, "the result")


def sweep_command(arguments: argparse.Namespace) -> int:
    """Run a sweep."""
    from engine.sweep.run import run_sweep

    result = run_sweep(
        arguments.config,
        out=arguments.out,
        backend=arguments.backend,
        workers=arguments.workers,
        address=arguments.address,
        device=arguments.device,
        progress=show_progress,
    )
    if arguments.json:
        options.print_json(result)
        return 0
    speed, memory = result["bar_steps_per_second"] / 1e6, result["peak_memory_mib"]
    print(f"{result['cells']:,} backtests, {result['bar_steps']:,} bar-steps in {result['seconds']:.1f} s")
    print(f"{speed:,.0f} million bar-steps a second, peak memory {memory:,.0f} MiB")
    for row in result.get("metrics", []):
        value = "n/a" if row["mean"] is None else f"{row['mean']:.4f}" + (f" ± {row['se']:.4f}" if row["se"] else "")
        print(f"{row['metric']}, {row['strategy']} under {row['transform']} x {row['severity']:g}: {value}")
    for title, reason in result.get("decided_by_xla", {}).items():
        print(f"decided by XLA, slower than a compiled loop: {title} ({reason})")
    print(f"results: {result['results']}\nreport: {result['report']}")
    return 0


def show_progress(now: Progress) -> None:
    """Show shards, speed and time left on one line of standard error."""
    left = "?" if now.seconds_left is None else f"{now.seconds_left:.0f} s"
    line = (
        f"{now.shards_done}/{now.shards} shards, {now.bar_steps_per_second / 1e6:,.0f} million bar-steps/s, {left} left"
    )
    last = now.shards_done == now.shards
    if sys.stderr.isatty():
        print(f"\r{line:<78}", end="\n" if last else "", file=sys.stderr, flush=True)
    elif last or now.shards_done % max(1, now.shards // 10) == 0:
        print(line, file=sys.stderr, flush=True)
