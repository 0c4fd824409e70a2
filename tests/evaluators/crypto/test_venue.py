"""Strategies on simulated venues: what can be said earns, what is not known earns nothing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from backtest.simulators import MENU, STRUCTURES
from evaluators.crypto import columns
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.strategy_session import REFERENCES, StrategySession
from evaluators.crypto.venue import SAMPLE_BARS
from tests.evaluators.crypto.venue_play import LONG, SHORT, at_random, declared, fitted, on_venue, traits_of, turned

SMALL = {"windows": 8, "bars": 300}
SIZES = {"windows": 16, "bars": 500}


@pytest.mark.parametrize("name", MENU)
def test_the_oracle_says_every_structure_in_the_language_of_strategies(name: str) -> None:
    """With the sign that the number of the structure gives, so that both occur; the opposite loses as much."""
    sign = 1.0 if MENU.index(name) % 2 else -1.0
    session = on_venue(traits_of(name, sign=sign), **SMALL)
    right = json.loads(session.oracle())
    score = declared(session, right)
    assert score.value == pytest.approx(100.0, abs=0.5) and score.passed, (name, score.reason)
    assert score.details["structures"][0]["structure"] == name
    assert score.details["robustness"][0]["reachable"] == pytest.approx(100.0, abs=0.5)
    if name in ("order_flow", "hour_of_day", "product"):
        wrong = declared(session, turned(right))
        assert wrong.value < -60.0 and wrong.details["equivalent_ic"]["value"] == 0.0


def test_every_variant_and_lag_is_said() -> None:
    """What the writers depend on beside the kind: one far corner of each."""
    for name, lag, choice in (("two_lags", 5, 0), ("hour_of_day", 1, 5), ("product", 1, 0), ("lagged_return", 3, 0)):
        session = on_venue(traits_of(name, sign=1.0, lag=lag, choice=choice), **SMALL)
        assert declared(session, session.oracle()).value > 99.5, (name, lag, choice)


@pytest.mark.parametrize("name", ["order_flow", "hour_of_day", "funding_surprise"])
def test_windows_of_a_venue_and_their_images_share_what_it_was_drawn_with(name: str) -> None:
    session = on_venue(traits_of(name, sign=-1.0), windows=6, bars=24)
    episodes = session.conditions[0][2]()
    known = episodes.known
    assert known is not None and len(set(known.structure)) == 1
    for field in ("lag", "choice", "sign"):
        assert len(set(np.asarray(getattr(known.traits, field)).tolist())) == 1
    assert set(np.asarray(known.traits.sign).tolist()) == {-1.0}
    assert len(set(np.asarray(known.traits.coefficient).tolist())) == 6
    for window in range(6):
        one, image = (int(np.flatnonzero((episodes.window == window) & (episodes.mirrored == m))[0]) for m in (0, 1))
        np.testing.assert_array_equal(known.channels.flow[one], -known.channels.flow[image])
        np.testing.assert_array_equal(known.channels.premium[one], known.channels.premium[image])
        moves = np.log(episodes.traded.close / episodes.traded.open)
        np.testing.assert_allclose(moves[image], known.drawn[image], atol=1e-12)
        if name == "order_flow":
            np.testing.assert_array_equal(known.mean[one], -known.mean[image])
            np.testing.assert_allclose(moves[one], -moves[image], atol=1e-12)
        else:
            # The hour and the premium point the same way in both: an image that took the other would teach nothing.
            np.testing.assert_allclose(known.lean[one], known.lean[image], atol=1e-6)
            assert np.abs(known.lean[one]).max() > 0.3


def test_the_question_tells_a_stretch_of_the_past_that_is_no_window() -> None:
    case = DATASET.draw(seed=3, count=1, options={"mode": "strategy", **SMALL})[0]
    session = case.open()
    assert isinstance(session, StrategySession)
    body = session.opening()
    sample = body["context"]["history"]
    assert list(sample) == ["first_hour", *(name for name in columns.COLUMNS if name != "hour"), *columns.CHANNELS]
    assert all(len(values) == SAMPLE_BARS for name, values in sample.items() if name != "first_hour")
    assert 10_000 < len(json.dumps(sample)) < 22_000
    assert "flow" in body["answer_format"] and "context.history" in body["question"]
    shown = columns.table(session.conditions[0][2](), every=1)
    for values in np.asarray(shown["flow"]):
        assert not np.array_equal(np.round(np.abs(values[:100])), np.abs(sample["flow"][:100]))
    assert case.open().opening() == body
    other = DATASET.draw(seed=4, count=1, options={"mode": "strategy", **SMALL})[0].open().opening()
    assert other["context"] != body["context"]


def test_a_position_that_is_held_earns_nothing_whatever_the_structure_or_the_transform() -> None:
    """Nothing where images are exact; elsewhere what the drawn signals leave, which the other sign takes back."""
    for name, transform, bound in (
        ("lagged_return", "baseline", 1e-6),
        ("hour_of_day", "baseline", 3.0),
        ("product", "flash_crash", 4.0),
    ):
        sessions = [on_venue(traits_of(name, sign=sign), transforms=[transform], **SIZES) for sign in (1.0, -1.0)]
        found = np.array([declared(session, LONG).value for session in sessions])
        assert (np.abs(found) < bound).all(), (name, found)
        assert abs(found.mean()) < 1.0, (name, found)
        if name != "product":
            assert abs(declared(sessions[0], SHORT).value) < max(bound, 0.5), name


def test_a_search_on_the_sample_earns_most_of_what_can_be_said() -> None:
    found = []
    for case in DATASET.draw(seed=8, count=4, options={"mode": "strategy", "transforms": ["baseline"], **SMALL}):
        session: Any = case.open()
        found.append(declared(session, fitted(session.opening())).value)
    assert np.mean(found) > 90.0, found


@pytest.mark.campaign
def test_rules_that_know_nothing_have_0_over_venues_of_either_sign_and_a_search_has_most() -> None:
    rows: dict[str, list[float]] = {}
    for number, name in enumerate(MENU):
        for sign in (1.0, -1.0):
            lag = STRUCTURES[name].lags[number % len(STRUCTURES[name].lags)]
            session = on_venue(traits_of(name, sign=sign, lag=lag), seed=number, **SIZES)
            documents: dict[str, Any] = {
                "long": LONG,
                **{f"cross {place}": text for place, text in enumerate(REFERENCES)},
                **{f"random {seed}": at_random(seed) for seed in range(3)},
                "search": fitted(session.opening()),
            }
            for agent, document in documents.items():
                rows.setdefault(agent, []).append(declared(session, document).value)
    means = {agent: float(np.mean(values)) for agent, values in rows.items()}
    print({agent: (round(mean, 2), round(float(np.std(rows[agent])), 2)) for agent, mean in means.items()})
    assert means.pop("search") > 90.0, rows["search"]
    odd = [
        value for each, value in zip(np.repeat(MENU, 2), rows["long"], strict=True) if STRUCTURES[each].parity == "odd"
    ]
    assert max(map(abs, odd)) < 1e-6 and max(map(abs, rows["long"])) < 4.0 and abs(means.pop("long")) < 0.5
    for agent, mean in means.items():
        assert abs(mean) < 2.0, (agent, rows[agent])
