"""A private Ray for one run: started here, ended here, never another user's, and entered by nobody else."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import secrets
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from engine.errors import ServiceUnavailable
from mcp_servers import scratch

START_ATTEMPTS = 3


@contextlib.contextmanager
def local_ray(*, num_cpus: int | None = None) -> Iterator[None]:
    """Run the body with Ray; an existing connection is used as it is and left as it was.

    Raises
    ------
    ServiceUnavailable
        When Ray does not start.
    """
    if "ray" in sys.modules and sys.modules["ray"].is_initialized():
        yield
        return
    with scratch.folder("tb-ray-") as folder, _settings(folder):
        import ray

        _start(folder, num_cpus)
        try:
            yield
        finally:
            ray.shutdown()


def _start(folder: Path, num_cpus: int | None) -> None:
    """Start Ray; where its processes took longer than the 30 s that Ray gives them (a busy machine), once more."""
    import ray

    for attempt in range(1, START_ATTEMPTS + 1):
        try:
            with warnings.catch_warnings():
                # jax warns of every fork in a process with threads; Ray's children become other programs at once
                warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)
                ray.init(
                    address="local",
                    num_cpus=num_cpus,
                    include_dashboard=False,
                    logging_level=logging.ERROR,
                    log_to_driver=False,
                    # Ray lets everybody write into its folder; nobody else gets as far as this one
                    _temp_dir=str(folder / f"r{attempt}"),
                )
            return
        except Exception as error:
            ray.shutdown()
            if attempt == START_ATTEMPTS:
                raise ServiceUnavailable(f"Ray did not start: {' '.join(str(error).split())[:300]}") from error


@functools.cache
def _secret() -> str:
    """Return this process's token; Ray's client keeps the first one it reads."""
    return secrets.token_hex(32)


@contextlib.contextmanager
def _settings(folder: Path) -> Iterator[None]:
    """Make Ray ask for a secret of this process, and listen to this machine alone.

    Whoever can join a Ray can run code as its owner. Ray reads the settings when it is imported and when it starts its
    processes. The folder, and so the file with the secret, is readable by this user alone. The environment is put back
    afterwards.
    """
    path = folder / "token"
    path.touch(mode=0o600)
    path.write_text(_secret())
    settings = {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(path),
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        # despite its name the one setting that puts every port of a Ray on the loopback address
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
