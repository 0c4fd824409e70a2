"""Section intervals and the overall one over simulated agents, at the sizes that shipped configs have today."""

import functools
import math
from collections import Counter

import numpy as np
import pytest

from engine import config, shipped
from engine.plan import sampling
from engine.scoring import intervals, score
from engine.scoring.intervals import Part
from evaluators.contract import SECTIONS
from tests.engine.scoring.test_intervals import samples_of

CONFIGS = ("quick", "offline", "full")
ABILITIES = (0.0, 5.0, 50.0, 95.0, 100.0)
CRYPTO_SKILL, WINDOW_DEVIATION = 3.0, 20.0
WINDOWS = 48
"""Of a crypto task."""


@functools.cache
def sizes_of(name):
    """Tasks of each family in the sections of a shipped config, as its seed draws them."""
    counts = {section: Counter() for section in SECTIONS}
    for case in sampling.draw(config.load(shipped.folder("configs") / f"{name}.yaml")):
        counts[case.task.section][case.task.family] += 1
    return {section: list(families.values()) for section, families in counts.items()}


def answers(ability, sizes, rng, *, alike):
    """Solved tasks get 100; with ``alike`` the tasks of a family share a difficulty (intraclass correlation 0.3)."""
    chance = ability / 100.0
    if chance in (0.0, 1.0):
        return np.full(sum(sizes), ability)
    spread = (1.0 - 0.3) / 0.3
    families = rng.beta(chance * spread, (1.0 - chance) * spread, len(sizes)) if alike else np.full(len(sizes), chance)
    return 100.0 * (rng.random(sum(sizes)) < np.repeat(families, sizes))


@pytest.mark.slow
@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("ability", ABILITIES)
@pytest.mark.parametrize("name", CONFIGS)
def test_intervals_cover_the_ability_of_simulated_agents(name, ability, alike):
    """Nominal 95%: of 1,000 runs 90 to 99% in each section (all of them at the ends of the scale), 92% or more overall;
    the binomial standard error of 1,000 runs is 0.7%, and the seeds are fixed."""
    rng = np.random.default_rng([17, int(ability), alike])
    ends = ability in (0.0, 100.0)  # where an agent always scores the same, and crypto alone varies
    bounded = {section: sizes for section, sizes in sizes_of(name).items() if section != "crypto_trading"}
    windows = WINDOWS * sum(sizes_of(name)["crypto_trading"])
    runs, covered, overall = 50 if ends else 1000, dict.fromkeys(bounded, 0), 0
    truth = 0.8 * ability + 0.2 * CRYPTO_SKILL
    for _ in range(runs):
        parts = []
        for section, sizes in bounded.items():
            values = answers(ability, sizes, rng, alike=alike)
            span = score.interval_of(section, samples_of(values, sizes))
            covered[section] += span[0] <= ability <= span[1]
            parts.append(Part(0.2, float(values.mean()), intervals.addable(samples_of(values, sizes))))
        skill = samples_of(rng.normal(CRYPTO_SKILL, WINDOW_DEVIATION, windows), [1] * windows)
        mean = math.fsum(sample.value for sample in skill) / windows
        parts.append(Part(0.2, score.clip(mean), score.interval_of("crypto_trading", skill)))
        low, high = intervals.weighted_sum(parts)
        overall += low <= truth <= high
    least, most = (1.0, 1.0) if ends else (0.90, 0.99)
    assert least <= min(covered.values()) / runs and max(covered.values()) / runs <= most
    assert overall >= 0.92 * runs
