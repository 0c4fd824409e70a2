"""Chains: what is refused, what is kept, and the forward that parity implies."""

from __future__ import annotations

import numpy as np
import pytest

from pricing import black_scholes, chain

STRIKES = np.arange(80.0, 121.0, 5.0)
RATE, INCOME = 0.04, 0.015


def _quotes(half_spread: float = 0.05) -> chain.Quotes:
    strike, time, is_call = (a.ravel() for a in np.meshgrid(STRIKES, [0.25, 1.0], [False, True], indexing="ij"))
    mid = np.asarray(
        black_scholes.price(
            spot=100.0,
            strike=strike,
            time_to_expiry=time,
            rate=RATE,
            volatility=0.2 + 0.001 * (100.0 - strike),
            dividend_yield=INCOME,
            is_call=is_call,
        )
    )
    return chain.build(
        strike=strike,
        time_to_expiry=time,
        is_call=is_call,
        bid=np.maximum(mid - half_spread, 0.0),
        ask=mid + half_spread,
        open_interest=np.arange(strike.size),
    )


def test_parity_recovers_forward_discount_and_rate_of_exact_quotes() -> None:
    quotes = _quotes()
    for time in quotes.expiries:
        p = chain.parity(quotes, float(time))
        assert p.forward == pytest.approx(100.0 * np.exp((RATE - INCOME) * time), abs=1e-9)
        assert p.discount == pytest.approx(np.exp(-RATE * time), abs=1e-12)
        assert p.is_consistent
        # Each bound is one call spread and one put spread away, at every strike.
        assert p.highest_forward - p.lowest_forward == pytest.approx(0.2 / p.discount, abs=1e-9)
    assert chain.implied_rate(quotes) == pytest.approx(RATE, abs=1e-12)


def test_a_forward_outside_the_bounds_is_moved_to_the_bound() -> None:
    quotes = _quotes(half_spread=0.2)
    row = np.flatnonzero((quotes.strike == 100.0) & quotes.is_call & (quotes.time_to_expiry == 1.0))[0]
    bid = quotes.bid.copy()
    bid[row] = quotes.ask[row]
    p = chain.parity(quotes._replace(bid=bid), 1.0, discount=float(np.exp(-RATE)))
    # Selling that call at 0.4 above its bid brings call_bid - put_ask = model difference + 0.2 - 0.2.
    assert p.lowest_forward == pytest.approx(100.0 * np.exp(RATE - INCOME), abs=1e-9)
    assert p.is_consistent


def test_quotes_that_contradict_each_other_are_reported() -> None:
    quotes = _quotes()
    shift = np.where((quotes.strike == 100.0) & quotes.is_call, 5.0, 0.0)
    p = chain.parity(quotes._replace(bid=quotes.bid + shift, ask=quotes.ask + shift), 1.0)
    assert p.lowest_forward > p.highest_forward
    assert not p.is_consistent


def test_filters_follow_bid_spread_and_open_interest() -> None:
    quotes = _quotes()
    assert not chain.liquid(quotes, smallest_bid=1.0)[quotes.bid <= 1.0].any()
    assert chain.liquid(quotes, smallest_bid=1.0)[quotes.bid > 1.0].all()
    narrow = chain.liquid(quotes, largest_relative_spread=0.01)
    np.testing.assert_array_equal(narrow, (quotes.spread <= 0.01 * quotes.mid) & (quotes.bid > 0.0))
    assert chain.liquid(quotes, smallest_open_interest=30)[quotes.open_interest < 30].sum() == 0
    unknown = quotes._replace(open_interest=np.full_like(quotes.bid, np.nan))
    assert not chain.liquid(unknown, smallest_open_interest=1).any()


def test_out_of_the_money_takes_each_strike_once() -> None:
    quotes = _quotes()
    kept = quotes.where(chain.out_of_the_money(quotes, [chain.parity(quotes, float(t)) for t in quotes.expiries]))
    assert kept.strike.size == 2 * STRIKES.size
    assert np.all(kept.is_call == (kept.strike > 100.0 * np.exp((RATE - INCOME) * kept.time_to_expiry)))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"strike": 0.0}, "strike"),
        ({"bid": -0.1}, "bid"),
        ({"bid": 2.0}, "ask"),
        ({"time_to_expiry": np.nan}, "time_to_expiry"),
        ({"strike": [100.0, 100.0]}, "quoted twice"),
    ],
)
def test_bad_quotes_are_named(changes: dict[str, object], named: str) -> None:
    good: dict[str, object] = {"strike": 100.0, "time_to_expiry": 1.0, "is_call": True, "bid": 1.0, "ask": 1.1}
    with pytest.raises(ValueError, match=named):
        chain.build(**{**good, **changes})


def test_too_few_pairs_are_refused() -> None:
    quotes = _quotes()
    with pytest.raises(ValueError, match="parity needs"):
        chain.parity(quotes.where(quotes.is_call), 1.0)
