"""The evaluator as an A2A agent: takes an AgentBeats assessment request, answers with the result as one JSON text.

Run it with ``python agents/green --port 9109``. It is up within a second or two; the heavy libraries are the run's.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from a2a_service import Answer, Profile, Progress, add_server_flags, checked_token, parse_flags, serve
from assessment import TOKEN_VARIABLE, carry_out
from places import Places
from request import BadRequest, read

from engine import config
from engine.config import RunConfig
from engine.errors import ConfigError

PROFILE = Profile(
    name="TraderBench",
    description="Evaluates AI finance agents: knowledge, analysis, options, crypto trading and professional work.",
    skill="assessment",
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the evaluator alone."""
    parser.add_argument("--runs", metavar="DIR", type=Path, help="keep the run folders here (default: keep none)")
    parser.add_argument(
        "--eval-config",
        metavar="FILE",
        help="config that every assessment starts from: a YAML file, or the name of a shipped one (default: the "
        "request's variant, else quick)",
    )
    parser.add_argument(
        "--max-assessments",
        metavar="N",
        type=int,
        default=max(1, len(os.sched_getaffinity(0)) // 2),
        help="assessments at once; more wait in a queue (default: one for every two processors, here %(default)s)",
    )
    add_server_flags(parser, port=9109)


def checked(parser: argparse.ArgumentParser, flags: argparse.Namespace) -> RunConfig | None:
    """Refuse what cannot be served with; return the operator's config, if there is one."""
    if flags.max_assessments < 1:
        parser.error(f"argument --max-assessments: at least 1, got {flags.max_assessments}")
    try:
        flags.token = flags.token or given_token()
        return None if flags.eval_config is None else config.load(flags.eval_config)
    except ValueError as error:
        parser.error(str(error))
    except ConfigError as error:
        parser.error(f"argument --eval-config: {error}")


def given_token() -> str:
    """Return the bearer token of the environment, or an empty text."""
    given = os.environ.get(TOKEN_VARIABLE, "")
    return checked_token(given, TOKEN_VARIABLE) if given else ""


def main() -> None:
    """Serve the evaluator."""
    parser = argparse.ArgumentParser(prog="agents/green", description=PROFILE.description)
    add_flags(parser)
    flags = parse_flags(parser)
    base = checked(parser, flags)
    if not flags.token and not flags.host.startswith("127."):
        logging.getLogger("agent").warning(
            "whoever reaches %s:%d can start assessments; --token-file asks for a token", flags.host, flags.port
        )
    places = Places(flags.max_assessments)

    async def respond(text: str, context_id: str, progress: Progress) -> Answer:
        try:
            assessment = read(text, base)
            async with places.one(progress):
                result = await carry_out(assessment, progress, runs=flags.runs)
        except BadRequest as error:
            return Answer(str(error), rejected=True)
        return Answer(json.dumps(result, ensure_ascii=False, allow_nan=False))

    serve(PROFILE, respond, flags)


if __name__ == "__main__":
    main()
