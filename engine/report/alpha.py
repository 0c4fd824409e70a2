"""Role, Alpha, look-ahead penalty and debate as ``results.json`` and the report tell them."""

from __future__ import annotations

from typing import Any

from engine.record import TaskRecord
from engine.report.remarks import points, tasks
from engine.scoring.alpha import AlphaScore
from engine.spending import dollars

DIMENSION_WORDS = {
    "macro": "claims and mechanism",
    "fundamental": "figures",
    "execution": "tool use, orders, deliverables",
}
DEBATE_FIELDS = ("verdict", "multiplier", "value_before", "true_objection", "reason")
"""What a task's row tells of its debate."""


def values(found: AlphaScore, *, enabled: bool) -> dict[str, Any]:
    """Return the objects ``role``, ``alpha``, ``alpha_paper``, ``lookahead_penalty`` and ``debate``."""
    role, debate = found.role, found.debate
    dimensions = {
        name: {"score": row.score, "se": row.se, "n": row.n, "weight": role.weights[name]}
        for name, row in role.dimensions.items()
    }
    factors = {
        "role": role.score,
        "debate": debate.mean_multiplier,
        "cost_usd_per_task": found.cost_usd_per_task,
        "lookahead_penalty": found.lookahead.penalty,
    }
    return {
        "role": {"score": role.score, "se": role.se, **dimensions, "unplaced": role.unplaced},
        "alpha": {"score": found.bounded, **factors},
        "alpha_paper": {"score": found.paper, **factors},
        "lookahead_penalty": found.lookahead._asdict(),
        "debate": {
            "enabled": enabled,
            "tasks": debate.tasks,
            "verdicts": {str(name): count for name, count in debate.verdicts.items()},
            "true_objections": debate.true_objections,
            "false_objections": debate.false_objections,
            "mean_multiplier": debate.mean_multiplier,
            "se": debate.se,
            "ci95": None if debate.ci95 is None else list(debate.ci95),
        },
    }


def of_task(record: TaskRecord) -> dict[str, Any] | None:
    """Return what a task's row tells of its debate; None where there was none."""
    debate: Any = record["details"].get("debate")
    return {name: debate.get(name) for name in DEBATE_FIELDS} if isinstance(debate, dict) else None


def debate_line(result: dict[str, Any]) -> str:
    """Return the debates of a run in one line; empty where it has none."""
    debate = result["debate"]
    if not debate["enabled"]:
        return ""
    verdicts = ", ".join(f"{count} {name}" for name, count in debate["verdicts"].items())
    interval = debate["ci95"]
    between = "" if interval is None else f" (95% {interval[0]:.3f} to {interval[1]:.3f})"
    return f"debate: {tasks(debate['tasks'])}: {verdicts}; mean multiplier {debate['mean_multiplier']:.3f}{between}"


def rows(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return the table of the report: what, its value, what it is made of."""
    role = result["role"]
    shown = [
        (name.capitalize(), points(role[name]["score"]), f"{words}; {tasks(role[name]['n'])}, weight "
         f"{role[name]['weight']:.0%}")
        for name, words in DIMENSION_WORDS.items()
    ]  # fmt: skip
    error = "" if role["se"] is None else f"standard error {role['se']:.1f}"
    alpha, ahead = result["alpha"], result["lookahead_penalty"]
    cost = alpha["cost_usd_per_task"]
    made_of = "Role x Debate / ((1 + ln(1 + Cost)) x (1 + Look-ahead penalty))"
    return [
        *shown,
        ("Role Score", points(role["score"]), error),
        ("Debate", f"{result['debate']['mean_multiplier']:.3f}", debate_line(result).removeprefix("debate: ") or "off"),
        ("Look-ahead penalty", f"{ahead['penalty']:.3g}", f"{ahead['attempts']} attempts in {tasks(ahead['tasks'])}"),
        ("Cost", "unknown" if cost is None else dollars(cost), "a task, all attempts; without it there is no Alpha"),
        ("Alpha", points(alpha["score"]), made_of),
        ("Alpha as printed", points(result["alpha_paper"]["score"]), "without the 1 +: none where the cost is 0"),
    ]
