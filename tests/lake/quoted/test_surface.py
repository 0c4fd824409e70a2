"""The fitted surface of quotes, against the surface that the quotes were made from."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from lake import sample
from lake.option_market import option_market
from lake.point_in_time import PointInTime
from lake.quoted import history, snapshot, ssvi, surface
from lake.records import OptionQuotes
from tests.lake.quoted.made_chain import DAYS, DIVIDENDS, RATE, SPOT, rows, true_volatility

DAY = date(2024, 3, 4)


def lake_of(ticker: str, quotes: list[Any]) -> sample.Lake:
    table = {ticker: OptionQuotes.of(quotes)}
    return replace(sample.embedded(), option_quotes=PointInTime("made", lambda: table))


def fitted(ticker: str, quotes: list[Any]) -> surface.Fit:
    found = snapshot.last(lake_of(ticker, quotes), ticker, as_of=DAY)
    return surface.fit(found, RATE, "a bill")


@pytest.fixture(scope="module")
def american() -> surface.Fit:
    return fitted("ACME", rows(DAY))


def test_the_surface_the_quotes_were_made_from_is_found_again(american: surface.Fit) -> None:
    assert american.expirations == tuple(DAY + timedelta(days=days) for days in DAYS)
    assert (american.rate, american.rate_origin) == (RATE, "a bill")
    for years, forward in zip(american.years, american.forward, strict=True):
        assert forward == pytest.approx(SPOT * np.exp((RATE - DIVIDENDS) * years), rel=5e-4)
    true = np.concatenate(
        [true_volatility(american.quotes.strike[american.quotes.time_to_expiry == t], t) for t in american.years]
    )
    assert np.abs(american.fitted - true).max() < 0.004
    assert american.inside.mean() > 0.97 and american.priced_inside.mean() > 0.95
    assert american.arbitrage.is_free and american.left_out == {}


def test_american_quotes_read_as_european_ones_would_miss_the_put_volatilities() -> None:
    """The exercise style matters: the same quotes under an index's name leave the spread."""
    european = fitted("SPX", rows(DAY, exercise="european"))
    assert not european.snapshot.is_american and european.priced_inside.mean() > 0.97
    assert european.rate == pytest.approx(RATE, abs=2e-3) and "parity" in european.rate_origin
    misread = fitted("SPX", rows(DAY, exercise="american"))
    assert misread.priced_inside.mean() < european.priced_inside.mean() - 0.05


def test_the_three_parameters_of_ssvi_fit_the_slices_they_can(american: surface.Fit) -> None:
    smooth = ssvi.fit(american)
    assert smooth.rho == pytest.approx(-0.5, abs=0.05)
    assert smooth.theta == pytest.approx(0.05 * american.years, rel=0.05)
    assert smooth.arbitrage.is_free


def test_an_expiration_that_cannot_be_fitted_says_why_and_the_others_are() -> None:
    thin = [row for row in rows(DAY) if row[3] != DAY + timedelta(days=28) or row[5] in (100.0, 102.5)]
    soon = [(*row[:3], DAY + timedelta(days=3), *row[4:]) for row in rows(DAY)[:20]]
    found = fitted("ACME", [*thin, *soon])
    assert found.left_out == {
        DAY + timedelta(days=3): "3 days to expiry, fewer than 7",
        DAY + timedelta(days=28): "fewer than 3 strikes near the money have a call and a put with a bid and an ask",
    }
    assert found.expirations == tuple(DAY + timedelta(days=days) for days in DAYS[1:])
    market = option_market(lake_of("ACME", [*thin, *soon]), "ACME", as_of=DAY)
    with pytest.raises(ValueError, match=r"the surface of ACME has no 2024-03-07: 3 days to expiry, fewer than 7"):
        market.row_of(DAY + timedelta(days=3))


def test_quotes_read_at_night_are_an_error_that_says_so() -> None:
    closed = [(*row[:7], None, None, *row[9:]) for row in rows(DAY)]
    with pytest.raises(ValueError, match=r"no option on ACME of 7 days or more has a bid and an ask .* 21:00 UTC"):
        fitted("ACME", closed)


def test_the_smile_of_one_expiration_is_the_surface_there(american: surface.Fit) -> None:
    market = option_market(lake_of("ACME", rows(DAY)), "ACME", as_of=DAY)
    strikes = np.array([80.0, 95.0, 100.0, 120.0])
    for row, years in enumerate(market.years):
        of_surface = market.volatility(strikes, np.full(4, years))
        assert [market.smile(row)(strike) for strike in strikes] == pytest.approx(of_surface, rel=1e-12)


def test_the_simulated_surface_is_its_curves_to_rounding() -> None:
    market = option_market(sample.embedded(), "SIM-TECH", as_of=date(2013, 3, 1))
    chain = market.simulated
    assert chain is not None and market.fit is None
    for row, years in enumerate(chain.years):
        told = market.volatility(chain.strikes[row], np.full(chain.strikes.shape[1], years))
        np.testing.assert_allclose(told, chain.volatility[row], rtol=1e-12)


def test_thirty_day_volatility_follows_each_days_quotes_and_no_later_ones() -> None:
    days = [DAY - timedelta(days=back) for back in (3, 2, 1, 0)]
    lake = lake_of("ACME", [row for number, day in enumerate(days) for row in rows(day, shift=0.01 * number)])
    known, volatility = history.thirty_day_volatility(lake, "ACME", as_of=DAY)
    assert known == tuple(days)
    np.testing.assert_allclose(np.diff(volatility), 0.01, atol=2e-4)
    # at the money the smile is 0.2236 at every time, here between 28 and 91 days
    assert volatility[0] == pytest.approx(float(true_volatility(SPOT, 30 / 365)), abs=0.004)
    before, earlier = history.thirty_day_volatility(lake, "ACME", as_of=days[1])
    assert before == tuple(days[:2]) and earlier == pytest.approx(volatility[:2])


def test_the_history_of_a_simulated_chain_ends_with_its_own_volatility_of_today() -> None:
    day = date(2013, 3, 1)
    days, volatility = history.thirty_day_volatility(sample.embedded(), "SIM-TECH", as_of=day)
    assert days[-1] == day and len(days) == 252
    market = option_market(sample.embedded(), "SIM-TECH", as_of=day)
    bars, _ = sample.embedded().bars_of("SIM-TECH", as_of=day)
    from lake import chains

    now = chains.at_the_money_variance(bars, np.array([30 / 365])) / (30 / 365)
    assert volatility[-1] == pytest.approx(float(np.sqrt(now[0])), rel=1e-12)
    assert market.day == day
