"""Memory and descriptors of a process over the time of its life."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

PAUSE_S = 0.5
MEBIBYTE = 2**20
GROWTH = 1.10
"""How much more the last quarter may take than the second; the first one is still loading."""


@dataclass(frozen=True)
class Sample:
    """One look at a process: how many cells were done, its resident memory in MiB, its open descriptors."""

    done: int
    memory_mib: float
    descriptors: int


class Sampler:
    """Looks at a process until it ends; ``done`` tells how far the run is."""

    def __init__(self, pid: int, done: Callable[[], int]) -> None:
        self.samples: list[Sample] = []
        self._place, self._done = Path(f"/proc/{pid}"), done
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ended.wait(PAUSE_S):
            try:
                pages = int((self._place / "statm").read_text().split()[1])
                open_ones = len(os.listdir(self._place / "fd"))
            except (OSError, IndexError):
                return
            self.samples.append(Sample(self._done(), pages * os.sysconf("SC_PAGESIZE") / MEBIBYTE, open_ones))

    def end(self) -> Sequence[Sample]:
        """Stop looking; return what was seen."""
        self._ended.set()
        self._thread.join()
        return self.samples


def quarter(samples: Sequence[Sample], number: int, total: int) -> list[Sample]:
    """Return the samples of the ``number``-th quarter of the cells, while any were under way."""
    return [each for each in samples if (number - 1) * total <= 4 * each.done < number * total and each.done]


def told(samples: Sequence[Sample], total: int) -> tuple[str, bool]:
    """Return a line about growth, and whether there was none worth the name."""
    second, last = quarter(samples, 2, total), quarter(samples, 4, total)
    if not second or not last:
        return "too few samples to speak of growth", True
    memory = [max(each.memory_mib for each in some) for some in (second, last)]
    descriptors = [max(each.descriptors for each in some) for some in (second, last)]
    flat = memory[1] <= GROWTH * memory[0] and descriptors[1] <= GROWTH * descriptors[0]
    peak = max(each.memory_mib for each in samples)
    line = (
        f"harness: peak {peak:.0f} MiB; second quarter {memory[0]:.0f} MiB and {descriptors[0]} descriptors, "
        f"last {memory[1]:.0f} MiB and {descriptors[1]} ({'flat' if flat else 'GROWING'})"
    )
    return line, flat
