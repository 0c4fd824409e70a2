"""Requests to a host of files: patient while it is busy, clear about a refusal, going on where a file was cut short."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx

from lake.patient import ATTEMPTS, BACK_OFF_S, BUSY, MAX_WAIT_S, retry_after
from lake.point_in_time import ProviderUnavailable
from lake.published.sums import CHUNK, PART, sums

T = TypeVar("T")
TIMEOUT_S = 60.0
MAX_LISTING = 64_000_000
"""Bytes of one answer that lists files."""
MAX_PIECES = 200
"""Answers that one file may come in: a host that serves a byte at a time is not waited for."""


@dataclass(frozen=True)
class Remote:
    """A file of a repository at one commit.

    Attributes
    ----------
    path
        In the repository.
    sha256, git
        Sum of its content, and the name that git gives it; empty where the host does not say.
    """

    path: str
    size: int
    url: str
    sha256: str = ""
    git: str = ""


class Busy(Exception):
    """What a host answers while it cannot serve; ``wait`` is what it asks for, in seconds."""

    def __init__(self, said: str, wait: float = 0.0) -> None:
        super().__init__(said)
        self.wait = wait


class Requests:
    """A connection to one host.

    Parameters
    ----------
    whose
        Its name, for errors.
    refused
        What a refusal means, and what to do.
    headers
        Of every request; ``Authorization`` is sent to the host alone, not to where it redirects.
    """

    def __init__(
        self, *, whose: str, refused: str, headers: Mapping[str, str], back_off_s: float = BACK_OFF_S,
        timeout_s: float = TIMEOUT_S,
    ) -> None:  # fmt: skip
        self._whose, self._refused, self._back_off_s = whose, refused, back_off_s
        # a compressed answer cannot be resumed at a byte
        plain = {"Accept-Encoding": "identity", "User-Agent": "traderbench"}
        self._client = httpx.Client(headers=plain | dict(headers), timeout=timeout_s, follow_redirects=True)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def document(self, url: str) -> tuple[Any, str]:
        """Return an answer in JSON, and the address of its next page, or an empty string."""

        def once() -> tuple[Any, str]:
            with self._answer(url) as reply:
                content = b""
                for chunk in reply.iter_raw(CHUNK):
                    content += chunk
                    if len(content) > MAX_LISTING:
                        raise ProviderUnavailable(f"{self._whose} lists more than {MAX_LISTING:,} bytes at {url}")
                return json.loads(content), str(reply.links.get("next", {}).get("url", ""))

        return self._patiently(once, url)

    def fetch(self, remote: Remote, target: Path) -> str:
        """Write a file whole or not at all, and return its sha256; what came of an earlier try is not asked for again.

        Raises
        ------
        ProviderUnavailable
            The host refuses, is busy or away to the last attempt, or sends something else than it lists.
        """
        part = target.with_name(target.name + PART)
        target.parent.mkdir(parents=True, exist_ok=True)

        def once() -> str:
            self._continue(remote, part)
            found = sums(part)
            if fault := _fault(remote, part.stat().st_size, found):
                part.unlink()
                raise Busy(fault)
            return found[0]

        digest = self._patiently(once, remote.url, progress=lambda: _size(part))
        os.replace(part, target)
        return digest

    def _continue(self, remote: Remote, part: Path) -> None:
        have = _size(part)
        if have > remote.size:
            part.unlink()
            have = 0
        if have == remote.size and part.exists():
            return
        with self._answer(remote.url, {"Range": f"bytes={have}-"} if have else {}) as reply:
            # a host that knows no ranges answers with the whole file
            goes_on = reply.status_code == 206 and reply.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            if reply.headers.get("Content-Encoding", "identity") != "identity":
                raise ProviderUnavailable(f"{self._whose} compresses {remote.path}, though it was asked not to")
            have = have if goes_on else 0
            with part.open("ab" if goes_on else "wb") as file:
                # as it comes: pieces that are gathered first are lost where the answer is cut short
                for chunk in reply.iter_raw():
                    have += len(chunk)
                    if have > remote.size:
                        break
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
        if have > remote.size:
            part.unlink()
            raise Busy(f"{remote.path} is longer than the {remote.size:,} bytes listed")

    @contextmanager
    def _answer(self, url: str, headers: Mapping[str, str] | None = None) -> Iterator[httpx.Response]:
        with self._client.stream("GET", url, headers=dict(headers or {})) as reply:
            code = reply.status_code
            if code == 416:
                # asked for bytes behind the end: the file is another one than the part
                raise Busy("HTTP 416")
            if code in BUSY:
                raise Busy(f"HTTP {code}", retry_after(reply.headers.get("Retry-After", "")))
            if code == 403 and reply.headers.get("X-RateLimit-Remaining") == "0":
                raise ProviderUnavailable(f"{self._whose} did not give {url}: its limit of requests is used up; "
                                          "wait an hour, or give a token")  # fmt: skip
            if code in (401, 403):
                raise ProviderUnavailable(f"{self._whose} refuses {url}: HTTP {code}; {self._refused}")
            if code not in (200, 206):
                raise ProviderUnavailable(f"{self._whose} did not give {url}: HTTP {code}")
            yield reply

    def _patiently(self, once: Callable[[], T], url: str, progress: Callable[[], int] = lambda: 0) -> T:
        """Try again while the host is busy; an attempt that brought something does not count."""
        pause, said, left = self._back_off_s, "", ATTEMPTS
        for _ in range(MAX_PIECES):
            before, wait = progress(), 0.0
            try:
                return once()
            except Busy as error:
                said, wait = str(error), error.wait
            # an answer that is cut short is an error of the transport, or no JSON
            except (httpx.TransportError, httpx.TooManyRedirects, ValueError) as error:
                said = str(error) or type(error).__name__
            if progress() > before:
                continue
            left -= 1
            if not left:
                break
            time.sleep(min(max(pause, wait), MAX_WAIT_S))
            pause *= 2.0
        raise ProviderUnavailable(f"{self._whose} did not give {url} in {ATTEMPTS} attempts, at last: {said}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _fault(remote: Remote, size: int, found: tuple[str, str]) -> str:
    if size != remote.size:
        return f"{remote.path} has {size:,} bytes, {remote.size:,} are listed"
    wanted, kind = (remote.sha256, "sha256") if remote.sha256 else (remote.git, "git name")
    got = found[0] if remote.sha256 else found[1]
    return f"the {kind} of {remote.path} is {got}, {wanted} is listed" if wanted and got != wanted else ""
