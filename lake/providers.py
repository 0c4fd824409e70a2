"""The lake that a run's YAML names: providers by kind of data, each a module that puts its sources into the lake."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from lake import sample
from lake.sample import Lake
from lake.settings import LakeSettings
from lake.tables import MANIFEST


class Provider(Protocol):
    """A module that knows one kind of data.

    What it serves are ``point_in_time.Source`` objects: every row with the time of the event and the day in the
    market's own time zone on which it became public; asked with a date, they answer with what was known when it ended.
    """

    def into(self, lake: Lake, settings: LakeSettings) -> Lake:
        """Return the lake with this provider's sources before those that it has; nothing is read or fetched yet.

        Raises
        ------
        ValueError
            The settings lack something that the provider needs.
        """
        ...


PROVIDERS: Mapping[tuple[str, str], str] = {
    ("equities", "folder"): "lake.folder",
    ("filings", "edgar"): "lake.edgar.provider",
    ("equities", "yfinance"): "lake.yahoo.provider",
    ("options", "yfinance"): "lake.yahoo.provider",
    ("options", "folder"): "lake.quoted.folder",
    ("macro", "fred_csv"): "lake.macro",
}
"""Kind and name -> module. Those that are not here (embedded, simulated) are in every lake."""


def _chosen(settings: LakeSettings) -> Iterator[Provider]:
    if settings.crypto is not None:
        crypto: Provider = importlib.import_module("lake.crypto")
        yield crypto
    modules = [module for (kind, name), module in PROVIDERS.items() if getattr(settings, kind) == name]
    # a module that provides two kinds puts both in at once
    for module in dict.fromkeys(modules):
        provider: Provider = importlib.import_module(module)
        yield provider


def open_lake(settings: LakeSettings) -> Lake:
    """Return the lake of these settings: the embedded sample with the chosen providers before it."""
    lake = sample.embedded()
    for provider in _chosen(settings):
        lake = provider.into(lake, settings)
    return lake


def digest(settings: LakeSettings) -> str:
    """Return one sha256 over what the chosen providers hold on disk, by the checksums that the pulls wrote.

    A folder of files without a manifest counts with the files themselves.
    """
    found = {}
    for kind in ("equities", "filings", "options", "macro", "crypto"):
        folder = Path(settings.path) / kind
        if getattr(settings, kind) in (None, "embedded", "simulated") or not folder.is_dir():
            continue
        manifests = sorted(folder.rglob(MANIFEST))
        for path in manifests or sorted(path for path in folder.rglob("*") if path.is_file()):
            found[str(path.relative_to(settings.path))] = _content(path)
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def _content(path: Path) -> str:
    content = path.read_bytes()
    if path.name != MANIFEST:
        return hashlib.sha256(content).hexdigest()
    document = json.loads(content)
    return json.dumps({key: entry["sha256"] for key, entry in document.get("keys", document).items()}, sort_keys=True)
