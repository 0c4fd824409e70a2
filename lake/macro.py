"""Macro series from CSV files in FRED's and ALFRED's formats: pulled ones, and files of your own.

FRED shows the figures of today, without the days of their publication. A daily series of market rates is never revised
and was out on the next weekday; of any other series a figure is known from the day on which it was read, and a revision
from the day on which that was read. ALFRED's files have one column a vintage and so tell the day of every version.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from lake import patient
from lake.clock import NEW_YORK, day_in
from lake.layers import Layered
from lake.point_in_time import PointInTime
from lake.records import Observations
from lake.sample import Lake
from lake.settings import LakeSettings
from lake.tables import Table

URL = "https://fred.stlouisfed.org/graph/fredgraph.csv"
ORIGIN = "FRED, Federal Reserve Bank of St. Louis, as pulled (terms of each series)"
HINT = "; what was pulled is served: traderbench data pull macro --series SERIES"
SAME_DAY = ("VIXCLS", "VIX")
"""Closing values, which everybody sees at once."""
MISSING = ("", ".", "NA")
DAILY_DAYS = 4
"""Median distance of the days of a daily series is at most this."""
_NAME = re.compile(r"[A-Z0-9_]{1,40}", re.ASCII)
_VINTAGE = re.compile(r"(.+)_(\d{8})")

Figures = list[tuple[date, float]]


def table(path: Path, fetch: Callable[[str], None] | None = None) -> Table[Observations]:
    """Return the table of pulled series of the lake at ``path``."""
    return Table(path / "macro" / "fred", Observations, origin=ORIGIN, hint=HINT, fetch=fetch)


def into(lake: Lake, settings: LakeSettings) -> Lake:
    """Put pulled series and the files of ``PATH/macro`` before the embedded ones."""
    path = Path(settings.path)
    files = sorted((path / "macro").glob("*.csv"))
    held = table(path, None if settings.offline else lambda series: _fetched(path, series))
    if settings.offline and not files and not held.entries():
        raise ValueError(
            f"macro: fred_csv: no CSV file is in {path / 'macro'} and nothing was pulled; traderbench data pull macro "
            f"--series DTB3 --out {settings.path} does, or set offline: false"
        )
    series = {file.stem.upper(): read_file(file) for file in files}
    own = PointInTime("CSV files of the user", lambda: series)
    return replace(lake, rates=Layered(own, held, lake.rates, hint=HINT))


def _fetched(path: Path, series: str) -> None:
    if _NAME.fullmatch(series):
        pull(path, series)


def _cells(text: str, name: str) -> tuple[list[str], list[list[str]]]:
    rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))) if row]
    if not rows or len(rows[0]) < 2:
        raise ValueError(f"{name}: no series; a column of days and one of values are needed")
    wrong = next((number for number, row in enumerate(rows) if len(row) != len(rows[0])), None)
    if wrong is not None:
        raise ValueError(f"{name}: row {wrong} has {len(rows[wrong])} cells instead of {len(rows[0])}")
    return [cell.strip() for cell in rows[0]], rows[1:]


def _day(name: str, number: int, text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{name}: row {number}: a day such as 2024-01-31 is needed, got {text!r}") from None


def _value(name: str, number: int, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{name}: row {number}: a number is needed, got {text!r}")
    return value


def _column(name: str, rows: Iterable[list[str]], column: int) -> Figures:
    cells = ((number, row[0], row[column].strip()) for number, row in enumerate(rows, start=1))
    return [(_day(name, number, day), _value(name, number, text)) for number, day, text in cells if text not in MISSING]


def read_file(path: Path) -> Observations:
    """Return a series of your own: ``day,value,published``, or ALFRED's columns ``SERIES_YYYYMMDD``, one a vintage.

    Raises
    ------
    ValueError
        The file tells no days of publication, or a cell cannot be read; the file and the row are named.
    """
    names, rows = _cells(path.read_text(encoding="utf-8"), path.name)
    lower = [name.lower() for name in names]
    if "published" in lower:
        at = lower.index("published")
        figures = _column(path.name, rows, next(column for column in (1, 2) if column != at))
        known = [_day(path.name, number, row[at]) for number, row in enumerate(rows, start=1)]
        if len(known) != len(figures):
            raise ValueError(f"{path.name}: every row needs a value where the column published is given")
        early = next((number for number, (day, _) in enumerate(figures) if known[number] < day), None)
        if early is not None:
            raise ValueError(
                f"{path.name}: row {early + 1}: published {known[early]} before its day {figures[early][0]}"
            )
        return Observations.of(sorted((when, *figure) for when, figure in zip(known, figures, strict=True)))
    vintages = [(column, match) for column, name in enumerate(names) if (match := _VINTAGE.fullmatch(name))]
    if len(vintages) != len(names) - 1:
        raise ValueError(
            f"{path.name}: it has {', '.join(names)}; a column published is needed, or ALFRED's columns of vintages "
            "such as GDP_20240125: without them nobody knows when a figure was known"
        )
    found: list[tuple[date, date, float]] = []
    last: dict[date, float] = {}
    for column, match in sorted(vintages, key=lambda each: each[1][2]):
        known_on = _day(path.name, 0, f"{match[2][:4]}-{match[2][4:6]}-{match[2][6:]}")
        changed = [(day, value) for day, value in _column(path.name, rows, column) if last.get(day) != value]
        found += [(known_on, day, value) for day, value in changed]
        last |= dict(changed)
    return Observations.of(found)


@dataclass(frozen=True)
class Pulled:
    """What there is of one series: its rows (figures and revisions), those that are new, and the span of its days."""

    series: str
    rows: int
    new_rows: int
    first: date
    last: date


def pull(
    path: Path,
    series: str,
    *,
    base_url: str | None = None,
    now: datetime | None = None,
    timeout_s: float = patient.TIMEOUT_S,
    back_off_s: float = patient.BACK_OFF_S,
) -> Pulled:
    """Fetch a series from FRED and add what was not known before: new figures, and revisions of old ones.

    Parameters
    ----------
    path
        ``lake.path``.
    series
        FRED's name, such as ``DTB3``.
    base_url
        Scheme, host and path of another address of the CSV files.

    Raises
    ------
    ValueError
        The name is none, or FRED's file holds something else.
    ProviderUnavailable
        FRED does not answer.
    """
    if not _NAME.fullmatch(series):
        raise ValueError(f"a series of FRED is named by capitals, digits and _, such as DTB3, got {series!r}")
    address = f"{base_url or URL}?id={series}"

    def whole(content: bytes) -> None:
        # a file that was cut short may still be readable, but does not end with its line
        if not content.endswith(b"\n") or content.lstrip()[:1] == b"<":
            raise ValueError("the file is cut short or no CSV")

    content = patient.get(
        address,
        whose="FRED",
        headers={"User-Agent": "traderbench"},
        check=whole,
        timeout_s=timeout_s,
        back_off_s=back_off_s,
    )
    names, rows = _cells(content.decode("utf-8", errors="replace"), address)
    if names[1] != series:
        raise ValueError(f"{address}: the file holds {names[1]!r}, not {series}")
    figures = sorted(_column(address, rows, 1))
    if not figures:
        raise ValueError(f"{address}: the file holds no figure")
    held = table(path)
    today = day_in(NEW_YORK, now or datetime.now(UTC))
    before = held.known(series, as_of=date.max) if series in held.entries() else Observations.of([])
    last = dict(zip(before.day, before.value, strict=True))
    published = _publication(series, figures, today)
    # what was not there at the last reading was published after it, whatever its day
    read_on = date.fromisoformat(held.entries()[series]["read_on"]) if len(before) else date.min
    new: list[tuple[Any, ...]] = []
    for day, value in figures:
        if last.get(day) != value:
            known_on = published(day)
            new.append((today if day in last or not read_on < known_on <= today else known_on, day, value))
    held.add(series, Observations.of(sorted(new)), source=address, read_on=today.isoformat())
    return Pulled(series, len(before) + len(new), len(new), figures[0][0], figures[-1][0])


def _publication(series: str, figures: Figures, today: date) -> Callable[[date], date]:
    """Return on which day a figure of the series was published."""
    days = np.array([day.toordinal() for day, _ in figures])
    daily = len(days) > 2 and float(np.median(np.diff(days))) <= DAILY_DAYS
    if series in SAME_DAY:
        return lambda day: day
    if daily:
        return lambda day: day + timedelta(days={4: 3, 5: 2}.get(day.weekday(), 1))
    return lambda day: today
