"""A run without some of its tool servers: played to its end, and worth less to an agent that uses them."""

from __future__ import annotations

import json
from pathlib import Path

from engine.storage.store import Store
from mcp_servers.catalog import SERVERS
from tests.engine.command_line import program

CONFIG = """
name: small
datasets: [{type: fundamentals, limit: 6, difficulties: [easy]}, {type: synthetic, limit: 2}]
execution: {backend: serial, ports: auto, concurrency: 2}
"""


def test_an_agent_with_tools_beats_the_same_agent_without(tmp_path: Path) -> None:
    values = {}
    for name, withheld in (("all", []), ("none", list(SERVERS))):
        (tmp_path / f"{name}.yaml").write_text(f"{CONFIG}withheld: {json.dumps(withheld)}\n")
        out = tmp_path / name
        done = program("run", tmp_path / f"{name}.yaml", "--agent", "builtin:quant", "--out", out, "--json")
        assert done.returncode == 0, done.stderr
        with Store.open(out, read_only=True) as store:
            records = list(store.records())
        assert {record["state"] for record in records} <= {"passed", "failed"}
        values[name] = {record["task_id"]: record["value"] for record in records}
    assert values["all"].keys() == values["none"].keys()
    needs_data = [task for task in values["all"] if task.startswith("fundamentals")]
    assert sum(values["all"][task] for task in needs_data) > 0 == sum(values["none"][task] for task in needs_data)
    # what needs no tool is worth the same
    assert all(values["all"][task] == values["none"][task] for task in set(values["all"]) - set(needs_data))
