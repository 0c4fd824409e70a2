"""Invented shares and companies."""

from __future__ import annotations

TICKERS = ("ALDR", "BRTW", "CRVN", "DLPH", "ESTM", "FNWK", "GLWY", "HRRG", "INVR", "JUNO", "KSTL", "LMBR")
COMPANIES = (
    "Aldermoor", "Brightwater", "Corvane", "Delphane", "Estermont", "Fenwick", "Galloway", "Harrowgate", "Inver",
)  # fmt: skip
