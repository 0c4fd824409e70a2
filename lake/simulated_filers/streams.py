"""Random numbers by name: what is drawn of one filer, or of one of its years, changes with nothing else."""

from __future__ import annotations

import hashlib
import random

import numpy as np


def _seed(names: tuple[object, ...]) -> int:
    text = "\x1f".join(map(str, ("traderbench simulated filers 1", *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def stream(*names: object) -> random.Random:
    """Return the stream of single draws called ``names``."""
    return random.Random(_seed(names))


def generator(*names: object) -> np.random.Generator:
    """Return the generator of whole arrays called ``names``."""
    return np.random.Generator(np.random.PCG64(_seed(names)))
