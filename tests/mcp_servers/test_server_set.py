"""Servers over HTTP: identity in the path, date lock, limits, call log, death and restart."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

from lake.settings import LakeSettings
from mcp_servers import access, catalog, watchdog
from mcp_servers.access import Grant
from mcp_servers.call_log import CallLog, CallRecord
from mcp_servers.server_set import ServerSet, start_servers
from mcp_servers.setting import ServerStartError
from tests.mcp_servers.call_logs import calls_of

NAMES = ("edgar", "yfinance", "risk")


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    with start_servers(NAMES, ports="auto") as running:
        yield running


def token(servers: ServerSet, task: str, *, as_of: date = date(2012, 9, 19), calls: int = 200) -> str:
    return access.issue(Grant("run", task, as_of, 1, calls), servers.key)


def call(url: str, tool: str, arguments: dict[str, Any], *, times: int = 1) -> list[Any]:
    async def run() -> list[Any]:
        async with Client(url) as client:
            results = [await client.call_tool(tool, arguments) for _ in range(times)]
        return [result.content[0].text if result.is_error else result.structured_content for result in results]

    return anyio.run(run)


def test_a_task_sees_data_up_to_the_date_of_its_own_token(servers: ServerSet) -> None:
    for as_of in (date(2012, 9, 19), date(2011, 9, 19)):
        url = servers.urls(token(servers, f"dates-{as_of}", as_of=as_of))["yfinance"]
        assert call(url, "get_quote", {"ticker": "AAPL"})[0]["date"] == as_of.isoformat()


def test_the_log_tells_the_harness_what_was_asked_and_which_calls_looked_ahead(servers: ServerSet) -> None:
    mine = token(servers, "log")
    url = servers.urls(mine)["yfinance"]
    call(url, "get_quote", {"ticker": "AAPL"})
    call(url, "get_quote", {"ticker": "AAPL", "date": "2013-01-02"})
    call(url, "no_such_tool", {})
    first, second, third = calls_of(servers, "yfinance", mine)
    assert (first["tool"], first["ok"], first["error"], first["lookahead"]) == ("get_quote", True, None, False)
    assert first["arguments"] == '{"ticker": "AAPL"}' and first["milliseconds"] > 0
    assert (second["ok"], second["lookahead"]) == (False, True)
    assert (third["ok"], third["lookahead"]) == (False, False)
    assert [record["number"] for record in (first, second, third)] == [1, 2, 3]
    assert calls_of(servers, "edgar", mine) == []


def test_an_agent_finds_no_log_at_its_address_and_cannot_forge_a_token_nor_come_without_one(servers: ServerSet) -> None:
    mine = token(servers, "nosy")
    base = servers.urls(mine)["edgar"].removesuffix("/mcp")
    root = base.split("/t/")[0]
    proof = {"X-TraderBench-Harness": access.harness_proof(mine, servers.key)}
    with httpx.Client(trust_env=False) as web:
        assert web.get(f"{base}/log", headers=proof).status_code == 404
        assert web.post(f"{base}/close", headers=proof).status_code == 404
        stranger = access.issue(Grant("run", "nosy", date(2030, 1, 1), 1), access.new_key())
        assert web.post(f"{root}/t/{stranger}/mcp", json={}).status_code == 401
        assert web.post(f"{root}/mcp", json={}).status_code == 401
        assert web.get(f"{root}/health").json() == {"status": "ok", "server": "edgar", "warm": True}


def test_the_channel_tells_nobody_but_the_harness(servers: ServerSet) -> None:
    mine = token(servers, "channel")
    log = f"{servers.channels['edgar']}/log/edgar/{mine}"
    proof = {"X-TraderBench-Harness": access.harness_proof(mine, servers.key)}
    with httpx.Client(trust_env=False) as web:
        assert web.get(log).status_code == 403
        assert web.get(log, headers={"X-TraderBench-Harness": mine}).status_code == 403
        assert web.post(log.replace("/log/", "/close/")).status_code == 403
        assert web.get(log.replace("/log/", "/close/"), headers=proof).status_code == 405
        assert web.get(log.replace("/log/edgar", "/log/no-server"), headers=proof).status_code == 404
        assert web.get(log, headers=proof).json() == {"calls": []}


def test_a_closed_task_is_served_no_more_and_keeps_its_log(servers: ServerSet) -> None:
    mine = token(servers, "closed")
    url = servers.urls(mine)["edgar"]
    call(url, "search_companies", {})
    proof = {"X-TraderBench-Harness": access.harness_proof(mine, servers.key)}
    with httpx.Client(trust_env=False) as web:
        closed = web.post(f"{servers.channels['edgar']}/close/edgar/{mine}", headers=proof)
        assert closed.json() == {"closed": True}
        refused = web.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert (refused.status_code, refused.json()["error"]) == (410, "the task closed is over")
    assert len(calls_of(servers, "edgar", mine)) == 1


def test_a_token_opens_the_servers_of_its_task_and_no_other(servers: ServerSet) -> None:
    mine = access.issue(Grant("run", "one-server", date(2012, 9, 19), 1, servers=("risk",)), servers.key)
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream"}
    with httpx.Client(trust_env=False) as web:
        refused = web.post(servers.urls(mine)["edgar"], json=listing)
        assert refused.json()["error"] == "the task one-server does not use the edgar server"
        assert refused.status_code == 403
        assert web.post(servers.urls(mine)["risk"], json=listing, headers=headers).status_code == 200


def test_calls_beyond_the_limit_are_refused_with_a_message_and_the_first_is_kept(servers: ServerSet) -> None:
    mine = token(servers, "limited", calls=2)
    answers = call(servers.urls(mine)["edgar"], "search_companies", {}, times=4)
    assert [isinstance(answer, str) for answer in answers] == [False, False, True, True]
    assert "takes 2 calls a task" in answers[-1]
    # one refusal is kept, so that the harness sees that the limit was passed
    assert [record["ok"] for record in calls_of(servers, "edgar", mine)] == [True, True, False]


def test_concurrent_tasks_never_mix(servers: ServerSet) -> None:
    days = [date(2012, 3, day) for day in range(5, 10)]

    async def quotes(as_of: date, found: dict[date, set[str]]) -> None:
        async with Client(servers.urls(token(servers, f"mix-{as_of}", as_of=as_of))["yfinance"]) as client:
            for _ in range(5):
                result = await client.call_tool("get_quote", {"ticker": "IBM"})
                found.setdefault(as_of, set()).add(result.structured_content["date"])

    async def run() -> dict[date, set[str]]:
        found: dict[date, set[str]] = {}
        async with anyio.create_task_group() as group:
            for day in days:
                group.start_soon(quotes, day, found)
        return found

    assert anyio.run(run) == {day: {day.isoformat()} for day in days}
    assert all(len(calls_of(servers, "yfinance", token(servers, f"mix-{day}", as_of=day))) == 5 for day in days)


def test_every_server_answers_its_health_probe(servers: ServerSet) -> None:
    assert servers.health() == dict.fromkeys(NAMES, "ok")


def test_a_busy_port_is_one_clear_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setitem(catalog.SERVERS, "risk", catalog.SERVERS["risk"]._replace(port=port))
        with pytest.raises(ServerStartError, match=rf"^port {port} on 127.0.0.1 is not free for the risk server"):
            start_servers(["risk"])


def test_the_key_is_not_on_the_command_line_nor_in_the_environment(servers: ServerSet) -> None:
    listing = subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout
    assert servers.key.hex() not in listing


def test_a_killed_process_comes_back_on_its_ports_and_remembers_the_calls() -> None:
    with start_servers(["edgar"], ports="auto") as running:
        mine = token(running, "survivor")
        url = running.urls(mine)["edgar"]
        call(url, "search_companies", {}, times=3)
        before = watchdog.probe(running.channels["edgar"])
        os.kill(running._groups[0].pid, signal.SIGKILL)
        while running.health() != {"edgar": "ok"} or not (after := watchdog.probe(running.channels["edgar"])):
            time.sleep(0.1)
        assert before is not None and before["boot"] != after["boot"]
        call(url, "search_companies", {})
        assert [record["number"] for record in calls_of(running, "edgar", mine)] == [1, 2, 3, 4]
    assert "no answer" in running.health()["edgar"]


def test_a_process_that_stands_still_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "HUNG_S", 1.0)
    monkeypatch.setattr(watchdog, "PROBE_S", 0.2)
    with start_servers(["edgar"], ports="auto") as running:
        stopped = running._groups[0].pid
        os.kill(stopped, signal.SIGSTOP)
        while running._groups[0].pid == stopped or running.health() != {"edgar": "ok"}:
            time.sleep(0.1)
        with pytest.raises(ProcessLookupError):
            os.kill(stopped, 0)


def test_a_full_disk_stops_the_journal_and_not_the_service(tmp_path: Path) -> None:
    log = CallLog(tmp_path / "no such folder" / "calls.jsonl")
    grant = Grant("run", "full", date(2012, 9, 19), 1)
    record = CallRecord(log.start(grant), "edgar", "f", "{}", "", True, None, False, 1.0)
    log.finish(grant, record)
    log.close(grant)
    assert log.of(grant) == [record] and log.is_closed(grant)
    assert log.broken == "calls.jsonl: No such file or directory"


def test_no_process_outlives_its_set() -> None:
    running = start_servers(["risk"], ports="auto")
    child = running._groups[0].pid
    running.close()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def runs(pid: str) -> bool:
    """Return whether a process lives; one that ended and that nobody has waited for yet has no command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except OSError:
        return False


def test_a_killed_harness_leaves_no_process_and_no_folder() -> None:
    program = (
        "import time; from mcp_servers.server_set import start_servers; s = start_servers(['risk'], ports='auto');"
        "print(s._groups[0].pid, s._setting.state_dir, flush=True); time.sleep(3600)"
    )
    harness = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    child, folder = harness.stdout.readline().split()
    assert Path(folder).is_dir()
    harness.kill()
    harness.wait()
    harness.stdout.close()
    while Path(folder).exists() or runs(child):
        time.sleep(0.05)


def test_an_unknown_server_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown MCP server 'edgars'; available: edgar, yfinance, sandbox"):
        start_servers(["edgars"])


ALONE = (
    "from datetime import date; from mcp_servers import caller, host, risk;"
    "grant = caller.standalone_grant(date(2012, 9, 19));"
)
BROKEN = "risk.build_server = lambda: 1 / 0;"


@contextmanager
def alone(code: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", ALONE + code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.terminate()


def test_servers_that_run_alone_have_the_date_they_were_started_with() -> None:
    with alone("host.serve(['yfinance', 'risk'], port=0, grant=grant)") as child:
        assert child.stdout is not None
        url, other = (child.stdout.readline().split()[-1] for _ in range(2))
        quote, refused = (
            call(url, "get_quote", arguments)[0]
            for arguments in ({"ticker": "AAPL"}, {"ticker": "AAPL", "date": "2013-01-02"})
        )
        drawdown = call(other, "calculate_max_drawdown", {"returns": [0.5, -0.5]})[0]
    assert quote["close"] == 702.10 and drawdown["max_drawdown"] == 0.5
    assert "is after the simulation date 2012-09-19" in refused


def test_a_server_that_cannot_run_is_told_and_the_others_serve() -> None:
    with alone(BROKEN + "host.serve(['risk', 'yfinance'], port=0, grant=grant)") as child:
        assert child.stdout is not None and child.stderr is not None
        first = child.stdout.readline()
        assert first.startswith("Yahoo Finance MCP server: http://127.0.0.1:")
        assert call(first.split()[-1], "get_quote", {"ticker": "AAPL"})[0]["date"] == "2012-09-19"
        assert child.stderr.readline() == "the risk server cannot run here: division by zero\n"
    with alone(BROKEN + "host.serve(['risk'], port=0, grant=grant)") as child:
        told = child.communicate(timeout=60)[1]
        assert child.returncode == 1 and "ServerStartError: the risk server cannot run here: division by zero" in told


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_servers_that_run_alone_at_once_and_without_a_traceback(number: signal.Signals) -> None:
    # the options server has the longest warm-up: the signal comes in the middle of it
    with alone("host.serve(['options', 'sandbox'], port=0, grant=grant)") as child:
        assert child.stdout is not None
        for _ in range(2):
            child.stdout.readline()
        child.send_signal(number)
        told = child.communicate(timeout=20)[1]
        assert (child.returncode, told) == (130, "")


def test_the_servers_of_a_run_serve_the_lake_that_its_settings_name(tmp_path: Path) -> None:
    (tmp_path / "equities").mkdir()
    rows = "2024-03-04,10,12,9,11,100\n2024-03-05,11,13,10,12,200\n"
    (tmp_path / "equities" / "ACME.csv").write_text("date,open,high,low,close,volume\n" + rows)
    lake = LakeSettings(equities="folder", path=str(tmp_path))
    with start_servers(("yfinance", "risk"), ports="auto", lake=lake) as running:
        assert running.health() == {"yfinance": "ok", "risk": "ok"}
        url = running.urls(token(running, "own", as_of=date(2024, 3, 4)))["yfinance"]
        quote = call(url, "get_quote", {"ticker": "ACME"})[0]
    assert (quote["close"], quote["date"], quote["source"]) == (11.0, "2024-03-04", "files of the user")
