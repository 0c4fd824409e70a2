"""An A2A agent on any OpenAI-compatible endpoint, with the task's MCP tools as functions.

Run it with ``OPENAI_API_KEY=... python agents/llm --model NAME --port 9110``; ``OPENAI_BASE_URL`` or
``--base-url`` points it to another provider or to a model of one's own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import flags as command_line
from a2a_service import Answer, Profile, Progress, ProviderUnavailable, serve
from clock import SHARE, Patience
from dialogue import Dialogues, Limits
from estimate import estimate
from meter import Prices
from openai import AsyncOpenAI
from provider import Provider

EX_UNAVAILABLE = 69
HOSTED = "https://api.openai.com/v1"
"""Said in words: the client takes an empty OPENAI_BASE_URL, as compose files set it, for an address."""


def _client(flags: argparse.Namespace) -> AsyncOpenAI:
    # Endpoints of one's own often take no key, and the client insists on one.
    return AsyncOpenAI(api_key=os.environ.get("OPENAI_API_KEY") or "none", base_url=flags.base_url or HOSTED)


async def _checked(flags: argparse.Namespace) -> tuple[Provider, list[str]]:
    """Find an endpoint that is down, a refused key or an unknown model before there is a question to lose."""
    wanted = {"temperature": flags.temperature, "seed": flags.seed_model}
    settings = {name: value for name, value in wanted.items() if value is not None}
    async with _client(flags) as client:
        looking = Provider(client, flags.model, **settings)
        left_out = await looking.check()
    return looking.through(_client(flags)), left_out


def _description(flags: argparse.Namespace, left_out: list[str]) -> str:
    """Return what the card says: everything that answers depend on, so that another setting is another agent."""
    servers = "all" if flags.servers is None else ", ".join(flags.servers) or "none"
    facts = [
        f"at most {flags.max_turns} model calls per message and {flags.max_output_tokens} output tokens per call",
        f"tool servers: {servers}",
        *(f"temperature {value:g}" for value in [flags.temperature] if value is not None),
        *(f"seed {value}" for value in [flags.seed_model] if value is not None),
        *left_out,
    ]
    return f"Language model {flags.model} with MCP tools; {'; '.join(facts)}."


def main() -> None:
    """Serve the agent."""
    flags = command_line.parse()
    if flags.estimate:
        json.dump(estimate(json.load(sys.stdin), servers=flags.servers, model_calls=flags.max_turns), sys.stdout)
        return
    try:
        provider, left_out = asyncio.run(_checked(flags))
    except ProviderUnavailable as error:
        print(f"agents/llm: error: {error}", file=sys.stderr)
        sys.exit(EX_UNAVAILABLE)
    for fact in left_out:
        print(f"agents/llm: {fact}", file=sys.stderr)
    patience = Patience(flags.turn_time, flags.task_time, flags.request_timeout or SHARE * flags.turn_time)
    dialogues = Dialogues(
        provider,
        limits=Limits(flags.max_turns, flags.max_cost_usd, flags.max_output_tokens, patience),
        prices=Prices(flags.input_price, flags.output_price),
        servers=flags.servers,
    )

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        return await dialogues.reply(text, context_id, progress)

    profile = Profile(name=f"llm-{flags.model}", description=_description(flags, left_out), skill="finance")
    serve(profile, respond, flags)


if __name__ == "__main__":
    main()
