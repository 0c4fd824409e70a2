"""How calendar dates and reporting periods are written."""

from __future__ import annotations

import re
from datetime import date

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"([0-9]{1,2})(?:st|nd|rd|th)?"
_FORMS = (
    (re.compile(r"(?<![0-9.,-])([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?![0-9]|[-/.][0-9])"), "y_md"),
    (re.compile(r"(?<![0-9.,-])((?:19|20)[0-9]{2})([01][0-9])([0-3][0-9])(?![0-9.,-])"), "ymd"),
    (re.compile(r"(?<![0-9])([0-9]{4})年([0-9]{1,2})月([0-9]{1,2})日"), "ymd"),
    (re.compile(rf"(?<![A-Za-z]){_MONTH}[\s/-]+{_DAY},?[\s/-]+([0-9]{{4}})(?![0-9])", re.I), "mdy"),
    (re.compile(rf"(?<![0-9A-Za-z.,]){_DAY}[\s/-]+(?:of\s+)?{_MONTH},?[\s/-]+([0-9]{{4}})(?![0-9])", re.I), "dmy"),
)
_SLASHED = re.compile(r"(?<![0-9/.-])([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4})(?![0-9/-])")

YEAR = r"(?:19|20)[0-9]{2}"
_FOLLOWING = (
    rf"(?:\s*(?:-|/|to|through|and|until|,|&)\s*(?:fy\s*|fiscal\s+)?(?:{YEAR}|[0-9]{{2}})(?![0-9.,]*[0-9]|\s*%))*"
)
PERIODS = re.compile(
    rf"\b(?:fy|cy|fiscal(?:\s+years?)?|calendar(?:\s+years?)?|years)[\s'-]*{YEAR}(?![.,]?[0-9]|\s*%){_FOLLOWING}"
    rf"|\bbetween\s+{YEAR}\s+and\s+{YEAR}(?![.,]?[0-9]|\s*%)"
    rf"|\b(?:fy|cy)[\s']?[0-9]{{2}}\b(?!\s*%)|\b[QH][1-4]\b(?:\s*(?:-|to|through)\s*[QH][1-4]\b)?(?:[\s']*(?:of\s+)?(?:fy|fiscal)?[\s']*(?:{YEAR}|[0-9]{{2}})\b)?"
    rf"|\b[1-4][QH](?:[\s']*(?:fy)?[\s']*(?:{YEAR}|[0-9]{{2}}))?\b|\b{_MONTH}\s+{YEAR}\b",
    re.IGNORECASE,
)
"""Fiscal and calendar years, ranges of them, quarters, and months of a year."""

DAY_OF_MONTH = re.compile(rf"(?<![A-Za-z]){_MONTH}\s+{_DAY}(?![0-9.,%])|(?<![0-9.,]){_DAY}\s+{_MONTH}(?![a-z])", re.I)
ENDED = re.compile(r"\b(?:ended|ending)\s+(?:on\s+)?$", re.IGNORECASE)


def _day(parts: dict[str, str]) -> str:
    """Return the ISO date of year, month and day, empty when there is no such day."""
    name = parts["m"].lower()[:3]
    month = _NAMES.index(name) + 1 if name in _NAMES else int(parts["m"])
    try:
        return date(int(parts["y"]), month, int(parts["d"])).isoformat()
    except ValueError:
        return ""


def written_dates(text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return start, end and the possible ISO dates of every date in ``text``, none of them for an impossible day.

    A date whose order of day and month is a matter of country has two.
    """
    found = []
    for pattern, order in _FORMS:
        for match in pattern.finditer(text):
            groups = dict(zip(order, match.groups(), strict=True))
            found.append((match.start(), match.end(), tuple(filter(None, [_day(groups)]))))
    for match in _SLASHED.finditer(text):
        first, _, second, year = match.groups()
        days = {_day({"y": year, "m": m, "d": d}) for m, d in ((first, second), (second, first))}
        found.append((match.start(), match.end(), tuple(sorted(filter(None, days)))))
    return sorted(found)
