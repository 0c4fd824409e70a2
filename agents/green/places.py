"""Places for the assessments that run at once; the others wait their turn and are told where they stand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager


class Places:
    """A number of places, taken in the order of arrival.

    Parameters
    ----------
    number
        How many there are.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        # who came first stands first, so that the holders of the places are the first of them
        self._line: list[asyncio.Event] = []

    @asynccontextmanager
    async def one(self, tell: Callable[[str], Awaitable[None]]) -> AsyncIterator[None]:
        """Hold a place while the block runs; while there is none, tell the place in the queue whenever it changes."""
        moved = asyncio.Event()
        self._line.append(moved)
        try:
            told = 0
            while True:
                moved.clear()
                place = self._line.index(moved) - self._number + 1
                if place <= 0:
                    break
                if place != told:
                    told = place
                    await tell(f"waiting for a place: number {place} in the queue, {self._number} under way")
                await moved.wait()
            yield
        finally:
            self._line.remove(moved)
            for other in self._line:
                other.set()
