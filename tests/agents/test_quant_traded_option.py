"""The quant's trades of options on the paper account: worked out on the real servers, marked by the dataset."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from evaluators.contract import Case, Score
from evaluators.options.dataset import DATASET
from mcp_servers import access
from mcp_servers.server_set import ServerSet, start_servers
from tests.mcp_servers.call_logs import calls_of

Agent = Callable[[str], str]
SERVERS = ("trading", "options", "risk")


def drawn(seed: int, *, difficulty: str = "easy", wordings: str = "usual") -> Case:
    options = {"task_types": ["traded_option"], "difficulties": [difficulty], "wordings": wordings}
    (case,) = DATASET.draw(seed=seed, count=1, options=options)
    return case


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    running = start_servers(SERVERS, ports="auto")
    yield running
    running.close()


def hand_in(quant: Agent, servers: ServerSet, case: Case, *, offered: tuple[str, ...] = SERVERS) -> tuple[Score, str]:
    grant = access.Grant("run", f"{case.task.task_id} {offered}", case.task.as_of, seed=1, servers=offered)
    token = access.issue(grant, servers.key)
    urls = {name: url for name, url in servers.urls(token).items() if name in offered}
    session = case.open()
    message = session.opening() | {"as_of": case.task.as_of.isoformat(), "mcp_servers": urls}
    session.reply(quant(json.dumps(message)))
    return session.score(), token


@pytest.mark.parametrize(
    ("seed", "difficulty", "wordings"),
    [(1, "easy", "usual"), (2, "easy", "held_back"), (3, "hard", "usual"), (4, "hard", "held_back")],
)
def test_the_option_is_traded_measured_and_hedged(
    quant: Agent, servers: ServerSet, seed: int, difficulty: str, wordings: str
) -> None:
    case = drawn(seed, difficulty=difficulty, wordings=wordings)
    assert set(case.task.servers) == set(SERVERS)
    score, token = hand_in(quant, servers, case)
    assert score.value == 100.0, score.details
    assert len(calls_of(servers, "trading", token)) >= 6


@pytest.mark.parametrize("offered", [("options", "risk"), ()])
def test_without_the_trading_server_it_earns_nothing(
    quant: Agent, servers: ServerSet, offered: tuple[str, ...]
) -> None:
    score, _ = hand_in(quant, servers, drawn(1), offered=offered)
    assert score.value == 0.0, score.details
