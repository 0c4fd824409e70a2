"""Sentiment Analysis: tone with known sign and strength, weighted, compared, and held against the figures."""

from __future__ import annotations

import random
from collections.abc import Sequence

from evaluators import names
from evaluators.casebook import statements
from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Sentiment Analysis"
DIVISIONS = (
    "Aerospace",
    "Batteries",
    "Cables",
    "Dairy",
    "Engines",
    "Fibres",
    "Grain",
    "Hotels",
    "Insurance",
    "Jewellery",
    "Kitchens",
    "Logistics",
    "Mining",
    "Nutrition",
    "Oils",
    "Paper",
    "Rail",
    "Steel",
    "Tools",
    "Vaccines",
)


def _shares(rng: random.Random, count: int) -> list[int]:
    """Return weights in tenths of a per cent that add up to 1000, none of them small."""
    weights = [rng.uniform(0.4, 2.0) for _ in range(count)]
    shares = [round(1000 * weight / sum(weights)) for weight in weights]
    shares[0] += 1000 - sum(shares)
    return shares


def weighted_tone(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Score what a letter says of each division and weigh it by the division's share of sales."""
    count = {"easy": 4, "hard": 6, "expert": 8}[difficulty]
    company = names.company(rng)
    divisions = rng.sample(DIVISIONS, count)
    shares = _shares(rng, count)
    weights: Sequence[float] = shares
    said = [statements.draw(rng, difficulty, name) for name in divisions]
    scored = list(zip(shares, said, strict=True))
    tone = sum(share * each.score for share, each in scored) / 10
    good = sum(share for share, each in scored if each.score > 0) / 10
    order = list(range(count))
    rng.shuffle(order)
    letter = " ".join(said[n].text for n in order)
    sales = rng.randint(300, 9000)
    if difficulty == "easy":
        rows = [[name, f"{share / 10:.1f}%"] for name, share in zip(divisions, shares, strict=True)]
        table = show(rng, ["division", "share of sales"], rows)
    else:
        amounts = [round(sales * share / 1000, 1) for share in shares]
        tone = sum(amount * each.score for amount, each in zip(amounts, said, strict=True)) / sum(amounts) * 100
        good = 100 * sum(a for a, each in zip(amounts, said, strict=True) if each.score > 0) / sum(amounts)
        weights = [1000 * amount / sum(amounts) for amount in amounts]
        mixed = [
            f"${a * 1000:,.0f} thousand" if difficulty == "expert" and n % 2 else f"${a:,.1f} million"
            for n, a in enumerate(amounts)
        ]
        table = show(rng, ["division", "sales"], [[n, a] for n, a in zip(divisions, mixed, strict=True)])
    return Drawn(
        {"company": company, "letter": letter, "table": table, "rules": statements.scale(difficulty)},
        (
            Figure(
                "tone_index",
                "score of each division's sentence times its share of sales in percent, added up",
                tone,
                0.3,
            ),
            Figure(
                "positive_share_percent",
                "share of sales, in percent, of the divisions with a positive score",
                good,
                0.1,
            ),
        ),
        inputs={"shares": list(weights), "scores": [each.score for each in said]},
    )


def tone_change(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Compare two letters by topic; sentences that did not change and topics of one letter alone do not count."""
    count = {"easy": 3, "hard": 5, "expert": 6}[difficulty]
    company = names.company(rng)
    divisions = rng.sample(DIVISIONS, count + 2)
    before = [statements.draw(rng, difficulty, name) for name in divisions[:count]]
    after = [statements.draw(rng, difficulty, name) for name in divisions[:count]]
    weights = [rng.randint(11, 97) for _ in range(count)]
    if difficulty != "easy":
        after[0] = before[0]
    changes = [b.score - a.score for a, b in zip(before, after, strict=True)]
    worst = min(changes)
    if worst >= 0 or changes.count(worst) > 1:
        return tone_change(rng, difficulty)
    change = sum(weight * delta for weight, delta in zip(weights, changes, strict=True)) / sum(weights) * 100
    last = sum(weight * each.score for weight, each in zip(weights, after, strict=True)) / sum(weights) * 100
    first_text = [each.text for each in before]
    second_text = [each.text for each in after]
    if difficulty == "expert":
        first_text.append(statements.draw(rng, "easy", divisions[count]).text)
        second_text.append(statements.draw(rng, "easy", divisions[count + 1]).text)
    rng.shuffle(first_text)
    rng.shuffle(second_text)
    weighed = ", ".join(f"{name} {weight}" for name, weight in zip(divisions, weights, strict=False))
    rules = (
        f"{statements.scale(difficulty)} Tone is the weighted mean of the scores times 100, with these weights: "
        f"{weighed}."
        + (" A division that only one of the letters mentions has no weight." if difficulty == "expert" else "")
    )
    return Drawn(
        {"company": company, "first": " ".join(first_text), "second": " ".join(second_text), "rules": rules},
        (
            Figure("tone_of_second", "tone of the second letter", last, 0.3),
            Figure("tone_change", "tone of the second letter less tone of the first", change, 0.3),
            Verdict(
                "worst",
                "the division whose score fell most",
                (divisions[changes.index(worst)],),
                tuple(sorted(divisions[:count])),
            ),
        ),
        inputs={"before": [each.score for each in before], "after": [each.score for each in after], "weights": weights},
    )


_SIZES = (
    ("doubled", 100.0),
    ("more than held its own, up by half", 50.0),
    ("grew by a third", 100 / 3),
    ("grew by a quarter", 25.0),
    ("rose by a fifth", 20.0),
    ("rose by a tenth", 10.0),
    ("slipped by a tenth", -10.0),
    ("fell by a fifth", -20.0),
    ("lost a quarter", -25.0),
    ("shrank by a third", -100 / 3),
    ("halved", -50.0),
)


def words_against_figures(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Translate words of size into per cent and hold them against the accounts."""
    count = {"easy": 4, "hard": 6, "expert": 8}[difficulty]
    divisions, company = rng.sample(DIVISIONS, count), names.company(rng)
    rows, gaps, told, numbers = [], [], [], []
    limit = rng.choice((2, 3, 4))
    for number, name in enumerate(divisions):
        words, size = rng.choice(_SIZES)
        before = round(rng.uniform(20, 900), 1)
        gap = (
            rng.uniform(-0.7, 0.7) * limit if rng.random() < 0.5 else rng.choice((-1, 1)) * rng.uniform(1.6, 9) * limit
        )
        after = round(before * (1 + (size - gap) / 100), 1)
        true_gap = size - 100 * (after / before - 1)
        if abs(abs(true_gap) - limit) < 0.3:
            return words_against_figures(rng, difficulty)
        gaps.append(true_gap)
        numbers.append([before, after, size])
        first, second = f"${before:,.1f} million", f"${after:,.1f} million"
        if difficulty == "expert" and number % 3 == 0:
            second = f"${after * 1000:,.0f} thousand"
        rows.append([name, first, second] if difficulty != "hard" else [name, second, first])
        told.append(f"{name} {words}.")
    rng.shuffle(told)
    columns = ["division", "sales a year ago", "sales this year"]
    if difficulty == "hard":
        columns = ["division", "sales this year", "sales a year ago"]
    wrong = tuple(name for name, gap in zip(divisions, gaps, strict=True) if abs(gap) > limit)
    flattery = sum(gaps) / count
    rules = (
        "Words of size mean growth of sales in percent, a third being 33.33%. A sentence is contradicted when it is "
        f"more than {limit} percentage points off the growth in the accounts. Overstatement is the growth by the "
        "words less that by the accounts."
    )
    return Drawn(
        {"company": company, "letter": " ".join(told), "table": show(rng, columns, rows), "rules": rules},
        (
            Figure(
                "mean_overstatement_pp",
                "mean overstatement over all divisions, in percentage points, negative for an understatement",
                flattery,
                0.03,
            ),
            Figure(
                "largest_overstatement_pp", "largest overstatement of a division, in percentage points", max(gaps), 0.03
            ),
            Verdict(
                "contradicted",
                "the divisions whose sentence is contradicted",
                wrong,
                tuple(sorted(divisions)),
                several=True,
            ),
        ),
        inputs={"numbers": numbers, "limit": limit},
    )


TEMPLATES = (
    Template(
        "weighted-tone",
        CATEGORY,
        weighted_tone,
        (
            "Score the tone of this letter of {company} to its shareholders:\n\n{letter}\n\n{rules} The "
            "divisions:\n\n{table}",
            "{table}\n\nThose are the divisions of {company}. The chairwoman says: {letter} {rules} How positive is "
            "that, weighted?",
            'What does {company} really say?\n\n"{letter}"\n\n{rules}\n\nWeights come from here:\n{table}',
            "{rules}\n\nApply it to {company}.\n\n{table}\n\nText: {letter}",
            "An analyst's transcript of the call of {company}: {letter}\n\nTurn it into an index with the figures "
            "below. {rules}\n\n{table}",
        ),
        (
            "From the annual report of {company}: {letter} Condense its tone, division by division, into one number. "
            "{rules}\n\n{table}",
            "Divisions of {company}:\n{table}\n\nHow do the following remarks sound when the large ones count more? "
            "{letter}\n\n{rules}",
        ),
    ),
    Template(
        "tone-change",
        CATEGORY,
        tone_change,
        (
            "Two letters of {company}, a year apart.\n\nFirst: {first}\n\nSecond: {second}\n\n{rules} How did the "
            "tone change?",
            "{rules}\n\nLast year {company} wrote: {first}\n\nThis year it writes: {second}",
            "Did {company} become gloomier? The earlier statement reads: {first} The later one: {second}\n\n{rules}",
            "Compare what {company} said then and what it says now. Then (first letter): {first}\n\nNow (second "
            "letter): {second}\n\n{rules}",
            "The tone of {company} in two quarters. Letter one: {first} Letter two: {second} Measure it. {rules}",
        ),
        (
            "Read both outlooks of {company} and put the difference into numbers. Older (first): {first}\n\nNewer "
            "(second): {second}\n\n{rules}",
            '{company}, first letter: "{first}" Second letter: "{second}" {rules} What is new in the mood?',
        ),
    ),
    Template(
        "words-against-figures",
        CATEGORY,
        words_against_figures,
        (
            "{company} writes to its owners: {letter}\n\nIts accounts say:\n\n{table}\n\n{rules} Where do words and "
            "figures part?",
            "{table}\n\nWith these accounts in hand, read the words of {company}: {letter} {rules}",
            'Is the management of {company} candid? "{letter}" {rules} The accounts:\n\n{table}',
            "{rules}\n\nStatement of {company}: {letter}\n\nSales:\n{table}",
            "A journalist quotes {company}: {letter} Check every sentence against the sales below. {rules}\n\n{table}",
        ),
        (
            "How much does {company} flatter itself? Its words: {letter} Its books:\n\n{table}\n\n{rules}",
            "Fact check on {company}. {rules} Claimed: {letter}\n\nBooked:\n{table}",
        ),
    ),
)
