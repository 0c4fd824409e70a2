"""The shape of the paper's table 14 on real hourly bitcoin candles, with reference strategies."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import transforms
from backtest import batch, strategies
from backtest.market import Market
from lake.candles.folder import stretches
from transforms.symmetry import power_of_returns

pytestmark = [pytest.mark.shared_data, pytest.mark.slow]

BARS, WARMUP, NOISE_SEEDS = 480, 50, 4
FOLLOWERS = {
    "moving averages": strategies.get("moving_average_cross"),
    "MACD": strategies.get("macd"),
    "RSI": strategies.get("rsi_reversal", window=7, low=40.0, high=60.0),
}
UNSEEN = {
    "slow averages": strategies.get("moving_average_cross", fast=20, slow=50),
    "channel breakout": strategies.get("donchian_breakout", window=10),
    "grid": strategies.get("grid"),
}
"""Strategies that the gradient never went through."""
SLOW = {"slow RSI": strategies.get("rsi_reversal"), "RSI divergence": strategies.get("rsi_divergence")}
"""Followers that false signals keep out of the market (transforms/README.md says why)."""
PLAYED = FOLLOWERS | UNSEEN | SLOW


@pytest.fixture(scope="module")
def market(shared_data: Path) -> Market:
    """Windows of BTCUSDT perpetual hourly bars and their mirror images, ``[2 * windows, bars]``."""
    stretch = stretches(str(shared_data / "crypto" / "perp" / "BTCUSDT_1h_perp_2023_2026.parquet"))[0]
    count = len(stretch.market.time) // BARS
    fields = [jnp.asarray(np.asarray(f)[: count * BARS].reshape(count, BARS)) for f in stretch.market]
    windows = Market(*fields)
    mirror = power_of_returns(windows, pivot=windows.open[:, :1], power=-1.0)
    return Market(*(jnp.concatenate(pair) for pair in zip(windows, mirror, strict=True)))


def growth(market: Market, name: str, *, seeds: int, **params: float) -> np.ndarray:
    """Return log growth by follower and window, averaged over mirror and noise, ``[strategies, windows]``."""
    found = []
    for seed in range(seeds):
        changed = transforms.apply(name, jax.random.key(seed), market, **params)
        rows = batch.evaluate(changed.traded, list(PLAYED.values()), observed=changed.observed, warmup=WARMUP)
        found.append(np.asarray(rows.log_growth))
    return np.mean(found, axis=0).reshape(len(PLAYED), 2, -1).mean(axis=1)


@pytest.fixture(scope="module")
def table(market: Market) -> dict[str, np.ndarray]:
    adversarial = transforms.apply("adversarial", jax.random.key(0), market)
    moved = np.abs(np.log(np.asarray(adversarial.observed.close / market.close)))
    budget = {"per_bar": float(moved.max()), "total": float(moved.mean()), "steps": 20, "restarts": 1}
    return {
        "baseline": growth(market, "baseline", seeds=1),
        "noisy": growth(market, "noisy", seeds=NOISE_SEEDS),
        "meta": growth(market, "meta", seeds=NOISE_SEEDS),
        "adversarial": growth(market, "adversarial", seeds=NOISE_SEEDS),
        "worst_case": growth(market, "worst_case", seeds=1, **budget),
    }


def test_false_signals_cost_followers_of_averages_macd_and_rsi_significantly(table: dict[str, np.ndarray]) -> None:
    tests = [
        stats.ttest_rel(table["adversarial"][row], table["baseline"][row], alternative="less")
        for row in range(len(FOLLOWERS))
    ]
    ordered = sorted(float(test.pvalue) for test in tests)
    assert all(p * (len(ordered) - rank) < 0.01 for rank, p in enumerate(ordered)), ordered  # Holm


def test_noise_costs_followers_of_averages_and_macd_significantly(table: dict[str, np.ndarray]) -> None:
    for condition in ("noisy", "meta"):
        for row in range(2):
            test = stats.ttest_rel(table[condition][row], table["baseline"][row], alternative="less")
            assert test.pvalue < 0.001, (condition, row)


def test_slow_followers_of_the_rsi_are_kept_out_of_the_market_and_lose_little(
    market: Market, table: dict[str, np.ndarray]
) -> None:
    seen = transforms.apply("adversarial", jax.random.key(0), market).observed
    held = [
        np.mean(batch.evaluate(market, list(SLOW.values()), observed=each, warmup=WARMUP).gross_exposure, axis=1)
        for each in (market, seen)
    ]
    assert (held[1] < 0.25 * held[0]).all()
    for row, name in enumerate(PLAYED):
        if name in SLOW:
            assert -0.01 < table["adversarial"][row].mean() < 0.0
            # Not hurt: no test could tell, least of all in the direction of a loss.
            assert stats.ttest_rel(table["adversarial"][row], table["baseline"][row]).pvalue > 0.05


def test_the_worst_case_costs_more_than_the_adversarial_condition_at_equal_budget(table: dict[str, np.ndarray]) -> None:
    for row, name in enumerate(FOLLOWERS):
        test = stats.ttest_rel(table["worst_case"][row], table["adversarial"][row], alternative="less")
        assert test.pvalue < 1e-6, name


def test_the_worst_case_hurts_strategies_that_its_gradient_never_saw(table: dict[str, np.ndarray]) -> None:
    for row, name in enumerate(PLAYED):
        if name in UNSEEN:
            test = stats.ttest_rel(table["worst_case"][row], table["baseline"][row], alternative="less")
            assert test.pvalue < 1e-6, name
