"""C++ compiled once a machine, and loaded: the one builder of everything native."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import jax

FOLDER = Path(__file__).parent
FLAGS = (
    "-O2",
    "-march=native",
    "-std=c++17",
    "-shared",
    "-fPIC",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-Wno-psabi",
)
_TIME_LIMIT_S = 300


class BuildError(RuntimeError):
    """The compiler is missing or refused; the message is one line."""


def build(name: str, source: str, *, include: Sequence[Path] = ()) -> Path:
    """Return the path of the shared library that ``source`` compiles to, from the cache where it is there already.

    Parameters
    ----------
    name
        Beginning of the file's name.
    source
        C++ that may include the headers of this folder, of ``include`` and of XLA's foreign function interface.
    include
        More folders of headers. All their headers count for what the library is known by.

    Raises
    ------
    BuildError
        Without a compiler, and when it fails.
    """
    folders = (FOLDER, *include)
    headers = [header.read_text() for folder in folders for header in sorted(folder.glob("*.h"))]
    parts = (source, *headers, _compiler_version(), jax.__version__, _processor(), *FLAGS)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
    path = _cache_folder() / f"{name}-{digest}.so"
    if not path.exists():
        _compile(source, path, folders)
    return path


def _compile(source: str, path: Path, folders: Sequence[Path]) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        text, built = Path(scratch) / "source.cc", Path(scratch) / path.name
        text.write_text(source)
        found = [flag for folder in folders for flag in ("-I", str(folder))]
        command = [_compiler(), *FLAGS, *found, "-isystem", jax.ffi.include_dir(), str(text), "-o", str(built)]
        try:
            subprocess.run(command, capture_output=True, text=True, check=True, timeout=_TIME_LIMIT_S)
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            why = next((line for line in said if "error" in line), said[0])
            raise BuildError(f"it could not be built: {why}") from error
        os.replace(built, path)


def load(path: Path) -> ctypes.CDLL:
    """Return the library at ``path``, loaded; ``BuildError`` when the system refuses it."""
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise BuildError(f"it could not be loaded: {error}") from error


def _compiler() -> str:
    asked = os.environ.get("CXX")
    found = next((path for name in ([asked] if asked else ["g++"]) if (path := shutil.which(name))), None)
    if found is None:
        raise BuildError(f"there is no {asked or 'g++'}")
    return found


@cache
def _compiler_version() -> str:
    try:
        command = [_compiler(), "--version"]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=_TIME_LIMIT_S).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise BuildError(f"the compiler does not run: {error}") from error


@cache
def _processor() -> str:
    """Return what ``-march=native`` depends on, so that a cache on a shared disk serves several machines."""
    facts = Path("/proc/cpuinfo")
    lines = facts.read_text().splitlines() if facts.exists() else []
    return platform.machine() + next((line for line in lines if line.startswith(("flags", "Features"))), "")


@cache
def _cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(home) if home else Path.home() / ".cache") / "traderbench" / "native"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.mkdtemp(prefix="traderbench-native-"))
    return folder
