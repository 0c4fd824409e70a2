"""Validity rules V7 and V8: what the crypto score says about agents of known worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from evaluators.crypto.validate import validate_crypto
from tests.evaluators.crypto.knowable_play import market_learner

NO_SKILL = ("flat", "long", "short", "funding", "funding_opposite", "random", "replay", "stop_cheat", "ic_0.00")
HELD = ("long", "short", "funding", "funding_opposite")
KNOW_THE_MIRROR = ("unmirrored_long", "unmirrored_short")
"""Worth nothing on simulated markets; on candles, what the market's drift was worth in these very windows."""
RULES = ("trend", "reversal")
FORECASTERS = ("ic_0.00", "ic_0.02", "ic_0.05", "ic_0.10", "ic_0.20", "ic_0.50", "ic_1.00")
KNOWABLE = ("ic_0.00", "ic_0.02", "ic_0.05", "ic_0.10", "ic_0.20", "ic_0.35")
COLUMNS = {"skill", "se", "equivalent_ic", "equivalent_ic_low", "equivalent_ic_high", "paper_product", "as_published"}


def assert_valid(rows: dict[str, dict[str, float]], forecasters: tuple[str, ...]) -> None:
    for row in rows.values():
        assert set(row) == COLUMNS
        assert all(np.isfinite(list(row.values())))
        assert 0.0 <= row["equivalent_ic_low"] <= row["equivalent_ic"] <= row["equivalent_ic_high"] <= 1.0
    assert rows["flat"]["skill"] == 0.0 and rows["flat"]["as_published"] == pytest.approx(47.5)
    for name in NO_SKILL:
        assert abs(rows[name]["skill"]) <= max(2.0, 2.6 * rows[name]["se"]) and abs(rows[name]["skill"]) < 8.0, name
    for name in HELD:
        assert abs(rows[name]["skill"]) < 3.0, name  # A short that is held drifts with the price: 1.6 in crashes.
    assert abs(np.mean([rows[name]["skill"] for name in NO_SKILL])) < 2.0
    assert rows["oracle"]["skill"] >= 95.0
    skill = [rows[name]["skill"] for name in forecasters]
    assert spearmanr(range(len(skill)), skill).statistic >= 0.9


@pytest.fixture(scope="module")
def simulated() -> dict[str, dict[str, float]]:
    return validate_crypto(windows=96, repeats=4, learner=spoken)


def spoken() -> Any:
    agent = market_learner().Learner()
    return lambda body: json.dumps(agent.reply(body))


@pytest.mark.campaign
def test_on_simulated_markets_no_skill_scores_zero_the_informed_100_and_knowledge_ranks(
    simulated: dict[str, dict[str, float]],
) -> None:
    more = {"informed", "oracle", "half", "learner", "hindsight"}
    assert set(simulated) == {*NO_SKILL, *KNOW_THE_MIRROR, *RULES, *KNOWABLE, *more}
    assert_valid(simulated, KNOWABLE)
    # Points of simulated markets are not those of candles: the bounds are as tight as they were.
    for name in NO_SKILL:
        assert abs(simulated[name]["skill"]) < 3.0, name
    assert abs(np.mean([simulated[name]["skill"] for name in NO_SKILL])) < 1.0
    for name in HELD:
        assert abs(simulated[name]["skill"]) < 0.1, name
    for name in (*KNOW_THE_MIRROR, *RULES):
        assert abs(simulated[name]["skill"]) < 3.0 * simulated[name]["se"] < 20.0, name
    points = {name: row["skill"] for name, row in simulated.items()}
    assert points["informed"] >= 99.0 and abs(points["half"] - 50.0) < 8.0
    assert points["informed"] > points["learner"] > 65.0 > points["half"] > points["ic_0.20"] > points["trend"]
    assert points["hindsight"] < points["learner"]  # To know the future is worth less than to know what was knowable.
    assert simulated["ic_0.20"]["equivalent_ic"] == pytest.approx(0.2, abs=0.05)


@pytest.mark.campaign
def test_the_published_weighting_fails_the_same_rules(simulated: dict[str, dict[str, float]]) -> None:
    assert simulated["flat"]["as_published"] > 45.0
    assert simulated["long"]["as_published"] > simulated["flat"]["as_published"] + 5.0


@pytest.mark.shared_data
@pytest.mark.campaign
@pytest.mark.parametrize(
    ("folder", "repeats"),
    [("perp", 3), ("sky1241", 6), ("stress_windows", 3), ("perp_1m", 3)],  # noisy windows want more random policies
    ids=["perp", "sky1241", "stress_windows", "perp_1m"],
)
def test_on_real_windows_of_any_interval_the_same_holds(shared_data: Path, folder: str, repeats: int) -> None:
    rows = validate_crypto(shared_data / "crypto" / folder, windows=48, repeats=repeats)
    assert set(rows) == {*NO_SKILL, *KNOW_THE_MIRROR, *RULES, *FORECASTERS, "oracle", "half"}
    assert_valid(rows, FORECASTERS)
    assert 8.0 < rows["ic_0.20"]["skill"] < 90.0 < rows["ic_0.50"]["skill"]  # Costs weigh most by the minute.
    assert rows["ic_0.20"]["equivalent_ic"] == pytest.approx(0.2, abs=0.15)  # 48 windows of one time


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, again = (validate_crypto(windows=4, repeats=1, seed=3) for _ in range(2))
    assert first == again


def test_a_folder_without_candles_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match=r"holds no candles that can be used: notes\.csv: .*it lacks open, high, low, close, volume"
    ):
        validate_crypto(tmp_path)
    with pytest.raises(ValueError, match="does not exist"):
        validate_crypto(tmp_path / "missing")
