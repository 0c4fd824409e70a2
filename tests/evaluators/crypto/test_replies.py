"""What agents may send, and what comes of it: every reply has a documented outcome, none a NaN."""

from __future__ import annotations

import json
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from backtest import episode
from backtest.account import BUY, CLOSE, HOLD, SELL, Action
from backtest.rules import DEFAULT_RULES
from evaluators.crypto.dataset import DATASET
from evaluators.crypto.messages import read_decision, read_decisions
from evaluators.crypto.session import InteractiveSession
from evaluators.crypto.windows import of

SMALL = {"windows": 2, "bars": 6, "transforms": ["noisy"]}


def opened(**options: Any) -> InteractiveSession:
    session = DATASET.draw(seed=1, count=1, options=SMALL | options)[0].open()
    assert isinstance(session, InteractiveSession)
    return session


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({}, "unknown action"),
        ({"action": "SHORT"}, "unknown action"),
        ({"action": 7}, "unknown action"),
        ({"action": "BUY"}, "size must be"),
        ({"action": "BUY", "size": 0}, "size must be"),
        ({"action": "SELL", "size": -1}, "size must be"),
        ({"action": "BUY", "size": math.nan}, "size must be"),
        ({"action": "BUY", "size": math.inf}, "size must be"),
        ({"action": "BUY", "size": 1e308}, "size must be"),
        ({"action": "BUY", "size": 10**400}, "size must be"),
        ({"action": "BUY", "size": True}, "size must be"),
        ({"action": "BUY", "size": "lots"}, "size must be"),
        ({"action": "BUY", "size": 1, "stop_loss": 101}, "stop_loss is on the wrong side"),
        ({"action": "SELL", "size": 1, "stop_loss": 99}, "stop_loss is on the wrong side"),
        ({"action": "BUY", "size": 1, "take_profit": 99}, "take_profit is on the wrong side"),
        ({"action": "HOLD", "stop_loss": 99}, "stop_loss is on the wrong side"),
        ({"action": "BUY", "size": 1, "stop_loss": -5}, "stop_loss must be a price"),
        ({"action": "BUY", "size": 1, "stop_loss": "near"}, "stop_loss must be a price"),
    ],
)
def test_a_decision_that_makes_no_sense_is_a_hold_with_its_reason(row: dict[str, Any], fault: str) -> None:
    decision = read_decision(row, close=100.0, exposure=0.0)
    assert decision.kind == HOLD and decision.fault.startswith(fault)


def test_decisions_that_make_sense_are_taken_as_they_are() -> None:
    assert read_decision({"action": " buy ", "size": "0.5"}, close=100.0, exposure=0.0).size == 0.5
    order = read_decision({"action": "SELL", "size": 2, "stop_loss": 105, "take_profit": 90}, close=100.0, exposure=1.0)
    assert (order.kind, order.size, order.stop_loss, order.take_profit, order.fault) == (SELL, 2.0, 105.0, 90.0, "")
    kept = read_decision({"action": "HOLD", "size": None, "stop_loss": 95}, close=100.0, exposure=1.0)
    assert kept.kind == HOLD and kept.stop_loss == 95.0 and not kept.fault
    assert read_decision({"action": "CLOSE", "stop_loss": "x"}, close=100.0, exposure=1.0).kind == CLOSE
    assert read_decision({"action": "BUY", "size": 3.5}, close=100.0, exposure=0.0).kind == BUY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I would buy.",
        "[1, 2]",
        '{"decisions": 3}',
        '{"decisions": [{"episode": "e01", "action": "BUY", "size": NaN}]}',
        "{" * 5000,
        '{"exposures": {}}',
        '{"exposures": [1, -1, 0]}',
        '{"exposures": 1}',
        '{"history": ["e99"]}',
        '{"history": []}',
        "\ud800",
        '{"decisions": []}',
    ],
    ids=range(13),
)
def test_an_unreadable_reply_holds_every_episode_and_says_why(text: str) -> None:
    found, faults = read_decisions(text, ["e01", "e02"])
    assert not found and set(faults) == {"e01", "e02"}
    session = opened()
    session.opening()
    session.reply(text)
    assert sum(session.faults.values()) == 4
    score = session.score()
    assert score.value == 0.0 and score.details["invalid_decisions"] == 4
    assert score.reason.startswith(f"the only reply was unreadable, because: {max(session.faults)}; 4 decis")


def hold_all(session: InteractiveSession) -> str:
    return json.dumps({"decisions": [{"episode": name, "action": "HOLD"} for name in session.names]})


def test_the_reason_begins_with_the_number_of_unreadable_replies_and_why_the_first_was() -> None:
    session, twice = opened(), '{"decisions": []} {"decisions": [1]}'
    for number in range(6):
        session.reply(twice if number in (1, 4) else "?" if number == 5 else hold_all(session))
    score = session.score()
    why = read_decisions(twice, ["e01"])[1]["e01"]
    assert score.reason.startswith(f"3 of 6 replies were unreadable, the first because: {why}; 12 decisions counted ")
    assert score.reason.endswith("; skill 0.0 ± 0.0 over 2 windows: timing 0.0 points, costs 0.0")
    assert (score.details["unreadable_replies"], score.details["replies"]) == (3, 6)


def test_where_no_reply_was_readable_the_reason_says_so_and_where_all_were_it_says_nothing() -> None:
    mute, fine, wrong = opened(), opened(), opened()
    for _ in range(6):
        mute.reply("I would buy.")
        fine.reply(hold_all(fine))
        wrong.reply(hold_all(wrong).replace("HOLD", "WAIT"))
    assert mute.score().reason.startswith("all 6 replies were unreadable, the first because: unreadable reply: ")
    assert fine.score().reason.startswith("skill 0.0 ± 0.0 over 2 windows")
    assert wrong.score().reason.startswith(
        "24 decisions were invalid and counted as HOLD, most of them (24) because: unknown action; skill 0.0"
    )


def test_one_bad_row_does_not_spoil_the_others_and_doubles_count_as_none() -> None:
    rows = [{"episode": "e01", "action": "BUY", "size": 1}, {"episode": "e02"}, {"episode": "e99", "action": "BUY"}]
    found, faults = read_decisions(json.dumps({"decisions": rows}), ["e01", "e02", "e03"])
    assert set(found) == {"e01", "e02"} and faults == {"e03": "no decision for this episode"}
    found, faults = read_decisions(json.dumps({"decisions": rows + rows[:1]}), ["e01", "e02"])
    assert set(found) == {"e02"} and faults == {"e01": "two decisions for one episode"}


def test_exposures_are_positions_to_hold_and_the_same_number_again_leaves_them() -> None:
    session = opened()
    session.opening()
    session.reply(json.dumps({"exposures": {"e01": 1, "e02": "-0.5", "e03": 0, "e04": 2}}))
    held = session.exposures()
    np.testing.assert_allclose(held, [1.0, -0.5, 0.0, 2.0], atol=0.1)
    costs = np.asarray(session.state.account.ledger.costs)
    assert costs[2] == 0.0 and (costs[[0, 1, 3]] > 0.0).all()
    session.reply(json.dumps({"exposures": [1, -0.5, 0, 0]}))
    again = np.asarray(session.state.account.ledger.costs)
    np.testing.assert_array_equal(again[:3], costs[:3])
    assert again[3] > costs[3] and session.exposures()[3] == 0.0
    rows = [{"episode": "e01", "action": "CLOSE"}]
    session.reply(json.dumps({"decisions": rows, "exposures": {"e01": 1, "e02": -0.5, "e03": "much", "e04": 101}}))
    assert session.faults == {
        "an exposure must be a number from -100 to 100": 2,
        "two decisions for one episode": 1,
    }
    session.reply(json.dumps({"decisions": rows, "exposures": {"e02": -0.5, "e03": 0, "e04": 0}}))
    assert session.exposures()[0] == 0.0 and sum(session.faults.values()) == 3


def test_what_came_before_is_told_on_request_once_and_costs_no_decision() -> None:
    session = opened()
    session.opening()
    told = session.reply(json.dumps({"history": ["e02"]}))
    assert told is not None and (told["type"], told["decision"]) == ("trading_history", 1)
    (row,) = told["history"]
    assert row["episode"] == "e02" and len(row["move"]) == len(row["flow"]) == session.warmup
    rest = session.reply(json.dumps({"history": "all"}))
    assert rest is not None and [each["episode"] for each in rest["history"]] == ["e01", "e03", "e04"]
    observed, channels = session.episodes.observed, session.episodes.known.channels
    move = 1e4 * np.log(observed.close / observed.open)
    move = move[1, : session.warmup]
    tenths = np.abs(move) < 100.0
    np.testing.assert_allclose(np.array(row["move"])[tenths], move[tenths], atol=0.051)
    np.testing.assert_allclose(row["move"], move, atol=0.51)
    np.testing.assert_allclose(row["flow"], 100.0 * channels.flow[1, : session.warmup], atol=0.51)
    assert row["first_hour"] == observed.time[1, 0] % 86_400 // 3_600
    assert session.decision == 0 and session.replies == 0
    session.reply(json.dumps({"history": "all"}))
    assert session.decision == 1 and sum(session.faults.values()) == 4


def test_an_account_is_told_on_request_once_a_decision() -> None:
    session = opened()
    told = session.reply('{"account": ["e03"]}')
    assert told == {
        "type": "trading_account",
        "decision": 1,
        "decisions": 6,
        "columns": ["exposure", "equity"],
        "account": {"e03": [0.0, 1.0]},
    }
    body = session.reply(json.dumps({"exposures": {"e01": 1, "e02": -0.5, "e03": 0, "e04": 2}}))
    assert body is not None and body["decision"] == 2
    rest = session.reply('{"account": "all"}')
    assert rest is not None and list(rest["account"]) == ["e01", "e02", "e03", "e04"]
    exposures = [row[0] for row in rest["account"].values()]
    np.testing.assert_allclose(exposures, [1.0, -0.5, 0.0, 2.0], atol=0.1)
    assert exposures == [round(each, 2) for each in session.exposures()]
    equity = np.asarray(session.state.account.equity) / 10_000.0
    np.testing.assert_allclose([row[1] for row in rest["account"].values()], equity, atol=5e-5)
    assert rest["account"]["e03"] == [0.0, 1.0] and session.decision == 1
    session.reply('{"account": ["e01"]}')
    assert session.decision == 2 and sum(session.faults.values()) == 4


def test_an_agent_that_knows_the_published_message_alone_is_sent_it() -> None:
    session, single = opened(), opened(batch=1)
    assert session.opening()["type"] == "trading_decisions"
    order = '{"action": "BUY", "size": 0.5}'
    body = session.reply(order)
    other: dict[str, Any] | None = single.opening()
    assert body == other and body is not None and "flow" in body["state"]["market_metrics"]
    messages = 0
    while body is not None and other is not None:
        messages += 1
        body, other = session.reply(order), single.reply(order)
        assert body == other
    assert messages == 4 * 6 and session.score().value == single.score().value
    exposures = {"e01": 1, "e02": 0, "e03": 0, "e04": 0}
    for own in ({"exposures": exposures}, {"decisions": [{"episode": "e01", "action": "BUY", "size": 1}]}):
        named = opened()
        named.opening()
        named.reply(json.dumps({"action": "rebalance"} | own))
        assert named.chunk == 4 and named.exposures()[0] == pytest.approx(1.0, abs=0.1)
    late = opened()
    late.reply(hold_all(late))
    late.reply(order)
    assert late.chunk == 4 and sum(late.faults.values()) == 4


def test_one_by_one_the_message_is_the_published_one_and_scores_are_the_same() -> None:
    together, single = opened(), opened(batch=1)
    body = single.opening()
    assert body["type"] == "trading_decision"
    assert set(body["state"]) >= {"timestamp", "symbol", "ohlcv", "indicators", "market_metrics", "account"}
    assert set(body["state"]["account"]) == {"balance", "equity", "positions"}
    messages = 0
    while body is not None:
        messages += 1
        body = single.reply('{"action": "BUY", "size": 0.5, "confidence": 0.9, "reasoning": "up"}')
    assert messages == 4 * 6
    message: dict[str, Any] | None = together.opening()
    while message is not None:
        rows = [{"episode": name, "action": "BUY", "size": 0.5} for name in message["episodes"]]
        message = together.reply(json.dumps({"decisions": rows}))
    assert single.score().value == together.score().value


def test_an_agent_is_told_nothing_about_the_future_the_transform_or_the_mirror() -> None:
    session = opened()
    text = json.dumps(session.opening())
    for word in ("noisy", "mirror", "simulated", "window", "traded", "BTC"):
        assert word not in text.replace("You trade several", "")
    body = session.opening()
    for name, row in body["episodes"].items():
        index = session.place[name]
        shown = dict(zip(body["columns"], row, strict=True))
        observed = session.episodes.observed
        assert shown["close"] == pytest.approx(observed.close[index, session.warmup - 1], rel=6e-5)
        move = np.log(observed.close[index, session.warmup - 1] / observed.open[index, session.warmup - 1])
        assert shown["move"] == pytest.approx(1e4 * move, abs=0.051 if abs(move) < 0.01 else 0.51)


def test_a_conversation_cut_short_is_scored_with_everything_closed_at_the_next_open() -> None:
    session = opened(bars=12)
    body = session.opening()
    rows = [{"episode": name, "action": "BUY", "size": 1.0} for name in body["episodes"]]
    session.reply(json.dumps({"decisions": rows}))
    score = session.score()
    assert score.details["decisions_made"] == 1 and score.details["decisions_asked"] == 12
    curve = score.details["equity_curves"]["mean"]
    assert len(curve) == 13 and curve[-1] == curve[2] != curve[1]
    assert score == session.score()
    assert opened().score().value == 0.0


def test_replaying_the_orders_through_the_engines_scan_gives_the_same_equity() -> None:
    session = opened(bars=12)
    rng = np.random.default_rng(0)
    orders = []
    body: dict[str, Any] | None = session.opening()
    while body is not None:
        kinds = rng.choice([HOLD, BUY, SELL, CLOSE], session.count)
        sizes = rng.uniform(0.1, 2.0, session.count)
        words = {HOLD: "HOLD", BUY: "BUY", SELL: "SELL", CLOSE: "CLOSE"}
        orders.append((kinds, sizes))
        rows = [
            {"episode": name, "action": words[int(kind)], "size": float(size)}
            for name, kind, size in zip(session.names, kinds, sizes, strict=True)
        ]
        body = session.reply(json.dumps({"decisions": rows}))
    none = jnp.full((session.count, 12), jnp.nan)
    kind = jnp.asarray(np.stack([kinds for kinds, _ in orders], axis=1), jnp.int32)
    size = jnp.asarray(np.stack([sizes for _, sizes in orders], axis=1))
    market = of(jnp.asarray(field) for field in session.traded)
    again = episode.run(market, Action(kind, size, none, none), DEFAULT_RULES)
    account = jax.device_get(session.state.account)
    np.testing.assert_allclose(again.equity[:, -1], account.equity, rtol=1e-12)
    np.testing.assert_array_equal(again.account.ledger.trades, account.ledger.trades)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"widnows": 3}, r"widnows: unknown key \(did you mean 'windows'\?\)$"),
        ({"windows": 1}, r"windows: Input should be greater than or equal to 2 \(got 1\)$"),
        ({"bars": 7, "decision_every": 2}, "must be a multiple of decision_every"),
        ({"mode": "live"}, "mode: Input should be 'interactive' or 'strategy'"),
        ({"transforms": ["nosiy"]}, "unknown transform 'nosiy'"),
        ({"transforms": []}, "transforms: at least one is needed, got none"),
        ({"transforms": [{"name": "noisy", "sigma": 1}]}, "no parameter 'sigma'"),
        ({"severity": "high"}, r"severity: Input should be a valid number.* \(got 'high'\)$"),
        ({"transforms": [{"severity": 2}]}, "transforms: a transform is a name or {name, severity, ...}, got"),
        ({"windows": True}, r"windows: Input should be a valid integer \(got True\)$"),
        ({"path": "no/such/folder"}, "does not exist"),
        ({"hf_dataset": "someone/something"}, "hf_dataset: 'someone/something' is not fetched by this dataset"),
    ],
)
def test_a_bad_option_is_refused_with_its_name_and_value(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DATASET.draw(seed=1, count=1, options=options)
