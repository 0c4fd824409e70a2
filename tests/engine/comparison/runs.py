"""Runs as a comparison sees them, made up: who scored what on which task."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.comparison.played import Played
from evaluators.contract import SECTIONS

KNOWLEDGE, ANALYSIS, CRYPTO = "knowledge_retrieval", "analytical_reasoning", "crypto_trading"
USAGE = {"input_tokens": 10, "output_tokens": 1, "cost_usd": 0.5, "cost_known": True}


def record(number: int, value: float, **given: Any) -> dict[str, Any]:
    """Return the record of a task of its own family that has ``value``."""
    return {
        "task_id": f"task-{number}",
        "section": KNOWLEDGE,
        "dataset": "fundamentals",
        "category": "Quantitative Reasoning",
        "family": f"family-{number}",
        "state": "passed" if value >= 60.0 else "failed",
        "passed": value >= 60.0,
        "value": value,
        "details": {},
        "parts": {},
        "tool_calls": [],
        "usage": USAGE,
        "seconds": 2.0,
        "lookahead_attempts": 0,
        "reason": "",
    } | given


def played(records: list[dict[str, Any]], agent: str = "a", **given: Any) -> Played:
    """Return a run with these records."""
    return Played(
        **{
            "folder": Path(f"runs/{agent}"),
            "agent": agent,
            "agent_digest": agent,
            "config": "made-up",
            "seed": 1,
            "benchmark": "one",
            "weights": dict.fromkeys(SECTIONS, 0.2),
            "data_hashes": {"fundamentals@1.1:0": "hash"},
            "records": records,
        }
        | given
    )
