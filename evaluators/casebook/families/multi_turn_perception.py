"""Multi-turn Perception: evidence, documents and trades unfold; earlier beliefs are revised and not rewritten."""

from __future__ import annotations

import random
from typing import NamedTuple

from evaluators import names
from evaluators.casebook.answer import Figure
from evaluators.casebook.family import Drawn, Template, Turn
from evaluators.contract import Difficulty
from evaluators.exhibit import money, show

CATEGORY = "Multi-turn Perception"


class Sign(NamedTuple):
    """A piece of evidence, and how often it is seen where the belief is true and where it is not, in percent."""

    what: str
    if_true: int
    if_false: int


_SIGNS = (
    "a supplier reports cancelled orders",
    "the shipping data turn down",
    "a director sells shares",
    "hiring is frozen",
    "web traffic falls",
    "a large customer renews its contract",
    "the credit spread widens",
    "inventories rise",
    "a competitor warns",
    "the auditor asks for more time",
    "store visits decline",
    "the order backlog grows",
)
_WITHDRAWN = (
    'A correction: "{what}" was a mistake of the data vendor and was never observed. Leave it out. What is the '
    "probability now?",
    'It turns out that the report "{what}" is void; nobody saw such a thing. State the probability on what is left.',
    'Forget "{what}": the source took it back entirely. Where does that leave you?',
    'The item "{what}" has been retracted, as if never made. Revise.',
)
_MORE = (
    "New: {what}. This is seen in {true}% of the cases where the belief is true and in {false}% of those where it is "
    "not.",
    "Now {what}, which happens in {true}% of true and in {false}% of false cases.",
    "The next day {what}. With the belief true, that has a chance of {true}%; with the belief false, of {false}%.",
    "Then comes word that {what}; its likelihood is {true}% if the belief holds and {false}% if it does not.",
)
_AGAIN = (
    "Also, a second newspaper repeats that {what}; it has it from the first.",
    "A wire story says again that {what}. It quotes the earlier report and nothing else.",
)


def evidence(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Update a belief; a report is withdrawn later, one may only be repeated, and the past is asked for at the end."""
    count = {"easy": 2, "hard": 3, "expert": 4}[difficulty]
    prior = rng.randint(12, 70)
    signs = []
    for what in rng.sample(_SIGNS, count):
        low, high = rng.randint(8, 45), rng.randint(50, 93)
        signs.append(Sign(what, *((high, low) if rng.random() < 0.5 else (low, high))))

    def belief(seen: list[Sign]) -> float:
        odds = prior / (100 - prior)
        for sign in seen:
            odds *= sign.if_true / sign.if_false
        return 100 * odds / (1 + odds)

    def told(sign: Sign) -> str:
        return rng.choice(_MORE).format(what=sign.what, true=sign.if_true, false=sign.if_false)

    def figure(name: str, meaning: str, seen: list[Sign]) -> Figure:
        return Figure.of_probability(name, f"probability of the belief in percent, {meaning}", belief(seen))

    if not all(4 < belief(signs[: number + 1]) < 96 for number in range(count)):
        return evidence(rng, difficulty)
    later = []
    for number in range(1, count):
        text = told(signs[number])
        if difficulty != "easy" and number == count - 1:
            text += " " + rng.choice(_AGAIN).format(what=signs[0].what)
        later.append(Turn(text, (figure("probability_percent", "on everything so far", signs[: number + 1]),)))
    gone = rng.randrange(count) if difficulty == "expert" else 0
    left = [sign for sign in signs if sign is not signs[gone]]
    text = rng.choice(_WITHDRAWN).format(what=signs[gone].what)
    last = [figure("probability_percent", "on what is left", left)]
    if difficulty != "easy":
        back = count - 1
        text += (
            f" And for the record: which probability was right when only the first {back} reports had been made, on "
            "what was known then?"
        )
        last.append(
            figure(
                "probability_then_percent",
                f"as it was right after the first {back} reports, on what was known then",
                signs[:back],
            )
        )
    later.append(Turn(text, tuple(last)))
    return Drawn(
        {
            "company": names.company(rng),
            "prior": str(prior),
            "first": told(signs[0]),
        },
        (figure("probability_percent", "after the first report", signs[:1]),),
        tuple(later),
        {"prior": prior, "signs": [list(sign) for sign in signs], "gone": gone, "difficulty": difficulty},
    )


def restated_results(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Follow trailing figures through a new quarter and a restatement; at the end the old figure is asked for again."""
    company, year = names.company(rng), rng.randint(2013, 2024)
    labels = [f"Q{n % 4 + 1} {year + n // 4}" for n in range(9)]
    base = rng.randint(80, 900)
    revenue = [round(base * (1 + rng.uniform(-0.02, 0.04) * n + 0.08 * rng.uniform(-1, 1)), 1) for n in range(9)]
    thousands = difficulty == "expert"

    def write(value: float) -> str:
        return f"${value * 1000:,.0f} thousand" if thousands and rng.random() < 0.5 else f"${value:,.1f} million"

    def growth(values: list[float]) -> float:
        return 100 * (sum(values[-4:]) / sum(values[-8:-4]) - 1)

    known = revenue[:8]
    rows = [[label, write(value)] for label, value in zip(labels[:8], known, strict=True)]
    extra = "" if difficulty == "easy" else f" Operating costs were about {rng.randint(60, 92)}% of revenue throughout."
    asked = "growth of the last four quarters' revenue over the four before, in percent"
    first = growth(known)
    with_new = [*known, revenue[8]]
    which = rng.randint(1, 7)
    restated = list(with_new)
    restated[which] = round(restated[which] * rng.choice((rng.uniform(0.72, 0.93), rng.uniform(1.06, 1.2))), 1)
    news = rng.choice(
        (
            "{label} is out: revenue of {value}.",
            "The company reports {value} of revenue for {label}.",
            "For {label}, revenue came to {value}.",
        )
    ).format(label=labels[8], value=write(revenue[8]))
    change = rng.choice(
        (
            "In a new filing the revenue of {label} is restated to {value}.",
            "{label} was wrong: the audited revenue is {value}.",
            "After an enquiry the company corrects {label}, with revenue now given as {value}.",
        )
    ).format(label=labels[which], value=write(restated[which]))
    then = (
        " As the press release of that day had it, before any later filing: what was the growth when the table was "
        "first shown?"
        if difficulty == "easy"
        else f" And with the restated figure, what would the growth have been at the end of {labels[7]}?"
    )
    back = first if difficulty == "easy" else growth(restated[:8])
    turns = [
        Turn(
            f"{news}{extra} What is the growth on four quarters now?",
            (Figure("growth_percent", asked, growth(with_new), 0.03),),
        ),
        Turn(
            f"{change} State the growth again.{then}",
            (
                Figure("growth_percent", asked, growth(restated), 0.03),
                Figure("growth_then_percent", "growth asked for at the end, in percent", back, 0.03),
            ),
        ),
    ]
    inputs = {"revenue": revenue, "which": which, "restated": restated[which], "difficulty": difficulty}
    if difficulty == "expert":
        moved = round(rng.uniform(0.04, 0.15) * min(restated[6:9]), 1)
        shifted = list(restated)
        shifted[8] -= moved
        shifted[7] += moved
        turns.append(
            Turn(
                f"Lastly, {write(moved)} booked in {labels[8]} belong into {labels[7]}, the company says. What is the "
                f"growth of the last four quarters, and what was that of {labels[7]} over {labels[3]}?",
                (
                    Figure("growth_percent", asked, growth(shifted), 0.03),
                    Figure(
                        "quarter_growth_percent",
                        f"growth of {labels[7]} over {labels[3]}, in percent, on all corrections",
                        100 * (shifted[7] / shifted[3] - 1),
                        0.03,
                    ),
                ),
            )
        )
        inputs["moved"] = moved
    return Drawn(
        {"company": company, "table": show(rng, ["quarter", "revenue"], rows)},
        (Figure("growth_percent", asked, first, 0.03),),
        tuple(turns),
        inputs,
    )


def ledger(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Keep a position by average cost through sales, a split and a cancelled trade."""
    stock = names.company(rng)
    price = rng.uniform(15, 180)
    lots = []
    for _ in range({"easy": 3, "hard": 4, "expert": 5}[difficulty]):
        lots.append((rng.randint(2, 90) * 10, round(price, 2)))
        price *= 1 + rng.uniform(-0.12, 0.14)

    def state(kept: list[tuple[int, float]], sale: tuple[int, float] | None, split: int) -> tuple[int, float, float]:
        """Return shares, average cost and realised profit."""
        shares = sum(size for size, _ in kept)
        average = sum(size * paid for size, paid in kept) / shares
        shares, average, profit = shares * split, average / split, 0.0
        if sale:
            profit = sale[0] * (sale[1] - average)
            shares -= sale[0]
        return shares, average, profit

    split = rng.choice((2, 3)) if difficulty != "easy" else 1
    smallest = min(range(len(lots)), key=lambda n: lots[n][0])
    remaining = sum(size for n, (size, _) in enumerate(lots) if n != smallest) * split
    sale = (max(1, round(remaining * rng.uniform(0.3, 0.8))), round(price / split * (1 + rng.uniform(-0.15, 0.2)), 2))
    mark = round(sale[1] * (1 + rng.uniform(-0.1, 0.1)), 2)
    kept = [lot for n, lot in enumerate(lots) if n != smallest]
    start, sold, busted = state(lots, None, 1), state(lots, sale, split), state(kept, sale, split)
    event = f"The shares are split {split} for 1. Then " if split > 1 else ""
    per_share = "average cost of a share held, in dollars"
    asks = (
        "What has been realised, and what does a remaining share cost on average?",
        "State the realised profit and the average cost that remains.",
        "Bring the books up to date.",
    )
    turns = [
        Turn(
            f"{event}{sale[0]:,} shares are sold at {money(sale[1])}. {rng.choice(asks)}",
            (
                Figure("realised_usd", "realised profit so far in dollars, negative for a loss", sold[2], 0.5),
                *(() if split == 1 else (Figure("average_cost_usd", per_share, sold[1], 0.005),)),
            ),
        ),
        Turn(
            f"The exchange cancels the purchase of {lots[smallest][0]:,} at {money(lots[smallest][1])} as if it had "
            f"never been made; the sale stands. The share now trades at {money(mark)}. {rng.choice(asks)}",
            (
                Figure("realised_usd", "realised profit so far in dollars, negative for a loss", busted[2], 0.5),
                Figure("average_cost_usd", per_share, busted[1], 0.005),
                Figure(
                    "unrealised_usd",
                    "gain of the shares still held at that price, in dollars, negative for a loss",
                    busted[0] * (mark - busted[1]),
                    0.5,
                ),
            ),
        ),
    ]
    if difficulty == "expert":
        at = round(price * (1 + rng.uniform(-0.1, 0.1)), 2)
        turns.append(
            Turn(
                "Compliance asks about the past: right after the purchases, before any other news, the share stood "
                f"at {money(at)}. Which unrealised gain had to be reported then, on what was known then?",
                (
                    Figure(
                        "unrealised_then_usd",
                        "unrealised gain as it had to be reported then, in dollars, negative for a loss",
                        start[0] * (at - start[1]),
                        0.5,
                    ),
                ),
            )
        )
    rows = [[f"purchase {n + 1}", f"{size:,} shares", money(paid)] for n, (size, paid) in enumerate(lots)]
    return Drawn(
        {"stock": stock, "table": show(rng, ["entry", "size", "price"], rows)},
        (Figure("average_cost_usd", per_share, start[1], 0.005),),
        tuple(turns),
        {"lots": [list(lot) for lot in lots], "sale": list(sale), "split": split, "gone": smallest, "mark": mark},
    )


TEMPLATES = (
    Template(
        "evidence",
        CATEGORY,
        evidence,
        (
            "You believe with a probability of {prior}% that {company} will miss its guidance. Reports come in one "
            "after the other; given the truth they are independent of each other. {first} What is the probability "
            "now?",
            "The chance that {company} cuts its dividend is put at {prior}% before any report. All reports are "
            "independent given the truth of that belief. {first} Update.",
            "Belief: {company} loses market share this year, {prior}%. {first} Further reports will follow, each "
            "independent of the others given the truth. Your probability?",
            "An analyst starts with {prior}% for the belief that {company} needs new capital. {first} More will be "
            "heard, independently given what is true. How likely is it after this?",
            'Keep a running probability of the belief "{company} misses its forecast". It starts at {prior}%. '
            "Independent evidence, given the truth, arrives in turns. {first}",
        ),
        (
            "With {prior}% as the starting point, follow the belief that {company} will lower its outlook through "
            "news items that are conditionally independent. {first}",
            "Is {company} going to disappoint? Prior: {prior}%. The items of news do not depend on each other once "
            "the truth is given. {first}",
        ),
    ),
    Template(
        "restated-results",
        CATEGORY,
        restated_results,
        (
            "You follow {company}. Quarterly revenue so far:\n\n{table}\n\nHow fast did the last four quarters grow "
            "over the four before? News will follow.",
            "{table}\n\nThis is what {company} has reported. Give the growth of the last four quarters together over "
            "the previous four; you will be asked again as things change.",
            "Open a file on {company}.\n\n{table}\n\nFirst entry: growth on four quarters.",
            "Revenue of {company} as published:\n{table}\n\nCompare the latest four quarters with the four before "
            "them.",
            "For {company} we track revenue over four quarters against the four before. The start:\n\n{table}",
        ),
        (
            "{company}, eight quarters:\n{table}\n\nWhat is annual growth, four quarters against four? Stand by for "
            "changes.",
            "Here is the sales history of {company}. Put a number on its growth, year on year, by adding "
            "quarters.\n\n{table}",
        ),
    ),
    Template(
        "ledger",
        CATEGORY,
        ledger,
        (
            "Keep the books of a position in {stock} by average cost. It begins with these "
            "entries:\n\n{table}\n\nWhat does a share cost on average?",
            "{table}\n\nThese purchases of {stock} were made in this order. The method is average cost. More will "
            "happen; first the average.",
            "A portfolio buys {stock}:\n\n{table}\n\nBy average cost, where does it stand? Further entries come in "
            "turns.",
            "You are the operations desk for a holding in {stock}, valued at average cost. "
            "Entries:\n{table}\n\nReport the average cost, then wait.",
            "Position file of {stock} (average cost method).\n\n{table}\n\nCompute the cost of a share.",
        ),
        (
            "{stock} was bought in several lots:\n{table}\n\nUse average cost and tell what a share stands at in the "
            "books.",
            "Start a ledger, average cost, for {stock}.\n\n{table}\n\nAverage, please; events follow.",
        ),
    ),
)
