"""A memo deliverable: heading, sections, key figures and a conclusion that follows from them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date

from evaluators.answers import Kind, Refusal, Tolerance, numbers_match, read_number
from evaluators.professional.marks import Mark

SECTIONS = ("Summary", "Key figures", "Assumptions", "Conclusion")
SENDER = "Analyst"
MIN_WORDS, MAX_WORDS = 80, 400
MIN_SECTION_WORDS = 12
EXACT = Tolerance(relative=0.0)
"""For counts."""

_PLACEHOLDER = re.compile(
    r"\b(?:tbd|tba|xxx+|lorem|ipsum|insert|placeholder|to\s+be\s+(?:completed|determined|filled))\b|\[[^\]\n]{0,80}\]|<[^>\n]{0,80}>"
    r"|\.\.\.\.|…",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Figure:
    """A figure that the memo has to state beside its label.

    Attributes
    ----------
    value
        In full units; a percentage as a fraction.
    size
        Whether the size of a loss or cost is asked for, as a positive number.
    meaning
        Definition for the task text; empty when the label says it all.
    """

    label: str
    value: float
    kind: Kind
    meaning: str = ""
    tolerance: Tolerance = field(default_factory=lambda: Tolerance(relative=0.005))
    unit: str = ""
    size: bool = False

    def write(self) -> str:
        """Return the figure as an analyst would write it."""
        if self.kind == "percent":
            return f"{100 * self.value:.3f}%"
        sign, size = "-" if self.value < 0 else "", abs(self.value)
        if self.kind == "currency":
            return f"{sign}${size:,.2f}"
        return f"{sign}{size:,.4f}".rstrip("0").rstrip(".")

    def right(self, text: str) -> bool:
        """Return whether ``text`` states this figure."""
        stated = read_number(text, kind=self.kind, unit=self.unit)
        if isinstance(stated, Refusal):
            return False
        return numbers_match(
            stated.as_size().value if self.size else stated.value,
            self.value,
            relative=self.tolerance.relative,
            absolute=self.tolerance.absolute,
        )


@dataclass(frozen=True)
class Memo:
    """A Markdown memo of a fixed outline.

    Attributes
    ----------
    subject
        What the subject line has to name.
    figures
        Stated in the section *Key figures*, one ``- Label: value`` line each.
    verdicts
        The closed list out of which the conclusion states exactly one.
    verdict, verdict_rule
        The right one, and when which is right.
    summary, finding
        Sentences of the perfect memo.
    """

    recipient: str
    subject: str
    written_on: date
    figures: tuple[Figure, ...]
    verdicts: tuple[str, ...]
    verdict: str
    verdict_rule: str
    summary: str
    finding: str
    name: str = "memo.md"

    def describe(self) -> str:
        """Return the specification for the task text."""
        listed = "; ".join(f"{f.label}{f' ({f.meaning})' if f.meaning else ''}" for f in self.figures)
        verdicts = " or ".join(f"**{verdict}**" for verdict in self.verdicts)
        return (
            f"`{self.name}`: a Markdown memo of {MIN_WORDS} to {MAX_WORDS} words. It opens with the four lines `To: "
            f"{self.recipient}`, `From: {SENDER}`, `Date: {self.written_on}` and `Subject: ...` (naming "
            f"{self.subject}), followed by the sections {', '.join(f'`## {s}`' for s in SECTIONS)} in this order, "
            f"the summary and the assumptions with at least {MIN_SECTION_WORDS} words of prose each. Key figures "
            f"holds one line `- Label: value` for each of: {listed}; a figure is right within 0.5%, a count exactly. "
            "Write amounts in full dollars or with thousand, million or billion (K, M, B). The conclusion states "
            f"{verdicts}: {self.verdict_rule}"
        )

    def render(self) -> str:
        """Return the right memo."""
        lines = [f"- {figure.label}: {figure.write()}" for figure in self.figures]
        summary = (
            f"This memo reports on {self.subject}. {self.summary} The full calculation is in the table that comes with "
            "this memo; the figures below are taken from it and can be traced line by line."
        )
        assumptions = (
            "All inputs are those of the assignment and were taken as given. The conventions of the assignment for "
            "rounding, dates and signs were applied throughout. No data from after the date of this memo was used."
        )
        return "\n".join([
            f"To: {self.recipient}", f"From: {SENDER}", f"Date: {self.written_on}", f"Subject: {self.subject}", "",
            f"## {SECTIONS[0]}", summary, "", f"## {SECTIONS[1]}", *lines, "", f"## {SECTIONS[2]}", assumptions, "",
            f"## {SECTIONS[3]}", f"{self.verdict}. {self.finding}", "",
        ])  # fmt: skip

    def marks(self, content: str | None) -> list[Mark]:
        """Return the marks of a given memo (None when it is missing)."""
        text = content or ""
        sections = _sections(text)
        beside = {figure.label: _values(sections.get("key figures", ""), figure.label) for figure in self.figures}
        wrong = [f.label for f in self.figures if not (len(beside[f.label]) == 1 and f.right(beside[f.label][0]))]
        count = len(self.figures)
        filled = sum(bool(sections.get(name.lower(), "").strip()) for name in SECTIONS)
        return [
            Mark("completion", f"{self.name} sections", filled / len(SECTIONS), note=f"{filled} of {len(SECTIONS)}"),
            Mark("completion", f"{self.name} figures stated", sum(map(bool, beside.values())) / count),
            Mark("accuracy", f"{self.name} figures", (count - len(wrong)) / count, note=f"wrong: {', '.join(wrong)}"),
            Mark("format", f"{self.name} heading", self._heading(text)),
            Mark("format", f"{self.name} outline", self._outline(text)),
            *self._professional(text, sections),
        ]

    def _heading(self, text: str) -> float:
        wanted = (f"To: {self.recipient}", f"From: {SENDER}", f"Date: {self.written_on}")
        lines = dict(enumerate(line.strip() for line in text.lstrip("\ufeff").splitlines() if line.strip()))
        met = sum(lines.get(place) == want for place, want in enumerate(wanted))
        return (met + lines.get(len(wanted), "").startswith("Subject: ")) / 4

    def _outline(self, text: str) -> float:
        headings = [line[3:].strip() for line in text.split("\n") if line.startswith("## ")]
        bullets = re.findall(r"(?m)^- [^:\n]+: .+$", text)
        return 0.5 * (headings == list(SECTIONS)) + 0.5 * (len(bullets) >= len(self.figures))

    def _professional(self, text: str, sections: dict[str, str]) -> list[Mark]:
        words = len(re.findall(r"\w+", text))
        subject = next((line for line in text.splitlines() if line.lower().startswith("subject:")), "")
        stated = {v for v in self.verdicts if re.search(rf"\b{re.escape(v)}\b", sections.get("conclusion", ""), re.I)}
        prose = [len(re.findall(r"\w+", sections.get(name, ""))) for name in ("summary", "assumptions")]
        placeholder = _PLACEHOLDER.search(text)
        checks = (
            ("conclusion", stated == {self.verdict}, 2.0, f"stated {sorted(stated)}, right is {self.verdict}"),
            ("length", MIN_WORDS <= words <= MAX_WORDS, 1.0, f"{words} words"),
            ("subject", self.subject.lower() in subject.lower(), 1.0, f"must name {self.subject}"),
            ("summary", prose[0] >= MIN_SECTION_WORDS, 0.5, f"{prose[0]} words"),
            ("assumptions", prose[1] >= MIN_SECTION_WORDS, 0.5, f"{prose[1]} words"),
            ("finished", bool(text) and placeholder is None, 1.0, f"placeholder {placeholder and placeholder.group()}"),
        )
        return [
            Mark("professionalism", f"{self.name} {name}", float(met), weight, "" if met else note)
            for name, met, weight, note in checks
        ]


def _sections(text: str) -> dict[str, str]:
    """Return lower-case heading -> body; a heading that comes twice keeps both bodies."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            name = line.replace("*", "").strip("# \t").removesuffix(":").strip().lower()
        elif name:
            found[name] = f"{found.get(name, '')}{line}\n"
    return found


def _values(section: str, label: str) -> list[str]:
    """Return what stands beside ``label`` in the section, once for every line that carries it."""
    pattern = re.compile(rf"^[\s*|•-]*{re.escape(label)}\s*(?::|\||=)(.+)$", re.I)
    matches = (pattern.match(line.replace("**", "").replace("__", "")) for line in section.splitlines())
    return [match[1].strip(" \t|") for match in matches if match]
