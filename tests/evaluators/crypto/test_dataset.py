from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.config import RunConfig
from engine.errors import ConfigError
from engine.plan.build import checked_cases
from evaluators.contract import Case, Score
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.options import Options
from evaluators.crypto.settings import parse
from transforms.registry import TRANSFORMS, get

Policy = Callable[[dict[str, Any], int], dict[str, Any]]


def play(case: Case, policy: Policy | None) -> tuple[Score, int]:
    """Play a task with one policy for all episodes (None: the oracle); the score and the number of messages."""
    session = case.open()
    body: dict[str, Any] | None = session.opening()
    messages = 0
    while body is not None:
        messages += 1
        json.dumps(body, allow_nan=False)
        if policy is None:
            text = session.oracle()
        elif body["type"] == "trading_decision":
            text = json.dumps(policy(body["state"], messages))
        else:
            rows = [{"episode": name, **policy({}, messages)} for name in body["episodes"]]
            text = json.dumps({"decisions": rows})
        body = session.reply(text)
    score = session.score()
    json.dumps(score.details, allow_nan=False)
    return score, messages


def hold(state: dict[str, Any], message: int) -> dict[str, Any]:
    return {"action": "HOLD"}


def always(side: str) -> Policy:
    return lambda state, message: {"action": side, "size": 1.0} if message == 1 else {"action": "HOLD"}


def at_random(seed: int) -> Policy:
    draw = random.Random(seed)
    return lambda state, message: {
        "action": draw.choice(["BUY", "SELL", "HOLD", "CLOSE"]),
        "size": draw.uniform(0.01, 1.0),
    }


def test_the_quick_draw_is_four_transforms_in_twelve_messages_each() -> None:
    cases = DATASET.draw(seed=42, count=4, options={})
    transforms = []
    for case in cases:
        score, messages = play(case, hold)
        transforms.append(score.details["transform"])
        assert messages == 12
        assert score.value == 0.0 and not score.passed
    assert transforms == ["baseline", "noisy", "meta", "adversarial"]
    assert len({case.task.task_id for case in cases}) == 4


def test_the_informed_policy_scores_100_under_every_transform() -> None:
    for case in DATASET.draw(seed=7, count=4, options={}):
        score, _ = play(case, None)
        assert 99.0 <= score.value <= 100.0 and score.passed


@pytest.mark.parametrize("side", ["BUY", "SELL"])
def test_an_always_long_or_always_short_agent_scores_zero(side: str) -> None:
    for case in DATASET.draw(seed=11, count=2, options={}):
        score, _ = play(case, always(side))
        assert abs(score.value) < 1.0 and not score.passed


def test_random_agents_leave_the_section_close_to_zero() -> None:
    for seed in range(4):
        cases = DATASET.draw(seed=seed, count=4, options={})
        section = sum(play(case, at_random(seed))[0].value for case in cases) / 4.0
        assert abs(section) < 5.0


def test_the_same_seed_gives_the_same_messages_and_scores_and_another_seed_others() -> None:
    first, again, other = (DATASET.draw(seed=seed, count=1, options={})[0] for seed in (3, 3, 4))
    assert first.task == again.task and first.task.task_id != other.task.task_id
    assert first.open().opening() == again.open().opening() != other.open().opening()
    assert play(first, at_random(1))[0] == play(again, at_random(1))[0]


def test_a_longer_draw_starts_with_a_shorter_one() -> None:
    short, long = (DATASET.draw(seed=5, count=count, options={}) for count in (2, 5))
    assert [case.task for case in short] == [case.task for case in long[:2]]


def test_the_data_hash_changes_with_the_users_own_transform_file(tmp_path):
    mine = tmp_path / "mine.py"
    text = """
import transforms


@transforms.transform(channel="both")
def up(key, market, *, severity=1.0):
    return market
"""
    mine.write_text(text)
    options = {"transforms": [f"{mine}:up"]}
    before = DATASET.data_hash(options)
    assert DATASET.data_hash(options) == before
    mine.write_text(text + "\n# changed\n")
    assert DATASET.data_hash(options) != before
    assert DATASET.data_hash({}) != before


@pytest.mark.parametrize(("seed", "index"), [(1734, 1), (3863, 0)])
def test_tasks_whose_markets_held_an_infinite_price_once_are_played_to_the_end(seed: int, index: int) -> None:
    case = DATASET.draw(seed=seed, count=2, options={})[index]
    assert case.check is not None and case.check() is None
    score, messages = play(case, None)
    assert messages == 12 and 99.0 <= score.value <= 100.0


@pytest.mark.parametrize(("mode", "bar", "values"), [("interactive", 242, 976), ("strategy", 242, 976)])
def test_a_market_that_is_not_finite_is_refused_before_anything_is_sent(
    tmp_path: Path, mode: str, bar: int, values: int
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "import jax.numpy as jnp\nimport transforms\n\n\n"
        "@transforms.transform(channel='observed')\n"
        "def broken(key, market, *, severity=1.0):\n"
        "    here = jnp.arange(market.close.shape[0]) == BAR\n"
        "    return market._replace(volume=jnp.where(here, jnp.inf, market.volume))\n".replace("BAR", str(bar))
    )
    options = {"transforms": [f"{mine}:broken"], "windows": 2, "bars": 4, "mode": mode}
    (case,) = DATASET.draw(seed=1, count=1, options=options)
    line = r"crypto: .*mine\.py:broken at severity 1, observed channel: volume of window 0, "
    line += f"bar {bar} must be a finite number, "
    for use in (case.check, case.open if mode == "interactive" else case.check):
        assert use is not None
        with pytest.raises(ValueError, match=line + rf"got inf \(4 of {values} values\)"):
            use()
    config = RunConfig.model_validate(
        {"name": "mine", "version": "1", "datasets": [{"type": "crypto", "limit": 1, **options}]}
    )
    with pytest.raises(ConfigError, match=r"task 1 of 1 \(crypto-[0-9a-f]{12}\): " + line):
        checked_cases(config)


@pytest.mark.parametrize(
    ("name", "path", "where"),
    [
        ("worst_path", None, "where it is traded"),
        ("bootstrap_blocks", None, "where it is traded"),
        ("noisy+worst_path", None, "where it is traded"),
        ("worst_case", "candles", "on candles"),
        ({"name": "worst_path", "severity": 0.3}, "candles", "on candles"),
    ],
)
def test_a_market_that_tells_of_later_bars_is_refused_where_what_happens_counts(
    name: Any, path: str | None, where: str
) -> None:
    """Whoever takes the side of the last bar has 100 there; see ``test_the_last_bar_of_the_worst_market_...``."""
    with pytest.raises(ValueError, match=f"transforms: .* lets a bar hang on later ones: {where}, following it would"):
        parse(Options(transforms=(name,), path=path))


def test_all_other_market_conditions_are_taken() -> None:
    ahead = [name for name in TRANSFORMS if get(name).looks_ahead != 0]
    assert ahead == ["bootstrap_blocks", "worst_case", "worst_path"]
    rest = tuple(name for name in TRANSFORMS if name not in ahead)
    assert len(parse(Options(transforms=(*rest, "worst_case"))).transforms) == 16
    assert len(parse(Options(transforms=rest, path="candles")).transforms) == 15
