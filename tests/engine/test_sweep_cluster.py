"""A sweep submitted as a job to a private two-node Ray cluster that loses a node in the middle."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.sweep import run_sweep
from engine.sweep_job import submit
from engine.sweep_store import read_results, shard_files

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(280)]

ROOT = Path(__file__).resolve().parents[2]
SWEEP = {
    "name": "cluster",
    "transforms": ["baseline", "noisy"],
    "seeds": 30,
    "bars": 400,
    "strategies": ["moving_average_cross"],
    "seeds_per_shard": 1,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Any, str]]:
    """Yield the cluster, its second node and its URL: one CPU a node, ports and folders of their own."""
    for name, value in {
        "RAY_AUTH_MODE": "disabled",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    }.items():
        monkeypatch.setenv(name, value)
    from ray.cluster_utils import Cluster

    port = free_port()
    with tempfile.TemporaryDirectory(prefix="tb-rc-", ignore_cleanup_errors=True) as folder:
        made = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 1,
                "include_dashboard": True,
                "dashboard_host": "127.0.0.1",
                "dashboard_port": port,
                "temp_dir": folder,
                "object_store_memory": 100 * 2**20,
            },
        )
        try:
            second = made.add_node(num_cpus=1, object_store_memory=100 * 2**20)
            yield made, second, f"http://127.0.0.1:{port}"
        finally:
            made.shutdown()


def test_a_job_that_loses_a_node_in_the_middle_gives_the_serial_result(
    cluster: tuple[Any, Any, str], tmp_path: Path
) -> None:
    made, second, url = cluster
    config = tmp_path / "sweep.yaml"
    config.write_text(yaml.safe_dump(SWEEP))
    out = tmp_path / "cluster"
    stored: list[int] = []

    def lose_a_node() -> None:
        while len(shard_files(out / "results")) < 3:
            time.sleep(0.02)
        made.remove_node(second, allow_graceful=False)
        stored.append(len(shard_files(out / "results")))

    killer = threading.Thread(target=lose_a_node, daemon=True)
    killer.start()
    state = submit(config, out=out, address=url, working_dir=ROOT, python=sys.executable, timeout_seconds=240.0)
    assert state == "SUCCEEDED"
    killer.join(timeout=30.0)
    assert stored and 3 <= stored[0] < 30
    run_sweep(config, out=tmp_path / "serial", workers=1, report=False)
    assert read_results(out / "results").equals(read_results(tmp_path / "serial" / "results"))
    assert os.environ["RAY_AUTH_MODE"] == "disabled"
