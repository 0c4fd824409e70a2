"""Standard streams that a command can rely on: none is closed, standard error never fails, results stand alone."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from typing_extensions import Buffer

OUT, ERRORS = 1, 2
_results: TextIO | None = None


def results() -> TextIO:
    """Return where the result of a command goes."""
    return _results or sys.stdout


def tell(line: str) -> None:
    """Print a line of progress on standard error."""
    print(line, file=sys.stderr, flush=True)


class _Forgiving(io.FileIO):
    """A stream of remarks: what cannot be written is lost, and the work goes on."""

    def write(self, text: Buffer, /) -> int:
        try:
            return super().write(text)
        except OSError:
            return memoryview(text).nbytes


@contextlib.contextmanager
def reliable() -> Iterator[None]:
    """Run the body with all three streams open, and with a standard error that a full disk does not break.

    A file of the run must not be opened in the place of a closed stream: whatever prints would print into it.
    """
    for number in (0, OUT, ERRORS):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    before = sys.stderr
    if before is None or _number(before) == ERRORS:
        encoding = "utf-8" if before is None else before.encoding
        sys.stderr = io.TextIOWrapper(
            _Forgiving(ERRORS, "w", closefd=False), encoding=encoding, errors="backslashreplace", write_through=True
        )
    try:
        yield
    finally:
        sys.stderr = before


@contextlib.contextmanager
def results_alone() -> Iterator[None]:
    """Send to standard error whatever is printed in the body, by child processes and libraries too, but results."""
    global _results
    before = sys.stdout
    sys.stdout = sys.stderr
    try:
        if before is None or _number(before) != OUT:
            _results = before
            yield
            return
        before.flush()
        kept = os.dup(OUT)
        os.dup2(ERRORS, OUT)
        try:
            with open(kept, "w", encoding=before.encoding, errors=before.errors, closefd=False) as _results:
                yield
        finally:
            os.dup2(kept, OUT)
            os.close(kept)
    finally:
        sys.stdout, _results = before, None


def _number(stream: TextIO) -> int | None:
    """Return the descriptor of a stream, or None for one that is no file."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
