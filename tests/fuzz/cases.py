"""All public functions of ``pricing`` and ``backtest`` with their cases, and the modules that are not for users."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import backtest
import pricing
from tests.fuzz import backtest_cases, pricing_cases

CASES = [*pricing_cases.all_cases(), *backtest_cases.all_cases()]

INTERNAL = {
    "pricing.american.arguments": "checks for its neighbours",
    "pricing.american.boundary": "numerics of collocation, called with what is checked",
    "pricing.fourier": "numerics of Heston and Bates, called with what is checked",
    "pricing.inputs": "the checks themselves",
    "pricing.least_squares": "numerics of fits, called with what is checked",
    "pricing.moneyness": "numerics, called with what is checked",
    "pricing.normal": "numerics, called with what is checked",
    "pricing.out_of_the_money": "numerics, called with what is checked",
    "pricing.padding": "shapes of tool calls, for its neighbours",
    "pricing.rational_cubic": "numerics, called with what is checked",
    "pricing.risk.order_statistics": "numerics of simulated_risk, called with what is checked",
    "pricing.signature": "the checks themselves",
    "pricing.simulation.sobol": "numerics of draws, called with what is checked",
    "pricing.strategy.horizon": "part of analyze, called with checked legs",
    "pricing.strategy.payoff": "part of analyze and margin, called with checked legs",
    "backtest.loops": "loops, called with what is checked",
    "backtest.loops.writing": "writes the loops",
    "backtest.metrics.measures": "measures of statistics, called with what path functions and batch made of them",
    "backtest.metrics.own": "files of the user's own, tried in test_sweep_rows.py",
    "backtest.naming": "names and files of the user's own, tried in test_own_strategies.py and test_sweep_rows.py",
    "backtest.simulators.channels": "series of the knowable simulator, called in its traced code",
    "backtest.simulators.draws": "numbers of the simulator, called in its traced code",
    "backtest.simulators.public": "what structures read, called in traced code",
    "backtest.simulators.structures": "signals of the knowable simulator, called in its traced code",
    "backtest.simulators.structures.contract": "signals of the knowable simulator, called in its traced code",
    "backtest.strategies.orders": "orders of strategies, called in traced code",
    "backtest.strategies.own": "files of the user's own, tried in test_own_strategies.py",
    "backtest.tally": "sums of batch, called in traced code",
}
"""Modules whose functions only neighbours call."""

FUNCTIONS = {
    "pricing.bates.require_jumps": "a check",
    "pricing.bates.jump_exponent": "characteristic function, called in traced code",
    "pricing.heston.require_parameters": "a check",
    "pricing.heston.expected_variance": "called in traced code",
    "pricing.heston.decay": "called in traced code",
    "pricing.heston.exponent": "characteristic function, called in traced code",
    "pricing.heston.option_arguments": "a check",
    "pricing.risk.book.options_and_stock": "a check",
    "pricing.risk.book.revalue_options": "part of revalue, for traced code",
    "pricing.risk.estimate.require_confidence": "a check",
    "pricing.surface.ssvi.natural_variance": "the formula of ssvi_total_variance, also for numpy",
    "backtest.batch.play": "part of evaluate, for traced code",
    "backtest.episode.step_bar": "compiled step",
    "backtest.indicators.oscillators.true_range": "part of indicators, called in traced code",
    "backtest.metrics.numbers.equity_path": "a check",
    "backtest.metrics.numbers.normal_quantile": "a quantile of the standard library",
    "backtest.metrics.numbers.one_a_bar": "a check",
    "backtest.metrics.numbers.require_bars_per_year": "a check",
    "backtest.metrics.numbers.require_level": "a check",
    "backtest.metrics.path.statistics": "part of summary",
    "backtest.market.bars_last_to_first": "layout, called in traced code",
    "backtest.rules.changed": "no rule at all is right; tests of sweeps try wrong ones",
    "backtest.market.require_shapes": "a check",
    "backtest.simulators.bates.begin": "part of simulate, called in traced code",
    "backtest.simulators.bates.block_bars": "part of simulate, called in traced code",
    "backtest.simulators.bates.candles": "part of simulate, called in traced code",
    "backtest.simulators.bates.funding_rate": "part of simulate, called in traced code",
    "backtest.simulators.bates.of_regime": "part of simulate, called in traced code",
    "backtest.simulators.bates.require_possible": "a check",
    "backtest.simulators.bates.step": "part of simulate, called in traced code",
    "backtest.simulators.knowable.require_known": "a check",
}
"""Single functions of public modules that only neighbours call."""

STREAMING = "backtest.indicators.streaming."


def public_functions() -> set[str]:
    """Names of the functions that a module of either package defines and does not hide."""
    found = set[str]()
    for package in (pricing, backtest):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name in INTERNAL:
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                here = getattr(value, "__module__", None) == module.name
                if here and callable(value) and not name.startswith("_") and not inspect.isclass(value):
                    found.add(f"{module.name}.{name}")
    return {name for name in found if not name.startswith(STREAMING) or name == f"{STREAMING}over"} - set(FUNCTIONS)
