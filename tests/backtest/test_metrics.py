"""Metrics against their definitions, written out with numpy, and against empyrical's published values."""

from __future__ import annotations

import math
from statistics import NormalDist

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from backtest import batch, episode, metrics, simulators, strategies
from backtest.account import Ledger
from backtest.market import Market
from backtest.metrics.measures import MEASURES

PATH = np.array([100.0, 101.0, 99.0, 99.0, 104.0, 102.0, 90.0, 95.0, 103.0, 110.0])
RETURNS = np.diff(PATH) / PATH[:-1]


EMPYRICAL = {
    "sharpe": 3.177923113244412,
    "sortino": 4.884730845779756,
    "calmar": 99.69880967911396,
    "max_drawdown": -0.1346153846153846,
    "value_at_risk": -0.07850902737332557,
    "cvar": -0.11764705882352941,
}


def ledger(**totals: float) -> Ledger:
    return Ledger(**{name: jnp.asarray(totals.get(name, 0.0)) for name in Ledger._fields})


def test_returns_are_zero_once_the_account_is_ruined() -> None:
    np.testing.assert_allclose(metrics.returns(jnp.array([4.0, 2.0, 0.0, 0.0])), [-0.5, -1.0, 0.0])


def test_growth_measures() -> None:
    equity = jnp.array(PATH)
    assert float(metrics.total_return(equity)) == pytest.approx(0.10)
    assert float(metrics.log_growth(equity)) == pytest.approx(math.log(1.10))
    assert float(metrics.annual_return(equity, bars_per_year=252)) == pytest.approx(1.1 ** (252 / 9) - 1)


def test_ratios_follow_their_definitions() -> None:
    r, equity = jnp.array(RETURNS), jnp.array(PATH)
    deviation = RETURNS.std(ddof=1)
    downside = math.sqrt((RETURNS.clip(max=0) ** 2).mean())
    assert float(metrics.annual_volatility(r, bars_per_year=252)) == pytest.approx(deviation * math.sqrt(252))
    assert float(metrics.sharpe(r, bars_per_year=252)) == pytest.approx(RETURNS.mean() / deviation * math.sqrt(252))
    assert float(metrics.sortino(r, bars_per_year=252)) == pytest.approx(RETURNS.mean() / downside * math.sqrt(252))
    fall = 1 - 90 / 104
    assert float(metrics.max_drawdown(equity)) == pytest.approx(fall)
    assert float(metrics.calmar(equity, bars_per_year=252)) == pytest.approx((1.1 ** (252 / 9) - 1) / fall)


def test_ratios_are_those_of_empyrical() -> None:
    # empyrical-reloaded 0.7.1 on RETURNS, annualization=252.
    r, equity = jnp.array(RETURNS), jnp.array(PATH)
    assert float(metrics.sharpe(r, bars_per_year=252)) == pytest.approx(EMPYRICAL["sharpe"], rel=1e-12)
    assert float(metrics.sortino(r, bars_per_year=252)) == pytest.approx(EMPYRICAL["sortino"], rel=1e-12)
    assert float(metrics.calmar(equity, bars_per_year=252)) == pytest.approx(EMPYRICAL["calmar"], rel=1e-12)
    assert float(metrics.max_drawdown(equity)) == pytest.approx(-EMPYRICAL["max_drawdown"], rel=1e-12)
    assert float(metrics.value_at_risk(r)) == pytest.approx(-EMPYRICAL["value_at_risk"], rel=1e-12)
    assert float(metrics.expected_shortfall(r)) == pytest.approx(-EMPYRICAL["cvar"], rel=1e-12)


def test_drawdown_duration_counts_the_bars_below_a_peak() -> None:
    # Below 101 for two bars, below 104 for four.
    assert float(metrics.max_drawdown_bars(jnp.array(PATH))) == 4.0


def test_trade_measures() -> None:
    book = ledger(trades=4.0, wins=3.0, gross_profit=50.0, gross_loss=20.0, traded_notional=1000.0)
    assert float(metrics.win_rate(book)) == 0.75
    assert float(metrics.profit_factor(book)) == 2.5
    expected = 1000.0 / PATH[1:].mean() / (9 / 252)
    assert float(metrics.turnover(jnp.array(PATH), book, bars_per_year=252)) == pytest.approx(expected)


def test_moments_are_those_of_scipy() -> None:
    assert float(metrics.skewness(jnp.array(RETURNS))) == pytest.approx(stats.skew(RETURNS))
    assert float(metrics.kurtosis(jnp.array(RETURNS))) == pytest.approx(stats.kurtosis(RETURNS, fisher=False))


def test_modified_risk_of_a_normal_distribution_is_the_normal_one() -> None:
    shape = {name: jnp.asarray(v) for name, v in (("mean", 0.01), ("deviation", 0.02), ("skewness", 0.0))}
    normal = NormalDist(0.01, 0.02)
    var = metrics.modified_value_at_risk(**shape, kurtosis=jnp.asarray(3.0))
    shortfall = metrics.modified_expected_shortfall(**shape, kurtosis=jnp.asarray(3.0))
    assert float(var) == pytest.approx(-normal.inv_cdf(0.05))
    z = NormalDist().inv_cdf(0.05)
    assert float(shortfall) == pytest.approx(-0.01 + 0.02 * NormalDist().pdf(z) / 0.05)


def test_modified_value_at_risk_tracks_the_quantile_of_a_skewed_distribution() -> None:
    gamma = stats.gamma(25.0)
    mean, variance, skew, excess = (float(x) for x in gamma.stats("mvsk"))
    shape = {"mean": mean, "deviation": math.sqrt(variance), "skewness": skew, "kurtosis": excess + 3}
    arrays = {name: jnp.asarray(value) for name, value in shape.items()}
    assert float(metrics.modified_value_at_risk(**arrays)) == pytest.approx(-gamma.ppf(0.05), rel=1e-3)
    tail = gamma.expect(lambda x: x, ub=gamma.ppf(0.05)) / 0.05
    assert float(metrics.modified_expected_shortfall(**arrays)) == pytest.approx(-tail, rel=5e-3)


def test_deflated_sharpe_gives_the_example_of_its_paper() -> None:
    # Bailey and Lopez de Prado 2014, "The deflated Sharpe ratio", numerical example: annual SR 2.5 over 5 years of 250
    # daily returns, 100 trials with a variance of 0.5 (annual), skewness -3, kurtosis 10: DSR 0.9004.
    value = metrics.deflated_sharpe(
        sharpe_per_bar=jnp.asarray(2.5 / math.sqrt(250)),
        skewness=jnp.asarray(-3.0),
        kurtosis=jnp.asarray(10.0),
        bars=1250,
        trials=100,
        trial_variance=0.5 / 250,
    )
    assert float(value) == pytest.approx(0.9004, abs=5e-4)


def test_a_path_without_risk_has_no_ratio() -> None:
    still = jnp.full(10, 100.0)
    result = metrics.summary(still, ledger(), bars_per_year=8760.0, exposure=jnp.zeros(9))
    undefined = ("sharpe", "sortino", "calmar", "win_rate", "profit_factor", "skewness", "kurtosis", "deflated_sharpe")
    for name in undefined:
        assert math.isnan(float(getattr(result, name))), name
    for name in ("total_return", "log_growth", "annual_return", "annual_volatility", "max_drawdown", "turnover"):
        assert float(getattr(result, name)) == 0.0, name


def test_a_ruined_account_has_lost_everything_and_no_measure_is_infinite_but_its_log_growth() -> None:
    ruined = metrics.summary(jnp.array([100.0, 50.0, 0.0, 0.0]), ledger(), bars_per_year=8760.0)
    assert float(ruined.total_return) == -1.0
    assert float(ruined.log_growth) == -math.inf
    assert float(ruined.max_drawdown) == 1.0
    assert math.isfinite(float(ruined.sharpe))


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="at least one bar"):
        metrics.summary(jnp.array([100.0]), ledger(), bars_per_year=252.0)
    with pytest.raises(ValueError, match="bars_per_year must be one finite number, got nan"):
        metrics.summary(jnp.array(PATH), ledger(), bars_per_year=math.nan)
    with pytest.raises(ValueError, match="level must be in"):
        metrics.value_at_risk(jnp.array(RETURNS), level=1.0)
    with pytest.raises(ValueError, match="trials must be at least 1"):
        metrics.deflated_sharpe(
            sharpe_per_bar=jnp.asarray(0.1),
            skewness=jnp.asarray(0.0),
            kurtosis=jnp.asarray(3.0),
            bars=10,
            trials=0,
            trial_variance=0.1,
        )


def test_a_sweep_reports_what_the_stored_path_reports() -> None:
    warmup = 30
    keys = jax.random.split(jax.random.key(1), 4)
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=400))(keys)
    wobble = 1.0 + 0.001 * jnp.sin(jnp.arange(400.0))[None]
    noisy = markets._replace(**{name: getattr(markets, name) * wobble for name in ("open", "high", "low", "close")})
    played = [strategies.moving_average_cross(), strategies.flat()]
    swept = batch.evaluate(markets, played, observed=noisy, warmup=warmup)
    for row, strategy in enumerate(played):
        path = episode.run(markets, strategy, observed=noisy, warmup=warmup)
        stored = metrics.summary(path.equity, path.account.ledger, bars_per_year=8760.0, exposure=path.exposure)
        for name in MEASURES:
            ours, theirs = getattr(swept, name), getattr(stored, name)
            if name in ("value_at_risk", "expected_shortfall"):
                assert np.isnan(ours[row]).all()
            else:
                np.testing.assert_allclose(ours[row], theirs, rtol=1e-8, atol=1e-10, err_msg=name)


def test_one_market_is_a_batch_of_one() -> None:
    keys = jax.random.split(jax.random.key(1), 2)
    markets = jax.vmap(lambda key: simulators.simulate(key, bars=64))(keys)
    alone = Market(*(field[1] for field in markets))
    played = [strategies.flat(), strategies.moving_average_cross(2, 5)]
    one, both = batch.evaluate(alone, played), batch.evaluate(markets, played)
    assert one.sharpe.shape == (2,)
    np.testing.assert_allclose(one.log_growth, both.log_growth[:, 1], rtol=1e-12)


def test_a_measure_of_your_own_is_a_function_of_statistics_and_stands_behind_the_others() -> None:
    def gain_to_pain(s: metrics.Statistics) -> jax.Array:
        return metrics.ratio(s.mean, s.downside)

    def root_of_bars(s: metrics.Statistics) -> jax.Array:
        return jnp.full_like(s.mean, math.sqrt(s.bars))

    markets = jax.vmap(lambda key: simulators.simulate(key, bars=100))(jax.random.split(jax.random.key(1), 3))
    played = [strategies.moving_average_cross(), strategies.always_long()]
    swept = batch.evaluate(markets, played, warmup=36, metrics=[gain_to_pain, root_of_bars], bars_per_year=400.0)
    np.testing.assert_allclose(swept.own[0] * 20.0, swept.sortino, rtol=1e-12)
    np.testing.assert_array_equal(swept.own[1], jnp.full((2, 3), 8.0))
    alone = Market(*(field[1] for field in markets))
    lonely = batch.evaluate(alone, played, warmup=36, metrics=[gain_to_pain], bars_per_year=400.0)
    np.testing.assert_allclose(lonely.own[0], swept.own[0][:, 1], rtol=1e-12)


def test_every_field_of_the_summary_is_the_measure_of_its_name() -> None:
    arguments = {"bars_per_year": 252.0, "exposure": jnp.linspace(0.0, 1.0, len(PATH) - 1)}
    s = metrics.statistics(jnp.array(PATH), ledger(), **arguments)
    stored = metrics.summary(jnp.array(PATH), ledger(), **arguments)
    assert [*MEASURES, "own"] == list(metrics.Summary._fields)
    assert all(measure.__name__ == name for name, measure in MEASURES.items())
    for name, measure in MEASURES.items():
        np.testing.assert_array_equal(getattr(stored, name), measure(s), err_msg=name)
