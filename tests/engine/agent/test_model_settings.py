"""The settings of the language model: flags, environment, manifest, resume."""

from __future__ import annotations

import json

import pytest

from engine.agent import model_settings
from engine.agent.model_settings import ModelSettings, resolve, stored
from engine.config import LimitsConfig
from engine.errors import ConfigError
from engine.run.tool_access import ToolAccess
from mcp_servers.access import new_key
from tests.engine.command_line import here
from tests.engine.run.test_outages_whole_run import Endpoint, error_of

LIMITS = LimitsConfig()
KEY = {"OPENAI_API_KEY": "k"}
NO_SERVERS = ToolAccess({}, new_key(), {}), "none"
CONFIG = """
name: tiny
datasets: [{type: synthetic, limit: 6}]
limits: {turn_time_s: 40}
execution: {backend: serial, ports: auto, concurrency: 1}
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(CONFIG)
    return path


def test_a_flag_wins_over_the_environment_and_that_over_nothing():
    environment = KEY | {"OPENAI_MODEL": "theirs", "OPENAI_INPUT_PRICE": "1.5", "OPENAI_OUTPUT_PRICE": "6"}
    assert resolve({}, environment, LIMITS) == ModelSettings("theirs", input_price=1.5, output_price=6.0)
    found = resolve({"model": "mine", "input_price": 0.0, "temperature": 0.2}, environment, LIMITS)
    assert found == ModelSettings("mine", temperature=0.2, input_price=0.0, output_price=6.0)


def test_a_call_of_the_model_may_take_nine_tenths_of_a_turn():
    arguments = ModelSettings("m").arguments(LimitsConfig(turn_time_s=50.0, task_time_s=70.0))
    assert "--request-timeout=45.0" in arguments
    assert {"--turn-time=50.0", "--task-time=70.0"} <= set(arguments)
    assert not any("cost" in argument for argument in arguments)
    assert "--max-cost-usd=0.4" in ModelSettings("m").arguments(LimitsConfig(max_task_cost_usd=0.5))
    assert "--request-timeout=9" in ModelSettings("m", request_timeout=9).arguments(LIMITS)


def test_the_address_goes_by_the_environment_and_never_to_another_endpoint():
    """Command lines are seen by every user of the machine, and an address may hold a password."""
    settings = ModelSettings("m", base_url="http://user:secret@host/v1")
    assert not any("secret" in argument for argument in settings.arguments(LIMITS))
    assert settings.environment() == {"OPENAI_BASE_URL": "http://user:secret@host/v1"}
    assert ModelSettings("m").environment() == {"OPENAI_BASE_URL": "https://api.openai.com/v1"}


@pytest.mark.parametrize(
    ("given", "environment", "said"),
    [
        ({}, KEY, "no model is named; give --model NAME, or set OPENAI_MODEL"),
        ({"model": "m"}, {}, "set OPENAI_API_KEY, or --base-url"),
        ({"model": "m", "input_price": 1.0}, KEY, "--input-price and --output-price"),
        ({"model": "m"}, KEY | {"OPENAI_INPUT_PRICE": "free"}, "OPENAI_INPUT_PRICE: US dollars per million tokens"),
        ({"model": "m", "servers": ("rsk",)}, KEY, r"unknown server 'rsk' \(did you mean 'risk'\?\)"),
        ({"model": "m", "temperature": 3.0}, KEY, "--temperature 3: a number from 0 to 2"),
        ({"model": "m", "request_timeout": 120.0}, KEY, r"must be below limits.turn_time_s \(120\)"),
    ],
)
def test_what_is_missing_or_impossible_is_one_clear_error(given, environment, said):
    with pytest.raises(ConfigError, match=said):
        resolve(given, environment, LIMITS)


def test_stored_settings_come_back_with_what_has_moved():
    settings = ModelSettings("m", temperature=0.5, servers=("risk",), max_turns=4)
    record = json.loads(json.dumps(settings.record()))
    assert stored(record, {}, LIMITS) == settings
    assert stored(record, {"base_url": "http://elsewhere/v1"}, LIMITS).base_url == "http://elsewhere/v1"


@pytest.mark.parametrize("agent", ["builtin:quant", "http://127.0.0.1:1"])
def test_flags_of_the_model_with_another_agent_are_one_error(config, tmp_path, agent):
    flags = ("--temperature", 0.5, "--max-turns", 3, "--servers", "none")
    done = here("run", config, "--agent", agent, *flags, "--out", tmp_path / "run")
    assert done.returncode == 2
    said = f"--temperature, --max-turns, --servers are for --agent builtin:llm, got --agent {agent}"
    assert error_of(done) == f"traderbench: error: {said}"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--max-turns", 0), "argument --max-turns: a whole number from 1 is needed, got '0'"),
        (("--input-price", -1), "argument --input-price: a number above 0 is needed, got -1"),
        (("--model", "m", "--temperature", "2.5"), "--temperature 2.5: a number from 0 to 2 is needed"),
        (("--model", "m", "--request-timeout", "40"), "--request-timeout 40: must be below limits.turn_time_s (40)"),
        (("--model", "m", "--servers", "risk,edgr"), "unknown server 'edgr' (did you mean 'edgar'?)"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_started(config, tmp_path, flags, said):
    done = here("run", config, "--agent", "builtin:llm", *flags, "--out", tmp_path / "run", OPENAI_API_KEY="k")
    assert done.returncode == 2 and said in error_of(done)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_run_is_kept_with_its_settings_and_resumed_with_the_same(config, tmp_path):
    out = tmp_path / "run"
    flags = (
        "--temperature",
        0.25,
        "--seed-model",
        11,
        "--max-turns",
        3,
        "--max-output-tokens",
        321,
        "--servers",
        "none",
    )
    with Endpoint(answers=3) as endpoint, Endpoint() as other:
        options = ("--agent", "builtin:llm", "--base-url", endpoint.url, *flags, "--out", out, "--json")
        done = here("run", config, *options, servers=NO_SERVERS, OPENAI_MODEL="from-environment")
        assert done.returncode == 69, done.stderr
        told = next(line for line in done.stderr.splitlines() if "the agent says: " in line)
        assert "temperature 0.25; seed 11" in told and "at most 3 model calls" in told
        agent = json.loads((out / "manifest.json").read_text())["agent"]
        assert agent["settings"] == ModelSettings(
            "from-environment",
            base_url=endpoint.url,
            temperature=0.25,
            seed_model=11,
            max_turns=3,
            max_output_tokens=321,
            servers=(),
        ).record() | {"servers": []}
        assert "321 output tokens" in agent["description"]
        assert json.loads(done.stdout)["model"] == {
            name: value for name, value in agent["settings"].items() if name != "base_url"
        }
        # another model in the environment, another address on the command line: the same settings, elsewhere
        done = here(
            "resume", out, "--retry-errors", "--base-url", other.url, "--json", servers=NO_SERVERS, OPENAI_MODEL="other"
        )
        assert done.returncode == 0, done.stderr
        asked = other.requests[-1]
        assert (asked["model"], asked["temperature"], asked["seed"]) == ("from-environment", 0.25, 11)
        assert asked["max_tokens"] == 321 and "tools" not in asked


def test_an_address_is_no_matter_for_a_run_of_another_agent(tmp_path):
    out = tmp_path / "run"
    (tmp_path / "c.yaml").write_text(CONFIG)
    done = here("run", tmp_path / "c.yaml", "--agent", "builtin:oracle", "--out", out, servers=NO_SERVERS)
    assert done.returncode == 0, done.stderr
    assert "settings" not in json.loads((out / "manifest.json").read_text())["agent"]
    assert model_settings.AGENT == "builtin:llm"
