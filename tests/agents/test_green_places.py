"""The queue of the evaluator: in the order of arrival, and everybody is told where he stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Any


def test_places_are_taken_in_the_order_of_arrival_and_a_leaver_moves_the_others(
    program: Callable[[str, str], ModuleType],
) -> None:
    places = program("green", "places").Places(2)
    started: list[int] = []
    told: dict[int, list[str]] = {}

    async def hold(number: int, done: asyncio.Event) -> None:
        async def tell(text: str) -> None:
            told.setdefault(number, []).append(text)
            # a slow listener: what changes meanwhile is not missed
            await asyncio.sleep(0.001)

        async with places.one(tell):
            started.append(number)
            await done.wait()

    async def run() -> list[Any]:
        done = [asyncio.Event() for _ in range(6)]
        tasks = [asyncio.create_task(hold(number, done[number])) for number in range(6)]
        await asyncio.sleep(0.02)
        seen: list[Any] = [list(started)]
        tasks[3].cancel()
        await asyncio.sleep(0.02)
        seen.append(list(started))
        done[1].set()
        tasks[0].cancel()
        await asyncio.sleep(0.02)
        seen.append(list(started))
        done[2].set()
        await asyncio.sleep(0.02)
        seen.append(list(started))
        for event in done:
            event.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        return seen

    assert asyncio.run(run()) == [[0, 1], [0, 1], [0, 1, 2, 4], [0, 1, 2, 4, 5]]
    assert told.keys() == {2, 3, 4, 5}
    assert told[2] == ["waiting for a place: number 1 in the queue, 2 under way"]
    assert [text.split()[5] for text in told[4]] == ["3", "2"]
    assert [text.split()[5] for text in told[5]][:2] == ["4", "3"] and told[5][-1].split()[5] == "1"
