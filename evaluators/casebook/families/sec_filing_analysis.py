"""SEC Filing Analysis: figures stand in the running text of a filing, among others that look alike."""

from __future__ import annotations

import random

from evaluators import names
from evaluators.casebook.answer import Asked, Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty

CATEGORY = "SEC Filing Analysis"
_ASIDES = (
    "Our credit facility of ${size} million was undrawn at the end of both years and is in no figure below.",
    "We paid ${size} million for naming rights, which are not debt.",
    "Letters of credit of ${size} million were outstanding; nothing was drawn under them.",
    "An associate that is not consolidated owes ${size} million, for which we are not liable.",
)


def debt_note(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Read a note on borrowings: what falls due, what a rise of rates costs, and whether the covenant is met."""
    year, company = rng.randint(2014, 2025), names.company(rng)
    bonds = [rng.randint(40, 600) for _ in range({"easy": 2, "hard": 3, "expert": 4}[difficulty])]
    due = [year + rng.randint(1, 7) for _ in bonds]
    due[0] = year + rng.randint(1, 2)
    coupons = [rng.randint(200, 750) / 100 for _ in bonds]
    floating = [rng.random() < 0.5 for _ in bonds]
    if not any(floating):
        floating[-1] = True
    hedged = rng.randint(20, 80) if difficulty != "easy" else 0
    rise = rng.randint(30, 220)
    profit, cash = rng.randint(60, 500), rng.randint(15, 160)
    limit = rng.randint(20, 55) / 10
    leases = rng.randint(20, 200) if difficulty == "expert" else 0
    total = float(sum(bonds))
    soon = sum(size for size, when in zip(bonds, due, strict=True) if when <= year + 2)
    exposed = sum(size for size, flag in zip(bonds, floating, strict=True) if flag) * (1 - hedged / 100)
    ratio = (total + leases - cash) / profit
    sentences = []
    for n, (size, when, coupon, flag) in enumerate(zip(bonds, due, coupons, floating, strict=True)):
        amount = f"${size * 1000:,} thousand" if difficulty == "expert" and n % 2 else f"${size} million"
        rate = f"at a reference rate plus {coupon:.2f}%" if flag else f"at a fixed {coupon:.2f}%"
        sentences.append(
            rng.choice(
                (
                    f"We have notes of {amount} outstanding, which bear interest {rate} and mature in {when}.",
                    f"A loan of {amount}, repayable in {when}, carries interest {rate}.",
                    f"In {when} we have to repay {amount}, on which we pay interest {rate}.",
                )
            )
        )
    rng.shuffle(sentences)
    for aside in rng.sample(_ASIDES, {"easy": 1, "hard": 2, "expert": 3}[difficulty]):
        sentences.insert(rng.randrange(len(sentences) + 1), aside.format(size=rng.randint(10, 700)))
    if hedged:
        sentences.append(f"Swaps turn {hedged}% of what we owe at floating rates into fixed rates.")
    if leases:
        sentences.append(f"Lease liabilities, which our lenders count as debt, were ${leases} million.")
    sentences.append(
        f"Cash was ${cash} million. EBITDA as the loan agreement defines it was ${profit} million, and net debt may "
        f"be at most {limit:.1f} times of it."
    )
    extra = rng.randint(2, 90)
    if difficulty != "easy":
        sentences.append(
            f"A year before, cash was ${cash + extra} million and this EBITDA ${profit + 2 * extra} million."
        )
    asked: tuple[Asked, ...] = (
        Figure(
            "due_in_two_years_percent",
            f"share of the notes and loans, in percent, that is due by the end of {year + 2}",
            100 * soon / total,
            0.1,
        ),
        Figure(
            "extra_interest_usd_million",
            "what the rise of rates adds to a year's interest, in millions of dollars",
            exposed * rise / 1e4,
            0.004,
        ),
        Figure("net_debt_to_ebitda", "net debt over EBITDA as the lenders count it", ratio, 0.006),
        Verdict("covenant", "the covenant", ("met" if ratio <= limit else "broken",), ("met", "broken")),
    )
    return Drawn(
        {"company": company, "year": str(year), "note": " ".join(sentences), "rise": str(rise)},
        asked,
        inputs={
            "bonds": bonds,
            "due": due,
            "floating": floating,
            "hedged": hedged,
            "rise": rise,
            "leases": leases,
            "cash": cash,
            "profit": profit,
            "limit": limit,
            "year": year,
        },
    )


TEMPLATES = (
    Template(
        "debt-note",
        CATEGORY,
        debt_note,
        (
            'From the annual report of {company} for {year}, note on borrowings: "{note}" What falls due, what would '
            "a rise of the reference rate by {rise} bp cost, and is the covenant met at the end of {year}?",
            "Item 7 of the 10-K of {company}, fiscal {year}, says: {note}\n\nAssess refinancing, exposure to a rise "
            "of {rise} bp, and the covenant.",
            "{note}\n\nThis is what {company} files about its debt at the end of {year}. Rates rise by {rise} bp: "
            "work out the effect, and read off the rest.",
            "A lender reads the filing of {company} for {year}. {note} He asks for three figures and a verdict; rates "
            "are stressed by {rise} bp.",
            "Extract from the text what the reply needs (company {company}, end of {year}, rise of {rise} "
            "bp).\n\n{note}",
        ),
        (
            "Debt of {company} on the last day of {year}, in its own words: {note} Suppose that reference rates go up "
            "{rise} bp.",
            "Go through this note of {company} ({year}) as a credit analyst would, with reference rates {rise} bp "
            "higher.\n\n{note}",
        ),
    ),
)
