"""Typed answers: one strict JSON object, or a reason."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluators.answers import Refusal, number_field, parse_json_object

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "text",
    [
        '{"delta": 0.5}',
        ' \n{"delta": 0.5}\n ',
        '```json\n{"delta": 0.5}\n```',
        'The position is long.\n```\n{"delta": 0.5}\n```\nDone.',
        'My answer is {"delta": 0.5}, as computed.',
        '{"delta": 0.5}\nI hope this helps.',
        'First {"delta": 0.5} and again {"delta": 0.5}',
    ],
)
def test_one_object_is_found_wherever_it_stands(text: str) -> None:
    assert parse_json_object(text) == {"delta": 0.5}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no JSON object"),
        ("[1, 2]", "no JSON object"),
        ("0.5", "no JSON object"),
        ('{"delta": 0.5', "invalid JSON"),
        ('{"delta": 0.5, "delta": 0.6}', "duplicate key 'delta'"),
        ('{"legs": [{"strike": 1, "strike": 2}]}', "duplicate key 'strike'"),
        ('{"delta": NaN}', "NaN is no JSON number"),
        ('{"delta": -Infinity}', "Infinity is no JSON number"),
        ('{"delta": 1e999}', "out of range"),
        ('{"delta": ' + "9" * 5000 + "}", "out of range"),
        ('{"note": "\\ud800"}', "surrogate"),
        ('{"a":' * 17 + "1" + "}" * 17, "nested deeper"),
        ('{"a":' * 100_000, "characters|nested deeper"),
        ("{'delta': 0.5}", "invalid JSON"),
        ('{"delta": 0.5} or {"delta": 0.6}', "2 different JSON objects"),
        ('Either {"delta": 0.5} or {"delta": 0.6}', "2 different JSON objects"),
        ('{"delta": "' + "x" * 200_000 + '"}', "characters"),
    ],
)
def test_what_is_not_one_strict_object_is_refused_with_the_reason(text: str, reason: str) -> None:
    refusal = parse_json_object(text)
    assert isinstance(refusal, Refusal)
    assert re.search(reason, refusal.reason), refusal.reason


def test_a_number_field_is_a_finite_json_number_and_nothing_else() -> None:
    document = {"a": 1, "b": 2.5, "c": True, "d": "3", "e": None, "f": 10**400}
    assert number_field(document, "a") == 1.0
    assert number_field(document, "b") == 2.5
    for name in ("c", "d", "e", "f", "missing"):
        assert isinstance(number_field(document, name), Refusal)


@given(st.dictionaries(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=8), JSON_VALUES, max_size=5))
@settings(max_examples=100)
def test_every_honest_object_reads_back_as_itself(document: dict[str, object]) -> None:
    assert parse_json_object(json.dumps(document)) == json.loads(json.dumps(document))


@given(st.text(alphabet='{}[]":,.0123456789eE-+\\untrlfas \n`', max_size=200))
@settings(max_examples=300)
def test_no_text_makes_the_parser_raise(text: str) -> None:
    assert isinstance(parse_json_object(text), dict | Refusal)
