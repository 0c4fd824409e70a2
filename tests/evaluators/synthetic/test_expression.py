"""The language of formulas: it computes what Python computes and nothing else is reachable from it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.synthetic import expression

NAMES = {"a": 3.7, "b": -1.25, "tax_rate": 0.3}

leaves = st.sampled_from(["a", "b", "tax_rate", "2", "0.5", ".25", "1e2"])
formulas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda text: f"-{text}"),
        inner.map(lambda text: f"abs({text})"),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
        inner.map(lambda text: f"({text})^2"),
    ),
    max_leaves=12,
)


@given(formulas)
def test_a_formula_has_the_value_that_python_gives_it(text):
    try:
        wanted = eval(text.replace("^", "**"), {"abs": abs, "max": max}, dict(NAMES))
    except (ZeroDivisionError, OverflowError):
        with pytest.raises(ValueError, match="no value"):
            expression.parse(text).value(NAMES)
        return
    assert expression.parse(text).value(NAMES) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("2**-1", 0.5),
        ("1 - 2 - 3", -4.0),
        ("8 / 4 / 2", 1.0),
        ("roe = a*2", 7.4),
        ("exp(ln(a))", 3.7),
        ("[a + {1}] × 2", 9.4),
        ("sqrt(a^2)", 3.7),
    ],
)
def test_precedence_and_spelling(text, value):
    assert expression.parse(text).value(NAMES) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a b",
        "a +",
        "(a",
        "a)",
        "a.b",
        "a[0]",
        "'a'",
        "lambda: a",
        "open(a)",
        "abs()",
        "abs(a, b)",
        "max(a)",
        "a == b",
        "a if b else a",
        "a; b",
        "@",
        "(" * 100 + "a" + ")" * 100,
        "-" * 100 + "a",
        "a" * 601,
    ],
)
def test_anything_else_is_refused_with_a_reason(text):
    with pytest.raises(ValueError, match=r"formula|function"):
        expression.parse(text)


@pytest.mark.parametrize("text", ["1/0", "(-8)^0.5", "exp(1000)", "9^9^9", "ln(0)", "1e999", "c"])
def test_a_formula_without_a_finite_value_says_so(text):
    with pytest.raises(ValueError, match=r"value|unknown name"):
        expression.parse(text).value(NAMES)


@given(st.text(max_size=80))
def test_no_text_can_raise_anything_but_a_value_error(text):
    try:
        assert math.isfinite(expression.parse(text).value(NAMES))
    except ValueError:
        pass


def test_definitions_use_each_other_but_not_in_a_circle():
    formulas = {"x": expression.parse("y + a"), "y": expression.parse("2*b"), "loop": expression.parse("loop + 1")}
    assert expression.resolve(formulas, "x", NAMES) == pytest.approx(1.2)
    with pytest.raises(ValueError, match="defined by itself"):
        expression.resolve(formulas, "loop", NAMES)
    with pytest.raises(ValueError, match="neither an input nor defined"):
        expression.resolve({"x": expression.parse("z")}, "x", NAMES)


def test_an_input_cannot_be_redefined():
    assert expression.resolve({"a": expression.parse("100"), "x": expression.parse("a")}, "x", NAMES) == 3.7
