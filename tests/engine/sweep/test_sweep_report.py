"""What the report of a sweep says about uncertainty, against scipy's tests on the stored rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats
import yaml

from engine.scoring.statistics import Sample, clustered_mean, holm, minimum_detectable_difference
from engine.sweep import charts as sweep_charts
from engine.sweep import report as sweep_report
from engine.sweep.config import SweepConfig, load
from engine.sweep.means import Means, Running, families_of
from engine.sweep.run import run_sweep
from engine.sweep.store import shard_files

HOUR = 3600.0


def candle_file(path: Path, *, bars: int, seed: int, start: float = 1_600_000_000.0 // HOUR * HOUR) -> None:
    """Write random hourly candles."""
    close = 100.0 * np.exp(np.cumsum(np.random.default_rng(seed).normal(0.0, 0.01, bars)))
    opened = np.concatenate([[100.0], close[:-1]])
    rows = [
        f"{int(start + i * HOUR)},{o!r},{max(o, c) * 1.001!r},{min(o, c) * 0.999!r},{c!r},1000.0"
        for i, (o, c) in enumerate(zip(opened.tolist(), close.tolist(), strict=True))
    ]
    path.write_text("\n".join(["timestamp,open,high,low,close,volume", *rows]) + "\n")


def swept(folder: Path, **changes: Any) -> tuple[SweepConfig, Means, Any, str]:
    """Run a sweep; return its config, means, rows and report."""
    import pandas as pd

    body = {
        "name": "small",
        "transforms": ["baseline", "noisy", "adversarial"],
        "seeds": 12,
        "bars": 150,
        "strategies": ["macd", "moving_average_cross"],
        "seeds_per_shard": 5,
    } | changes
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump(body))
    summary = run_sweep(path, out=folder / "out", workers=1)
    config = load(path)
    means = Means(config, families_of(config))
    for shard in shard_files(folder / "out" / "results"):
        means.add(pd.read_parquet(shard))
    return config, means, pd.read_parquet(folder / "out" / "results"), Path(summary["report"]).read_text()


def grown(rows: Any, transform: str, strategy: str, severity: float = 1.0) -> np.ndarray:
    found = rows[(rows["transform"] == transform) & (rows["strategy"] == strategy) & (rows["severity"] == severity)]
    return found.sort_values(["window", "seed"])["log_growth"].to_numpy()


def test_on_simulated_markets_differences_are_scipys_paired_t_test_over_seeds(tmp_path: Path) -> None:
    _, means, rows, text = swept(tmp_path)
    found = means.comparisons()
    assert [(each.strategy, each.transform) for each in found] == [
        (strategy, transform) for strategy in ("macd", "moving_average_cross") for transform in ("noisy", "adversarial")
    ]
    p_values = []
    for each in found:
        oracle = scipy.stats.ttest_rel(
            grown(rows, each.transform, each.strategy), grown(rows, "baseline", each.strategy)
        )
        assert each.paired.n == 12
        assert each.paired.p_value == pytest.approx(oracle.pvalue, rel=1e-8)
        low, high = oracle.confidence_interval(0.95)
        assert (
            each.paired.difference - each.paired.half_width,
            each.paired.difference + each.paired.half_width,
        ) == pytest.approx((low, high), rel=1e-8)
        p_values.append(oracle.pvalue)
        shown = sweep_report.row(each)
        assert shown["detectable"] == f"{minimum_detectable_difference(each.paired.se):.4f}"
    assert [each.p_adjusted for each in found] == pytest.approx(holm(p_values), rel=1e-8)
    assert "Intervals count 12 independent simulated markets." in text
    estimate = means.estimate(("noisy", 1.0, "macd"), "log_growth")
    assert estimate is not None
    assert estimate.se == pytest.approx(scipy.stats.sem(grown(rows, "noisy", "macd")), rel=1e-8)


def test_on_candle_files_the_seeds_of_a_window_count_as_one(tmp_path: Path) -> None:
    candle_file(tmp_path / "btc.csv", bars=1000, seed=1)
    config, means, rows, text = swept(
        tmp_path, data=str(tmp_path / "btc.csv"), windows=6, transforms=["baseline", "noisy"]
    )
    assert len(set(families_of(config) or [])) == 6
    each = means.comparisons()[0]
    by_seed = (grown(rows, "noisy", "macd") - grown(rows, "baseline", "macd")).reshape(6, 12)
    oracle = scipy.stats.ttest_1samp(by_seed.mean(axis=1), 0.0)
    assert each.paired.n == 72
    assert each.paired.p_value == pytest.approx(oracle.pvalue, rel=1e-8)
    assert "Intervals count 6 independent stretches of time: the 12 seeds of a window share its prices" in text
    baseline = means.estimate(("baseline", 1.0, "macd"), "log_growth")
    assert baseline is not None and baseline.degrees_of_freedom == 5.0


def test_coins_of_the_same_time_are_one_family(tmp_path: Path) -> None:
    folder = tmp_path / "coins"
    folder.mkdir()
    for number, name in enumerate(("btc", "eth")):
        candle_file(folder / f"{name}.csv", bars=600, seed=number)
    config, _, _, text = swept(tmp_path, data=str(folder), windows=8, seeds=2)
    assert sorted(np.unique(families_of(config) or [], return_counts=True)[1].tolist()) == [2, 2, 2, 2]
    assert "Intervals count 4 independent stretches of time" in text and "(8 windows in all)" in text


def test_one_window_of_candles_gives_no_interval_and_says_so(tmp_path: Path) -> None:
    candle_file(tmp_path / "btc.csv", bars=200, seed=1)
    _, means, _, text = swept(tmp_path, data=str(tmp_path / "btc.csv"))
    assert all(each.paired.p_value is None and each.p_adjusted is None for each in means.comparisons())
    assert "One alone gives no interval and no test" in text


def test_curves_stand_in_the_report_for_each_transform_when_there_are_several_severities(tmp_path: Path) -> None:
    config, means, _, text = swept(tmp_path, severities=[0.5, 2.0])
    assert text.count("<svg") == 1 + 2 + 3
    assert "severity of noisy" in text and "severity of adversarial" in text and "severity of baseline" not in text
    assert sweep_report.main_severity(config) == 0.5
    assert len(means.comparisons()) == 2 * 2 * 2
    assert "<script" not in text and 'src="http' not in text


def test_a_running_mean_equals_the_clustered_mean_of_all_values_at_once() -> None:
    generator = np.random.default_rng(5)
    blocks = [1e6 + generator.normal(0.0, 1.0, size) for size in (3, 1, 7, 5)]
    alone, together = Running(), Running()
    for place, block in enumerate(blocks):
        alone.add(np.append(block, np.nan), family=None)
        together.add(block, family=str(place % 2))
    flat = [(str(place % 2), value) for place, block in enumerate(blocks) for value in block]
    assert alone.count == 16
    assert alone.estimate() == pytest.approx(
        clustered_mean(Sample(str(i), value) for i, (_, value) in enumerate(flat)), rel=1e-9
    )
    assert together.estimate() == pytest.approx(clustered_mean(Sample(*each) for each in flat), rel=1e-6)
    assert Running().estimate() is None


def test_text_on_a_cell_always_has_the_contrast_that_wcag_asks_for() -> None:
    # WCAG 2.2, 1.4.3: at least 4.5 : 1, with (L1 + 0.05) / (L2 + 0.05)
    import matplotlib

    for shade in np.linspace(0.0, 1.0, 101):
        color = matplotlib.colormaps["RdBu"](shade)
        text = sweep_charts.luminance((1.0,) * 3 if sweep_charts.text_color(color) == "#ffffff" else (0.0,) * 3)
        bright, dark = sorted((sweep_charts.luminance(color), text), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5
    assert sweep_charts.text_color(matplotlib.colormaps["RdBu"](0.0)) == "#ffffff"
    assert sweep_charts.text_color((1.0, 1.0, 1.0)) == "#000000"


def test_numbers_that_round_to_nothing_have_no_sign() -> None:
    assert sweep_charts.number(-0.001) == "0.00" and sweep_charts.number(-0.006) == "-0.01"
    assert sweep_charts.number(float("nan")) == "–"
    assert sweep_report.signed(-0.00001) == "0.0000" and sweep_report.signed(0.25) == "+0.2500"


@pytest.mark.filterwarnings("error")
def test_ruined_accounts_are_counted_and_told_and_in_no_mean() -> None:
    import pandas as pd

    grew = {"baseline": [0.1, -np.inf, -np.inf, 0.3], "noisy": [0.2, 0.5, -np.inf, 0.1]}
    rows = [
        {"transform": name, "severity": 1.0, "strategy": "carry", "window": 0, "seed": seed, "log_growth": value}
        for name, values in grew.items()
        for seed, value in enumerate(values)
    ]
    config = SweepConfig.model_validate(
        {"name": "x", "transforms": list(grew), "seeds": 4, "bars": 9, "strategies": ["carry"]}
    )
    means = Means(config, None)
    means.add(pd.DataFrame(rows))
    (compared,) = means.comparisons()
    assert compared.paired.n == 2
    assert compared.paired.difference == pytest.approx((0.1 - 0.2) / 2.0)  # seeds 0 and 3; the others have no number
    text = sweep_report.ruined(means)
    assert "minus infinity" in text
    assert "carry under baseline 1: 2; carry under noisy 1: 1." in text
    assert sweep_report.ruined(Means(config, None)) == ""
