"""``traderbench tasks list | show | draw``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import options
from engine.cli.runs import resolved_config

if TYPE_CHECKING:
    from engine.config import RunConfig


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    tasks = options.group(
        commands,
        "tasks",
        help="look at datasets and at the tasks a config draws",
        example="traderbench tasks draw quick --seed 7",
    )
    actions = tasks.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = options.command(
        actions,
        "list",
        list_command,
        help="list the datasets with section and version, or what is drawn for each category",
        example="traderbench tasks list --by category",
    )
    listing.add_argument(
        "--by", choices=["dataset", "category"], default="dataset", help="what a row is; categories are those of FAB++"
    )
    options.add_json(listing, "the rows")
    draw = options.command(
        actions,
        "draw",
        draw_command,
        help="list the tasks that a config and a seed give",
        example="traderbench tasks draw quick --seed 7",
    )
    show = options.command(
        actions,
        "show",
        show_command,
        help="print one task as the agent receives it, without its answer",
        example="traderbench tasks show quick TASK_ID --seed 7",
    )
    for parser in (draw, show):
        parser.add_argument("config", metavar="CONFIG", type=Path, help=options.RUN_CONFIG)
        parser.add_argument("--seed", type=options.seed, help="the seed (default: the config's)")
    draw.add_argument("--shard", type=options.shard, metavar="INDEX/COUNT", help="only this part, such as 1/3")
    show.add_argument("task_id", metavar="TASK_ID", help="an id that `tasks draw` lists")
    options.add_json(draw, "the tasks")


def list_command(arguments: argparse.Namespace) -> int:
    """List the datasets, or the categories with what is drawn for them."""
    from evaluators import registry

    if arguments.by == "category":
        return _list_categories(as_json=arguments.json)

    datasets = [registry.get(name) for name in registry.DATASETS]
    rows = [{"name": item.name, "section": item.section, "version": item.version} for item in datasets]
    if arguments.json:
        options.print_json(rows)
    else:
        for row in rows:
            print(f"{row['name']:<14} {row['section']:<22} version {row['version']}")
    return 0


def _list_categories(*, as_json: bool) -> int:
    from evaluators import categories

    rows = categories.table()
    if as_json:
        options.print_json(rows)
        return 0
    print(f"{'category':<27} {'families':>8} {'wordings':>8} {'easy':>5} {'hard':>5} {'expert':>6}  datasets")
    for name, row in rows.items():
        levels = row["difficulties"]
        print(
            f"{name:<27} {row['families']:>8} {row['wordings']:>8} {levels['easy']:>5} {levels['hard']:>5} "
            f"{levels['expert']:>6}  {', '.join(row['datasets']) or '-'}"
        )
    return 0


def draw_command(arguments: argparse.Namespace) -> int:
    """List the tasks of a config and seed."""
    from engine.plan import sampling, shards

    config = resolved_config(arguments)
    tell_seed(config)
    cases = sampling.draw(config)
    tasks = [cases[position].task for position in shards.positions(cases, config.sampling.shard)]
    if arguments.json:
        options.print_json(
            [
                {
                    "id": t.task_id,
                    "section": t.section,
                    "dataset": t.dataset,
                    "category": t.category,
                    "family": t.family,
                    "difficulty": t.difficulty,
                }
                for t in tasks
            ]
        )
    else:
        for task in tasks:
            print(f"{task.task_id:<44} {task.section:<22} {task.category}")
    return 0


def tell_seed(config: RunConfig) -> None:
    """Say on standard error which seed the tasks follow from: a drawn one is needed to see them again."""
    how = "drawn at random" if config.sampling.seed_drawn else "chosen"
    print(f"seed {config.sampling.seed} ({how})", file=sys.stderr)


def show_command(arguments: argparse.Namespace) -> int:
    """Print the opening message of one task."""
    from engine.errors import ConfigError
    from engine.plan import sampling
    from engine.plan.build import public_id
    from engine.run.tool_access import ToolAccess
    from lake.vocabulary import did_you_mean
    from mcp_servers.catalog import SERVERS

    config = resolved_config(arguments)
    tell_seed(config)
    cases = {case.task.task_id: case for case in sampling.draw(config)}
    if arguments.task_id not in cases:
        hint = did_you_mean(arguments.task_id, cases)
        raise ConfigError(
            f"no task {arguments.task_id!r} in {arguments.config} with this seed{hint}; `traderbench tasks draw` lists "
            "them"
        )
    case = cases[arguments.task_id]
    task_id = public_id(config.sampling.seed, arguments.task_id)
    running = {name: f"http://127.0.0.1:{spec.port}" for name, spec in SERVERS.items() if name not in config.withheld}
    offered = ToolAccess(running, key=b"").offered(case.task.servers)
    urls = {name: f"{running[name]}/t/<the task's grant>/mcp" for name in offered}
    message: dict[str, Any] = case.open().opening()
    message |= {"task_id": task_id, "as_of": case.task.as_of.isoformat(), "mcp_servers": urls}
    message |= {SERVERS[name].environment_name: url for name, url in urls.items()}
    print(json.dumps(message, indent=2, ensure_ascii=False, allow_nan=False))
    return 0
