"""Code can lie about its own result and about nothing else."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator

import pytest

from mcp_servers.sandbox import call, tiers
from mcp_servers.sandbox.json_value import values_at_most
from mcp_servers.sandbox.pool import Pool


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = tiers.selftest()
    assert found.tier is not None, found.reason
    with Pool(found.tier, size=1, modules=("threading",)) as started:
        yield started


def write_to_result_channel(raw: bytes) -> str:
    return f"import os\nos.write(10, {raw!r})\nos._exit(0)"


def test_a_forged_report_can_set_the_result_only(pool: Pool) -> None:
    forged = {"result": 1, "killed_by": "cpu", "usage": {"cpu_seconds": -1}, "stdout": "forged", "truncated": True}
    outcome = pool.execute(write_to_result_channel(json.dumps(forged).encode()))
    assert (outcome.ok, outcome.result, outcome.killed_by, outcome.stdout) == (True, 1, None, "")
    assert outcome.usage.cpu_seconds > 0 and not outcome.truncated


@pytest.mark.parametrize("claimed", ["sandbox_fault", "timeout", "cpu", "anything", None, 7, ["user_error"]])
def test_code_cannot_claim_that_its_failure_is_ours(pool: Pool, claimed: object) -> None:
    raw = json.dumps({"error_class": claimed, "error": "x"}).encode()
    assert pool.execute(write_to_result_channel(raw)).error_class == "user_error"


@pytest.mark.parametrize(
    "raw",
    [
        b"L",
        b"F",
        b"Fork failed",
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 5_000,
        b'{"result": "\\ud800"}',
        b'{"result": ' + b"[" * 300 + b"]" * 300 + b"}",
        b'{"result": 1}{"result": 2}',
        pickle.dumps({"result": 1}),
    ],
    ids=repr,
)
def test_what_is_not_a_report_is_a_failure_of_the_code(pool: Pool, raw: bytes) -> None:
    raw = raw if len(raw) < 50_000 else raw[:50_000]
    outcome = pool.execute(write_to_result_channel(raw))
    assert (outcome.ok, outcome.error_class) == (False, "user_error")
    assert outcome.error == "the code ended the process without a result"


def test_a_flooded_result_channel_is_cut_off(pool: Pool) -> None:
    outcome = pool.execute("import os\nwhile True:\n    os.write(10, b'x' * 65536)")
    assert outcome.killed_by == "output_cap"


def test_a_second_report_after_the_real_one_does_not_count_as_one(pool: Pool) -> None:
    code = (
        "import os, threading, time\n"
        "def late():\n    time.sleep(0.05)\n    os.write(10, b'{\"result\": 2}')\n"
        "threading.Thread(target=late, daemon=True).start()\nresult = 1"
    )
    assert pool.execute(code).result == 1


def test_a_forged_report_of_too_many_values_is_never_read(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []

    def loads(raw: bytes) -> object:
        read.append(raw)
        return {}

    monkeypatch.setattr(call.json, "loads", loads)
    outcome = call._parse(b'{"result": [' + b"[]," * 300_000 + b"[]]}")
    assert outcome == {} and read == []
    assert call._parse(b'{"result": "' + b"[]," * 300_000 + b'"}') == {} and len(read) == 1


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("1", 1),
        ("[]", 2),
        ("[1, 2, 3]", 4),
        ('{"a": 1, "b": [2]}', 4),
        (r'["\\", ",,[["]', 3),
        (r'["\"", "a,b", "\\\",", "{"]', 5),
    ],
)
def test_values_are_counted_outside_of_texts(text: str, most: int) -> None:
    json.loads(text)
    assert values_at_most(text.encode()) == most


def test_closing_the_channel_gives_no_result(pool: Pool) -> None:
    outcome = pool.execute("import os\nos.close(10)\nresult = 1")
    assert (outcome.ok, outcome.error_class) == (False, "user_error")


def test_no_object_of_the_call_before_is_left_in_memory(pool: Pool) -> None:
    secret = "only the first call knows " + "this"
    assert pool.execute("len(data)", data=secret).result == len(secret)
    search = """
import gc, sys
wanted = "only the first call knows " + "this"
found = 0
for thing in gc.get_objects():
    for inner in gc.get_referents(thing):
        if type(inner) in (str, bytes) and inner is not wanted:
            text = inner if type(inner) is str else inner.decode(errors="replace")
            found += wanted in text
result = found
"""
    assert pool.execute(search).result == 0


def test_user_code_that_breaks_its_own_interpreter_breaks_only_itself(pool: Pool) -> None:
    outcome = pool.execute("import json, os, sys\njson.dumps = os._exit = sys.stdout = None\nresult = 1", timeout_s=2.0)
    assert (outcome.ok, outcome.error_class) == (False, "user_error")
    assert pool.execute("1 + 1").result == 2
