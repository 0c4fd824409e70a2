"""What is shown while a run goes on."""

import io

from engine.run.progress import Lines


def record(cost, value=50.0):
    return {
        "section": "options_trading",
        "task_id": "t",
        "state": "failed",
        "value": value,
        "usage": {"cost_usd": cost},
    }


def test_a_resumed_run_counts_what_was_spent_before():
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(3, [record(1.25), record(0.5) | {"state": "agent_error"}])
    lines.advance(record(0.25, value=-0.04))
    first, second = stream.getvalue().splitlines()
    assert first == "3 tasks, 2 finished before (agent failures 1, cost $1.75)"
    assert second.endswith("3/3 options_trading t: failed 0.0 (agent failures 1, cost $2.00)")


def test_one_task_is_singular():
    stream = io.StringIO()
    Lines(stream).start(1, [])
    assert stream.getvalue() == "1 task\n"


def test_an_outage_and_an_unknown_price_are_told_as_such():
    stream = io.StringIO()
    lines = Lines(stream)
    lines.start(2, [])
    lines.advance(record(0.0) | {"state": "agent_unavailable", "usage": {"cost_usd": 0.0, "cost_known": False}})
    lines.advance(record(0.0033))
    _, first, second = stream.getvalue().splitlines()
    assert first.endswith("agent_unavailable 50.0 (agent failures 0, agent not available 1, cost unknown)")
    assert second.endswith("cost at least $0.0033)")
