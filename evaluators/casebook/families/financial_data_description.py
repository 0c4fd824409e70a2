"""Financial Data Description: a text is checked against its table, a messy table is summed up, notes are reconciled."""

from __future__ import annotations

import random
from typing import NamedTuple

from evaluators import names
from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template
from evaluators.contract import Difficulty
from evaluators.exhibit import show

CATEGORY = "Financial Data Description"


class Firm(NamedTuple):
    """Sales of two years and costs of the second in millions of dollars, and staff."""

    name: str
    before: float
    sales: float
    costs: float
    staff: int


def _claims(rng: random.Random, firms: list[Firm], total: float) -> list[tuple[str, float]]:
    """Return sentences with a brace for their number, and the right number."""
    claims = []
    for firm in firms:
        claims += [
            (f"sales of {firm.name} changed by {{}}%", 100 * (firm.sales / firm.before - 1)),
            (f"{firm.name} kept {{}}% of its sales as operating profit", 100 * (1 - firm.costs / firm.sales)),
            (f"each employee of {firm.name} stood for ${{}} thousand of sales", 1000 * firm.sales / firm.staff),
            (f"{firm.name} had {{}}% of the sales of all companies in the table", 100 * firm.sales / total),
        ]
    rng.shuffle(claims)
    return claims


def claims_check(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Find the false sentences of a description, how far off the worst is, and whom it leaves out."""
    count = {"easy": 4, "hard": 6, "expert": 8}[difficulty]
    firms = []
    for name in names.companies(rng, count):
        before, sales = round(rng.uniform(40, 900), 1), 0.0
        sales = round(before * rng.uniform(0.75, 1.4), 1)
        firms.append(Firm(name, before, sales, round(sales * rng.uniform(0.6, 0.95), 1), rng.randint(80, 4000)))
    total = sum(firm.sales for firm in firms)
    # of each company at most one figure, so that a company without a sentence is left out of the description
    described = rng.sample(firms, count - rng.randint(1, count // 3))
    chosen = []
    for firm in described:
        sentence, value = next(row for row in _claims(rng, [firm], total) if abs(row[1]) > 3)
        chosen.append((sentence, value))
    false = sorted(rng.sample(range(len(chosen)), rng.randint(1, max(1, len(chosen) - 1))))
    letters, told, errors = "ABCDEFGH", [], {}
    for place, (sentence, value) in enumerate(chosen):
        stated = value
        if place in false:
            stated = value * (1 + rng.choice((-1, 1)) * rng.uniform(0.08, 0.45))
        stated = round(stated, 1)
        if place in false:
            errors[place] = 100 * (stated / value - 1)
        told.append(f"({letters[place]}) {sentence.format(f'{stated:,.1f}')}")
    sizes = sorted((abs(error) for error in errors.values()), reverse=True)
    if sizes[-1] < 6 or (len(sizes) > 1 and sizes[0] - sizes[1] < 1.5):
        return claims_check(rng, difficulty)
    worst = max(errors, key=lambda place: abs(errors[place]))
    rows = []
    for number, firm in enumerate(firms):
        scale = difficulty == "expert" and number % 3 == 1
        cells = [
            f"${value * 1000:,.0f} thousand" if scale else f"${value:,.1f} million"
            for value in (firm.before, firm.sales, firm.costs)
        ]
        rows.append([firm.name, *cells, f"{firm.staff:,}"])
    columns = ["company", "sales last year", "sales this year", "operating costs this year", "employees"]
    if difficulty != "easy":
        columns.append("debt this year")
        rows = [[*row, f"${rng.uniform(5, 300):,.1f} million"] for row in rows]
    silent = tuple(firm.name for firm in firms if firm not in described)
    return Drawn(
        {
            "table": show(rng, columns, rows),
            "text": "; ".join(told) + ".",
            "rules": "A sentence is false when its number is more than 5% off the right one; figures without a year "
            "are of this year. Operating profit is sales less operating costs.",
        },
        (
            Figure(
                "right_number",
                "right number of the sentence that is furthest off, relative to the right number, in the sentence's "
                "own unit",
                chosen[worst][1],
                0.06,
            ),
            Figure(
                "its_error_percent",
                "the number stated in the sentence that is furthest off, over the right one, less one, in percent",
                errors[worst],
                0.3,
            ),
            Verdict(
                "false",
                "letters of the false sentences",
                tuple(letters[place] for place in false),
                tuple(letters[: len(chosen)]),
                several=True,
            ),
            Verdict(
                "left_out",
                "companies of the table of which the text says nothing",
                silent,
                tuple(firm.name for firm in firms),
                several=True,
            ),
        ),
        inputs={"firms": [list(firm) for firm in firms], "text": told},
    )


_REGIONS = (
    "North",
    "South",
    "East",
    "West",
    "Coast",
    "Islands",
    "Highlands",
    "Capital",
    "Border",
    "Lakes",
    "Delta",
    "Plains",
)


def messy_table(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Sum up a table with subtotals, mixed units and holes."""
    count = {"easy": 4, "hard": 6, "expert": 9}[difficulty]
    regions = rng.sample(_REGIONS, count)
    now = [round(rng.uniform(4, 240), 1) for _ in regions]
    before = [round(value / rng.uniform(0.8, 1.35), 1) for value in now]
    holes = set(rng.sample(range(count), {"easy": 0, "hard": 1, "expert": 2}[difficulty]))
    rows, half = [], count // 2

    def write(value: float, place: int) -> str:
        if difficulty == "expert" and place % 3 == 0:
            return f"${value * 1000:,.0f} thousand"
        return f"${value:,.1f} million"

    for place, region in enumerate(regions):
        earlier = "not available" if place in holes else write(before[place], place)
        rows.append([region, earlier, write(now[place], place)])
        if difficulty != "easy" and place == half:
            known = [before[n] for n in range(half + 1) if n not in holes]
            rows.append(["subtotal so far", write(sum(known), 1), write(sum(now[: half + 1]), 1)])
    both = [n for n in range(count) if n not in holes]
    growth = 100 * (sum(now[n] for n in both) / sum(before[n] for n in both) - 1)
    rises = [n for n in both if now[n] > before[n]]
    most = max(both, key=lambda n: now[n] / before[n])
    asked = (
        Figure("total_usd_million", "sales of all regions this year, in millions of dollars", sum(now), 0.05),
        Figure(
            "comparable_growth_percent",
            "growth of the regions that have both years, taken together, in percent",
            growth,
            0.06,
        ),
        Figure(
            "growing_share_percent",
            "share, in percent, that regions known to have grown hold of all sales this year",
            100 * sum(now[n] for n in rises) / sum(now),
            0.1,
        ),
        Verdict("fastest", "the region that grew fastest", (regions[most],), tuple(sorted(regions))),
    )
    return Drawn(
        {"company": names.company(rng), "table": show(rng, ["region", "sales last year", "sales this year"], rows)},
        asked,
        inputs={"now": now, "before": before, "holes": sorted(holes)},
    )


def segment_notes(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Reconcile segments with their notes: sales between them, a business bought, currencies, a week too many."""
    count = {"easy": 3, "hard": 4, "expert": 5}[difficulty]
    segments = rng.sample(
        ("Airports", "Bridges", "Clinics", "Depots", "Estates", "Farms", "Garages", "Harbours"), count
    )
    before = [round(rng.uniform(60, 800), 1) for _ in segments]
    now = [round(value * rng.uniform(0.85, 1.3), 1) for value in before]
    between = [round(rng.uniform(0.02, 0.09) * sum(before), 1), round(rng.uniform(0.02, 0.09) * sum(now), 1)]
    bought = round(rng.uniform(0.02, 0.12) * sum(now), 1)
    abroad, rate = rng.randrange(count), rng.choice((-1, 1)) * rng.randint(3, 15)
    year = rng.randint(2014, 2025)
    total, last = sum(now) - between[1], sum(before) - between[0]
    like = total - bought
    notes = [
        f"Sales between the segments, contained above, were ${between[0]:,.1f} million in {year - 1} and "
        f"${between[1]:,.1f} million in {year}.",
        f"{segments[0]} includes ${bought:,.1f} million, all from outside customers, of a business bought in January "
        f"{year}.",
    ]
    rules = (
        "Consolidated sales are those of the segments without the sales between them. Organic growth leaves out what "
        "was bought"
    )
    inputs = {
        "before": before,
        "now": now,
        "between": between,
        "bought": bought,
        "rate": rate,
        "abroad": abroad,
        "difficulty": difficulty,
    }
    if difficulty != "easy":
        abroad = max(1, abroad)
        inputs["abroad"] = abroad
        translated = now[abroad] / (1 + rate / 100)
        like += translated - now[abroad]
        notes.append(
            f"{segments[abroad]} sells in another currency, all of it to outside customers; one unit of that currency "
            f"was worth {abs(rate)}% {'more' if rate > 0 else 'less'} dollars in {year} than in {year - 1}."
        )
        rules += " and translates at last year's exchange rates"
    if difficulty == "expert":
        # the year before had 53 weeks
        like_before = last * 52 / 53
        notes.append(f"The year {year - 1} had 53 weeks, {year} has 52.")
        rules += f"; {year - 1} is brought to 52 weeks in proportion"
    else:
        like_before = last
    rng.shuffle(notes)
    rows = [
        [name, f"${b:,.1f} million", f"${n:,.1f} million"] for name, b, n in zip(segments, before, now, strict=True)
    ]
    return Drawn(
        {
            "company": names.company(rng),
            "table": show(rng, ["segment", str(year - 1), str(year)], rows),
            "notes": " ".join(notes),
            "rules": f"{rules}.",
        },
        (
            Figure("consolidated_usd_million", f"consolidated sales of {year} in millions of dollars", total, 0.06),
            Figure(
                "reported_growth_percent",
                "growth of consolidated sales as reported, in percent",
                100 * (total / last - 1),
                0.03,
            ),
            Figure(
                "organic_growth_percent",
                "organic growth of consolidated sales, in percent",
                100 * (like / like_before - 1),
                0.03,
            ),
        ),
        inputs=inputs,
    )


TEMPLATES = (
    Template(
        "claims-check",
        CATEGORY,
        claims_check,
        (
            "A trainee described this table.\n\n{table}\n\nThe text: {text}\n\n{rules} Check the text.",
            "{text}\n\nThese sentences are said to describe the table below. {rules} Which of them are false, and "
            "what is missing?\n\n{table}",
            "Proofread before print. {rules}\n\nTable:\n{table}\n\nDescription: {text}",
            "{table}\n\nAn automatic summary of it reads: {text} {rules} Is it right?",
            "Compare the words with the data. Words: {text}\n\nData:\n{table}\n\n{rules}",
        ),
        (
            "The newsletter says: {text}\n\nIts source:\n\n{table}\n\nFind what is wrong and who is forgotten. {rules}",
            "{rules} Hold the following account against its table. {text}\n\n{table}",
        ),
    ),
    Template(
        "messy-table",
        CATEGORY,
        messy_table,
        (
            "Sum up the sales of {company} by region:\n\n{table}",
            "{table}\n\nThat is how {company} sent its sales. What do they come to?",
            "The sales sheet of {company} needs a summary in figures.\n\n{table}",
            "Describe these data of {company} by the figures below, taking care of what is not comparable.\n\n{table}",
            "For the board of {company}: total, growth on a comparable basis, and where growth was.\n\n{table}",
        ),
        (
            "{company} reports by region. Condense it.\n\n{table}",
            "Someone typed the regional sales of {company} into a mail:\n\n{table}\n\nGive the key data.",
        ),
    ),
    Template(
        "segment-notes",
        CATEGORY,
        segment_notes,
        (
            "Segment sales of {company}:\n\n{table}\n\nNotes: {notes}\n\n{rules} How did the company grow?",
            "{rules}\n\n{company} shows these segments.\n\n{table}\n\n{notes}",
            "What is organic growth at {company}? {notes} {rules}\n\n{table}",
            "{table}\n\nSo much for the segments of {company}. From the notes: {notes} {rules}",
            "Reconcile the segments of {company} with its consolidated sales. {notes}\n\n{table}\n\n{rules}",
        ),
        (
            "Strip the growth of {company} of everything that is not its own.\n\n{table}\n\n{notes} {rules}",
            "{notes} These notes go with the following segment table of {company}.\n\n{table}\n\n{rules}",
        ),
    ),
)
