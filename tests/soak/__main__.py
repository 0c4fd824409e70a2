"""``python -m tests.soak``: a long run whose parts are killed at random ends with the table of an undisturbed one."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.faults import descendants
from tests.faults.run_command import attempts
from tests.faults.scene import FaultFree, Scene
from tests.soak.killer import Killer
from tests.soak.samples import Sampler, told
from tests.soak.two_nodes import SETTINGS

BOUND_S = 4 * 3600.0
EXAMPLES = """examples:
  python -m tests.soak                                          1,000 cells, a blow every 10 s or so
  python -m tests.soak --cells 200 --kill-every 3 --seed 7
  python -m tests.soak --cells 200 --backend ray
  python -m tests.soak --cells 100 --two-nodes                  a Ray cluster of two nodes, of which one is lost

The undisturbed run is played first, and the growth of its harness is measured: its memory and its descriptors in the
last quarter of the cells are at most 10% above those in the second. Exit status: 1 when anything is not as it should
be.
"""


def config(cells: int, backend: str) -> dict[str, Any]:
    """Return a run of that many cells: mostly formulas, some that use the servers."""
    filings, options = cells // 5, cells // 20
    return {
        "name": "soak",
        "datasets": [
            {"type": "synthetic", "limit": cells - filings - options},
            {"type": "fundamentals", "limit": filings},
            {"type": "options", "limit": options},
        ],
        "execution": {"backend": backend, "ports": "auto", "concurrency": 4},
    }


def calm_run(folder: Path, cells: int) -> tuple[FaultFree, list[str]]:
    """Play the run that nobody disturbs, in this machine's simplest way; return it and what was wrong with it."""
    scene = Scene(folder, "serial")
    command = scene.start(**_split(config(cells, "serial")))
    sampler = Sampler(command.pid, lambda: len(attempts(scene.run)))
    ended = scene.end(command, timeout_s=BOUND_S)
    if ended.status:
        raise SystemExit(f"the undisturbed run ended with status {ended.status}: {ended.error}")
    total = ended.result["overall"]["total"]
    line, flat = told(sampler.end(), total)
    scene.close()
    print(f"undisturbed: {total} cells in {ended.seconds:.0f} s; {line}", flush=True)
    return FaultFree(scene.run, ended.result, "serial"), scene.complaints + ([] if flat else ["the harness grows"])


def killed_run(folder: Path, calm: FaultFree, asked: argparse.Namespace) -> list[str]:
    """Play the run under a killer; return what was wrong."""
    scene = Scene(folder, asked.backend, calm)
    killer = Killer(scene, every_s=asked.kill_every, seed=asked.seed, bound_s=BOUND_S)
    started = time.monotonic()
    ended = killer.play_on(scene.start(**_split(config(asked.cells, asked.backend))))
    equality = scene.status_and_equality(ended)
    played = attempts(scene.run)
    scene.close()
    blows = ", ".join(f"{number} of the {part}" for part, number in sorted(killer.blows.items())) or "none"
    print(
        f"under the killer ({asked.backend}): {len(played)} attempts, "
        f"{sum(state == 'infra_unavailable' for _, state in played)} of them lost to it, in "
        f"{time.monotonic() - started:.0f} s; kills: {blows}; table {equality}",
        flush=True,
    )
    return scene.complaints + ([] if equality == "equal" else [equality])


def cluster_run(folder: Path, calm: FaultFree, asked: argparse.Namespace) -> list[str]:
    """Play the run on two Ray nodes and lose one; return what was wrong."""
    scene = Scene(folder, "ray", calm)
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    launcher = ("-m", "tests.soak.two_nodes", str(scene.run), str(max(2, asked.cells // 4)))
    own = {"RAY_AUTH_TOKEN_PATH": str(token), "RAY_TMPDIR": str(scene.temporary)}
    command = scene.start(launcher=launcher, more={**SETTINGS, **own}, **_split(config(asked.cells, "ray")))
    ended = scene.end(command, timeout_s=BOUND_S)
    equality = scene.status_and_equality(ended)
    lost = "node lost" in ended.stderr
    scene.close()
    # Ray's own folder of the cluster, which it leaves to the temporary folder's owner
    complaints = [each for each in scene.complaints if each != "file left: ray"]
    print(f"two nodes: {'one lost' if lost else 'NONE LOST'}, {ended.seconds:.0f} s; table {equality}", flush=True)
    return complaints + ([] if lost else ["no node was lost"]) + ([] if equality == "equal" else [equality])


def _split(made: dict[str, Any]) -> dict[str, Any]:
    return {"config": {"limits": {}} | made, "execution": made["execution"]}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cells", type=int, default=1000, help="tasks of the run (default: %(default)s)")
    parser.add_argument("--backend", choices=("serial", "ray"), default="serial", help="default: %(default)s")
    parser.add_argument("--kill-every", type=float, default=10.0, metavar="SECONDS", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of the killer (default: %(default)s)")
    parser.add_argument("--two-nodes", action="store_true", help="a Ray cluster that loses a node, instead of a killer")
    asked = parser.parse_args()
    # a short path: Ray makes sockets below it, whose names may have 107 characters
    place = tempfile.TemporaryDirectory(prefix="ts-", ignore_cleanup_errors=True)
    with descendants.adopting_orphans(), place as folder:
        places = [Path(folder) / name for name in ("calm", "run")]
        for made in places:
            made.mkdir()
        calm, wrong = calm_run(places[0], asked.cells)
        wrong += (cluster_run if asked.two_nodes else killed_run)(places[1], calm, asked)
    for line in wrong:
        print(f"X {line}")
    print("as it should be" if not wrong else f"{len(wrong)} things are not as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
