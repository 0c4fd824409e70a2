"""Race to 10M: how much to stake under known odds, how long it takes, and how often it ends in ruin."""

from __future__ import annotations

import functools
import math
import random

from evaluators import names
from evaluators.casebook.answer import Asked, Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty

CATEGORY = "Race to 10M"
GOAL = 10_000_000
LIKELY = 0.97
"""A probability beyond it, or as near to 0, is one that anybody would state."""


def growth_stake(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Stake for the fastest growth; at expert under a rule on losing streaks that may bind."""
    chance, gain = rng.randint(30, 68) / 100, rng.randint(6, 30) / 10
    lost = 1.0 if difficulty == "easy" else rng.randint(25, 90) / 100
    tax = rng.randint(2, 15) / 100 if difficulty != "easy" else 0.0
    net = gain * (1 - tax)
    edge = chance * net - (1 - chance) * lost
    best = edge / (net * lost)
    streak, most = rng.randint(3, 8), rng.randint(15, 60) / 100
    cap = (1 - (1 - most) ** (1 / streak)) / lost if difficulty == "expert" else math.inf
    stake = min(best, cap)
    start = rng.randint(20, 1500) * 1000
    if not 0.01 < stake < 0.9:
        return growth_stake(rng, difficulty)
    growth = chance * math.log1p(stake * net) + (1 - chance) * math.log1p(-stake * lost)
    bets = math.log(GOAL / start) / growth
    a_year = rng.randint(20, 150)
    odds = f"It wins with a probability of {100 * chance:.0f}% and then pays {gain:g} times the stake on top of it"
    if difficulty == "easy":
        odds += "; otherwise the stake is lost."
    else:
        odds += f", of which a fee of {100 * tax:.0f}% is kept; otherwise {100 * lost:.0f}% of the stake is lost."
    rules = (
        "Always the same fraction of the current capital is staked, the one that makes capital grow fastest in the "
        "long run."
    )
    if difficulty == "expert":
        rules = (
            "Always the same fraction of the current capital is staked: the one that makes capital grow fastest "
            f"among those with which {streak} losing bets in a row take at most {100 * most:.0f}% of the capital."
        )
    asked: list[Asked] = [
        Figure("stake_percent", "fraction of capital to stake, in percent", 100 * stake, 0.01),
        Figure("growth_percent", "expected growth of the logarithm of capital in one bet, times 100", 100 * growth),
        Figure("years_to_goal", f"years to the goal at that growth, at {a_year} bets a year", bets / a_year),
    ]
    if difficulty == "expert":
        binds = "binds" if cap < best else "does not bind"
        asked.append(
            Verdict("limit", "whether the limit on losing streaks binds", (binds,), ("binds", "does not bind"))
        )
    return Drawn(
        {"start": f"${start:,}", "odds": odds, "rules": rules, "who": names.people(rng, 1)[0], "a_year": str(a_year)},
        tuple(asked),
        inputs={
            "chance": chance,
            "gain": gain,
            "lost": lost,
            "tax": tax,
            "streak": streak,
            "most": most,
            "start": start,
            "a_year": a_year,
            "difficulty": difficulty,
        },
    )


def ruin(chance: float, units: int, goal: int) -> float:
    """Return the probability of reaching ``goal`` units before none, from ``units``, one unit a round at even odds."""
    ratio = (1 - chance) / chance
    return units / goal if chance == 0.5 else (1 - ratio**units) / (1 - ratio**goal)


def best_play(chance: float, units: int, goal: int, rounds: int) -> float:
    """Return the probability of the best play to hold ``goal`` units after at most ``rounds`` even-odds rounds."""

    @functools.cache
    def value(held: int, left: int) -> float:
        if held >= goal:
            return 1.0
        if left == 0 or held == 0:
            return 0.0
        return max(
            chance * value(held + bet, left - 1) + (1 - chance) * value(held - bet, left - 1)
            for bet in range(min(held, goal - held) + 1)
        )

    return value(units, rounds)


def in_time(chance: float, units: int, goal: int, rounds: int) -> float:
    """Return the same probability for whoever stakes one unit a round."""
    held, done = {units: 1.0}, 0.0
    for _ in range(rounds):
        after: dict[int, float] = {}
        for place, weight in held.items():
            for move, probability in ((1, chance), (-1, 1 - chance)):
                if place + move >= goal:
                    done += weight * probability
                elif place + move > 0:
                    after[place + move] = after.get(place + move, 0.0) + weight * probability
        held = after
    return done


def ruin_or_goal(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Reach the goal before ruin; at expert within few rounds, where the best play is found backwards."""
    who = names.people(rng, 1)[0]
    chance = rng.choice([n for n in range(400, 601) if n != 500]) / 1000
    if difficulty == "expert":
        goal, rounds = rng.randint(9, 24), rng.randint(4, 9)
        units = rng.randint(max(2, goal // 4), goal - 3)
        unit = GOAL // goal // 1000 * 1000
        best, timid = best_play(chance, units, goal, rounds), in_time(chance, units, goal, rounds)
        if best > LIKELY:
            return ruin_or_goal(rng, difficulty)
        rules = (
            f"Each round wins or loses the amount staked; it wins with a probability of {100 * chance:.1f}%. Stakes "
            f"are whole units of ${unit:,}, none at all or up to what is held, never more than is missing. The goal "
            f"is {goal} units, and there are at most {rounds} rounds."
        )
        asked: tuple[Asked, ...] = (
            Figure.of_probability(
                "best_chance_percent", "probability, in percent, of reaching the goal with the best play", 100 * best
            ),
            Figure.of_probability(
                "timid_chance_percent",
                "the same for one unit a round until the goal, ruin or the last round",
                100 * timid,
            ),
        )
        facts = {"start": f"${units * unit:,}"}
        inputs = {"chance": chance, "units": units, "goal": goal, "rounds": rounds, "difficulty": difficulty}
        return Drawn({"who": who, "rules": rules, **facts}, asked, inputs=inputs)
    goal = rng.choice((8, 10, 16, 20, 25, 40))
    unit = GOAL // goal
    units = rng.randint(2, goal - 2)
    start = unit * units
    success = ruin(chance, units, goal)
    if not 1 - LIKELY < success < LIKELY:
        return ruin_or_goal(rng, difficulty)
    ratio = (1 - chance) / chance
    length = units / (1 - 2 * chance) - goal / (1 - 2 * chance) * (1 - ratio**units) / (1 - ratio**goal)
    goal_words = f"${goal * unit:,}"
    rules = (
        f"Each round stakes ${unit:,} at even odds and wins with a probability of {100 * chance:.1f}%; play ends at "
        f"{goal_words} or at nothing."
    )
    asked = (
        Figure.of_probability("success_percent", "probability, in percent, of reaching the goal", 100 * success),
        Figure("expected_rounds", "expected number of rounds until play ends", length),
    )
    inputs = {"chance": chance, "units": units, "goal": goal, "difficulty": difficulty, "length": length}
    if difficulty == "hard":
        parts, limit = (1, 2, 4, 8), rng.randint(5, 60) / 100
        allowed = [part for part in parts if 1 - ruin(chance, units * part, goal * part) <= limit]
        if not allowed or ruin(chance, units * allowed[0], goal * allowed[0]) > LIKELY:
            return ruin_or_goal(rng, difficulty)
        part = allowed[0]
        rules = (
            f"Each round is at even odds and wins with a probability of {100 * chance:.1f}%; play ends at "
            f"{goal_words} or at nothing. The stake is the same in every round: "
            f"{', '.join(f'${unit // p:,}' for p in parts[:-1])} or ${unit // parts[-1]:,}, the largest with which "
            f"ruin is at most {100 * limit:.0f}% likely."
        )
        chosen = ruin(chance, units * part, goal * part)
        step = ratio ** (units * part), ratio ** (goal * part)
        rounds_to_end = (units - goal * (1 - step[0]) / (1 - step[1])) * part / (1 - 2 * chance)
        asked = (
            Figure.of_probability(
                "success_percent", "probability, in percent, of reaching the goal with that stake", 100 * chosen
            ),
            Figure("expected_rounds", "expected number of rounds until play ends", rounds_to_end),
            Verdict("stake", "the stake", (f"${unit // part:,}",), tuple(f"${unit // p:,}" for p in parts)),
        )
        inputs |= {"limit": limit, "unit": unit, "length": rounds_to_end, "part": part}
    return Drawn({"who": who, "rules": rules, "start": f"${start:,}"}, asked, inputs=inputs)


def leverage(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Lever a drifting asset; at expert as far as a limit on the worst fall allows, with dearer loans."""
    monthly = difficulty != "easy"
    drift = rng.randint(40, 120) / 1e4 if monthly else rng.randint(50, 140) / 1e3
    deviation = rng.randint(250, 700) / 1e4 if monthly else rng.randint(90, 260) / 1e3
    rate = rng.randint(0, 45) / 1000
    mean, sigma = (12 * drift, deviation * math.sqrt(12)) if monthly else (drift, deviation)
    spread = rng.randint(2, 20) / 1000 if difficulty == "expert" else 0.0
    start = rng.randint(50, 2500) * 1000
    keep = rng.randint(30, 80) / 100
    kelly = (mean - rate) / sigma**2
    limit = rng.randint(5, 40) / 100
    fraction = rng.choice((0.25, 0.4, 0.5, 0.6, 0.75))

    def growth(times: float) -> float:
        dear = spread * max(times - 1, 0.0)
        return rate + times * (mean - rate) - dear - 0.5 * (times * sigma) ** 2

    def fall(times: float) -> float:
        return min(1.0, math.exp(math.log(keep) * 2 * growth(times) / (times * sigma) ** 2))

    if difficulty == "easy":
        times = rng.randint(12, 30) / 10
        policy = f"The account always holds {times:g} times its capital in the asset."
    elif difficulty == "hard":
        times = fraction * kelly
        policy = f"The account always holds {100 * fraction:.0f}% of the leverage that grows fastest."
    else:
        low, high = 1e-6, 50.0
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if fall(middle) <= limit else (low, middle)
        times = low
        policy = (
            f"The account always holds the largest leverage with which its capital ever falls to {100 * keep:.0f}% of "
            f"the start with a probability of at most {100 * limit:.0f}%. Loans, the part of the leverage above one, "
            f"cost {1e4 * spread:.0f} bp a year more than cash earns."
        )
    g = growth(times)
    if not (0.4 < times < 12 and g > 0.01 and fall(times) < LIKELY and (difficulty != "expert" or times > 1.05)):
        return leverage(rng, difficulty)
    asset = (
        f"It has an expected return of {100 * drift:.2f}% a month and a monthly deviation of {100 * deviation:.2f}%"
        if monthly
        else f"It has an expected return of {100 * drift:.1f}% and a volatility of {100 * deviation:.1f}% a year"
    )
    rules = (
        f"{asset}; cash earns {100 * rate:.1f}% a year. Prices follow a geometric Brownian motion whose drift is the "
        "expected "
        "return (a year's is twelve months', its variance too), trading is continuous and free. " + policy
    )
    asked: list[Asked] = [
        Figure("growth_percent", "growth of the logarithm of capital in percent a year", 100 * g),
        Figure("median_years", "years until median capital is the goal", math.log(GOAL / start) / g),
    ]
    if difficulty != "expert":
        asked.append(
            Figure.of_probability(
                "fall_percent",
                f"probability, in percent, that capital ever falls to {100 * keep:.0f}% of the start",
                100 * fall(times),
            )
        )
    if difficulty != "easy":
        asked.append(Figure("leverage", "the asset held over capital", times))
    return Drawn(
        {"start": f"${start:,}", "rules": rules, "who": names.people(rng, 1)[0]},
        tuple(asked),
        inputs={
            "mean": mean,
            "sigma": sigma,
            "rate": rate,
            "spread": spread,
            "start": start,
            "keep": keep,
            "limit": limit,
            "fraction": fraction,
            "times": times,
            "difficulty": difficulty,
        },
    )


TEMPLATES = (
    Template(
        "growth-stake",
        CATEGORY,
        growth_stake,
        (
            "{who} has {start} and wants $10,000,000. A bet can be repeated as often as one likes, {a_year} times a "
            "year. {odds} {rules} How large is the stake, how fast does capital grow, and how long does it take?",
            "The race is to $10,000,000, from {start}. {odds} It comes {a_year} times a year. {rules}",
            "{rules} Start: {start}; finish: $10,000,000; the same trade {a_year} times a year. {odds} Plan the race "
            "for {who}.",
            "A trade with an edge turns up {a_year} times a year. {odds} Starting from {start}, {who} asks how to "
            "reach ten million dollars. {rules}",
            "How would you size this for {who}, who owns {start} and stops at $10,000,000? {odds} {rules} There are "
            "{a_year} such trades a year.",
        ),
        (
            "Capital of {start} shall become $10,000,000. Opportunity, {a_year} times each year: {odds} Sizing: "
            "{rules}",
            "{who} can take one and the same gamble {a_year} times a year. {odds} {rules} From {start}, when are the "
            "ten million reached, going by expected logarithmic growth?",
        ),
    ),
    Template(
        "ruin-or-goal",
        CATEGORY,
        ruin_or_goal,
        (
            "{who} starts with {start}. {rules} How likely is the goal?",
            "{rules} With {start} to begin with, what are the chances of {who}?",
            "Millions or nothing: {who} sits down with {start}. {rules}",
            "A prop firm lets {who} play with {start}. {rules} Work out the odds of the whole game.",
            "Before {who} begins with {start}, tell the odds. {rules}",
        ),
        (
            "The stake money is {start}. {rules} What should {who} expect?",
            "{rules} {who} owns {start} and asks what awaits.",
        ),
    ),
    Template(
        "leverage",
        CATEGORY,
        leverage,
        (
            "From {start} to $10,000,000 with one asset and borrowed money. {rules} How long does it take {who}, and "
            "what is the danger on the way?",
            "{who} invests {start} and aims for $10,000,000. {rules}",
            "{rules} Capital is {start}, the goal $10,000,000. Report growth, time and risk.",
            "An account of {start} is levered. {rules} When is the median account at ten million dollars?",
            "Write down for {who} what leverage does to the race from {start} to $10,000,000. {rules}",
        ),
        (
            "Goal: $10,000,000; at hand: {start}. {rules} Evaluate the policy.",
            "How does a levered account of {start} fare on its way to ten million dollars? {rules} The question is "
            "from {who}.",
        ),
    ),
)
