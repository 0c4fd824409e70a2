"""Right arguments of every public function of ``pricing``, and an independent check of what it answers."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import jax
import numpy as np

from pricing import (
    american,
    bachelier,
    bates,
    black76,
    black_scholes,
    calibration,
    chain,
    greek_units,
    heston,
    implied_volatility,
    merton,
    risk,
    simulation,
    strategy,
    surface,
)
from pricing.strategy import Leg
from pricing.surface import svi
from tests.fuzz import oracles
from tests.fuzz.case import Case, number
from tests.fuzz.pricing_checks import (
    BOOK,
    CURVES,
    JUMPS,
    MATRIX,
    PARAMETERS,
    SSVI,
    SURFACE,
    american_bounds,
    analysed,
    as_spot,
    book_value,
    boundary_side,
    built,
    chain_of,
    confident,
    european,
    flags,
    frequency,
    futures_greeks,
    greeks,
    inverts,
    legs,
    normal_greeks,
    normal_price,
    on_surface,
    option,
    parity,
    priced,
    quotes,
    sample,
    sharpe,
    smile,
    sortino,
    svi_fit,
    svi_value,
    tail_mean,
    unit,
    within_bounds,
    without,
)

Arguments = dict[str, Any]


def all_cases() -> list[Case]:
    cases = [
        Case(black_scholes.price, option, european, weight=8),
        Case(black_scholes.greeks, option, greeks, weight=6),
        Case(black_scholes.price_and_greeks, option, lambda a, g: european(a, g[0]) and greeks(a, g[1]), weight=4),
        Case(black_scholes.all_greeks, option, lambda a, g: european(a, g.price) and greeks(a, g), weight=4),
        Case(
            black76.price,
            lambda r: without(option(r, first="forward"), "dividend_yield"),
            lambda a, g: european(as_spot(a), g),
            weight=4,
        ),
        Case(black76.greeks, lambda r: without(option(r, first="forward"), "dividend_yield"), futures_greeks, weight=3),
        Case(
            bachelier.price,
            lambda r: without(option(r, first="forward"), "dividend_yield", volatility=float(r.uniform(5, 30))),
            normal_price,
            weight=4,
        ),
        Case(
            bachelier.greeks,
            lambda r: without(option(r, first="forward"), "dividend_yield", volatility=float(r.uniform(5, 30))),
            normal_greeks,
            weight=3,
        ),
        Case(merton.price, lambda r: option(r) | {"jumps": JUMPS}, parity(merton.price), weight=2),
        Case(
            merton.series,
            lambda r: option(r) | {"jumps": JUMPS, "terms": 32},
            lambda a, g: bool((np.asarray(g.remainder) < 1e-9).all()) and within_bounds(a, g.price),
            weight=2,
        ),
        Case(
            bates.price,
            lambda r: without(option(r), "volatility", parameters=PARAMETERS, jumps=JUMPS),
            parity(bates.price),
            weight=2,
            dear=True,
        ),
        Case(
            heston.price,
            lambda r: without(option(r), "volatility", parameters=PARAMETERS),
            parity(heston.price),
            weight=2,
        ),
        Case(implied_volatility.solve, priced, inverts, weight=4),
        Case(american.price, option, american_bounds, weight=2, dear=True),
        Case(american.greeks, option, american_bounds, weight=1, dear=True),
        Case(american.bjerksund_stensland_price, option, american_bounds, weight=2, dear=True),
        Case(american.tree_price, lambda r: option(r) | {"steps": 21}, american_bounds, weight=1, dear=True),
        Case(
            american.exercise_boundary,
            lambda r: without(option(r, first="strike"), rate=0.05, dividend_yield=0.02),
            boundary_side,
            weight=1,
            dear=True,
        ),
        Case(american.implied_volatility, lambda r: priced(r, american.price), inverts, weight=0.2, dear=True),
        Case(
            calibration.fit_heston,
            lambda r: {
                "spot": 100.0,
                "strike": np.linspace(80.0, 120.0, 7),
                "time_to_expiry": 0.5,
                "rate": 0.03,
                "volatility": np.linspace(0.3, 0.2, 7),
            },
            lambda a, g: bool(np.max(np.abs(g.volatility_error)) < 0.02),
            weight=0.3,
            dear=True,
        ),
        Case(chain.build, quotes, built, weight=3),
        Case(
            chain.liquid,
            lambda r: {"quotes": chain_of(r), "smallest_bid": 1.0},
            lambda a, g: bool((np.asarray(g) == (a["quotes"].bid > 1.0)).all()),
        ),
        Case(
            chain.parity,
            lambda r: {"quotes": chain_of(r), "time_to_expiry": 0.5},
            lambda a, g: abs(g.forward - 100.0 * math.exp(0.015)) < 0.01 and abs(g.discount - math.exp(-0.015)) < 1e-3,
        ),
        Case(chain.implied_rate, lambda r: {"quotes": chain_of(r)}, lambda a, g: abs(g - 0.03) < 1e-3),
        Case(
            chain.forwards,
            lambda r: {"quotes": (q := chain_of(r)), "parities": [chain.parity(q, 0.5)]},
            lambda a, g: bool((np.asarray(g) == a["parities"][0].forward).all()),
        ),
        Case(
            chain.out_of_the_money,
            lambda r: {"quotes": (q := chain_of(r)), "parities": [chain.parity(q, 0.5)]},
            lambda a, g: bool(
                (
                    np.asarray(g)
                    == np.where(a["quotes"].is_call, a["quotes"].strike > 101.0, a["quotes"].strike < 101.0)
                ).all()
            ),
        ),
        Case(strategy.analyze, lambda r: {"legs": legs(r), "spot": 100.0, "rate": 0.03}, analysed, weight=2),
        Case(strategy.margin, lambda r: {"legs": legs(r), "spot": 100.0}, lambda a, g: g.requirement >= 2500.0),
        Case(
            strategy.classify,
            lambda r: {"legs": [Leg(kind="call", quantity=1.0, premium=1.0, strike=100.0)]},
            lambda a, g: g.name == "long call",
        ),
        Case(
            surface.svi_total_variance,
            lambda r: {"curve": CURVES[0], "log_moneyness": number(r, -0.5, 0.5, 3)},
            svi_value,
        ),
        Case(
            svi.svi_density,
            lambda r: {"curve": CURVES[0], "log_moneyness": number(r, -0.5, 0.5, 3)},
            lambda a, g: bool((np.asarray(g) > 0).all()),
        ),
        Case(surface.fit_svi, smile, svi_fit, weight=0.3, dear=True),
        Case(
            surface.fit_ssvi,
            lambda r: smile(r) | {"time_to_expiry": 0.5},
            lambda a, g: float(g.theta[0]) > 0.0,
            weight=0.3,
            dear=True,
        ),
        Case(
            surface.ssvi_total_variance,
            lambda r: {"surface": SSVI, "log_moneyness": 0.0, "time": number(r, 0.25, 0.5, 3)},
            lambda a, g: oracles.close(g, np.asarray(a["time"]) * 0.04),
        ),
        Case(
            surface.total_variance,
            lambda r: {"surface": SURFACE, "log_moneyness": number(r, -0.3, 0.3, 3), "time": number(r, 0.1, 2.0, 3)},
            on_surface,
        ),
        Case(
            surface.volatility,
            lambda r: {"surface": SURFACE, "strike": number(r, 80.0, 120.0, 3), "time": number(r, 0.1, 2.0, None)},
            on_surface,
        ),
        Case(
            surface.at_the_money_volatility, lambda r: {"surface": SURFACE, "time": number(r, 0.1, 2.0, 3)}, on_surface
        ),
        Case(
            surface.interpolation.forward_at,
            lambda r: {"surface": SURFACE, "time": number(r, 0.1, 2.0, 3)},
            lambda a, g: bool(((np.asarray(g) >= 100.0 - 1e-9) & (np.asarray(g) <= 102.0 + 1e-9)).all()),
        ),
        Case(
            surface.skew,
            lambda r: {"surface": SURFACE, "time": number(r, 0.1, 2.0, None)},
            lambda a, g: float(g) < 0.0,
            weight=0.3,
        ),
        Case(
            surface.strike_at_delta,
            lambda r: {"surface": SURFACE, "delta": float(r.choice([-0.25, 0.25])), "time": 0.5},
            lambda a, g: (float(g) > 101.0) == (a["delta"] > 0.0),
            weight=0.3,
        ),
        Case(
            surface.risk_reversal,
            lambda r: {"surface": SURFACE, "time": 0.5, "delta": 0.25},
            lambda a, g: float(g) < 0.0,
            weight=0.3,
        ),
        Case(
            surface.check,
            lambda r: {"surface": lambda k, t: 0.04 * t + 0.0 * k, "times": np.array([0.5, 1.0])},
            lambda a, g: g.is_free,
            weight=0.2,
            dear=True,
        ),
        Case(
            surface.iv_rank,
            lambda r: {"current": float(r.uniform(0.1, 0.5)), "history": r.uniform(0.1, 0.5, 9)},
            lambda a, g: oracles.close(
                g, 100 * (a["current"] - min(a["history"])) / (max(a["history"]) - min(a["history"]))
            ),
        ),
        Case(
            surface.iv_percentile,
            lambda r: {"current": float(r.uniform(0.1, 0.5)), "history": r.uniform(0.1, 0.5, 9)},
            lambda a, g: oracles.close(g, 100 * sum(h < a["current"] for h in a["history"]) / 9),
        ),
        Case(
            risk.attribution,
            lambda r: {
                n: float(r.normal()) for n in ("total", "spot_change", "volatility_change", "delta", "gamma", "vega")
            },
            lambda a, g: oracles.close(
                g.explained,
                a["delta"] * a["spot_change"]
                + 0.5 * a["gamma"] * a["spot_change"] ** 2
                + a["vega"] * a["volatility_change"],
            ),
        ),
        Case(
            risk.explain,
            lambda r: {"legs": legs(r), "move": risk.Move(spot=float(r.normal())), "spot": 100.0, "rate": 0.02},
            lambda a, g: abs(g.unexplained) < 30.0 and oracles.close(g.explained + g.unexplained, g.total),
        ),
        Case(
            risk.revalue,
            lambda r: {"book": BOOK, "spot": r.uniform(80, 120, (4, 2)), "rate": 0.03},
            book_value,
            weight=2,
        ),
        Case(
            risk.stress,
            lambda r: {"book": BOOK, "spot": r.uniform(80, 120, 2)},
            lambda a, g: len(g) == len(risk.SCENARIOS) and all(math.isfinite(x.profit_and_loss) for x in g),
            weight=0.5,
        ),
        Case(
            risk.simulate_log_returns,
            lambda r: {
                "key": jax.random.key(1),
                "volatility": np.array([0.2, 0.3]),
                "correlation": MATRIX,
                "years": 0.1,
                "scenarios": 8,
            },
            lambda a, g: (
                g.shape == (8, 2) and oracles.close(np.asarray(g).mean(axis=0), -0.5 * a["volatility"] ** 2 * 0.1)
            ),
            weight=0.5,
        ),
        Case(
            risk.simulated_profits,
            lambda r: {
                "key": jax.random.key(1),
                "book": BOOK,
                "spot": np.array([100.0, 50.0]),
                "volatility": np.array([0.2, 0.3]),
                "correlation": MATRIX,
                "scenarios": 8,
            },
            lambda a, g: g.shape == (8,) and bool(np.isfinite(g).all()),
            weight=0.5,
        ),
        Case(
            risk.simulated_risk,
            lambda r: {
                "key": jax.random.key(1),
                "book": BOOK,
                "spot": np.array([100.0, 50.0]),
                "volatility": np.array([0.2, 0.3]),
                "correlation": MATRIX,
                "scenarios": 40,
                "confidence": float(r.uniform(0.6, 0.95)),
            },
            lambda a, g: g.expected_shortfall.value >= g.value_at_risk.value > 0.0,
            weight=0.3,
        ),
        Case(
            risk.historical_profits,
            lambda r: {"book": BOOK, "spot": np.array([100.0, 50.0]), "returns": r.normal(0, 0.01, (9, 2))},
            lambda a, g: g.shape == (9,) and bool(np.isfinite(g).all()),
            weight=0.5,
        ),
        Case(
            risk.stressed_correlation,
            lambda r: {"correlation": MATRIX, "change": float(r.uniform(0.0, 1.0))},
            lambda a, g: oracles.close(g[0, 1], 0.3 + 0.7 * a["change"]),
        ),
        Case(
            risk.value_at_risk,
            lambda r: {"profit_and_loss": sample(r), "confidence": confident(r)},
            lambda a, g: oracles.close(g.value, oracles.quantile((-a["profit_and_loss"]).tolist(), a["confidence"])),
            weight=2,
        ),
        Case(risk.expected_shortfall, lambda r: {"profit_and_loss": sample(r), "confidence": confident(r)}, tail_mean),
        Case(
            risk.component_value_at_risk,
            lambda r: {"profit_by_part": r.normal(0, 1, (3, 40)), "confidence": confident(r)},
            lambda a, g: oracles.close(
                sum(g), oracles.quantile((-a["profit_by_part"].sum(axis=0)).tolist(), a["confidence"])
            ),
        ),
        Case(
            risk.normal_value_at_risk,
            lambda r: {
                "standard_deviation": float(r.uniform(0, 9)),
                "mean": float(r.normal()),
                "confidence": confident(r),
            },
            lambda a, g: oracles.close(g, a["standard_deviation"] * NormalDist().inv_cdf(a["confidence"]) - a["mean"]),
        ),
        Case(
            risk.normal_expected_shortfall,
            lambda r: {
                "standard_deviation": float(r.uniform(0, 9)),
                "mean": float(r.normal()),
                "confidence": confident(r),
            },
            lambda a, g: oracles.close(
                g,
                a["standard_deviation"]
                * NormalDist().pdf(NormalDist().inv_cdf(a["confidence"]))
                / (1 - a["confidence"])
                - a["mean"],
            ),
        ),
        Case(
            risk.cornish_fisher_value_at_risk,
            lambda r: {
                "standard_deviation": float(r.uniform(0, 9)),
                "skewness": 0.0,
                "excess_kurtosis": 0.0,
                "confidence": confident(r),
            },
            lambda a, g: oracles.close(g, a["standard_deviation"] * NormalDist().inv_cdf(a["confidence"])),
        ),
        Case(
            risk.delta_normal_value_at_risk,
            lambda r: {"exposure": r.normal(0, 100, 2), "covariance": 0.01 * MATRIX, "confidence": confident(r)},
            lambda a, g: (
                oracles.close(sum(g.component), g.value)
                and oracles.close(
                    g.value,
                    math.sqrt(a["exposure"] @ a["covariance"] @ a["exposure"]) * NormalDist().inv_cdf(a["confidence"]),
                )
            ),
        ),
        Case(
            risk.exceedances,
            lambda r: {"profit_and_loss": sample(r, 5), "value_at_risk": 0.5},
            lambda a, g: bool((np.asarray(g) == (-a["profit_and_loss"] > 0.5)).all()),
        ),
        Case(risk.kupiec, lambda r: {"exceeded": flags(r), "confidence": confident(r)}, frequency),
        Case(
            risk.christoffersen_independence,
            lambda r: {"exceeded": flags(r)},
            lambda a, g: g.statistic >= 0.0 and 0.0 <= g.p_value <= 1.0,
        ),
        Case(
            risk.christoffersen,
            lambda r: {"exceeded": flags(r), "confidence": confident(r)},
            lambda a, g: 0.0 <= g.p_value <= 1.0,
        ),
        Case(
            risk.sharpe_ratio,
            lambda r: {"returns": sample(r, 30), "periods_per_year": 252.0, "risk_free_rate": 0.02},
            sharpe,
        ),
        Case(
            risk.sortino_ratio,
            lambda r: {"returns": sample(r, 30), "periods_per_year": 252.0, "target_rate": 0.0},
            sortino,
        ),
        Case(
            risk.drawdown,
            lambda r: {"equity": r.uniform(50, 100, 5)},
            lambda a, g: oracles.close(g, oracles.drawdowns(a["equity"].tolist())),
        ),
        Case(
            simulation.uniforms,
            lambda r: {"key": jax.random.key(2), "dimensions": 2, "paths": 8},
            lambda a, g: g.shape == (2, 8) and bool(((np.asarray(g) > 0) & (np.asarray(g) < 1)).all()),
            weight=0.5,
        ),
        Case(
            simulation.estimate,
            lambda r: {"values": sample(r, 8)},
            lambda a, g: (
                oracles.close(g.value, np.mean(a["values"]))
                and oracles.close(g.standard_error, oracles.deviation(a["values"].tolist()) / math.sqrt(8))
            ),
            weight=0.5,
        ),
        Case(
            simulation.heston,
            lambda r: {
                "key": jax.random.key(2),
                "spot": 100.0,
                "time": 1.0,
                "rate": 0.02,
                "parameters": PARAMETERS,
                "steps": 2,
                "paths": 4,
            },
            lambda a, g: bool((np.asarray(g.spot) > 0).all()),
            weight=0.2,
            dear=True,
        ),
        Case(
            simulation.merton,
            lambda r: {
                "key": jax.random.key(2),
                "spot": 100.0,
                "time": 1.0,
                "rate": 0.02,
                "volatility": 0.2,
                "jumps": JUMPS,
                "steps": 2,
                "paths": 4,
            },
            lambda a, g: bool((np.asarray(g.spot) > 0).all()),
            weight=0.2,
            dear=True,
        ),
    ]
    for function, name, divisor in (
        (greek_units.theta_per_calendar_day, "theta", 365.0),
        (greek_units.vega_per_point, "vega", 100.0),
        (greek_units.rho_per_point, "rho", 100.0),
    ):
        make, check = unit(name, divisor)
        cases.append(Case(function, make, check))
    return cases
