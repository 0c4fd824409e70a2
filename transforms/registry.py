"""The transforms by name. One row each; the contract test runs over every row."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

from transforms.record import Transform

TRANSFORMS: dict[str, str] = {
    "baseline": "transforms.baseline:baseline",
    "noisy": "transforms.noisy:noisy",
    "meta": "transforms.meta:meta",
    "adversarial": "transforms.adversarial:adversarial",
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
        raise ValueError(f"unknown transform {name!r}; available: {known}, or path/to/file.py:name")
    module, attribute = TRANSFORMS[name].split(":")
    return checked(name, importlib.import_module(module), attribute)


def load(path: Path) -> ModuleType:
    """Import a Python file that is not part of a package."""
    if not path.is_file():
        raise ValueError(f"transform file {str(path)!r} does not exist (working directory: {str(Path.cwd())!r})")
    spec = importlib.util.spec_from_file_location(f"transform_file_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"transform file {str(path)!r} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
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
