"""Compiles the C loops once per machine and loads them."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("kernels.c")
INCLUDED = tuple(SOURCE.with_name(name) for name in ("implied_volatility.h", "revaluation.h"))
_FLAGS = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-shared", "-fPIC")
_TIME_LIMIT_S = 60
_COUNTING = (
    "black_scholes_price",
    "black_scholes_greeks",
    "black_scholes_price_and_greeks",
    "implied_volatility",
)
"""Functions that return how many arguments they refused."""


@functools.cache
def load() -> ctypes.CDLL | None:
    """Load the compiled loops; None where there is no compiler, the compilation fails, or they are switched off."""
    if os.environ.get("TRADERBENCH_NATIVE") == "0":
        return None
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None:
        return None
    try:
        library = ctypes.CDLL(str(_build(compiler)))
    except (OSError, subprocess.SubprocessError):
        return None
    for name in _COUNTING:
        getattr(library, name).restype = ctypes.c_int64
    for name in ("revalue_double", "revalue_float"):
        getattr(library, name).restype = None
    return library


def _build(compiler: str) -> Path:
    """Path of the shared library, compiled if this machine has not done so yet."""
    version = subprocess.run([compiler, "--version"], capture_output=True, check=True, timeout=_TIME_LIMIT_S).stdout
    parts = (*(path.read_bytes() for path in (SOURCE, *INCLUDED)), version, " ".join(_FLAGS).encode(), _processor())
    key = hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]
    folder = _cache_folder()
    library = folder / f"kernels-{key}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            built = Path(scratch) / library.name
            command = [compiler, *_FLAGS, *_wide_vectors(), str(SOURCE), "-o", str(built)]
            subprocess.run(command, capture_output=True, check=True, timeout=_TIME_LIMIT_S)
            built.replace(library)
    return library


def _wide_vectors() -> tuple[str, ...]:
    """Flag that lets an x86 compiler use its widest registers."""
    return ("-mprefer-vector-width=512",) if platform.machine() in ("x86_64", "AMD64") else ()


def _processor() -> bytes:
    """Text that differs between processors with different instructions, as a home folder may be shared."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = {line for line in info.read_text().splitlines() if line.startswith(("flags", "Features", "model name"))}
        return "\n".join(sorted(lines)).encode()
    return f"{platform.machine()} {platform.processor()} {platform.platform()}".encode()


def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(home) if home else Path.home() / ".cache") / "traderbench" / "native"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="traderbench-native-"))
    return folder
