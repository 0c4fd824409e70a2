"""The flags of ``builtin:llm`` on the commands that play a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.cli import options

FLAGS: dict[str, dict[str, Any]] = {
    "model": {"metavar": "NAME", "help": "its model (default: OPENAI_MODEL)"},
    "base_url": {"metavar": "URL", "help": "address of its API (default: OPENAI_BASE_URL)"},
    "temperature": {"metavar": "T", "type": options.from_zero, "help": "0 to 2 (default: the endpoint's)"},
    "seed_model": {"metavar": "N", "type": int, "help": "seed of its own randomness (default: none)"},
    "max_turns": {"metavar": "N", "type": options.count, "help": "calls of it per message (default: 16)"},
    "max_output_tokens": {
        "metavar": "N",
        "type": options.count,
        "help": "tokens of one reply of it (default: 8192)",
    },
    "servers": {
        "metavar": "NAMES",
        "type": options.names,
        "help": "tool servers that it is offered, between commas, or none (default: all that a task names)",
    },
    "input_price": {
        "metavar": "USD",
        "type": options.from_zero,
        "help": "US dollars per million tokens that it reads (default: OPENAI_INPUT_PRICE, else unknown)",
    },
    "output_price": {
        "metavar": "USD",
        "type": options.from_zero,
        "help": "US dollars per million tokens that it writes (default: OPENAI_OUTPUT_PRICE, else unknown)",
    },
    "request_timeout": {
        "metavar": "S",
        "type": options.positive,
        "help": "seconds for one call of it (default: 0.9 of limits.turn_time_s)",
    },
}

MOVABLE = ("base_url", "input_price", "output_price", "request_timeout")
"""What may differ when a run is resumed: where the model is, what it costs, how long it is waited for."""


def add(parser: argparse.ArgumentParser, names: Sequence[str] = tuple(FLAGS)) -> None:
    """Add the flags ``names``."""
    group = parser.add_argument_group("the language model of --agent builtin:llm")
    for name in names:
        group.add_argument(_flag(name), dest=name, **FLAGS[name])


def given(arguments: argparse.Namespace, agent: str) -> dict[str, Any]:
    """Return the flags that were given.

    Raises
    ------
    ConfigError
        When the agent is another than the language model.
    """
    from engine.agent.model_settings import AGENT
    from engine.errors import ConfigError

    given = {name: value for name in FLAGS if (value := getattr(arguments, name, None)) is not None}
    if given and agent != AGENT:
        flags = [_flag(name) for name in given]
        verb = "is" if len(flags) == 1 else "are"
        raise ConfigError(f"{', '.join(flags)} {verb} for --agent {AGENT}, got --agent {agent}")
    return given


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
