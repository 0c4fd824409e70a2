"""An A2A agent on any OpenAI-compatible endpoint, with the task's MCP tools as functions.

Run it with ``OPENAI_API_KEY=... python agents/llm --model gpt-5-mini --port 9110``; ``OPENAI_BASE_URL`` or
``--base-url`` points it to another provider or to a model of one's own.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from a2a_service import Answer, Profile, Progress, add_server_flags, parse_flags, serve
from dialogue import Dialogues, Limits, Prices
from openai import AsyncOpenAI


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agents/llm", description="A2A agent on an OpenAI-compatible endpoint.")
    environment = os.environ
    parser.add_argument("--model", default=environment.get("OPENAI_MODEL", "gpt-5-mini"), help="model name")
    parser.add_argument("--base-url", default=environment.get("OPENAI_BASE_URL") or None, help="API address")
    for kind in ("input", "output"):
        parser.add_argument(
            f"--{kind}-price",
            type=float,
            default=float(environment.get(f"OPENAI_{kind.upper()}_PRICE", "0")),
            help=f"US dollars per million {kind} tokens (default OPENAI_{kind.upper()}_PRICE, else 0)",
        )
    parser.add_argument("--max-turns", type=int, default=16, help="model calls per message (default 16)")
    parser.add_argument("--max-cost-usd", type=float, default=1.0, help="cost per message in US dollars (default 1)")
    parser.add_argument(
        "--max-output-tokens", type=int, default=0, help="output tokens per model call (default 0: no limit)"
    )
    parser.add_argument("--request-timeout", type=float, default=120.0, help="seconds per model call (default 120)")
    add_server_flags(parser, port=9110)
    return parser


def main() -> None:
    """Serve the agent."""
    flags = parse_flags(_parser())
    client = AsyncOpenAI(
        # Endpoints of one's own often take no key, and the client insists on one.
        api_key=os.environ.get("OPENAI_API_KEY") or "none",
        base_url=flags.base_url,
        timeout=flags.request_timeout,
        max_retries=2,
    )
    dialogues = Dialogues(
        client,
        model=flags.model,
        limits=Limits(flags.max_turns, flags.max_cost_usd, flags.max_output_tokens),
        prices=Prices(flags.input_price, flags.output_price),
    )

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        return await dialogues.reply(text, context_id)

    description = f"Language model {flags.model} with MCP tools; at most {flags.max_turns} model calls per message."
    serve(Profile(name=f"llm-{flags.model}", description=description, skill="finance"), respond, flags)


if __name__ == "__main__":
    main()
