"""The quant's paper-trading assignment: worked out on the real servers, marked by the dataset.

The dataset tells its inputs in the text, which the quant does not read; here it is given them by name.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest

from evaluators.contract import Case, Score
from evaluators.professional.dataset import DATASET
from mcp_servers import access
from mcp_servers.server_set import ServerSet, start_servers
from tests.evaluators.professional.test_professional import inputs_of
from tests.mcp_servers.call_logs import calls_of

Importer = Callable[[str, str], ModuleType]
Agent = Callable[[str], str]

SEEDS = (1, 2, 3, 4, 5, 6)
RULE = ("BREACH if fees and slippage exceed the limit in basis points of the traded value", "WITHIN")


def drawn(seed: int) -> Case:
    (case,) = DATASET.draw(seed=seed, count=1, options={"task_types": ["paper-trading"]})
    return case


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    running = start_servers(("yfinance", "trading"), ports="auto")
    yield running
    running.close()


def hand_in(
    quant: Agent,
    servers: ServerSet,
    case: Case,
    *,
    offered: tuple[str, ...] = ("yfinance", "trading"),
    by_name: bool = True,
) -> tuple[str, str]:
    """Return the agent's reply over A2A and the token of the accounts it traded on."""
    grant = access.Grant("run", f"{case.task.task_id} {offered}", case.task.as_of, seed=1, servers=offered)
    token = access.issue(grant, servers.key)
    urls = {name: url for name, url in servers.urls(token).items() if name in offered}
    message = case.open().opening() | {"as_of": case.task.as_of.isoformat(), "mcp_servers": urls}
    message |= {"context": inputs_of(case)} if by_name else {}
    return quant(json.dumps(message)), token


def marked(case: Case, reply: str) -> Score:
    session = case.open()
    session.reply(reply)
    return session.score()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_orders_are_traded_and_their_costs_handed_in(quant: Agent, servers: ServerSet, seed: int) -> None:
    case = drawn(seed)
    reply, token = hand_in(quant, servers, case)
    score = marked(case, reply)
    assert score.value == pytest.approx(100.0), score.reason
    assert len(calls_of(servers, "trading", token)) > len(inputs_of(case)["orders"])
    # the report is of these orders: that of another seed is worth nothing
    assert marked(drawn(seed + 100), reply).value < 20.0


def test_the_seeds_of_this_file_have_both_conclusions() -> None:
    memos = [drawn(seed).open().oracle() for seed in SEEDS]
    assert {"BREACH." in memo for memo in memos} == {True, False}


def test_without_the_trading_server_nothing_is_made_up(quant: Agent, servers: ServerSet) -> None:
    case = drawn(SEEDS[0])
    reply, _ = hand_in(quant, servers, case, offered=("yfinance",))
    assert "deliverables" not in reply
    assert marked(case, reply).value == 0.0


def test_what_is_told_in_the_text_is_not_read_by_name(quant: Agent, servers: ServerSet) -> None:
    case = drawn(SEEDS[0])
    reply, _ = hand_in(quant, servers, case, by_name=False)
    assert "context" not in case.open().opening() and marked(case, reply).value == 0.0


class Broker:
    """A toolbox whose only order was rejected."""

    async def call(self, server: str, tool: str, **arguments: object) -> dict[str, object]:
        """Answer as the trading server does."""
        columns = {"client_order_id": "O1", "ticker": "X", "quantity": 5.0, "fill_price": None, "fee": 0.0}
        return {name: [value] for name, value in (columns | {"filled_on": None}).items()}


def test_a_report_of_an_order_that_was_not_filled_is_not_written(program: Importer) -> None:
    order = {"order": "O1", "placed_on": "2020-01-02", "ticker": "X", "side": "buy", "shares": 5}
    context = {"cash": 1000.0, "orders": [order], "as_of": "2020-02-03"}
    assert asyncio.run(program("quant", "assignments.paper_account").trade_costs(context, Broker())) is None


@pytest.mark.parametrize(("limit", "expected"), [(6.9, "BREACH"), (7.1, "WITHIN")])
def test_a_limit_in_basis_points_is_compared_in_basis_points(program: Importer, limit: float, expected: str) -> None:
    # 14 of 20,000 dollars are 7 basis points
    figures = {"Fees and slippage": 14.0, "Traded value": 20_000.0}
    found = program("quant", "assignments.conclusion").verdict(RULE, figures, {"cash": 1.0, "cost_limit_bps": limit})
    assert found == expected
