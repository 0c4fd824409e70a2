"""A private Ray for one run: started here, ended here, never another user's."""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from engine.errors import ServiceUnavailable


@contextlib.contextmanager
def local_ray(*, num_cpus: int | None = None) -> Iterator[None]:
    """Run the body with Ray; an existing connection is used as it is and left as it was.

    Raises
    ------
    ServiceUnavailable
        When Ray does not start.
    """
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    if ray.is_initialized():
        yield
        return
    with tempfile.TemporaryDirectory(prefix="tb-ray-", ignore_cleanup_errors=True) as folder:
        # ray would otherwise write a token under the user's home folder
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")
        try:
            ray.init(
                address="local",
                num_cpus=num_cpus,
                include_dashboard=False,
                configure_logging=True,
                logging_level=logging.ERROR,
                log_to_driver=False,
                _temp_dir=str(Path(folder)),
                runtime_env=None,
            )
        except Exception as error:
            raise ServiceUnavailable(f"Ray did not start: {' '.join(str(error).split())[:300]}") from error
        try:
            yield
        finally:
            ray.shutdown()
