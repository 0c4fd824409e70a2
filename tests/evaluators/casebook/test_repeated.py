"""Decisions taken again and again: what is knowable is paid, luck is not, and the expected gain is the true one."""

from __future__ import annotations

import functools
import json
import math
import random
import statistics
from collections.abc import Mapping
from typing import Any

import pytest

from evaluators import registry
from evaluators.answers import Refusal
from evaluators.casebook.bank import TEMPLATES
from evaluators.casebook.repeated import NOTHING_BELOW, PASS_MARK, Repeated
from evaluators.casebook.shares import Choice, Shares
from evaluators.contract import DIFFICULTIES, Case, Difficulty
from evaluators.validity import MOST_FOR_NOTHING, converse, findings
from tests.evaluators.casebook import policies
from tests.evaluators.casebook.second_routes.trader_allocation import total

DATASET = registry.get("casebook")
FAMILIES = ("trader-allocation", "unknown-odds")
LARGEST_MESSAGE = 6_000


@functools.cache
def drawn(name: str, level: str, count: int, seed: int = 1, wordings: str = "usual") -> list[Case]:
    options = {"task_types": [name], "difficulties": [level], "wordings": wordings}
    return list(DATASET.draw(seed=seed, count=count, options=options))


def mean(name: str, level: str, rule: policies.Rule, count: int, seed: int = 1) -> float:
    return statistics.fmean(policies.earned(case, rule, str(seed)) for case in drawn(name, level, count, seed))


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_who_knows_the_law_has_100_in_every_form_and_who_says_nothing_0(name: str, level: str) -> None:
    cases = [*drawn(name, level, 5), *drawn(name, level, 2, wordings="held_back")]
    assert len({case.task.wording for case in cases}) == 7
    assert [row for row in findings("analytical_reasoning", cases) if not row.ok] == []


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_messages_are_small_and_there_are_twelve(name: str, level: str) -> None:
    for case in drawn(name, level, 15):
        session = case.open()
        body: Any = session.opening()
        sizes = []
        while body is not None:
            assert (body["turn"], body["turns"]) == (len(sizes) + 1, 12)
            sizes.append(len(json.dumps(body, separators=(",", ":"))))
            body = session.reply("later")
        assert len(sizes) == 12 and max(sizes) < LARGEST_MESSAGE


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_knowing_nothing_and_following_the_last_winner_earn_next_to_nothing(name: str, level: str) -> None:
    means = {words: mean(name, level, rule, 12) for words, rule in policies.KNOW_NOTHING.items()}
    # twelve picks for good may hold a lucky one, all rules together not so many
    assert statistics.fmean(means.values()) <= MOST_FOR_NOTHING, means
    assert all(value <= MOST_FOR_NOTHING for words, value in means.items() if "for good" not in words), means


@pytest.mark.campaign
@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_over_two_hundred_seeds_no_luck_is_paid(name: str, level: str) -> None:
    cases = [case for seed in range(200) for case in DATASET.draw(
        seed=seed, count=1, options={"task_types": [name], "difficulties": [level]})]  # fmt: skip
    for words, rule in policies.KNOW_NOTHING.items():
        scores = [policies.earned(case, rule, words) for case in cases]
        assert statistics.fmean(scores) <= MOST_FOR_NOTHING, words


@pytest.mark.campaign
@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_the_luckiest_plan_that_looks_at_nothing_earns_at_most_one_point(name: str, level: str) -> None:
    """Any number of names, any share, the same for as long as they stay; the best of these plans by hindsight."""
    rng = random.Random(5)
    scores: dict[tuple[int, float], list[float]] = {}
    for case in drawn(name, level, 150, seed=3):
        session = case.open()
        assert isinstance(session, Repeated)
        golds = [turn.shares.gold for turn in session.turns if turn.shares is not None]
        best, count = math.fsum(session.law.gains(golds)), len(golds[0])
        for size in range(1, 6):
            for share in (0.06, 0.10, 0.14, 0.18, 0.22, 0.26):
                if size * share > 0.9:
                    continue
                for _ in range(4):
                    halves = [rng.sample(range(count), size) for _ in range(2)]
                    plan = [tuple(share * (n in half) for n in range(count)) for half in halves for _ in range(6)]
                    reached = math.fsum(session.law.gains(plan)) / best
                    value = 100 * max(0.0, (reached - NOTHING_BELOW) / (1 - NOTHING_BELOW))
                    scores.setdefault((size, share), []).append(value)
    means = {plan: statistics.fmean(values) for plan, values in scores.items()}
    assert max(means.values()) <= MOST_FOR_NOTHING, max(means.items(), key=lambda item: item[1])


LEARNT = {"easy": (55.0, 85.0), "hard": (55.0, 85.0), "expert": (15.0, 50.0)}
"""Between which the mean of the better learner lies."""


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_bayesian_learner_earns_more_than_rules_without_learning_and_less_than_everything(
    name: str, level: str
) -> None:
    least, most = LEARNT[level]
    learnt = mean(name, level, policies.WARY if level == "expert" else policies.LEARNER, 20)
    assert least < learnt < most
    for rule in (policies.all_alike(0.5), policies.best_record, policies.last_winner(0.25)):
        assert mean(name, level, rule, 20) < learnt - 10
    if (name, level) in {("trader-allocation", "hard"), ("trader-allocation", "expert"), ("unknown-odds", "expert")}:
        # a record as it stands holds the market, what has changed, and luck
        assert mean(name, level, policies.record_as_it_is, 20) < learnt - 8


DAYS = 8_000


def days_of_copying(i: Mapping[str, Any], stretch: int, shares: Choice, rng: random.Random) -> list[float]:
    """Return what one day after the other brought, day by day from the told law of returns."""
    returns = []
    for _ in range(DAYS):
        market, earned = rng.gauss(0, i["market_deviation"]), 0.0
        records = i["records"][stretch // i["stay"]]
        for share, skill, (beta, deviation) in zip(shares, i["skills"][stretch], records, strict=True):
            if share:
                earned += share * (skill + beta * market + rng.gauss(0, deviation)) - i["slippage"] * share * share
        returns.append(earned)
    return returns


@pytest.mark.parametrize("level", DIFFICULTIES)
def test_the_expected_return_of_a_stretch_is_what_days_bring_on_average(level: Difficulty) -> None:
    template = TEMPLATES["trader-allocation"]
    for seed in range(2):
        rng = random.Random(f"{level}/{seed}")
        case, turns = template.case(rng, level, template.wordings[0])
        i, law = case.inputs, case.law
        assert law is not None
        choices = [tuple(rng.choice((0.0, 0.05, 0.2)) for _ in range(10)) for _ in turns]
        gains, fees = law.gains(choices), 0.0
        for stretch in (0, 5, 7):
            brought = days_of_copying(i, stretch, choices[stretch], rng)
            before = choices[stretch - 1] if stretch % i["stay"] else (0.0,) * 10
            fees = i["fee"] * sum(abs(a - b) for a, b in zip(choices[stretch], before, strict=True))
            error = statistics.stdev(brought) / math.sqrt(DAYS)
            assert abs((gains[stretch] + fees) / i["days"] - statistics.fmean(brought)) < 4 * error
        paths = list(zip(*choices[:6], strict=True))
        skills = list(zip(*i["skills"][:6], strict=True))
        assert math.fsum(gains[:6]) == pytest.approx(
            sum(total(path, own, i["days"], i["slippage"], i["fee"]) for path, own in zip(paths, skills, strict=True))
        )


PLAYS = 20_000


@pytest.mark.parametrize("level", DIFFICULTIES)
def test_the_expected_growth_is_what_plays_bring_on_average(level: Difficulty) -> None:
    template = TEMPLATES["unknown-odds"]
    rng = random.Random(level)
    case, turns = template.case(rng, level, template.wordings[0])
    i, law = case.inputs, case.law
    assert law is not None
    choices = [tuple(rng.uniform(0.03, 0.11) for _ in range(8)) for _ in turns]
    gains = law.gains(choices)
    for stretch in (0, 3, 11):
        grown = []
        for _ in range(PLAYS):
            draws = [rng.random() for _ in range(8)]
            if i["pairs"][stretch] and rng.random() < i["together"][stretch]:
                one, other = i["pairs"][stretch]
                draws[one] = draws[other]
            wealth = 1.0
            terms = zip(i["chances"][stretch], i["wins"][stretch], i["losses"][stretch], strict=True)
            for stake, draw, (chance, win, loss) in zip(choices[stretch], draws, terms, strict=True):
                wealth += stake * win if draw < chance else -stake * loss
            grown.append(math.log(wealth))
        error = statistics.stdev(grown) / math.sqrt(PLAYS)
        assert abs(gains[stretch] / i["plays"] - statistics.fmean(grown)) < 4 * error


def z_score(errors: list[float], variances: list[float]) -> float:
    """Return by how many standard errors a sum of independent errors is off."""
    return abs(math.fsum(errors)) / math.sqrt(math.fsum(variances))


@pytest.mark.parametrize("level", DIFFICULTIES)
def test_what_traders_show_has_the_skill_of_the_stretch_before(level: Difficulty) -> None:
    template = TEMPLATES["trader-allocation"]
    errors: dict[str, list[float]] = {"skilled": [], "others": [], "just changed": []}
    variances: dict[str, list[float]] = {kind: [] for kind in errors}
    for seed in range(30):
        case, turns = template.case(random.Random(f"shown/{seed}"), level, template.wordings[0])
        i = case.inputs
        for number, turn in enumerate(turns):
            assert turn.shares is not None
            first = number % i["stay"] == 0
            skills, next_ = i["skills"][number if first else number - 1], i["skills"][number]
            for n, name in enumerate(turn.shares.among):
                returns = policies.numbers_of(name, turn.text)
                assert len(returns) == (40 if first else 10)
                beta, deviation = i["records"][number // i["stay"]][n]
                if beta > 0.8:
                    # the market, common to all, would drown what is tested
                    continue
                kind = "just changed" if skills[n] != next_[n] else "skilled" if skills[n] > 0 else "others"
                # towards the skill before the change, so that rises and falls add up
                sign = math.copysign(1.0, skills[n]) if kind == "just changed" else 1.0
                errors[kind].append(sign * (statistics.fmean(returns) - skills[n]))
                variances[kind].append(((beta * i["market_deviation"]) ** 2 + deviation**2 + 1 / 12) / len(returns))
    assert bool(errors["just changed"]) == (level == "expert")
    for kind in errors:
        if errors[kind]:
            assert z_score(errors[kind], variances[kind]) < 4, kind


@pytest.mark.parametrize("level", ["hard", "expert"])
def test_what_strategies_show_has_the_chances_of_the_stretch_before_and_a_pair_agrees_as_often_as_it_should(
    level: Difficulty,
) -> None:
    template = TEMPLATES["unknown-odds"]
    won: list[float] = []
    won_variances: list[float] = []
    agreed: list[float] = []
    agreed_variances: list[float] = []
    for seed in range(25):
        case, turns = template.case(random.Random(f"shown/{seed}"), level, template.wordings[0])
        i = case.inputs
        for number, turn in enumerate(turns):
            assert turn.shares is not None
            stretch = number if number % 6 == 0 else number - 1
            chances, pair, together = i["chances"][stretch], i["pairs"][stretch], i["together"][stretch]
            rows = [policies.numbers_of(name, turn.text) for name in turn.shares.among]
            drift = [b - a for a, b in zip(i["chances"][stretch], i["chances"][stretch - stretch % 6 + 5], strict=True)]
            for chance, moves, row in zip(chances, drift, rows, strict=True):
                sign = -1.0 if moves < 0 else 1.0
                won.append(sign * (sum(row) - chance * len(row)))
                won_variances.append(chance * (1 - chance) * len(row))
            if pair:
                one, other = (chances[n] for n in pair)
                apart = one * other + (1 - one) * (1 - other)
                likely = together * (1 - abs(one - other)) + (1 - together) * apart
                same = sum(a == b for a, b in zip(*(rows[n] for n in pair), strict=True))
                agreed.append(same - likely * len(rows[0]))
                agreed_variances.append(likely * (1 - likely) * len(rows[0]))
    assert z_score(won, won_variances) < 4
    assert bool(agreed) == (level == "expert") and (not agreed or z_score(agreed, agreed_variances) < 4)


SHARES = Shares("shares", "the share", ("Ann", "Bo", "Cy"), 1.0, (0.5, 0.25, 0.0))


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ('{"shares": {"Ann": 0.5, "Bo": 0.25}}', (0.5, 0.25, 0.0)),
        ('{"why": "skill", "shares": {"Cy": 1}}', (0.0, 0.0, 1.0)),
        ('{"shares": {"Ann": 0.3333335, "Bo": 0.3333334, "Cy": 0.3333333}}', (0.3333335, 0.3333334, 0.3333333)),
        ('{"shares": {}}', (0.0, 0.0, 0.0)),
        ("all cash", None),
        ("{}", None),
        ('{"shares": 0.5}', None),
        ('{"shares": [0.5, 0.25, 0]}', None),
        ('{"shares": {"Dee": 0.1}}', "no such name"),
        ('{"shares": {"Ann": "0.1"}}', "must be a JSON number"),
        ('{"shares": {"Ann": true}}', "must be a JSON number"),
        ('{"shares": {"Ann": -0.1}}', "must lie between 0 and 1"),
        ('{"shares": {"Ann": 0.6, "Bo": 0.5}}', "add up to 1.1"),
        ('{"shares": {"Ann": 1e308, "Bo": 1e308}}', "must lie between"),
    ],
)
def test_shares_are_read_or_refused_as_a_whole(reply: str, read: Choice | str | None) -> None:
    found = SHARES.read(reply)
    if isinstance(read, tuple):
        assert found == read
    else:
        assert isinstance(found, Refusal) and (read or "") in found.reason


@pytest.mark.parametrize("name", FAMILIES)
def test_a_reply_that_cannot_be_read_stakes_nothing_in_its_stretch_alone_and_the_reason_says_so(name: str) -> None:
    (case,) = drawn(name, "easy", 1)
    whole, replies = converse(case)
    left = iter([*replies[:4], "I hold on to what I have.", *replies[5:]])
    score, _ = converse(case, lambda body: next(left))
    rounds = score.details["rounds"]
    assert rounds[4]["given"] == {} and rounds[4]["gain"] == 0.0 and "nothing staked in round 5" in score.reason
    best = [each["best_gain"] for each in rounds]
    assert [each["gain"] for each in rounds[:4] + rounds[5:]] == pytest.approx(best[:4] + best[5:])
    reached = 1 - best[4] / sum(best)
    assert score.value == pytest.approx(100 * (reached - NOTHING_BELOW) / (1 - NOTHING_BELOW)) and score.passed
    assert whole.details["share_of_best"] == pytest.approx(1.0)


def test_what_was_held_is_sold_at_the_fee_where_a_reply_is_missing() -> None:
    (case,) = drawn("trader-allocation", "expert", 1)
    session = case.open()
    session.opening()
    names = json.loads(session.oracle())["shares"]
    session.reply(json.dumps({"shares": dict.fromkeys(names, 0.05)}))
    rounds = session.score().details["rounds"]
    fee = float(case.task.question.split("Moving capital costs ")[1].split(" bp")[0])
    assert rounds[1]["gain"] == pytest.approx(-0.5 * fee) and rounds[2]["gain"] == 0.0


def test_too_much_is_worse_than_nothing() -> None:
    (case,) = drawn("unknown-odds", "easy", 1)

    def everything(body: Mapping[str, Any]) -> str:
        (first, *_) = body["answer_schema"]["properties"]["stakes"]["properties"]
        return json.dumps({"stakes": {first: 0.9}})

    score, _ = converse(case, everything)
    assert score.details["share_of_best"] < 0 and score.value == 0.0 and not score.passed


@pytest.mark.parametrize("part", [0.2, 0.45, 0.46, 0.8])
def test_a_part_of_the_best_shares_is_worth_what_the_parabola_says_and_half_of_the_way_is_passed(part: float) -> None:
    """Without a fee the expected return of ``c`` times the best shares is ``c (2 - c)`` of the best."""
    (case,) = drawn("trader-allocation", "easy", 1)
    session = case.open()
    body: Any = session.opening()
    while body is not None:
        best = json.loads(session.oracle())["shares"]
        body = session.reply(json.dumps({"shares": {name: part * share for name, share in best.items()}}))
    value = 100 * max(0.0, (part * (2 - part) - NOTHING_BELOW) / (1 - NOTHING_BELOW))
    assert session.score().value == pytest.approx(value, abs=1e-4)
    assert session.score().passed == (value >= PASS_MARK)


def test_nothing_that_is_shown_depends_on_what_was_chosen() -> None:
    for name in FAMILIES:
        (case,) = drawn(name, "expert", 1)
        one, other = case.open(), case.open()
        assert one.opening() == other.opening()
        for _ in range(11):
            assert one.reply(one.oracle()) == other.reply("nothing")


def test_strategies_that_hang_together_have_an_edge_as_often_as_others() -> None:
    """They are seen to win together; where that told of an edge, staking on them alone was worth a point."""
    edges = []
    for seed in range(300):
        rng = random.Random(f"pair {seed}")
        inputs = TEMPLATES["unknown-odds"].draw(rng, "expert").inputs
        for stretch in (0, 6):
            chances, wins, losses = (inputs[key][stretch] for key in ("chances", "wins", "losses"))
            edges += [chances[n] * wins[n] > (1 - chances[n]) * losses[n] for n in inputs["pairs"][stretch]]
    # four of eight have one; 1,200 draws, in twos
    assert abs(statistics.mean(edges) - 0.5) < 4 * 0.5 / math.sqrt(len(edges))
