"""Copy Trading: whom to follow or fade, what copying leaves of a profit, and whether a record is more than luck."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

from evaluators import names
from evaluators.casebook.answer import Asked, Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import money, percent, show

CATEGORY = "Copy Trading"


class Trader(NamedTuple):
    """A record: months that count, and the mean excess return of one in basis points."""

    name: str
    months: int
    mean: float


class Fill(NamedTuple):
    """A trade of the leader; ``sign`` is 1 for a purchase."""

    sign: int
    shares: int
    price: float


def follow_or_fade(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Shrink records whose skill was drawn by a known law; what is shown of it is noise for the most part."""
    count = {"easy": 3, "hard": 4, "expert": 5}[difficulty]
    people = names.people(rng, count)
    skill_sd, noise_sd = rng.randint(20, 90), rng.randint(150, 480)
    cost = rng.randint(3, 15)
    each = rng.randint(8, 120) * 5_000
    traders: list[Trader] = []
    rows: list[list[str]] = []
    monthly = difficulty != "easy"
    for person in people:
        skill = rng.gauss(0, skill_sd)
        months = rng.randint(12, 60) if not monthly else 6
        beta = rng.randint(3, 18) / 10 if difficulty == "expert" else 1.0
        if not monthly:
            excess = round(skill + rng.gauss(0, noise_sd / math.sqrt(months)))
            traders.append(Trader(person, months, float(excess)))
            rows.append([person, str(months), f"{excess:+d} bp a month"])
            continue
        market = [rng.randint(-500, 600) for _ in range(months)]
        returns = [round(beta * m + skill + rng.gauss(0, noise_sd)) for m in market]
        gap = rng.randrange(months) if difficulty == "expert" and rng.random() < 0.6 else None
        kept = [n for n in range(months) if n != gap]
        mean = math.fsum(returns[n] - beta * market[n] for n in kept) / len(kept)
        traders.append(Trader(person, len(kept), mean))
        own = ["not reported" if n == gap else percent(returns[n] / 1e4) for n in range(months)]
        row = [person, ", ".join(own), ", ".join(percent(m / 1e4) for m in market)]
        rows.append(row if difficulty == "hard" else [*row, f"{beta:.1f}"])
    columns = {
        "easy": ["trader", "months", "mean excess return"],
        "hard": ["trader", "monthly returns", "index in the same months"],
        "expert": ["trader", "monthly returns", "index in the same months", "beta"],
    }[difficulty]
    expected = [row.mean * skill_sd**2 / (skill_sd**2 + noise_sd**2 / row.months) for row in traders]
    gain = math.fsum(abs(value) - cost for value in expected if abs(value) > cost)
    top = max(range(count), key=lambda n: traders[n].mean)
    follow = tuple(people[n] for n in range(count) if expected[n] > cost)
    fade = tuple(people[n] for n in range(count) if expected[n] < -cost)
    meant = {
        "easy": "",
        "hard": "Excess return is the trader's return less the index's in the same month. ",
        "expert": "Excess return is the trader's return less beta times the index's in the same month; a month that "
        "was not reported is left out of a record. ",
    }[difficulty]
    rules = (
        f"{meant}True skill, the mean excess return a month, is spread over traders with mean zero and a standard "
        f"deviation of {skill_sd} bp; a single month's excess return scatters around the trader's skill with a "
        f"standard deviation of {noise_sd / 100:.2f}%, both normal. Being on either side of a trader costs {cost} bp "
        "a month. A trader is followed when the expected skill given the record exceeds the cost, faded (the "
        f"opposite held) when it lies below minus the cost, else left alone; {money(each)} go to each who is followed "
        "or faded."
    )
    return Drawn(
        {"table": show(rng, columns, rows), "rules": rules},
        (
            Figure(
                "expected_skill_of_best_bp",
                "expected skill, in basis points a month, of the trader with the highest mean excess return",
                expected[top],
                0.2,
            ),
            Figure(
                "expected_gain_usd",
                "expected gain a month after costs of all that is followed and faded together, in dollars",
                gain * each / 1e4,
                5.0,
            ),
            Verdict("follow", "who is followed", follow, tuple(people), several=True),
            Verdict("fade", "who is faded", fade, tuple(people), several=True),
        ),
        inputs={
            "traders": [list(row) for row in traders],
            "skill_sd": skill_sd,
            "noise_sd": noise_sd,
            "cost": cost,
            "each": each,
        },
    )


def copied_fills(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Copy a leader's fills late and in whole shares; at expert the share splits in between."""
    leader, follower = names.people(rng, 2)
    stock = names.company(rng)
    steps = {"easy": 1, "hard": 2, "expert": 2}[difficulty]
    price = rng.uniform(18, 240)
    fills: list[Fill] = []
    sizes = [rng.randint(3, 60) * 100 for _ in range(steps)]
    split = rng.choice((2, 3, 4)) if difficulty == "expert" else 1
    for size in sizes:
        price *= 1 + rng.uniform(-0.05, 0.06)
        fills.append(Fill(1, size, round(price, 2)))
    price /= split
    total = sum(sizes) * split
    first_sale = total if steps == 1 else rng.randint(2, 7) * total // 10
    for size in (first_sale, total - first_sale):
        if size:
            price *= 1 + rng.uniform(-0.09, 0.12)
            fills.append(Fill(-1, size, round(price, 2)))
    ratio, lag = rng.randint(31, 890) / 1000, rng.randint(4, 60)
    fee, least = rng.randint(2, 20) / 1000, rng.randint(1, 9)
    rows, leader_cash, copy_cash, held = [], 0.0, 0.0, 0
    for number, (sign, size, price) in enumerate(fills):
        last = number == len(fills) - 1
        shares = held if last else math.floor(size * ratio)
        paid = price * (1 + sign * lag / 1e4)
        leader_cash -= sign * size * price
        copy_cash -= sign * shares * paid + max(least, shares * fee)
        held += sign * shares
        if split > 1 and number == steps - 1:
            held *= split
        rows.append([f"fill {number + 1}", f"{'bought' if sign > 0 else 'sold'} {size:,}", money(price)])
    trap = (
        f" Between the purchases and the sales the shares were split {split} for 1, for everybody; prices and sizes "
        "are as they were on their day."
        if split > 1
        else ""
    )
    rules = (
        f"{follower} copies every fill at {100 * ratio:.1f}% of its size, rounded down to whole shares, and sells "
        f"everything that is left with the last one. Each copy trades {lag} bp worse than the leader's price and "
        f"costs {100 * fee:.1f} cents a share, but at least ${least}.{trap} The leader pays no fees."
    )
    word = "gained" if copy_cash > 0 else "lost"
    return Drawn(
        {
            "leader": leader,
            "follower": follower,
            "stock": stock,
            "rules": rules,
            "table": show(rng, ["fill", "side and shares", "price"], rows),
        },
        (
            Figure("leader_profit_usd", "profit of the leader in dollars, negative for a loss", leader_cash, 1.0),
            Figure(
                "copy_profit_usd",
                "profit of the copies in dollars after all costs, negative for a loss",
                copy_cash,
                0.5,
            ),
            Figure(
                "shortfall_usd",
                "what copying fell short of the same share of the leader's profit, in dollars",
                ratio * leader_cash - copy_cash,
                0.5,
            ),
            Verdict("result", "whether the copies gained or lost", (word,), ("gained", "lost")),
        ),
        inputs={
            "fills": [list(fill) for fill in fills],
            "ratio": ratio,
            "lag": lag,
            "fee": fee,
            "least": least,
            "split": split,
        },
    )


def _tail(wins: int, bets: int, chance: float) -> float:
    return math.fsum(math.comb(bets, n) * chance**n * (1 - chance) ** (bets - n) for n in range(wins, bets + 1))


def luck_or_skill(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Ask how often the best of many coin-tossers looks as good; at expert what that makes of a belief in skill."""
    person, pool = names.people(rng, 1)[0], rng.randint(4, 70)
    if difficulty == "easy":
        win, loss, chance = 1.0, 1.0, 0.5
    else:
        win, loss = rng.randint(5, 30) / 10, rng.randint(5, 30) / 10
        chance = loss / (win + loss)
    void = rng.randint(2, 5) if difficulty == "expert" else 0
    bets = rng.randint(20, 90)
    wins = min(bets - 1, round(bets * chance + rng.uniform(1.0, 3.6) * math.sqrt(bets * chance * (1 - chance))))
    tail = _tail(wins, bets, chance)
    best = 1 - (1 - tail) ** pool
    if best > 0.97:
        # what is all but certain needs no sum
        return luck_or_skill(rng, difficulty)
    level = rng.choice((0.01, 0.05, 0.10, 0.20))
    verdict = "skill" if best < level else "luck"
    record = f"{wins} of {bets} trades made money"
    if void:
        void_wins = rng.randint(1, void - 1)
        record = (
            f"{wins + void_wins} of {bets + void} trades made money; {void} of these {bets + void} were cancelled by "
            f"the exchange afterwards, {void_wins} of them winners"
        )
    pays = f"A winner brings {win:g}% and a loser costs {loss:g}% of the stake. "
    rules = (
        ("" if difficulty == "easy" else pays)
        + (
            "An unskilled trader wins half of the trades. "
            if difficulty == "easy"
            else "An unskilled trader wins as often as makes the trade worth nothing on average. "
        )
        + f"Trades are independent, and so are the {pool} traders on the platform, all with as many valid trades; "
        f"{person} is the best of them. Call it skill where the chance that at least one of {pool} unskilled traders "
        f"does as well is below {100 * level:g}%, else luck."
    )
    asked: list[Asked] = [
        Figure(
            "chance_of_one_percent", "chance, in percent, that one unskilled trader wins at least as often", 100 * tail
        ),
        Figure.of_probability(
            "chance_of_best_percent", "chance, in percent, that at least one of them all does", 100 * best
        ),
    ]
    prior, edge = rng.randint(2, 25) / 100, rng.randint(6, 15) / 100
    if difficulty == "expert":
        skilled = min(0.95, chance + edge)
        odds = prior * skilled**wins * (1 - skilled) ** (bets - wins)
        posterior = odds / (odds + (1 - prior) * chance**wins * (1 - chance) ** (bets - wins))
        asked.append(
            Figure.of_probability(
                "belief_in_skill_percent",
                f"chance, in percent, that {person} is skilled, given the record",
                100 * posterior,
            )
        )
        rules += (
            f" Before any record, {100 * prior:.0f}% of traders are skilled and win {100 * (skilled - chance):.1f} "
            "percentage points more often than the unskilled; for this belief the choice of the best is left aside."
        )
    asked.append(Verdict("verdict", "what the record is", (verdict,), ("skill", "luck")))
    return Drawn(
        {"person": person, "record": record, "pool": str(pool), "rules": rules},
        tuple(asked),
        inputs={"wins": wins, "bets": bets, "win": win, "loss": loss, "pool": pool, "prior": prior, "edge": edge},
    )


TEMPLATES = (
    Template(
        "follow-or-fade",
        CATEGORY,
        follow_or_fade,
        (
            "A copy-trading platform shows these records:\n\n{table}\n\n{rules} Whom do you follow, whom do you fade, "
            "and what is it worth?",
            "{rules}\n\nThe records:\n{table}\n\nDecide on each trader.",
            "You allocate money to signals of other traders. {rules} This is what they have shown so far:\n\n{table}",
            "Which of these traders deserve to be copied, which to be bet against?\n\n{table}\n\nHow skill and luck "
            "are spread is known. {rules}",
            "An investor is impressed by the record at the top of this list and asks for your "
            "allocation.\n\n{table}\n\nWeigh the records properly. {rules}",
        ),
        (
            "Signal providers, as the platform lists them:\n{table}\n\nBefore money moves, separate skill from noise. "
            "{rules}",
            "{rules} Somebody hands you the following performance sheet and wants the allocation by "
            "tonight.\n\n{table}",
        ),
    ),
    Template(
        "copied-fills",
        CATEGORY,
        copied_fills,
        (
            "{follower} copied {leader}'s trades in {stock}. The leader's fills:\n\n{table}\n\n{rules} What did each "
            "of them make?",
            "{leader} traded {stock} as follows.\n\n{table}\n\n{rules} Work out what copying left of the profit.",
            "{rules}\n\nLeader: {leader}. Share: {stock}. Fills:\n{table}\n\nCompare the result of the two.",
            '"I made exactly what {leader} made, only smaller," says {follower}. Check it on '
            "{stock}.\n\n{table}\n\n{rules}",
            "Replicate the account of {follower}, who follows {leader} automatically. {rules} The orders in {stock} "
            "were these:\n\n{table}",
        ),
        (
            "Audit of a copied account ({stock}; leader {leader}, copier {follower}). {rules}\n\n{table}",
            "Here are the executions that {leader} published for {stock}:\n\n{table}\n\nWhat were they worth to "
            "{leader}, and what to {follower}? {rules}",
        ),
    ),
    Template(
        "luck-or-skill",
        CATEGORY,
        luck_or_skill,
        (
            "Of {person}'s record one reads: {record}. Is it skill? {rules}",
            "{rules} The record: {record}. How surprising is it for one trader, and how surprising for the best of "
            "{pool}?",
            "A platform with {pool} traders advertises {person}, of whom {record}. Put the record into proportion. "
            "{rules}",
            "Should anybody copy {person}? All that is known: {record}. {rules}",
            "Star trader or lottery winner? {person} is the top of {pool}; {record}. {rules}",
        ),
        (
            "{person} leads a table of {pool} names because {record}. Assess the evidence. {rules}",
            "Evidence for the selection committee on {person}: {record}. {rules}",
        ),
    ),
)
