"""Servers over standard input and output, started by command as a desktop client starts them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import engine
from engine.cli import build_parser
from mcp_servers.catalog import SERVERS
from tests.engine.command_line import here

ROOT = Path(__file__).resolve().parents[2]
AS_OF = "2012-09-19"
SERVE = ("-m", "engine.cli", "mcp", "serve")
RETURNS = [0.012, -0.021, 0.004, 0.009, -0.013, 0.001, -0.034, 0.027, 0.006, -0.008]
LATER = "nothing later is known"
GOOD: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "edgar": (
        "get_company_facts",
        {"ticker": "AAPL", "concept": "Revenue", "fiscal_year": 2011, "fiscal_period": "FY"},
        {"value": [108_249e6], "unit": ["USD"]},
    ),
    "yfinance": ("get_quote", {"ticker": "AAPL"}, {"date": AS_OF, "close": 702.1, "days_old": 0}),
    "sandbox": ("execute_python", {"code": "sum(data)", "data": [40, 2]}, {"ok": True, "result": 42}),
    "options": ("get_iv_surface", {"ticker": "SIM-TECH"}, {"as_of": AS_OF}),
    "trading": ("open_account", {"cash": 10_000}, {"cash": 10_000.0, "last_day": AS_OF, "clock": "2012-06-21"}),
    "risk": ("calculate_max_drawdown", {"returns": [0.5, -0.5, 0.1]}, {"max_drawdown": 0.5, "trough_index": 2}),
}
LOOKS_AHEAD = {
    "edgar": ("get_financial_statement", {"ticker": "AAPL", "statement": "income", "fiscal_year": 2014}),
    "yfinance": ("get_quote", {"ticker": "AAPL", "date": "2012-09-20"}),
    "trading": ("advance", {"to": "2012-09-20"}),
}
BAD = {
    "edgar": ("search_companies", {"qeury": "Apple"}, "unknown argument 'qeury'; did you mean 'query'?"),
    "yfinance": ("get_quote", {"ticker": "NOPE"}, "NOPE"),
    "sandbox": ("execute_python", {"code": "1", "timeout_s": 60}, "timeout_s"),
    "options": ("get_options_chain", {"ticker": "SIM-TECH", "expiration": "soon"}, "expiration: "),
    "trading": ("place_order", {"client_order_id": "a", "ticker": "AAPL", "side": "buy", "quantity": -1}, "quantity: "),
    "risk": (
        "calculate_var",
        {"returns": RETURNS, "confidence": 95},
        "confidence: Input should be less than 1, got 95",
    ),
}


def parameters(*arguments: str) -> StdioServerParameters:
    # the client passes hardly any of its environment on, as desktop clients do
    kept = {name: os.environ[name] for name in ("XDG_CACHE_HOME", "PYTHONPATH") if name in os.environ}
    return StdioServerParameters(command=sys.executable, args=[*SERVE, *arguments, "--stdio"], env=kept, cwd=ROOT)


def texts(result: Any) -> str:
    return " ".join(part.text for part in result.content)


async def judge(client: Client, name: str) -> None:
    """Call one good tool of a server, one that looks ahead, one with a bad argument; assert what comes."""
    tool, arguments, expected = GOOD[name]
    good = await client.call_tool(tool, arguments)
    assert not good.is_error, texts(good)
    assert {key: good.structured_content[key] for key in expected} == expected
    if name in LOOKS_AHEAD:
        ahead = await client.call_tool(*LOOKS_AHEAD[name])
        assert ahead.is_error and LATER in texts(ahead)
    tool, arguments, said = BAD[name]
    bad = await client.call_tool(tool, arguments)
    assert bad.is_error and said in texts(bad), texts(bad)


@pytest.mark.parametrize("name", SERVERS)
def test_a_real_client_lists_calls_and_is_refused_what_is_later_or_wrong(name: str, tmp_path: Path) -> None:
    async def talk() -> list[str]:
        with (tmp_path / "errors").open("w") as errors:
            async with Client(stdio_client(parameters(name, "--as-of", AS_OF), errors)) as client:
                assert (client.server_info.name, client.server_info.version) == (name, engine.__version__)
                tools = [tool.name for tool in (await client.list_tools()).tools]
                await judge(client, name)
        return tools

    tools = anyio.run(talk)
    assert GOOD[name][0] in tools
    ahead = [f"look-ahead refused: {LOOKS_AHEAD[name][0]} after {AS_OF}"] if name in LOOKS_AHEAD else []
    assert (tmp_path / "errors").read_text().splitlines() == [
        f"{SERVERS[name].title} MCP server on standard input and output: {len(tools)} tools, as of {AS_OF}",
        *ahead,
    ]


def test_one_process_offers_the_tools_of_all_six() -> None:
    async def talk() -> None:
        async with Client(stdio_client(parameters("all", "--as-of", AS_OF))) as client:
            assert (client.server_info.name, client.server_info.version) == ("traderbench", engine.__version__)
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert len(names) == len(set(names)) == 56
            for spec in SERVERS.values():
                assert f"{spec.title}: " in client.instructions
            for name in SERVERS:
                await judge(client, name)

    anyio.run(talk)


def test_the_seed_is_the_one_that_is_given() -> None:
    async def drawn(*seed: str) -> float:
        async with Client(stdio_client(parameters("risk", *seed))) as client:
            answer = await client.call_tool("calculate_var", {"returns": RETURNS, "method": "monte_carlo"})
            return float(answer.structured_content["value_at_risk"])

    default, zero, seven = (anyio.run(drawn, *seed) for seed in ((), ("--seed", "0"), ("--seed", "7")))
    assert default == zero != seven


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    command = [sys.executable, *SERVE, *arguments, "--stdio"]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as server:
        try:
            yield server
        finally:
            server.kill()


def ask(server: subprocess.Popen[str], method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    return answer


def hello(server: subprocess.Popen[str]) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    assert ask(server, "initialize", **client)["result"]["serverInfo"]["version"] == engine.__version__
    assert server.stdin is not None
    server.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    server.stdin.flush()


def sockets_listening(pid: int) -> list[str]:
    """Return the listening TCP sockets of a process and of all that it has started."""
    mine = set()
    for process in [pid, *descendants(pid)]:
        for number in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                mine.add(os.readlink(number))
    rows = [row.split() for file in ("tcp", "tcp6") for row in Path(f"/proc/net/{file}").read_text().splitlines()[1:]]
    return [row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine]


def descendants(pid: int) -> list[int]:
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()
    ]
    return children + [below for child in children for below in descendants(child)]


def alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def gone(pids: list[int]) -> bool:
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(alive, pids))


def test_standard_output_is_protocol_alone_no_port_is_opened_and_the_end_of_input_ends_it_with_its_sandbox() -> None:
    with started("all", "--as-of", AS_OF) as server:
        hello(server)
        code = "import sys\nprint('loud')\nsys.stderr.write('louder')\n1"
        answer = ask(server, "tools/call", 2, name="execute_python", arguments={"code": code})
        assert answer["result"]["structuredContent"]["stdout"] == "loud\n"
        assert sockets_listening(server.pid) == []
        below = descendants(server.pid)
        assert below, "the sandbox has processes"
        rest, told = server.communicate(timeout=30)
        assert (server.returncode, rest) == (0, "")
        assert [line for line in told.splitlines() if "Traceback" in line] == []
    assert gone(below)


def test_input_that_ends_at_once_is_no_error() -> None:
    with started("risk") as server:
        out, told = server.communicate(timeout=60)
        assert (server.returncode, out) == (0, "") and len(told.splitlines()) == 1


def test_what_is_no_message_stops_nothing() -> None:
    with started("risk") as server:
        hello(server)
        assert server.stdin is not None
        server.stdin.write("this is no JSON\n\x00\n[]\n" + "[" * 10_000 + "\n")
        answer = ask(server, "tools/list", 3)
        while answer.get("id") != 3:
            assert server.stdout is not None
            answer = json.loads(server.stdout.readline())
        assert len(answer["result"]["tools"]) == 11


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_although_its_input_stays_open(number: signal.Signals) -> None:
    with started("risk") as server:
        hello(server)
        server.send_signal(number)
        assert server.wait(timeout=10) == 130


def test_a_client_that_is_gone_is_no_error_of_the_server() -> None:
    with started("yfinance", "--as-of", AS_OF) as server:
        hello(server)
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdout.close()
        request = {"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {}}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.close()
        assert server.wait(timeout=30) == 0
        assert "Traceback" not in server.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("all", "--port", "0"), "--port is for one server; all serves each on its own port, 8101 to 8106"),
        (("risk", "--stdio", "--port", "8106"), "--stdio opens no port: leave out --port"),
        (
            ("all", "--stdio", "--host", "0.0.0.0", "--allowed-host", "green"),
            "--stdio opens no port: leave out --host, --allowed-host",
        ),
        (("risk", "--stdio", "--live", "cache"), "--live: the risk server has no live data; edgar has"),
        (("al", "--stdio"), "unknown server 'al' (did you mean 'all'?)"),
    ],
)
def test_options_that_say_nothing_about_it_are_refused(arguments: tuple[str, ...], said: str) -> None:
    done = here("mcp", "serve", *arguments)
    assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1 and not done.stdout


def test_live_figures_need_a_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRADERBENCH_SEC_CONTACT", raising=False)
    done = here("mcp", "serve", "all", "--stdio", "--live", "cache")
    assert done.returncode == 2 and "set TRADERBENCH_SEC_CONTACT" in done.stderr


def test_the_snippet_for_desktop_clients_is_json_and_its_command_is_one() -> None:
    text = (ROOT / "mcp_servers" / "README.md").read_text()
    (server,) = json.loads(text.split("```json")[1].split("```")[0])["mcpServers"].values()
    assert Path(server["command"]).name == "traderbench"
    parsed = build_parser().parse_args(server["args"])
    assert (parsed.name, parsed.stdio, parsed.as_of) == ("all", True, date(2013, 3, 1))
