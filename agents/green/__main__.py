"""The evaluator as an A2A agent: takes an AgentBeats assessment request, answers with the result as one JSON text.

Run it with ``python agents/green --port 9109``. It is up within a second or two: the engine is imported by the run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from a2a_service import Answer, Profile, Progress, add_server_flags, parse_flags, serve
from assessment import carry_out
from request import BadRequest, read

PROFILE = Profile(
    name="TraderBench",
    description="Evaluates AI finance agents: knowledge, analysis, options, crypto trading and professional work.",
    skill="assessment",
)


def locate_configs() -> Path:
    """Return the folder of benchmark variants: beside ``agents`` in a checkout and in an installed package alike."""
    return Path(__file__).resolve().parents[2] / "configs"


def main() -> None:
    """Serve the evaluator."""
    parser = argparse.ArgumentParser(prog="agents/green", description=PROFILE.description)
    parser.add_argument("--runs", type=Path, default=None, help="keep the run folders here (default: keep none)")
    add_server_flags(parser, port=9109)
    flags = parse_flags(parser)
    place = asyncio.Lock()

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        try:
            assessment = read(text, locate_configs())
        except BadRequest as error:
            return Answer(str(error), rejected=True)
        async with place:
            result = await carry_out(assessment, progress, runs=flags.runs)
        return Answer(json.dumps(result, ensure_ascii=False, allow_nan=False))

    serve(PROFILE, respond, flags)


if __name__ == "__main__":
    main()
