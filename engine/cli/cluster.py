"""A sweep as a job of a Ray cluster.

On a machine that reaches the cluster (the head's dashboard listens on port 8265 by default)::

    python -m engine.cli.cluster submit configs/sweep.yaml --out /shared/sweep --address http://head:8265

is what this command line does::

    ray job submit --address http://head:8265 --working-dir . -- \
        /absolute/python -m engine.cli.cluster run configs/sweep.yaml --out /shared/sweep

The driver runs on the cluster, joins it with ``address="auto"`` and alone writes the results, so ``--out`` must be a
folder that the head keeps. A lost worker's shards are computed again; a stopped job goes on with the missing shards
when it is submitted again. The interpreter must exist at the same path on every node and hold the dependencies: a bare
``python`` finds another one. Where the cluster asks for a token, ``RAY_AUTH_MODE=token`` and ``RAY_AUTH_TOKEN_PATH``
name it, as for every Ray command.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.cli import options

EXCLUDES = [".git", ".venv", "runs", "docs", "tests", "benchmarks", "**/__pycache__"]
POLL_SECONDS = 1.0
START_SECONDS = 300.0
"""How long a starting cluster is given to take a job."""
NOT_YET = "No available agent to submit job"


def submit(
    config: str | Path,
    *,
    out: str | Path,
    address: str,
    device: str | None = None,
    working_dir: str | Path = ".",
    python: str = sys.executable,
    timeout_seconds: float | None = None,
) -> str:
    """Submit a sweep, wait for its end, and return its final state (``SUCCEEDED``, ``FAILED`` or ``STOPPED``).

    Parameters
    ----------
    config
        Path of the YAML file, relative to ``working_dir``.
    out
        Folder of the results, as the head sees it.
    address
        Of the cluster's dashboard, ``http://host:port``.
    device
        Where the tasks compute; default: as the config says.
    working_dir
        The project's root; it is sent to the cluster without :data:`EXCLUDES`.
    python
        Interpreter on the nodes.
    timeout_seconds
        Raise ``TimeoutError`` when the job takes longer; None waits for ever.
    """
    from ray.job_submission import JobSubmissionClient

    client = JobSubmissionClient(address)
    told = [] if device is None else ["--device", device]
    entrypoint = shlex.join([python, "-m", "engine.cli.cluster", "run", str(config), "--out", str(out), *told])
    runtime: dict[str, Any] = {"working_dir": str(working_dir), "excludes": EXCLUDES}
    deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
    job = _accepted(client, entrypoint=entrypoint, runtime_env=runtime)
    while True:
        status = client.get_job_status(job)
        if status.is_terminal():
            print(client.get_job_logs(job), end="")
            return str(status.value)
        if deadline is not None and time.monotonic() > deadline:
            client.stop_job(job)
            raise TimeoutError(
                f"job {job} was stopped after {timeout_seconds:g} s; its log: {client.get_job_logs(job)}"
            )
        time.sleep(POLL_SECONDS)


def _accepted(client: Any, **job: Any) -> str:
    """Return the name of the job once the cluster takes it.

    A cluster that has just started answers that no agent is there yet, and to try again later.
    """
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            return str(client.submit_job(**job))
        except RuntimeError as error:
            if NOT_YET not in str(error):
                raise
            if time.monotonic() > end:
                raise RuntimeError(
                    f"the cluster took no job within {START_SECONDS:g} s, for its head has no agent; where another Ray"
                    " runs on that machine, start this one with"
                    f" `ray start --head --dashboard-agent-listen-port PORT` of its own: {error}"
                ) from error
        time.sleep(POLL_SECONDS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m engine.cli.cluster", description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("submit", "send a sweep to a cluster and wait"), ("run", "the driver, within the job")):
        command = commands.add_parser(name, help=text)
        command.add_argument("config")
        command.add_argument("--out", required=True)
        options.add_device(command)
        if name == "submit":
            command.add_argument("--address", default="http://127.0.0.1:8265")
            command.add_argument("--working-dir", default=".")
    parsed = parser.parse_args(arguments)
    if parsed.command == "submit":
        state = submit(
            parsed.config,
            out=parsed.out,
            address=parsed.address,
            device=parsed.device,
            working_dir=parsed.working_dir,
        )
        return 0 if state == "SUCCEEDED" else 1
    from engine.cli.sweeps import show_progress
    from engine.sweep.run import run_sweep

    summary = run_sweep(
        parsed.config, out=parsed.out, backend="ray", address="auto", device=parsed.device, progress=show_progress
    )
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
