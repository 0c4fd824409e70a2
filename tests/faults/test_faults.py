"""The fast part of the list of faults; ``python -m tests.faults`` plays all of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults import agent_faults
from tests.faults.campaign import Row, fault_free, play
from tests.faults.faults import FAULTS
from tests.faults.scene import FaultFree

pytestmark = pytest.mark.campaign

FAST = ("blob-flipped", "blob-emptied", "ledger-flipped", "ledger-cut", "manifest-cut")
ON_THE_WIRE = ("agent-resets", "json-nan", "body-gigabyte", "text-surrogate", "reply-foreign-task")


@pytest.fixture(scope="module")
def calm() -> Iterator[FaultFree]:
    with fault_free("serial") as found:
        yield found


def rows(calm: FaultFree, names: tuple[str, ...]) -> list[Row]:
    return list(play([fault for fault in FAULTS if fault.name in names], calm))


def test_names_are_unique_and_half_of_the_tasks_can_be_hit(calm: FaultFree) -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) > 31
    assert len(agent_faults.half_of(calm)) >= 6


@pytest.mark.parametrize("names", [ON_THE_WIRE, FAST], ids=["agent", "store"])
def test_a_run_with_a_fault_shows_what_is_expected(names: tuple[str, ...], calm: FaultFree) -> None:
    found = rows(calm, names)
    assert len(found) == len(names)
    assert [str(row) for row in found if row.outcome != "as expected"] == []
