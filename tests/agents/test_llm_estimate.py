"""``run --estimate`` beside what an endpoint then really sees."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engine import config, shipped
from tests.engine.command_line import here

FACTOR = 1.3
"""Between the tokens expected and those that a model reads that calls tools as often as is assumed."""
CONFIG = """
name: tiny
datasets:
  - {type: fundamentals, limit: 2}
  - {type: synthetic, limit: 2}
  - {type: options, limit: 1}
  - {type: crypto, limit: 1, windows: 2, bars: 5}
limits: {max_cost_usd: 50}
execution: {backend: serial, ports: auto}
"""
PRICES = ("--input-price", "2", "--output-price", "8")
CALLS = {
    "yfinance": ("yfinance__get_price_history", {"ticker": "AAPL", "start": "2012-01-01", "end": "2012-02-01"}),
    "edgar": ("edgar__list_filings", {"ticker": "AAPL"}),
    "options": ("risk__calculate_var", {"returns": [0.01, -0.02, 0.015, 0.003] * 8}),
}


class Handler(BaseHTTPRequestHandler):
    """A model that calls tools as often as the estimate assumes, and counts what it reads as the estimate does."""

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        names = {tool["function"]["name"].split("__")[0] for tool in request.get("tools", [])}
        dated = [name for name in CALLS if name in names]
        done = sum(message["role"] == "tool" for message in request["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": '{"decisions": []}\nFinal answer: 42'}
        if done < (3 if dated else 1) and names:
            name, arguments = CALLS[dated[0] if dated else "options"]
            function = {"name": name, "arguments": json.dumps(arguments)}
            call = {"id": f"call_{done}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        read: int = self.server.count(request)
        usage = {"prompt_tokens": read, "completion_tokens": 10, "total_tokens": read + 10}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "usage": usage, "choices": choices}
        raw = json.dumps(body).encode()
        self.server.reads.append(read)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@contextmanager
def counting(count: Callable[[dict[str, Any]], int]) -> Iterator[Any]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.count, server.reads = True, count, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def estimated(*options: object, **environment: str) -> dict[str, Any]:
    done = here("run", *options, "--estimate", "--json", **environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_an_endpoint_sees_what_was_expected(tmp_path: Path, program: Callable[[str, str], ModuleType]) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text(CONFIG)
    expected = estimated(path, *PRICES)
    with counting(program("llm", "tokens").of_request) as endpoint:
        options = (
            "--agent",
            "builtin:llm",
            "--model",
            "m",
            "--base-url",
            f"http://127.0.0.1:{endpoint.server_port}/v1",
        )
        done = here("run", path, *options, *PRICES, "--out", tmp_path / "run", "--json")
        assert done.returncode == 0, done.stderr
        reads = endpoint.reads[1:]
    detailed = json.loads((tmp_path / "run" / "results.json").read_text())["detailed_results"]
    seen: dict[str, int] = {}
    for row in detailed:
        seen[row["dataset"]] = seen.get(row["dataset"], 0) + row["input_tokens"]
    assert len(reads) == expected["model_calls"] and sum(reads) == sum(seen.values())
    assert {name: row["tasks"] for name, row in expected["datasets"].items()} == {
        "fundamentals": 2,
        "synthetic": 2,
        "options": 1,
        "crypto": 1,
    }
    for name, tokens in seen.items():
        ratio = expected["datasets"][name]["input_tokens"] / tokens
        assert 1.0 / FACTOR < ratio < FACTOR, (name, ratio)
    priced = (expected["input_tokens"] * 2.0 + expected["output_tokens"] * 8.0) / 1e6
    assert expected["cost_usd"] == pytest.approx(priced)
    assert expected["cost_usd"] == pytest.approx(sum(row["cost_usd"] for row in expected["datasets"].values()))


def test_without_prices_tokens_are_told_and_dollars_are_not(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text("name: tiny\ndatasets: [{type: synthetic, limit: 2}]\n")
    found = estimated(path)
    assert found["cost_usd"] is None and found["input_tokens"] > 1000 and found["tasks"] == found["messages"] == 2
    text = here("run", path, "--estimate").stdout
    assert "dollars: unknown; give --input-price and --output-price" in text and "in all" in text
    priced = here("run", path, "--estimate", OPENAI_INPUT_PRICE="2", OPENAI_OUTPUT_PRICE="8").stdout
    assert "unknown" not in priced and "$0." in priced


def test_servers_that_are_not_offered_cost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text("name: tiny\ndatasets: [{type: synthetic, limit: 2}]\n")
    usual, few, none = (estimated(path, *more) for more in ((), ("--servers", "sandbox"), ("--servers", "none")))
    assert usual["input_tokens"] > 2 * few["input_tokens"] > 2 * none["input_tokens"]
    assert (usual["model_calls"], none["model_calls"]) == (4, 2)
    shards = [estimated(path, "--shard", f"{number}/2")["input_tokens"] for number in (1, 2)]
    assert sum(shards) == usual["input_tokens"] and min(shards) > 0


def test_an_estimate_is_of_the_language_model_only(tmp_path: Path) -> None:
    done = here("run", "quick", "--agent", "http://127.0.0.1:1", "--estimate")
    assert done.returncode == 2 and "--estimate is for --agent builtin:llm" in done.stderr
    done = here("run", "quick", "--estimate", "--servers", "rsk")
    assert done.returncode == 2 and "unknown server 'rsk'" in done.stderr
    done = here("run", "nothing", "--estimate")
    assert done.returncode == 2 and "no such file" in done.stderr


@pytest.mark.slow
def test_the_config_for_language_models_costs_what_it_says() -> None:
    """Prices of a hosted model of middle size, as the file states them."""
    text = shipped.config_file("llm", kind="run").read_text()
    found = estimated("llm", "--input-price", "1.25", "--output-price", "10")
    assert 1.0 < found["cost_usd"] < 1.6 and f"${found['cost_usd']:.2f} at $1.25 and $10" in text
    assert found["budget_usd"] == config.load("llm").limits.max_cost_usd == 2.0
    assert set(found["datasets"]) == {"fundamentals", "bizfinbench", "synthetic", "options", "crypto", "professional"}


def test_an_estimate_beyond_the_budget_says_so(tmp_path: Path) -> None:
    path = tmp_path / "tiny.yaml"
    path.write_text("name: tiny\ndatasets: [{type: synthetic, limit: 2}]\nlimits: {max_cost_usd: 0.001}\n")
    assert "more than the budget of $0.001 (limits.max_cost_usd)" in here("run", path, "--estimate", *PRICES).stdout
