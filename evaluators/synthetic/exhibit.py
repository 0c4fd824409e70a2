"""How a question shows its figures: beside their names, apart from them, and beside others that are of no use."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from evaluators import exhibit, names
from evaluators.synthetic.disguise import Row, rounded
from evaluators.synthetic.template import show

COMPARED = 3
"""Inputs of an easy question, at least, that stand beside the same figure of another case."""
_LETTERS = "ABCDEFGHJKLMNPRSTUVW"
_COLOURS = ("red", "blue", "green", "amber", "grey", "violet", "white", "black", "pink", "brown", "teal", "ochre")


def apart(rng: random.Random, rows: Sequence[Row], *, held_back: bool) -> str:
    """Return figures that stand apart from their names, so that the words around a number do not tell what it is."""
    mixed = rng.sample(list(rows), len(rows))
    return rng.choice(_HELD_BACK if held_back else _USUAL)(rng, mixed)


def compared(rng: random.Random, rows: Sequence[Row]) -> list[Row]:
    """Return the rows and, of some, the same of another case, so that no unit tells which input a figure is."""
    units = [_unit(row) for row in rows]
    alone = [row for row, unit in zip(rows, units, strict=True) if units.count(unit) == 1]
    rest = [row for row in rows if row not in alone]
    doubled = [*alone, *rng.sample(rest, min(len(rest), max(0, COMPARED - len(alone))))]
    beside = rng.choice(("(another case)", "(a rival)", "(last year)", "(another department)"))
    return [*rows, *(replace(row, label=f"{row.label} {beside}", value=_another(rng, row.value)) for row in doubled)]


def _unit(row: Row) -> str:
    return "%" if row.shown.endswith("%") else "$" if "$" in row.shown else ""


def _and(parts: Sequence[str], glue: str = ", ") -> str:
    return parts[0] if len(parts) == 1 else f"{glue.join(parts[:-1])} and {parts[-1]}"


def _in_this_order(rng: random.Random, rows: list[Row]) -> str:
    opening = rng.choice(("Given are", "We know", "The sheet names", "On file are"))
    closing = rng.choice(("in this order", "respectively", "one after the other", "in the same order"))
    return f"{opening} {_and([row.label for row in rows])}: {closing} {_and([row.shown for row in rows])}."


def _headed(rng: random.Random, rows: list[Row]) -> str:
    return rng.choice((exhibit.piped, exhibit.separated))([row.label for row in rows], [[row.shown for row in rows]])


def _lettered(rng: random.Random, rows: list[Row]) -> str:
    letters = rng.sample(_LETTERS, len(rows))
    key = [f"{letter} is {row.label}" for letter, row in zip(letters, rows, strict=True)]
    figures = [f"{letter} = {row.shown}" for letter, row in zip(letters, rows, strict=True)]
    return f"{'; '.join(key)}. {'; '.join(rng.sample(figures, len(figures)))}."


def _footnoted(rng: random.Random, rows: list[Row]) -> str:
    marks = rng.sample("abcdefghkmnpqrstuvwxyz", len(rows))
    text = _and([f"{row.label} ({mark})" for mark, row in zip(marks, rows, strict=True)])
    notes = [f"({mark}) {row.shown}" for mark, row in zip(marks, rows, strict=True)]
    return f"It takes {text}.\n" + "\n".join(rng.sample(notes, len(notes)))


def _backwards(rng: random.Random, rows: list[Row]) -> str:
    labels = _and([row.label for row in rows])
    return f"Named are {labels}; from the last of these to the first: {'; '.join(row.shown for row in rows[::-1])}."


def _columns(rng: random.Random, rows: list[Row]) -> str:
    left, right = " / ".join(row.label for row in rows), " / ".join(row.shown for row in rows)
    return f"Left column, from top to bottom: {left}\nRight column, from top to bottom: {right}"


def _coloured(rng: random.Random, rows: list[Row]) -> str:
    colours = rng.sample(_COLOURS, len(rows))
    key = [f"{colour} marks {row.label}" for colour, row in zip(colours, rows, strict=True)]
    figures = [f"{row.shown} in {colour}" for colour, row in zip(colours, rows, strict=True)]
    return f"On the slide, {_and(key)}. It shows {_and(rng.sample(figures, len(figures)))}."


_Form = Callable[[random.Random, list[Row]], str]
_USUAL: tuple[_Form, ...] = (_in_this_order, _headed, _lettered, _footnoted, _backwards)
_HELD_BACK: tuple[_Form, ...] = (_columns, _coloured)


def table(rng: random.Random, rows: Sequence[Row], *, held_back: bool, firm: str) -> str:
    """Return figures in a table with a column that does not count and rows that nobody needs, and what counts."""
    own, other, rule = _two_columns(rng, firm, held_back=held_back)
    rows, note = _scaled(rng, [*rows, *rng.sample(_unneeded(rng, firm), rng.randint(1, 2))])
    cells = []
    turned = rng.random() < 0.5
    for row in rng.sample(rows, len(rows)):
        pair = [row.shown, row.write(_another(rng, row.value))]
        cells.append([row.label, *(pair[::-1] if turned else pair)])
    shown = exhibit.show(rng, ["", *((other, own) if turned else (own, other))], cells)
    return f"{shown}\n{rule}{note}"


def _two_columns(rng: random.Random, firm: str, *, held_back: bool) -> tuple[str, str, str]:
    year, sister = rng.randint(2012, 2024), names.company(rng)
    if held_back:
        return "amended filing", "filing as made", "The amended filing holds."
    return rng.choice(
        (
            (str(year), str(year - 1), f"The question is about {year}."),
            (str(year), str(year + 1), f"The question is about {year}; the rest is a forecast."),
            (firm, sister, f"The question is about {firm}, not about its sister company {sister}."),
            ("as audited", "as planned", "What was planned is of no use here."),
        )
    )


def _unneeded(rng: random.Random, firm: str) -> list[Row]:
    fee = float(rng.randrange(210_000, 4_900_000, 10_000))
    return [
        Row("fee of the auditors", fee, lambda value: show(value, "usd"), True),
        Row("people employed", float(rng.randint(210, 48_000)), lambda value: f"{value:,.0f}"),
        Row("rise of consumer prices", rng.randint(11, 79) / 1000, lambda value: show(value, "percent")),
        Row("share of the board that is independent", rng.randint(31, 94) / 100, lambda value: show(value, "percent")),
        Row("rent of the head office", fee * 0.37 // 1000 * 1000, lambda value: show(value, "usd"), True),
    ]


def _scaled(rng: random.Random, rows: list[Row]) -> tuple[list[Row], str]:
    """Return the rows with sums of money in thousands or millions, where all of them are large, and what says so."""
    sums = [abs(row.value) for row in rows if row.is_sum]
    scale, word = rng.choice(((1e3, "thousands"), (1e6, "millions")))
    if min(sums, default=0.0) < 10 * scale or rng.random() < 0.3:
        return rows, ""

    def write(value: float) -> str:
        digits = f"{value / scale:,.6f}".rstrip("0").rstrip(".")
        return digits

    note = f" Sums of money without a dollar sign are in {word} of dollars."
    return [replace(row, write=write) if row.is_sum else row for row in rows], note


def _another(rng: random.Random, value: float) -> float:
    """Return what stands in the column that does not count."""
    if value * 4 == int(value * 4) and 1 <= value < 100:
        return value + rng.choice((1.0, 2.0))
    other = rounded(value * (1 + rng.choice((-1, 1)) * rng.uniform(0.06, 0.4)), 3)
    return other if abs(value) > 1 or abs(other) < 1 else rounded(value * 0.8, 3)


def corrected(rng: random.Random, row: Row, *, held_back: bool) -> tuple[Row, str]:
    """Return the row as an outdated source has it, and the sentence that says what holds instead."""
    stale = _another(rng, row.value)
    person, month = names.people(rng, 1)[0], rng.choice(("March", "May", "September", "November"))
    true, label = row.shown, row.label
    text = rng.choice(_CORRECTIONS_HELD_BACK if held_back else _CORRECTIONS)
    sentence = text.format(label=label, true=true, stale=row.write(stale), person=person, month=month)
    return replace(row, value=stale), sentence


def doubted(rng: random.Random, row: Row, *, held_back: bool) -> str:
    """Return a sentence with another figure that does not hold, beside the row, which does."""
    text = rng.choice(_DOUBTS_HELD_BACK if held_back else _DOUBTS)
    return text.format(label=row.label, stale=row.write(_another(rng, row.value)), person=names.people(rng, 1)[0])


_CORRECTIONS = (
    "Restated in {month}: {label} now reads {true}, which replaces the figure above.",
    "{person} sent an erratum. For {label}, read {true}; the sheet was printed before.",
    "The sheet is the draft. The signed version differs from it in {label}, with {true}, and is the one that binds.",
    "Two sources disagree on {label}: {stale} in the sheet, {true} in the later memo that supersedes it.",
)
_CORRECTIONS_HELD_BACK = (
    "A recount in {month} found {true} for {label}; all parties have accepted it in place of what the sheet says.",
    "{person} withdrew the sheet's figure for {label} and vouches for {true} instead.",
)
_DOUBTS = (
    "An older mail of {person} still has {stale} for {label}; the sheet is more recent and holds.",
    "{person} had guessed {stale} for {label} before the sheet was made.",
    "The press wrote of {stale} for {label}, which the firm denied: the sheet is right.",
)
_DOUBTS_HELD_BACK = ("A blog puts {label} at {stale}. Nobody at the firm would sign that; they signed the sheet.",)
