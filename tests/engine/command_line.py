"""The command line under test: as a program of its own, or in this process, where nothing has to be imported anew."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from engine import cli
from engine.run import services
from engine.run.tool_access import ToolAccess

TRADERBENCH = (sys.executable, "-m", "engine.cli")
LIMIT_S = 600.0


class Done(NamedTuple):
    """What a command left behind."""

    returncode: int
    stdout: str
    stderr: str


def program(*arguments: object, **environment: str) -> Done:
    """Run a command as users do; no model provider is set but by ``environment``."""
    done = subprocess.run(
        [*TRADERBENCH, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")} | environment,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def here(*arguments: object, servers: tuple[ToolAccess, str] | None = None, **environment: str) -> Done:
    """Run a command in this process; with ``servers``, a run takes those that are up instead of starting six."""
    out, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("OPENAI_")]:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        if servers is not None:
            patch.setattr(services, "tool_servers", lambda *_: contextlib.nullcontext(servers))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            status = _main([str(argument) for argument in arguments])
    return Done(status, out.getvalue(), errors.getvalue())


def _main(arguments: list[str]) -> int:
    try:
        return cli.main(arguments)
    except SystemExit as ended:  # argparse ends so
        assert isinstance(ended.code, int)
        return ended.code
