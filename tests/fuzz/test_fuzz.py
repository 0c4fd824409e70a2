"""Right numbers or clear errors from every public function; ``python -m tests.fuzz 200000`` plays longer."""

from __future__ import annotations

import pytest

from tests.fuzz.cases import CASES, public_functions
from tests.fuzz.play import CLEAR, RIGHT, play

CALLS = 8_000


def test_every_public_function_is_under_fuzz() -> None:
    assert {case.name for case in CASES} == public_functions()


@pytest.mark.campaign
def test_no_call_gives_a_silent_wrong_number_or_an_unclear_error() -> None:
    tally = play(CASES, CALLS, seed=20261122, short=True)
    assert tally.faults == []
    assert tally.total(RIGHT) > CALLS // 4 and tally.total(CLEAR) > CALLS // 4
