"""Sentences about a business whose tone is known: by strength, hedge, denial, irony, or a figure that contradicts."""

from __future__ import annotations

import random
from typing import NamedTuple

SCALE = (
    "Tone is scored by what a sentence says of the business. Strong words (a record, a collapse and the like) score "
    "2, plain statements 1, hedged ones (may, seems, cautiously) 0.5, each positive or negative; a sentence that says "
    "nothing good or bad scores 0. A denial scores what it comes to as a plain statement."
)
SARCASM = " Irony scores what is meant, as a plain statement."
CONFLICT = (
    " Where a sentence gives a figure that contradicts its words, the figure's sign counts, as a plain statement."
)

PLAIN: dict[float, tuple[str, ...]] = {
    2.0: (
        "{name} had the best year in its history.",
        "Demand at {name} was overwhelming, and orders hit a record.",
        "{name} outran every target by a huge distance.",
        "Profits of {name} exploded to heights never seen before.",
    ),
    1.0: (
        "{name} grew and earned more than a year ago.",
        "Margins at {name} improved.",
        "{name} won customers from its rivals.",
        "Costs at {name} came down as planned.",
        "The order book of {name} filled up.",
    ),
    0.5: (
        "We are cautiously hopeful about {name}.",
        "{name} may have seen the first signs of an upturn.",
        "It seems that trading at {name} is getting somewhat better.",
        "With some luck, {name} could do a little better next year.",
    ),
    0.0: (
        "{name} has offices in four countries.",
        "{name} will publish its figures in May, as always.",
        "The name of {name} was registered decades ago.",
        "{name} is run by the team that ran it last year.",
    ),
    -0.5: (
        "{name} might face somewhat slower trading.",
        "There seems to be a slight softness at {name}.",
        "{name} may turn out a little weaker than hoped.",
        "{name} could possibly need more time.",
    ),
    -1.0: (
        "{name} sold less than a year ago.",
        "Margins at {name} shrank.",
        "{name} lost customers to its rivals.",
        "Costs at {name} rose faster than its prices.",
        "Returned goods weighed on {name}.",
    ),
    -2.0: (
        "{name} collapsed; it was the worst year on record.",
        "Demand at {name} evaporated completely.",
        "{name} missed everything it had promised by a disastrous distance.",
        "The losses of {name} are catastrophic.",
    ),
}
DENIED: dict[float, tuple[str, ...]] = {
    1.0: (
        "It is not true that {name} lost customers; it won some.",
        "Nobody can say that {name} did badly: it earned more.",
        "{name} is anything but weak.",
        "Far from shrinking, {name} grew.",
    ),
    -1.0: (
        "{name} is anything but strong.",
        "Nobody can say that {name} did well: it earned less.",
        "Far from growing, {name} shrank.",
        "It is not true that {name} won customers; it lost some.",
    ),
}
IRONY: dict[float, tuple[str, ...]] = {
    -1.0: (
        "Splendid planning at {name}: the fourth temporary shutdown of this year.",
        "{name} once more delighted us, with a profit warning on Christmas Eve.",
        "Congratulations to {name} on losing only half of its customers.",
        "What a triumph: {name} needed merely two rescues.",
    ),
    1.0: (
        "Poor {name}, it hardly knows where to put all the cash it earned.",
        "What a pity for the short sellers that {name} grew yet again.",
        "A dreadful problem at {name}: more orders than pages in the order book.",
        "How terrible for the rivals of {name} that all their customers now buy there.",
    ),
}
AGAINST: dict[float, tuple[str, ...]] = {
    -1.0: (
        "{name} had a wonderful year, with sales at {low}% of the year before.",
        "We are delighted with {name}, whose profit came to {low}% of last year's.",
        "A success story: {name} now earns {low} cents for each dollar it earned a year ago.",
    ),
    1.0: (
        "{name} had a dreadful year, with sales at {high}% of the year before.",
        "We are ashamed of {name}, whose profit came to {high}% of last year's.",
        "A sorry tale: {name} now earns {high} cents for each dollar it earned a year ago.",
    ),
}
LEVELS = {
    "easy": (PLAIN,),
    "hard": (PLAIN, PLAIN, DENIED),
    "expert": (PLAIN, DENIED, IRONY, AGAINST),
}


class Statement(NamedTuple):
    """A sentence and its score."""

    text: str
    score: float


def draw(rng: random.Random, difficulty: str, name: str) -> Statement:
    """Return a sentence about ``name``."""
    bank = rng.choice(LEVELS[difficulty])
    score = rng.choice(sorted(bank))
    text = rng.choice(bank[score]).format(name=name, low=rng.randint(41, 93), high=rng.randint(108, 187))
    return Statement(text, score)


def scale(difficulty: str) -> str:
    """Return how tone is scored."""
    return SCALE + (SARCASM + CONFLICT if difficulty == "expert" else "")
