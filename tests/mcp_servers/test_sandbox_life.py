"""What stays behind: nothing after a call, a stop, a renewal, or a kill -9 of the host or of a zygote."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mcp_servers.sandbox import limits, lockdown, tiers
from mcp_servers.sandbox import pool as pool_module
from mcp_servers.sandbox.outcome import SandboxUnavailable
from mcp_servers.sandbox.pool import Pool
from mcp_servers.sandbox.protection import Tier

BARE = ("threading",)
GONE_WITHIN_S = 5.0
OF_OTHERS: set[int] = set()  # what this process had started before the test: servers that other tests share


@pytest.fixture(autouse=True)
def only_own_processes() -> Iterator[None]:
    """Leave out what was there before: the suite's shared sandbox server has a nursery of its own."""
    OF_OTHERS.update(descendants(os.getpid()))
    yield
    OF_OTHERS.clear()


def tier() -> Tier:
    found = tiers.selftest()
    assert found.tier is not None, found.reason
    return found.tier


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(tier(), size=1, modules=BARE) as started:
        started.wait_until_full()
        yield started


def descendants(of: int) -> list[int]:
    """Return the process ids below ``of``, parents first, without those of other tests."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
    found = [of]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid and child not in OF_OTHERS]
    return found[1:]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def runs(pid: int) -> bool:
    """Return whether ``pid`` lives; an orphan that the machine's init has yet to collect does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def eventually(holds: Callable[[], bool], within_s: float = GONE_WITHIN_S) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.01)
    return holds()


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def zygotes() -> list[int]:
    """Return the innermost process of each zygote of this process, calls not counted."""
    below = [pid for pid in descendants(os.getpid()) if "sandbox.nursery" in command_of(pid)]
    return [pid for pid in below if not any(child in below for child in descendants(pid))]


def test_a_closed_pool_leaves_no_process_descriptor_thread_or_file() -> None:
    before = (open_descriptors(), set(threading.enumerate()), set(os.listdir("/tmp")), descendants(os.getpid()))
    with Pool(tier(), size=2, modules=BARE) as pool, ThreadPoolExecutor(1) as executor:
        pool.wait_until_full()
        idle = len(descendants(os.getpid()))
        sleeping = executor.submit(pool.execute, "import time\ntime.sleep(9)", timeout_s=9.5)
        assert eventually(lambda: len(descendants(os.getpid())) == idle + 1)
        pool.close()
        with pytest.raises(SandboxUnavailable, match="closed"):
            sleeping.result()
    assert descendants(os.getpid()) == before[3]
    assert open_descriptors() == before[0]
    assert set(threading.enumerate()) == before[1]
    assert not {name for name in set(os.listdir("/tmp")) - before[2] if "sandbox" in name}


def test_many_calls_do_not_make_host_or_zygote_grow(pool: Pool) -> None:
    for _ in range(50):
        pool.execute("1")
    (zygote,) = zygotes()
    before = open_descriptors(), resident_bytes(zygote), resident_bytes(os.getpid())
    for _ in range(200):
        assert pool.execute("x = bytearray(10**6)", data="x" * 10_000).error_class is None
    assert zygotes() == [zygote]
    assert descendants(zygote) == []
    assert open_descriptors() == before[0]
    assert resident_bytes(zygote) - before[1] < 512 * 1024
    assert resident_bytes(os.getpid()) - before[2] < 8 * 2**20


def test_a_zygote_is_renewed_after_its_share_of_calls() -> None:
    with Pool(tier(), size=1, calls_per_zygote=5, modules=BARE) as pool:
        seen: set[int] = set()
        for _ in range(40):
            assert pool.execute("import time\ntime.sleep(0.02)").ok
            seen.update(zygotes())
        assert len(seen) >= 3
        assert eventually(lambda: len(zygotes()) == 1)


def test_a_forbidden_system_call_costs_the_zygote_its_place(pool: Pool) -> None:
    (before,) = zygotes()
    outcome = pool.execute("import ctypes\nctypes.CDLL(None).ptrace(0, 0, 0, 0)")
    assert outcome.killed_by == "policy_violation"
    assert pool.execute("1 + 1").result == 2
    assert eventually(lambda: not runs(before))


def test_a_refused_call_renews_its_zygote_but_not_a_young_one(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    (before,) = zygotes()
    refused = "import os\nos.fork()"
    assert pool.execute(refused).error_class == "policy_violation"
    assert pool.execute("1").ok and zygotes() == [before]
    monkeypatch.setattr(pool_module, "MIN_AGE_S", 0.0)
    assert pool.execute(refused).error_class == "policy_violation"
    assert eventually(lambda: not runs(before))
    assert pool.execute("1").ok


@pytest.mark.parametrize(("which", "place"), [("the zygote", -2), ("the nursery", -3), ("what started it", 0)])
def test_a_call_whose_zygote_or_nursery_is_killed_is_tried_again(pool: Pool, which: str, place: int) -> None:
    idle = len(descendants(os.getpid()))
    executor = ThreadPoolExecutor(1)
    answer = executor.submit(pool.execute, "import time\ntime.sleep(0.4)\n7", timeout_s=5)
    assert eventually(lambda: len(descendants(os.getpid())) == idle + 1)
    processes = [pid for pid in descendants(os.getpid()) if "sandbox.nursery" in command_of(pid)]
    time.sleep(0.1)
    os.kill(processes[place], signal.SIGKILL)
    assert answer.result().result == 7
    executor.shutdown()
    assert eventually(lambda: not any(map(runs, processes[place:])))


HOST = """
import sys, threading
from mcp_servers.sandbox.pool import Pool
from mcp_servers.sandbox.protection import Tier
pool = Pool(Tier(sys.argv[1], landlock=sys.argv[2] == "True"), size=2, modules=("threading",))
pool.wait_until_full()
print("ready", flush=True)
sys.stdin.readline()
code = "import signal, time\\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\\ntime.sleep(9)"
threads = [threading.Thread(target=pool.execute, args=(code,), kwargs={"timeout_s": 9.5}) for _ in range(2)]
for thread in threads:
    thread.start()
"""


def test_kill_9_of_the_host_in_mid_call_leaves_no_process() -> None:
    arguments = [sys.executable, "-c", HOST, tier().outer, str(tier().landlock)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root) as host:
        assert host.stdin is not None and host.stdout is not None and host.stdout.readline() == b"ready\n"
        idle = len(descendants(host.pid))
        host.stdin.write(b"\n")
        host.stdin.flush()
        begun = eventually(lambda: len(descendants(host.pid)) == idle + 2)
        below = descendants(host.pid)
        host.kill()
    assert begun, f"{len(below)} processes below the host, {idle} before the calls"
    assert eventually(lambda: not any(map(runs, below)), within_s=3.0), [pid for pid in below if runs(pid)]


def test_calls_run_side_by_side_and_a_slow_one_holds_up_nobody(pool: Pool) -> None:
    with ThreadPoolExecutor(1) as executor:
        slow = executor.submit(pool.execute, "import time\ntime.sleep(1.5)")
        assert pool.execute("1").ok
        assert not slow.done()


MANY_THREADS = """
import threading, time
threading.stack_size(65536)
done = threading.Event()
result = 0
try:
    while result < data["wanted"]:
        threading.Thread(target=done.wait, daemon=True).start()
        result += 1
except RuntimeError:
    pass
time.sleep(data["seconds"])
done.set()
"""


def most_threads_below(of: int) -> int:
    """Return the number of threads of the process below ``of`` that has most."""
    return max((len(list(Path(f"/proc/{pid}/task").glob("*"))) for pid in descendants(of)), default=0)


def test_a_call_with_all_the_threads_it_may_have_leaves_its_neighbours_theirs() -> None:
    with Pool(tier(), size=1, modules=BARE) as pool, ThreadPoolExecutor() as calls:
        pool.wait_until_full()
        bombs = [
            calls.submit(pool.execute, MANY_THREADS, data={"wanted": 1000, "seconds": 3.0}, timeout_s=9.0)
            for _ in range(2)
        ]
        assert eventually(lambda: most_threads_below(os.getpid()) == limits.THREADS_LIMIT)
        with Pool(pool.tier, size=1, modules=BARE) as other_run:
            for neighbour in (pool, other_run, pool):
                outcome = neighbour.execute(MANY_THREADS, data={"wanted": 30, "seconds": 0.0})
                assert (outcome.ok, outcome.result) == (True, 30), outcome.error
        assert not any(bomb.done() for bomb in bombs)
        assert [bomb.result().result for bomb in bombs] == [limits.THREADS_LIMIT - 1] * 2


def test_where_threads_are_not_counted_by_call_the_limit_is_for_all_calls_or_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entered: list[int] = []
    monkeypatch.setattr(lockdown.kernel, "unshare", entered.append)
    assert lockdown._most_threads("with strangers") is None
    assert lockdown._most_threads("by user") == limits.SHARED_THREADS_LIMIT
    assert entered == []
    assert lockdown._most_threads("by call") == limits.THREADS_LIMIT
    assert entered == [lockdown.kernel.CLONE_NEWUSER]
