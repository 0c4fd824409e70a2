"""The user that a built-in agent runs as: where we are root one of its own, who can read no run folder."""

from __future__ import annotations

import functools
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

USERS = range(61184, 61440)
"""Numbers that no account has: systemd's range for users that exist while a program runs."""

PROBE_TIMEOUT_S = 20.0
_PROBE = """
import importlib.util, pathlib, sys
pathlib.Path("probe").write_text("")
for name in sys.argv[2:]:
    spec = importlib.util.find_spec(name)
    open(spec.origin, "rb").close()
open(sys.argv[1], "rb").close()
"""
_PACKAGES = ("a2a", "uvicorn", "httpx", "numpy", "openai")


class AgentUser(NamedTuple):
    """Who a built-in agent is.

    Attributes
    ----------
    number
        Of the user and of its group; None: the one that this process has.
    text
        What is said about it, for a line of the run and for ``traderbench doctor``.
    """

    number: int | None
    text: str

    @property
    def is_apart(self) -> bool:
        """Whether the agent is another user than we are."""
        return self.number is not None


@functools.cache
def choose(program: Path) -> AgentUser:
    """Return the user for the agent whose main file is ``program``; a new number where there is one to be had."""
    if os.geteuid() != 0:
        return AgentUser(None, "agents that we start are the same user as we are")
    number = secrets.choice(USERS)
    if why := _obstacle(number, program):
        return AgentUser(None, f"agents that we start are root, as we are: another user cannot run them ({why})")
    return AgentUser(number, f"agents that we start are user {number}")


def _obstacle(number: int, program: Path) -> str:
    """Return why a user cannot run the agent, or an empty text: tried out, because rights have too many sources."""
    with tempfile.TemporaryDirectory(prefix="traderbench-probe-") as home:
        os.chown(home, number, number)
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-c", _PROBE, str(program), *_PACKAGES],
                user=number,
                group=number,
                extra_groups=[],
                cwd=home,
                env={},
                capture_output=True,
                text=True,
                timeout=PROBE_TIMEOUT_S,
            )
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"the interpreter ended with {done.returncode}")
