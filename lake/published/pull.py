"""Fetching a bank: the first pull writes down commit and sums, every later one holds to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lake import whole_file
from lake.point_in_time import ProviderUnavailable
from lake.published import held
from lake.published.listing import Repository
from lake.published.sources import SOURCES
from lake.published.sums import sha256


@dataclass(frozen=True)
class Pulled:
    """What there is of a bank after a pull.

    Attributes
    ----------
    new
        Files that this pull brought.
    missing
        One line for each file that did not come.
    """

    folder: Path
    commit: str
    files: int
    size: int
    new: int
    sha256: str
    missing: tuple[str, ...]


def pull(
    kind: str,
    *,
    folder: Path | None = None,
    revision: str | None = None,
    base_url: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
    back_off_s: float = 1.0,
) -> Pulled:
    """Fetch the bank ``kind`` of :data:`lake.published.sources.SOURCES`.

    Parameters
    ----------
    folder
        Where its files go; by default the place that the papers print.
    revision
        A branch, tag or commit; by default the commit of the first pull, or the newest where there was none.
    progress
        Is told one line a file.

    Raises
    ------
    ProviderUnavailable
        The host did not list the bank, or gave none of it, or something else than it gave before.
    ValueError
        What lies in the folder was pulled from elsewhere, or its list cannot be read.
    """
    source = SOURCES[kind]
    place = Path(source.folder) if folder is None else folder
    repository = Repository(source, base_url=base_url, back_off_s=back_off_s)
    try:
        with whole_file.one_writer(place):
            before = held.read(place)
            if before is not None and before.repository != source.repository:
                raise ValueError(f"{place} holds {before.repository}, not {source.repository}: give another --out")
            commit = repository.commit(revision or (before.commit if before else None))
            known = dict(before.files) if before is not None and before.commit == commit else {}
            files: dict[str, held.File] = {}
            missing: list[str] = []
            new = 0
            for name, remote in repository.files(commit).items():
                target = place / name
                there = known.get(name)
                if there is not None and target.is_file() and sha256(target) == there.sha256:
                    files[name] = there
                    continue
                try:
                    digest = repository.requests.fetch(remote, target)
                except ProviderUnavailable as error:
                    missing.append(f"{name}: {error}")
                    continue
                if there is not None and digest != there.sha256:
                    target.unlink()
                    raise ProviderUnavailable(
                        f"{name} at {commit[:12]} has the sha256 {digest}, at the first pull it had {there.sha256}"
                    )
                files[name] = held.File(remote.size, digest)
                new += 1
                progress(f"{name}: {remote.size:,} bytes")
                held.write(place, held.Held(kind, source.repository, commit, source.terms, known | files))
            if not files:
                raise ProviderUnavailable(missing[0])
            record = held.Held(kind, source.repository, commit, source.terms, known | files)
            held.write(place, record)
    finally:
        repository.requests.close()
    size = sum(file.size for file in files.values())
    return Pulled(place, commit, len(files), size, new, record.digest(), tuple(missing))
