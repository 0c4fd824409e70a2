"""Which day it is in a market: what became public by the end of a day there was known on that day."""

from __future__ import annotations

from datetime import date, datetime
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

NEW_YORK = "America/New_York"
"""US shares, their options, and the SEC."""
UTC = "UTC"
"""Crypto exchanges, which never close."""


@cache
def zone(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name.

    Raises
    ------
    ValueError
        There is no zone of this name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name!r}; IANA names are meant, such as {NEW_YORK}") from None


def day_in(market: str, moment: datetime) -> date:
    """Return the day on which ``moment`` lies in the time zone ``market``.

    Raises
    ------
    ValueError
        The moment has no time zone, or the zone is unknown.
    """
    if moment.tzinfo is None:
        raise ValueError(f"a moment needs a time zone to have a day, got {moment.isoformat()}")
    return moment.astimezone(zone(market)).date()
