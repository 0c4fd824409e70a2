"""Attacks on the conversation and deaths of servers, in whole runs: nobody plays twice, no fault of ours counts."""

from __future__ import annotations

import json
import signal
import socket
import threading
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httpx
import pytest

from engine.run.rescore import rescore
from engine.run.tool_access import ToolAccess
from engine.storage.store import Store
from evaluators.crypto.session import InteractiveSession
from tests.engine.run.attacked_run import Meanwhile, Purple, run, signal_light_servers

pytestmark = pytest.mark.slow

Servers: TypeAlias = tuple[ToolAccess, str]

FILINGS = [{"type": "fundamentals", "limit": 12}]
CRYPTO = [{"type": "crypto", "limit": 2, "windows": 2, "bars": 24, "transforms": ["baseline"]}]


def scores(result: dict[str, Any]) -> list[tuple[str, str, float]]:
    return [(task["id"], task["state"], task["value"]) for task in result["tasks"]]


@pytest.fixture(scope="module")
def undisturbed(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return run(tmp_path_factory.mktemp("calm") / "run", "builtin:quant", FILINGS, servers=servers)


def lie_about_the_body(url: str, times: int) -> None:
    """Announce 100,000 bytes, send one, hang up."""
    place = urlsplit(url)
    head = f"POST {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: 100000\r\n"
    head += "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\r\n{"
    for _ in range(times):
        with socket.create_connection((place.hostname, place.port)) as link:
            link.sendall(head.encode())


class Hindsight:
    """Holds while it sees a market for the first time and floods the servers; trades the path when it sees it again."""

    def __init__(self) -> None:
        self.closes: dict[str, list[float]] = {}
        self.openings = self.replies = 0

    def say(self, message: dict[str, Any]) -> str:
        if "mcp_servers" in message:
            self.openings += 1
            for url in message["mcp_servers"].values():
                lie_about_the_body(url, 60)
        orders = [
            {"episode": name, "size": 1, "action": self.action(message, name, row[0])}
            for name, row in message["episodes"].items()
        ]
        self.replies += 1
        return json.dumps({"decisions": orders})

    def action(self, message: dict[str, Any], episode: str, now: float) -> str:
        known = self.closes.setdefault(f"{message['task_id']}/{episode}", [])
        place = message["decision"]
        if len(known) < place:
            known.append(now)
            return "HOLD"
        return "HOLD" if len(known) == place else "BUY" if known[place] > now else "SELL"


def test_a_market_is_never_played_twice_however_the_servers_are_flooded(servers: Servers, tmp_path: Path) -> None:
    mind = Hindsight()
    with Purple(mind.say) as agent:
        result = run(tmp_path / "run", agent.url, CRYPTO, servers=servers)
    assert (mind.openings, mind.replies, result["repeated"]) == (2, 48, 0)
    assert [(task["attempts"], task["draw"], task["state"]) for task in result["tasks"]] == [(1, 1, "failed")] * 2
    assert result["sections"]["crypto_trading"]["score"] == 0.0


@pytest.mark.campaign
def test_servers_that_die_and_hang_cost_no_point(
    undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_servers.watchdog.HUNG_S", 5.0)
    blows = {2: signal.SIGKILL, 7: signal.SIGSTOP}
    strike = Meanwhile(after={task: partial(signal_light_servers, number) for task, number in blows.items()})
    result = run(tmp_path / "run", "builtin:quant", FILINGS, strike)
    assert scores(result) == scores(undisturbed)
    assert result["sections"] == undisturbed["sections"] and result["unscored"] == 0


@pytest.mark.campaign
def test_a_full_disk_below_the_servers_costs_no_point(
    undisturbed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def fill(stage: str) -> None:
        if stage.startswith("warming"):
            (folder,) = tmp_path.glob("traderbench-servers-*")
            for name in ("edgar", "yfinance", "options", "trading", "risk", "sandbox"):
                (folder / f"calls-{name}.jsonl").symlink_to("/dev/full")

    result = run(tmp_path / "run", "builtin:quant", FILINGS, Meanwhile(at_stage=fill))
    assert scores(result) == scores(undisturbed)
    assert sum(result["tool_calls"].values()) == sum(undisturbed["tool_calls"].values()) > 0


class Borrower:
    """Keeps every address of dated tools that it is given, and tries in each task those of later tasks."""

    def __init__(self) -> None:
        self.addresses: dict[str, date] = {}
        self.lock = threading.Lock()
        self.web = httpx.Client(trust_env=False)
        self.tasks = self.peeked = 0

    def say(self, message: dict[str, Any]) -> str:
        today = date.fromisoformat(message["as_of"])
        with self.lock:
            dated = [url for name, url in message["mcp_servers"].items() if name not in ("sandbox", "risk")]
            self.addresses |= dict.fromkeys(dated, today)
            borrowed = [url for url, day in self.addresses.items() if day > today]
            self.tasks += 1
        opened = sum(self.opens(url) for url in borrowed)
        with self.lock:
            self.peeked += bool(opened)
        return "Final answer: 1"

    def opens(self, url: str) -> bool:
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        reply = self.web.post(url, json=listing, headers={"Accept": "application/json, text/event-stream"})
        return reply.status_code == 200


def borrowed(out: Path, servers: Servers, *, date_order: bool, limit: int) -> tuple[Borrower, dict[str, Any]]:
    mind = Borrower()
    execution = {"backend": "serial", "ports": "auto", "concurrency": 4, "date_order": date_order}
    datasets = [{"type": "fundamentals", "limit": limit}, {"type": "synthetic", "limit": 6}]
    with mind.web, Purple(mind.say) as agent:
        return mind, run(out, agent.url, datasets, servers=servers, execution=execution)


def test_no_task_finds_an_address_that_opens_a_later_date(servers: Servers, tmp_path: Path) -> None:
    mind, result = borrowed(tmp_path / "run", servers, date_order=True, limit=200)
    assert (mind.tasks, mind.peeked, result["after_later_data"]) == (206, 0, 0)


def test_without_the_order_of_dates_the_result_says_what_may_have_been_seen(servers: Servers, tmp_path: Path) -> None:
    mind, result = borrowed(tmp_path / "run", servers, date_order=False, limit=30)
    assert mind.peeked > 0 and result["after_later_data"] >= mind.peeked


def test_a_market_that_has_to_be_repeated_is_another_one_and_is_scored_again_as_it_was(
    servers: Servers, tmp_path: Path
) -> None:
    openings: list[dict[str, Any]] = []

    def buy(message: dict[str, Any]) -> str:
        if "mcp_servers" in message:
            openings.append(message)
        orders = [{"episode": name, "action": "BUY", "size": 1} for name in message["episodes"]]
        return json.dumps({"decisions": orders})

    with pytest.MonkeyPatch.context() as patch:
        whole = InteractiveSession.score

        def fails_once(session: InteractiveSession) -> Any:
            if len(openings) == 1:
                raise RuntimeError("a bug of ours")
            return whole(session)

        patch.setattr(InteractiveSession, "score", fails_once)
        with Purple(buy) as agent:
            result = run(tmp_path / "run", agent.url, [CRYPTO[0] | {"limit": 1}], servers=servers)
    first, second = openings
    assert first["task_id"] != second["task_id"]
    shown = [[row[0] for row in opening["episodes"].values()] for opening in openings]
    assert set(shown[0]).isdisjoint(shown[1])
    (task,) = result["tasks"]
    assert (task["attempts"], task["draw"], result["repeated"], result["fresh_draws"]) == (2, 2, 1, 1)
    assert rescore(tmp_path / "run")["changed"] == []
    with Store.open(tmp_path / "run") as store:
        assert store.draws() == {store.manifest()["tasks"][0]["key"]: 2}
