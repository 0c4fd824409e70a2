"""The offline quant: an A2A agent without a model. It reads the task, calls the tools it is offered, and answers.

Run it with ``python agents/quant --port 9110``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from a2a_service import NO_MODEL, Answer, Profile, Progress, add_server_flags, parse_flags, serve

from solver import Solver

PROFILE = Profile(
    name="quant",
    description="Rule-based finance agent: textbook formulas and MCP tools, no language model.",
    skill="quantitative-finance",
)


def main() -> None:
    """Serve the agent."""
    parser = argparse.ArgumentParser(prog="agents/quant", description=PROFILE.description)
    add_server_flags(parser, port=9110)
    flags = parse_flags(parser)
    solver = Solver()

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        return Answer(await solver.reply(text, context_id), usage=NO_MODEL)

    serve(PROFILE, respond, flags)


if __name__ == "__main__":
    main()
