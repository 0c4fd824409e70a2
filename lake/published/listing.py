"""What a repository of a host holds at one commit: the hub's and the code host's interfaces, read and not trusted."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from lake.point_in_time import ProviderUnavailable
from lake.published.sources import Source
from lake.published.transfer import Remote, Requests

HUB, CODE_API, CODE_FILES = "https://huggingface.co", "https://api.github.com", "https://raw.githubusercontent.com"
HUB_TOKEN, CODE_TOKEN = "HF_TOKEN", "GITHUB_TOKEN"
MAX_FILES = 50_000
MAX_PAGES = 200
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[^\x00-\x1f\x7f\\:*?\"<>|]+")


class Repository:
    """One repository of a host.

    Parameters
    ----------
    base_url
        Another address that speaks the host's paths; the host's own when omitted.
    """

    def __init__(self, source: Source, *, base_url: str | None = None, back_off_s: float = 1.0) -> None:
        self._source = source
        on_hub = source.host == "hub"
        self._api = base_url or (HUB if on_hub else CODE_API)
        self._files = base_url or (HUB if on_hub else CODE_FILES)
        token_name = HUB_TOKEN if on_hub else CODE_TOKEN
        token = os.environ.get(token_name, "")
        terms = f"accept its terms on {HUB}/datasets/{source.repository}, and " if on_hub else ""
        self.requests = Requests(
            whose="the hub" if on_hub else "the code host",
            refused=f"{terms}give a token as {token_name}" + (", whose holder may read it" if token else ""),
            headers={"Authorization": f"Bearer {token}"} if token else {},
            back_off_s=back_off_s,
        )

    def commit(self, revision: str | None) -> str:
        """Return the commit that a revision (branch, tag, commit; None: the newest) names now."""
        name, source = quote(revision or "main", safe=""), self._source
        if source.host == "hub":
            answer, _ = self.requests.document(f"{self._api}/api/datasets/{source.repository}/revision/{name}")
        else:
            name = name if revision else "HEAD"
            answer, _ = self.requests.document(f"{self._api}/repos/{source.repository}/commits/{name}")
        found = answer.get("sha") if isinstance(answer, dict) else None
        if not isinstance(found, str) or not _COMMIT.fullmatch(found):
            raise ProviderUnavailable(f"{source.repository} has no commit {revision or 'main'!r}: got {found!r}")
        return found

    def files(self, commit: str) -> dict[str, Remote]:
        """Return by their places within the bank's folder the files that are wanted, in the order of their places.

        Raises
        ------
        ProviderUnavailable
            The listing cannot be read, names a place outside of the folder, or holds nothing that is wanted.
        """
        found: dict[str, Remote] = {}
        rows = self._hub_rows(commit) if self._source.host == "hub" else self._code_rows(commit)
        for number, remote in enumerate(rows):
            if number == MAX_FILES:
                raise ProviderUnavailable(f"{self._source.repository} holds more than {MAX_FILES:,} files")
            place = self._source.place(remote.path)
            if place is not None:
                found[_safe(place)] = remote
        if not found:
            wanted = ", ".join(self._source.wanted)
            raise ProviderUnavailable(f"{self._source.repository} at {commit[:12]} holds no {wanted}")
        return dict(sorted(found.items()))

    def _hub_rows(self, commit: str) -> Iterator[Remote]:
        repository = self._source.repository
        url = f"{self._api}/api/datasets/{repository}/tree/{commit}?recursive=true"
        for _ in range(MAX_PAGES):
            rows, url = self.requests.document(url)
            for row in self._objects(rows):
                if row.get("type") != "file":
                    continue
                path, large = str(row.get("path")), row.get("lfs") or {}
                address = f"{self._files}/datasets/{repository}/resolve/{commit}/{quote(path)}"
                # what is kept apart has its sha256; the rest has the name that git gives it
                git = "" if large else str(row.get("oid", ""))
                yield Remote(path, _whole(large.get("size", row.get("size"))), address, str(large.get("oid", "")), git)
            if not url:
                return

    def _code_rows(self, commit: str) -> Iterator[Remote]:
        repository = self._source.repository
        tree, _ = self.requests.document(f"{self._api}/repos/{repository}/git/trees/{commit}?recursive=1")
        if not isinstance(tree, dict) or tree.get("truncated"):
            raise ProviderUnavailable(f"the code host does not list all files of {repository}")
        for row in self._objects(tree.get("tree")):
            if row.get("type") != "blob":
                continue
            path = str(row.get("path"))
            address = f"{self._files}/{repository}/{commit}/{quote(path)}"
            yield Remote(path, _whole(row.get("size")), address, "", str(row.get("sha", "")))

    def _objects(self, rows: Any) -> list[Mapping[str, Any]]:
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ProviderUnavailable(f"{self._source.repository}: the answer is no list of files")
        return rows


def _whole(size: Any) -> int:
    if not isinstance(size, int) or size < 0:
        raise ProviderUnavailable(f"a size of {size!r} bytes is listed")
    return size


def _safe(place: str) -> str:
    """Return a place that stays within its folder on every system."""
    parts = PurePosixPath(place).parts
    if not parts or place.startswith("/") or any(p in (".", "..") or not _NAME.fullmatch(p) for p in parts):
        raise ProviderUnavailable(f"the place {place!r} is listed, which is none within a folder")
    return "/".join(parts)
