"""The command line without a run: help, lists, errors, doctor."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine import cli

QUICK = str(Path(__file__).parents[3] / "configs" / "quick.yaml")


def parsers(parser, words=()):
    if words:
        yield words, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                yield from parsers(child, (*words, name))


COMMANDS = dict(parsers(cli.build_parser()))


def call(capsys, *arguments):
    status = cli.main(arguments)
    streams = capsys.readouterr()
    return status, streams.out, streams.err


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example_that_parses(words):
    text = COMMANDS[words].format_help()
    example = text.split("example:\n")[1].strip().split()
    assert example[: 1 + len(words)] == ["traderbench", *words]
    parsed = cli.build_parser().parse_args(example[1:])
    assert callable(parsed.run)


def test_help_imports_none_of_the_heavy_libraries():
    program = """
import sys
from engine.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert end.code == 0
heavy = {"jax", "numpy", "pandas", "ray", "mcp", "a2a", "pydantic", "matplotlib", "scipy", "ccxt", "openai", "yfinance"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "examples:" in done.stdout


def test_an_unknown_command_is_one_line_and_status_2(capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["rnu"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("mcp serve options --bogus 1", "unrecognized arguments: --bogus 1 (see traderbench mcp serve --help)"),
        ("run quick --bogus", "unrecognized arguments: --bogus (see traderbench run --help)"),
        (
            "mcp serve options --as-of 2013-13-01",
            "argument --as-of: a day is written YYYY-MM-DD, such as 2013-03-01, got '2013-13-01' "
            "(see traderbench mcp serve --help)",
        ),
    ],
)
def test_a_wrong_option_is_one_line_with_what_is_right_and_the_help_of_its_command(capsys, words, line):
    with pytest.raises(SystemExit) as ended:
        cli.main(words.split())
    assert (ended.value.code, capsys.readouterr().err) == (2, f"traderbench: error: {line}\n")


def test_a_pull_since_no_date_is_refused_without_network(capsys):
    pull = ["data", "pull", "crypto", "--exchange", "binance", "--symbol", "BTC/USDT", "--since", "yesterday"]
    status, _, errors = call(capsys, *pull, "--base-url", "http://127.0.0.1:9")
    assert (status, errors) == (
        2,
        "traderbench: error: since must be an ISO date (YYYY-MM-DD) such as 2020-01-01, got 'yesterday'\n",
    )


def test_a_drawn_seed_is_told_and_gives_the_same_tasks_again(capsys):
    status, drawn, errors = call(capsys, "tasks", "draw", QUICK, "--seed", "random", "--json")
    word, seed, how = errors.split(maxsplit=2)
    assert (status, word, how.strip()) == (0, "seed", "(drawn at random)")
    status, again, errors = call(capsys, "tasks", "draw", QUICK, "--seed", seed, "--json")
    assert (status, errors, again) == (0, f"seed {seed} (chosen)\n", drawn)


def test_a_random_seed_is_marked_in_the_config_of_the_run_and_a_chosen_one_is_not():
    from engine.cli.runs import resolved_config

    parser = cli.build_parser()
    drawn = resolved_config(parser.parse_args(["run", QUICK, "--seed", "random"]))
    assert drawn.sampling.seed_drawn and 0 <= drawn.sampling.seed < 2**63
    assert not resolved_config(parser.parse_args(["run", QUICK, "--seed", "7"])).sampling.seed_drawn
    assert not resolved_config(parser.parse_args(["run", QUICK])).sampling.seed_drawn


@pytest.mark.parametrize("seed", ["-1", "x", "1.5", str(2**63)])
def test_a_bad_seed_names_the_value(capsys, seed):
    with pytest.raises(SystemExit):
        cli.main(["run", QUICK, f"--seed={seed}"])
    assert seed in capsys.readouterr().err


def test_tasks_are_listed_drawn_and_shown_without_their_answers(capsys):
    status, out, _ = call(capsys, "tasks", "draw", QUICK, "--seed", "3", "--json")
    assert status == 0
    tasks = json.loads(out)
    assert len(tasks) >= 20
    assert len({task["id"] for task in tasks}) == len(tasks)
    status, out, _ = call(capsys, "tasks", "show", QUICK, tasks[0]["id"], "--seed", "3")
    assert status == 0
    shown = json.loads(out)
    assert shown["type"] == "question"
    assert {"task_id", "as_of", "mcp_servers", "MCP_EDGAR_URL"} <= set(shown)
    # its own server and those that only calculate, as in a run
    assert list(shown["mcp_servers"]) == ["edgar", "sandbox", "risk"]
    assert {name for name in shown if name.startswith("MCP_")} == {"MCP_EDGAR_URL", "MCP_SANDBOX_URL", "MCP_RISK_URL"}
    status, _, errors = call(capsys, "tasks", "show", QUICK, tasks[0]["id"][:-1] + "!", "--seed", "3")
    assert status == 2
    assert f"did you mean {tasks[0]['id']!r}?" in errors


def test_datasets_and_servers_are_listed(capsys):
    _, out, _ = call(capsys, "tasks", "list", "--json")
    assert {"fundamentals", "bizfinbench", "synthetic", "options", "crypto", "professional"} <= {
        row["name"] for row in json.loads(out)
    }
    # in a process of its own: building the sandbox server starts processes that end with the one that started them
    command = [sys.executable, "-m", "engine.cli", "mcp", "list", "--json"]
    servers = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert [row["port"] for row in servers] == [8101, 8102, 8103, 8104, 8105, 8106]
    assert all(row["tools"] or row["unavailable"] for row in servers)


def test_an_unknown_agent_or_server_names_the_nearest(capsys):
    status, _, errors = call(capsys, "mcp", "serve", "option")
    assert status == 2
    assert "did you mean 'options'?" in errors
    status, _, errors = call(capsys, "agent", "quantt")
    assert status == 2
    assert "did you mean 'quant'?" in errors


def test_doctor_finds_a_dead_agent_and_a_missing_run(capsys, tmp_path):
    status, out, _ = call(capsys, "doctor", "--json", "--agent", "http://127.0.0.1:9", "--store", str(tmp_path))
    found = {check["name"]: check for check in json.loads(out)}
    assert status == 1
    assert found["agent"]["state"] == "error"
    assert "http://127.0.0.1:9" in found["agent"]["text"]
    assert found["store"]["state"] == "error"
    assert found["python"]["state"] == "ok"
    assert found["data"]["state"] == "ok"
    assert {f"port {port}" for port in range(8101, 8107)} <= set(found)
