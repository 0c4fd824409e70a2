"""An A2A agent on any OpenAI-compatible endpoint, with the task's MCP tools as functions.

Run it with ``OPENAI_API_KEY=... python agents/llm --model NAME --port 9110``; ``OPENAI_BASE_URL`` or
``--base-url`` points it to another provider or to a model of one's own.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from a2a_service import Answer, Profile, Progress, ProviderUnavailable, add_server_flags, parse_flags, serve
from dialogue import Dialogues, Limits, Prices
from openai import AsyncOpenAI
from provider import Provider

EX_UNAVAILABLE = 69


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agents/llm", description="A2A agent on an OpenAI-compatible endpoint.")
    environment = os.environ
    parser.add_argument("--model", default=environment.get("OPENAI_MODEL"), help="model name (default OPENAI_MODEL)")
    parser.add_argument("--base-url", default=environment.get("OPENAI_BASE_URL") or None, help="API address")
    for kind in ("input", "output"):
        parser.add_argument(
            f"--{kind}-price",
            type=float,
            default=environment.get(f"OPENAI_{kind.upper()}_PRICE") or None,
            help=f"US dollars per million {kind} tokens (default OPENAI_{kind.upper()}_PRICE, else unknown)",
        )
    parser.add_argument("--max-turns", type=int, default=16, help="model calls per message (default 16)")
    parser.add_argument("--max-cost-usd", type=float, default=1.0, help="cost per message in US dollars (default 1)")
    parser.add_argument(
        "--max-output-tokens", type=int, default=0, help="output tokens per model call (default 0: no limit)"
    )
    parser.add_argument("--request-timeout", type=float, default=120.0, help="seconds per model call (default 120)")
    add_server_flags(parser, port=9110)
    return parser


def _client(flags: argparse.Namespace) -> AsyncOpenAI:
    return AsyncOpenAI(
        # Endpoints of one's own often take no key, and the client insists on one.
        api_key=os.environ.get("OPENAI_API_KEY") or "none",
        base_url=flags.base_url,
        timeout=flags.request_timeout,
        max_retries=2,
    )


async def _check(flags: argparse.Namespace) -> None:
    """Find an endpoint that is down, a refused key or an unknown model before there is a question to lose."""
    async with _client(flags) as client:
        await Provider(client, flags.model).check()


def main() -> None:
    """Serve the agent."""
    parser = _parser()
    flags = parse_flags(parser)
    if not flags.model:
        parser.error("no model is named; give --model NAME, or set OPENAI_MODEL")
    if (flags.input_price is None) != (flags.output_price is None):
        parser.error("--input-price and --output-price (OPENAI_INPUT_PRICE, OPENAI_OUTPUT_PRICE) go together")
    try:
        asyncio.run(_check(flags))
    except ProviderUnavailable as error:
        print(f"agents/llm: error: {error}", file=sys.stderr)
        sys.exit(EX_UNAVAILABLE)
    dialogues = Dialogues(
        Provider(_client(flags), flags.model),
        limits=Limits(flags.max_turns, flags.max_cost_usd, flags.max_output_tokens),
        prices=Prices(flags.input_price, flags.output_price),
    )

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        return await dialogues.reply(text, context_id, progress)

    description = f"Language model {flags.model} with MCP tools; at most {flags.max_turns} model calls per message."
    serve(Profile(name=f"llm-{flags.model}", description=description, skill="finance"), respond, flags)


if __name__ == "__main__":
    main()
