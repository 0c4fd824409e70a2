"""Monte Carlo against the analytic prices of the same models, and each way of reducing its error."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import qmc

from pricing import bates, heston, merton, simulation
from pricing.simulation import Draws, Estimate, Scheme

PARAMETERS = heston.Parameters(0.04, 1.5, 0.06, 0.5, -0.7)
JUMPS = bates.Jumps(0.8, -0.1, 0.15)
MARKET = {"spot": 100.0, "rate": 0.03, "dividend_yield": 0.01}
STEPS, PATHS = 16, 1 << 15
STRIKE = 105.0


def _call(paths: simulation.Paths, draws: Draws, *, controlled: bool = False, strike: float = STRIKE) -> Estimate:
    last = paths.spot[-1]
    values = jnp.exp(-0.03) * jnp.maximum(last - strike, 0.0)
    if not controlled:
        return simulation.estimate(values, draws=draws)
    return simulation.estimate(values, draws=draws, control=last, control_mean=100.0 * np.exp(0.02))


def _simulated(
    seed: int,
    draws: Draws = Draws.ANTITHETIC,
    scheme: Scheme = Scheme.QUADRATIC_EXPONENTIAL,
    parameters: heston.Parameters = PARAMETERS,
) -> simulation.Paths:
    return simulation.heston(
        jax.random.key(seed),
        **MARKET,
        time=1.0,
        parameters=parameters,
        steps=STEPS,
        paths=PATHS,
        draws=draws,
        scheme=scheme,
    )


def _exact(parameters: heston.Parameters = PARAMETERS) -> float:
    return float(heston.price(**MARKET, strike=STRIKE, time_to_expiry=1.0, parameters=parameters))


def test_quadratic_exponential_agrees_with_the_analytic_price() -> None:
    found = _call(_simulated(1), Draws.ANTITHETIC, controlled=True)
    assert abs(float(found.value) - _exact()) < 4.0 * float(found.standard_error) + 0.02
    assert float(found.standard_error) < 0.05


def test_full_truncation_agrees_within_its_larger_bias() -> None:
    found = _call(_simulated(2, scheme=Scheme.FULL_TRUNCATION), Draws.ANTITHETIC, controlled=True)
    assert abs(float(found.value) - _exact()) < 4.0 * float(found.standard_error) + 0.15


def test_bates_agrees_with_the_analytic_price() -> None:
    paths = simulation.heston(
        jax.random.key(3), **MARKET, time=1.0, parameters=PARAMETERS, jumps=JUMPS, steps=STEPS, paths=PATHS
    )
    exact = bates.price(**MARKET, strike=STRIKE, time_to_expiry=1.0, parameters=PARAMETERS, jumps=JUMPS)
    found = _call(paths, Draws.ANTITHETIC, controlled=True)
    assert abs(float(found.value) - float(exact)) < 4.0 * float(found.standard_error) + 0.02


@pytest.mark.parametrize("model", ["bates", "merton"])
def test_with_jumps_the_discounted_asset_is_still_a_martingale(model: str) -> None:
    # Tests against prices use the asset as a control, which would hide a drift; so the drift is tested by itself.
    shared = {**MARKET, "time": 1.0, "jumps": JUMPS, "paths": PATHS, "draws": Draws.SOBOL}
    if model == "bates":
        last = simulation.heston(jax.random.key(9), **shared, parameters=PARAMETERS, steps=STEPS).spot[-1]
    else:
        last = simulation.merton(jax.random.key(9), **shared, volatility=0.2, steps=2).spot[-1]
    found = simulation.estimate(last, draws=Draws.SOBOL)
    assert abs(float(found.value) - 100.0 * np.exp(0.02)) < 2.5 * float(found.standard_error)


def test_merton_agrees_with_the_series() -> None:
    paths = simulation.merton(jax.random.key(4), **MARKET, time=1.0, volatility=0.2, jumps=JUMPS, steps=2, paths=PATHS)
    exact = merton.price(**MARKET, strike=STRIKE, time_to_expiry=1.0, volatility=0.2, jumps=JUMPS)
    found = _call(paths, Draws.ANTITHETIC, controlled=True)
    assert abs(float(found.value) - float(exact)) < 4.0 * float(found.standard_error)


def test_the_discounted_asset_is_a_martingale_at_every_step() -> None:
    paths = _simulated(5, Draws.RANDOM)
    growth = np.exp(0.02 * np.arange(STEPS + 1) / STEPS)
    mean, deviation = np.asarray(paths.spot.mean(axis=1)), np.asarray(paths.spot.std(axis=1))
    assert np.all(np.abs(mean - 100.0 * growth) <= 4.0 * deviation / np.sqrt(PATHS) + 1e-9)
    expected = 0.06 + (0.04 - 0.06) * np.exp(-1.5 * np.arange(STEPS + 1) / STEPS)
    np.testing.assert_allclose(paths.variance.mean(axis=1), expected, rtol=0.03)
    assert float(paths.variance.min()) >= 0.0


def test_antithetic_paths_and_a_control_reduce_the_standard_error() -> None:
    plain = _call(_simulated(6, Draws.RANDOM), Draws.RANDOM)
    controlled = _call(_simulated(6, Draws.RANDOM), Draws.RANDOM, controlled=True)
    paired = _call(_simulated(6), Draws.ANTITHETIC, strike=80.0)
    unpaired = _call(_simulated(6, Draws.RANDOM), Draws.RANDOM, strike=80.0)
    assert float(controlled.standard_error) < 0.7 * float(plain.standard_error)
    # Half as many independent values, each of a pair: without the effect the errors would be equal.
    assert float(paired.standard_error) < 0.8 * float(unpaired.standard_error)


def test_sobol_numbers_reduce_the_error() -> None:
    errors = {
        draws: [float(_call(_simulated(seed, draws), draws).value) - _exact() for seed in range(6)]
        for draws in (Draws.RANDOM, Draws.SOBOL)
    }
    spread = {draws: np.std(values) for draws, values in errors.items()}
    assert spread[Draws.SOBOL] < 0.5 * spread[Draws.RANDOM]


def test_common_random_numbers_make_differences_sharp() -> None:
    bumped = PARAMETERS._replace(initial_variance=0.041)
    base, moved, other = _simulated(7), _simulated(7, parameters=bumped), _simulated(8, parameters=bumped)
    exact = _exact(bumped) - _exact()
    common = float(_call(moved, Draws.ANTITHETIC).value - _call(base, Draws.ANTITHETIC).value)
    assert common == pytest.approx(exact, rel=0.1)
    assert float(jnp.std(moved.spot[-1] - base.spot[-1])) < 0.2 * float(jnp.std(other.spot[-1] - base.spot[-1]))


def test_sobol_points_are_scipys_in_the_first_ten_dimensions() -> None:
    # Joe and Kuo's numbers, as scipy.stats.qmc has them; a digital shift preserves every exclusive-or of two points.
    ours = np.asarray(simulation.uniforms(jax.random.key(0), dimensions=10, paths=256, draws=Draws.SOBOL))
    scipys = qmc.Sobol(10, scramble=False).random(256).T
    as_bits = np.floor(ours * 2**30).astype(np.int64)
    np.testing.assert_array_equal(as_bits ^ as_bits[:, :1], (scipys * 2**30).astype(np.int64))


def test_every_sobol_dimension_is_stratified() -> None:
    points = np.asarray(simulation.uniforms(jax.random.key(1), dimensions=300, paths=512, draws=Draws.SOBOL))
    cells = np.sort(np.floor(points * 512).astype(int), axis=1)
    np.testing.assert_array_equal(cells, np.tile(np.arange(512), (300, 1)))


@pytest.mark.parametrize(
    ("changes", "named"),
    [({"steps": 0}, "steps"), ({"paths": 33}, "paths"), ({"spot": -1.0}, "spot"), ({"time": 0.0}, "time")],
)
def test_impossible_arguments_are_named(changes: dict[str, float], named: str) -> None:
    arguments = {**MARKET, "time": 1.0, "steps": 4, "paths": 32, **changes}
    with pytest.raises(ValueError, match=named):
        simulation.heston(jax.random.key(0), parameters=PARAMETERS, **arguments)
