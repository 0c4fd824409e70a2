"""The score by itself: what it must not pay, and that its upper end is the true one."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from backtest.account import TARGET, Action, open_account
from backtest.rules import DEFAULT_RULES, FREE
from evaluators.crypto.hindsight import available, best_path, usual_move
from evaluators.crypto.play import START_EQUITY, Played, play
from evaluators.crypto.policies import play as play_policy
from evaluators.crypto.published import as_published, paper_product
from evaluators.crypto.session import InteractiveSession
from evaluators.crypto.settings import TransformChoice
from evaluators.crypto.skill import best_moves, error_of_mean, judge, moves, scales, shares
from evaluators.crypto.windows import WARMUP_BARS, episodes, of
from tests.evaluators.crypto.fair_play import fair_windows

BARS = 28


@pytest.fixture(scope="module")
def session_maker() -> Callable[[], InteractiveSession]:
    key = jax.random.key(1)
    found = fair_windows(key, windows=96, bars=BARS)
    made = episodes(found, TransformChoice("baseline"), key=key, seed=[1])
    return lambda: InteractiveSession(made, families=found.family, decision_every=1, batch=None, info={})


class Seen(NamedTuple):
    """What a policy of these tests reads of an episode."""

    episode: str
    close: float
    exposure: float
    equity: float


def points(session: InteractiveSession, decide: Callable[[Seen, int], dict[str, Any]]) -> np.ndarray:
    """Return timing and counted timing of each window, ``[windows, 2]``."""

    def reply(played: InteractiveSession, body: dict[str, Any]) -> str:
        accounts = zip(played.exposures(), np.asarray(played.state.account.equity) / START_EQUITY, strict=True)
        rows = []
        for (name, row), (exposure, equity) in zip(body["episodes"].items(), accounts, strict=True):
            rows.append({"episode": name, **decide(Seen(name, row[0], exposure, float(equity)), body["decision"])})
        return json.dumps({"decisions": rows})

    details = play_policy(session, reply).details
    samples = [row["value"] for row in details["samples"]]
    return np.column_stack([np.array(details["points"])[:, 0], samples])


def toward(row: Seen, target: float) -> dict[str, Any]:
    change = target - row.exposure
    if abs(change) < 0.1 * max(abs(target), 0.01):
        return {"action": "HOLD"}
    return {"action": "BUY" if change > 0.0 else "SELL", "size": abs(change)}


def assert_timing_is_luck(shown: np.ndarray) -> None:
    for column in shown.T:
        assert abs(column.mean()) < 3.0 * column.std(ddof=1) / math.sqrt(len(column))
    assert abs(shown[:, 1].mean()) < 8.0


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_trading_with_or_against_the_move_so_far_earns_nothing(
    session_maker: Callable[[], InteractiveSession], side: float
) -> None:
    """Measured against its own average exposure within the window, the contrarian would earn some 12 points here."""
    first: dict[str, float] = {}

    def decide(row: Seen, decision: int) -> dict[str, Any]:
        moved = row.close - first.setdefault(row.episode, row.close)
        return toward(row, side * math.copysign(1.0, moved))

    assert_timing_is_luck(points(session_maker(), decide))


def test_raising_the_stake_after_losses_and_stopping_after_gains_earns_nothing(
    session_maker: Callable[[], InteractiveSession],
) -> None:
    def decide(row: Seen, decision: int) -> dict[str, Any]:
        if row.equity > 1.0:
            return {"action": "CLOSE"}
        return toward(row, min(3.0, 0.003 * 10.0 ** (decision // 4)))

    assert_timing_is_luck(points(session_maker(), decide))


def test_tight_stops_and_tight_targets_earn_nothing(session_maker: Callable[[], InteractiveSession]) -> None:
    for field, distance in (("stop_loss", -0.002), ("take_profit", 0.002)):

        def decide(row: Seen, decision: int, field: str = field, distance: float = distance) -> dict[str, Any]:
            level = {field: row.close * (1.0 + distance)}
            return {"action": "HOLD" if row.exposure else "BUY", "size": 1.0, **level}

        assert_timing_is_luck(points(session_maker(), decide))


def test_multiplying_every_size_changes_nothing_but_impact(session_maker: Callable[[], InteractiveSession]) -> None:
    rng = np.random.default_rng(0)
    sides = rng.choice([-1.0, 1.0], (BARS, 192))

    def sized(size: float) -> np.ndarray:
        session = session_maker()
        place = session.place
        return points(session, lambda row, decision: toward(row, size * sides[decision - 1, place[row.episode]]))

    small, large = sized(0.2), sized(2.0)
    np.testing.assert_allclose(small[:, 0], large[:, 0], rtol=0.02, atol=8.0)
    assert abs(small[:, 0].mean() - large[:, 0].mean()) < 1.2


def never_looking(rng: np.random.Generator, policies: int) -> np.ndarray:
    """Return targets ``[policies, BARS]``: half change at random, each at its own rate, half hold one exposure."""
    half = policies // 2
    rate = np.exp(rng.uniform(-np.log(BARS), np.log(0.5), (half, 1)))
    switches = (rng.random((half, BARS)) < rate) | (np.arange(BARS) == 0)
    drawn = np.where(switches, rng.uniform(0.0, 1.0, (half, 1)) * rng.uniform(-1.0, 1.0, (half, BARS)), np.nan)
    held = np.where(np.arange(BARS) == 0, np.linspace(-1.0, 1.0, policies - half)[:, None], np.nan)
    return rng.permutation(np.concatenate([drawn, held]))


def test_thousands_of_policies_that_never_look_have_a_mean_of_zero() -> None:
    """Random and constant exposures, played on the same windows, their mirrors and the same rules."""
    key = jax.random.key(2)
    found = fair_windows(key, windows=24, bars=BARS)
    made = episodes(found, TransformChoice("baseline"), key=key, seed=[2])
    traded = of(np.asarray(field)[:, WARMUP_BARS:] for field in made.traded)
    count, policies = 48, 100
    targets = never_looking(np.random.default_rng(2), policies * count)
    markets = of(np.repeat(np.asarray(field), policies, axis=0) for field in traded)
    start = np.repeat(np.asarray(made.traded.close)[:, WARMUP_BARS - 1], policies)
    state = Played(open_account(shape=(count * policies,)), jnp.asarray(start), jnp.zeros(count * policies))
    measured = []
    for t in range(BARS):
        wanted = targets[:, t]
        kind = jnp.where(jnp.isnan(wanted), 0, TARGET).astype(jnp.int32)
        unset = jnp.full(wanted.shape, jnp.nan)
        order = Action(kind, jnp.nan_to_num(wanted), unset, unset)
        state, row = play(state, order, of(jnp.asarray(field[:, t : t + 1].T) for field in markets), DEFAULT_RULES)
        measured.append(row)
    fields = [np.concatenate(part) for part in zip(*measured, strict=True)]
    offered = available(traded, decision_every=1, rules=DEFAULT_RULES, equity=10_000.0)
    usual = usual_move(of(np.asarray(field)[:, :WARMUP_BARS] for field in made.traded))
    names = [str(window) for window in range(24)]
    skills = [
        judge(
            moves(fields[0][:, lanes], fields[3][:, lanes] / np.maximum(fields[2][:, lanes], 1e-9), usual, made.window),
            best_moves(offered, usual, made.window),
            names,
        )
        for lanes in (slice(policy, None, policies) for policy in range(policies))
    ]
    by_window = np.mean([skill.samples for skill in skills], axis=0)  # The policies share one market: errors by window.
    error = error_of_mean(by_window, names)
    assert abs(by_window.mean()) < 3.0 * error and error < 2.0
    assert np.mean([skill.cost for skill in skills]) > 1.0


def test_hindsight_is_the_best_of_all_paths() -> None:
    rng = np.random.default_rng(4)
    returns = rng.normal(0.0, 0.004, (6, 3))
    unit = rng.uniform(0.0005, 0.004, (6, 3))
    costs = np.arange(3.0)[:, None, None] * unit[None]
    best, sides = best_path(returns, costs)
    for lane in range(3):
        values = []
        for path in itertools.product([-1, 0, 1], repeat=6):
            changes = np.abs(np.diff([0, *path]))
            values.append(float(np.dot(path, returns[:, lane])) - float(np.dot(changes, unit[:, lane])))
        assert best[lane] == pytest.approx(max(values), abs=1e-15)
        changes = np.abs(np.diff([0.0, *sides[:, lane]]))
        assert float(sides[:, lane] @ returns[:, lane] - changes @ unit[:, lane]) == pytest.approx(
            best[lane], abs=1e-15
        )


def test_timing_of_a_held_position_is_its_log_return_and_costs_and_funding_stand_apart() -> None:
    found = fair_windows(jax.random.key(3), windows=2, bars=BARS)
    market = of(jnp.asarray(np.asarray(field)[:, WARMUP_BARS:].T) for field in found.market)
    start = Played(open_account(shape=(2,)), market.open[0], jnp.zeros(2))
    unset = jnp.full(2, jnp.nan)
    order = Action(jnp.full(2, TARGET, jnp.int32), jnp.asarray([1.0, 1.0]), unset, unset)
    _, free = play(start, order, market, FREE)
    wanted = np.log(np.asarray(market.close[-1] / market.open[0]))
    assert np.asarray(market.funding_rate[1:]).any()
    np.testing.assert_allclose(np.asarray(free.timing).sum(axis=0), wanted, rtol=2e-3, atol=1e-5)
    assert not np.asarray(free.cost).any()
    _, paid = play(start, order, market, DEFAULT_RULES)
    assert (np.asarray(paid.cost)[0] > 5e-4).all() and not np.asarray(paid.cost)[1:].any()


def test_a_gap_is_divided_by_the_largest_exposure_before_it_not_by_what_the_gap_makes_of_it() -> None:
    """A long of three times equity whose price opens 5% lower has more exposure after it: 2.85 / 0.85 times equity."""
    opens, closes = np.array([[100.0], [95.0]]), np.array([[100.0], [95.0]])
    nothing = np.zeros((2, 1))
    market = of(map(jnp.asarray, (3600.0 * np.arange(2)[:, None], opens, opens, opens, closes, 1e9 + nothing, nothing)))
    start = Played(open_account(shape=(1,)), market.open[0], jnp.zeros(1))
    unset = jnp.full(1, jnp.nan)
    _, measured = play(start, Action(jnp.full(1, TARGET, jnp.int32), jnp.asarray([3.0]), unset, unset), market, FREE)
    assert float(measured.largest[1, 0]) == pytest.approx(2.85 / 0.85)
    assert float(measured.timing[1, 0]) == pytest.approx(math.log(0.95))


def test_the_units_of_a_window_know_nothing_of_its_future() -> None:
    rng = np.random.default_rng(0)
    best = rng.uniform(0.5, 2.0, 5)
    changed = best.copy()
    changed[2] = 40.0
    for each in (best, changed):
        assert scales(each)[2] == pytest.approx(100.0 / np.delete(best, 2).mean(), rel=1e-12)
    assert (np.delete(scales(changed), 2) < np.delete(scales(best), 2)).all()
    assert 100.0 <= (scales(best) * best).mean() < 130.0
    found = fair_windows(jax.random.key(4), windows=6, bars=BARS).market
    other = found._replace(close=np.concatenate([found.close[:, :WARMUP_BARS], rng.uniform(1, 9, (6, BARS))], axis=1))
    first, second = (usual_move(of(np.asarray(f)[:, :WARMUP_BARS] for f in m)) for m in (found, other))
    np.testing.assert_array_equal(first, second)
    steps = np.abs(np.diff(np.log(found.close[:, :WARMUP_BARS]), axis=1)).mean(axis=1)
    np.testing.assert_allclose(first, np.maximum(steps, 0.5 * np.median(steps)))


def test_the_shares_are_those_of_the_bars_before_whatever_hindsight_finds_in_the_bars_to_come() -> None:
    rng = np.random.default_rng(1)
    windows = np.stack([rng.normal(size=(BARS, 4)), rng.uniform(0.0, 0.1, (BARS, 4))], axis=-1)
    names = list("abcd")
    even, uneven = (judge(windows, np.array(best), names) for best in ([9.0] * 4, [9.0, 9.0, 9.0, 90.0]))
    share = shares(*windows.mean(axis=1).T)
    assert even.value == pytest.approx((share @ windows[:, :, 0]).mean() * 100.0 / 9.0)
    scaled = (share @ windows[:, :, 0]) * scales(np.array([9.0, 9.0, 9.0, 90.0]))
    assert uneven.value == pytest.approx(scaled.mean())
    with pytest.raises(ValueError, match="at least 2 windows to set its scale, got 1"):
        judge(windows[:, :1], np.array([9.0]), names[:1])


def test_who_earns_a_share_of_what_every_window_offers_has_a_small_error() -> None:
    rng = np.random.default_rng(2)
    best = rng.lognormal(0.0, 0.6, 64)
    earned = np.zeros((BARS, 64, 2))
    earned[:, :, 0] = 0.4 * best / BARS
    shown = judge(earned, best, [str(window) for window in range(64)])
    assert shown.value == pytest.approx(40.0, rel=0.02) and shown.samples.mean() == pytest.approx(shown.value)
    assert shown.se < 0.5  # Of the windows' own points it would be some 3.


def test_the_error_of_a_skilled_trader_is_the_spread_of_its_values() -> None:
    rng = np.random.default_rng(3)
    shown = []
    for _ in range(300):
        best = rng.lognormal(0.0, 0.6, 16)
        earned = np.zeros((BARS, 16, 2))
        earned[:, :, 0] = 0.3 * best / BARS + rng.normal(0.0, 0.06, (BARS, 16))
        shown.append(judge(earned, best, [str(window) for window in range(16)]))
    values, errors = (np.array([getattr(each, name) for each in shown]) for name in ("value", "se"))
    assert values.mean() == pytest.approx(30.0, abs=2.0)
    assert errors.mean() == pytest.approx(values.std(), rel=0.25)


@given(
    hnp.arrays(np.float64, (6, 2), elements=st.floats(-100.0, 100.0)),
    hnp.arrays(np.float64, (6, 2), elements=st.floats(0.0, 100.0)),
    st.integers(0, 5),
)
def test_the_share_of_a_bar_depends_on_the_bars_before_alone_and_lies_within_0_and_1(
    timing: np.ndarray, cost: np.ndarray, bar: int
) -> None:
    share = shares(timing, cost)
    assert ((share >= 0.0) & (share <= 1.0)).all() and (share[0] == 1.0).all()
    later = np.arange(6)[:, None] >= bar
    changed = shares(np.where(later, 7.0, timing), np.where(later, 3.0, cost))
    np.testing.assert_array_equal(changed[: bar + 1], share[: bar + 1])
    np.testing.assert_array_equal(shares(-timing, cost), share)
    assert (shares(timing, np.zeros((6, 2))) == 1.0).all()


def test_steady_timing_pays_its_costs_in_full_and_no_more_whenever_they_fall_due() -> None:
    bars = 1000
    timing = np.full((bars, 5), 60.0 / bars)
    cost = np.zeros((bars, 5))
    cost[:, 0] = 20.0 / bars
    cost[0, 1] = 20.0
    cost[bars // 2, 2] = 20.0
    cost[:, 3] = 90.0 / bars
    kept = (shares(timing, cost) * timing).sum(axis=0)
    np.testing.assert_allclose(kept, [40.0, 40.0, 40.0, 0.0, 60.0], atol=0.1)


def test_errors_are_clustered_by_family() -> None:
    samples = np.array([1.0, 1.0, -1.0, -1.0])
    apart = error_of_mean(samples, ["a", "b", "c", "d"])
    assert apart == pytest.approx(samples.std(ddof=1) / 2.0)
    assert error_of_mean(samples, ["a", "a", "b", "b"]) == pytest.approx(1.0)
    assert error_of_mean(samples, ["a", "a", "a", "a"]) == 0.0


def test_the_published_measures_are_what_was_published() -> None:
    assert as_published(total_return=0.0, sharpe=0.0, max_drawdown=0.0, win_rate=0.0) == pytest.approx(47.5)
    assert as_published(total_return=9.0, sharpe=9.0, max_drawdown=0.0, win_rate=1.0) == pytest.approx(100.0)
    assert paper_product(total_return=0.1, sharpe=2.0, max_drawdown=0.5) == pytest.approx(0.1)
    assert paper_product(total_return=-0.1, sharpe=-2.0, max_drawdown=0.5) == pytest.approx(-0.1)
