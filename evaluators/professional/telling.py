"""Inputs told in the text of a task: prose, lists and tables, with what is not needed and what has been replaced.

Easy: the usual units and nothing more than is needed. Hard: other units, figures and rows that do not count. Expert:
also a figure that follows from another one, two sources that differ, and corrections of which only some are valid.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators import exhibit
from evaluators.contract import Difficulty
from evaluators.professional.figures import DECIMAL, Form, Value, bare, exact, form_of, headed, is_figure, near, written
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet

TABLES = (exhibit.aligned, exhibit.piped, exhibit.separated, exhibit.listed, exhibit.told)
OWNERS = ("book", "file", "mandate", "account")
SOURCES = (
    ("the signed agreement", "the cover e-mail"),
    ("the approved version", "the draft"),
    ("the custodian's confirmation", "the spreadsheet of the desk"),
    ("the minutes of the committee", "the slides"),
)
"""Which counts, and which does not."""
STATES = (("approved", "pending"), ("signed", "unsigned"), ("confirmed", "withdrawn"))
CHANGES = (
    "{old} as first stated, since then {moved} by {change}",
    "at first {old}, {moved} by {change} after a review",
    "{moved} by {change} from the {old} first stated",
)


class Told(NamedTuple):
    """A fact by its name and what is said of it."""

    name: str
    text: str


class Line(NamedTuple):
    """A row of a table and whether it is the assignment's."""

    cells: tuple[Value, ...]
    counts: bool = True


def tell(rng: random.Random, sheet: Sheet, difficulty: Difficulty) -> str:
    """Return the inputs as text, in drawn order and words."""
    parts = [_facts(rng, sheet, difficulty)] if sheet.facts else []
    mine, other = rng.sample([f"{letter}{number}" for letter in "ACDE" for number in range(100, 999)], 2)
    owners = rng.choice(OWNERS), mine, other
    parts += [_exhibit(rng, table, difficulty, owners) for table in sheet.exhibits]
    rng.shuffle(parts)
    return "\n\n".join(parts)


def _facts(rng: random.Random, sheet: Sheet, difficulty: Difficulty) -> str:
    traps = difficulty != "easy"
    movable = [fact for fact in sheet.facts if is_figure(fact.unit, fact.value)] if difficulty == "expert" else []
    special = rng.sample(movable, min(2, len(movable)))
    disputed, derived = special[:1], special[1:]
    sources = rng.choice(SOURCES)
    told = []
    for fact in (*sheet.facts, *(sheet.beside if traps else ())):
        form = form_of(rng, fact.unit, traps=traps)
        name = f"{rng.choice(fact.names)} ({form.heading})" if form == DECIMAL else rng.choice(fact.names)
        if fact in disputed:
            told.append(_disputed(rng, name, fact, form, sources))
        elif fact in derived:
            told.append(_derived(rng, name, fact, form))
        else:
            told.append(Told(name, written(fact.value, form)))
    rng.shuffle(told)
    text = _listed(rng, told)
    return (
        f"{text}\n\nWhere {sources[0]} and {sources[1]} differ, take the figure of {sources[0]}." if disputed else text
    )


def _disputed(rng: random.Random, name: str, fact: Fact, form: Form, sources: tuple[str, str]) -> Told:
    said = list(zip((fact.value, near(rng, fact.value)), sources, strict=True))
    rng.shuffle(said)
    return Told(name, " and ".join(f"{written(value, form)} according to {source}" for value, source in said))


def _derived(rng: random.Random, name: str, fact: Fact, form: Form) -> Told:
    old = near(rng, fact.value)
    change = exact(fact.value) - exact(old)
    # a percentage raised by a percentage could be read in two ways
    step = form._replace(after=" percentage points") if form.after == "%" else form
    moved = "raised" if change > 0 else "lowered"
    return Told(
        name, rng.choice(CHANGES).format(old=written(old, form), moved=moved, change=written(abs(change), step))
    )


def _listed(rng: random.Random, told: Sequence[Told]) -> str:
    way = rng.randrange(4)
    if way == 0:
        return "\n".join(f"- {fact.name}: {fact.text}" for fact in told)
    if way == 1:
        return " ".join(f"{_upper(fact.name)} is {fact.text}." for fact in told)
    if way == 2:
        return rng.choice(TABLES[:3])(("Item", "Figure"), [(_upper(fact.name), fact.text) for fact in told])
    return f"What is given: {'; '.join(f'{fact.name} {fact.text}' for fact in told)}."


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _exhibit(rng: random.Random, table: Exhibit, difficulty: Difficulty, owners: tuple[str, str, str]) -> str:
    traps, title = difficulty != "easy", rng.choice(table.titles)
    headings = list(table.headings)
    lines = [Line(row) for row in table.rows]
    if traps:
        headings += [heading for heading, _ in table.beside]
        lines = [Line((*row, *(cells[at] for _, cells in table.beside))) for at, row in enumerate(table.rows)]
        lines += _decoys(rng, table, headings, lines)
        rng.shuffle(lines)
    names = [rng.choice(heading.names) for heading in headings]
    forms = [form_of(rng, heading.unit, traps=traps) for heading in headings]
    notes: list[str] = []
    if difficulty == "expert":
        lines, notes = _corrected(rng, lines, headings, names, forms, len(table.headings))
    columns, rows = _laid_out(rng, headings, names, forms, lines)
    if any(not line.counts for line in lines):
        columns, rows, rule = _owned(rng, columns, rows, lines, owners)
        notes.insert(0, rule)
    return "\n\n".join([f"{_upper(title)}\n{rng.choice(TABLES)(columns, rows)}", *notes])


def _decoys(rng: random.Random, table: Exhibit, headings: Sequence[Heading], lines: Sequence[Line]) -> list[Line]:
    keys = rng.sample(table.spare, min(len(table.spare), rng.randint(2, 3)))
    found = []
    for key in keys:
        like = rng.choice(lines).cells
        cells = [
            near(rng, value) if is_figure(heading.unit, value) else value
            for heading, value in zip(headings[1:], like[1:], strict=True)
        ]
        found.append(Line((key, *cells), counts=False))
    return found


def _corrected(
    rng: random.Random,
    lines: list[Line],
    headings: Sequence[Heading],
    names: Sequence[str],
    forms: Sequence[Form],
    needed: int,
) -> tuple[list[Line], list[str]]:
    """Replace some cells by wrong ones that a valid correction mends; other corrections are not valid."""
    places = [
        (row, place)
        for row, line in enumerate(lines)
        for place, value in enumerate(line.cells)
        if line.counts and place < needed and is_figure(headings[place].unit, value)
    ]
    if not places:
        return lines, []
    valid, other = rng.choice(STATES)
    changed, notes = list(lines), []
    for number, (row, place) in enumerate(rng.sample(places, min(len(places), 4))):
        cells, wrong = list(changed[row].cells), near(rng, changed[row].cells[place])
        stated = written(cells[place] if number % 2 == 0 else wrong, forms[place])
        notes.append(f"{cells[0]}, {names[place]}: {stated} ({valid if number % 2 == 0 else other})")
        if number % 2 == 0:
            cells[place] = wrong
            changed[row] = Line(tuple(cells))
    rng.shuffle(notes)
    rule = f"Corrections to this table; one that is {valid} replaces the figure, one that is {other} does not:"
    return changed, ["\n".join([rule, *(f"- {note}" for note in notes)])]


def _laid_out(
    rng: random.Random, headings: Sequence[Heading], names: Sequence[str], forms: Sequence[Form], lines: Sequence[Line]
) -> tuple[list[str], list[list[str]]]:
    """Return headings and written cells, the columns but the first in drawn order."""
    plain = [form == DECIMAL or rng.random() < 0.5 for form in forms]
    titles = headed(names, forms, bare_cells=plain)
    order = [0, *rng.sample(range(1, len(headings)), len(headings) - 1)]
    rows = [
        [bare(line.cells[p], forms[p]) if plain[p] else written(line.cells[p], forms[p]) for p in order]
        for line in lines
    ]
    return [titles[place] for place in order], rows


def _owned(
    rng: random.Random, columns: list[str], rows: list[list[str]], lines: Sequence[Line], owners: tuple[str, str, str]
) -> tuple[list[str], list[list[str]], str]:
    """Add the column that tells whose each row is, and the sentence that says which count."""
    name, mine, other = owners
    place = rng.randint(1, len(columns))
    told = [[*row[:place], mine if line.counts else other, *row[place:]] for row, line in zip(rows, lines, strict=True)]
    return (
        [*columns[:place], name, *columns[place:]],
        told,
        f"Only what belongs to {name} {mine} is of this assignment.",
    )
