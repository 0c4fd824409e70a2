"""The transforms by name. One row each; the contract test runs over every row."""

from __future__ import annotations

import importlib

from backtest import naming
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
    if naming.is_own(name):
        return from_file(name, naming.read(naming.parts(name)[0], what="transform"))
    if name not in TRANSFORMS:
        known = ", ".join(TRANSFORMS)
        hint = naming.nearest(name, TRANSFORMS)
        raise ValueError(f"unknown transform {name!r}{hint}; available: {known}, or path/to/file.py:name")
    module, attribute = TRANSFORMS[name].split(":")
    return declared(name, getattr(importlib.import_module(module), attribute))


def from_file(name: str, text: str) -> Transform:
    """Return the transform that ``path/to/file.py:name`` stands for in a file of this text."""
    return declared(name, naming.attribute_of(name, text, what="transform", kind=Transform))


def declared(name: str, found: object) -> Transform:
    """Return what a name stands for if it is a declared transform."""
    if not isinstance(found, Transform):
        raise ValueError(
            f"transform {name!r} is not declared; "
            "put @transforms.transform(channel='observed' or 'both') above the function"
        )
    return found
