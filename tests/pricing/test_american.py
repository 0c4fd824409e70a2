"""American options against QuantLib 1.44, against each other, and against what arbitrage demands."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import QuantLib as ql
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing import american, black_scholes

COUNT = 64


@pytest.fixture(scope="module")
def batch() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    return {
        "spot": np.full(COUNT, 100.0),
        "strike": rng.uniform(70.0, 130.0, COUNT),
        "time_to_expiry": rng.integers(10, 1100, COUNT) / 365.0,
        "rate": rng.uniform(0.005, 0.1, COUNT),
        "volatility": rng.uniform(0.1, 0.6, COUNT),
        "dividend_yield": rng.uniform(0.0, 0.1, COUNT),
        "is_call": rng.random(COUNT) < 0.5,
    }


def alike(**values: float | bool) -> dict[str, np.ndarray]:
    """Return one option in the shape of the batch, for which the kernels are compiled anyway."""
    return {name: np.full(COUNT, value) for name, value in values.items()}


def _quantlib(batch: dict[str, np.ndarray], engine_of: object, dividends: object = None) -> np.ndarray:
    today = ql.Date(1, 1, 2020)
    ql.Settings.instance().evaluationDate = today
    day_count = ql.Actual365Fixed()
    values = []
    for i in range(batch["spot"].size):
        volatility = ql.BlackConstantVol(today, ql.NullCalendar(), float(batch["volatility"][i]), day_count)
        process = ql.BlackScholesMertonProcess(
            ql.QuoteHandle(ql.SimpleQuote(float(batch["spot"][i]))),
            ql.YieldTermStructureHandle(ql.FlatForward(today, float(batch["dividend_yield"][i]), day_count)),
            ql.YieldTermStructureHandle(ql.FlatForward(today, float(batch["rate"][i]), day_count)),
            ql.BlackVolTermStructureHandle(volatility),
        )
        kind = ql.Option.Call if batch["is_call"][i] else ql.Option.Put
        days = round(float(batch["time_to_expiry"][i]) * 365)
        option = ql.VanillaOption(
            ql.PlainVanillaPayoff(kind, float(batch["strike"][i])), ql.AmericanExercise(today, today + days)
        )
        option.setPricingEngine(engine_of(process))
        values.append(option.NPV())
    return np.array(values)


@pytest.fixture(scope="module")
def collocated(batch: dict[str, np.ndarray]) -> np.ndarray:
    return _quantlib(batch, lambda p: ql.QdFpAmericanEngine(p, ql.QdFpAmericanEngine.highPrecisionScheme()))


@pytest.mark.parametrize(
    ("scheme", "largest", "median"),
    [(american.FAST, 1e-3, 2e-5), (american.ACCURATE, 1e-4, 1e-6), (american.PRECISE, 3e-6, 1e-8)],
)
def test_collocation_agrees_with_quantlibs_collocation(
    batch: dict[str, np.ndarray], collocated: np.ndarray, scheme: american.Scheme, largest: float, median: float
) -> None:
    # QuantLib's high-precision scheme is itself off by up to 1e-6 (seen by refining ours to 48 nodes).
    errors = np.abs(np.asarray(american.price(**batch, scheme=scheme)) - collocated)
    assert errors.max() < largest
    assert np.median(errors) < median


def test_long_lives_strong_drift_and_small_volatility_still_converge() -> None:
    rng = np.random.default_rng(3)
    wide = {
        "spot": np.full(COUNT, 100.0),
        "strike": 100.0 * np.exp(rng.normal(0.0, 0.3, COUNT)),
        "time_to_expiry": np.round(np.exp(rng.uniform(np.log(0.01), np.log(20.0), COUNT)) * 365.0) / 365.0,
        "rate": np.exp(rng.uniform(np.log(1e-3), np.log(0.2), COUNT)),
        "volatility": np.exp(rng.uniform(np.log(0.05), np.log(1.5), COUNT)),
        "dividend_yield": rng.choice([0.0, 0.01, 0.05, 0.15], COUNT),
        "is_call": np.zeros(COUNT, bool),
    }
    drift = (wide["rate"] - wide["dividend_yield"]) * np.sqrt(wide["time_to_expiry"]) / wide["volatility"]
    assert drift.max() > 0.8
    expected = _quantlib(wide, lambda p: ql.QdFpAmericanEngine(p, ql.QdFpAmericanEngine.highPrecisionScheme()))
    errors = np.abs(np.asarray(american.price(**wide, scheme=american.PRECISE)) - expected)
    assert errors.max() < 3e-5
    assert np.median(errors) < 1e-9


def test_collocation_converges_to_a_limit_within_1e_7(batch: dict[str, np.ndarray]) -> None:
    finer = american.price(**batch, scheme=american.Scheme(40, 40, 40, 60))
    np.testing.assert_allclose(american.price(**batch, scheme=american.PRECISE), finer, rtol=0, atol=1e-7)


def test_tree_agrees_with_collocation(batch: dict[str, np.ndarray]) -> None:
    errors = np.abs(np.asarray(american.tree_price(**batch)) - np.asarray(american.price(**batch)))
    assert np.median(errors) < 2e-5
    assert errors.max() < 2e-3


def test_european_tree_agrees_with_the_formula(batch: dict[str, np.ndarray]) -> None:
    tree = american.tree_price(**batch, american=False)
    np.testing.assert_allclose(tree, black_scholes.price(**batch), rtol=0, atol=1e-4)


def test_cash_dividends_agree_with_quantlibs_escrowed_finite_differences() -> None:
    strikes = np.array([80.0, 100.0, 120.0])
    batch = {
        "spot": np.full(6, 100.0),
        "strike": np.r_[strikes, strikes],
        "time_to_expiry": np.full(6, 1.0),
        "rate": np.full(6, 0.05),
        "volatility": np.full(6, 0.3),
        "dividend_yield": np.zeros(6),
        "is_call": np.arange(6) < 3,
    }
    today = ql.Date(1, 1, 2020)
    days, amounts = (91, 273), (3.0, 4.0)
    dividends = ql.DividendVector([today + d for d in days], list(amounts))
    escrowed = ql.FdBlackScholesVanillaEngine.Escrowed
    expected = _quantlib(
        batch,
        lambda p: ql.FdBlackScholesVanillaEngine(
            p, dividends, 400, 800, 0, ql.FdmSchemeDesc.Douglas(), False, -1.0, escrowed
        ),
    )
    ours = american.tree_price(**batch, dividend_amounts=amounts, dividend_times=np.array(days) / 365.0, steps=401)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-2)


def test_bjerksund_stensland_is_a_lower_bound_close_to_the_price(batch: dict[str, np.ndarray]) -> None:
    gap = np.asarray(american.price(**batch)) - np.asarray(american.bjerksund_stensland_price(**batch))
    assert gap.min() > -1e-5
    assert np.median(gap) < 0.05


def test_greeks_are_the_slopes_of_the_price(batch: dict[str, np.ndarray]) -> None:
    scheme = american.ACCURATE
    value, greeks = american.greeks(**batch, scheme=scheme)
    np.testing.assert_allclose(value, american.price(**batch, scheme=scheme), rtol=1e-12)

    def slope(name: str, step: float) -> np.ndarray:
        up = american.price(**{**batch, name: batch[name] + step}, scheme=scheme)
        down = american.price(**{**batch, name: batch[name] - step}, scheme=scheme)
        return np.asarray(up - down) / (2.0 * step)

    boundary = american.exercise_boundary(**{name: v for name, v in batch.items() if name != "spot"}, scheme=scheme)
    away = np.abs(np.log(batch["spot"] / np.asarray(boundary))) > 0.01
    assert away.sum() > COUNT // 2
    for name, field, tolerance in (
        ("spot", "delta", 1e-6),
        ("volatility", "vega", 1e-3),
        ("rate", "rho", 1e-2),
    ):
        ours = np.asarray(getattr(greeks, field))[away]
        np.testing.assert_allclose(ours, slope(name, 1e-5)[away], rtol=1e-4, atol=tolerance, err_msg=field)
    # Theta comes from the pricing equation, so it also checks gamma.
    np.testing.assert_allclose(
        np.asarray(greeks.theta)[away], -slope("time_to_expiry", 1e-5)[away], rtol=1e-3, atol=1e-2
    )


def test_prices_have_the_symmetry_of_calls_and_puts(batch: dict[str, np.ndarray]) -> None:
    mirrored = {
        **batch,
        "spot": batch["strike"],
        "strike": batch["spot"],
        "rate": batch["dividend_yield"],
        "dividend_yield": batch["rate"],
        "is_call": ~batch["is_call"],
    }
    # The tree does not know of the symmetry: it prices each option as it is.
    np.testing.assert_allclose(american.tree_price(**mirrored), american.tree_price(**batch), rtol=0, atol=3e-3)
    np.testing.assert_allclose(american.price(**mirrored), american.price(**batch), rtol=1e-14)


@settings(max_examples=30)
@given(
    strike=st.floats(20.0, 500.0),
    time=st.floats(0.0, 5.0),
    rate=st.floats(0.0, 0.15),
    dividend_yield=st.floats(0.0, 0.15),
    volatility=st.floats(0.0, 1.5),
    is_call=st.booleans(),
)
def test_american_options_are_worth_the_european_and_the_exercise_and_less_than_the_bound(
    strike: float, time: float, rate: float, dividend_yield: float, volatility: float, is_call: bool
) -> None:
    arguments = {
        "spot": 100.0,
        "strike": strike,
        "time_to_expiry": time,
        "rate": rate,
        "dividend_yield": dividend_yield,
        "volatility": volatility,
        "is_call": is_call,
    }
    value = float(american.price(**arguments))
    assert value >= float(black_scholes.price(**arguments)) - 1e-9
    assert value >= max((100.0 - strike) if is_call else (strike - 100.0), 0.0)
    assert value <= (100.0 if is_call else strike) + 1e-9


def test_a_call_without_dividends_is_never_exercised_early() -> None:
    arguments = {"spot": 100.0, "strike": 90.0, "time_to_expiry": 1.0, "rate": 0.05, "volatility": 0.3}
    assert float(american.price(**arguments)) == float(black_scholes.price(**arguments))
    level = american.exercise_boundary(strike=90.0, time_to_expiry=1.0, rate=0.05, volatility=0.3)
    assert np.isinf(float(level))


def test_implied_volatility_returns_the_volatility_where_the_option_is_alive(batch: dict[str, np.ndarray]) -> None:
    price = np.asarray(american.price(**batch, scheme=american.FAST))
    known = {name: values for name, values in batch.items() if name != "volatility"}
    found = np.asarray(american.implied_volatility(price=price, **known, scheme=american.FAST))
    paid = np.where(batch["is_call"], 100.0 - batch["strike"], batch["strike"] - 100.0)
    alive = price > np.maximum(paid, 0.0) + 1e-3
    assert alive.sum() > COUNT // 2
    np.testing.assert_allclose(found[alive], batch["volatility"][alive], rtol=1e-7)
    assert np.isnan(american.implied_volatility(price=np.maximum(paid, 0.0), **known, scheme=american.FAST)).all()


def test_float32_stays_float32_and_is_right_to_its_precision(batch: dict[str, np.ndarray]) -> None:
    single = {name: values if name == "is_call" else values.astype(np.float32) for name, values in batch.items()}
    value = american.price(**single)
    assert value.dtype == np.float32
    np.testing.assert_allclose(value, american.price(**batch), rtol=1e-4, atol=1e-4)


def test_limits_and_immediate_exercise() -> None:
    put = {"strike": 100.0, "rate": 0.05, "is_call": False}
    assert float(american.price(spot=60.0, time_to_expiry=1.0, volatility=0.2, **put)) == 40.0
    assert float(american.price(spot=90.0, time_to_expiry=0.0, volatility=0.2, **put)) == 10.0
    assert float(american.price(spot=0.0, time_to_expiry=1.0, volatility=0.2, **put)) == 100.0
    assert float(american.price(spot=90.0, time_to_expiry=1.0, volatility=0.0, **put)) == 10.0
    assert np.isnan(float(american.price(spot=np.nan, time_to_expiry=1.0, volatility=0.2, **put)))
    _, greeks = american.greeks(**alike(spot=60.0, time_to_expiry=1.0, volatility=0.2, dividend_yield=0.0, **put))
    assert [set(np.asarray(g).tolist()) for g in greeks] == [{-1.0}, {0.0}, {0.0}, {0.0}, {0.0}]


def test_boundary_is_between_its_perpetual_and_its_immediate_limit() -> None:
    times = np.geomspace(0.001, 200.0, COUNT)
    level = np.asarray(
        american.exercise_boundary(
            strike=100.0, time_to_expiry=times, rate=0.05, volatility=0.2, dividend_yield=0.08, is_call=False
        )
    )
    assert np.all(np.diff(level) < 1e-4)
    assert 61.5 < level[0] < 62.5
    # Merton 1973: perpetual boundary K b / (b - 1) with b the negative root of the characteristic quadratic.
    drift = (0.05 - 0.08) / 0.04 - 0.5
    root = -drift - np.sqrt(drift**2 + 2.0 * 0.05 / 0.04)
    assert level[-1] == pytest.approx(100.0 * root / (root - 1.0), rel=2e-3)


def test_two_boundaries_are_refused_by_name_and_left_to_the_tree() -> None:
    arguments = {
        "spot": 100.0,
        "strike": 100.0,
        "time_to_expiry": 1.0,
        "rate": -0.01,
        "dividend_yield": -0.02,
        "volatility": 0.1,
        "is_call": False,
    }
    with pytest.raises(ValueError, match="two exercise boundaries"):
        american.price(**arguments)
    assert float(american.tree_price(**arguments)) >= float(black_scholes.price(**arguments)) - 1e-6


@pytest.mark.parametrize(("name", "value"), [("spot", -1.0), ("volatility", np.inf), ("time_to_expiry", -0.1)])
def test_impossible_values_are_named(name: str, value: float) -> None:
    arguments = {"spot": 100.0, "strike": 100.0, "time_to_expiry": 1.0, "rate": 0.05, "volatility": 0.2, name: value}
    with pytest.raises(ValueError, match=name):
        american.price(**arguments)


def test_prices_differentiate_in_traced_code(batch: dict[str, np.ndarray]) -> None:
    def value(volatility: jax.Array) -> jax.Array:
        return american.price(**{**batch, "volatility": volatility}).sum()

    _, greeks = american.greeks(**batch)
    slopes = jax.jit(jax.grad(value))(batch["volatility"])
    np.testing.assert_allclose(slopes, greeks.vega, rtol=1e-9, atol=1e-12)
