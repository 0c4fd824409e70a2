"""Rows of a sweep: own strategies and transforms, parameters, declared strategies; alone, resumed and on Ray."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from backtest import naming
from backtest.rules import DEFAULT_RULES, Rules
from engine import shipped
from engine.errors import ConfigError
from engine.sweep import config as sweep_config
from engine.sweep.rows import Row
from engine.sweep.run import run_sweep
from engine.sweep.store import shard_files

MINE = """
import jax.numpy as jnp

import transforms
from backtest import indicators
from backtest.account import target
from backtest.episode import Strategy
from backtest.strategies.orders import when_changed


def make(fast: int = 12, slow: int = 26) -> Strategy:
    quick, lazy = indicators.ema(fast), indicators.ema(slow)

    def init(bar):
        return quick.init(bar), lazy.init(bar), jnp.zeros_like(bar.close)

    def decide(memory, bar, account):
        fast_memory, fast_value = quick.update(memory[0], bar)
        slow_memory, slow_value = lazy.update(memory[1], bar)
        side = jnp.sign(fast_value - slow_value)
        return (fast_memory, slow_memory, side), when_changed(side, memory[2], 1.0)

    return Strategy(init, decide, reads_account=False)


@transforms.transform(channel="both")
def dearer(key, market, *, severity=1.0, bps=100.0):
    up = 1.0 + severity * bps * 1e-4
    return market._replace(open=market.open * up, high=market.high * up, low=market.low * up, close=market.close * up)


@transforms.transform(channel="observed")
def upside_down(key, market, *, severity=1.0):
    return market._replace(high=market.low, low=market.high)


@transforms.transform(channel="observed")
def shorter(key, market, *, severity=1.0):
    return market._replace(close=market.close[1:])


def growth_in_percent(s, factor=100.0):
    return factor * jnp.log(s.growth)


def a_trade(s):
    return jnp.mean(s.returns)


def total(s):
    return jnp.sum(s.mean)


@transforms.transform(channel="observed")
def rising(key, market, *, severity=1.0):
    close = 100.0 + severity * jnp.arange(1.0, market.close.shape[0] + 1)
    return market._replace(open=close - severity, high=close, low=close - severity, close=close)


def sorting():
    def decide(memory, bar, account):
        pair = jnp.sort(jnp.stack([bar.close, bar.open]), axis=0)
        return memory, target((pair[1] - pair[0]) / pair[1])

    return Strategy(lambda bar: (), decide, reads_account=False)
"""
CROSS = {
    "indicators": {"fast": {"type": "ema", "window": 12}, "slow": {"type": "ema", "window": 26}},
    "enter_long": [{"left": "fast", "op": ">", "right": "slow"}],
    "exit_long": [],
    "enter_short": [{"left": "fast", "op": "<", "right": "slow"}],
    "exit_short": [],
    "size": 1.0,
}
"""What moving_average_cross does: in the market on the side of the faster average."""
SWEEP: dict[str, Any] = {"name": "rows", "transforms": ["baseline"], "seeds": 3, "bars": 150, "strategies": ["flat"]}


def written(folder: Path, **changes: Any) -> Path:
    (folder / "mine.py").write_text(MINE)
    (folder / "cross.json").write_text(json.dumps(CROSS))
    path = folder / "sweep.yaml"
    path.write_text(yaml.safe_dump(SWEEP | changes))
    return path


def growth(folder: Path, **changes: Any) -> Any:
    """Log growth ``[transform and strategy, seed]`` of a sweep."""
    run_sweep(written(folder, **changes), out=folder / "out", workers=1, report=False)
    rows = pd.read_parquet(folder / "out" / "results")
    return rows.pivot(index=["transform", "strategy"], columns="seed", values="log_growth")


def test_own_and_declared_strategies_give_what_the_same_one_built_in_gives(tmp_path: Path) -> None:
    found = growth(
        tmp_path,
        strategies=[
            {"name": "moving_average_cross", "params": {"fast": 12, "slow": 26}},
            {"name": "mine.py:make", "params": {"fast": 12, "slow": 26}},
            {"name": "mine.py:make", "params": {"fast": 5, "slow": 26}},
            "cross.json",
            {"name": "inline", "declared": CROSS},
        ],
    ).loc["baseline"]
    built_in = found.loc["moving_average_cross(fast=12, slow=26)"]
    assert (built_in != 0.0).all()
    for title in ("mine.py:make(fast=12, slow=26)", "cross.json", "inline"):
        np.testing.assert_allclose(found.loc[title], built_in, rtol=1e-12, err_msg=title)
    assert (found.loc["mine.py:make(fast=5, slow=26)"] != built_in).all()


def test_parameters_of_a_transform_make_it_another_row(tmp_path: Path) -> None:
    found = growth(
        tmp_path,
        strategies=["moving_average_cross"],
        transforms=[
            "noisy",
            {"name": "noisy", "params": {"price_sigma": 0.02}},
            {"name": "noisy", "params": {"price_sigma": 0.001}},
            "mine.py:dearer",
            {"name": "noisy+mine.py:dearer", "label": "both", "params": {"bps": 500.0}},
            "baseline",
        ],
    ).xs("moving_average_cross", level="strategy")
    # the default written out is the default
    np.testing.assert_array_equal(found.loc["noisy"], found.loc["noisy(price_sigma=0.02)"])
    assert (found.loc["noisy"] != found.loc["noisy(price_sigma=0.001)"]).all()
    # what costs a hundredth more at every bar grows as it did; its volume, and so its impact, is in base currency
    np.testing.assert_allclose(found.loc["mine.py:dearer"], found.loc["baseline"], atol=1e-3)
    assert (found.loc["both"] != found.loc["baseline"]).all()


def test_own_metrics_stand_in_the_results_the_report_and_the_summary(tmp_path: Path) -> None:
    named = [
        "mine.py:growth_in_percent",
        {"name": "mine.py:growth_in_percent", "label": "permille", "params": {"factor": 1000}},
        "turnover",
    ]
    path = written(
        tmp_path, strategies=["moving_average_cross", "flat"], transforms=["baseline", "noisy"], metrics=named
    )
    summary = run_sweep(path, out=tmp_path / "out", workers=1)
    rows = pd.read_parquet(tmp_path / "out" / "results")
    np.testing.assert_allclose(rows["mine.py:growth_in_percent"], 100.0 * rows["log_growth"], rtol=1e-12)
    np.testing.assert_allclose(rows["permille"], 1000.0 * rows["log_growth"], rtol=1e-12)
    assert [(row["metric"], row["strategy"], row["transform"]) for row in summary["metrics"]][:3] == [
        ("mine.py:growth_in_percent", "moving_average_cross", "baseline"),
        ("mine.py:growth_in_percent", "moving_average_cross", "noisy"),
        ("mine.py:growth_in_percent", "flat", "baseline"),
    ]
    cell = rows.query("strategy == 'moving_average_cross' and transform == 'noisy'")
    for row in summary["metrics"]:
        if (row["strategy"], row["transform"]) == ("moving_average_cross", "noisy"):
            values = cell[row["metric"]]
            assert row["mean"] == pytest.approx(values.mean()) and row["se"] == pytest.approx(values.std() / 3**0.5)
    text = Path(summary["report"]).read_text()
    assert all(f"Mean {name}" in text for name in ("mine.py:growth in percent", "permille", "turnover", "log growth"))


def test_a_sweep_that_names_no_metric_says_what_it_said_before(tmp_path: Path) -> None:
    summary = run_sweep(written(tmp_path), out=tmp_path / "out", workers=1)
    assert list(summary) == [
        "cells", "bar_steps", "seconds", "bar_steps_per_second", "peak_memory_mib", "results", "compile_seconds",
        "shards", "shards_reused", "backend", "report",
    ]  # fmt: skip


def test_a_measure_that_only_some_conditions_have_is_kept_for_those(tmp_path: Path) -> None:
    """Where the feed only rises the short side is taken once: no trade is closed, so there is no win rate."""
    changes = {"strategies": ["rsi_reversal"], "transforms": ["mine.py:rising", "baseline"], "bars": 600, "seeds": 2}
    run_sweep(written(tmp_path, **changes), out=tmp_path / "out", workers=1, report=False)
    rows = pd.read_parquet(tmp_path / "out" / "results").set_index("transform")
    assert rows.loc["mine.py:rising", "win_rate"].isna().all() and rows.loc["baseline", "win_rate"].notna().any()
    assert "value_at_risk" not in rows.columns


def test_every_shard_has_the_same_columns_whatever_its_cells_have_a_value_of(tmp_path: Path) -> None:
    """In 60 bars the first two seeds close no trade; a folder of files is read by the columns of the first."""
    changes = {"strategies": ["rsi_reversal"], "transforms": ["baseline"], "bars": 60, "first_seed": 3, "seeds": 4}
    run_sweep(written(tmp_path, **changes, seeds_per_shard=1), out=tmp_path / "out", workers=1, report=False)
    rows = pd.read_parquet(tmp_path / "out" / "results")
    assert rows["win_rate"].isna().tolist() == [True, True, False, False]
    columns = [pd.read_parquet(file).columns.tolist() for file in shard_files(tmp_path / "out" / "results")]
    assert columns == [columns[0]] * 4


def test_a_sweep_of_an_edited_strategy_is_another_sweep(tmp_path: Path) -> None:
    path = written(tmp_path, strategies=["mine.py:make"])
    run_sweep(path, out=tmp_path / "out", workers=1, report=False)
    assert run_sweep(path, out=tmp_path / "out", workers=1, report=False)["shards_reused"] == 1
    (tmp_path / "mine.py").write_text(MINE.replace("fast: int = 12", "fast: int = 11"))
    with pytest.raises(ConfigError, match=r"out holds another sweep; it differs in the text of mine\.py$"):
        run_sweep(path, out=tmp_path / "out", workers=1, report=False)


def test_a_manifest_of_the_version_before_is_still_read(tmp_path: Path) -> None:
    """Names were bare strings in it, rules that were left out null, and no texts were kept."""
    path = written(tmp_path, strategies=["flat", "macd"], rules={"fee_bps": 2.0})
    run_sweep(path, out=tmp_path / "out", workers=1, report=False)
    manifest = tmp_path / "out" / "sweep.json"
    held = json.loads(manifest.read_text())
    held["config"]["transforms"] = ["baseline"]
    held["config"]["rules"]["impact_bps"] = None
    del held["config"]["texts"]
    held["digest"] = "of the version before"
    manifest.write_text(json.dumps(held))
    assert run_sweep(path, out=tmp_path / "out", workers=1, report=False)["shards_reused"] == 1
    manifest.write_text("{}")
    with pytest.raises(
        ConfigError, match=r"sweep\.json is no manifest of a sweep of this version: KeyError: 'config'$"
    ):
        run_sweep(path, out=tmp_path / "out", workers=1, report=False)


def test_a_strategy_that_no_loop_can_play_is_named_with_the_reason(tmp_path: Path) -> None:
    path = written(tmp_path, strategies=["mine.py:sorting", "mine.py:make", "flat"])
    summary = run_sweep(path, out=tmp_path / "out", workers=1, report=False)
    assert summary["decided_by_xla"] == {"mine.py:sorting": "stack gives an array of shape (2, 8)"}


def test_files_are_seen_from_the_folder_of_the_config_and_then_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    path = written(there, strategies=["mine.py:make"])
    monkeypatch.chdir(here)
    (here / "mine.py").write_text("make = 7\n")
    assert sweep_config.load(path).texts == {"mine.py": MINE}
    (there / "mine.py").rename(here / "mine.py")
    assert sweep_config.load(path).texts == {"mine.py": MINE}
    (here / "mine.py").unlink()
    message = (
        rf"strategy file 'mine\.py' does not exist \(folder of the config: '{there}', working directory: '{here}'\)"
    )
    with pytest.raises(ConfigError, match=message):
        sweep_config.load(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"strategies": ["mine.py:mkae"]},
            r"no 'mkae' in the file \(did you mean 'make'\?\); it declares make, growth_in_percent, a_trade",
        ),
        ({"strategies": ["mine.py"]}, r"strategy 'mine\.py' is a file; say which of its strategies: mine\.py:NAME$"),
        ({"strategies": [{"name": "mine.py:make", "params": {"fats": 1}}]}, r"no 'fats' \(did you mean 'fast'\?\)"),
        (
            {"strategies": [{"name": "mine.py:make", "params": {"fast": [1]}}]},
            r"params: fast must be a number, .*\[1\]$",
        ),
        ({"strategies": ["mine.py:make", "./mine.py:make"]}, "two are called 'mine.py:make'; give one a label$"),
        ({"strategies": ["rule.json"]}, r"strategy file 'rule\.json' does not exist"),
        (
            {"strategies": [{"name": "mine", "declared": CROSS | {"size": 9}}]},
            "strategy 'mine': size must be above 0 and at most 3, got 9$",
        ),
        ({"strategies": [{"name": "cross.json", "params": {"fast": 3}}]}, "'cross.json' takes none; write the numbers"),
        ({"transforms": ["mine.py:daerer"]}, r"no 'daerer' in the file \(did you mean 'dearer'\?\)"),
        ({"transforms": ["mine.py:make"]}, r"transform 'mine\.py:make' is not declared; put @transforms\.transform"),
        ({"transforms": ["mine.py:shorter"]}, r"'mine\.py:shorter' gives close the shape \(149,\), not \(150,\)$"),
        (
            {"transforms": [{"name": "noisy", "params": {"price_sgima": 1}}]},
            r"'noisy' has no parameter 'price_sgima' \(did you mean 'price_sigma'\?\); it takes price_sigma, spike",
        ),
        ({"transforms": [{"name": "noisy", "params": {"price_sigma": "wide"}}]}, "transform 'noisy.*' fails: "),
        ({"metrics": ["sharp"]}, r"unknown metric 'sharp' \(did you mean 'sharpe'\?\); there are: total_return, log_"),
        (
            {"metrics": [{"name": "sharpe", "params": {"x": 1}}]},
            "'sharpe': one that is built in takes no params",
        ),
        (
            {"metrics": ["mine.py:growth"]},
            r"no 'growth' in the file \(did you mean 'growth_in_percent'\?\)",
        ),
        (
            {"metrics": [{"name": "mine.py:total", "params": {"s": 1}}]},
            r"'mine\.py:total': it has no 's'; it takes",
        ),
        (
            {"metrics": ["mine.py:total"]},
            r"total': for 3 episodes it must give float64\[3\], got float64\[\]$",
        ),
        (
            {"metrics": ["mine.py:a_trade"]},
            r"a_trade' fails: .* \(a sweep stores no path: returns is None\)$",
        ),
        (
            {"metrics": [{"name": "mine.py:growth_in_percent", "label": "calmar"}]},
            "metrics: 'calmar' is a column of every sweep; give yours another label$",
        ),
        ({"rules": {"min_notional": -1}}, r"rules\.min_notional must be a number in \[0, 1e\+12\), got -1"),
        ({"texts": {"mine.py": ""}}, "texts: this key is filled in from the files that rows name; leave it out$"),
    ],
)
def test_a_bad_row_is_one_clear_error(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        sweep_config.load(written(tmp_path, **changes))
    assert "\n" not in str(error.value) and str(error.value).startswith(f"{tmp_path}/sweep.yaml: ")


@pytest.mark.parametrize("name", Rules._fields)
def test_every_rule_of_the_venue_can_be_written(tmp_path: Path, name: str) -> None:
    assert name in sweep_config.load(written(tmp_path, rules={name: 0.5})).rules
    assert getattr(sweep_config.rules.changed({name: 0.5}), name) == 0.5 != getattr(DEFAULT_RULES, name)


plain = st.one_of(
    st.booleans(), st.integers(-99, 99), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
)
rows = st.builds(
    Row,
    name=st.sampled_from(["macd", "a/mine.py:make", "noisy+b/c.py:late", "grid"]),
    params=st.dictionaries(st.sampled_from(["fast", "slow", "stop"]), plain, max_size=3),
)


@settings(max_examples=200, deadline=None)
@given(row=rows)
def test_a_row_survives_the_manifest_and_the_way_to_a_worker(row: Row) -> None:
    again = Row.model_validate(json.loads(json.dumps(row.model_dump(mode="json"))))
    assert again == row and again.title == row.title and again.pairs == row.pairs
    assert [type(value) for _, value in again.pairs] == [type(value) for _, value in row.pairs]


@settings(max_examples=200, deadline=None)
@given(one=rows, other=rows)
def test_rows_with_other_numbers_have_other_titles(one: Row, other: Row) -> None:
    """Words may hold a comma, and then two rows can share a title: a sweep refuses those."""
    numbers = [all(not isinstance(value, str) for value in row.params.values()) for row in (one, other)]
    if all(numbers) and one.name == other.name:
        same = {name: str(value) for name, value in one.params.items()} == {
            name: str(value) for name, value in other.params.items()
        }
        assert same or one.title != other.title
    assert all(path.endswith(".py") and not naming.is_own(path) for path in one.files)


def test_candles_of_an_own_transform_that_cannot_be_are_told_and_not_played(tmp_path: Path) -> None:
    config = written(tmp_path, transforms=["baseline", "mine.py:upside_down"])
    with pytest.raises(ConfigError, match=r"transform 'mine.py:upside_down' at severity 1, observed channel: low\["):
        run_sweep(config, out=tmp_path / "out", workers=1)


@pytest.mark.ray
def test_ray_workers_play_a_file_that_they_do_not_have(tmp_path: Path) -> None:
    changes = {"strategies": ["mine.py:make", "cross.json"], "transforms": ["baseline", "mine.py:dearer"]}
    serial = growth(tmp_path, **changes)
    config = sweep_config.load(tmp_path / "sweep.yaml")
    from engine.sweep import run as sweep
    from engine.sweep import shard as sweep_shard

    for name in ("mine.py", "cross.json"):
        os.unlink(tmp_path / name)
    ((_, columns),) = sweep.ray_results(config, sweep_shard.plan(config), workers=1, address=None)
    order = list(zip(columns["transform"], columns["strategy"], columns["seed"], strict=True))
    wanted = [serial.loc[(transform, strategy), seed] for transform, strategy, seed in order]
    np.testing.assert_allclose(columns["log_growth"], wanted, rtol=1e-7, atol=1e-9)


def test_the_example_for_researchers_runs_and_its_declared_cross_is_the_built_in_one(tmp_path: Path) -> None:
    summary = run_sweep(shipped.folder("configs") / "own" / "sweep.yaml", out=tmp_path / "out", workers=1)
    assert summary["cells"] == 3 * 16 * 4 and "decided_by_xla" not in summary
    found = pd.read_parquet(tmp_path / "out" / "results").pivot(
        index=["transform", "seed"], columns="strategy", values="log_growth"
    )
    np.testing.assert_allclose(found["declared cross"], found["moving_average_cross"], rtol=1e-9)
    slow, quick = found["mine.py:pullback(trend=200, low=35)"], found["mine.py:pullback(trend=100)"]
    assert (slow != quick).mean() > 0.5 and slow.std() > 0.0
    assert {row["metric"] for row in summary["metrics"]} == {"mine.py:growth_over_drawdown", "turnover"}
    assert all(row["mean"] is not None for row in summary["metrics"])
