"""``traderbench compare`` and ``leaderboard`` on stored runs of real agents."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from engine.cli.comparisons import _no_formula
from engine.run.tool_access import ToolAccess
from mcp_servers.access import new_key
from tests.engine.command_line import here

CONFIG = "name: small\ndatasets: [{type: synthetic, limit: 8}]\nexecution: {backend: serial, ports: auto}\n"
NO_SERVERS = ToolAccess({}, new_key()), "none"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Return a folder with runs of oracle, null and echo on the same eight tasks."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "c.yaml").write_text(CONFIG)
    for agent in ("oracle", "null", "echo"):
        out = folder / "deep" / agent
        done = here("run", folder / "c.yaml", "--agent", f"builtin:{agent}", "--out", out, servers=NO_SERVERS)
        assert done.returncode == 0, done.stderr
    return folder / "deep"


def of(*arguments, status=0):
    done = here(*arguments)
    assert done.returncode == status, done.stderr
    return done


def test_the_comparison_of_two_runs_has_the_promised_shape(runs):
    found = json.loads(of("compare", runs / "oracle", runs / "null", "--json").stdout)
    assert {"n", "difference", "se", "ci95", "p", "minimum_detectable_difference", "sections", "verdict"} <= set(found)
    assert (found["n"], found["difference"]) == (8, 100.0)
    assert set(found["sections"]) == {"analytical_reasoning"}
    assert found["verdict"].startswith("builtin:oracle is better than reference-null by 100.0 points")
    assert found["passes"] == {"both": 0, "first_only": 8, "second_only": 0, "neither": 0, "p_value": 2 / 2**8}
    assert [task["difference"] for task in found["tasks"]] == [100.0] * 8


def test_what_cannot_be_told_apart_is_said_so(runs):
    done = of("compare", runs / "null", runs / "echo")
    assert "reference-null and reference-echo cannot be told apart: the same score on all 8 tasks" in " ".join(
        done.stdout.split()
    )


def test_several_runs_are_compared_each_with_each(runs):
    found = json.loads(of("compare", runs / "oracle", runs / "null", runs / "echo", "--json").stdout)
    assert [pair["difference"] for pair in found["pairs"]] == [100.0, 100.0, 0.0]
    assert all(pair["p_holm"] >= pair["p"] for pair in found["pairs"])
    text = of("compare", runs / "oracle", runs / "null", runs / "echo").stdout
    assert "All pairs" in text and "builtin:oracle less reference-null" in text


def test_the_leaderboard_ranks_the_runs_below_a_folder(runs):
    found = json.loads(of("leaderboard", runs.parent, "--json").stdout)
    assert {"agent", "score", "se", "ci95", "rank", "cost_usd", "tokens", "runs"} <= set(found[0])
    assert [(row["agent"], row["score"], row["rank"], row["runs"]) for row in found] == [
        ("builtin:oracle", 100.0, [1, 1], 1),
        ("reference-echo", 0.0, [2, 3], 1),
        ("reference-null", 0.0, [2, 3], 1),
    ]


def test_pages_and_tables_are_written(runs, tmp_path):
    files = [item for kind in ("html", "csv", "parquet") for item in (f"--{kind}", tmp_path / f"c.{kind}")]
    of("compare", runs / "oracle", runs / "null", *files)
    page = (tmp_path / "c.html").read_text()
    assert (
        "builtin:oracle is better than reference-null" in page
        and "<svg" in page
        and "script" not in page.split("</head>")[1]
    )
    rows = pd.read_csv(tmp_path / "c.csv")
    assert list(rows["part"])[:2] == ["overall", "section"] and rows["difference"][0] == 100.0
    pd.testing.assert_frame_equal(rows, pd.read_parquet(tmp_path / "c.parquet"), check_dtype=False)
    of("leaderboard", runs, "--csv", tmp_path / "l.csv")
    board = pd.read_csv(tmp_path / "l.csv")
    assert list(board["agent"])[0:1] == ["builtin:oracle"] and list(board["rank_high"]) == [1, 3, 3]
    assert list(board["low"])[1:] == [0.0, 0.0]


def test_mistakes_are_one_line_that_says_what_would_be_right(runs, tmp_path):
    assert "compare takes two runs or more" in of("compare", runs / "null", status=2).stderr
    assert "no run is here" in of("compare", runs / "null", tmp_path, status=2).stderr
    assert "no run lies in or below" in of("leaderboard", tmp_path, status=2).stderr
    absent = tmp_path / "absent" / "c.html"
    assert f"{absent} cannot be written" in of("leaderboard", runs, "--html", absent, status=74).stderr


def test_a_run_that_cannot_be_read_is_left_out_and_named(runs, tmp_path):
    folder = Path(shutil.copytree(runs, tmp_path / "runs"))
    (folder / "null" / "commits.log").write_bytes(b"")
    done = of("leaderboard", folder, "--json")
    assert len(json.loads(done.stdout)) == 2
    assert "left out: " in done.stderr and "null" in done.stderr
    assert "none of the 1 runs can be read" in of("leaderboard", folder / "null", status=2).stderr


def test_an_agent_names_itself_and_writes_no_formula():
    assert [_no_formula(cell) for cell in ("=1+1", "@x", "a=b", -3.0, "")] == ["'=1+1", "'@x", "a=b", -3.0, ""]
