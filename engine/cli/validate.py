"""``traderbench validate``."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import devices, shipped
from engine.cli import options

if TYPE_CHECKING:
    from evaluators.validity import Finding

CRYPTO = "crypto"
INVALID = 1
"""Exit status where a score does not measure what it should."""


def add_commands(commands: options.Commands) -> None:
    """Declare the command."""
    validate = options.command(
        commands,
        "validate",
        validate_command,
        help="show that the scores measure what they should: agents that know nothing, that know it all and that cheat",
        example="traderbench validate quick --seed 7 --json",
    )
    validate.add_argument(
        "config", metavar="CONFIG", help=f"{options.RUN_CONFIG}; or `{CRYPTO}`: policies of known worth on many windows"
    )
    validate.add_argument(
        "--data", metavar="FOLDER", type=Path, help=f"with `{CRYPTO}`: candle files (default: simulated markets)"
    )
    validate.add_argument(
        "--seed", type=options.seed, help=f"of tasks and replies (default: the config's; with `{CRYPTO}`: 0)"
    )
    options.add_device(validate)
    options.add_json(validate, "the table")


def validate_command(arguments: argparse.Namespace) -> int:
    """Play agents of known worth on a config's tasks, or on markets."""
    if arguments.config == CRYPTO:
        return validate_crypto_command(arguments)
    from engine.errors import ConfigError

    if arguments.data is not None:
        raise ConfigError(f"--data {arguments.data}: candles are for `validate {CRYPTO}`, not for a config")
    devices.use(arguments.device)
    from engine import config
    from engine.plan.validity import validate

    loaded = config.load(Path(arguments.config))
    found = validate(loaded, loaded.sampling.seed if arguments.seed is None else int(arguments.seed))
    if arguments.json:
        options.print_json({"findings": [row._asdict() for row in found]})
    else:
        _print(found)
        wrong = sum(not row.ok for row in found)
        print(f"{len(found) - wrong} of {len(found)} as they should be")
    return 0 if all(row.ok for row in found) else INVALID


def _print(found: Sequence[Finding]) -> None:
    """Print a line for each section and kind of reply, and one for each reply that earned what it should not."""
    print(f"{'section':<22} {'kind':<10} {'replies':>7} {'tasks':>5} {'mean':>16} {'passed':>6}")
    for section, kind in dict.fromkeys((row.section, row.kind) for row in found):
        rows = [row for row in found if (row.section, row.kind) == (section, kind)]
        means = f"{min(row.mean for row in rows):.2f} to {max(row.mean for row in rows):.2f}"
        passed = max(row.passed for row in rows)
        print(f"{section:<22} {kind:<10} {len(rows):>7} {rows[0].tasks:>5} {means:>16} {passed:>6}")
    for row in found:
        if not row.ok:
            print(f"WRONG: {row.section}, {row.kind}, {row.reply}: mean {row.mean:.2f}, {row.passed} passed")


def validate_crypto_command(arguments: argparse.Namespace) -> int:
    """Show what the crypto score says about agents of known worth."""
    devices.use(arguments.device)
    from engine.errors import ConfigError
    from evaluators.crypto.validate import validate_crypto

    try:
        shown = validate_crypto(
            arguments.data,
            seed=int(arguments.seed or 0),
            learner=_learner,
            progress=lambda name: print(f"playing {name}", file=sys.stderr),
        )
    except (ValueError, OSError) as error:
        raise ConfigError(f"--data {arguments.data}: {error}") from error
    if arguments.json:
        options.print_json(shown)
        return 0
    print(f"{'policy':<16} {'skill':>7} {'se':>6} {'equivalent IC':>22} {'paper product':>14} {'as published':>13}")
    for name, row in shown.items():
        equivalent = f"{row['equivalent_ic']:.2f} [{row['equivalent_ic_low']:.2f}, {row['equivalent_ic_high']:.2f}]"
        print(
            f"{name:<16} {row['skill']:7.1f} {row['se']:6.1f} {equivalent:>22} {row['paper_product']:14.3f}"
            f" {row['as_published']:13.1f}"
        )
    return 0


def _learner() -> Callable[[Mapping[str, Any]], str]:
    """Return the learning agent that ships with the project, as a function; it knows nothing of the project."""
    spec = importlib.util.spec_from_file_location("market_learner", shipped.folder("agents") / "market_learner.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("agents/market_learner.py is missing")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    agent = module.Learner()
    return lambda body: json.dumps(agent.reply(body))
