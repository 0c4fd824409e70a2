"""Mutants that no test can notice, each with the reason; they are played and counted, and told apart.

A row is named by module, function and change, not by its line; where a function has the same change more than once, the
second is named with ``(2)`` behind it. What can be noticed belongs into a test, and what is
redundant out of the code: this table is for the rest.
"""

from __future__ import annotations

from tests.mutation.mutants import Mutant

SLACK = "the factor of 1e-9 beside it keeps the two from being equal"
GLUED = "no number begins where another one ends"
UNREAD = "it keeps a division by 0 from being done whose result is not read"
SIZE = "only the size of the sum is read"
POWERS = "from 1e10 on both forms are the same power of ten"
FLAT = "who never held anything has no exposure and no costs"
CENTRED = "it moves all windows alike, and their mean is taken off"

EQUIVALENT: dict[tuple[str, str, str], str] = {
    ("evaluators.answers.dates", "written_dates", "True -> False"): "every form has as many groups as letters",
    (
        "evaluators.answers.doubts",
        "not_one_value",
        "fitting[0].start < product.end() -> fitting[0].start <= product.end()",
    ): GLUED,
    (
        "evaluators.answers.doubts",
        "not_one_value",
        "product.start() < fitting[0].end -> product.start() <= fitting[0].end",
    ): GLUED,
    ("evaluators.answers.number", "_noted", "note.end <= quantity.start -> note.end < quantity.start"): (
        "a note before the only number is then applied twice, to the effect of once"
    ),
    (
        "evaluators.answers.number",
        "_same",
        "gap <= max(one.half_digit, other.half_digit) * (1 + 1e-09) -> gap < max(one.half_digit, other.half_digit) "
        "* (1 + 1e-09)",
    ): SLACK,
    ("evaluators.answers.statement", "_labelled", "place > end -> place >= end"): "a line ends where no word begins",
    (
        "evaluators.synthetic.scoring",
        "read_assumption",
        "gap.low * (1 - 1e-09) <= number <= gap.high * (1 + 1e-09) -> gap.low * (1 - 1e-09) < number <= gap.high "
        "* (1 + 1e-09)",
    ): SLACK,
    (
        "evaluators.synthetic.scoring",
        "read_assumption",
        "gap.low * (1 - 1e-09) <= number <= gap.high * (1 + 1e-09) -> gap.low * (1 - 1e-09) <= number < gap.high "
        "* (1 + 1e-09)",
    ): SLACK,
    (
        "evaluators.synthetic.scoring",
        "_is_among",
        "known[place] <= number * (1 + 1e-09) -> known[place] < number * (1 + 1e-09)",
    ): SLACK,
    (
        "engine.scoring.role",
        "_standard_error",
        "influence.get(row.family, 0.0) + share -> influence.get(row.family, 0.0) - share",
    ): "the sum with the other sign, and it is squared",
    ("evaluators.gdpval.rubric", "criteria", "criterion.weight > 0 -> criterion.weight >= 0"): "no weight is 0",
    ("evaluators.casebook.answer", "Forecast._widest", "60 -> 61"): "the search has converged",
    ("evaluators.casebook.answer", "Forecast._widest", "2 -> 3"): "the search finds the same from farther away",
    ("evaluators.casebook.answer", "Forecast._widest", "3 -> 4"): "the search finds the same in smaller steps",
    (
        "evaluators.casebook.answer",
        "Forecast.credit",
        "0 < deviation < math.inf -> 0 < deviation <= math.inf",
    ): "an infinite deviation has no score, which earns nothing too",
    ("evaluators.casebook.repeated", "Repeated.score", "value >= PASS_MARK -> value > PASS_MARK"): (
        "no float comes to 50: of the two shares next to 0.7 one lies below it and the other above"
    ),
    ("evaluators.crypto.equivalent", "forecaster_worth", "1.0 -> 2.0"): UNREAD,
    (
        "evaluators.crypto.equivalent",
        "forecaster_worth",
        "0.0 -> 1.0 (2)",
    ): "a bar without deviation is forecast with 0",
    ("evaluators.crypto.equivalent", "equivalent_ic", "value > 0.0 -> value >= 0.0"): "the curve begins with 0 at 0",
    ("evaluators.crypto.knowledge", "banded", "1 -> 2"): "zeros of any shape become those of the forecast",
    ("evaluators.crypto.knowledge", "credited", "1.0 -> 2.0"): FLAT,
    (
        "evaluators.crypto.report",
        "plain_metrics",
        "trades > 0.0 -> trades >= 0.0",
    ): "who has no trade has won none of 1",
    ("evaluators.crypto.report", "plain_metrics", "True -> False"): "every measure has one value an episode",
    ("evaluators.crypto.skill", "moves", "1.0 -> 2.0 (2)"): UNREAD,
    ("evaluators.crypto.skill", "scales", "1.0 -> 2.0"): UNREAD,
    ("evaluators.crypto.skill", "shares", "earned += timing[bar - 1] -> earned -= timing[bar - 1]"): SIZE,
    (
        "evaluators.crypto.skill",
        "shares",
        "paid += (1.0 - share[bar - 1]) * timing[bar - 1] -> paid -= (1.0 - share[bar - 1]) * timing[bar - 1]",
    ): SIZE,
    ("evaluators.crypto.skill", "judge", "1.0 -> 2.0 (2)"): "without costs nothing is owed that could be collected",
    ("evaluators.crypto.skill", "judge", "1.0 -> 2.0 (3)"): CENTRED,
    (
        "evaluators.crypto.skill",
        "judge",
        "best / best.mean() - 1.0 -> best / best.mean() + 1.0",
    ): CENTRED,
    ("evaluators.crypto.verdict", "Realised._worth", "1.0 -> 2.0 (2)"): UNREAD,
    ("evaluators.crypto.verdict", "Realised.skill", "1.0 -> 2.0"): FLAT,
    ("evaluators.prbench.dataset", "mark", "criterion.weight > 0 -> criterion.weight >= 0"): "no weight is 0",
    ("evaluators.published_bank", "draw", "True -> False"): "the names are made of the rows, one for one",
    (
        "evaluators.published_bank",
        "_shown",
        "abs(value) < 1000000000000000.0 -> abs(value) <= 1000000000000000.0",
    ): POWERS,
    ("evaluators.published_bank", "_shown", "1000000000000000.0 -> 1000000000000001.0"): POWERS,
}


def key(mutant: Mutant) -> tuple[str, str, str]:
    """Return how the table names a mutant."""
    change = mutant.name.partition(" ")[2]
    return mutant.module, mutant.function, f"{change} ({mutant.again + 1})" if mutant.again else change
