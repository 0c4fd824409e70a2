"""A venue: simulated markets that share one structure, lag, variant and sign, and a sample of its history.

A strategy is written once for all windows, so what can be known has to be the same in all of them. The sample is a
market of its own, which no window of the test shows.

**Mirror images.** A window's mirror image points down where the window pointed up. Where a structure's signal is
inverted with the returns (flow, leader, earlier returns), the same rule holds in both images. Where the signal is the
same in both (the hour, the premium, a product of two sides), the mirror image of a market of this venue is a market of
the venue with the **other** sign: a rule that is right in the one is wrong in the other, and nothing could be found.
So the image of such a window is that of its twin: the market drawn from the same random numbers with the other sign.
Its mirror has the venue's sign. It moves as far at every bar as the window's own image would, but for the leverage of
volatility, and meets the same transform with the same key, so that what leans one way there leans the other way here. A
position held throughout gains exactly what it loses where images are exact, and elsewhere but for the luck of the drawn
signals, whose mean is 0 (0.9 points of standard deviation over 64 windows of 500 bars).
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from backtest import simulators
from backtest.simulators import STRUCTURES, Traits
from backtest.simulators.bates import FUNDING_SECONDS
from backtest.simulators.knowable import LEAST_COEFFICIENT, MOST_COEFFICIENT
from evaluators.contract import Json
from evaluators.crypto import columns
from evaluators.crypto.settings import TransformChoice
from evaluators.crypto.windows import KNOWABLE_WARMUP_BARS, START_TIME, Windows, drawn_traits, episodes, labels, played

SAMPLE_BARS = 360
"""Fifteen days: 20 kB."""
PHASES = 3
"""Times of day at which windows begin, eight hours apart: what is left of the last day is no window's direction."""


@dataclass(frozen=True)
class Venue:
    """What one strategy task is played on.

    Attributes
    ----------
    key
        Random key of its markets.
    traits
        What it was drawn with, fields ``[]``; hidden from agents.
    """

    key: jax.Array
    traits: Traits

    @classmethod
    def of(cls, key: jax.Array) -> Venue:
        """Draw a venue: any structure and either sign are equally likely."""
        traits_key, key = jax.random.split(key)
        return cls(key, Traits(*(field[0] for field in drawn_traits(traits_key, 1))))

    def windows(self, *, windows: int, bars: int, name: str) -> Windows:
        """Return windows of the venue, hourly, ``bars`` of them traded, each with a strength of its own."""
        keys, traits = self._drawn(windows, place=0)
        starts = START_TIME + FUNDING_SECONDS * (np.arange(windows) % PHASES)
        made = played(keys, traits, bars=bars, start_time=starts)
        twin = None
        if STRUCTURES[simulators.MENU[int(self.traits.kind)]].parity == "even":
            twin = played(keys, simulators.mirrored_traits(traits), bars=bars, start_time=starts)
        simulated = ("simulated",) * windows
        return Windows(made.market, labels(name, windows), simulated, KNOWABLE_WARMUP_BARS, made.known, twin)

    def history(self) -> dict[str, Json]:
        """Return a stretch of the venue's past in columns: a clean market that is none of the windows."""
        keys, traits = self._drawn(1, place=1)
        made = played(keys, traits, bars=SAMPLE_BARS - KNOWABLE_WARMUP_BARS)
        alone = Windows(made.market, ("sample",), ("simulated",), SAMPLE_BARS, made.known)
        both = episodes(alone, TransformChoice("baseline"), key=self.key, seed=[0])
        index = int(np.flatnonzero(~both.mirrored)[0])
        return columns.history(columns.table(both, every=1), episode=index, bars=SAMPLE_BARS)

    def _drawn(self, markets: int, *, place: int) -> tuple[jax.Array, Traits]:
        """Return keys and traits of so many markets."""
        key, strength_key = jax.random.split(jax.random.fold_in(self.key, place))
        strength = jax.random.uniform(
            strength_key, (markets,), jnp.float32, minval=LEAST_COEFFICIENT, maxval=MOST_COEFFICIENT
        )
        every = Traits(*(jnp.broadcast_to(field, strength.shape) for field in self.traits))
        return jax.random.split(key, markets), every._replace(coefficient=strength)
