"""An endpoint that is down, refuses key or model, or goes away: through the command line, with the real agent."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from engine.run.tool_access import ToolAccess
from mcp_servers.access import new_key
from tests.engine.command_line import here

CONFIG = """
name: tiny
datasets: [{type: synthetic, limit: 6}]
execution: {backend: serial, ports: auto, concurrency: 1}
"""
NO_SERVERS = ToolAccess({}, new_key(), {}), "none"
"""For commands in this process: the model calls no tool."""
PRICES = {"OPENAI_INPUT_PRICE": "3.2", "OPENAI_OUTPUT_PRICE": "10"}


class Endpoint(ThreadingHTTPServer):
    """A chat endpoint that answers 42 for 1000 + 10 tokens, until ``answers`` runs out; then it says ``status``."""

    daemon_threads = True

    def __init__(self, *, answers=10**6, status=503):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.status, self.served, self.requests = answers, status, 0, []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.server.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.server.served += 1
        if self.server.served > self.server.answers:
            status, body = self.server.status, {"error": {"message": "no such model or key"}}
        else:
            message = {"role": "assistant", "content": "Final answer: 42"}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            usage = {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
            status, body = 200, {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "usage": usage}
            body["choices"] = [choice]
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(CONFIG)
    return path


def error_of(done):
    (line,) = [row for row in done.stderr.splitlines() if row.startswith("traderbench: error")]
    return line


@pytest.mark.parametrize(("status", "remedy"), [(401, "set OPENAI_API_KEY"), (404, "set OPENAI_MODEL or --model")])
def test_a_refused_key_or_model_ends_the_run_before_it_begins(config, tmp_path, status, remedy):
    with Endpoint(answers=0, status=status) as endpoint:
        options = ("--agent", "builtin:llm", "--model", "m", "--base-url", endpoint.url, "--out", tmp_path / "run")
        done = here("run", config, *options)
        assert (done.returncode, done.stdout, endpoint.served) == (69, "", 1)
    line = error_of(done)
    assert f"model 'm' at {endpoint.url}/: HTTP {status} (no such model or key); {remedy}" in line
    assert not (tmp_path / "run").exists()


def test_an_endpoint_that_is_down_ends_the_run_before_it_begins(config, tmp_path):
    options = ("--agent", "builtin:llm", "--out", tmp_path / "run")
    done = here("run", config, *options, OPENAI_MODEL="m", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 69
    assert "model 'm' at http://127.0.0.1:9/v1/: no connection" in error_of(done)
    assert "--base-url (OPENAI_BASE_URL)" in error_of(done)
    assert not (tmp_path / "run").exists()


def test_a_forgotten_model_and_a_budget_without_prices_are_asked_for(config, tmp_path):
    options = ("--agent", "builtin:llm", "--base-url", "http://127.0.0.1:9/v1", "--out", tmp_path / "run")
    done = here("run", config, *options)
    assert done.returncode == 2
    assert error_of(done).endswith("no model is named; give --model NAME, or set OPENAI_MODEL")
    done = here("run", config, *options, "--model", "m", "--max-cost-usd", 5)
    assert done.returncode == 2
    assert "set OPENAI_INPUT_PRICE and OPENAI_OUTPUT_PRICE" in error_of(done)
    done = here("run", config, "--agent", "builtin:quant", "--model", "m")
    assert done.returncode == 2 and "--model is for --agent builtin:llm, got --agent builtin:quant" in error_of(done)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_provider_that_goes_away_stops_the_run_and_a_retry_finishes_it(config, tmp_path):
    out = tmp_path / "run"
    with Endpoint(answers=3) as endpoint:
        options = ("--agent", "builtin:llm", "--model", "m", "--base-url", endpoint.url, "--out", out, "--json")
        done = here("run", config, *options, servers=NO_SERVERS, **PRICES)
        result = json.loads(done.stdout)
        states = [task["state"] for task in result["tasks"]]
        assert done.returncode == result["exit_status"] == 69
        # the look at the endpoint took the first of the three answers
        assert states == ["failed"] * 2 + ["agent_unavailable"] * 3 + ["not_run"]
        assert "not available for 3 tasks in a row" in error_of(done) and "--retry-errors" in error_of(done)
        assert result["cost_usd"] == pytest.approx(2 * 0.0033)
        assert here("report", out).returncode == 76
        endpoint.answers = 10**6
        done = here("resume", out, "--retry-errors", "--json", servers=NO_SERVERS, **PRICES)
        result = json.loads(done.stdout)
        assert done.returncode == 0, done.stderr
        assert [task["state"] for task in result["tasks"]] == ["failed"] * 6
        assert (result["retried"], result["complete"]) == (3, True)
        assert result["cost_usd"] == pytest.approx(6 * 0.0033)


@pytest.mark.slow
def test_a_run_stays_within_its_budget(config, tmp_path):
    """Before, ``max_cost_usd`` held for each task: six tasks spent $0.02 under $0.001."""
    out = tmp_path / "run"
    with Endpoint() as endpoint:
        options = ("--agent", "builtin:llm", "--model", "m", "--base-url", endpoint.url, "--out", out)
        done = here("run", config, *options, "--max-cost-usd", "0.001", servers=NO_SERVERS, **PRICES)
        assert done.returncode == 76
        assert "the budget of $0.001 (limits.max_cost_usd) is spent: $0.0033; 5 of 6 tasks not run" in error_of(done)
        assert error_of(done).endswith(f"go on with: traderbench resume {out} --max-cost-usd MORE")
        assert "cost: $0.0033" in done.stdout
        again = here("report", out, "--json")
        assert json.loads(again.stdout)["go_on"] == f"traderbench resume {out} --max-cost-usd MORE"
        done = here("resume", out, **PRICES)
        assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (76, "", 1)
        assert "resume " + str(out) + " --max-cost-usd MORE" in error_of(done)
        assert endpoint.served == 2
        done = here("resume", out, "--max-cost-usd", "1", "--json", servers=NO_SERVERS, **PRICES)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["cost_usd"] == pytest.approx(6 * 0.0033)
