"""The texts of a brief: those that are drawn, and those that only the option ``wordings: held_back`` draws."""

from __future__ import annotations

from typing import NamedTuple


class Brief(NamedTuple):
    """Texts that say the same: the situation, what is wanted, and every convention that the figures depend on."""

    usual: tuple[str, ...]
    held_back: tuple[str, ...]
