"""``traderbench`` on a Ray cluster of two nodes of this machine, of which one is lost in mid-run.

``python -m tests.soak.two_nodes RUN COMMITS COMMAND ...``: the second node is lost when the ledger of RUN holds
COMMITS attempts. The run joins the connection that this process has.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.faults.run_command import attempts

SETTINGS: Mapping[str, str] = {
    "RAY_AUTH_MODE": "token",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
"""Ray reads these when it is imported."""
NODE: Mapping[str, Any] = {"object_store_memory": 100 * 2**20}


def lose(cluster: Any, node: Any, run: Path, commits: int) -> None:
    """Wait for the commits and take the node away."""
    while len(attempts(run)) < commits:
        time.sleep(0.05)
    cluster.remove_node(node, allow_graceful=False)
    print(f"node lost after {len(attempts(run))} commits", file=sys.stderr, flush=True)


def main(run: Path, commits: int, command: list[str]) -> int:
    import ray
    from ray.cluster_utils import Cluster

    from engine.cli import main as traderbench

    # Cluster writes into ray/ of the temporary folder and does not make it
    (Path(tempfile.gettempdir()) / "ray").mkdir(exist_ok=True)
    cluster: Any = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False, **NODE})
    try:
        second = cluster.add_node(num_cpus=2, **NODE)
        ray.init(address=cluster.address, log_to_driver=False)
        threading.Thread(target=lose, args=(cluster, second, run, commits), daemon=True).start()
        return traderbench(command)
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
