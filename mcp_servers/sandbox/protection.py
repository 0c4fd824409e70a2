"""The name of a combination of protections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outer = Literal["bwrap", "namespaces", "none"]


@dataclass(frozen=True)
class Tier:
    """Which protections surround a call. Every tier has seccomp, and a mount namespace or Landlock.

    Attributes
    ----------
    outer
        Layer around the zygote: bubblewrap, namespaces of our own making, or none.
    landlock
        Whether each call is also under Landlock.
    """

    outer: Outer
    landlock: bool

    def __post_init__(self) -> None:
        if self.outer == "none" and not self.landlock:
            raise ValueError("a tier needs a mount namespace (outer 'bwrap' or 'namespaces') or landlock=True")

    @property
    def name(self) -> str:
        """Return the name for result rows, strongest layer first."""
        layers = [] if self.outer == "none" else [self.outer]
        return "+".join([*layers, *(["landlock"] if self.landlock else []), "seccomp"])
