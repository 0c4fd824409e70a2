"""``traderbench validate``."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine import devices, shipped
from engine.cli import options


def add_commands(commands: options.Commands) -> None:
    """Declare the commands."""
    validate = options.group(
        commands,
        "validate",
        help="show that the scores measure what they should",
        example="traderbench validate crypto --json",
    )
    actions = validate.add_subparsers(dest="action", metavar="ACTION", required=True)
    crypto = options.command(
        actions,
        "crypto",
        validate_crypto_command,
        help="play no-skill, cheating and informed policies on windows of the candle files in a folder",
        example="traderbench validate crypto --data ../shared/data/crypto --json",
    )
    crypto.add_argument(
        "--data", metavar="FOLDER", type=Path, help="folder of candle files (default: simulated markets)"
    )
    crypto.add_argument("--seed", type=options.seed, default=0, help="of windows and policies (default: 0)")
    options.add_device(crypto)
    options.add_json(crypto, "the table")


def validate_crypto_command(arguments: argparse.Namespace) -> int:
    """Show what the crypto score says about agents of known worth."""
    devices.use(arguments.device)
    from engine.errors import ConfigError
    from evaluators.crypto.validate import validate_crypto

    try:
        shown = validate_crypto(
            arguments.data,
            seed=arguments.seed,
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
