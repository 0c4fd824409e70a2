"""What single transforms promise, each on one random walk."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import transforms
from backtest import batch, simulators, strategies
from backtest.market import Market
from transforms import registry
from transforms.soft_followers import best_growth
from transforms.worst_case import project

KEY = jax.random.key(3)
MARKET: Market = simulators.simulate(jax.random.key(5), bars=480)


def log_close(market: Market) -> np.ndarray:
    return np.log(np.asarray(market.close))


def test_noise_of_the_noisy_condition_is_two_percent_with_threefold_volume_spikes() -> None:
    changed = transforms.apply("noisy", KEY, MARKET)
    noise = log_close(changed.observed) - log_close(MARKET)
    assert abs(noise.std() - 0.02) < 0.002 and abs(noise.mean()) < 0.003
    multiples = np.unique(np.round(np.asarray(changed.observed.volume / MARKET.volume), 9))
    assert multiples.tolist() == [1.0, 3.0]
    spikes = [row for row in transforms.describe(changed.events) if row["kind"] == "volume_spike"]
    assert 0.02 < len(spikes) / 480 < 0.09 and all(row["size"] == 3.0 for row in spikes)


def test_false_crosses_follow_the_trend_before_them_and_leave_no_trace() -> None:
    changed = transforms.apply("adversarial", KEY, MARKET)
    kinds = {row["kind"] for row in transforms.describe(changed.events)}
    assert kinds == {"false_cross", "false_divergence", "false_momentum"}
    deviation = log_close(changed.observed) - log_close(MARKET)
    quiet = np.asarray(changed.events.kind) == 0
    assert np.abs(deviation[quiet]).max() < 1e-12 < np.abs(deviation).max()
    crosses = np.asarray(changed.events.kind) == list(transforms.record.KINDS).index("false_cross")
    first = np.flatnonzero(crosses & ~np.roll(crosses, 1))
    first = first[first > 20]
    trend = log_close(MARKET)[first - 1] - log_close(MARKET)[first - 21]
    assert (np.sign(deviation[first]) == np.sign(trend)).mean() > 0.9


def test_adversarial_signals_make_followers_trade_more_and_keep_a_slow_rsi_out_of_the_market() -> None:
    keys = jax.random.split(jax.random.key(6), 40)
    markets = jax.jit(jax.vmap(lambda key: simulators.simulate(key, bars=480)))(keys)
    seen = transforms.apply("adversarial", KEY, markets).observed
    names = ("moving_average_cross", "macd", "rsi_reversal")
    played = [strategies.get(name) for name in names]
    played.append(strategies.get("rsi_reversal", window=7, low=40.0, high=60.0))
    clean, fooled = (batch.evaluate(markets, played, observed=each, warmup=50) for each in (markets, seen))
    more = np.mean(fooled.turnover, axis=1) / np.mean(clean.turnover, axis=1)
    assert more[0] > 2.0 and more[1] > 1.6 and more[3] > 1.3
    held = np.mean(fooled.gross_exposure, axis=1) / np.mean(clean.gross_exposure, axis=1)
    assert held[2] < 0.4 and (held[:2] > 0.9).all()


def test_meta_shows_breakouts_above_resistance_that_never_happened() -> None:
    changed = transforms.apply("meta", KEY, MARKET, price_sigma=0.0)
    kind = np.asarray(changed.events.kind)
    shown = kind == transforms.record.KINDS.index("false_breakout")
    starts = [bar for bar in np.flatnonzero(shown & ~np.roll(shown, 1)) if bar > 20]
    assert starts
    for bar in starts:
        resistance = float(jnp.max(MARKET.high[bar - 20 : bar]))
        assert float(changed.observed.close[bar]) == pytest.approx(resistance * np.exp(0.01), rel=1e-12)
        assert float(changed.traded.close[bar]) < resistance * np.exp(0.01)


def test_inverting_twice_gives_the_market_back_and_once_its_mirror_image() -> None:
    once = transforms.apply("invert", KEY, MARKET).traded
    twice = transforms.apply("invert", KEY, once).traded
    for one, two in zip(MARKET, twice, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)
    np.testing.assert_allclose(np.diff(log_close(once)), -np.diff(log_close(MARKET)), atol=1e-12)
    np.testing.assert_array_equal(once.funding_rate, -MARKET.funding_rate)


def test_a_flash_crash_is_traded_on_and_falls_by_its_depth_within_one_bar() -> None:
    changed = transforms.apply("flash_crash", KEY, MARKET, every_bars=480)
    row = next(row for row in transforms.describe(changed.events) if row["kind"] == "crash")
    bar = int(row["bar"])
    deviation = log_close(changed.traded) - log_close(MARKET)
    assert np.abs(deviation[:bar]).max(initial=0.0) < 1e-12
    assert abs(deviation[bar] + 0.2) < 1e-12 and abs(float(row["size"]) + 0.2) < 1e-12
    np.testing.assert_array_equal(changed.observed.close, changed.traded.close)


def test_a_stale_feed_repeats_a_bar_and_lost_bars_are_flat_and_empty() -> None:
    stale = transforms.apply("stale_feed", KEY, MARKET)
    for row in transforms.describe(stale.events):
        bar, delay = int(row["bar"]), int(row["size"])
        assert float(stale.observed.close[bar]) == float(MARKET.close[bar - delay])
    lost = transforms.apply("missing_bars", KEY, MARKET)
    rows = transforms.describe(lost.events)
    assert 0.04 < len(rows) / 480 < 0.17
    for row in rows:
        bar = int(row["bar"])
        assert float(lost.observed.volume[bar]) == 0.0
        assert float(lost.observed.high[bar]) == float(lost.observed.low[bar]) == float(lost.observed.close[bar - 1])


def test_scale_keeps_notional_and_a_time_shift_keeps_everything_but_the_time() -> None:
    scaled = transforms.apply("scale", KEY, MARKET, factor=4.0).traded
    np.testing.assert_allclose(scaled.close * scaled.volume, MARKET.close * MARKET.volume, rtol=1e-14)
    shifted = transforms.apply("time_shift", KEY, MARKET).traded
    assert float(shifted.time[0] - MARKET.time[0]) == 2_592_000.0
    np.testing.assert_array_equal(shifted.close, MARKET.close)


def test_a_regime_change_multiplies_volatility_from_one_bar_on() -> None:
    changed = transforms.apply("regime_change", KEY, MARKET)
    bar = int(transforms.describe(changed.events)[0]["bar"])
    ratio = np.diff(log_close(changed.traded)) / np.diff(log_close(MARKET))
    np.testing.assert_allclose(ratio[: bar - 1], 1.0, rtol=1e-8)
    np.testing.assert_allclose(ratio[bar - 1 :], 3.0, rtol=1e-8)


def test_bootstrap_blocks_reorders_returns_that_the_market_had() -> None:
    changed = transforms.apply("bootstrap_blocks", KEY, MARKET)
    had = np.diff(log_close(MARKET), prepend=np.log(float(MARKET.open[0])))
    has = np.diff(log_close(changed.traded), prepend=np.log(float(MARKET.open[0])))
    assert np.abs(has[:, None] - had[None, :]).min(axis=1).max() < 1e-9


def test_a_composition_applies_its_parts_in_order_and_sends_each_to_its_channel() -> None:
    changed = transforms.apply("flash_crash+noisy", KEY, MARKET)
    crash_key = jax.random.split(KEY, 2)[0]
    crash = transforms.apply("flash_crash", crash_key, MARKET)
    np.testing.assert_array_equal(changed.traded.close, crash.traded.close)
    assert np.std(log_close(changed.observed) - log_close(changed.traded)) > 0.01
    kinds = {row["kind"] for row in transforms.describe(changed.events)}
    assert kinds == {"crash", "volume_spike"}


def test_a_transform_of_ones_own_is_one_file_with_one_declared_function(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import transforms\n\n\n@transforms.transform(channel='observed')\n"
        "def late(key, market, *, severity=1.0, bps=10.0):\n"
        '    """Show closes a little higher."""\n'
        "    up = 1.0 + severity * bps * 1e-4\n"
        "    return market._replace(close=market.close * up, high=market.high * up)\n\n\n"
        "def undeclared(key, market):\n    return market\n"
    )
    changed = transforms.apply(f"{mine}:late", KEY, MARKET, bps=20.0)
    np.testing.assert_allclose(changed.observed.close, MARKET.close * 1.002, rtol=1e-12)
    np.testing.assert_array_equal(changed.traded.close, MARKET.close)
    with pytest.raises(ValueError, match=r"no 'lat'.*it declares late"):
        registry.get(f"{mine}:lat")
    with pytest.raises(ValueError, match=r"is not declared; put @transforms\.transform"):
        registry.get(f"{mine}:undeclared")
    with pytest.raises(ValueError, match="does not exist"):
        registry.get(f"{tmp_path}/other.py:late")
    mine.write_text("1 / 0\n")
    with pytest.raises(ValueError, match="fails on import: ZeroDivisionError"):
        registry.get(f"{mine}:late")


def test_the_projection_keeps_the_budget_and_has_no_drift() -> None:
    wild = jax.random.normal(KEY, (300,)) + 5.0
    kept = project(wild, per_bar=0.02, total=0.01)
    assert abs(float(kept.mean())) < 1e-15
    assert float(jnp.max(jnp.abs(kept))) <= 0.02 * (1 + 1e-12) and float(jnp.mean(jnp.abs(kept))) <= 0.01 * (1 + 1e-12)


@pytest.mark.parametrize("name", ["worst_case", "worst_path"])
def test_the_worst_case_costs_soft_followers_much_more_than_noise_of_the_same_budget(name: str) -> None:
    changed = transforms.apply(name, KEY, MARKET, steps=20, restarts=1)
    deviation = jnp.log(changed.observed.close) - jnp.log(MARKET.close)
    assert float(jnp.max(jnp.abs(deviation))) <= 0.02 + 1e-12
    assert float(jnp.mean(jnp.abs(deviation))) <= 0.01 + 1e-12
    noise = project(0.02 * jax.random.normal(KEY, deviation.shape), per_bar=0.02, total=0.01)
    unit = jnp.std(jnp.diff(jnp.log(MARKET.close)))

    def growth(seen: jax.Array, real: jax.Array) -> float:
        opens = jnp.log(MARKET.open) + jnp.concatenate([jnp.zeros(1), real[:-1]])
        return float(best_growth(jnp.log(MARKET.close) + seen, opens, jnp.log(MARKET.close) + real, unit))

    none = jnp.zeros_like(deviation)
    real = deviation if name == "worst_path" else none
    noisy_real = noise if name == "worst_path" else none
    before, noisy, worst = growth(none, none), growth(noise, noisy_real), growth(deviation, real)
    assert worst < min(before, noisy) - 0.2
