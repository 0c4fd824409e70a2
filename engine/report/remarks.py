"""What has to be said beside a score: errors, what was played again, what is missing, what it cost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine import tool_times
from engine.report.judging import sentence
from engine.spending import dollars, in_words


def remarks(result: dict[str, Any]) -> list[str]:
    """Return the sentences that go with a run's summary; none where there is nothing to say."""
    said = []
    if shard := result["shard"]:
        said.append(f"shard {shard['index']} of {shard['count']}: traderbench merge puts the table of the run together")
    said += [_broken(result, state, words) for state, words in _ERRORS.items() if result["errors"][state]]
    if result["retried"]:
        number = tasks(result["retried"])
        said.append(f"{number} played again after an error of transport, on request (resume --retry-errors)")
    said += _repeats(result)
    if result["unscored"]:
        said.append(_missing(result))
    if judged := sentence(result["judging"]):
        said.append(judged)
    if slow := tool_times.sentence(result["slow_tools"]):
        said.append(f"{slow}; if they counted 100 the overall score would be {points(result['overall']['bounds'][1])}")
    if result["budget_usd"] is not None and result["cost_unknown_tasks"]:
        said.append(
            f"the budget of {dollars(result['budget_usd'])} could not be kept: "
            f"{tasks(result['cost_unknown_tasks'])} did not say what they cost"
        )
    return said


_ERRORS = {
    "agent_unavailable": ("was an error of transport, not an answer,", "were errors of transport, not answers,"),
    "agent_error": ("ended in an error of the agent", "ended in an error of the agent"),
}


def _broken(result: dict[str, Any], state: str, words: tuple[str, str]) -> str:
    number = result["errors"][state]
    reasons = Counter(task["reason"] for task in result["tasks"] if task["state"] == state)
    reason, times = reasons.most_common(1)[0]
    what, count = (words[0], "counts") if number == 1 else (words[1], "count")
    total = tasks(result["overall"]["total"])
    return f"{number} of {total} {what} and {count} 0; most often ({times}): {reason}"


def _repeats(result: dict[str, Any]) -> list[str]:
    """Say what the harness repeated or lost, and which tasks may have known more than their date allows."""
    said = []
    if result["repeated"]:
        deaths, fresh = result["server_deaths"], result["fresh_draws"]
        why = f" ({deaths} {'attempt' if deaths == 1 else 'attempts'} lost a tool server)" if deaths else ""
        how = f", {fresh} of them drawn afresh" if fresh else ""
        said.append(f"{tasks(result['repeated'])} played again after a failure of the harness{why}{how}")
    if result["tool_log_missing"]:
        said.append(f"{tasks(result['tool_log_missing'])} without a full log of tool calls")
    if result["after_later_data"]:
        number = tasks(result["after_later_data"])
        said.append(f"{number} played when tools had already served this run later data than the task's date")
    return said


def _missing(result: dict[str, Any]) -> str:
    ours, left = result["unscored"] - result["not_run"], result["not_run"]
    parts = []
    if ours:
        parts.append(f"{tasks(ours)} {'has' if ours == 1 else 'have'} no score because of the harness, not the agent")
    if left:
        parts.append(f"{tasks(left)} {'was' if left == 1 else 'were'} not run")
    low, high = result["overall"]["bounds"]
    return f"{' and '.join(parts)}: the overall score lies between {points(low)} and {points(high)}"


def cost(result: dict[str, Any]) -> str:
    """Return what a run cost in words: ``unknown`` where tokens came without a price."""
    return in_words(result["cost_at_least_usd"], known=result["cost_usd"] is not None)


def tasks(count: int) -> str:
    """Return a number of tasks in words."""
    return f"{count} task" if count == 1 else f"{count} tasks"


def points(value: float | None) -> str:
    """Return a score with one decimal, ``n/a`` where there is none; what rounds to 0 has no sign."""
    return "n/a" if value is None else f"{round(value, 1) + 0.0:.1f}"
