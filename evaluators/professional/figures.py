"""A figure as it is written: in its own unit, or in another one that it has to be brought back from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias

Unit: TypeAlias = Literal["text", "number", "dollars", "price", "millions", "fraction", "basis points"]
"""What a value is stored in: ``price`` in dollars a piece, ``millions`` of dollars, ``fraction`` (4% is 0.04)."""
Value: TypeAlias = str | int | float


class Form(NamedTuple):
    """A way to write a unit: the decimal point is moved by ``shift`` digits; ``heading`` names it above a column."""

    shift: int = 0
    before: str = ""
    after: str = ""
    heading: str = ""


PLAIN = Form()
DECIMAL = Form(0, "", "", "as a decimal")
"""Has no sign of its own, and is named wherever it is used."""
FORMS: dict[Unit, tuple[Form, ...]] = {
    "text": (PLAIN,),
    "number": (PLAIN,),
    "dollars": (
        Form(0, "$", "", "$"),
        Form(-3, "$", " thousand", "$ thousand"),
        Form(-6, "$", " million", "$ million"),
    ),
    "price": (Form(0, "$", "", "$"), Form(2, "", " cents", "cents")),
    "millions": (
        Form(0, "$", " million", "$ million"),
        Form(3, "$", " thousand", "$ thousand"),
        Form(-3, "$", " billion", "$ billion"),
    ),
    "fraction": (
        Form(2, "", "%", "%"),
        DECIMAL,
        Form(4, "", " basis points", "basis points"),
    ),
    "basis points": (Form(0, "", " basis points", "basis points"), Form(-2, "", "%", "%")),
}
"""The usual form of each unit first; then those it has to be brought back from."""


def exact(value: Value) -> Decimal:
    """Return the number as it is printed, without the digits that binary arithmetic would add."""
    return Decimal(str(value))


def form_of(rng: random.Random, unit: Unit, *, traps: bool) -> Form:
    """Return the usual form, or any with ``traps``."""
    return rng.choice(FORMS[unit]) if traps else FORMS[unit][0]


def bare(value: Value | Decimal, form: Form) -> str:
    """Return the digits alone, all of them."""
    if isinstance(value, str):
        return value
    number = (value if isinstance(value, Decimal) else exact(value)).scaleb(form.shift).normalize()
    cents = form.heading == "$" and number.as_tuple().exponent == -1
    return f"{number:,.2f}" if cents else f"{number:,f}"


def written(value: Value | Decimal, form: Form) -> str:
    """Return the digits with their unit."""
    digits = bare(value, form)
    sign = "-" if form.before and digits.startswith("-") else ""
    return f"{sign}{form.before}{digits.removeprefix(sign)}{form.after}"


def near(rng: random.Random, value: Value) -> int | float:
    """Return another number of the same size, sign and digits."""
    number = exact(value).normalize()
    step = Decimal((0, (1,), int(number.as_tuple().exponent)))
    steps = int(abs(number) / step)
    away = max(1, round(steps * rng.uniform(0.04, 0.2)))
    moved = steps + away if steps <= away or rng.random() < 0.5 else steps - away
    found = moved * step * (-1 if number < 0 else 1)
    return int(found) if isinstance(value, int) else float(found)


def is_figure(unit: Unit, value: Value) -> bool:
    """Return whether it is a number that can be moved: neither a word nor nothing."""
    return unit != "text" and not isinstance(value, str) and value != 0


def headed(names: Sequence[str], forms: Sequence[Form], *, bare_cells: Sequence[bool]) -> list[str]:
    """Return the headings of columns, with the unit where the cells below have none."""
    return [
        f"{name} ({form.heading})" if plain and form.heading else name
        for name, form, plain in zip(names, forms, bare_cells, strict=True)
    ]
