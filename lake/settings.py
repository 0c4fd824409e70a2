"""Which providers a lake has and where their data lie: the section ``lake`` of a run's YAML."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CHOICES: Mapping[str, tuple[str, ...]] = {
    "equities": ("embedded", "yfinance", "folder"),
    "filings": ("embedded", "edgar"),
    "options": ("simulated", "yfinance", "folder"),
    "macro": ("embedded", "fred_csv"),
}
"""Kind of data -> its providers, the default first. ``crypto`` names an exchange of ccxt, or none."""


@dataclass(frozen=True)
class LakeSettings:
    """The providers of a lake. What a chosen provider does not have comes from the embedded sample, under its name.

    Attributes
    ----------
    equities, filings, options, macro
        One of :data:`CHOICES`.
    crypto
        ccxt's name of an exchange, such as ``binance``; None: no crypto data.
    path
        Folder into which ``traderbench data pull`` puts what it fetches.
    cache
        Folder for answers of the SEC, which are not asked for again within a day; by default within ``path``.
    offline
        Whether only what was pulled is served. Otherwise a ticker that is not here is fetched when it is asked for.
    """

    equities: str = CHOICES["equities"][0]
    filings: str = CHOICES["filings"][0]
    options: str = CHOICES["options"][0]
    crypto: str | None = None
    macro: str = CHOICES["macro"][0]
    path: str = "data"
    cache: str | None = None
    offline: bool = True

    def __post_init__(self) -> None:
        for kind, names in CHOICES.items():
            if (name := getattr(self, kind)) not in names:
                raise ValueError(f"lake.{kind} must be one of {', '.join(names)}, got {name!r}")

    @property
    def is_sample(self) -> bool:
        """Whether this is the embedded sample and nothing else."""
        sample = LakeSettings(path=self.path, cache=self.cache, offline=self.offline)
        return self == sample

    def plain(self) -> dict[str, Any]:
        """Return what JSON can carry."""
        return dataclasses.asdict(self)
