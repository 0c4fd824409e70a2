"""A sweep submitted as a job to a private two-node Ray cluster that loses a node in the middle."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from engine.cli import cluster as sweep_job
from engine.cli.cluster import submit
from engine.sweep.run import run_sweep
from engine.sweep.store import shard_files
from tests.free_port import free_port

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
"""Ray reads these when it is imported, so the cluster is made by a process of its own."""
SWEEP = {
    "name": "cluster",
    "transforms": ["baseline", "noisy"],
    "seeds": 30,
    "bars": 400,
    "strategies": ["moving_average_cross", {"name": "mine.py:make", "params": {"fast": 12}}],
    "seeds_per_shard": 1,
}
MINE = """
from backtest.strategies import moving_average_cross


def make(fast):
    return moving_average_cross(fast, 26)
"""


def submit_and_lose_a_node(config: Path, out: Path) -> int:
    """Run the job on a head and a second node of one CPU each; return the shards stored when the second was killed."""
    from ray.cluster_utils import Cluster

    port = free_port()
    head = {
        "num_cpus": 1,
        "include_dashboard": True,
        "dashboard_host": "127.0.0.1",
        "dashboard_port": port,
        # 0: one that is free; a head's usual one is held by any other Ray of this machine, and then takes no job
        "dashboard_agent_listen_port": 0,
        "object_store_memory": 100 * 2**20,
    }
    cluster = Cluster(initialize_head=True, head_node_args=head)
    stored: list[int] = []
    try:
        second = cluster.add_node(num_cpus=1, object_store_memory=100 * 2**20)

        def lose_the_second() -> None:
            while len(shard_files(out / "results")) < 3:
                time.sleep(0.02)
            cluster.remove_node(second, allow_graceful=False)
            stored.append(len(shard_files(out / "results")))

        killer = threading.Thread(target=lose_the_second, daemon=True)
        killer.start()
        url = f"http://127.0.0.1:{port}"
        state = submit(config, out=out, address=url, working_dir=ROOT, python=sys.executable)
        assert state == "SUCCEEDED", state
        killer.join()
    finally:
        cluster.shutdown()
    return stored[0]


@pytest.mark.ray
@pytest.mark.campaign
def test_a_job_that_loses_a_node_in_the_middle_gives_the_serial_result(tmp_path: Path) -> None:
    config, out = tmp_path / "sweep.yaml", tmp_path / "cluster"
    config.write_text(yaml.safe_dump(SWEEP))
    (tmp_path / "mine.py").write_text(MINE)
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    command = [sys.executable, __file__, str(config), str(out)]
    # Ray's Cluster writes into ray/ of its temporary folder and does not make it; a short path, for its sockets
    with tempfile.TemporaryDirectory(prefix="tb-rc-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "ray").mkdir()
        own = {"RAY_AUTH_TOKEN_PATH": str(token), "RAY_TMPDIR": folder, "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(command, env=clean | SETTINGS | own, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert 3 <= int(ended.stdout.split()[-1]) < 30
    assert "30/30 shards" in ended.stdout and "million bar-steps/s" in ended.stdout
    run_sweep(config, out=tmp_path / "serial", workers=1, report=False)
    found, serial = pd.read_parquet(out / "results"), pd.read_parquet(tmp_path / "serial" / "results")
    # float32 draws are compiled in each process anew, which may move their last bit
    pd.testing.assert_frame_equal(found, serial, rtol=1e-7, atol=1e-9)
    by_strategy = found.pivot(index=["transform", "seed"], columns="strategy", values="log_growth")
    np.testing.assert_array_equal(by_strategy["mine.py:make(fast=12)"], by_strategy["moving_average_cross"])


class Starting:
    """A cluster that takes a job on the third try."""

    tries = 0

    def submit_job(self, **job: str) -> str:
        self.tries += 1
        if self.tries < 3:
            raise RuntimeError(f"Request failed with status code 500: {sweep_job.NOT_YET}, please try again later..")
        return job["entrypoint"]


def test_a_cluster_that_is_still_starting_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_job, "POLL_SECONDS", 0.0)
    assert sweep_job._accepted(Starting(), entrypoint="sweep") == "sweep"
    monkeypatch.setattr(sweep_job, "START_SECONDS", -1.0)
    with pytest.raises(RuntimeError, match=r"agent-listen-port PORT.*No available agent"):
        sweep_job._accepted(Starting(), entrypoint="sweep")


if __name__ == "__main__":
    print(submit_and_lose_a_node(Path(sys.argv[1]), Path(sys.argv[2])))
