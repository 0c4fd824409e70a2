"""A config by name, from any folder."""

import re

import pytest

from engine import cli, config, shipped
from engine.agent import builtin
from engine.errors import ConfigError
from engine.sweep import config as sweep_config


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("given", ["quick", "quick.yaml", "configs/quick.yaml"])
def test_a_shipped_config_is_found_by_its_name_from_anywhere(given):
    assert config.load(given).name == "quick"
    assert shipped.config_file(given, kind="run").samefile(shipped.folder("configs") / "quick.yaml")


def test_the_shipped_sweep_is_found_by_its_name():
    assert sweep_config.load("sweep").bars == 8760


NAMES = ["categories", "full", "llm", "offline", "paper-18", "paper-fab", "paper-traderbench", "quick"]


def test_every_shipped_config_is_listed():
    assert shipped.config_names("run") == NAMES
    assert shipped.config_names("sweep") == ["sweep", "sweep-table14"]


@pytest.mark.parametrize("given", ["quick.yaml", "configs/quick.yaml", "quick"])
def test_a_file_of_this_path_comes_first(elsewhere, given):
    mine = elsewhere / given
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("name: mine\ndatasets: [{type: synthetic}]\n")
    assert config.load(given).name == "mine"


def test_a_folder_is_no_config(elsewhere):
    (elsewhere / "quick").mkdir()
    assert config.load("quick").name == "quick"


@pytest.mark.parametrize(
    "given", ["nothing", "mine/quick.yaml", "/nowhere/quick.yaml", "../quick", "quick.yml", "quick.json"]
)
def test_what_is_neither_a_file_nor_a_name_lists_the_names(given):
    with pytest.raises(ConfigError) as found:
        config.load(given)
    assert str(found.value) == f"cannot read config {given}: no such file; shipped by name: {', '.join(NAMES)}"


@pytest.mark.parametrize("given", ["quikc", "quikc.yaml", "configs/quikc.yaml"])
def test_a_misspelt_name_is_told_the_nearest(given):
    with pytest.raises(
        ConfigError, match=r"no such file \(did you mean 'quick'\?\); shipped by name: categories, full, llm"
    ):
        config.load(given)


@pytest.mark.parametrize("load", [config.load, sweep_config.load])
def test_a_path_that_is_too_long_is_one_clear_line(load):
    with pytest.raises(ConfigError) as found:
        load("x" * 5000)
    assert str(found.value) == f"cannot read config {'x' * 77}...: File name too long"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "sweep"], "sweep: this is the config of a sweep; run it with: traderbench sweep sweep"),
        (["tasks", "draw", "sweep"], "sweep: this is the config of a sweep; run it with: traderbench sweep sweep"),
        (["sweep", "quick"], "quick: this is the config of a run; run it with: traderbench run quick"),
        (["sweep", "nothing"], "cannot read config nothing: no such file; shipped by name: sweep, sweep-table14\n"),
        (["sweep", "sweeep"], "cannot read config sweeep: no such file (did you mean 'sweep'?); shipped"),
        (["tasks", "show", "nothing", "x"], "cannot read config nothing: no such file; shipped by name: categories"),
    ],
)
def test_every_command_takes_a_name_and_says_what_is_wrong_with_it(capsys, arguments, line):
    assert cli.main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"traderbench: error: {line}")


def test_the_help_names_every_shipped_config_and_agent(capsys, monkeypatch):
    # or argparse breaks names at their hyphens
    monkeypatch.setenv("COLUMNS", "1000")
    told = {}
    for command in ("run", "sweep", "agent"):
        with pytest.raises(SystemExit):
            cli.main([command, "--help"])
        told[command] = set(re.findall(r"[a-z0-9-]+", capsys.readouterr().out))
    assert set(NAMES) <= told["run"]
    assert set(shipped.config_names("sweep")) <= told["sweep"]
    assert {"green", *builtin.BUILTIN_AGENTS} <= told["agent"]


def test_tasks_are_drawn_from_a_config_by_name(capsys):
    assert cli.main(["tasks", "draw", "quick", "--seed", "7"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 34
