"""Every public function of ``pricing`` and ``backtest`` lowers for devices that this machine has not.

Arguments are those of the cases in ``tests/fuzz``, whose own test knows every public function: a new one is lowered
here without anybody thinking of it. What lowers is StableHLO; whether a device's compiler takes it, only the device
tells.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax._src.interpreters import mlir
from jax.extend.core import jaxpr_as_fun

from backtest import batch, indicators
from backtest.account import open_account
from backtest.episode import Strategy
from backtest.indicators.streaming import Indicator
from backtest.market import Market
from backtest.rules import DEFAULT_RULES
from tests.fuzz.backtest_cases import candles
from tests.fuzz.case import Case
from tests.fuzz.cases import CASES

pytestmark = pytest.mark.slow

PLATFORMS = ("cuda", "tpu")
ON_THE_HOST = {
    "pricing.calibration": {"fit_heston"},
    "pricing.chain": {"build", "forwards", "implied_rate", "liquid", "out_of_the_money", "parity"},
    "pricing.strategy.analysis": {"analyze"},
    "pricing.strategy.margin": {"margin"},
    "pricing.strategy.structure": {"classify"},
    "pricing.surface.arbitrage": {"check"},
    "pricing.surface.history": {"iv_percentile", "iv_rank"},
    "pricing.surface.ssvi": {"fit_ssvi"},
    "pricing.surface.svi": {"fit_svi"},
    "pricing.risk.attribution": {"attribution"},
    "pricing.risk.backtest": {"christoffersen", "christoffersen_independence", "exceedances", "kupiec"},
    "pricing.risk.book": {"revalue"},
    "pricing.risk.component": {"component_value_at_risk"},
    "pricing.risk.estimate": {"expected_shortfall", "value_at_risk"},
    "pricing.risk.explain": {"explain"},
    "pricing.risk.parametric": {
        "cornish_fisher_value_at_risk",
        "delta_normal_value_at_risk",
        "normal_expected_shortfall",
        "normal_value_at_risk",
    },
    "pricing.risk.performance": {"drawdown", "sharpe_ratio", "sortino_ratio"},
    "pricing.risk.simulation": {
        "historical_profits",
        "simulate_log_returns",
        "simulated_profits",
        "simulated_risk",
        "stressed_correlation",
    },
    "pricing.risk.stress": {"stress"},
    "backtest.episode": {"run"},
    "backtest.market": {"check", "problems"},
    "backtest.rules": {"check_rules"},
    "backtest.simulators.facts": {"measure"},
}
"""Functions that look at values, or compute in numpy or with plain numbers: what they compile lowers nevertheless."""

HOSTED = [case for case in CASES if case.function.__name__ in ON_THE_HOST.get(case.function.__module__, ())]
KERNELS = [case for case in CASES if case not in HOSTED]


def is_on_the_device(leaf: object) -> bool:
    return isinstance(leaf, jax.Array) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fiub")


def arrays_of(case: Case) -> dict[str, Any]:
    """Return right arguments, with arrays of no axis for numbers where a function takes arrays."""
    parameters = inspect.signature(case.function).parameters
    given = case.make(np.random.default_rng(3))
    return {
        name: np.asarray(value)
        if isinstance(value, float | bool) and "Array" in str(parameters[name].annotation)
        else value
        for name, value in given.items()
    }


def lowered(function: Callable[..., Any], *arguments: Any) -> str:
    """Return the program of a function, lowered for every platform, with its arrays as arguments."""
    leaves, tree = jax.tree.flatten(arguments)
    places = [place for place, leaf in enumerate(leaves) if is_on_the_device(leaf)]

    def call(*arrays: jax.Array) -> Any:
        filled = list(leaves)
        for place, array in zip(places, arrays, strict=True):
            filled[place] = array
        return function(*jax.tree.unflatten(tree, filled))

    shapes = [jax.ShapeDtypeStruct(leaves[place].shape, leaves[place].dtype) for place in places]
    return export.export(jax.jit(call), platforms=PLATFORMS)(*shapes).mlir_module()


def made(case: Case) -> Callable[..., Any]:
    """Return the function of a case or, where that makes a strategy or an indicator, what plays it."""

    def call(arguments: dict[str, Any], market: Market) -> Any:
        result = case.function(**arguments)
        if isinstance(result, Indicator):
            return indicators.over(result, market)
        if isinstance(result, Strategy):
            lanes = Market(*(field[None] for field in market))
            return batch.play(lanes, lanes, [result], rules=DEFAULT_RULES, account=open_account(shape=(1,)))
        return result

    return call


@pytest.mark.parametrize("case", KERNELS, ids=lambda case: case.name)
def test_a_kernel_lowers_for_accelerators(case: Case) -> None:
    market = Market(*map(jnp.asarray, candles(np.random.default_rng(3), 40)))
    module = lowered(made(case), arrays_of(case), market)
    assert "stablehlo." in module
    assert "traderbench" not in module  # the loops are for processors


@pytest.mark.parametrize("case", HOSTED, ids=lambda case: case.name)
def test_what_a_function_of_the_host_compiles_lowers_for_accelerators(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[Any] = []
    lower = mlir.lower_jaxpr_to_module

    def recorded(name: str, jaxpr: Any, **others: Any) -> Any:
        compiled.append(jaxpr)
        return lower(name, jaxpr, **others)

    jax.clear_caches()
    monkeypatch.setattr(mlir, "lower_jaxpr_to_module", recorded)
    case.function(**case.make(np.random.default_rng(3)))
    monkeypatch.undo()
    for jaxpr in compiled:
        shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in jaxpr.in_avals]
        module = export.export(jax.jit(jaxpr_as_fun(jaxpr)), platforms=PLATFORMS)(*shapes).mlir_module()
        assert "traderbench" not in module


def test_only_what_cannot_be_traced_is_left_to_the_host() -> None:
    """A function that has become a kernel leaves the list, so that it is lowered whole."""
    named = {f"{module}.{name}" for module, names in ON_THE_HOST.items() for name in names}
    assert named == {case.name for case in HOSTED}
    for case in HOSTED:
        arguments = arrays_of(case)
        if any(map(is_on_the_device, jax.tree.leaves(arguments))):
            with pytest.raises((TypeError, IndexError)):
                lowered(lambda given, case=case: case.function(**given), arguments)
