"""What stands beside the score of a task: words, plain measures and curves of a few episodes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from backtest.market import YEAR_SECONDS
from evaluators.contract import Score
from evaluators.crypto import report
from evaluators.crypto.play import Measured
from evaluators.crypto.published import as_published, paper_product
from evaluators.crypto.report import curves, mean_known, plain_metrics, scored, tenths, trouble
from evaluators.crypto.skill import Skill

RETURNS, SHARPES, FALLS = [0.1, -0.1, 0.2, 0.0, 0.3], [1.0, np.nan, 2.0, -1.0, 3.0], [0.1, 0.2, 0.0, 0.3, 0.4]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return what the measures of the equity paths are asked for; here they are given."""
    seen: list[tuple[Any, ...]] = []

    def measures(equity: Any, ledger: object, per_year: float) -> dict[str, np.ndarray]:
        seen.append((np.asarray(equity), per_year))
        count = len(equity)
        given = {"total_return": RETURNS, "max_drawdown": FALLS, "sharpe": SHARPES}
        return {name: np.array(values[:count]) for name, values in given.items()}

    monkeypatch.setattr(report, "_measures", measures)
    # numpy in the place of jax: forks that play mutants must not compute with it
    monkeypatch.setattr(report, "jnp", np)
    monkeypatch.setattr(report, "jax", SimpleNamespace(device_get=lambda found: found))
    return seen


def account(position: list[float], trades: list[float], wins: list[float], gain: list[float]) -> Any:
    """Return accounts whose open trade has gained so much."""
    ledger = SimpleNamespace(trades=np.array(trades), wins=np.array(wins))
    start = np.full(len(gain), 1000.0)
    return SimpleNamespace(position=np.array(position), equity=start + gain, trade_equity=start, ledger=ledger)


def test_an_open_position_is_a_trade_and_a_win_if_it_has_gained(asked: list[Any]) -> None:
    """By episode 0, 3, 3, 1 and 1 trades, 0, 2, 2, 0 and 1 won: one open that gained, one that stands where it was."""
    held = account([0.0, 1.0, 0.0, -2.0, 0.0], [0, 2, 3, 0, 1], [0, 1, 2, 0, 1], [5.0, 5.0, 5.0, 0.0, 5.0])
    found = plain_metrics(np.ones((4, 5)), held, 365.0)
    rows = list(zip(RETURNS, [1.0, 0.0, 2.0, -1.0, 3.0], FALLS, [0.0, 2 / 3, 2 / 3, 0.0, 1.0], strict=True))
    products = [paper_product(total_return=r, sharpe=s, max_drawdown=d) for r, s, d, _ in rows]
    weighted = [as_published(total_return=r, sharpe=s, max_drawdown=d, win_rate=w) for r, s, d, w in rows]
    assert found["paper_product"] == pytest.approx(sum(products) / 5)
    assert found["as_published"] == pytest.approx(sum(weighted) / 5)
    assert found["win_rate"] == pytest.approx(5 / 8) and found["trades"] == pytest.approx(8 / 5)
    assert found["total_return"] == pytest.approx(0.1) and found["sharpe"] == pytest.approx(5 / 4)
    ((equity, per_year),) = asked
    assert equity.shape == (5, 4) and per_year == 365.0


def test_without_a_trade_there_is_no_rate_of_wins_and_with_one_there_is(asked: list[Any]) -> None:
    nobody = plain_metrics(np.ones((2, 2)), account([0.0, 0.0], [0, 0], [0, 0], [1.0, 1.0]), 365.0)
    assert nobody["win_rate"] is None and nobody["trades"] == 0.0
    one = plain_metrics(np.ones((2, 2)), account([0.0, 0.0], [1, 0], [1, 0], [1.0, 1.0]), 365.0)
    assert one["win_rate"] == 1.0 and one["trades"] == 0.5


def test_a_measure_is_the_mean_of_the_episodes_that_have_it() -> None:
    assert mean_known(np.array([np.nan, 1.0, 4.0, np.inf])) == 2.5
    assert mean_known(np.array([np.nan, -np.inf])) is None


def task(value: float, se: float, families: tuple[str, ...] = ("a", "b"), words: str = "") -> Score:
    """Return the score of two episodes of three bars, an hour each, whose accounts grow by a half and by a third."""
    exposure, cost = np.array([[1.0, -2.0], [0.0, -1.0], [0.0, -2.0]]), np.array([[0.1, 0.0], [0.2, 0.3], [0.0, 0.0]])
    equity = np.array([[10_000.0, 10_000.0], [12_000.0, 10_000.0], [15_000.0, 40_000.0 / 3.0]])
    skill = Skill(value, se, 70.0, -0.04, np.array([value - 5.0, value + 5.0]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    return scored(
        Measured(exposure, exposure, exposure, cost, equity),
        account([0.0, 0.0], [1, 0], [1, 0], [1.0, 1.0]),
        skill=skill,
        window=np.array([0, 1]),
        families=families,
        mirrored=np.array([False, True]),
        time=np.array([[0.0, 3600.0, 7200.0, 10800.0, 99999.0], [0.0, 60.0, 120.0, 180.0, 240.0]]),
        info={"credit": "known"},
        trouble=words,
    )


@pytest.mark.parametrize(
    ("value", "se", "passed"),
    [
        (50.0, 1.0, True), (50.5, 1.0, True), (49.9, 1.0, False),
        # the lower end lies at 0.22, at 0, at 11 and below 0
        (60.0, 30.5, True), (60.0, 60.0 / 1.96, False), (60.0, 25.0, True), (60.0, 31.0, False),
    ],
)  # fmt: skip
def test_half_of_the_points_pass_if_they_are_no_luck(asked: list[Any], value: float, se: float, passed: bool) -> None:
    score = task(value, se)
    assert score.passed is passed and score.value == value and score.parts == {"skill": value}
    assert score.reason == f"skill {value} ± {1.96 * se:.1f} over 2 windows: timing 70.0 points, costs 0.0"


def test_a_report_has_the_samples_and_the_measures_beside_the_score(asked: list[Any]) -> None:
    score = task(-7.0, 2.0, words="one reply was empty")
    assert score.parts == {"skill": 0.0} and score.reason.startswith("one reply was empty; skill -7.0 ± 3.9 over 2")
    said = score.details
    assert said["samples"] == [{"family": "a", "value": -12.0}, {"family": "b", "value": -2.0}]
    assert (said["skill"], said["se"], said["timing_points"], said["cost_points"]) == (-7.0, 2.0, 70.0, -0.04)
    assert (said["windows"], said["episodes"], said["credit"]) == (2, 2, "known")
    assert said["points"] == [[1.0, 2.0], [3.0, 4.0]]
    assert said["exposure"] == pytest.approx(1.0) and said["cost"] == pytest.approx(0.3)
    assert said["win_rate"] == 1.0
    assert said["equity_curves"] == {
        "bar": [0, 1, 2, 3], "mean": [1.0, 1.0, 1.1, 1.416667], "windows": {"w00": [1.0, 1.0, 1.2, 1.5]}
    }  # fmt: skip
    ((equity, per_year),) = asked
    assert equity[0].tolist() == [10_000.0, 10_000.0, 12_000.0, 15_000.0] and per_year == YEAR_SECONDS / 3600.0
    with pytest.raises(ValueError, match="zip"):
        task(1.0, 1.0, families=("a",))


def test_curves_have_sixty_points_and_eight_windows_without_their_mirrors() -> None:
    equity = np.linspace(1.0, 2.0, 101)[:, None] * np.full((1, 20), 3.0)
    equity[-1, 0] = 4.0
    window, mirrored = np.repeat(np.arange(10), 2), np.tile([False, True], 10)
    found: Any = curves(equity, window, mirrored)
    assert found["bar"] == [round(place * 100 / 59) for place in range(60)]
    assert list(found["windows"]) == [f"w{number:02d}" for number in range(8)]
    assert found["windows"]["w00"][-1] == 1.333333 and found["windows"]["w01"][-1] == 2.0
    assert found["mean"][:2] == [1.0, 1.02] and found["mean"][-1] == round((19 * 2.0 + 4.0 / 3.0) / 20, 6)


@pytest.mark.parametrize(
    ("replies", "unreadable", "faults", "words"),
    [
        (3, [], {}, ""),
        (1, ["empty"], {"empty": 4}, "the only reply was unreadable, because: empty; 4 decisions counted as HOLD"),
        (3, ["x"], {"x": 2, "y": 1},
         "1 of 3 replies was unreadable, the first because: x; 3 decisions counted as HOLD"),
        (3, ["x", "z"], {"x": 2}, "2 of 3 replies were unreadable, the first because: x; 2 decisions counted as HOLD"),
        (2, ["x", "z"], {"x": 2}, "all 2 replies were unreadable, the first because: x; 2 decisions counted as HOLD"),
        (3, [], {"a": 1, "b": 5, "c": 2},
         "8 decisions were invalid and counted as HOLD, most of them (5) because: b"),
    ],
)  # fmt: skip
def test_what_was_wrong_with_replies_is_told_in_words(
    replies: int, unreadable: list[str], faults: dict[str, int], words: str
) -> None:
    assert trouble(replies, unreadable, faults) == words


def test_a_tenth_has_no_sign_on_zero() -> None:
    assert [tenths(value) for value in (-0.04, 0.06, -1.26, 3.0)] == ["0.0", "0.1", "-1.3", "3.0"]
