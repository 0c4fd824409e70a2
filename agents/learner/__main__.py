"""The learner: an A2A agent that trades by what it finds out, and does nothing else. No model, no tools.

Run it with ``python agents/learner --port 9112``.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from a2a_service import NO_MODEL, Answer, Profile, Progress, add_server_flags, parse_flags, serve
from market_learner import Learner

PROFILE = Profile(
    name="learner",
    description="Trades by what it finds out of the bars shown: screened signals, ridge regression, no language model.",
    skill="crypto-trading",
)


def main() -> None:
    """Serve the agent."""
    parser = argparse.ArgumentParser(prog="agents/learner", description=PROFILE.description)
    add_server_flags(parser, port=9112)
    flags = parse_flags(parser)
    learner = Learner()

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if not isinstance(body, dict) or not Learner.understands(body):
            return Answer("I only trade.", usage=NO_MODEL)
        return Answer(json.dumps(learner.reply(body, context_id)), usage=NO_MODEL)

    serve(PROFILE, respond, flags)


if __name__ == "__main__":
    main()
