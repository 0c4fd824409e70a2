"""What code in the sandbox may read: the interpreter, system libraries, time zones and the numerical packages.

Packages are listed one by one and never by their ``site-packages`` folder: in an installed wheel the benchmark's own
answers live there.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from dataclasses import asdict, dataclass
from glob import glob
from importlib.util import find_spec

PACKAGES = (
    "numpy", "scipy", "pandas", "statsmodels", "patsy", "packaging", "dateutil", "six", "tzdata", "pytz",
    "jax", "jaxlib", "ml_dtypes", "opt_einsum", "native", "pricing",
)  # fmt: skip
REQUIRED = ("numpy", "scipy", "pandas", "jax", "pricing")
DEVICES = ("/dev/urandom",)
"""Read by XLA at its start; what comes from it any call has from ``getrandom`` as well."""
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
_LIBRARY_TREES = ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64")
_SINGLE_PATHS = ("/etc/ld.so.cache", "/usr/share/zoneinfo")


@dataclass(frozen=True)
class Readable:
    """Paths, absolute and free of symbolic links unless named ``links``.

    Attributes
    ----------
    trees
        Files and folders that may be read, with all below them except ``hidden``.
    hidden
        Folders inside ``trees`` that may not.
    packages
        Import name and location (a folder or a file) of each third-party package.
    devices
        Device files that may be read.
    links
        Symbolic links of the root folder that libraries are found through, with their targets.
    """

    trees: tuple[str, ...]
    hidden: tuple[str, ...]
    packages: tuple[tuple[str, str], ...]
    devices: tuple[str, ...]
    links: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, object]:
        """Return the record as JSON types."""
        return asdict(self)

    def require_access(self) -> None:
        """Raise :class:`PermissionError` that names the closed folder when this user cannot read one of the paths."""
        for path in self.trees:
            closed = next((at for at in (*_parents(path), path) if not os.access(at, _access_needed(at, path))), None)
            if closed is not None:
                raise PermissionError(
                    f"{closed} is closed to user id {os.getuid()}, as whom code runs, and the sandbox needs {path}; "
                    "put Python and its packages into a folder that everybody may read"
                )

    @classmethod
    def from_json(cls, fields: dict[str, list[str] | list[list[str]]]) -> Readable:
        """Return the record that :meth:`to_json` described."""
        trees, hidden, devices = (tuple(str(path) for path in fields[name]) for name in ("trees", "hidden", "devices"))
        packages, links = (tuple((row[0], row[1]) for row in fields[name]) for name in ("packages", "links"))
        return cls(trees=trees, hidden=hidden, packages=packages, devices=devices, links=links)


def _parents(path: str) -> list[str]:
    """Return the folders above ``path``, outermost first."""
    parts = path.split(os.sep)[1:-1]
    return [os.sep + os.sep.join(parts[: count + 1]) for count in range(len(parts))]


def _access_needed(folder: str, path: str) -> int:
    return os.R_OK if folder == path else os.X_OK


def _package_locations() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            if name in REQUIRED:
                raise OSError(f"package {name} is not installed beside {sys.executable}")
            continue
        folders = spec.submodule_search_locations
        found.append((name, os.path.realpath(next(iter(folders)) if folders else spec.origin)))
    return found


def _interpreter_paths() -> list[str]:
    """Return the interpreter, its shared library if it has one, and the standard library."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "/libpython" in line}
    standard = {os.path.realpath(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib")}
    standard = {path for path in standard if os.path.isfile(os.path.join(path, "os.py"))}
    return [interpreter(), *sorted(mapped), *sorted(standard)]


def interpreter() -> str:
    """Return the path of the interpreter behind any virtual environment's link."""
    return os.path.realpath(sys.executable)


def find() -> Readable:
    """Look up the paths of this installation; imports nothing.

    Raises
    ------
    OSError
        numpy, scipy or pandas is missing.
    """
    packages = _package_locations()
    bundled = [f"{path}.libs" for _, path in packages if os.path.isdir(f"{path}.libs")]
    libraries = [os.path.realpath(path) for path in _LIBRARY_TREES if os.path.isdir(path)]
    singles = [os.path.realpath(path) for path in _SINGLE_PATHS if os.path.exists(path)]
    trees = [*libraries, *singles, *_interpreter_paths(), *bundled, *(path for _, path in packages)]
    hidden = {
        path
        for tree in trees
        for name in ("site-packages", "dist-packages", "python*/site-packages", "python*/dist-packages")
        for path in glob(os.path.join(tree, name))
        if os.path.isdir(path)
    }
    links = [(path, os.readlink(path)) for path in _LIBRARY_FOLDERS if os.path.islink(path)]
    return Readable(
        trees=tuple(dict.fromkeys(trees)),
        hidden=tuple(sorted(hidden)),
        packages=tuple(packages),
        devices=tuple(path for path in DEVICES if os.path.exists(path)),
        links=tuple(links),
    )
