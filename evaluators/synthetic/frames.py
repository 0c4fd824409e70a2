"""What stands around setting, figures and question: mails, memos, exercises, files of several notes."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evaluators import names

_USUAL = (
    "{setting}\n\n{exhibit}\n\n{ask}",
    "{ask}\n\n{setting} {person} has put the figures together.\n\n{exhibit}",
    "{person} of {firm} writes: {setting}\n\nAttached:\n\n{exhibit}\n\n{ask}",
    "Memo, {firm}\n\n{ask} Background: {setting}\n\n{exhibit}",
    "From the files of {firm}:\n\n{exhibit}\n\n{setting} {ask}",
)
_HELD_BACK = (
    "The board of {firm} wants one number by tonight. {ask} This is all there is:\n\n{exhibit}\n\nHow it is to be "
    "understood: {setting}",
    "Exercise from a course of {person}. {setting}\n\n{exhibit}\n\nTask: {ask}",
)
_DOCUMENTS = (
    "{person} has left you the file on {firm}.\n\n{notes}\n\n{ask}",
    "{ask} What you need is somewhere in the notes of {firm} below.\n\n{notes}",
    "File of {firm}, in no order\n\n{notes}\n\n{person} asks: {ask}",
    "{notes}\n\nAll of this is about {firm}. {ask}",
    "{firm}, data room. {person}'s question is this. {ask}\n\n{notes}",
)
_DOCUMENTS_HELD_BACK = (
    "The partner at {firm} has no time to read this, so you do.\n\n{notes}\n\nReport one figure. {ask}",
    "Before the call with {firm}: {ask}\n\nYour predecessor {person} kept these records.\n\n{notes}",
)
_LINKS = (
    "No source gives {label}: it is the {meaning}, as another note lets you find it.",
    "For {label}, take the {meaning}; it follows from another note.",
    "{person} left {label} blank, as it equals the {meaning} elsewhere in the file.",
)
_LINKS_HELD_BACK = ("Work out the {meaning} first: here it serves as {label}.",)
_OPEN = (
    "Nobody could tell {label}; comparable cases lie {range}, and you have to assume a value.",
    "For {label} the file holds nothing. Practitioners use something {range}; choose.",
    "{person} never learnt {label} and thinks it {range}. An assumption will do if it is stated.",
)
_OPEN_HELD_BACK = ("What {label} is remains anybody's guess, {range}; make yours.",)


def one(rng: random.Random, *, held_back: bool) -> str:
    """Return the frame of a question with one exhibit."""
    return rng.choice(_HELD_BACK if held_back else _USUAL)


def fill(rng: random.Random, frame: str, *, setting: str, exhibit: str, ask: str, firm: str = "") -> str:
    """Return the question."""
    person, firm = names.people(rng, 1)[0], firm or names.company(rng)
    return frame.format(setting=setting, exhibit=exhibit, ask=ask, person=person, firm=firm)


def note(rng: random.Random, setting: str, table: str, remarks: Sequence[str]) -> str:
    """Return one note of a file."""
    return "\n".join(part for part in (setting, table, " ".join(remarks)) if part)


def document(rng: random.Random, firm: str, notes: Sequence[str], ask: str, *, held_back: bool) -> str:
    """Return a file of notes, in no order, and the question."""
    mixed = rng.sample(list(notes), len(notes))
    marks = rng.choice(
        (("Note I", "Note II", "Note III"), ("First sheet", "Second sheet", "Third sheet"), ("(i)", "(ii)", "(iii)"))
    )
    text = "\n\n".join(f"{mark}. {part}" for mark, part in zip(marks, mixed, strict=False))
    frame = rng.choice(_DOCUMENTS_HELD_BACK if held_back else _DOCUMENTS)
    return frame.format(firm=firm, notes=text, ask=ask, person=names.people(rng, 1)[0])


def link(rng: random.Random, label: str, meaning: str, *, held_back: bool) -> str:
    """Return the sentence that says which figure of another note an input is."""
    text = rng.choice(_LINKS_HELD_BACK if held_back else _LINKS)
    return text.format(label=label, meaning=meaning, person=names.people(rng, 1)[0])


def left_open(rng: random.Random, label: str, between: str, *, held_back: bool) -> str:
    """Return the sentence that leaves an input to an assumption."""
    text = rng.choice(_OPEN_HELD_BACK if held_back else _OPEN)
    return text.format(label=label, range=between, person=names.people(rng, 1)[0])
