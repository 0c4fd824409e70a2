"""What each tool server is worth: the same tasks and agent with all servers, without one at a time, and without any.

    python benchmarks/ablation.py                      # quant on the config offline, into ablation.md
    python benchmarks/ablation.py --limit 2 --out -    # two tasks a dataset, on the screen

Each row is a whole run of ``traderbench run`` with ``withheld`` in its config. The difference is paired by task; its
interval is of the mean over families, by Student's t.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import yaml
from scipy.special import stdtrit

from engine import config
from engine.report import results
from engine.storage.store import Store
from mcp_servers.catalog import SERVERS

ROOT = Path(__file__).parent.parent
PAGE = Path(__file__).with_suffix(".md")
ALL, NONE = "all six servers", "without any"


def variants() -> dict[str, list[str]]:
    """Return the rows: what each withholds."""
    return {ALL: []} | {f"without {name}": [name] for name in SERVERS} | {NONE: list(SERVERS)}


def settings(name: str, limit: int | None, withheld: list[str]) -> dict[str, Any]:
    """Return a config with smaller datasets where a limit is given, and without the servers."""
    raw: dict[str, Any] = config.load(name).model_dump(mode="json")
    raw["datasets"] = [{key: value for key, value in entry.items() if value is not None} for entry in raw["datasets"]]
    for entry in raw["datasets"]:
        entry["limit"] = entry.get("limit", limit) if limit is None else min(limit, entry.get("limit", limit))
    raw["execution"]["ports"] = "auto"
    return raw | {"withheld": withheld, "description": "", "name": f"{raw['name']}-ablation"}


def played(agent: str, raw: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Run; return the results and the records by task."""
    folder.mkdir(parents=True)
    written = folder / "config.yaml"
    written.write_text(yaml.safe_dump(raw))
    command = [sys.executable, "-m", "engine.cli", "run", str(written), "--agent", agent, "--json"]
    done = subprocess.run([*command, "--out", str(folder / "run")], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{written}: {done.stderr.strip().splitlines()[-1]}")
    with Store.open(folder / "run", read_only=True) as store:
        records = {record["task_id"]: dict(record) for record in results.all_records(store)}
    return json.loads(done.stdout), records


def difference(one: dict[str, dict[str, Any]], other: dict[str, dict[str, Any]]) -> tuple[float, float, float, int]:
    """Return the mean over families of ``one`` less ``other``, its interval, and how many tasks have both scores."""
    by_family = defaultdict(list)
    for task, record in one.items():
        values = record["value"], other[task]["value"]
        if None not in values:
            by_family[record["family"]].append(values[0] - values[1])
    means = [fmean(values) for values in by_family.values()]
    middle, number = fmean(means), sum(map(len, by_family.values()))
    if len(means) < 2:
        return middle, float("nan"), float("nan"), number
    half = float(stdtrit(len(means) - 1, 0.975)) * stdev(means) / len(means) ** 0.5
    return middle, middle - half, middle + half, number


def page(
    agent: str,
    name: str,
    limit: int | None,
    rows: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]],
    took: float,
) -> str:
    """Return the table."""
    some, option = ("", "") if limit is None else (f"at most {limit} tasks of each dataset, ", f" --limit {limit}")
    every, bare = rows[ALL], rows[NONE]
    sections = list(every[0]["sections"])
    tasks = len(every[1])
    lines = [
        "# What each tool server is worth",
        "",
        f"The agent `{agent.removeprefix('builtin:')}` on `configs/{name}.yaml`, {some}{tasks} tasks a row, the same "
        f"in all (`python benchmarks/ablation.py{option}`, {took / 60:.0f} minutes). A withheld server does not run, "
        "and a task that needs it is asked all the same. Scores are 0 to 100; lost is what the tasks of a row earn "
        "less than with all six, paired by task, the mean over families.",
        "",
        "| tool servers | overall | 95% interval | lost | 95% interval | " + " | ".join(sections) + " |",
        "|---|---|---|---|---|" + "---|" * len(sections),
    ]
    for row, (told, records) in rows.items():
        overall = told["overall"]
        lost = difference(every[1], records)
        apart = ["", ""] if row == ALL else [f"{lost[0]:.1f}", f"{lost[1]:.1f} to {lost[2]:.1f}"]
        cells = [row, f"{overall['score']:.1f}", span(overall["ci95"]), *apart]
        lines.append("| " + " | ".join([*cells, *(f"{told['sections'][s]['score']:.1f}" for s in sections)]) + " |")
    gain, low, high, both = difference(every[1], bare[1])
    verdict = "beats" if low > 0 else "is not shown to beat"
    lines += [
        "",
        f"With all six the agent {verdict} itself without any: {gain:.1f} points a family ({low:.1f} to {high:.1f}) "
        f"over {both} tasks.",
        "",
    ]
    return "\n".join(lines)


def span(interval: list[float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.1f} to {interval[1]:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agent", default="builtin:quant")
    parser.add_argument("--config", default="offline")
    parser.add_argument("--limit", type=int, help="most tasks a dataset; by default the config's")
    parser.add_argument("--only", nargs="+", choices=list(SERVERS), help="servers that are withheld one at a time")
    parser.add_argument("--out", default=str(PAGE), help="file, or - for the screen")
    asked = parser.parse_args()
    started, rows = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as scratch:
        for number, (row, withheld) in enumerate(variants().items()):
            if asked.only and len(withheld) == 1 and withheld[0] not in asked.only:
                continue
            rows[row] = played(asked.agent, settings(asked.config, asked.limit, withheld), Path(scratch) / str(number))
            print(f"{row}: {rows[row][0]['overall']['score']:.1f}", file=sys.stderr, flush=True)
    text = page(asked.agent, asked.config, asked.limit, rows, time.monotonic() - started)
    if asked.out == "-":
        print(text)
    else:
        Path(asked.out).write_text(text)


if __name__ == "__main__":
    main()
