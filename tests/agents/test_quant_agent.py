"""The offline quant: textbook formulas, rules that look back only, figures by tool."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
import random
from collections.abc import Callable, Iterator
from datetime import date
from types import ModuleType
from typing import Any

import pytest

from mcp_servers import access
from mcp_servers.server_set import ServerSet, start_servers
from tests.mcp_servers.call_logs import calls_of

Importer = Callable[[str, str], ModuleType]
Agent = Callable[[str], str]


def problem(asked: str, inputs: dict[str, tuple[float, str]], *, unit: str = "a plain number") -> dict[str, Any]:
    """Return a question in the form that lists its inputs."""
    return {
        "type": "question",
        "question": "See the inputs.",
        "answer_schema": {
            "type": "object",
            "properties": {
                "answer": {"type": ["number", "string"], "description": f"{asked}, {unit}"},
                "method": {"type": "object", "properties": {"answer": {"type": "string", "description": "formula"}}},
            },
        },
        "context": {"inputs": {name: {"value": value, "meaning": words} for name, (value, words) in inputs.items()}},
    }


def solve(program: Importer, body: dict[str, Any]) -> dict[str, Any] | None:
    analytical = program("quant", "questions.analytical")
    reply = asyncio.run(analytical.answer(body, program("quant", "mcp_toolbox").Toolbox({})))
    return None if reply is None else dict(json.loads(reply))


@pytest.mark.parametrize(
    ("asked", "inputs", "expected"),
    [
        # Brealey, Myers, Allen: a growing perpetuity, 2 * 1.06 / (0.10 - 0.06)
        (
            "value of the share",
            {"d": (2.0, "dividend just paid"), "g": (0.06, "growth of it"), "r": (0.10, "required return")},
            53.0,
        ),
        # ex-rights price: (4 * 40 + 30) / 5
        (
            "theoretical price without the right",
            {
                "p": (40.0, "price with the right attached"),
                "s": (30.0, "price of a new share in the offer"),
                "n": (4.0, "old shares per new share"),
            },
            38.0,
        ),
        # Cox, Ross, Rubinstein: (1 + r - d) / (u - d) with u = 1.20, d = 0.85 and r = 0.05
        (
            "risk-neutral probability",
            {"u": (0.20, "relative rise"), "d": (0.15, "relative fall"), "r": (0.05, "riskless rate")},
            0.2 / 0.35,
        ),
        # an annuity: 200,000 over 20 years at 6%: 1,432.86 a month (any mortgage table)
        (
            "instalment",
            {"a": (200000.0, "amount borrowed"), "y": (20.0, "years of the loan"), "r": (0.06, "nominal yearly rate")},
            1432.862,
        ),
    ],
)
def test_a_textbook_problem_is_found_by_its_words(
    program: Importer, asked: str, inputs: dict[str, tuple[float, str]], expected: float
) -> None:
    reply = solve(program, problem(asked, inputs))
    assert reply is not None
    assert reply["answer"] == pytest.approx(expected, rel=1e-6)
    assert set(inputs) >= {word for word in _names(reply["method"]["answer"]) if word in inputs}
    assert not any(character.isdigit() for character in reply["method"]["answer"].replace("12", "").replace("1", ""))


def _names(expression: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in expression).split())


def test_a_percentage_is_written_with_its_sign(program: Importer) -> None:
    inputs = {"mean": (0.12, "expected return"), "r": (0.04, "riskless rate"), "t": (0.16, "target")}
    reply = solve(program, problem("weight of the stock", inputs, unit="a percentage with a percent sign"))
    assert reply is not None and reply["answer"] == "150%"


def test_an_unknown_question_is_not_answered_with_a_guess(program: Importer) -> None:
    assert solve(program, problem("number of angels on the needle", {"n": (3.0, "needles")})) is None


def closes(count: int, drift: float, *, seed: int = 1) -> list[float]:
    draw = random.Random(seed)
    prices = [100.0]
    for _ in range(count - 1):
        prices.append(prices[-1] * math.exp(drift + 0.01 * draw.gauss(0.0, 1.0)))
    return prices


def decision(program: Importer, prices: list[float], **account: Any) -> dict[str, Any]:
    state = {"ohlcv": {"close": prices}, "account": account}
    reply = program("quant", "desks.trading").Trader().reply({"type": "trading_decision", "state": state}, "c")
    return dict(reply)


def test_a_strong_trend_is_followed_with_a_stop_on_the_losing_side(program: Importer) -> None:
    up, down = closes(60, 0.02), closes(60, -0.02)
    long, short = decision(program, up), decision(program, down)
    assert long["action"] == "BUY" and 0.0 < long["size"] <= 0.5 and long["stop_loss"] < up[-1]
    assert short["action"] == "SELL" and short["stop_loss"] > down[-1]


def test_a_position_against_the_trend_is_closed_and_one_with_it_is_kept(program: Importer) -> None:
    up = closes(60, 0.02)
    assert decision(program, up, positions=[{"side": "short", "size": 1.0}])["action"] == "CLOSE"
    assert decision(program, up, positions=[{"side": "long", "size": 1.0}])["action"] == "HOLD"


def test_a_flat_or_unknown_market_is_left_alone(program: Importer) -> None:
    assert decision(program, [100.0] * 60)["action"] == "HOLD"
    assert decision(program, [])["action"] == "HOLD"
    assert decision(program, [math.nan, -1.0])["action"] == "HOLD"


def test_one_bar_a_message_gives_the_same_decision_as_all_bars_at_once(program: Importer) -> None:
    prices = closes(60, 0.02)
    trader = program("quant", "desks.trading").Trader()
    for price in prices:
        state = {"ohlcv": {"open": 1.0, "close": price}, "account": {}}
        last = trader.reply({"type": "trading_decision", "state": state}, "c")
    assert last == decision(program, prices)


@pytest.mark.parametrize("rows", [lambda p: [[0, 1, 1, 1, x, 9] for x in p], lambda p: [{"close": x} for x in p]])
def test_bars_in_rows_are_read_as_well(program: Importer, rows: Callable[[list[float]], Any]) -> None:
    prices = closes(20, 0.0)
    assert program("quant", "desks.trading").closes_of(rows(prices)) == prices


def test_conversations_and_episodes_do_not_mix(program: Importer) -> None:
    trader = program("quant", "desks.trading").Trader()
    up, down = closes(60, 0.02), closes(60, -0.02)
    for row in range(60):
        replies = [
            trader.reply({"type": "trading_decision", "state": {"symbol": name, "ohlcv": {"close": prices[row]}}}, talk)
            for talk, name, prices in (("c", "u", up), ("c", "d", down), ("other", "u", down))
        ]
    assert [reply["action"] for reply in replies] == ["BUY", "SELL", "SELL"]


def test_line_items_are_read_in_the_order_of_their_mention(program: Importer) -> None:
    company = program("quant", "questions.company")
    text = "net income divided by the mean of stockholders' equity; diluted earnings per share and total current assets"
    assert company.line_items(text) == ("NetIncome", "Equity", "EPSDiluted", "CurrentAssets")


def test_a_specific_line_item_is_not_also_read_as_a_general_one(program: Importer) -> None:
    company = program("quant", "questions.company")
    assert company.line_items("the cost of revenue") == ("CostOfRevenue",)
    assert company.line_items("the net cash from operating activities") == ("OperatingCashFlow",)


def test_price_measures_agree_with_their_definitions(program: Importer) -> None:
    prices = program("quant", "questions.prices")
    series = [100.0, 110.0, 88.0, 99.0]
    returns = [math.log(b / a) for a, b in itertools.pairwise(series)]
    mean = sum(returns) / 3
    volatility = math.sqrt(sum((value - mean) ** 2 for value in returns) / 2 * 252)
    assert prices.measure("price return", [series]) == pytest.approx(-0.01)
    assert prices.measure("maximum drawdown", [series]) == pytest.approx(0.2)
    assert prices.measure("annualised volatility", [series]) == pytest.approx(volatility)
    assert prices.measure("correlation", [series, [2 * value for value in series]]) == pytest.approx(1.0)


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    running = start_servers(("options", "risk", "sandbox", "edgar", "yfinance", "trading"), ports="auto")
    yield running
    running.close()


def ask(
    quant: Agent, servers: ServerSet, body: dict[str, Any], as_of: str = "2024-12-31"
) -> tuple[str, dict[str, int]]:
    """Return the agent's reply over A2A and the number of calls it made on each server."""
    grant = access.Grant("run", f"task {id(body)}", date.fromisoformat(as_of), seed=1)
    token = access.issue(grant, servers.key)
    reply = quant(json.dumps(body | {"mcp_servers": servers.urls(token), "as_of": as_of}))
    return reply, {name: len(calls_of(servers, name, token)) for name in servers.ports}


def test_option_prices_and_greeks_come_from_the_options_server(quant: Agent, servers: ServerSet) -> None:
    figures = ("call_price", "put_price", "delta", "implied_volatility")
    body = {
        "type": "question",
        "question": "Value the call.",
        "answer_schema": {
            "type": "object",
            "properties": {name: {"type": "number", "description": f"{name} per share"} for name in figures},
        },
        "context": {
            "underlying": {"spot": 42.0, "rate": 0.10, "dividend_yield": 0.0, "volatility": 0.20},
            "options": [
                {"option_type": "call", "strike": 40.0, "days_to_expiry": 182.5, "price": 4.759422},
                {"option_type": "put", "strike": 40.0, "days_to_expiry": 182.5},
            ],
        },
    }
    reply, calls = ask(quant, servers, body)
    answer = json.loads(reply)
    # Hull, Options, Futures and Other Derivatives, example 15.6: 4.76 and 0.81; N(d1) = 0.7791
    assert answer["call_price"] == pytest.approx(4.7594, abs=1e-4)
    assert answer["put_price"] == pytest.approx(0.8086, abs=1e-4)
    assert answer["delta"] == pytest.approx(0.7791, abs=1e-4)
    assert answer["implied_volatility"] == pytest.approx(0.20, abs=1e-5)
    assert calls["options"] >= 3


def test_a_filed_figure_comes_from_the_edgar_server(quant: Agent, servers: ServerSet) -> None:
    body = {
        "type": "question",
        "question": "What did Apple Inc. (AAPL) originally report as its revenue for fiscal 2009, in its filing?",
        "answer_format": "End your reply with one line of the form\nFinal answer: <amount>",
        "context": {"ticker": "AAPL", "fiscal_year": 2009},
    }
    reply, calls = ask(quant, servers, body, as_of="2010-04-03")
    # Apple's 10-K of October 2009: net sales of 36,537 million dollars
    assert reply.endswith("Final answer: 36537000000.00")
    assert calls["edgar"] == 1


def test_arithmetic_is_done_in_the_sandbox_where_there_is_one(quant: Agent, servers: ServerSet) -> None:
    if "sandbox" not in servers.ports:
        pytest.skip(f"no sandbox here: {servers.unavailable['sandbox']}")
    body = problem("monthly rate of the loan", {"r": (0.06, "nominal yearly rate")})
    reply, calls = ask(quant, servers, body)
    assert json.loads(reply)["answer"] == pytest.approx(0.005)
    assert calls["sandbox"] == 1


def test_a_dead_tool_server_costs_an_answer_and_not_the_conversation(quant: Agent) -> None:
    body = {
        "type": "question",
        "question": "What was the revenue of Apple Inc. (AAPL) in fiscal 2012?",
        "mcp_servers": {"edgar": "http://127.0.0.1:1/mcp"},
    }
    assert quant(json.dumps(body)) == "I do not know."
