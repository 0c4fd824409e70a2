"""``traderbench run | resume | report | rescore | merge``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli import model_flags, options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.config import RunConfig
    from engine.record import TaskRecord

DEFAULT_AGENT = "builtin:quant"
ADDRESSES = ("host", "public_host", "allowed_hosts")


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    run = options.command(
        commands,
        "run",
        run_command,
        help="evaluate an agent and write a report",
        example="traderbench run quick --agent http://127.0.0.1:9110 --seed 7 --out runs/mine --json",
    )
    run.add_argument("config", metavar="CONFIG", type=Path, help=options.RUN_CONFIG)
    run.add_argument("--agent", help=f"URL of an A2A agent, or builtin:NAME (default: {DEFAULT_AGENT})")
    run.add_argument(
        "--seed",
        type=options.seed,
        help="draw other tasks, markets and noise: a number, or `random` (default: the config's)",
    )
    run.add_argument(
        "--shard",
        type=options.shard,
        metavar="INDEX/COUNT",
        help="play a part of the tasks, such as 1/3; `traderbench merge` puts the parts together",
    )
    run.add_argument(
        "--limit-per-task",
        type=options.count,
        metavar="N",
        help="tasks of each category, instead of the limit_per_task of every dataset that has one",
    )
    run.add_argument("--out", metavar="DIR", type=Path, help="run folder, new or empty (default: runs/<run id>)")
    run.add_argument("--backend", choices=("serial", "ray"), help="where tasks and tool servers run")
    options.add_device(run)
    run.add_argument("--ports", choices=("fixed", "auto"), help="MCP servers on 8101-8106, or on free ports")
    _add_addresses(run)
    run.add_argument("--concurrency", type=int, metavar="N", help="tasks under way at once")
    model_flags.add(run)
    run.add_argument(
        "--estimate", action="store_true", help="print the tokens and dollars that builtin:llm would need, and stop"
    )
    _add_budget(run, "what the run may cost in all (default: the config's limits.max_cost_usd)")
    options.add_json(run, "the result")

    resume = options.command(
        commands,
        "resume",
        resume_command,
        help="finish a run that was stopped or killed",
        example="traderbench resume runs/mine --json",
    )
    options.add_run_folder(resume)
    resume.add_argument("--agent", help="where the same agent listens now (default: as the run began)")
    resume.add_argument(
        "--retry-errors",
        action="store_true",
        help="also play the tasks again for which the agent was not available; the result tells how many",
    )
    _add_addresses(resume)
    options.add_device(resume)
    model_flags.add(resume, model_flags.MOVABLE)
    _add_budget(resume, "what the run may cost in all, what it has spent included (default: as the run began)")
    options.add_json(resume, "the result")

    report = options.command(
        commands,
        "report",
        report_command,
        help="write the report of a stored run again, without the agent",
        example="traderbench report runs/mine",
    )
    options.add_run_folder(report)
    report.add_argument(
        "--table",
        metavar="NAME",
        help="print this table of tables.csv as Markdown instead, such as difficulty: category by difficulty with 95%% "
        "interval and number of tasks",
    )
    options.add_json(report, "the result")

    rescore = options.command(
        commands,
        "rescore",
        rescore_command,
        help="score the stored transcripts again with the evaluators of today, without the agent",
        example="traderbench rescore runs/mine --json",
    )
    options.add_run_folder(rescore)
    rescore.add_argument(
        "--judge-budget-usd",
        type=options.positive,
        metavar="USD",
        help="what the judges may cost in all, what they have cost included (default: the config's judge.budget_usd)",
    )
    options.add_json(rescore, "the result")

    merge = options.command(
        commands,
        "merge",
        merge_command,
        help="put the shards of a run together: the folder of the undivided run",
        example="traderbench merge runs/shard-1 runs/shard-2 runs/shard-3 --out runs/whole",
    )
    merge.add_argument("folders", metavar="RUN", nargs="+", type=Path, help="run folders of all shards, in any order")
    merge.add_argument("--out", metavar="DIR", type=Path, help="run folder, new or empty (default: runs/<run id>)")
    options.add_json(merge, "the result")


def _add_addresses(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", help="address that the MCP servers listen on, 0.0.0.0 for all (default: 127.0.0.1)")
    parser.add_argument("--public-host", metavar="NAME", help="name by which the agent reaches this machine")
    parser.add_argument(
        "--allowed-host",
        metavar="NAME",
        action="append",
        dest="allowed_hosts",
        help="another name that requests may address the MCP servers by; may be repeated",
    )


def _add_budget(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("--max-cost-usd", type=options.positive, metavar="USD", help=what)


def resolved_config(arguments: argparse.Namespace) -> RunConfig:
    """Return the config with the command line's choices in it."""
    from engine import config

    loaded = config.load(arguments.config)
    raw = loaded.model_dump(mode="json")
    if arguments.seed is not None:
        drawn = isinstance(arguments.seed, options.DrawnSeed)
        raw["sampling"] |= {"seed": int(arguments.seed), "seed_drawn": drawn}
    if getattr(arguments, "shard", None) is not None:
        raw["sampling"]["shard"] = arguments.shard
    if (per_task := getattr(arguments, "limit_per_task", None)) is not None:
        raw["datasets"] = [_with_limit(entry, per_task) for entry in raw["datasets"]]
    for name in ("backend", "device", "ports", "concurrency", *ADDRESSES):
        if getattr(arguments, name, None) is not None:
            raw["execution"][name] = getattr(arguments, name)
    if getattr(arguments, "max_cost_usd", None) is not None:
        raw["limits"]["max_cost_usd"] = arguments.max_cost_usd
    return config.parse(raw, source=str(arguments.config))


def _with_limit(entry: dict[str, Any], per_task: int) -> dict[str, Any]:
    return entry | {"limit_per_task": per_task} if entry.get("limit_per_task") is not None else entry


def run_command(arguments: argparse.Namespace) -> int:
    """Evaluate an agent."""
    from engine.run import batch, progress
    from mcp_servers.secrecy import deny_inspection

    if arguments.estimate:
        return _estimate(arguments)
    deny_inspection()
    agent = arguments.agent or DEFAULT_AGENT
    model = model_flags.given(arguments, agent)
    config = resolved_config(arguments)
    result = batch.start_run(
        config,
        agent=agent,
        out=arguments.out,
        progress=progress.for_stream(),
        model=model,
    )
    return _tell(result, Path(result["folder"]), as_json=arguments.json)


def _estimate(arguments: argparse.Namespace) -> int:
    """Print what a run would use."""
    from engine.agent import model_settings
    from engine.errors import ConfigError
    from engine.plan import estimate

    agent = arguments.agent or model_settings.AGENT
    if agent != model_settings.AGENT:
        raise ConfigError(
            f"--estimate is for --agent {model_settings.AGENT}, whose requests are known here; got --agent {agent}"
        )
    config = resolved_config(arguments)
    given = model_flags.given(arguments, agent)
    settings = model_settings.resolve(given, os.environ, config.limits, to_play=False).priced(config.prices)
    expected = estimate.estimate(config, settings)
    if arguments.json:
        options.print_json(expected)
    else:
        print(estimate.table(expected))
    return 0


def resume_command(arguments: argparse.Namespace) -> int:
    """Finish a run."""
    from engine.run import batch, progress
    from mcp_servers.secrecy import deny_inspection

    deny_inspection()
    result = batch.resume_run(
        arguments.folder,
        agent=arguments.agent,
        progress=progress.for_stream(),
        retry_errors=arguments.retry_errors,
        max_cost_usd=arguments.max_cost_usd,
        model={name: value for name in model_flags.MOVABLE if (value := getattr(arguments, name)) is not None},
        execution={name: value for name in ("device", *ADDRESSES) if (value := getattr(arguments, name)) is not None},
    )
    return _tell(result, arguments.folder, as_json=arguments.json)


def report_command(arguments: argparse.Namespace) -> int:
    """Write the report again."""
    from engine.report import results
    from engine.run import batch
    from engine.storage.store import Store

    with Store.open(arguments.folder) as store:
        result = batch.finish(store)
        if arguments.table is not None:
            return _print_table(results.all_records(store), arguments.table)
    return _tell(result, arguments.folder, as_json=arguments.json)


def _print_table(records: Sequence[TaskRecord], table: str) -> int:
    from engine.errors import ConfigError
    from engine.report import tables

    try:
        print(tables.as_markdown(records, table))
    except ValueError as error:
        raise ConfigError(f"--table: {error}") from error
    return 0


def rescore_command(arguments: argparse.Namespace) -> int:
    """Score the stored transcripts again."""
    from engine.run import rescore

    result = rescore.rescore(arguments.folder, judge_budget_usd=arguments.judge_budget_usd)
    _print(result, arguments.folder, as_json=arguments.json)
    return 0


def merge_command(arguments: argparse.Namespace) -> int:
    """Put shards together."""
    from engine.run.merge import merge

    result = merge(arguments.folders, arguments.out)
    return _tell(result, Path(result["folder"]), as_json=arguments.json)


def _tell(result: dict[str, Any], folder: Path, *, as_json: bool) -> int:
    """Print the result and, where it is not that of a whole run, why; return the exit status."""
    _print(result, folder, as_json=as_json)
    status: int = result["exit_status"]
    if status:
        why = f"{result['stopped']}; " if result["stopped"] else ""
        missing, what = (result["not_run"], "not run") if result["not_run"] else (result["unscored"], "without a score")
        print(
            f"traderbench: error: {why}{missing} of {result['overall']['total']} tasks {what}; "
            f"go on with: {result['go_on']}",
            file=sys.stderr,
        )
    return status


def _print(result: dict[str, Any], folder: Path, *, as_json: bool) -> None:
    from engine.report import results

    if as_json:
        options.print_json(result)
        return
    print(results.table(result))
    print(f"\nreport: {folder / 'report.html'}")
