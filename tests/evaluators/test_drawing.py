"""Streams, rotations and options of the datasets that draw."""

from __future__ import annotations

import gc

import pytest

from evaluators.drawing import chosen, rotation, stream, task_id, without_collection

ITEMS = tuple("abcde")


def test_a_stream_is_named_by_all_its_parts() -> None:
    assert stream("d", 1, "x").random() == stream("d", 1, "x").random()
    assert stream("d", 1, "x").random() != stream("d", 1, "y").random()
    assert stream("d1", "x").random() != stream("d", "1x").random()


def test_a_stream_is_the_same_on_every_platform_and_version() -> None:
    """Pinned, because every drawn task hangs on it."""
    assert round(stream("pinned", 1).random(), 12) == 0.851986225988


def test_every_block_of_a_rotation_holds_every_item_once() -> None:
    for block in range(4):
        drawn = [rotation(ITEMS, index=5 * block + place, name=("d", 7)) for place in range(5)]
        assert sorted(drawn) == sorted(ITEMS)
    orders = {tuple(rotation(ITEMS, index=place, name=("d", seed)) for place in range(5)) for seed in range(20)}
    assert len(orders) > 10


def test_a_task_id_shows_what_it_is_told_to_and_differs_by_every_part() -> None:
    first = task_id("d", "1.0", 7, "margin", 3, show=(0, 3))
    assert first.startswith("d-margin-") and len(first) == len("d-margin-") + 10
    assert first != task_id("d", "1.0", 8, "margin", 3, show=(0, 3))


def test_the_values_of_a_list_option_are_those_allowed_in_their_order() -> None:
    assert chosen("languages", None, ("en", "cn")) == ("en", "cn")
    assert chosen("languages", ["cn", "en"], ("en", "cn")) == ("en", "cn")
    with pytest.raises(ValueError, match="languages: unknown value 'fr'; allowed: en, cn"):
        chosen("languages", ["fr"], ("en", "cn"))
    with pytest.raises(ValueError, match="must be a non-empty list"):
        chosen("languages", [], ("en", "cn"))


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_is_afterwards_what_it_was_before(on: bool) -> None:
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        with pytest.raises(ValueError, match="inside"), without_collection():
            assert not gc.isenabled()
            raise ValueError("inside")
        assert gc.isenabled() == on
    finally:
        (gc.enable if was_on else gc.disable)()
