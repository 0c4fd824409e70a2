"""What a run's lake and its withheld servers make of the tasks that are drawn."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from engine import config
from engine.errors import ConfigError
from engine.plan import build, sampling
from mcp_servers.catalog import SERVERS
from tests.lake.quoted import made_chain

SMALL = {"name": "small", "datasets": [{"type": "fundamentals", "limit": 8}, {"type": "crypto", "limit": 1}]}


def planned(**changes: Any) -> build.Plan:
    return build.plan(config.parse(SMALL | changes, source="small"), agent_digest="a")


def test_chains_of_ones_own_files_are_drawn_from_and_a_lake_without_them_is_one_line(tmp_path: Path) -> None:
    raw = {
        "name": "own",
        "datasets": [{"type": "casebook", "quotes": True, "task_types": ["quoted-vertical"], "limit": 2}],
        "lake": {"options": "folder", "path": str(tmp_path)},
    }
    (tmp_path / "options").mkdir()
    lines = ["quote_date,expiration,strike,option_type,bid,ask,spot"]
    for row in made_chain.rows(date(2024, 3, 4)):
        lines.append(",".join(map(str, (row[0], row[3], row[5], row[4], row[7] or 0, row[8], row[2]))))
    (tmp_path / "options" / "ACME.csv").write_text("\n".join(lines))
    drawn = sampling.draw(config.parse(raw, source="own"))
    assert [case.task.family for case in drawn] == ["casebook/quoted-vertical"] * 2
    with pytest.raises(ConfigError, match=r"datasets\[0\] \(casebook\): quotes: the run's lake has no option quotes"):
        sampling.draw(config.parse(raw | {"lake": {}}, source="own"))


def test_tasks_are_the_same_without_a_server_and_do_not_wait_for_it() -> None:
    whole, less = planned(), planned(withheld=["yfinance", "edgar"])
    assert [cell.public_id for cell in whole.cells] == [cell.public_id for cell in less.cells]
    assert {name for cell in whole.cells for name in cell.case.task.servers} >= {"yfinance", "edgar"}
    for cell, other in zip(whole.cells, less.cells, strict=True):
        left = set(cell.case.task.servers) - {"yfinance", "edgar"}
        assert (set(other.case.task.servers), other.case.task.question) == (left, cell.case.task.question)
        again = other.case.drawn(2).task.servers
        assert not {"yfinance", "edgar"} & set(again)
        # it is another benchmark: nothing that is stored of one counts for the other
        assert cell.key != other.key
    assert planned(withheld=[]).cells[0].key == whole.cells[0].key


def test_a_server_that_is_not_there_cannot_be_withheld() -> None:
    with pytest.raises(ConfigError, match=r"withheld.*unknown tool server 'yahoo'; there are edgar, yfinance"):
        planned(withheld=["yahoo"])
    assert config.parse(SMALL | {"withheld": list(reversed(SERVERS))}, source="x").withheld == tuple(SERVERS)
