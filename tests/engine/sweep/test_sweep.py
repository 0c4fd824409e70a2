from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest
import yaml

import transforms
from backtest import episode, metrics, simulators, strategies
from engine.errors import ConfigError
from engine.sweep.run import Progress, run_sweep
from engine.sweep.store import shard_files

SMALL: dict[str, Any] = {
    "name": "small",
    "transforms": ["baseline", "noisy"],
    "severities": [0.5, 1.0],
    "seeds": 5,
    "bars": 200,
    "strategies": [
        "buy_and_hold",
        {"name": "moving_average_cross", "label": "slow", "params": {"fast": 20, "slow": 50}},
    ],
    "seeds_per_shard": 2,
}


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump(SMALL | changes))
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], list[Progress]]:
    folder = tmp_path_factory.mktemp("sweep")
    seen: list[Progress] = []
    summary = run_sweep(written(folder), out=folder / "out", workers=2, progress=seen.append)
    return folder, summary, seen


def test_a_sweep_reports_cells_bar_steps_speed_and_memory(finished: Any) -> None:
    folder, summary, seen = finished
    assert summary["cells"] == 2 * 2 * 5 * 2 and summary["bar_steps"] == summary["cells"] * 200
    assert summary["seconds"] > 0.0 and summary["bar_steps_per_second"] > 0.0 and summary["peak_memory_mib"] > 50.0
    assert [item.shards_done for item in seen] == [1, 2, 3] and seen[-1].seconds_left == 0.0
    assert json.loads((folder / "out" / "summary.json").read_text())["cells"] == summary["cells"]


def test_every_cell_is_stored_once_and_equals_a_single_backtest_of_it(finished: Any) -> None:
    _, summary, _ = finished
    rows = pd.read_parquet(Path(summary["results"]))
    keys = ["transform", "severity", "window", "seed", "strategy"]
    assert len(rows) == summary["cells"] == len(rows[keys].drop_duplicates())
    seed, severity = 3, 0.5
    key = jax.random.fold_in(jax.random.key(0), seed)
    market_key, transform_key = jax.random.split(key)
    market = simulators.simulate(market_key, bars=200)
    changed = transforms.apply("noisy", transform_key, market, severity=severity)
    strategy = strategies.get("moving_average_cross", fast=20, slow=50)
    alone = episode.run(changed.traded, strategy, observed=changed.observed)
    wanted = metrics.summary(alone.equity, alone.account.ledger, bars_per_year=8760.0, exposure=alone.exposure)
    row = rows.query("transform == 'noisy' and severity == 0.5 and seed == 3 and strategy == 'slow'").iloc[0]
    for name in ("log_growth", "sharpe", "max_drawdown", "trades", "turnover"):
        np.testing.assert_allclose(row[name], float(getattr(wanted, name)), rtol=1e-7, atol=1e-8, err_msg=name)


def test_a_stopped_sweep_goes_on_with_the_missing_shards_only(finished: Any, tmp_path: Path) -> None:
    _, whole, _ = finished
    out = tmp_path / "out"

    class Stopped(Exception):
        pass

    def stop(at: Progress) -> None:
        if at.shards_done == 2:
            raise Stopped

    with pytest.raises(Stopped):
        run_sweep(written(tmp_path), out=out, workers=1, progress=stop, report=False)
    assert len(shard_files(out / "results")) == 2
    kept = {path.name: path.stat().st_mtime_ns for path in shard_files(out / "results")}
    (out / "results" / "shard-000002.partial").write_bytes(b"half")
    resumed = run_sweep(written(tmp_path), out=out, workers=1, report=False)
    assert resumed["shards_reused"] == 2
    assert all((out / "results" / name).stat().st_mtime_ns == stamp for name, stamp in kept.items())
    assert pd.read_parquet(out / "results").equals(pd.read_parquet(Path(whole["results"])))


def test_a_folder_of_another_sweep_is_refused_with_the_difference(finished: Any, tmp_path: Path) -> None:
    folder, _, _ = finished
    with pytest.raises(ConfigError, match="holds another sweep; it differs in bars"):
        run_sweep(written(tmp_path, bars=100), out=folder / "out")
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty and holds no sweep"):
        run_sweep(written(tmp_path), out=tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sedes": 3}, r"sedes: unknown key \(did you mean 'seeds'\?\)"),
        ({"transforms": ["nosiy"]}, "unknown transform 'nosiy'"),
        ({"transforms": ["noisy", "noisy"]}, "transforms: two are called 'noisy'; give one a label"),
        ({"strategies": ["buy_and_hodl"]}, r"unknown strategy 'buy_and_hodl' \(did you mean 'buy_and_hold'\?\)"),
        (
            {"strategies": [{"name": "macd", "params": {"fats": 5}}]},
            r"'macd': it has no 'fats' \(did you mean 'fast'\?\); it takes fast, slow, signal, exposure",
        ),
        ({"strategies": [{"name": "always_long", "params": {"size": 5}}]}, "it has no 'size'; it takes stop"),
        ({"strategies": [{"name": "macd", "params": {"fast": -5}}]}, "fast must be a whole number of bars"),
        ({"strategies": [{"nam": "macd"}]}, r"strategies\[0\].nam: unknown key \(did you mean 'name'\?\)$"),
        ({"strategies": []}, "strategies: at least one is needed, got none"),
        ({"severities": [-1.0]}, "a severity lies between 0 and 1000, got -1.0"),
        ({"severities": [1e308]}, r"a severity lies between 0 and 1000, got 1e\+308"),
        ({"severities": [float("nan")]}, r"severities\[0\]: Input should be a finite number \(got nan\)$"),
        ({"severities": []}, "severities: at least one is needed, got none"),
        ({"seeds": 0}, r"seeds: Input should be greater than or equal to 1 \(got 0\)"),
        ({"seeds": 10**9}, r"seeds: Input should be less than or equal to 10000000 \(got 1000000000\)"),
        ({"first_seed": 2**32 - 4}, r"first_seed: seeds end at 2\*\*32"),
        ({"bars": 1}, r"bars: Input should be greater than or equal to 2 \(got 1\)"),
        ({"bars": 10**12}, "2,000,000,000,000 bars would be held in memory at once, at most 20,000,000"),
        ({"windows": 10**6}, "this sweep has 3,000,000 shards, at most 1,000,000"),
        ({"rules": {"fee_bp": 1}}, r"rules.fee_bp: unknown key \(did you mean 'fee_bps'\?\)"),
        ({"seeds": None}, "seeds: Input should be a valid integer"),
        ({"datasets": []}, "this is the config of a run; run it with: traderbench run"),
        ({"data": "no/such/folder"}, "data: path 'no/such/folder' does not exist"),
        ({"strategies": ["macd", "macd"]}, "two are called 'macd'"),
    ],
)
def test_a_bad_sweep_is_one_clear_error(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        run_sweep(written(tmp_path, **changes), out=tmp_path / "out")
    assert "\n" not in str(error.value)


def test_a_misspelt_required_key_is_one_fault_and_a_missing_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "sweep.yaml"
    body = {name: value for name, value in SMALL.items() if name not in ("seeds", "bars")}
    path.write_text(yaml.safe_dump(body | {"sedes": 5}))
    with pytest.raises(ConfigError) as error:
        run_sweep(path)
    assert str(error.value) == f"{path}: bars: this key is required; sedes: unknown key (did you mean 'seeds'?)"


def test_the_report_is_one_file_with_heat_maps_and_robustness_curves(finished: Any) -> None:
    _, summary, _ = finished
    text = Path(summary["report"]).read_text()
    assert text.count("<svg") == 1 + 1 + 3
    assert "<script" not in text and 'src="http' not in text
    assert "Mean log growth" in text and "severity of noisy" in text
