"""The score by conditional mean: who knows earns what he knows, and nobody earns by luck."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import jax
import numpy as np
import pytest

import transforms
from backtest.simulators import MENU
from evaluators.crypto import policies
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.equivalent import COEFFICIENTS, equivalent_ic, forecaster_worth
from evaluators.crypto.knowledge import Truth, banded, credited, informed, traded, truth
from evaluators.crypto.play import START_EQUITY, Measured, joined
from evaluators.crypto.session import InteractiveSession
from evaluators.crypto.windows import knowable, to_numpy
from tests.evaluators.crypto.knowable_play import AGENTS_OF_KNOWN_WORTH, learner, scores, values
from transforms import registry

CLEAN = {"transforms": ["baseline"]}


def opened(seed: int = 1, **options: Any) -> InteractiveSession:
    session = DATASET.draw(seed=seed, count=1, options=CLEAN | options)[0].open()
    assert isinstance(session, InteractiveSession)
    return session


def known_of(session: InteractiveSession) -> Truth:
    return truth(session.episodes, rules=session.rules, equity=START_EQUITY)


def test_a_bar_is_credited_with_exposure_times_mean_in_deviations_per_unit_of_the_largest_exposure() -> None:
    exposure, largest = np.array([[0.0, 2.0], [0.5, -1.0]]), np.array([[0.0, 2.0], [0.5, 4.0]])
    nothing = np.zeros((2, 2))
    measured = Measured(nothing, exposure, largest, np.array([[0.0, 0.002], [0.0, 0.0]]), nothing)
    known = Truth(
        np.array([[0.01, 0.01], [0.02, 0.04]]), np.array([[0.0, 0.0], [0.0, 0.02]]), np.full((2, 2), 50.0), nothing
    )
    timing, cost = credited(measured, known)
    np.testing.assert_allclose(timing, [[0.0, 0.5], [1.0, -0.75]])
    np.testing.assert_allclose(cost, [[0.0, 0.05], [0.0, 0.0]])


def test_sides_change_where_the_forecast_pays_for_one_trade() -> None:
    forecast = np.array([[0.5], [2.0], [-0.9], [-1.1], [1.0], [1.5]])
    cost = np.ones((6, 1))
    np.testing.assert_array_equal(banded(forecast, cost)[:, 0], [0, 1, 1, -1, -1, 1])
    np.testing.assert_array_equal(banded(forecast, cost, every=2)[:, 0], [0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(banded(2.0 * forecast, cost, every=2)[:, 0], [0, 0, -1, -1, 1, 1])
    known = Truth(forecast, 0.0 * forecast, 2.0 * cost, np.stack([0.0 * cost, cost, 2.5 * cost]))
    np.testing.assert_array_equal(traded(banded(forecast, cost), known).cost[:, 0], [0, 2, 0, 5, 0, 5])


def test_no_band_nets_more_than_the_informed_policy_in_expectation() -> None:
    """Against the best rule of a wider family: enter, leave and turn at thresholds of their own, found by search."""
    rng = np.random.default_rng(0)
    mean = 0.0025 * rng.uniform(-1.0, 1.0, (28, 4_000))
    one = np.full(mean.shape, 0.0006)
    known = Truth(mean, 0.0 * mean, np.ones_like(mean), np.stack([0.0 * one, one, 2.0 * one]))
    best = informed(known)
    net = float((best.timing - best.cost).sum(axis=0).mean())

    def other(enter: float, turn: float, leave: float) -> float:
        held, sides = np.zeros(mean.shape[1]), np.zeros(mean.shape)
        for bar, forecast in enumerate(mean):
            against = -held * forecast
            held = np.where(
                held == 0.0,
                np.where(np.abs(forecast) > enter, np.sign(forecast), 0.0),
                np.where(against > turn, -held, np.where(against > leave, 0.0, held)),
            )
            sides[bar] = held
        found = traded(sides, known)
        return float((found.timing - found.cost).sum(axis=0).mean())

    grid = np.array([0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0]) * 0.0006
    found = max(other(*levels) for levels in product(grid, grid, grid))
    # Entering a little earlier is worth something at the start of an episode; nothing else is.
    assert net <= found <= 1.02 * net


def test_every_task_has_every_structure_with_both_signs_and_its_own_mirror_images() -> None:
    session = opened()
    known = session.episodes.known
    assert known is not None and session.count == 96
    kinds, signs = np.asarray(known.traits.kind), np.asarray(known.traits.sign)
    window, mirrored = session.episodes.window, session.episodes.mirrored
    for kind in range(len(MENU)):
        assert sorted(signs[(kinds == kind) & ~mirrored]) == [-1.0, -1.0, 1.0, 1.0]
    for each in range(48):
        one, image = (int(np.flatnonzero((window == each) & (mirrored == side))[0]) for side in (False, True))
        np.testing.assert_array_equal(known.mean[one], -known.mean[image])
        np.testing.assert_array_equal(known.deviation[one], known.deviation[image])
        np.testing.assert_array_equal(known.channels.flow[one], -known.channels.flow[image])
        np.testing.assert_array_equal(known.channels.premium[one], known.channels.premium[image])
        traded_move = np.log(session.episodes.traded.close / session.episodes.traded.open)
        np.testing.assert_allclose(traded_move[[one, image]], known.drawn[[one, image]], atol=1e-12)


def test_size_changes_nothing_and_the_opposite_of_the_informed_loses() -> None:
    found = {}
    for size in (0.1, 1.0, 2.5, -1.0):
        session = opened(2)
        sides = session.verdict.sides

        def reply(session: InteractiveSession, body: Any, size: float = size, sides: Any = sides) -> str:
            return json.dumps({"exposures": [size * side for side in sides[session.decision]]})

        found[size] = policies.play(session, reply).details
    for size in (0.1, 2.5):
        assert found[size]["timing_points"] == pytest.approx(found[1.0]["timing_points"], rel=0.02)
        assert found[size]["skill"] == pytest.approx(100.0, abs=3.0)
    assert found[-1.0]["skill"] < -60.0


def test_both_credits_have_one_expectation_and_the_known_one_much_less_luck() -> None:
    """Informed sides before costs, 40 tasks: the difference is luck, and only that."""
    known, happened = [], []
    for seed in range(40):
        session = opened(seed, windows=12)
        assert session.episodes.known is not None
        found = known_of(session)
        best = informed(found)
        drawn = session.episodes.known.drawn[:, session.warmup :].T
        known.append(best.timing.sum())
        happened.append((best.sides * drawn * found.unit).sum())
    luck = np.array(happened) - np.array(known)
    assert abs(luck.mean()) < 3.5 * luck.std() / np.sqrt(luck.size)
    assert np.std(known) < 0.6 * np.std(happened)


def test_what_a_transform_adds_counts_as_it_falls_and_luck_of_the_drawn_market_does_not() -> None:
    """A long held through a crash that a transform made loses what it took, and nothing else."""
    for name, bound in (("flash_crash", -20.0), ("scale", 0.0)):
        session = opened(3, transforms=[name], windows=4)
        found, measured = known_of(session), []
        first = json.dumps({"exposures": [1.0] * session.count})
        session.opening()
        while session.decision < session.decisions:
            session.reply(first)
        measured = joined(session.measured)
        timing, _ = credited(measured, found)
        wanted = np.asarray(measured.exposure) / np.asarray(measured.largest) * found.unit
        np.testing.assert_allclose(timing, wanted * (found.mean + found.beyond))
        assert np.abs(found.beyond).max() < 1e-9 if bound == 0.0 else np.abs(found.beyond).max() > 0.05


def test_who_reads_the_observed_bars_has_100_where_they_are_true_and_less_where_they_lie() -> None:
    for name, low, high in (("baseline", 99.0, 100.5), ("scale", 99.0, 100.5), ("noisy", 10.0, 70.0)):
        session = opened(4, transforms=[name])
        found = session.score().details["reachable"]
        assert low < found < high, (name, found)


def test_structures_of_a_score_add_up_and_name_what_was_offered() -> None:
    session = opened(5)
    score = policies.play(session, policies.oracle())
    rows = score.details["structures"]
    assert {row["structure"] for row in rows} == set(MENU) and all(row["windows"] == 4 for row in rows)
    assert np.mean([row["offered"] for row in rows]) == pytest.approx(100.0)
    for row in rows:
        assert row["points"] == pytest.approx(row["offered"], abs=4.0)
    assert score.details["credit"] == "conditional mean"


def test_the_equivalent_coefficient_of_a_forecaster_is_his_own() -> None:
    rng = np.random.default_rng(4)
    deviation = np.full((28, 600), 0.006)
    returns, one = deviation * rng.standard_normal(deviation.shape), np.full(deviation.shape, 0.0006)
    given = {"unit": np.full(600, 200.0), "repeats": 4}
    cost = np.stack([0.0 * one, one, 2.0 * one])
    worth = forecaster_worth(returns, deviation, cost, **given, seed=1)
    assert (np.diff(worth) >= 0.0).all()
    unit = float(worth[-1])
    for rho in (0.2, 0.45, 0.8):
        only = forecaster_worth(returns, deviation, cost, **given, coefficients=np.array([rho]), seed=2)
        found = equivalent_ic(100.0 * float(only[0]) / unit, 2.0, worth, unit=unit)
        assert found.value == pytest.approx(rho, abs=0.02)
        assert found.low < found.value < found.high
    assert equivalent_ic(-3.0, 1.0, worth, unit=unit) == (0.0, 0.0, 0.0)
    assert equivalent_ic(100.0, 0.0, worth, unit=unit).value == pytest.approx(1.0)
    assert COEFFICIENTS[-1] == 1.0
    with pytest.raises(ValueError, match=r"unit must be above 0 .*, got 0\.0"):
        equivalent_ic(1.0, 1.0, worth, unit=0.0)


@pytest.mark.campaign
def test_agents_of_known_worth_score_what_they_are_worth_over_forty_tasks() -> None:
    found = {
        name: values(each) for name, each in scores(list(AGENTS_OF_KNOWN_WORTH), tasks=40, seed=6, **CLEAN).items()
    }
    mean = {name: float(each.mean()) for name, each in found.items()}
    assert mean.pop("informed") == pytest.approx(100.0, abs=1.0) and found["informed"].std() < 1.0
    assert mean.pop("half") == pytest.approx(50.0, abs=3.0)
    for name in ("flat", "long", "short", "random", "replay", "stop_cheat", "funding"):
        assert abs(mean.pop(name)) < 1.0, name
    assert found["half"].std(ddof=1) <= 2.0
    # It holds a side for twelve bars in 48 windows: what it finds there is luck, and more of it.
    assert abs(mean.pop("unmirrored")) < 3.0 * found["unmirrored"].std() / np.sqrt(40)
    for name, value in mean.items():
        assert value <= 5.0, (name, value)


@pytest.mark.campaign
def test_scores_are_ordered_by_what_is_known() -> None:
    coefficients = policies.KNOWABLE_COEFFICIENTS

    def maker(rho: float) -> Any:
        return lambda session, number: policies.forecaster(session, information_coefficient=rho, seed=number)

    found = scores([(f"{rho}", maker(rho)) for rho in coefficients], tasks=40, seed=7, **CLEAN)
    means = [float(values(found[f"{rho}"]).mean()) for rho in coefficients]
    assert means == sorted(means) and abs(means[0]) < 2.0 and means[-1] > 70.0
    assert values(found["0.35"]).std(ddof=1) <= 5.5
    told = np.mean([score.details["equivalent_ic"]["value"] for score in found["0.2"]])
    assert told == pytest.approx(0.2, abs=0.04)


@pytest.mark.campaign
def test_a_learner_that_fits_on_what_it_is_shown_finds_most_of_it() -> None:
    agents = {
        "learner": learner,
        "informed": AGENTS_OF_KNOWN_WORTH["informed"],
        "forecaster": lambda session, number: policies.forecaster(session, information_coefficient=0.35, seed=number),
    }
    found = {name: values(each) for name, each in scores(list(agents.items()), tasks=40, seed=8, **CLEAN).items()}
    assert found["learner"].mean() >= 75.0 and found["learner"].std(ddof=1) <= 5.0
    # Tasks that tell two agents 10 points apart, at 95% with 80% power, where both play the same: at most 4.
    for other in ("informed", "forecaster"):
        apart = (found["learner"] - found[other]).std(ddof=1)
        assert ((1.96 + 0.84) * apart / 10.0) ** 2 <= 4.0


def test_episodes_on_candles_have_no_truth() -> None:
    session = opened()
    with pytest.raises(ValueError, match="episodes must be on simulated markets in which something can be known"):
        truth(session.episodes._replace(known=None), rules=session.rules, equity=START_EQUITY)


def test_messages_are_few_and_short_and_what_came_before_is_some_kilobytes_an_episode() -> None:
    for name in ("baseline", "noisy", "adversarial"):
        session = opened(9, transforms=[name])
        body: dict[str, Any] | None = session.opening()
        sizes = []
        while body is not None:
            sizes.append(len(json.dumps(body, separators=(",", ":"))))
            body = session.reply(session.oracle())
        assert len(sizes) == 12 and sizes[0] < 10_000 and max(sizes[1:]) < 6_000
    told = opened(9).reply('{"history": ["e01"]}')
    assert told is not None and len(json.dumps(told)) < 14_000


def test_what_was_learnt_of_an_earlier_task_is_worth_nothing_in_a_later_one() -> None:
    """Sides that would have had 100 in the task before, episode by episode."""
    values_of = []
    before = opened(50).verdict.sides
    for seed in range(51, 63):
        session = opened(seed)
        score = policies.play(session, policies.follow(before))
        values_of.append(score.value)
        before = session.verdict.sides
    assert abs(np.mean(values_of)) < max(2.0, 3.0 * np.std(values_of) / np.sqrt(12))


@pytest.mark.campaign
@pytest.mark.parametrize("name", [name for name in registry.TRANSFORMS if registry.get(name).looks_ahead == 0])
def test_under_a_transform_nothing_observed_explains_what_was_not_known(name: str) -> None:
    """What the score leaves out of a return, the drawn return less its mean, against functions of the observed past."""
    key = jax.random.key(77)
    found = knowable(key, windows=720, bars=12, name="test")
    changed = transforms.apply(name, key, found.market, severity=1.0)
    assert found.known is not None
    deviation = np.maximum(found.known.deviation, 1e-4)
    luck = ((found.known.drawn - found.known.mean) / deviation)[:, 10:]
    seen = to_numpy(changed.observed)
    move, gap = np.log(seen.close / seen.open), np.log(seen.open[:, 1:] / seen.close[:, :-1])
    channels = found.known.channels
    past = {
        **{f"move {lag}": np.clip(move / 0.01, -3.0, 3.0)[:, 10 - lag : -lag] for lag in (1, 2, 3, 5, 8)},
        "gap": np.clip(gap / 0.01, -3.0, 3.0)[:, 8:-1],
        "flow": np.asarray(channels.flow)[:, 9:-1],
        "news": np.asarray(channels.news)[:, 9:-1],
        "volume": np.clip(seen.volume / np.median(seen.volume), 0.0, 4.0)[:, 9:-1] - 1.0,
        "move times flow": (np.sign(move) * channels.flow)[:, 9:-1],
        "fell twice": (np.sign(move)[:, 8:-2] + np.sign(move)[:, 9:-1] == -2.0).astype(float),
    }
    for told, regressor in past.items():
        product = (luck * regressor).ravel()
        assert abs(product.mean() / (product.std() / np.sqrt(product.size))) < 4.5, told
