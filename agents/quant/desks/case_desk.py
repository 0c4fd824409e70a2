"""Cases in prose with tables: each figure that is asked for by what it is, from the quantities that the text names.

The rules are the textbook's: means, Sharpe ratio, beta and alpha, Bayes, Kelly, ruin, walks that return to a line.
What a case adds to them (old estimates, seasons, limits on losses) is not looked for, so that harder cases go wrong.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from mcp_toolbox import Toolbox

from reading.exhibit import number, rows

MONTHS = ("January February March April May June July August September October November December").split()


def quantity(text: str, *patterns: str) -> float:
    """Return the number that the first fitting pattern finds; raises ``LookupError`` where there is none."""
    for pattern in patterns:
        if match := re.search(pattern.replace("#", r"\$?([-+]?\d[\d,]*(?:\.\d+)?)"), text):
            return float(match[1].replace(",", ""))
    raise LookupError(f"nothing like {patterns[0]!r} in the text")


def last_column(text: str) -> list[float]:
    """Return the numbers at the end of each row."""
    values = [value for cells in rows(text) if (value := number(cells[-1])) is not None]
    if not values:
        raise LookupError("no table in the text")
    return values


def mean(text: str) -> float:
    """Return the mean of the last column."""
    values = last_column(text)
    return math.fsum(values) / len(values)


def surprise(text: str) -> float:
    """Return what was reported over the mean estimate, less one, in percent."""
    return 100 * (quantity(text, r"#\s(?:a|per) share") / mean(text) - 1)


def average_cost(text: str) -> float:
    """Return the price of a share, weighed by the sizes."""
    lots = [(number(cells[-2]) or 0.0, number(cells[-1]) or 0.0) for cells in rows(text) if len(cells) > 2]
    return math.fsum(size * price for size, price in lots) / math.fsum(size for size, _ in lots)


def sharpe(text: str) -> float:
    """Return the annual Sharpe ratio of a mean and a deviation a period."""
    periods = 12 if re.search(r"\bmonths?\b", text) else 52
    per = quantity(text, "mean excess return #%")
    return per / quantity(text, "standard deviation #%") * math.sqrt(periods)


def alpha(text: str) -> float:
    """Return the return above cash that the beta does not explain."""
    own, beta = quantity(text, "#% a year"), quantity(text, "beta of #")
    market, cash = quantity(text, "index brought #%"), quantity(text, "cash #%")
    return own - cash - beta * (market - cash)


def bayes(text: str) -> float:
    """Return the belief in percent after one report, by Bayes' rule."""
    stated = [float(value) / 100 for value in re.findall(r"(\d+(?:\.\d+)?)%", text)]
    if len(stated) != 3:
        raise LookupError("a belief, and how likely the report is with and without it, are three percentages")
    prior, true, false = stated
    return 100 * prior * true / (prior * true + (1 - prior) * false)


def _odds(text: str) -> tuple[float, float, float]:
    """Return the chance to win, and what a win brings and a loss takes of the stake."""
    fee = _optional(text, "fee of #%", 0.0) / 100
    lost = _optional(text, "otherwise #%", 100.0) / 100
    return quantity(text, "probability of #%") / 100, quantity(text, "pays # times") * (1 - fee), lost


def _optional(text: str, pattern: str, default: float) -> float:
    try:
        return quantity(text, pattern)
    except LookupError:
        return default


def kelly(text: str) -> float:
    """Return the stake that grows fastest, in percent of capital."""
    chance, gain, lost = _odds(text)
    return 100 * (chance / lost - (1 - chance) / gain)


def kelly_growth(text: str) -> float:
    """Return the growth of the logarithm of capital in one bet, times 100."""
    (chance, gain, lost), stake = _odds(text), kelly(text) / 100
    return 100 * (chance * math.log1p(gain * stake) + (1 - chance) * math.log1p(-lost * stake))


def _start(text: str) -> float:
    amounts = [float(value.replace(",", "")) for value in re.findall(r"\$(\d[\d,]{4,})", text)]
    return min(amounts)


def kelly_years(text: str) -> float:
    """Return the years from the start to ten million at that growth."""
    times = quantity(text, "# (?:such trades|times|of them|bets|trades)? ?a year", r"\b# (?:\w+ ){0,3}a year")
    return math.log(1e7 / _start(text)) / (kelly_growth(text) / 100) / times


def _walk(text: str) -> tuple[float, float, float]:
    unit = quantity(text, "stakes #")
    amounts = {float(value.replace(",", "")) for value in re.findall(r"\$(\d[\d,]{4,})", text)} - {unit}
    chance = quantity(text, "probability of #%") / 100
    return (1 - chance) / chance, min(amounts) / unit, max(amounts) / unit


def success(text: str) -> float:
    """Return the chance in percent of the goal before ruin."""
    ratio, held, goal = _walk(text)
    return 100 * (1 - ratio**held) / (1 - ratio**goal)


def rounds(text: str) -> float:
    """Return the expected number of rounds until goal or ruin."""
    ratio, held, goal = _walk(text)
    drift = (1 - ratio) / (1 + ratio)
    return (goal * success(text) / 100 - held) / drift


def _fund(text: str) -> tuple[float, float]:
    drift, cash = quantity(text, "expected return of #%") / 100, quantity(text, "cash earns #%") / 100
    times, deviation = quantity(text, "holds # times"), quantity(text, "volatility of #%") / 100
    return cash + times * (drift - cash) - (times * deviation) ** 2 / 2, times * deviation


def fund_growth(text: str) -> float:
    """Return the growth of the logarithm of leveraged capital in percent a year."""
    return 100 * _fund(text)[0]


def fund_years(text: str) -> float:
    """Return the years until its median is ten million."""
    return math.log(1e7 / _start(text)) / _fund(text)[0]


def forecast(text: str) -> dict[str, float]:
    """Return mean and deviation of a random walk with drift, or of a series that returns to its line."""
    error = quantity(text, "deviation of #")
    shown = [cells for cells in rows(text) if cells[0].split()[0] in MONTHS and number(cells[-1]) is not None]
    labels = [cells[0] for cells in shown]
    asked = [each for each in re.findall(rf"(?:{'|'.join(MONTHS)}) \d{{4}}", text) if each not in labels]
    last, steps = number(shown[-1][-1]) or 0.0, _months(asked[0]) - _months(labels[-1])
    keep = _optional(text, "#% are left", 100.0) / 100
    if keep == 1.0:
        drift = quantity(text, "changes by # on average")
        return {"mean": last + drift * steps, "deviation": error * math.sqrt(steps)}
    begin, drift = quantity(text, "line it would be #"), quantity(text, "change by #")
    line = begin + drift * (len(labels) - 1)
    variance = error**2 * math.fsum(keep ** (2 * n) for n in range(steps))
    return {"mean": line + drift * steps + keep**steps * (last - line), "deviation": math.sqrt(variance)}


def _months(label: str) -> int:
    month, year = label.split()
    return 12 * int(year) + MONTHS.index(month)


RULES: dict[str, tuple[tuple[str, Callable[[str], Any]], ...]] = {
    "average_bp": (("average return of all", mean),),
    "consensus_usd": (("consensus of earnings", mean),),
    "surprise_percent": (("report over consensus", surprise),),
    "average_cost_usd": (("average cost of a share", average_cost),),
    "sharpe": (("annual Sharpe", sharpe),),
    "alpha_percent": (("alpha against the index", alpha),),
    "probability_percent": (("probability of the belief", bayes),),
    "stake_percent": (("fraction of capital", kelly),),
    "growth_percent": (("in one bet", kelly_growth), ("percent a year", fund_growth)),
    "years_to_goal": (("years to the goal", kelly_years),),
    "median_years": (("median capital", fund_years),),
    "success_percent": (("reaching the goal", success),),
    "expected_rounds": (("until play ends", rounds),),
}
"""What is asked for, by its name and words of its description, and the rule that gives it."""


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return the reply as JSON; None when no rule gives any figure that is asked for."""
    schema, text = body.get("answer_schema"), str(body.get("question", ""))
    if not isinstance(schema, dict):
        return None
    text = text.partition("\n\nReply with one JSON object")[0]
    reply = {}
    for name, part in schema.get("properties", {}).items():
        value = _by_rule(name, part, text)
        if value is not None:
            reply[name] = value
    if reply and "surprise_percent" in reply and "result" in schema["properties"]:
        reply["result"] = "beat" if reply["surprise_percent"] > 0 else "miss"
    return json.dumps(reply) if reply else None


def _by_rule(name: str, part: dict[str, Any], text: str) -> Any:
    try:
        if {"mean", "deviation"} <= set(part.get("properties", {})):
            return forecast(text)
        for words, rule in RULES.get(name, ()):
            if words in part.get("description", ""):
                value = rule(text)
                return value if math.isfinite(value) else None
    except (LookupError, ValueError, ArithmeticError):
        return None
    return None
