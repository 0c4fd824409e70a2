"""The trade name of a set of legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd

from pricing.signature import checked
from pricing.strategy.leg import Leg
from pricing.strategy.payoff import exact


@dataclass(frozen=True)
class Structure:
    """What a desk would call a position.

    Attributes
    ----------
    name
        For example ``bull call spread`` or ``iron condor``; ``custom`` where there is no name.
    family
        For example ``vertical``; several names share one family.
    """

    name: str
    family: str


CUSTOM = Structure("custom", "custom")

# One expiry. Series by rising strike, "<" to a higher strike and "=" at the same one, put before call; the number is
# the ratio. A leading S is stock, in the same share units.
_PATTERNS: dict[str, tuple[str, str]] = {
    "+C": ("long call", "single"),
    "-C": ("short call", "single"),
    "+P": ("long put", "single"),
    "-P": ("short put", "single"),
    "+S": ("long stock", "stock"),
    "-S": ("short stock", "stock"),
    "+C<-C": ("bull call spread", "vertical"),
    "-C<+C": ("bear call spread", "vertical"),
    "+P<-P": ("bull put spread", "vertical"),
    "-P<+P": ("bear put spread", "vertical"),
    "+P=+C": ("long straddle", "straddle"),
    "-P=-C": ("short straddle", "straddle"),
    "+P<+C": ("long strangle", "strangle"),
    "-P<-C": ("short strangle", "strangle"),
    "+C<+P": ("long guts", "guts"),
    "-C<-P": ("short guts", "guts"),
    "+P=+2C": ("strap", "straddle"),
    "+2P=+C": ("strip", "straddle"),
    "-P=+C": ("synthetic long stock", "synthetic"),
    "+P=-C": ("synthetic short stock", "synthetic"),
    "-P<+C": ("bullish risk reversal", "risk reversal"),
    "+P<-C": ("bearish risk reversal", "risk reversal"),
    "+C<-2C<+C": ("long call butterfly", "butterfly"),
    "-C<+2C<-C": ("short call butterfly", "butterfly"),
    "+P<-2P<+P": ("long put butterfly", "butterfly"),
    "-P<+2P<-P": ("short put butterfly", "butterfly"),
    "+P<-P=-C<+C": ("iron butterfly", "iron butterfly"),
    "-P<+P=+C<-C": ("reverse iron butterfly", "iron butterfly"),
    "+C<-C<-C<+C": ("long call condor", "condor"),
    "-C<+C<+C<-C": ("short call condor", "condor"),
    "+P<-P<-P<+P": ("long put condor", "condor"),
    "-P<+P<+P<-P": ("short put condor", "condor"),
    "+P<-P<-C<+C": ("iron condor", "iron condor"),
    "-P<+P<+C<-C": ("reverse iron condor", "iron condor"),
    "-P=+C<+P=-C": ("long box", "box"),
    "+P=-C<-P=+C": ("short box", "box"),
    "-P<-C<+C": ("jade lizard", "jade lizard"),
    "+S -C": ("covered call", "covered call"),
    "-S -P": ("covered put", "covered put"),
    "+S +P": ("protective put", "protective put"),
    "-S +C": ("protective call", "protective call"),
    "+S +P<-C": ("collar", "collar"),
    "-S -P<+C": ("reverse collar", "collar"),
    "+S +P=-C": ("conversion", "conversion"),
    "-S -P=+C": ("reversal", "conversion"),
}


@checked
def classify(legs: Sequence[Leg]) -> Structure:
    """Name a position; ratios and the order of strikes decide, prices do not.

    Legs in the same series are added up first.
    """
    shares, series = _net(legs)
    if not shares and not series:
        return Structure("flat", "flat")
    expiries = {time for _, _, time in series}
    if len(expiries) == 2 and not shares:
        return _across_time(series, min(expiries, key=_later))
    if len(expiries) > 1:
        return CUSTOM
    ordered = sorted(series.items(), key=lambda item: (item[0][0], item[0][1] == "call"))
    unit = _unit([*series.values(), *([shares] if shares else [])])
    pattern = _pattern(ordered, unit)
    if shares:
        pattern = f"{_token(shares / unit, 'S')} {pattern}".strip()
    if pattern in _PATTERNS:
        name, family = _PATTERNS[pattern]
        if family == "butterfly" and not _even([strike for (strike, _, _), _ in ordered]):
            name = f"broken-wing {name.removeprefix('long ')}"
        return Structure(name, family)
    return CUSTOM if shares else _ratio(ordered)


Series = tuple[Fraction, str, float | None]


def _net(legs: Sequence[Leg]) -> tuple[Fraction, dict[Series, Fraction]]:
    shares, series = Fraction(0), dict[Series, Fraction]()
    for leg in legs:
        amount = exact(leg.quantity) * exact(leg.contract_size)
        if leg.strike is None:
            shares += amount
        else:
            key = (exact(leg.strike), leg.kind, leg.time_to_expiry)
            series[key] = series.get(key, Fraction(0)) + amount
    return shares, {key: amount for key, amount in series.items() if amount}


def _unit(amounts: Sequence[Fraction]) -> Fraction:
    scale = reduce(lambda a, b: a * b // gcd(a, b), (amount.denominator for amount in amounts))
    return Fraction(reduce(gcd, (abs(int(amount * scale)) for amount in amounts)), scale)


def _token(ratio: Fraction, letter: str) -> str:
    size = "" if abs(ratio) == 1 else str(abs(ratio))
    return f"{'+' if ratio > 0 else '-'}{size}{letter}"


def _pattern(ordered: Sequence[tuple[Series, Fraction]], unit: Fraction) -> str:
    text, previous = "", None
    for (strike, kind, _), amount in ordered:
        if previous is not None:
            text += "=" if strike == previous else "<"
        text += _token(amount / unit, kind[0].upper())
        previous = strike
    return text


def _even(strikes: Sequence[Fraction]) -> bool:
    return strikes[1] - strikes[0] == strikes[2] - strikes[1]


def _ratio(ordered: Sequence[tuple[Series, Fraction]]) -> Structure:
    if len(ordered) != 2:
        return CUSTOM
    ((_, kind, _), low), ((_, other, _), high) = ordered
    if kind != other or low * high > 0:
        return CUSTOM
    return Structure(f"{kind} {'ratio spread' if low + high < 0 else 'backspread'}", "ratio")


def _later(time: float | None) -> float:
    return -1.0 if time is None else time


def _across_time(series: dict[Series, Fraction], nearest: float | None) -> Structure:
    pairs = sorted((kind, time != nearest, strike, amount) for (strike, kind, time), amount in series.items())
    if len(pairs) == 4 and [kind for kind, *_ in pairs] == ["call", "call", "put", "put"]:
        halves = [_calendar(pairs[:2]), _calendar(pairs[2:])]
        if halves[0].family == halves[1].family != "custom":
            return Structure(f"double {halves[0].family}", halves[0].family)
        return CUSTOM
    return _calendar(pairs) if len(pairs) == 2 else CUSTOM


def _calendar(pair: Sequence[tuple[str, bool, Fraction, Fraction]]) -> Structure:
    (kind, near_is_far, near_strike, near), (other, far_is_far, far_strike, far) = pair
    if kind != other or near_is_far or not far_is_far or near + far != 0:
        return CUSTOM
    family = "calendar" if near_strike == far_strike else "diagonal"
    return Structure(f"{'long' if far > 0 else 'short'} {kind} {family}", family)
