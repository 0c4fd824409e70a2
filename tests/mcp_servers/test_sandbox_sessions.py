"""A notebook of a task: what a call leaves for the next one of its session, and that nobody else finds it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from mcp.client import Client

from evaluators.contract import Score, SingleTurn
from evaluators.professional.dataset import DATASET
from mcp_servers import caller, sandbox
from mcp_servers.access import Grant
from mcp_servers.handouts import Handouts
from mcp_servers.sandbox import limits, tiers
from mcp_servers.sandbox.pool import Pool
from mcp_servers.sandbox.sessions import Sessions, TooManySessions


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = tiers.selftest()
    assert found.tier is not None, found.reason
    with Pool(found.tier, size=1) as started:
        yield started


@pytest.fixture
def notebook(pool: Pool) -> Any:
    server = sandbox.build_server(pool=pool)

    def run(code: str, *, session: str | None = "a", task: str = "t", **arguments: Any) -> Any:
        async def talk() -> Any:
            async with Client(server) as client:
                return await client.call_tool("execute_python", {"code": code, "session": session} | arguments)

        with caller.acting_as(Grant("run", task, date(2024, 6, 28), 5)):
            answer = asyncio.run(talk())
        return answer.content[0].text if answer.is_error else answer.structured_content

    return run


def result(answer: Any) -> Any:
    assert answer["ok"], (answer["error"], answer["stderr"])
    return answer["result"]


def test_variables_functions_classes_and_imports_are_there_in_the_next_call(notebook: Any) -> None:
    notebook(
        "import numpy as np\nfrom math import tau as two_pi\nscale = 3\n"
        "def grown(x, by=scale):\n    return np.asarray(x) * by\n"
        "class Book:\n    size = 7\n"
        "book = Book()\nrows = [1, 2]\nsame = rows"
    )
    answer = notebook("rows.append(4)\n[grown(rows).tolist(), book.size, isinstance(book, Book), same, two_pi > 6]")
    assert result(answer) == [[3, 6, 12], 7, True, [1, 2, 4], True]
    assert answer["session"]["restored"] == ["book", "rows", "same", "scale", "two_pi"]
    assert answer["session"]["kept"] == ["Book", "book", "grown", "rows", "same", "scale", "two_pi"]


def test_a_later_definition_replaces_an_earlier_one(notebook: Any) -> None:
    notebook("def f():\n    return 1")
    notebook("def f():\n    return 2")
    assert result(notebook("f()")) == 2


def test_what_cannot_be_kept_is_named_with_the_reason(notebook: Any) -> None:
    session = notebook("f = lambda x: x\nn = 1")["session"]
    assert session["kept"] == ["n"]
    assert "PicklingError" in session["not_kept"]["f"]
    assert "NameError" in notebook("f")["error"]


def test_the_result_of_a_call_is_not_that_of_the_call_before(notebook: Any) -> None:
    notebook("result = 41", data={"x": 1})
    answer = notebook("y = 2")
    assert result(answer) is None
    assert result(notebook("data")) is None


def test_an_error_leaves_what_was_assigned_before_it_and_a_kill_leaves_the_session_as_it_was(notebook: Any) -> None:
    assert notebook("x = 5\n1 / 0")["error_class"] == "user_error"
    assert result(notebook("x")) == 5
    killed = notebook("x = 6\nwhile True: pass", timeout_s=0.5)
    assert killed["error_class"] == "timeout" and killed["session"] is None
    assert result(notebook("x")) == 5


def test_no_other_task_session_or_plain_call_finds_it(notebook: Any) -> None:
    notebook("secret = 'of task t'\nopen('secret.txt', 'w').write(secret)")
    look = "[name for name in list(globals()) if 'secret' in name], __import__('os').path.exists('secret.txt')"
    assert result(notebook(look)) == [["secret"], True]
    for elsewhere in ({"task": "other"}, {"session": "b"}, {"session": None}):
        assert result(notebook(look, **elsewhere)) == [[], False], elsewhere


def test_files_that_are_handed_in_are_read_like_files_and_written_ones_stay(notebook: Any) -> None:
    files = {"prices.csv": "day,close\n2024-01-02,10\n2024-01-03,12.5\n"}
    code = (
        "import pandas as pd, numpy as np, pathlib\n"
        "frame = pd.read_csv('prices.csv')\nframe.to_csv('out.csv', index=False)\n"
        "np.savetxt('grid.txt', [[1, 2]])\n"
        "with open('log.txt', 'a') as log: log.write('one ')\n"
        "[frame.close.sum(), pathlib.Path('prices.csv').read_text()[:3], np.loadtxt('grid.txt').tolist()]"
    )
    answer = notebook(code, files=files)
    assert result(answer) == [22.5, "day", [1.0, 2.0]]
    assert sorted(answer["session"]["files"]) == ["grid.txt", "log.txt", "out.csv", "prices.csv"]
    again = notebook("open('log.txt', 'a').write('two')\n[open('log.txt').read(), len(pd.read_csv('out.csv'))]")
    assert result(again) == ["one two", 2]
    named = notebook("import os\n[os.listdir(), os.listdir('.'), os.path.isfile('out.csv')]")
    there = ["grid.txt", "log.txt", "out.csv", "prices.csv"]
    assert result(named) == [there, there, True]
    assert "plain names" in notebook("1", files={"../x": ""})
    assert result(notebook("open('prices.csv').read()", session=None, files={"prices.csv": "z"})) == "z"


def test_the_files_of_a_task_are_there_in_its_calls_and_in_no_others(pool: Pool) -> None:
    (drawn,) = DATASET.draw(seed=3, count=1, options={"task_types": ["trade-blotter"]})
    task = replace(drawn.task, context={"records": [{"id": "T1", "price": "$1,200.50"}]})
    session = SingleTurn(task, judge=lambda reply: Score(0.0, False), gold_text="")
    grants = [Grant("run", task, date(2024, 6, 28), 5) for task in ("t", "other")]
    handouts = Handouts()
    handouts.put(grants[0], session.handouts()["sandbox"])
    server = sandbox.build_server(pool=pool, handouts=handouts)

    async def read(code: str) -> Any:
        async with Client(server) as client:
            return (await client.call_tool("execute_python", {"code": code})).structured_content

    code = "import json\njson.load(open('context.json'))"
    for grant, expected in zip(grants, (task.context, None), strict=True):
        with caller.acting_as(grant):
            assert asyncio.run(read(code))["result"] == expected


def test_nothing_reaches_a_disk_and_other_paths_stay_closed(notebook: Any) -> None:
    for path in ("/tmp/x", "a/b", "/x", "../x"):
        assert notebook(f"open({path!r}, 'w')")["error_class"] in ("policy_violation", "user_error"), path
    assert notebook("open('missing.csv')")["error"].startswith("FileNotFoundError")


def test_a_session_too_large_to_keep_stays_as_it_was_and_says_so(notebook: Any) -> None:
    notebook("n = 1")
    answer = notebook("n = 2\nbig = b'x' * 9_000_000")
    assert answer["ok"] and "at most 8388608 are kept" in answer["session"]["not_kept"]["big"]
    assert result(notebook("n")) == 1


def test_what_stands_in_place_of_a_state_is_kept_for_nobody(notebook: Any) -> None:
    notebook("n = 1")
    forged = "import os\nos.write(10, b'{\"result\": 5}' + bytes(1) + b'{}' + bytes(1) + b'junk')\nos._exit(0)"
    answer = notebook(forged)
    assert answer["result"] == 5 and answer["session"] is None
    assert result(notebook("n")) == 1


def test_a_task_has_few_sessions(notebook: Any) -> None:
    for number in range(limits.SESSIONS_PER_TASK):
        notebook("1", session=f"s{number}", task="many")
    assert "a task has 4 sessions" in notebook("1", session="one more", task="many")


def test_the_states_used_longest_ago_make_room_and_their_sessions_know() -> None:
    sessions = Sessions(room_bytes=10)
    first, second = sessions.of(("run", "a"), "x"), sessions.of(("run", "b"), "x")
    sessions.keep(first, b"123456")
    sessions.keep(second, b"123456")
    assert (first.state, first.dropped, second.state) == (None, True, b"123456")
    assert sessions.of(("run", "a"), "x") is first and sessions.of(("run", "a"), "y") is not first
    with pytest.raises(TooManySessions, match="this one has 'x', 'y'"):
        [sessions.of(("run", "a"), name) for name in ("z", "w", "v")]


def test_statsmodels_works_inside(pool: Pool) -> None:
    code = (
        "import numpy as np, statsmodels.api as sm\nfrom statsmodels.tsa.stattools import adfuller\n"
        "x = np.arange(50.0)\nfit = sm.OLS(3 * x - 1, sm.add_constant(x)).fit()\n"
        "walk = np.cumsum(np.random.default_rng(1).normal(size=500))\n"
        "result = [round(float(v), 9) for v in fit.params] + [bool(adfuller(walk)[1] > 0.05)]"
    )
    outcome = pool.execute(code, timeout_s=10.0)
    assert outcome.result == [-1.0, 3.0, True], (outcome.error, outcome.stderr)
