"""The paper-trading assignment, carried out in the real trading simulator."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from typing import Any

import anyio
import pytest
from mcp import Client

from evaluators.contract import Case
from evaluators.professional.assignments import paper_trading
from evaluators.professional.dataset import DATASET
from mcp_servers import caller, trading, yfinance
from mcp_servers.access import Grant
from mcp_servers.trading import fills
from tests.evaluators.professional.test_professional import inputs_of

CASES = list(DATASET.draw(seed=41, count=3, options={"task_types": ["paper-trading"]}))


async def carry_out(case: Case) -> tuple[dict[str, Any], dict[str, Any], dict[str, float]]:
    """Trade as the assignment says; return the orders, the account, and the open of each order's day."""
    inputs = inputs_of(case)
    grant = Grant("run", case.task.task_id, case.task.as_of, 0)
    with caller.acting_as(grant) as call:
        async with Client(trading.build_server()) as desk, Client(yfinance.build_server()) as prices:

            async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content[0].text
                assert result.structured_content is not None
                return result.structured_content

            await ask(desk, "open_account", cash=inputs["cash"], start=inputs["orders"][0]["placed_on"])
            for day in sorted({order["placed_on"] for order in inputs["orders"]}):
                state = await ask(desk, "advance", to=day)
                for order in inputs["orders"]:
                    if order["placed_on"] == day:
                        terms = {"ticker": order["ticker"], "side": order["side"], "quantity": order["shares"]}
                        await ask(desk, "place_order", client_order_id=order["order"], **terms)
            state = await ask(desk, "advance", to=case.task.as_of.isoformat())
            filled = await ask(desk, "list_orders")
            opens = {}
            for name, ticker, day in zip(filled["client_order_id"], filled["ticker"], filled["filled_on"], strict=True):
                history = await ask(prices, "get_price_history", ticker=ticker, start=day, end=day)
                opens[name] = history["open"][0]
        assert not call.looked_ahead
    return filled, state, opens


def report(case: Case, filled: dict[str, Any], state: dict[str, Any], opens: dict[str, float]) -> str:
    """Write the deliverables from what the simulator said, the memo's prose from the oracle's."""
    files = {entry["name"]: entry["content"] for entry in json.loads(case.open().oracle())["deliverables"]}
    costs = [
        shares * abs(price - opens[name])
        for name, shares, price in zip(filled["client_order_id"], filled["quantity"], filled["fill_price"], strict=True)
    ]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["order", "fill_price", "fee", "slippage_cost"])
    for name, price, fee, cost in zip(
        filled["client_order_id"], filled["fill_price"], filled["fee"], costs, strict=True
    ):
        writer.writerow([name, f"{price:.4f}", f"{fee:.2f}", f"{cost:.2f}"])
    traded = sum(q * p for q, p in zip(filled["quantity"], filled["fill_price"], strict=True))
    figures = {
        "Closing equity": state["equity"],
        "Profit": state["profit_and_loss"],
        "Total fees": state["fees"],
        "Total slippage cost": sum(costs),
        "Traded value": traded,
    }
    head, rest = files["memo.md"].split("## Key figures\n")
    tail = rest.split("\n\n", 1)[1]
    memo = f"{head}## Key figures\n" + "".join(f"- {k}: {v:.2f} USD\n" for k, v in figures.items()) + "\n" + tail
    return json.dumps({"deliverables": [
        {"name": "executions.csv", "content": out.getvalue()}, {"name": "memo.md", "content": memo}
    ]})  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.task.task_id)
def test_what_the_simulator_reports_is_the_right_answer(case: Case) -> None:
    filled, state, opens = anyio.run(carry_out, case)
    assert set(filled["state"]) == {"filled"}
    session = case.open()
    session.reply(report(case, filled, state, opens))
    score = session.score()
    assert score.value == pytest.approx(100.0), score.reason


def test_the_stated_costs_are_those_of_the_simulator() -> None:
    stated = (paper_trading.HALF_SPREAD_BPS, paper_trading.IMPACT_BPS, paper_trading.FEE_BPS)
    assert stated == (fills.SHARES.slippage_bps, fills.SHARES.impact_bps, fills.SHARES.fee_bps)


def test_the_assignment_names_the_tools_it_needs() -> None:
    assert all(case.task.servers == ("trading", "yfinance") for case in CASES)
    assert all(date.fromisoformat(order["placed_on"]) < case.task.as_of for case in CASES
               for order in inputs_of(case)["orders"])  # fmt: skip
