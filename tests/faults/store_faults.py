"""Damage to a stored run, and changes between a run and its resume: seen and refused, never played over."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.faults import altered_harness as points
from tests.faults.row import Fault
from tests.faults.run_command import Ended
from tests.faults.scene import Scene, ended_by

LEDGER, MANIFEST, BLOBS = "ledger.sqlite", "manifest.json", "transcripts/*/*.zz"
CORRUPT, REFUSED = "refused, 65", "refused, 2"
HALF = 6
"""Commits of a run that is interrupted to be resumed."""


def resumed(scene: Scene, ended: Ended) -> str:
    """Return how a resume was refused, or what its table is."""
    return scene.status_and_equality(ended) if ended.result else f"refused, {ended_by(ended.status)}"


def damaged(damage: Callable[[Path], None]) -> Callable[[Scene], str]:
    """Damage a copy of the finished run and resume it: with nothing to play only the store is asked."""

    def inject(scene: Scene) -> str:
        assert scene.calm is not None
        shutil.copytree(scene.calm.folder, scene.run)
        damage(scene.run)
        return resumed(scene, scene.end(scene.resume()))

    return inject


def _blobs(run: Path) -> list[Path]:
    return sorted(run.glob(BLOBS))


def _cut(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])


def flip_blob(run: Path) -> None:
    """Change one byte of a transcript."""
    path = _blobs(run)[0]
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def swap_blobs(run: Path) -> None:
    """Give each of two transcripts the other's name."""
    one, other = _blobs(run)[:2]
    first = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(first)


def flip_ledger(run: Path) -> None:
    """Change some bytes in the middle of every page of the ledger."""
    path = run / LEDGER
    content = bytearray(path.read_bytes())
    for page in range(0, len(content), 4096):
        content[page + 100 : page + 164] = b"\xff" * 64
    path.write_bytes(content)


def forget_commits(run: Path) -> None:
    """Put the ledger back to what it was three commits ago."""
    with closing(sqlite3.connect(run / LEDGER)) as ledger, ledger:
        ledger.execute("DELETE FROM cells WHERE key IN (SELECT key FROM attempts ORDER BY id DESC LIMIT 3)")
        ledger.execute("DELETE FROM attempts WHERE id IN (SELECT id FROM attempts ORDER BY id DESC LIMIT 3)")


def point_elsewhere(run: Path) -> None:
    """Let a row of the ledger point to another task's transcript."""
    with closing(sqlite3.connect(run / LEDGER)) as ledger, ledger:
        ledger.execute(
            "UPDATE cells SET blob = (SELECT MAX(blob) FROM cells) WHERE blob = (SELECT MIN(blob) FROM cells)"
        )


def remove_ledger(run: Path) -> None:
    """Take the ledger away."""
    for path in run.glob(f"{LEDGER}*"):
        path.unlink()


def edited(*keys: str, value: Any) -> Callable[[Path], None]:
    """Change one value of the manifest."""

    def edit(run: Path) -> None:
        path = run / MANIFEST
        manifest = inner = json.loads(path.read_bytes())
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value
        path.write_text(json.dumps(manifest, indent=2, sort_keys=True))

    return edit


def half_finished(scene: Scene) -> None:
    """Begin a run in the scene's folder and interrupt it."""
    command = scene.start()
    assert scene.after_commits(command, HALF), "the run ended before it was interrupted"
    command.send(signal.SIGINT)
    scene.end(command)


def other_agent(scene: Scene) -> str:
    """Resume with another agent."""
    half_finished(scene)
    return resumed(scene, scene.end(scene.resume("--agent", "builtin:echo")))


def other_version(scene: Scene) -> str:
    """Resume with another version of the benchmark."""
    half_finished(scene)
    launcher = ("-m", "tests.faults.altered_harness", points.OTHER_VERSION, "0")
    return resumed(scene, scene.end(scene.resume(launcher=launcher)))


def two_runs(scene: Scene) -> str:
    """Start a second run and a resume in the folder of a run under way."""
    command = scene.start()
    assert scene.after_commits(command, 1), "the run ended before the second one"
    # held still, or it would be over before the others have begun
    command.send(signal.SIGSTOP)
    others = [scene.resume(), scene.command("report", str(scene.run), "--json"), scene.start()]
    statuses = sorted(scene.end(other).status for other in others)
    command.send(signal.SIGCONT)
    return f"{', '.join(map(str, statuses))}, then {scene.finished(command)}"


FAULTS = (
    Fault("blob-flipped", CORRUPT, damaged(flip_blob)),
    Fault("blob-cut", CORRUPT, damaged(lambda run: _cut(_blobs(run)[0], 0.5))),
    Fault("blob-emptied", CORRUPT, damaged(lambda run: _cut(_blobs(run)[0], 0.0))),
    Fault("blob-gone", CORRUPT, damaged(lambda run: _blobs(run)[0].unlink())),
    Fault("blob-swapped", CORRUPT, damaged(swap_blobs)),
    Fault("ledger-flipped", CORRUPT, damaged(flip_ledger)),
    Fault("ledger-cut", CORRUPT, damaged(lambda run: _cut(run / LEDGER, 0.5))),
    Fault("ledger-emptied", CORRUPT, damaged(lambda run: _cut(run / LEDGER, 0.0))),
    Fault("ledger-swapped", CORRUPT, damaged(point_elsewhere)),
    Fault("ledger-earlier", CORRUPT, damaged(forget_commits)),
    Fault("ledger-gone", "equal", damaged(remove_ledger)),
    Fault("manifest-cut", CORRUPT, damaged(lambda run: _cut(run / MANIFEST, 0.5))),
    Fault("manifest-weights", CORRUPT, damaged(edited("config", "weights", "options_trading", value=0.9))),
    Fault("manifest-limits", CORRUPT, damaged(edited("config", "limits", "turn_time_s", value=1.0))),
    Fault("manifest-seed", CORRUPT, damaged(edited("seed", value=7))),
    Fault("manifest-tasks", CORRUPT, damaged(edited("tasks", value=[]))),
    Fault("agent-changed", REFUSED, other_agent),
    Fault("version-changed", REFUSED, other_version),
    Fault("two-runs", "2, 75, 75, then equal", two_runs),
)
