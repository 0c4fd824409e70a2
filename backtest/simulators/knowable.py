"""Markets in which something can be known, with the exact mean of every bar's log return given what was shown.

Each market is one of ``bates`` without drift in which the **direction** of a bar, up or down from open to close, leans
by a signal of the public past (``structures``). How far the bar moves is drawn as ever, so volatility, jumps, tails,
clustering, leverage, volume and range are those of ``bates``, whatever the structure. With ``d`` the deviation of the
bar's return (of a variance that nobody sees) and ``q`` the lean, P(up) - P(down)::

    return = d |e| direction,     mean given the past and d = d sqrt(2 / pi) q

``d`` is a function of what came before the bar; it scales the mean and says nothing of its sign. A gap between bars has
mean 0. So for every exposure that an agent can choose, the sum of exposure times mean has the expectation of the sum of
exposure times return, without its noise.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from backtest.market import YEAR_SECONDS, Market
from backtest.simulators import bates, public
from backtest.simulators.bates import FAIR_PARAMETERS, FUNDING_SECONDS, Parameters
from backtest.simulators.channels import Channels, Shocks, mirrored, premium_after, shocks, shown, spoken
from backtest.simulators.draws import MEAN_SIZE, Draws, draw
from backtest.simulators.structures import MENU, STRUCTURES, Traits
from backtest.simulators.structures.contract import Bar
from pricing.inputs import is_traced, require
from pricing.signature import checked, requires

LEAST_COEFFICIENT, MOST_COEFFICIENT = 0.40, 0.50


class Knowable(NamedTuple):
    """A market, what is shown beside its candles, and what can be known of it. Fields ``[bars]``, float64.

    Attributes
    ----------
    market
        Candles and funding.
    channels
        The public series beside them.
    lean
        P(up) - P(down) of each bar from its open to its close, given all that was shown before. Hidden from agents.
    mean
        Mean of the bar's log return from open to close, given that and the deviation. Hidden from agents.
    deviation
        Standard deviation that the bar's return would have without a lean, before it is played. Hidden from agents.
    """

    market: Market
    channels: Channels
    lean: jax.Array
    mean: jax.Array
    deviation: jax.Array


class _State(NamedTuple):
    process: bates.Process
    reading: public.Reading
    premium: jax.Array
    surprises: jax.Array
    since: jax.Array


@checked
def draw_traits(key: jax.Array, *, markets: int, structures: tuple[str, ...] = MENU) -> Traits:
    """Return the traits of ``markets`` markets, fields ``[markets]``: ``kind`` counts within ``structures``.

    Rounds over the menu in drawn order, so that each structure is there as often as any other, as far as the number
    goes. In the first round half of the signs are drawn to be the other; every second round has the structures, lags,
    variants and coefficients of the one before it with opposite signs. So a rule that takes one sign for granted gains
    nothing on average.

    Raises
    ------
    ValueError
        For less than one market, or a structure that is unknown or named twice.
    """
    if markets < 1:
        raise ValueError(f"markets must be at least 1, got {markets}")
    require_known(structures)
    size = len(structures)
    pairs = -(-markets // (2 * size))
    table = [STRUCTURES[name] for name in structures]
    # 840 is a multiple of all numbers up to 8, so every lag of a structure is equally likely
    lags = jnp.asarray([[each.lags[place % len(each.lags)] for place in range(840)] for each in table], jnp.int32)
    variants = jnp.asarray([each.choices for each in table], jnp.int32)
    halves = jnp.where(jnp.arange(size) < size // 2, 1.0, -1.0).astype(jnp.float32)

    def pair(key: jax.Array) -> Traits:
        order, lag, choice, sign, flip, strength = jax.random.split(key, 6)
        kinds = jax.random.permutation(order, size)
        first = jnp.where(jax.random.bernoulli(flip), 1.0, -1.0) * jax.random.permutation(sign, halves)
        one = Traits(
            kind=kinds.astype(jnp.int32),
            lag=lags[kinds, jax.random.randint(lag, (size,), 0, 840)],
            choice=(jax.random.randint(choice, (size,), 0, 2**30) % variants[kinds]).astype(jnp.int32),
            sign=first.astype(jnp.float32),
            coefficient=jax.random.uniform(
                strength, (size,), jnp.float32, minval=LEAST_COEFFICIENT, maxval=MOST_COEFFICIENT
            ),
        )
        return Traits(*map(jnp.concatenate, zip(one, one._replace(sign=-one.sign), strict=True)))

    made = jax.vmap(pair)(jax.random.split(key, pairs))
    return Traits(*(field.reshape(-1)[:markets] for field in made))


def require_known(structures: tuple[str, ...]) -> None:
    """Raise ``ValueError`` unless each of ``structures`` is on the menu, once, and there is one."""
    unknown = [name for name in structures if name not in STRUCTURES]
    if unknown or not structures or len(set(structures)) != len(structures):
        raise ValueError(f"structures must be names of {', '.join(MENU)}, each once, got {structures!r}")


def _require_possible(
    key: jax.Array,
    traits: Traits,
    *,
    bars: int,
    structures: tuple[str, ...] = MENU,
    parameters: Parameters = FAIR_PARAMETERS,
    bar_seconds: float = 3600.0,
    start_time: float = 1_600_000_000.0,
) -> None:
    bates.require_possible(key, bars=bars, parameters=parameters, bar_seconds=bar_seconds, start_time=start_time)
    require_known(structures)
    for name in ("drift", "convexity", "jump_mean"):
        value = getattr(parameters, name)
        if not is_traced(value) and np.any(np.asarray(value) != 0.0):
            given = np.asarray(value).tolist()
            raise ValueError(
                f"parameters.{name} must be 0, so that nothing but the structure moves prices, got {given}"
            )
    require("traits.coefficient", traits.coefficient, at_least=0.0, missing=False)
    # A lean of more than 1 is no probability: the mean told would not be the mean.
    room = 1.0 - jnp.abs(public.lean(traits, structures))
    require("1 less the lean of traits.coefficient", room, at_least=0.0, missing=False)


@checked
@requires(_require_possible)
@partial(jax.jit, static_argnames=("bars", "structures"))
def simulate_knowable(
    key: jax.Array,
    traits: Traits,
    *,
    bars: int,
    structures: tuple[str, ...] = MENU,
    parameters: Parameters = FAIR_PARAMETERS,
    bar_seconds: float = 3600.0,
    start_time: float = 1_600_000_000.0,
) -> Knowable:
    """Return one market ``[bars]`` with what can be known of it. ``vmap`` over keys and traits for a batch.

    Parameters
    ----------
    key
        Random key; the same key, traits, structures, number of bars, parameters and jax version give the same market.
    traits
        What the market was drawn with (:func:`draw_traits`), fields ``[]``.
    bars
        Number of bars.
    structures
        The menu that ``traits.kind`` counts in; fewer compile to a faster program.
    bar_seconds, start_time
        As in ``bates.simulate``.

    Raises
    ------
    ValueError
        When there is no bar, a structure is unknown, or a parameter is out of its range or moves prices by itself.
    """
    exact = Parameters(*(jnp.asarray(value, jnp.float64) for value in parameters))
    single = Parameters(*(jnp.asarray(value, jnp.float32) for value in exact))
    years = jnp.asarray(bar_seconds / YEAR_SECONDS, jnp.float32)
    block = bates.block_bars(bars)
    blocks = -(-bars // block)
    first_time = jnp.floor(start_time / FUNDING_SECONDS) * FUNDING_SECONDS
    regime_key, path_key = jax.random.split(key)
    process = bates.begin(regime_key, single)._replace(price=jnp.asarray(exact.start_price))
    zero = jnp.zeros((), jnp.float32)
    state = _State(process, public.begin(structures, years), zero, zero, zero)
    step = partial(_bar, traits=traits, menu=structures, p=single, dt=years)

    def add(carry: tuple[_State, Knowable], number: jax.Array) -> tuple[tuple[_State, Knowable], None]:
        before, made = carry
        price_key, channel_key = jax.random.split(jax.random.fold_in(path_key, number))
        drawn, shocked = draw(price_key, block), shocks(channel_key, block)
        time = first_time + bar_seconds * (number * block + jnp.arange(block))
        pays = jnp.floor(time / FUNDING_SECONDS) != jnp.floor((time - bar_seconds) / FUNDING_SECONDS)
        hour = public.hour_of(time + bar_seconds)
        after, (path, premium, lean) = lax.scan(step, before, (drawn, shocked, pays, hour))
        funding = jnp.where(pays, bates.funding_rate(path.premium + exact.premium_mean, exact), 0.0)
        deviation = jnp.sqrt(path.variance * years)
        part = Knowable(
            bates.candles(path, time, funding, drawn, single, years),
            shown(shocked, premium, years=years),
            lean,
            (MEAN_SIZE * deviation.astype(jnp.float64)) * lean,
            deviation,
        )
        written = jax.tree.map(
            lambda whole, piece: lax.dynamic_update_slice(whole, piece.astype(whole.dtype), (number * block,)),
            made,
            part,
        )
        return (after, written), None

    empty = jnp.zeros((blocks * block,))
    nothing = Knowable(Market(*(empty,) * 7), Channels(*(empty,) * 5), empty, empty, empty)
    (_, made), _ = lax.scan(add, (state, nothing), jnp.arange(blocks))
    whole: Knowable = jax.tree.map(lambda field: field[:bars], made)
    return whole


def _bar(
    state: _State,
    inputs: tuple[Draws, Shocks, jax.Array, jax.Array],
    *,
    traits: Traits,
    menu: tuple[str, ...],
    p: Parameters,
    dt: jax.Array,
) -> tuple[_State, tuple[bates.Path, jax.Array, jax.Array]]:
    drawn, shocked, pays, hour = inputs
    leaning = public.pointing(state.reading, traits, menu)
    direction = jnp.where(shocked.direction < leaning.real, 1.0, -1.0).astype(jnp.float32)
    # What moved the premium since the last payment moves the rate: standard normal, near enough, as a sum of uniforms.
    pushed = state.surprises * jnp.sqrt(3.0 / jnp.maximum(state.since, 1.0))
    leant = drawn._replace(price=jnp.abs(drawn.price) * direction, premium=pushed)
    process, path = bates.step(state.process, (leant, pays), p=p, dt=dt, expected=MEAN_SIZE * leaning.known)
    premium = premium_after(state.premium, shocked.premium)
    bar = Bar(
        surprise=path.move,
        side=jnp.sign(path.move),
        level=path.move,
        usual=path.move,
        hour=hour,
        flow=shocked.flow,
        book=shocked.book,
        premium=shocked.premium,
        leader=shocked.leader,
        news=spoken(shocked.news),
        luck=shocked.regime,
    )
    reading = public.after(state.reading, bar, path.jump + path.move, traits, menu)
    kept = jnp.where(pays, 0.0, state.surprises), jnp.where(pays, 0.0, state.since)
    moved = _State(process, reading, premium, kept[0] + shocked.premium, kept[1] + 1.0)
    return moved, (path, premium, leaning.known)


@checked
def mirror(knowable: Knowable, traits: Traits, *, structures: tuple[str, ...] = MENU) -> tuple[Knowable, Traits]:
    """Return the mirror image of a market and the traits that explain it.

    Log-returns and what points up or down (flow, book, leader, announcements) are inverted; volume, range, premium and
    funding stay, and so does the clock. What could be known is inverted: where the signal of a structure is the same in
    both images, the market's sign is the other.
    """
    market, channels = knowable.market, knowable.channels
    pivot = market.open[..., :1]
    inverted = market._replace(
        open=pivot * (pivot / market.open),
        high=pivot * (pivot / market.low),
        low=pivot * (pivot / market.high),
        close=pivot * (pivot / market.close),
    )
    image = Knowable(inverted, mirrored(channels), -knowable.lean, -knowable.mean, knowable.deviation)
    return image, mirrored_traits(traits, structures=structures)


@checked
def mirrored_traits(traits: Traits, *, structures: tuple[str, ...] = MENU) -> Traits:
    """Return what the mirror image of a market would have been drawn with."""
    even = np.array([STRUCTURES[name].parity == "even" for name in structures])
    return traits._replace(sign=jnp.where(jnp.asarray(even)[traits.kind], -traits.sign, traits.sign))
