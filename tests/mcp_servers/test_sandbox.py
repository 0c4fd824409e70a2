"""What the sandbox gives to honest code, and how it names what goes wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from mcp_servers import sandbox
from mcp_servers.sandbox import tiers
from mcp_servers.sandbox.outcome import Outcome
from mcp_servers.sandbox.pool import Pool


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    found = tiers.selftest()
    assert found.tier is not None, found.reason
    with Pool(found.tier) as started:
        yield started


def run(pool: Pool, code: str, data: Any = None, timeout_s: float = 10.0, seed: int = 7) -> Outcome:
    return pool.execute(code, data=data, timeout_s=timeout_s, seed=seed)


def value(pool: Pool, code: str, data: Any = None) -> Any:
    outcome = run(pool, code, data)
    assert outcome.ok, (outcome.error, outcome.stderr)
    return outcome.result


def test_this_machine_reaches_a_tier_and_says_which() -> None:
    found = sandbox.selftest()
    assert found.tier is not None, found.reason
    assert sandbox.tier() == found.tier.name
    assert found.tier.name.endswith("seccomp") and "+" in found.tier.name
    assert json.loads(json.dumps(found.to_json()))["tier"] == found.tier.name
    assert sandbox.selftest() is found


def test_the_variable_result_is_the_result(pool: Pool) -> None:
    assert value(pool, "result = data['a'] * 2\n'something else'", {"a": 21}) == 42


def test_without_it_the_last_line_is_the_result(pool: Pool) -> None:
    assert value(pool, "x = 20\nx + 1.5") == 21.5
    assert value(pool, "x = 20") is None
    assert value(pool, "object").startswith("<class")


def test_what_stands_in_a_text_is_one_value(pool: Pool) -> None:
    assert value(pool, "result = ',[' * 100_000 + '\\\\\"'") == ",[" * 100_000 + '\\"'
    assert value(pool, "result = list(range(99_000))") == list(range(99_000))


def test_a_result_may_be_nested_a_hundred_deep(pool: Pool) -> None:
    nested = value(pool, "result = 1\nfor _ in range(100): result = [result]")
    for _ in range(100):
        (nested,) = nested
    assert nested == 1


def test_output_and_errors_are_captured_apart(pool: Pool) -> None:
    outcome = run(pool, "import sys\nprint('to out')\nprint('to err', file=sys.stderr)")
    assert (outcome.stdout, outcome.stderr, outcome.truncated) == ("to out\n", "to err\n", False)


def test_numpy_and_pandas_values_become_plain_json(pool: Pool) -> None:
    code = """
import numpy as np, pandas as pd, datetime, decimal
frame = pd.DataFrame({"close": [1.5, float("nan")]}, index=pd.date_range("2024-01-30", periods=2, tz="UTC"))
result = {"array": np.arange(6).reshape(2, 3), "scalar": np.float64(0.5), "flag": np.bool_(True), "frame": frame,
          "series": pd.Series([1, 2], index=["a", "b"]), "date": datetime.date(2024, 2, 29), "set": {3, 1, 2},
          "money": decimal.Decimal("0.10"), "infinite": -float("inf"), 5: None}
"""
    assert value(pool, code) == {
        "array": [[0, 1, 2], [3, 4, 5]],
        "scalar": 0.5,
        "flag": True,
        "frame": {
            "index": ["2024-01-30T00:00:00+00:00", "2024-01-31T00:00:00+00:00"],
            "columns": {"close": [1.5, "NaN"]},
        },
        "series": {"index": ["a", "b"], "values": [1, 2]},
        "date": "2024-02-29",
        "set": [1, 2, 3],
        "money": "0.10",
        "infinite": "-Infinity",
        "5": None,
    }


WORKS = {
    "scipy.stats": "from scipy import stats\nresult = stats.norm.cdf(1.96)",
    "scipy.optimize": "from scipy import optimize\nresult = optimize.brentq(lambda x: x * x - 2, 0, 2)",
    "scipy.integrate": "from scipy import integrate\nresult = integrate.quad(lambda x: 3 * x * x, 0, 1)[0]",
    "scipy.interpolate": "from scipy import interpolate\nresult = interpolate.CubicSpline([0, 1, 2], [0, 1, 8])(2)",
    "scipy.sparse": "from scipy import sparse as s\nresult = s.linalg.spsolve(2 * s.eye(3, format='csc'), [2, 4, 6])",
    "scipy.linalg": "from scipy import linalg\nresult = linalg.det([[2, 0], [0, 3]])",
    "numpy.fft": "import numpy as np\nresult = abs(np.fft.fft(np.ones(8))[0])",
    "numpy.svd": "import numpy as np\nresult = np.linalg.svd(np.diag([3.0, 1.0]))[1]",
    "numpy.eig": "import numpy as np\nresult = sorted(np.linalg.eigvals(np.diag([3.0, 1.0])).real)",
    "pandas zones": "import pandas as pd\nresult = pd.Timestamp('2024-07-01', tz='UTC').tz_convert('Asia/Tokyo').hour",
    "pandas rolling": "import pandas as pd\nresult = pd.Series([1.0, 2.0, 3.0]).rolling(2).mean().iloc[-1]",
    "pandas csv": "import io, pandas as pd\nresult = pd.read_csv(io.StringIO('a,b\\n1,2')).b.sum()",
    "pandas strings": "import pandas as pd\nresult = pd.Series(['a', 'bb']).str.len().sum()",
    "threads": "import threading\ngot = []\nts = [threading.Thread(target=got.append, args=(i,)) for i in range(20)]\n"
    "[t.start() for t in ts]\n[t.join() for t in ts]\nresult = sum(got)",
    "executor": "from concurrent.futures import ThreadPoolExecutor as E\nresult = sum(E(4).map(abs, range(-5, 0)))",
    "asyncio": "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 5\nresult = asyncio.run(f())",
    "decimal": "from decimal import Decimal\nresult = Decimal('0.1') + Decimal('0.2') == Decimal('0.3')",
    "zoneinfo": "import datetime, zoneinfo\n"
    "result = datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Zurich')).utcoffset().seconds",
    "lazy standard library": "import sqlite3, xml.etree.ElementTree, lzma, ssl, hashlib, statistics\nresult = 1",
}
EXPECTED = {
    "scipy.stats": 0.9750021048517795,
    "scipy.optimize": math.sqrt(2),
    "scipy.integrate": 1.0,
    "scipy.interpolate": 8.0,
    "scipy.sparse": [1.0, 2.0, 3.0],
    "scipy.linalg": 6.0,
    "numpy.fft": 8.0,
    "numpy.svd": [3.0, 1.0],
    "numpy.eig": [1.0, 3.0],
    "pandas zones": 9,
    "pandas rolling": 2.5,
    "pandas csv": 2,
    "pandas strings": 3,
    "threads": 190,
    "executor": 15,
    "asyncio": 5,
    "decimal": True,
    "zoneinfo": 7200,
    "lazy standard library": 1,
}


@pytest.mark.parametrize("name", WORKS)
def test_numerical_code_works_inside(pool: Pool, name: str) -> None:
    assert value(pool, WORKS[name]) == pytest.approx(EXPECTED[name], rel=1e-12)


@pytest.mark.parametrize(
    "code",
    [
        "import multiprocessing\nmultiprocessing.Pool(1)",
        "import subprocess\nsubprocess.run(['true'])",
        "import tempfile\ntempfile.TemporaryFile()",
        "import socket\nsocket.create_connection(('127.0.0.1', 80))",
    ],
)
def test_what_needs_processes_files_or_network_fails_with_a_plain_error(pool: Pool, code: str) -> None:
    outcome = run(pool, code)
    assert not outcome.ok and outcome.killed_by is None
    assert outcome.error_class in ("policy_violation", "user_error")
    assert "Error" in str(outcome.error) and 'File "<code>", line 2' in outcome.stderr


ENDINGS = {
    "an exception": ("1 / 0", "user_error", None),
    "a syntax error": ("def", "user_error", None),
    "a bad exit": ("raise SystemExit(3)", "user_error", None),
    "a silent end": ("import os\nos._exit(0)", "user_error", None),
    "deep recursion": ("def f(): return f()\nf()", "user_error", None),
    "no JSON form": ("result = object()", "user_error", None),
    "keys that collide": ("result = {1: 2, '1': 3}", "user_error", None),
    "text that is not Unicode": ("result = '\\ud800'", "user_error", None),
    "deep nesting": ("result = 1\nfor _ in range(300): result = [result]", "user_error", None),
    "a result within itself": ("result = []\nresult.append(result)", "user_error", None),
    "an endless number": ("result = 10**5000", "user_error", None),
    "a crash": ("import ctypes\nctypes.string_at(0)", "user_error", "SIGSEGV"),
    "an abort": ("import os\nos.abort()", "user_error", "SIGABRT"),
    "sleep": ("import time\ntime.sleep(60)", "timeout", "timeout"),
    "memory": ("x = bytearray(2**30)", "memory", None),
    "output": ("while True: print('x' * 1000)", "output_cap", "output_cap"),
    "a large result": ("result = 'x' * (2 * 2**20)", "output_cap", None),
    "a result of too many values": ("result = [[]] * 60_000", "output_cap", None),
    "a huge result": ("result = 'x' * (200 * 2**20)", "memory", None),
    "a forbidden call": ("import ctypes\nctypes.CDLL(None).ptrace(0, 0, 0, 0)", "policy_violation", "policy_violation"),
    "a refused call": ("import os\nos.fork()", "policy_violation", None),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_each_bad_end_has_its_class_and_its_killer(pool: Pool, name: str) -> None:
    code, error_class, killed_by = ENDINGS[name]
    outcome = run(pool, code, timeout_s=0.5 if error_class == "timeout" else 10.0)
    assert (outcome.ok, outcome.result) == (False, None)
    assert (outcome.error_class, outcome.killed_by) == (error_class, killed_by), outcome
    assert outcome.error


def test_what_was_printed_before_a_limit_is_kept(pool: Pool) -> None:
    outcome = run(pool, "import time\nprint('so far')\ntime.sleep(60)", timeout_s=1.5)
    assert (outcome.killed_by, outcome.stdout) == ("timeout", "so far\n")
    flooded = run(pool, "while True: print('x' * 1000)")
    assert flooded.truncated and len(flooded.stdout) == 64 * 1024


def test_generators_are_seeded_by_the_task(pool: Pool) -> None:
    code = "import random, numpy as np\nresult = [random.random(), np.random.rand(), np.random.default_rng().random()]"
    first, again, other = (run(pool, code, seed=seed).result for seed in (1, 1, 2))
    assert first == again
    assert all(a != b for a, b in zip(first, other, strict=True))


def test_two_unseeded_generators_of_one_call_differ(pool: Pool) -> None:
    assert value(
        pool, "import numpy as np\nresult = np.random.default_rng().random() != np.random.default_rng().random()"
    )


def test_nothing_is_kept_between_calls(pool: Pool) -> None:
    run(pool, "import builtins, json\nbuiltins.kept = 'kept'\njson.dumps = None\nglobals()['kept2'] = 1")
    assert value(pool, "result = [hasattr(__builtins__, 'kept'), 'kept2' in globals()]") == [False, False]


def test_usage_is_measured_from_outside(pool: Pool) -> None:
    outcome = run(
        pool,
        "import time\nx = bytearray(200 * 2**20)\nend = time.process_time() + 0.3\n"
        "while time.process_time() < end: pass\ntime.sleep(0.2)",
    )
    assert outcome.usage.cpu_seconds > 0.29
    assert outcome.usage.wall_seconds > outcome.usage.cpu_seconds
    assert outcome.usage.peak_bytes > 200 * 2**20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"code": "#" * (64 * 1024 + 1)}, "code has 65537 bytes; at most 65536"),
        ({"code": "1", "timeout_s": 10.5}, "timeout_s is 10.5"),
        ({"code": "1", "timeout_s": 0.0}, "timeout_s is 0.0"),
        ({"code": "1", "timeout_s": math.nan}, "timeout_s is nan"),
        ({"code": "1", "data": "x" * (4 * 2**20)}, "data has 4194306 bytes as JSON; at most 4194304"),
    ],
)
def test_arguments_over_their_limit_are_refused_by_name(pool: Pool, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pool.execute(**arguments)


def test_the_largest_data_arrives(pool: Pool) -> None:
    assert value(pool, "len(data)", "x" * (4 * 2**20 - 2)) == 4 * 2**20 - 2
