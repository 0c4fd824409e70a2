"""What was pulled: the list beside every bank, and the check of files against the sums that it holds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lake import whole_file
from lake.published.sources import SOURCES
from lake.published.sums import sha256

LIST = "pulled.json"
TABLE = "manifest.json"
"""The list of the folders that hold market data."""


class File(NamedTuple):
    """A pulled file."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Held:
    """A bank as it was pulled: nothing in it depends on when."""

    kind: str
    repository: str
    commit: str
    terms: str
    files: Mapping[str, File]

    def digest(self) -> str:
        """Return one sha256 for all files."""
        return hashlib.sha256(json.dumps(self.files, sort_keys=True).encode()).hexdigest()


def read(folder: Path) -> Held | None:
    """Return what was pulled into ``folder``, None where nothing was.

    Raises
    ------
    ValueError
        Its list cannot be read.
    """
    path = folder / LIST
    if not path.is_file():
        return None
    try:
        raw = json.loads(path.read_bytes())
        files = {str(name): File(int(size), str(digest)) for name, (size, digest) in raw.pop("files").items()}
        return Held(files=files, **raw)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is no list of pulled files; remove it and pull again: {error}") from error


def write(folder: Path, held: Held) -> None:
    """Put the list beside the files."""
    whole_file.replace(folder / LIST, json.dumps(asdict(held), indent=1, sort_keys=True).encode())


class Row(NamedTuple):
    """What is here of one kind of data, in one folder."""

    kind: str
    folder: str
    files: int
    size: int
    version: str


def listed(path: Path) -> list[Row]:
    """Return the banks at their places, and the market data under ``path``."""
    rows = []
    for kind, source in SOURCES.items():
        if (held := read(Path(source.folder))) is not None:
            size = sum(file.size for file in held.files.values())
            rows.append(Row(kind, source.folder, len(held.files), size, f"{held.repository} {held.commit[:12]}"))
    for manifest in _manifests(path):
        sums = _sums(manifest)
        size = sum(file.stat().st_size for name in sums if (file := manifest.parent / name).is_file())
        digest = hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest()
        rows.append(Row("market data", str(manifest.parent), len(sums), size, f"sha256 {digest[:12]}"))
    return rows


def faults(path: Path) -> tuple[int, list[str]]:
    """Return how many files of all that was pulled were read, and one line for each that is not what was pulled."""
    read_files, found = 0, []
    for folder, sums in _everything(path):
        for name, wanted in sums.items():
            file = folder / name
            read_files += 1
            if not file.is_file():
                found.append(f"{file}: is missing")
            elif (got := sha256(file)) != wanted:
                found.append(f"{file}: its sha256 is {got}, {wanted} was pulled")
    return read_files, found


def _everything(path: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    for source in SOURCES.values():
        if (held := read(Path(source.folder))) is not None:
            yield Path(source.folder), {name: file.sha256 for name, file in held.files.items()}
    for manifest in _manifests(path):
        yield manifest.parent, _sums(manifest)


def _manifests(path: Path) -> list[Path]:
    return sorted(path.rglob(TABLE)) if path.is_dir() else []


def _sums(manifest: Path) -> dict[str, str]:
    """Return file and sha256 of a folder of tables, or of the months of candles."""
    try:
        raw: dict[str, Any] = json.loads(manifest.read_bytes())
        if "keys" in raw:
            return {str(entry["file"]): str(entry["sha256"]) for entry in raw["keys"].values()}
        return {f"{month}.parquet": str(entry["sha256"]) for month, entry in raw.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{manifest} is no list of pulled data; remove its folder and pull again") from error
