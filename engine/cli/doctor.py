"""``traderbench doctor``."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli import options

MARKS = {"ok": "ok     ", "warning": "warning", "error": "ERROR  "}


def add_commands(commands: options.Commands) -> None:
    """Declare the command."""
    doctor = options.command(
        commands,
        "doctor",
        doctor_command,
        help="check this machine, an agent's card or a stored run",
        example="traderbench doctor --agent http://127.0.0.1:9110 --store runs/mine",
    )
    doctor.add_argument("--agent", metavar="URL", help="also fetch and check the card of this agent")
    doctor.add_argument("--store", metavar="RUN", type=Path, help="also check every hash of this run")
    options.add_json(doctor, "the findings")
    doctor.set_defaults(run_on_processor=False)  # it tells what there is


def doctor_command(arguments: argparse.Namespace) -> int:
    """Print the findings; exit 1 when something is broken."""
    from engine.machine.doctor import diagnose, worst

    checks = diagnose(agent=arguments.agent, store=arguments.store)
    if arguments.json:
        options.print_json([check._asdict() for check in checks])
    else:
        for check in checks:
            print(f"{MARKS[check.state]}  {check.name:<12} {check.text}")
    return 1 if worst(checks) == "error" else 0
