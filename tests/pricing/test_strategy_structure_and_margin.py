"""Names of positions, and what they tie up under Regulation T."""

from __future__ import annotations

import pytest

from pricing.strategy import Leg, classify, margin


def legs(text: str) -> list[Leg]:
    """Legs from tokens such as ``+2C100`` or ``-P95@0.5`` (time) or ``+S`` (100 shares), premium 1."""
    found = []
    for token in text.split():
        sign, rest = (1.0 if token[0] == "+" else -1.0), token[1:]
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        letter, tail = rest[len(digits)], rest[len(digits) + 1 :]
        if letter == "S":
            found.append(Leg(kind="stock", quantity=sign * 100.0 * float(digits or 1), premium=100.0))
            continue
        strike, _, time = tail.partition("@")
        found.append(
            Leg(
                kind="call" if letter == "C" else "put",
                quantity=sign * float(digits or 1),
                premium=1.0,
                strike=float(strike),
                time_to_expiry=float(time) if time else None,
            )
        )
    return found


@pytest.mark.parametrize(
    ("position", "name", "family"),
    [
        ("+C100", "long call", "single"),
        ("+C100 -C105", "bull call spread", "vertical"),
        ("+2P95 -2P100", "bull put spread", "vertical"),
        ("+P100 -P95", "bear put spread", "vertical"),
        ("+C100 +P100", "long straddle", "straddle"),
        ("-C105 -P95", "short strangle", "strangle"),
        ("+C95 -2C100 +C105", "long call butterfly", "butterfly"),
        ("+C95 -2C100 +C110", "broken-wing call butterfly", "butterfly"),
        ("+P90 -P95 -C105 +C110", "iron condor", "iron condor"),
        ("-P90 +P95 +C105 -C110", "reverse iron condor", "iron condor"),
        ("+P95 -P100 -C100 +C105", "iron butterfly", "iron butterfly"),
        ("+C90 -C95 -C100 +C105", "long call condor", "condor"),
        ("+C100 -2C105", "call ratio spread", "ratio"),
        ("-C100 +3C105", "call backspread", "ratio"),
        ("+C100@0.4 -C100@0.1", "long call calendar", "calendar"),
        ("+C105@0.1 -C100@0.4", "short call diagonal", "diagonal"),
        ("+C100@0.4 -C100@0.1 +P100@0.4 -P100@0.1", "double calendar", "calendar"),
        ("+S -C105", "covered call", "covered call"),
        ("+S +P95", "protective put", "protective put"),
        ("+S +P95 -C105", "collar", "collar"),
        ("+C100 -P100", "synthetic long stock", "synthetic"),
        ("-P90 +C110", "bullish risk reversal", "risk reversal"),
        ("+C100 -C110 +P110 -P100", "long box", "box"),
        ("+C100 +C103 -P90", "custom", "custom"),
        ("+C100 -C100", "flat", "flat"),
    ],
)
def test_positions_have_their_trade_names_in_any_order_of_legs(position: str, name: str, family: str):
    for order in (legs(position), legs(position)[::-1]):
        structure = classify(order)
        assert (structure.name, structure.family) == (name, family)


def test_selling_two_published_put_spreads_ties_up_1500():
    spread = [
        Leg(kind="put", quantity=-2, premium=4.0, strike=370.0),
        Leg(kind="put", quantity=2, premium=1.5, strike=360.0),
    ]
    answer = margin(spread, spot=380.0)
    assert (answer.requirement, answer.buying_power) == (2000.0, 1500.0)


def test_a_debit_spread_ties_up_what_was_paid():
    spread = [
        Leg(kind="call", quantity=1, premium=4.3, strike=185.0),
        Leg(kind="call", quantity=-1, premium=2.0, strike=190.0),
    ]
    answer = margin(spread, spot=182.0)
    assert (answer.requirement, answer.buying_power) == (0.0, pytest.approx(230.0))


def test_naked_puts_and_calls_follow_the_two_examples_of_the_cboe_margin_manual():
    # Cboe margin manual: short 80 put at 2 with the stock at 95: 10% of the strike prevails: 200 + 800 = 1,000.
    # Short 120 call at 8 3/8 (8.375) with the stock at 128.5: 837.50 + 20% of 12,850 = 3,407.50.
    put = margin([Leg(kind="put", quantity=-1, premium=2.0, strike=80.0)], spot=95.0)
    call = margin([Leg(kind="call", quantity=-1, premium=8.375, strike=120.0)], spot=128.5)
    assert (put.requirement, call.requirement) == (1000.0, pytest.approx(3407.50))
    assert put.buying_power == 800.0


def test_a_short_strangle_needs_the_larger_side_and_both_premiums():
    strangle = legs("-P90 -C105")
    alone = [margin([leg], spot=100.0).requirement - 100.0 for leg in strangle]
    assert margin(strangle, spot=100.0).requirement == pytest.approx(max(alone) + 200.0)


def test_an_iron_condor_needs_one_side_only():
    assert margin(legs("+P90 -P95 -C105 +C115"), spot=100.0).requirement == 1000.0


def test_a_covered_call_needs_half_the_stock_and_its_extra_call_is_naked():
    covered, over = margin(legs("+S -C105"), spot=100.0), margin(legs("+S -2C105"), spot=100.0)
    assert covered.requirement == 5000.0
    assert over.requirement == pytest.approx(5000.0 + 100.0 + (0.20 * 100.0 - 5.0) * 100.0)


def test_a_long_option_that_expires_first_covers_nothing():
    calendar, reversed_calendar = (
        margin(legs(text), spot=100.0) for text in ("+C100@0.4 -C100@0.1", "-C100@0.4 +C100@0.1")
    )
    assert calendar.requirement == 0.0
    assert reversed_calendar.requirement == pytest.approx(100.0 + 2000.0)
