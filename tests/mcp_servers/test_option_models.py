"""Prices by model and exercise, against QuantLib and against each other; paths against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from mcp_servers import options

SERVER = options.build_server()
Ask = Callable[..., Any]
PUT = {
    "spot": 100.0,
    "strike": 105.0,
    "rate": 0.05,
    "dividend_yield": 0.02,
    "volatility": 0.25,
    "time_to_expiry": 0.5,
    "option_type": "put",
}
HESTON = {"mean_reversion": 2.0, "long_run_volatility": 0.2, "volatility_of_variance": 0.4, "correlation": -0.6}
JUMPS = {"intensity": 0.6, "mean": -0.1, "deviation": 0.15}


def price(ask: Ask, **changes: Any) -> Any:
    return ask(SERVER, "calculate_option_price", **PUT | changes)


def quantlib(exercise: Any) -> Any:
    import QuantLib as ql

    today = ql.Date(4, 3, 2024)
    ql.Settings.instance().evaluationDate = today
    days = ql.Actual365Fixed()
    flat = [ql.YieldTermStructureHandle(ql.FlatForward(today, rate, days)) for rate in (0.02, 0.05)]
    smooth = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, ql.NullCalendar(), 0.25, days))
    spot = ql.QuoteHandle(ql.SimpleQuote(100.0))
    option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Put, 105.0), exercise(ql, today))
    return ql, option, spot, flat, smooth


def american_option() -> Any:
    ql, option, spot, flat, smooth = quantlib(lambda ql, day: ql.AmericanExercise(day, day + ql.Period(1825, ql.Days)))
    process = ql.BlackScholesMertonProcess(spot, *flat, smooth)
    option.setPricingEngine(ql.QdFpAmericanEngine(process, ql.QdFpAmericanEngine.highPrecisionScheme()))
    return option


def test_an_american_put_agrees_with_quantlib_and_is_worth_more_than_the_european(ask: Ask) -> None:
    long = {"time_to_expiry": 5.0, "exercise": "american"}
    american, european = price(ask, **long), price(ask, time_to_expiry=5.0)
    assert american["price"] == pytest.approx(american_option().NPV(), abs=1e-4)
    assert american["early_exercise_premium"] == pytest.approx(american["price"] - european["price"], abs=1e-9)
    assert american["early_exercise_premium"] > 0.5 and european["early_exercise_premium"] is None
    assert (european["exercise"], european["exercise_boundary"]) == ("european", None)


def test_the_boundary_is_where_the_price_meets_the_payoff(ask: Ask) -> None:
    boundary = price(ask, exercise="american")["exercise_boundary"]
    for spot, is_exercised in ((boundary * 0.98, True), (boundary * 1.05, False)):
        value = price(ask, exercise="american", spot=spot)["price"]
        assert (value == pytest.approx(105.0 - spot, abs=1e-9)) is is_exercised
    call = price(ask, exercise="american", option_type="call", dividend_yield=0.0)
    assert call["exercise_boundary"] is None and call["early_exercise_premium"] == pytest.approx(0.0, abs=1e-9)


def test_the_word_american_is_the_flag_and_methods_agree(ask: Ask) -> None:
    flagged = price(ask, exercise="american")
    assert price(ask, model="american") == flagged
    tree, bound = (price(ask, exercise="american", method=name) for name in ("tree", "bjerksund_stensland"))
    for greek, rel in (
        ("price", 1e-4),
        ("delta", 5e-3),
        ("gamma", 0.02),
        ("theta", 0.02),
        ("vega", 5e-3),
        ("rho", 0.01),
    ):
        assert tree[greek] == pytest.approx(flagged[greek], rel=rel), greek
    assert flagged["price"] - 0.1 < bound["price"] < flagged["price"]


def test_a_cash_dividend_makes_a_put_dearer_and_an_american_call_worth_exercising_before_it(ask: Ask) -> None:
    paid = {"method": "tree", "dividends": [{"amount": 3.0, "time": 0.25}], "dividend_yield": 0.0}
    plain = {"method": "tree", "dividend_yield": 0.0}
    assert price(ask, exercise="american", **paid)["price"] > price(ask, exercise="american", **plain)["price"] + 1.0
    call = {"option_type": "call", "strike": 80.0}
    with_dividend = price(ask, exercise="american", **paid, **call)
    assert with_dividend["early_exercise_premium"] > 0.5
    assert price(ask, exercise="american", **plain, **call)["early_exercise_premium"] == pytest.approx(0.0, abs=1e-3)


def test_heston_and_bates_agree_with_quantlib(ask: Ask) -> None:
    ql, option, spot, (income, rate), _ = quantlib(lambda ql, day: ql.EuropeanExercise(day + ql.Period(365, ql.Days)))
    terms = (rate, income, spot, 0.0625, 2.0, 0.04, 0.4, -0.6)
    option.setPricingEngine(ql.AnalyticHestonEngine(ql.HestonModel(ql.HestonProcess(*terms)), 192))
    heston = price(ask, time_to_expiry=1.0, model="heston", heston=HESTON)
    assert heston["price"] == pytest.approx(option.NPV(), abs=1e-6)
    bates = ql.BatesModel(ql.BatesProcess(*terms, 0.6, -0.1, 0.15))
    option.setPricingEngine(ql.BatesEngine(bates, 192))
    assert price(ask, time_to_expiry=1.0, model="bates", heston=HESTON, jumps=JUMPS)["price"] == pytest.approx(
        option.NPV(), abs=1e-6
    )


@pytest.mark.parametrize(("model", "terms"), [("heston", {"heston": HESTON}), ("merton", {"jumps": JUMPS})])
def test_greeks_of_a_model_are_slopes_of_its_price(ask: Ask, model: str, terms: dict[str, Any]) -> None:
    at = price(ask, model=model, **terms)
    for field, greek, step, sign in (
        ("spot", "delta", 0.01, 1),
        ("volatility", "vega", 1e-4, 1),
        ("rate", "rho", 1e-4, 1),
        ("time_to_expiry", "theta", 1e-4, -1),
    ):
        up, down = (price(ask, model=model, **terms, **{field: PUT[field] + d})["price"] for d in (step, -step))
        assert at[greek] == pytest.approx(sign * (up - down) / (2 * step), rel=1e-4), greek
    up, down = (price(ask, model=model, **terms, spot=100.0 + d)["delta"] for d in (0.01, -0.01))
    assert at["gamma"] == pytest.approx((up - down) / 0.02, rel=1e-4)


def test_merton_without_jumps_and_black76_are_the_lognormal_price_and_bachelier_nears_it(ask: Ask) -> None:
    lognormal = price(ask)["price"]
    assert price(ask, model="merton", jumps=JUMPS | {"intensity": 0.0})["price"] == pytest.approx(lognormal, rel=1e-9)
    forward = 100.0 * math.exp((0.05 - 0.02) * 0.5)
    on_forward = price(ask, model="black76", spot=forward)
    assert on_forward["price"] == pytest.approx(lognormal, rel=1e-12)
    normal = price(ask, model="bachelier", spot=105.0, volatility=0.05)
    # at the money the normal price is discount x deviation / sqrt(2 pi)
    assert normal["price"] == pytest.approx(math.exp(-0.025) * 0.05 * 105 * math.sqrt(0.5 / (2 * math.pi)), rel=1e-9)


def test_an_american_price_gives_its_volatility_back(ask: Ask) -> None:
    value = price(ask, exercise="american")["price"]
    terms = {name: figure for name, figure in PUT.items() if name != "volatility"}
    back = ask(SERVER, "calculate_implied_volatility", price=value, **terms, exercise="american")
    assert back["implied_volatility"] == pytest.approx(0.25, abs=1e-6)
    as_european = ask(SERVER, "calculate_implied_volatility", price=value, **terms)
    assert as_european["implied_volatility"] > 0.252
    low = ask(SERVER, "calculate_implied_volatility", price=1.0, **terms, exercise="american")
    assert "at or below what immediate exercise pays" in low


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "heston"}, "model heston needs heston"),
        ({"model": "merton", "heston": HESTON, "jumps": JUMPS}, "heston belongs to the models heston and bates"),
        ({"model": "heston", "heston": HESTON, "exercise": "american"}, "priced by model black_scholes only"),
        ({"dividends": [{"amount": 1, "time": 0.1}]}, "cash dividends need method tree"),
        ({"method": "bjerksund_stensland"}, "give exercise american"),
        ({"exercise": "american", "volatility": 0.0}, "needs time_to_expiry and volatility above 0"),
    ],
)
def test_what_does_not_fit_together_is_named(ask: Ask, changes: dict[str, Any], message: str) -> None:
    assert message in price(ask, **changes)


def exotic(ask: Ask, payoff: str, **changes: Any) -> Any:
    return ask(SERVER, "price_path_dependent_option", payoff=payoff, **PUT | changes)


def test_in_and_out_add_up_to_the_plain_option_and_the_plain_one_to_its_closed_price(ask: Ask) -> None:
    parts = [exotic(ask, f"down_and_{way}", barrier=85.0) for way in ("in", "out")]
    assert sum(part["price"] for part in parts) == pytest.approx(parts[0]["european_price"], abs=1e-9)
    closed = price(ask)["price"]
    assert parts[0]["european_price"] == pytest.approx(closed, abs=0.1)
    for part in parts:
        assert 0.0 < part["standard_error"] < 0.1 and 0.1 < part["probability"] < 0.5


def test_a_geometric_bound_and_the_lookback_of_goldman_hold(ask: Ask) -> None:
    asian = exotic(ask, "asian")
    # the variance of a mean is a third of the last price's: the option is cheaper than the plain one
    assert 0.45 < asian["price"] / price(ask)["price"] < 0.9
    lookback = exotic(ask, "lookback")
    assert lookback["price"] > price(ask)["price"] + 2.0
    again, other = exotic(ask, "lookback"), exotic(ask, "lookback", seed=1)
    assert lookback == again and lookback["price"] != other["price"]


def test_heston_paths_give_hestons_price(ask: Ask) -> None:
    paths = exotic(ask, "up_and_in", barrier=150.0, model="heston", heston=HESTON)
    assert paths["european_price"] == pytest.approx(price(ask, model="heston", heston=HESTON)["price"], abs=0.12)


@pytest.mark.parametrize(
    ("payoff", "barrier", "message"),
    [
        ("up_and_out", 95.0, "barrier of up_and_out must be above the spot 100, got 95"),
        ("down_and_in", None, "down_and_in needs barrier"),
        ("asian", 90.0, "barrier belongs to barrier options, not to asian"),
    ],
)
def test_a_barrier_on_the_wrong_side_is_named(ask: Ask, payoff: str, barrier: float | None, message: str) -> None:
    assert message in exotic(ask, payoff, **({} if barrier is None else {"barrier": barrier}))
