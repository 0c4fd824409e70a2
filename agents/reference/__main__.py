"""Reference agents: real A2A agents that know nothing about finance. A valid benchmark gives them nothing.

Run one with ``python agents/reference --kind null --port 9110``.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from a2a_service import NO_MODEL, Answer, Profile, Progress, add_server_flags, parse_flags, serve
from record import record
from replies import KINDS


def main() -> None:
    """Serve the reference agent that ``--kind`` names."""
    parser = argparse.ArgumentParser(prog="agents/reference", description="A2A reference agents without skill.")
    parser.add_argument("--kind", choices=sorted(KINDS), default="null", help="which agent to be (default null)")
    parser.add_argument("--text", default="42", help="the answer of the kind 'fixed'")
    parser.add_argument("--record", default="", help="append every message received to this JSON-lines file")
    add_server_flags(parser, port=9110)
    flags = parse_flags(parser)
    reply = KINDS[flags.kind]

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        if flags.record:
            record(flags.record, text)
        return Answer(flags.text if flags.kind == "fixed" else reply(text), usage=NO_MODEL)

    profile = Profile(
        name=f"reference-{flags.kind}",
        description=f"Reference agent '{flags.kind}': answers without reading the question for its meaning.",
        skill="reference",
    )
    serve(profile, respond, flags)


if __name__ == "__main__":
    main()
