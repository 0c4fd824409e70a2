"""What the zygote has imported before the first call, and the only way to third-party packages inside the sandbox."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

from mcp_servers.sandbox.readable import Readable

MODULES = (
    "asyncio", "bisect", "calendar", "collections", "concurrent.futures", "contextlib", "csv", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "heapq", "io", "itertools", "json", "math", "operator",
    "random", "re", "secrets", "statistics", "string", "textwrap", "threading", "time", "typing", "uuid", "zoneinfo",
    "numpy", "numpy.fft", "numpy.linalg", "numpy.random", "numpy.polynomial", "pandas", "tzdata", "dateutil.parser",
    "scipy.special", "scipy.stats", "scipy.optimize", "scipy.integrate", "scipy.interpolate", "scipy.sparse.linalg",
    "scipy.linalg", "scipy.signal", "statsmodels.api", "statsmodels.tsa.api", "pickle",
    "jax.numpy", "pricing.american", "pricing.bates", "pricing.calibration", "pricing.chain", "pricing.risk",
    "pricing.simulation", "pricing.strategy", "pricing.surface",
)  # fmt: skip
_OPTIONAL = ("tzdata",)


class PackageFinder:
    """Find the listed third-party packages and no other: their ``site-packages`` never enters ``sys.path``."""

    def __init__(self, locations: Sequence[tuple[str, str]]) -> None:
        self._locations = dict(locations)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a listed package; everything else is for the other finders."""
        location = self._locations.get(name)
        if location is None:
            return None
        if os.path.isdir(location):
            file = os.path.join(location, "__init__.py")
            return spec_from_file_location(name, file, submodule_search_locations=[location])
        return spec_from_file_location(name, location)


def load(readable: Readable, modules: Sequence[str]) -> None:
    """Import ``modules``, which may use the listed packages only."""
    sys.meta_path.append(PackageFinder(readable.packages))
    for name in modules:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            if name not in _OPTIONAL:
                raise
    if "pandas" in modules:
        # Each of these loads something on first use that a child would otherwise load again in every call.
        pandas = sys.modules["pandas"]
        frame = pandas.DataFrame({"x": [1.0, 2.0]}, index=pandas.date_range("2024-01-01", periods=2, tz="UTC"))
        frame.rolling(2).mean().describe().to_string()
        frame.tz_convert("America/New_York")
        sys.modules["scipy.stats"].norm.cdf(0.0)
