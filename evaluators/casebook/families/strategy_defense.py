"""Strategy Defense: a backtest is attacked, truly or falsely; each objection is met with the figure it turns on."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta
from statistics import NormalDist

from evaluators import names
from evaluators.casebook.answer import Figure, Verdict
from evaluators.casebook.family import Drawn, Template, Turn
from evaluators.contract import Difficulty
from evaluators.exhibit import percent, show

CATEGORY = "Strategy Defense"
RULING = ("stands", "fails")
EULER = 0.5772156649015329
_REPLIES = (
    "A colleague objects: {claim} Does the objection stand? {ask}",
    'The risk committee writes: "{claim}" {ask} Say whether that objection stands.',
    '"{claim}" With these words an investor withdraws. {ask} Is the objection right?',
    "Next point, from the reviewer: {claim} {ask} Rule on it.",
    "{claim} So much for the backtest, says a competitor. Does this stand or fail? {ask}",
    "On the last page of the due diligence one reads: {claim} Check it. {ask}",
)


def _ruling(*, stands: bool) -> Verdict:
    return Verdict(
        "objection",
        "whether the objection stands; one with a wrong number fails",
        ("stands" if stands else "fails",),
        RULING,
    )


def _objection(rng: random.Random, claim: str, ask: str, figure: Figure, *, stands: bool) -> Turn:
    return Turn(rng.choice(_REPLIES).format(claim=claim, ask=ask), (figure, _ruling(stands=stands)))


def _beside(rng: random.Random, value: float, *, above: bool) -> float:
    """Return a threshold on the asked side of a value, far enough from it and not so far that it gives it away."""
    distance = max(abs(value), 0.15) * rng.uniform(0.12, 0.6)
    return value + distance if above else value - distance


def costs_and_trials(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Defend a Sharpe ratio against costs, the number of trials and the best periods."""
    periods_a_year, word = rng.choice(((12, "month"), (52, "week"))) if difficulty != "easy" else (12, "month")
    years = rng.randint(4, 14)
    count = years * periods_a_year
    sharpe = rng.uniform(0.7, 2.2)
    deviation = round(rng.uniform(0.008, 0.035), 4)
    mean = round(sharpe * deviation / math.sqrt(periods_a_year), 5)
    gross = mean / deviation * math.sqrt(periods_a_year)
    turnover, cost = rng.randint(20, 240) / 100, rng.randint(3, 30)
    two_way = 2 if difficulty == "expert" else 1
    spent = two_way * turnover * cost / 1e4
    net = (mean - spent) / deviation * math.sqrt(periods_a_year)
    facts = (
        f"{count} {word}s, mean excess return {100 * mean:.3f}% a {word}, standard deviation {100 * deviation:.2f}% a "
        f"{word}, "
        + (
            f"{100 * turnover:.0f}% of the capital traded a {word}"
            if two_way == 1
            else f"{100 * turnover:.0f}% of the capital replaced a {word} (sold, and bought anew)"
        )
    )
    stands = rng.random() < 0.5
    bar = _beside(rng, net, above=stands)
    later = [
        _objection(
            rng,
            f"Trading costs {cost} bp of every amount bought or sold. After that the annual Sharpe ratio is below "
            f"{bar:.2f}.",
            "Give the Sharpe ratio after these costs, a year's; costs change no deviation.",
            Figure("net_sharpe", "annual Sharpe ratio after costs", net, 0.005),
            stands=net < round(bar, 2),
        )
    ]
    trials = rng.randint(8, 900)
    normal = NormalDist()
    lucky = math.sqrt(periods_a_year / count) * (
        (1 - EULER) * normal.inv_cdf(1 - 1 / trials) + EULER * normal.inv_cdf(1 - 1 / (trials * math.e))
    )
    if difficulty != "easy":
        later.append(
            _objection(
                rng,
                f"You tried {trials} variants and show the best. The best of that many worthless ones would be "
                "expected to have a higher annual Sharpe ratio before costs than yours.",
                f"Give the annual Sharpe ratio to be expected of the best of {trials} independent worthless variants, "
                "each normal with mean 0 and the standard error that a worthless Sharpe ratio has over this sample, "
                "by (1 - c) Z(1 - 1/N) + c Z(1 - 1/(N e)) standard errors, where Z is the normal quantile and c "
                "Euler's constant.",
                Figure("lucky_sharpe", "annual Sharpe ratio expected of the best worthless variant", lucky, 0.005),
                stands=lucky > gross,
            )
        )
    dropped = [round(mean + deviation * rng.uniform(1.8, 3.6), 4) for _ in range(rng.randint(3, 6))]
    rest = (mean * count - math.fsum(dropped)) / (count - len(dropped)) * periods_a_year
    if difficulty == "expert":
        stands = rng.random() < 0.5
        bar = _beside(rng, 100 * rest, above=stands)
        later.append(
            _objection(
                rng,
                f"Everything came from the {len(dropped)} best {word}s, which brought "
                f"{', '.join(percent(value) for value in dropped)}. Without them the mean excess return is below "
                f"{bar:.1f}% a year.",
                f"Give the mean excess return of the other {word}s before costs, times {periods_a_year}.",
                Figure(
                    "mean_of_the_others_percent",
                    "their mean excess return times the periods of a year, in percent",
                    100 * rest,
                    0.02,
                ),
                stands=100 * rest < round(bar, 1),
            )
        )
    return Drawn(
        {"strategy": names.strategy(rng), "facts": facts, "firm": names.company(rng)},
        (Figure("sharpe", "annual Sharpe ratio before costs", gross, 0.005),),
        tuple(later),
        {
            "mean": mean,
            "deviation": deviation,
            "count": count,
            "periods": periods_a_year,
            "turnover": turnover,
            "cost": cost,
            "sides": two_way,
            "trials": trials,
            "dropped": dropped,
        },
    )


def publication_lag(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Find the trades that used what was not out yet; at expert by the hour of publication and over weekends."""
    count = {"easy": 6, "hard": 9, "expert": 12}[difficulty]
    trades, rows = [], []
    for number in range(count):
        end = date(rng.randint(2012, 2024), rng.choice((3, 6, 9, 12)), 28)
        published = end + timedelta(days=rng.randint(15, 60))
        published += timedelta(days=max(0, published.weekday() - 4) and 7 - published.weekday())
        after_close = difficulty == "expert" and rng.random() < 0.5
        usable = published + timedelta(days=1) if after_close else published
        usable += timedelta(days=(7 - usable.weekday()) if usable.weekday() > 4 else 0)
        early = rng.random() < 0.35
        traded = usable + timedelta(days=-rng.randint(1, 20) if early else rng.randint(0, 12))
        if difficulty == "expert" and after_close and rng.random() < 0.5:
            traded = published
        while traded.weekday() > 4:
            traded += timedelta(days=-1 if traded < usable else 1)
        result = rng.randint(-380, 520)
        looked_ahead = traded < usable
        trades.append({"bp": result, "ahead": looked_ahead})
        row = [
            f"trade {number + 1}",
            f"{end}",
            f"{published}" + (" after the close" if after_close else " before the open"),
        ]
        rows.append(
            [*(row if difficulty == "expert" else [row[0], row[1], f"{published}"]), f"{traded}", f"{result:+d} bp"]
        )
    clean = [t["bp"] for t in trades if not t["ahead"]]
    if not 2 <= len(clean) < count:
        return publication_lag(rng, difficulty)
    mean_all, mean_clean = math.fsum(t["bp"] for t in trades) / count, math.fsum(clean) / len(clean)
    best = max(clean)
    without_best = (math.fsum(clean) - best) / (len(clean) - 1)
    stands = rng.random() < 0.5
    bar = round(_beside(rng, mean_clean, above=stands))
    again = round(_beside(rng, without_best, above=rng.random() < 0.5))
    bad = count - len(clean)
    said = bad if rng.random() < 0.5 else bad + rng.choice((-1, 1, 2))
    later = [
        _objection(
            rng,
            f"{said} of the {count} trades were entered before the figures that they rest on could be used.",
            "Give the average return of the trades that were not.",
            Figure(
                "clean_average_bp",
                "average return in basis points of the trades entered when the figures could be used",
                mean_clean,
                0.06,
            ),
            stands=said == bad,
        ),
    ]
    if difficulty != "easy":
        later.append(
            _objection(
                rng,
                f"Without the best of the remaining trades their average is below {again} bp.",
                "Give that average: of the trades that looked ahead in nothing, less the best of them.",
                Figure("average_without_best_bp", "that average in basis points", without_best, 0.06),
                stands=without_best < again,
            )
        )
    if difficulty == "expert":
        compounded = math.prod(1 + value / 1e4 for value in clean) - 1
        later.append(
            _objection(
                rng,
                "An average is not what one earns. Compounded, the remaining trades bring less than "
                f"{bar * len(clean)} bp.",
                "Give the compounded return of the trades that looked ahead in nothing, one after the other at full "
                "capital.",
                Figure("compounded_bp", "compounded return in basis points", 1e4 * compounded, 0.3),
                stands=1e4 * compounded < bar * len(clean),
            )
        )
    rules = "Figures can be used from the day of their publication on."
    columns = ["trade", "period end", "published", "entered at the close of", "return"]
    if difficulty == "expert":
        rules = (
            "Trades are entered at the close. Figures published before the open can be used on that day, those "
            "published after the close on the next weekday."
        )
    return Drawn(
        {"strategy": names.strategy(rng), "table": show(rng, columns, rows), "rules": rules},
        (Figure("average_bp", "average return of all trades in basis points", mean_all, 0.06),),
        tuple(later),
        {"trades": trades},
    )


def benchmark_and_halves(rng: random.Random, difficulty: Difficulty) -> Drawn:
    """Defend a return against its benchmark, its second half and its leverage."""
    years = rng.randint(6, 18)
    beta, market, rate = rng.randint(25, 160) / 100, rng.randint(40, 110) / 1000, rng.randint(5, 40) / 1000
    alpha = rng.randint(-30, 70) / 1000
    total = round(rate + beta * (market - rate) + alpha, 4)
    alpha = total - rate - beta * (market - rate)
    market_sd = rng.randint(110, 220) / 1000
    own_sd = round(math.hypot(beta * market_sd, rng.uniform(0.02, 0.10)), 3)
    first = round(total + rng.uniform(-0.05, 0.05), 4)
    second = 2 * total - first
    statistic = (second - rate) / (own_sd / math.sqrt(years / 2))
    m_squared = rate + (total - rate) * market_sd / own_sd - market
    stands = rng.random() < 0.5
    bar = _beside(rng, statistic, above=stands)
    facts = (
        f"{2 * (years // 2) if years % 2 else years} years, {percent(total)} a year at a volatility of "
        f"{percent(own_sd, 1)} and a beta of {beta:.2f}; the index brought {percent(market, 1)} a year at "
        f"{percent(market_sd, 1)}, cash {percent(rate, 1)}"
    )
    if years % 2:
        return benchmark_and_halves(rng, difficulty)
    if difficulty != "easy":
        facts += f"; the first half of the time brought {percent(first)} a year"
    later = [
        _objection(
            rng,
            "All of this is leverage: at the index's volatility the strategy would have earned less than the index.",
            "Give the strategy's return, borrowed or lent at the cash rate to the index's volatility, less the "
            "index's.",
            Figure("m_squared_excess_percent", "that difference in percentage points a year", 100 * m_squared, 0.02),
            stands=m_squared < 0,
        )
    ]
    if difficulty != "easy":
        later.append(
            _objection(
                rng,
                f"The second half is weak: its excess return over cash has a t-statistic below {bar:.2f}.",
                f"Give this t-statistic. The return of all {years} years is the mean of the two halves; the "
                "volatility was the same in both, and years are independent.",
                Figure(
                    "t_of_second_half", "t-statistic of the second half's mean excess return over cash", statistic, 0.01
                ),
                stands=statistic < round(bar, 2),
            )
        )
    if difficulty == "expert":
        fee, share = rng.randint(50, 200) / 1e4, rng.randint(10, 25) / 100
        left = total - fee - share * max(total - fee - rate, 0.0) - rate - beta * (market - rate)
        later.append(
            _objection(
                rng,
                f"Investors pay {1e4 * fee:.0f} bp a year, and {100 * share:.0f}% of what is left above cash. After "
                "that no alpha remains.",
                "Give the alpha after these fees, going by the mean return; beta is as before.",
                Figure("alpha_after_fees_percent", "alpha after fees in percentage points a year", 100 * left, 0.02),
                stands=left <= 0,
            )
        )
    return Drawn(
        {"strategy": names.strategy(rng), "facts": facts, "firm": names.company(rng)},
        (Figure("alpha_percent", "alpha against the index by beta, in percentage points a year", 100 * alpha, 0.02),),
        tuple(later),
        {
            "years": years,
            "beta": beta,
            "market": market,
            "rate": rate,
            "total": total,
            "market_sd": market_sd,
            "own_sd": own_sd,
            "first": first,
        },
    )


_OF_RECORDS = (
    "{firm} presents a {strategy} strategy. Backtest: {facts}. You defend it where it deserves it. First, the "
    "headline figure.",
    "You are asked to stand by the backtest of a {strategy} strategy at {firm}: {facts}. Objections will follow one "
    "by one. Begin with the figure asked for.",
    "Backtest of {firm} ({strategy}): {facts}. State its main figure; then the reviewers have the floor.",
    "In front of the investment committee of {firm} lies a {strategy} strategy with {facts}. What does it come to?",
    "{facts}: these are the results of a {strategy} strategy that {firm} wants to fund. Compute the figure below, and "
    "be ready to answer for it.",
)
_OF_RECORDS_HELD_BACK = (
    "A pitch from {firm}. Style: {strategy}. Record: {facts}. Start with the number, criticism comes next.",
    "Suppose that you run the {strategy} book of {firm}, whose simulation shows {facts}. Condense it into the figure "
    "below.",
)
TEMPLATES = (
    Template("costs-and-trials", CATEGORY, costs_and_trials, _OF_RECORDS, _OF_RECORDS_HELD_BACK),
    Template(
        "publication-lag",
        CATEGORY,
        publication_lag,
        (
            "The trades of a {strategy} strategy that buys on quarterly figures:\n\n{table}\n\n{rules} First, what "
            "did the trades bring on average?",
            "{rules} Trades of a {strategy} backtest:\n\n{table}\n\nBegin with the average; objections follow.",
            "You answer for this {strategy} backtest.\n\n{table}\n\n{rules} What is its average trade?",
            "{table}\n\nThis log belongs to a {strategy} strategy built on company reports. {rules} State the average "
            "return.",
            "An auditor goes through a {strategy} backtest with you. {rules} The log:\n\n{table}\n\nAs a start he "
            "wants the average of all trades.",
        ),
        (
            "Log of simulated trades ({strategy}, on reported figures). {rules}\n\n{table}\n\nMean trade, please; "
            "then we go into it.",
            "Before the questions come: which average do these {strategy} trades show?\n\n{table}\n\n{rules}",
        ),
    ),
    Template("benchmark-and-halves", CATEGORY, benchmark_and_halves, _OF_RECORDS, _OF_RECORDS_HELD_BACK),
)
