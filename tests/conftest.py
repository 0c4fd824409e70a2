"""Switches every test runs under, and the data that some need."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# a busy machine turns no test red: hypothesis times neither an example nor its making
settings.register_profile(
    "traderbench",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
    print_blob=True,
)
settings.load_profile("traderbench")

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"


def pytest_configure() -> None:
    # a suite that is started in the background or under nohup would hand its deafness on to every program it starts
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, usual)

    from engine.machine import jax_cache

    jax_cache.enable()

    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_numpy_rank_promotion", "raise")


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are cores: a sixth of the time a test waits, for a server or for Ray."""
    return len(os.sched_getaffinity(0)) + 1


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    _put_slow_files_first(items)
    _skip_what_needs_absent_data(items)


def _put_slow_files_first(items: list[pytest.Item]) -> None:
    """So that no process is left alone with one of them at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow") or item.get_closest_marker("campaign")}
    items.sort(key=lambda item: item.path not in slow)


def _skip_what_needs_absent_data(items: list[pytest.Item]) -> None:
    if SHARED_DATA.is_dir():
        return
    if os.environ.get("TRADERBENCH_REQUIRE_SHARED_DATA"):
        raise pytest.UsageError(f"the real data is required here and missing: {SHARED_DATA}")
    skip = pytest.mark.skip(reason="needs ../shared/data beside the project")
    for item in items:
        if item.get_closest_marker("shared_data"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    return SHARED_DATA
