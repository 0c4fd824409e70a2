"""Knowable markets: the mean is exact, of what was shown alone, and nobody who knows no sign gains by it."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from backtest import simulators
from backtest.market import YEAR_SECONDS, Market, check
from backtest.simulators import FAIR_PARAMETERS, MENU, STRUCTURES, Knowable, Traits, bates, facts, knowable, public
from backtest.simulators.channels import shocks
from backtest.simulators.draws import MEAN_SIZE, PER_SIZE, draw
from backtest.simulators.structures.contract import Bar
from backtest.simulators.structures.hidden_regime import HIDDEN_REGIME, SWITCH

EACH = 16
BARS = 1_500
HOUR = 3600.0
YEARS3 = 26_280


class Made(NamedTuple):
    """Markets of one structure; numpy fields ``[EACH, bars]``, traits ``[EACH]``."""

    seen: Knowable
    traits: Traits

    @property
    def returns(self) -> Any:
        return np.log(self.seen.market.close / self.seen.market.open)

    @property
    def shocks(self) -> Any:
        """What was not known of each bar, in deviations; 0 where the variance was."""
        deviation = np.asarray(self.seen.deviation)
        return np.where(deviation > 0.0, (self.returns - self.seen.mean) / np.where(deviation > 0.0, deviation, 1.0), 0)


def make(seed: int, *, markets: int, bars: int) -> tuple[Knowable, Traits]:
    traits_key, key = jax.random.split(jax.random.key(seed))
    traits = simulators.draw_traits(traits_key, markets=markets)
    simulate = jax.jit(jax.vmap(lambda key, traits: simulators.simulate_knowable(key, traits, bars=bars)))
    return simulate(jax.random.split(key, markets), traits), traits


def by_structure(seen: Knowable, traits: Traits) -> dict[str, Made]:
    kinds = np.asarray(traits.kind)
    return {
        name: Made(*jax.tree.map(lambda field, chosen=kinds == kind: np.asarray(field)[chosen], (seen, traits)))
        for kind, name in enumerate(MENU)
    }


@pytest.fixture(scope="module")
def all_made() -> tuple[Knowable, Traits]:
    return make(11, markets=EACH * len(MENU), bars=BARS)


@pytest.fixture(scope="module")
def made(all_made: tuple[Knowable, Traits]) -> dict[str, Made]:
    return by_structure(*all_made)


def z_value(samples: Any) -> float:
    return float(samples.mean() / (samples.std() / np.sqrt(samples.size)))


def regressors(seen: Knowable) -> dict[str, Any]:
    """Return functions of the public past of each bar but the first, ``[markets, bars - 1]``."""
    market, channels = seen.market, seen.channels
    change = np.sign(np.asarray(market.close - market.open))
    past = {
        "one": np.ones_like(change),
        "side": change,
        "flow": np.asarray(channels.flow),
        "book": np.asarray(channels.book),
        "leader": np.sign(channels.leader),
        "news": np.asarray(channels.news),
        "premium": np.sign(channels.premium),
        "volume": np.sign(market.volume - np.median(market.volume)),
        "side times flow": change * channels.flow,
    }
    lagged = {f"side {lag} before": np.roll(change, lag, axis=1) for lag in range(1, 8)}
    return {name: values[:, :-1] for name, values in (past | lagged).items()} | {"lean": np.asarray(seen.lean)[:, 1:]}


def assert_nothing_is_left(seen: Made, limit: float) -> None:
    unknown = seen.shocks[:, 1:]
    for name, values in regressors(seen.seen).items():
        assert abs(z_value(unknown * values)) < limit, name


@pytest.mark.parametrize("name", MENU)
def test_a_row_makes_valid_markets_that_lean_as_much_as_it_says(made: dict[str, Made], name: str) -> None:
    seen, traits = made[name]
    check(seen.market)
    for field in (*seen.channels, seen.lean, seen.mean, seen.deviation):
        assert np.isfinite(field).all()
    assert np.abs(seen.lean).max() < 1.0
    most = np.asarray(jax.vmap(lambda each: public.lean(each, MENU))(traits))
    signal = seen.lean[:, 50:] / most[:, None]
    assert np.abs(signal).max() <= 1.0 + 1e-5
    assert np.sqrt((signal**2).mean()) == pytest.approx(STRUCTURES[name].spread, rel=0.06)
    assert abs(signal.mean()) < 0.05


@pytest.mark.parametrize("name", MENU)
def test_the_mean_is_what_can_be_known_of_a_bar_and_no_more(made: dict[str, Made], name: str) -> None:
    assert_nothing_is_left(made[name], 4.5)
    # The test has the power: without the mean the returns themselves are explained by the lean.
    seen = made[name].seen
    moved = np.where(seen.deviation > 0.0, made[name].returns / np.maximum(seen.deviation, 1e-12), 0.0)
    found = np.corrcoef(moved.ravel(), np.asarray(seen.lean).ravel())[0, 1]
    assert found == pytest.approx(float(made[name].traits.coefficient.mean()), abs=0.05)


@pytest.mark.parametrize("image", ["as it is", "mirrored"])
def test_the_lean_is_a_function_of_what_was_shown(all_made: tuple[Knowable, Traits], image: str) -> None:
    seen, traits = all_made if image == "as it is" else jax.jit(jax.vmap(simulators.mirror))(*all_made)
    check(Market(*(np.asarray(field) for field in seen.market)))
    if image == "mirrored":
        np.testing.assert_array_equal(seen.mean, -np.asarray(all_made[0].mean))
        np.testing.assert_allclose(
            np.log(seen.market.close / seen.market.open),
            -np.log(np.asarray(all_made[0].market.close / all_made[0].market.open)),
            atol=1e-12,
        )

    def read(seen: Knowable, traits: Traits) -> jax.Array:
        market = seen.market
        shown = (market.open, market.close, market.time, seen.channels)
        return public.read(*shown, traits, menu=MENU, bar_seconds=HOUR)

    again = np.asarray(jax.jit(jax.vmap(read))(seen, traits))
    # Prices are summed up in another order than log-returns, so that a signal near an edge may differ a little.
    away = np.abs(again - seen.lean)
    assert (away > 2e-3).mean() < 1e-4, np.argwhere(away > 2e-3)
    assert np.quantile(away, 0.999) < 1e-5


def test_the_filter_of_the_hidden_regime_is_that_of_bayes() -> None:
    """All paths of the hidden state, weighed one by one."""
    rng = np.random.default_rng(3)
    bars, lean = 11, 0.7
    flows, sides = (rng.choice([-1.0, 1.0], bars) for _ in range(2))
    sides[4] = 0.0
    hidden, found = HIDDEN_REGIME.init(), []
    zero = jnp.zeros((), jnp.float32)
    for flow, side in zip(flows, sides, strict=True):
        bar = Bar(*(zero,) * 11)._replace(flow=jnp.float32(flow), side=jnp.float32(side))
        hidden, signal = HIDDEN_REGIME.step(hidden, bar, Traits(*(zero,) * 5), jnp.float32(lean))
        found.append(float(signal.known))
    for last in range(1, bars):
        total = mean = 0.0
        # states[t] is in force while bar t + 1 is played; the side of bar t + 1 answers to the flow of bar t.
        for states in product([-1.0, 1.0], repeat=last + 1):
            weight = 0.5
            for t in range(last):
                weight *= 0.5 * (1.0 + lean * states[t] * flows[t] * sides[t + 1]) if sides[t + 1] else 1.0
                weight *= 1.0 - SWITCH if states[t + 1] == states[t] else SWITCH
            total += weight
            mean += weight * states[last]
        assert found[last] == pytest.approx(flows[last] * mean / total, abs=1e-6), last


def test_signs_are_balanced_and_twins_differ_in_nothing_else() -> None:
    traits = simulators.draw_traits(jax.random.key(4), markets=4 * len(MENU))
    for kind in range(len(MENU)):
        signs = np.asarray(traits.sign)[np.asarray(traits.kind) == kind]
        assert sorted(signs) == [-1.0, -1.0, 1.0, 1.0]
    rounds = [np.asarray(field).reshape(2, 2, len(MENU)) for field in traits]
    for field, values in zip(Traits._fields, rounds, strict=True):
        np.testing.assert_array_equal(values[:, 0], (-1.0 if field == "sign" else 1.0) * values[:, 1])
    for kinds in rounds[0].reshape(4, len(MENU)):
        assert sorted(kinds) == list(range(len(MENU)))
    assert (rounds[3].sum(axis=2) == 0.0).all()
    few = simulators.draw_traits(jax.random.key(4), markets=5)
    assert len(set(np.asarray(few.kind).tolist())) == 5
    many = simulators.draw_traits(jax.random.key(5), markets=4_000)
    for kind, name in enumerate(MENU):
        rows = np.asarray(many.kind) == kind
        assert set(np.asarray(many.lag)[rows].tolist()) == set(STRUCTURES[name].lags), name
        assert set(np.asarray(many.choice)[rows].tolist()) == set(range(STRUCTURES[name].choices)), name
    firsts = [float(simulators.draw_traits(jax.random.key(seed), markets=1).sign[0]) for seed in range(100)]
    assert abs(np.mean(firsts)) < 0.3


def test_the_same_key_gives_the_same_market_and_another_key_another() -> None:
    (first, traits), (again, _), (other, _) = (make(seed, markets=24, bars=60) for seed in (1, 1, 2))
    jax.tree.map(np.testing.assert_array_equal, first, again)
    assert not np.array_equal(first.market.close, other.market.close)
    assert traits.kind.shape == (24,)


def test_one_structure_alone_is_the_one_on_the_menu() -> None:
    """A shorter menu is another program of the same market."""
    key = jax.random.key(8)
    alone = simulators.draw_traits(key, markets=1, structures=("leader",))
    one = Traits(*(field[0] for field in alone))
    short = simulators.simulate_knowable(key, one, bars=60, structures=("leader",))
    whole = simulators.simulate_knowable(key, one._replace(kind=jnp.int32(MENU.index("leader"))), bars=60)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-9), short, whole)


def test_no_structure_leans_more_than_a_probability_can() -> None:
    for name, row in STRUCTURES.items():
        assert knowable.MOST_COEFFICIENT * PER_SIZE / row.spread <= 1.0, name


def test_what_no_market_can_be_made_of_is_refused_by_name() -> None:
    key = jax.random.key(0)
    traits = Traits(*(field[0] for field in simulators.draw_traits(key, markets=1)))
    with pytest.raises(ValueError, match=r"parameters\.jump_mean must be 0, .* got -0\.002"):
        simulators.simulate_knowable(key, traits, bars=9, parameters=FAIR_PARAMETERS._replace(jump_mean=-0.002))
    with pytest.raises(ValueError, match=r"structures must be names of lagged_return, .* got \('tides',\)"):
        simulators.simulate_knowable(key, traits, bars=9, structures=("tides",))
    with pytest.raises(ValueError, match=r"1 less the lean of traits\.coefficient must be .*0"):
        simulators.simulate_knowable(key, traits._replace(coefficient=jnp.float32(0.99)), bars=9)
    with pytest.raises(ValueError, match="markets must be at least 1, got 0"):
        simulators.draw_traits(key, markets=0)
    with pytest.raises(ValueError, match="bars must be at least 1, got 0"):
        simulators.simulate_knowable(key, traits, bars=0)


@pytest.mark.campaign
def test_every_structure_shows_the_stylised_facts() -> None:
    """Six markets of three years a structure: the middle of each figure, for one path has its own luck."""
    for name, (seen, _) in by_structure(*make(6, markets=6 * len(MENU), bars=YEARS3)).items():
        figures = [
            facts.measure(Market(*(field[market] for field in seen.market)), bar_seconds=HOUR) for market in range(6)
        ]
        for fact, (low, high) in facts.RANGES.items():
            middle = float(np.median([getattr(each, fact) for each in figures]))
            assert low <= middle <= high, (name, fact, middle)


@pytest.mark.campaign
def test_over_ten_million_bars_nothing_of_the_past_explains_what_was_not_known() -> None:
    for seed in range(2):
        for name, seen in by_structure(*make(100 + seed, markets=36 * len(MENU), bars=12_000)).items():
            try:
                assert_nothing_is_left(seen, 4.5)
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from None


def by_rule(seen: Knowable, back: int) -> Any:
    """Return what a follower of the last ``back`` bars can expect of each market, deviations a bar."""
    close = np.log(np.asarray(seen.market.close))
    side = np.sign(close[:, back:-1] - close[:, : -back - 1])
    ratio = np.where(seen.deviation > 0.0, seen.mean / np.maximum(seen.deviation, 1e-12), 0.0)
    return (side * ratio[:, back + 1 :]).mean(axis=1)


@pytest.mark.campaign
@pytest.mark.parametrize("back", [1, 3, 6, 24])
def test_no_follower_and_no_contrarian_has_an_expected_gain_worth_its_costs(back: int) -> None:
    """Perfect reading has some 0.35 deviations a bar before costs. Twins together, as the signs are balanced."""
    earned = np.concatenate(
        [by_rule(make(200 + seed, markets=40 * len(MENU), bars=1_000)[0], back) for seed in range(2)]
    )
    twins = earned.reshape(-1, 2).mean(axis=1)
    assert abs(twins.mean()) < 0.012 + 3.0 * twins.std() / np.sqrt(twins.size)


@pytest.mark.campaign
@pytest.mark.parametrize("name", [each for each in MENU if each != "hidden_regime"])
def test_ten_thousand_continuations_of_one_past_have_the_mean_that_was_told(name: str) -> None:
    menu, past, many = (name,), 40, 10_000
    key = jax.random.key(31)
    traits = Traits(*(field[0] for field in simulators.draw_traits(key, markets=1, structures=menu)))
    single = bates.Parameters(*(jnp.asarray(value, jnp.float32) for value in FAIR_PARAMETERS))
    years = jnp.float32(HOUR / YEAR_SECONDS)
    zero = jnp.zeros((), jnp.float32)
    process = bates.begin(key, single)._replace(price=jnp.asarray(50_000.0))
    state = knowable._State(process, public.begin(menu, years), zero, zero, zero)

    def play(state: Any, key: jax.Array, bars: int) -> Any:
        price_key, channel_key = jax.random.split(key)
        inputs = draw(price_key, bars), shocks(channel_key, bars), jnp.arange(bars) % 8 == 0, jnp.arange(bars) % 24
        step = partial(knowable._bar, traits=traits, menu=menu, p=single, dt=years)
        return jax.lax.scan(step, state, inputs)

    told = 0.0
    for seed in range(5):
        state, _ = jax.jit(play, static_argnums=2)(state, jax.random.key(seed), past)
        _, (path, _, lean) = jax.vmap(play, (None, 0, None))(state, jax.random.split(key, many), 1)
        assert np.ptp(np.asarray(lean)) == 0.0
        moves = np.asarray(path.move)[:, 0]
        mean = float(MEAN_SIZE * jnp.sqrt(path.variance[0, 0] * years) * lean[0, 0])
        assert abs(moves.mean() - mean) <= 4.0 * moves.std() / np.sqrt(many)
        told += abs(mean) / max(float(moves.std()), 1e-12) / 5
    assert told > 0.1
