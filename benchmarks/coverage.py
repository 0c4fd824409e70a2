"""How often 95% intervals of section and overall scores hold the truth, and how wide they are: simulated agents.

The families are those that the shipped configs draw; the crypto section is 48 windows a task of normal skill.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy.special import betaincinv, stdtrit

from engine import config
from engine.plan import sampling
from engine.scoring import intervals
from engine.scoring.statistics import Sample

ROOT = Path(__file__).parent.parent
CONFIGS = ("quick", "offline", "full")
ABILITIES = (0, 5, 50, 80, 95, 100)
NORMAL = 1.959963984540054
ALIKE = (1.0 - 0.3) / 0.3
"""Sum of a Beta distribution's parameters at an intraclass correlation of 0.3."""
WINDOWS_A_TASK, SKILL, WINDOW_DEVIATION = 48, 3.0, 20.0
"""Points; the deviation is that of forecasters with about this skill (a task's, 2 to 4 points, times sqrt(48))."""


def structure(name: str, seed: int) -> dict[str, np.ndarray]:
    """Return the tasks of each family ``[families]`` in the sections of a config."""
    loaded = config.load(ROOT / "configs" / f"{name}.yaml")
    seeded = loaded.model_copy(update={"sampling": loaded.sampling.model_copy(update={"seed": seed})})
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for case in sampling.draw(seeded):
        found[case.task.section][case.task.family] += 1
    return {section: np.array(list(counts.values()), float) for section, counts in found.items()}


def played(agent: str, ability: float, sizes: np.ndarray, runs: int, rng: np.random.Generator):
    """Return what the families earned together ``[runs, families]``, 0 to 1 a task, and the true mean."""
    shape = (runs, sizes.size)
    if ability in (0.0, 1.0):
        return np.broadcast_to(sizes * ability, shape), ability
    counts = sizes.astype(int)
    if agent == "independent tasks":
        return rng.binomial(counts, ability, shape).astype(float), ability
    if agent == "families alike":
        chance = rng.beta(ability * ALIKE, (1.0 - ability) * ALIKE, shape)
        return rng.binomial(counts, chance).astype(float), ability
    if agent == "all or nothing":
        return sizes * (rng.random(shape) < ability), ability
    if agent == "same templates":
        chance = rng.beta(ability * ALIKE, (1.0 - ability) * ALIKE, sizes.size)
        return rng.binomial(counts, chance, shape).astype(float), float(chance @ sizes / sizes.sum())
    tasks = rng.beta(2.0 * ability, 2.0 * (1.0 - ability), (runs, int(sizes.sum())))
    return np.add.reduceat(tasks, np.concatenate([[0], np.cumsum(counts)[:-1]]), axis=1), ability


AGENTS = ("independent tasks", "families alike", "all or nothing", "partial credit", "same templates")


def clustered(sums: np.ndarray, sizes: np.ndarray):
    """Return mean and clustered variance of each run ``[runs]``, and the number of families."""
    groups, total = sizes.size, sizes.sum()
    mean = sums.sum(axis=1) / total
    rest = (sums - sizes * mean[:, None]) / total
    return mean, groups / (groups - 1) * (rest**2).sum(axis=1), groups


def student(sums: np.ndarray, sizes: np.ndarray):
    mean, variance, groups = clustered(sums, sizes)
    half = stdtrit(groups - 1, 0.975) * np.sqrt(variance)
    return mean - half, mean + half


def pseudo_families(number: int) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    def interval(sums: np.ndarray, sizes: np.ndarray):
        ends = np.repeat([0.0, sizes.mean()], number)
        joined = np.concatenate([sums, np.broadcast_to(ends, (len(sums), ends.size))], axis=1)
        return student(joined, np.concatenate([sizes, np.full(ends.size, sizes.mean())]))

    return interval


def effective(sums: np.ndarray, sizes: np.ndarray):
    """Return mean, effective number of tasks (that of families without spread) and Student's quantile."""
    mean, variance, groups = clustered(sums, sizes)
    number = np.where(variance > 1e-14, mean * (1.0 - mean) / np.maximum(variance, 1e-14), groups)
    return mean, np.clip(number, 1.0, sizes.sum()), stdtrit(groups - 1, 0.975)


def wilson(sums: np.ndarray, sizes: np.ndarray):
    return score_interval(*effective(sums, sizes))


def score_interval(mean: np.ndarray, number: np.ndarray, q: float | np.ndarray):
    middle = (mean + q * q / (2.0 * number)) / (1.0 + q * q / number)
    half = q / (1.0 + q * q / number) * np.sqrt(mean * (1.0 - mean) / number + (q / (2.0 * number)) ** 2)
    return middle - half, middle + half


def wilson_on_scatter(sums: np.ndarray, sizes: np.ndarray):
    """Wilson's interval; its number of tasks from the scatter beside two pseudo-families, which leave it again."""
    ends = np.array([0.0, sizes.mean()])
    joined = np.concatenate([sums, np.broadcast_to(ends, (len(sums), 2))], axis=1)
    mean, variance, _ = clustered(joined, np.concatenate([sizes, np.full(2, sizes.mean())]))
    number = np.maximum(1.0, mean * (1.0 - mean) / variance - 2.0)
    return score_interval(sums.sum(axis=1) / sizes.sum(), number, NORMAL)


def jeffreys(sums: np.ndarray, sizes: np.ndarray):
    mean, number, q = effective(sums, sizes)
    number = number * (NORMAL / q) ** 2
    first, second = mean * number + 0.5, (1.0 - mean) * number + 0.5
    low, high = betaincinv(first, second, 0.025), betaincinv(first, second, 0.975)
    return np.where(mean < 1e-12, 0.0, low), np.where(mean > 1.0 - 1e-12, 1.0, high)


def korn_graubard(sums: np.ndarray, sizes: np.ndarray):
    mean, number, q = effective(sums, sizes)
    number = number * (stdtrit(sizes.sum() - 1, 0.975) / q) ** 2
    solved = np.clip(mean * number, 1e-9, number - 1e-9)
    low, high = betaincinv(solved, number - solved + 1, 0.025), betaincinv(solved + 1, number - solved, 0.975)
    return np.where(mean < 1e-12, 0.0, low), np.where(mean > 1.0 - 1e-12, 1.0, high)


CANDIDATES = {
    "Student's t": student,
    "two pseudo-families": pseudo_families(1),
    "four pseudo-families": pseudo_families(2),
    "Wilson, Student's t": wilson,
    "Wilson on scatter": wilson_on_scatter,
    "Jeffreys": jeffreys,
    "Korn-Graubard": korn_graubard,
}
CHOSEN = "Wilson on scatter"
ADDED = "two pseudo-families"
"""Whose distances the engine adds for the overall score: those of the chosen one add up to too little."""


def measure(runs: int, seeds: int) -> Iterator[dict[str, object]]:
    """Yield one row for each config, agent, ability and candidate: coverage and mean width in per cent."""
    for name in CONFIGS:
        drawn = [structure(name, seed) for seed in range(seeds)]
        for agent in AGENTS:
            for ability in ABILITIES if agent == AGENTS[0] else ABILITIES[1:-1]:
                yield from measured(name, agent, ability, drawn, runs)


def measured(name: str, agent: str, ability: int, drawn: list[dict[str, np.ndarray]], runs: int):
    rng = np.random.default_rng([CONFIGS.index(name), AGENTS.index(agent), ability])
    covered: dict[str, dict[str, list[float]]] = {each: defaultdict(list) for each in CANDIDATES}
    widths: dict[str, dict[str, list[float]]] = {each: defaultdict(list) for each in CANDIDATES}
    for sections in drawn:
        text = {key: sizes for key, sizes in sections.items() if key != "crypto_trading"}
        earned = {key: played(agent, ability / 100.0, sizes, runs, rng) for key, sizes in text.items()}
        windows = WINDOWS_A_TASK * int(sections["crypto_trading"].sum())
        skill = rng.normal(SKILL, WINDOW_DEVIATION, (runs, windows)) / 100.0
        crypto = np.clip([skill.mean(axis=1), *student(skill, np.ones(windows))], 0.0, 1.0)
        truth = 0.2 * (sum(true for _, true in earned.values()) + SKILL / 100.0)
        for each, candidate in CANDIDATES.items():
            score, below, above = (
                0.2 * crypto[0],
                (0.2 * (crypto[0] - crypto[1])) ** 2,
                (0.2 * (crypto[2] - crypto[0])) ** 2,
            )
            for key, (sums, true) in earned.items():
                low, high = np.clip(candidate(sums, text[key]), 0.0, 1.0)
                mean = sums.sum(axis=1) / text[key].sum()
                covered[each][key].append(np.mean((low <= true + 1e-9) & (true - 1e-9 <= high)))
                widths[each][key].append(np.mean(high - low))
                score, below, above = (
                    score + 0.2 * mean,
                    below + (0.2 * (mean - low)) ** 2,
                    above + (0.2 * (high - mean)) ** 2,
                )
            low, high = np.clip([score - np.sqrt(below), score + np.sqrt(above)], 0.0, 1.0)
            covered[each]["overall"].append(np.mean((low <= truth + 1e-9) & (truth - 1e-9 <= high)))
            widths[each]["overall"].append(np.mean(high - low))
    for each in CANDIDATES:
        yield {
            "config": name,
            "agent": agent,
            "ability": ability,
            "interval": each,
            "coverage": {key: round(100.0 * float(np.mean(rows)), 1) for key, rows in covered[each].items()},
            "width": {key: round(100.0 * float(np.mean(rows)), 1) for key, rows in widths[each].items()},
        }


def is_the_engines() -> bool:
    """Return whether the chosen candidate is what the engine computes, in 50 samples."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        sizes = rng.integers(1, 5, rng.integers(2, 20)).astype(float)
        sums = rng.binomial(sizes.astype(int), 0.8).astype(float)
        low, high = np.clip(CANDIDATES[CHOSEN](sums[None], sizes), 0.0, 1.0)
        families = [Sample(str(i), 100.0 * s / z, z) for i, (s, z) in enumerate(zip(sums, sizes, strict=True))]
        below, above = np.clip(CANDIDATES[ADDED](sums[None], sizes), 0.0, 1.0)
        if not np.allclose(intervals.bounded(families), (100.0 * low[0], 100.0 * high[0])):
            return False
        if not np.allclose(intervals.addable(families), (100.0 * below[0], 100.0 * above[0])):
            return False
    return True


def sections(row: dict[str, object], what: str) -> list[float]:
    return [value for key, value in row[what].items() if key != "overall"]


def tables(rows: list[dict[str, object]]) -> str:
    """Return the candidates side by side, and before and after by config and ability, as Markdown."""
    lines = [
        "| interval | least coverage: section, overall | section width at 0, 100 | at 5, 95 | at 50 | overall at 50 |",
        "|---|---|---|---|---|---|",
    ]
    for each in CANDIDATES:
        mine = [row for row in rows if row["interval"] == each]
        at = {
            group: [width for row in mine if row["ability"] in group for width in sections(row, "width")]
            for group in ((0, 100), (5, 95), (50,))
        }
        overall = np.mean([row["width"]["overall"] for row in mine if row["ability"] == 50])
        least = min(min(sections(row, "coverage")) for row in mine), min(row["coverage"]["overall"] for row in mine)
        shown = " | ".join(f"{np.mean(widths):.0f}" for widths in at.values())
        lines.append(f"| {each} | {least[0]:.0f}, {least[1]:.0f} | {shown} | {overall:.0f} |")
    lines += ["", "| config | agent | ability | sections | width | overall | width |", "|---|---|---|---|---|---|---|"]
    named = ([row for row in rows if row["interval"] == each] for each in ("Student's t", CHOSEN, ADDED))
    for before, section, added in zip(*named, strict=True):
        if before["agent"] not in AGENTS[:2]:
            continue
        overall = {what: {"overall": added[what]["overall"]} for what in ("coverage", "width")}
        pair = (before, {what: section[what] | overall[what] for what in overall})
        cells = [
            " → ".join(f"{min(sections(row, 'coverage')):.0f}-{max(sections(row, 'coverage')):.0f}" for row in pair),
            " → ".join(f"{np.mean(sections(row, 'width')):.0f}" for row in pair),
            " → ".join(f"{row['coverage']['overall']:.0f}" for row in pair),
            " → ".join(f"{row['width']['overall']:.0f}" for row in pair),
        ]
        lines.append(f"| {before['config']} | {before['agent']} | {before['ability']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="simulated runs of each agent and drawing")
    parser.add_argument("--drawings", type=int, default=3, help="seeds that each config is drawn with")
    given = parser.parse_args()
    if not is_the_engines():
        raise SystemExit(f"{CHOSEN}: the simulated interval is not that of engine.scoring.intervals")
    rows = list(measure(given.runs, given.drawings))
    print(tables(rows))


if __name__ == "__main__":
    main()
