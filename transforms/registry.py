"""The transforms by name. One row each; the contract test runs over every row."""

from __future__ import annotations

import difflib
import importlib
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from transforms.record import Transform

TRANSFORMS: dict[str, str] = {
    "baseline": "transforms.baseline:baseline",
    "noisy": "transforms.noisy:noisy",
    "meta": "transforms.meta:meta",
    "adversarial": "transforms.adversarial:adversarial",
    "flash_crash": "transforms.flash:flash_crash",
    "flash_pump": "transforms.flash:flash_pump",
    "liquidity": "transforms.liquidity:liquidity",
    "gap": "transforms.gap:gap",
    "stale_feed": "transforms.feed:stale_feed",
    "missing_bars": "transforms.feed:missing_bars",
    "wash_volume": "transforms.feed:wash_volume",
    "scale": "transforms.symmetry:scale",
    "time_shift": "transforms.symmetry:time_shift",
    "invert": "transforms.symmetry:invert",
    "regime_change": "transforms.regime:regime_change",
    "bootstrap_blocks": "transforms.regime:bootstrap_blocks",
    "worst_case": "transforms.worst_case:worst_case",
    "worst_path": "transforms.worst_case:worst_path",
}
"""Name in a config -> ``module:attribute``, imported when a run uses it."""


def get(name: str) -> Transform:
    """Return the transform called ``name``, or the one in ``path/to/file.py:name``.

    Raises
    ------
    ValueError
        When the name is unknown, the file is missing or broken, or what it names is not a declared transform.
    """
    if ".py:" in name:
        path, attribute = name.rsplit(":", 1)
        return checked(name, load(Path(path)), attribute)
    if name not in TRANSFORMS:
        known = ", ".join(TRANSFORMS)
        close = difflib.get_close_matches(name, TRANSFORMS, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"unknown transform {name!r}{hint}; available: {known}, or path/to/file.py:name")
    module, attribute = TRANSFORMS[name].split(":")
    return checked(name, importlib.import_module(module), attribute)


def load(path: Path) -> ModuleType:
    """Import a Python file that is not part of a package; a changed file is imported anew."""
    if not path.is_file():
        raise ValueError(f"transform file {str(path)!r} does not exist (working directory: {str(Path.cwd())!r})")
    return imported(path.resolve(), path.read_bytes())


@lru_cache(maxsize=64)
def imported(path: Path, content: bytes) -> ModuleType:
    """Return the module that the file at ``path`` with this ``content`` makes."""
    module = ModuleType(f"transform_file_{path.stem}")
    module.__file__ = str(path)
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)
    except Exception as error:
        raise ValueError(f"transform file {str(path)!r} fails on import: {type(error).__name__}: {error}") from error
    return module


def checked(name: str, module: ModuleType, attribute: str) -> Transform:
    """Return the declared transform ``attribute`` of ``module``."""
    if not hasattr(module, attribute):
        declared = [key for key, value in vars(module).items() if isinstance(value, Transform)]
        raise ValueError(
            f"transform {name!r}: no {attribute!r} in the file; it declares {', '.join(declared) or 'none'}"
        )
    found = getattr(module, attribute)
    if not isinstance(found, Transform):
        raise ValueError(
            f"transform {name!r}: {attribute!r} is not declared; "
            "put @transforms.transform(channel='observed' or 'both') above the function"
        )
    return found
