"""The command line of the agent."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from a2a_service import add_server_flags, parse_flags
from mcp_toolbox import SERVER_NAMES

NO_SERVERS = "none"


def parse() -> argparse.Namespace:
    """Return the flags; what is missing or impossible ends the program with one line."""
    parser = argparse.ArgumentParser(prog="agents/llm", description="A2A agent on an OpenAI-compatible endpoint.")
    environment = os.environ
    add = parser.add_argument
    add("--model", default=environment.get("OPENAI_MODEL"), help="model name (default OPENAI_MODEL)")
    add("--base-url", default=environment.get("OPENAI_BASE_URL") or None, help="API address")
    add("--temperature", type=_number(0.0, 2.0), help="0 to 2; left out where the endpoint refuses it (default: none)")
    add("--seed-model", type=int, help="seed of the model's own randomness, sent where the endpoint takes it")
    for kind in ("input", "output"):
        add(
            f"--{kind}-price",
            type=_number(0.0),
            default=environment.get(f"OPENAI_{kind.upper()}_PRICE") or None,
            help=f"US dollars per million {kind} tokens (default OPENAI_{kind.upper()}_PRICE, else unknown)",
        )
    add("--max-turns", type=_count(1), default=16, help="model calls per message (default 16)")
    add("--max-cost-usd", type=_number(0.0), default=1.0, help="cost per message in US dollars (default 1)")
    add("--max-output-tokens", type=_count(0), default=8192, help="output tokens per model call (default 8192; 0: any)")
    add(
        "--servers",
        type=_servers,
        help=f"tool servers that the model is offered, between commas, or {NO_SERVERS} (default: all of a task)",
    )
    add("--turn-time", type=_number(1.0), default=120.0, help="seconds that the other side waits for a reply")
    add("--task-time", type=_number(1.0), default=300.0, help="seconds that it has for a conversation")
    add("--request-timeout", type=_number(0.1), help="seconds per model call (default: 0.9 of --turn-time)")
    add(
        "--estimate",
        action="store_true",
        help="read tasks from standard input, print the tokens that they would need, and stop (`estimate.py`)",
    )
    add_server_flags(parser, port=9110)
    flags = parse_flags(parser)
    if not flags.model:
        parser.error("no model is named; give --model NAME, or set OPENAI_MODEL")
    if (flags.input_price is None) != (flags.output_price is None):
        parser.error("--input-price and --output-price (OPENAI_INPUT_PRICE, OPENAI_OUTPUT_PRICE) go together")
    return flags


def _number(low: float, high: float = float("inf")) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = float(text)
        if not low <= value <= high or value == float("inf"):
            raise argparse.ArgumentTypeError(
                f"a number from {low:g}{f' to {high:g}' if high < 1e300 else ''}, got {text}"
            )
        return value

    return number


def _count(low: int) -> Callable[[str], int]:
    def count(text: str) -> int:
        value = int(text)
        if value < low:
            raise argparse.ArgumentTypeError(f"a whole number from {low}, got {text}")
        return value

    return count


def _servers(text: str) -> tuple[str, ...]:
    names = () if text == NO_SERVERS else tuple(name.strip() for name in text.split(","))
    unknown = [name for name in names if name not in SERVER_NAMES]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"unknown server {unknown[0]!r}; available: {', '.join(SERVER_NAMES)}, or {NO_SERVERS}"
        )
    return names
