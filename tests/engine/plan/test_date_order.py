"""Tasks with dated tools are handed out in the order of their dates, and never two dates at once."""

from __future__ import annotations

import asyncio
import random
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.plan.build import Cell
from engine.plan.date_order import DateOrder
from evaluators.contract import Case, Score, SingleTurn, Task

DAY_1, DAY_2 = date(2012, 3, 1), date(2013, 3, 1)


def cell(number: int, day: date, servers: tuple[str, ...]) -> Cell:
    task = Task(f"t{number}", "knowledge_retrieval", "d", "c", "f", day, "?", "", servers=servers)
    return Cell(number, f"k{number}", "p", 0, Case(task, lambda: SingleTurn(task, lambda _: Score(0.0, False), "")))


def played(order: DateOrder, players: int, seed: int = 0) -> list[list[Cell]]:
    """Return, for each moment at which a task began, the tasks then open, the new one last."""
    moments: list[list[Cell]] = []
    now: list[Cell] = []
    pause = random.Random(seed)

    async def play() -> None:
        while True:
            async with order.next() as taken:
                if taken is None:
                    return
                now.append(taken)
                moments.append(list(now))
                for _ in range(pause.randrange(4)):
                    await asyncio.sleep(0)
                now.remove(taken)

    async def run() -> None:
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            for _ in range(players):
                group.create_task(play())

    asyncio.run(run())
    return moments


cells = st.lists(
    st.tuples(
        st.integers(0, 4).map(lambda n: date(2000 + n, 1, 1)),
        st.sampled_from([(), ("edgar",), ("risk",), ("options", "risk"), ("sandbox",)]),
    ),
    max_size=30,
)


@settings(max_examples=60)
@given(cells, st.integers(1, 6), st.integers(0, 99))
def test_every_task_once_and_no_dated_one_beside_or_after_a_later_one(
    drawn: list[tuple[date, tuple[str, ...]]], players: int, seed: int
) -> None:
    todo = [cell(number, day, servers) for number, (day, servers) in enumerate(drawn)]
    moments = played(DateOrder(todo), players, seed)
    assert sorted(moment[-1].position for moment in moments) == list(range(len(todo)))
    dated = {"edgar", "yfinance", "options", "trading"}
    for moment in moments:
        assert len(moment) <= players
        assert len({open_.case.task.as_of for open_ in moment if dated & set(open_.case.task.servers)}) <= 1
    begun = [moment[-1].case.task for moment in moments]
    days = [task.as_of for task in begun if dated & set(task.servers)]
    assert days == sorted(days)


def test_free_tasks_fill_the_places_beside_a_dated_one() -> None:
    todo = [cell(0, DAY_2, ("edgar",)), cell(1, DAY_1, ("edgar",)), *(cell(n, DAY_1, ()) for n in range(2, 6))]
    moments = played(DateOrder(todo), 3)
    assert [taken.position for taken in moments[2]] == [1, 2, 3]


def test_without_the_order_tasks_come_as_drawn_and_later_data_is_noticed() -> None:
    first, second = cell(0, DAY_2, ("edgar",)), cell(1, DAY_1, ("edgar",))
    order = DateOrder([first, second], strict=False)
    assert [moment[-1].position for moment in played(order, 1)] == [0, 1]
    assert order.is_after_later_data(second.case.task) and not order.is_after_later_data(first.case.task)
    assert not order.is_after_later_data(cell(2, DAY_1, ("risk",)).case.task)


def test_a_resumed_run_remembers_the_latest_date_it_has_served() -> None:
    task = cell(0, DAY_1, ("edgar",)).case.task
    assert DateOrder([], seen=DAY_2).is_after_later_data(task)
    assert not DateOrder([], seen=DAY_1).is_after_later_data(task)
