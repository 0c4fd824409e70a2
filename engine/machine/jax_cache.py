"""Keep compiled kernels between runs, so that only the first run on a machine waits for the compiler."""

from __future__ import annotations

import os
from pathlib import Path

SETTINGS = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0.1",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0",
}


def enable() -> None:
    """Name the cache folder to jax, here and in child processes; what the user has set already stays.

    Call it before jax is imported. The folder is ``$XDG_CACHE_HOME/traderbench/jax`` (``~/.cache/...`` by default);
    where it cannot be made, kernels are compiled anew.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(home) / "traderbench" / "jax"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder))
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
