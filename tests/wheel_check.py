"""Try the built wheel as a stranger would: an empty environment, an empty folder outside the tree, the commands.

``make wheel-check`` installs the dependencies from the package registry, for each interpreter that it is given: with uv
where it is there, else with pip, which takes minutes. ``test_wheel.py`` takes those of its own environment and needs no
network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "evaluators", "mcp_servers", "lake", "transforms", "backtest", "pricing", "native")
SECTIONS = 5
KEPT = ("PIP_INDEX_URL", "SSL_CERT_FILE", "XDG_CACHE_HOME")
"""What of this environment the commands are given: where packages and compiled kernels are."""
SWEEP = """
name: small
transforms: [baseline, noisy]
seeds: 2
bars: 200
strategies: [macd]
"""
LOADED = f"""
import importlib, importlib.metadata, json, sys
import engine.cli, engine.agent.builtin, engine.shipped
files = [importlib.import_module(name).__file__ for name in {PACKAGES!r}]
files += [str(engine.agent.builtin.locate_programs()), str(engine.shipped.folder("configs"))]
print(json.dumps([files, sys.path, importlib.metadata.version("traderbench")]))
"""


class Failed(Exception):
    """What the wheel cannot do."""


def build(folder: Path) -> Path:
    """Build the wheel of this checkout."""
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, python: str, environment: Path, dependencies: Path | None) -> None:
    """Install the wheel into a new environment; ``dependencies`` is a site-packages that holds what it needs."""
    own_python = str(environment / "bin" / "python")
    options = ["install", "--quiet", "--disable-pip-version-check"]
    if dependencies is None:
        run([python, "-m", "venv", str(environment)], cwd=environment.parent)
        pip = [own_python, "-m", "pip", *options]
        uv = Path(sys.executable).with_name("uv")
        fast = [str(uv), "pip", "install", "--quiet", "--python", own_python] if uv.is_file() else pip
        run([*fast, str(wheel)], cwd=environment.parent, limit_s=3600)
        return
    # to install pip takes longer than to install the wheel: the pip beside this program does it
    run([python, "-m", "venv", "--without-pip", str(environment)], cwd=environment.parent)
    pip = [sys.executable, "-m", "pip", "--python", own_python, *options]
    run([*pip, "--no-index", "--no-deps", str(wheel)], cwd=environment.parent)
    (own,) = environment.glob("lib/python*/site-packages")
    # a folder named in a .pth file is searched, but its own .pth files, such as the editable project's, are not read
    (own / "dependencies.pth").write_text(f"{dependencies}\n", encoding="utf-8")


def run(command: list[str], *, cwd: Path, limit_s: float = 900.0) -> str:
    """Run a command in an environment that knows nothing of this one; return what it printed."""
    kept = {
        name: os.environ[name] for name in ("PIP_INDEX_URL", "SSL_CERT_FILE", "XDG_CACHE_HOME") if name in os.environ
    }
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", str(cwd)), "LANG": "C.UTF-8"} | kept
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=limit_s)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}: {(done.stderr or done.stdout)[-3000:]}")
    return done.stdout


def check(environment: Path, folder: Path, *, backend: str) -> dict[str, float]:
    """Run the commands in an empty folder; return the seconds of each."""
    traderbench, seconds = str(environment / "bin" / "traderbench"), {}

    def timed(*arguments: str) -> str:
        began = time.perf_counter()
        printed = run([traderbench, *arguments], cwd=folder)
        seconds[" ".join(arguments[:3])] = round(time.perf_counter() - began, 1)
        return printed

    files, path, version = json.loads(run([str(environment / "bin" / "python"), "-c", LOADED], cwd=folder))
    expect(all(Path(file).is_relative_to(environment) for file in files), f"imported from elsewhere: {files}")
    expect(not any(Path(entry).is_relative_to(ROOT) and "site-packages" not in entry for entry in path), f"{path}")
    expect(timed("--version").strip() == f"traderbench {version}", "another version")
    expect(len(timed("tasks", "list").splitlines()) >= 6, "datasets are missing")
    drawn = {given: timed("tasks", "draw", given, "--seed", "7") for given in ("quick", "configs/quick.yaml")}
    expect(len(set(drawn.values())) == 1 and len(drawn["quick"].splitlines()) == 34, f"tasks drawn: {drawn}")
    found = {each["name"]: each for each in json.loads(timed("doctor", "--json"))}
    expect(found["packages"]["state"] == "ok" and found["data"]["state"] == "ok", f"doctor: {found}")
    (folder / "small.yaml").write_text(SWEEP, encoding="utf-8")
    swept = json.loads(timed("sweep", "small.yaml", "--out", "swept", "--json"))
    expect(swept["cells"] == 4, f"sweep: {swept}")
    chosen = ("--backend", backend, "--ports", "auto")
    result = json.loads(timed("run", "quick", "--seed", "7", "--out", "run", *chosen, "--json"))
    expect(len(result["sections"]) == SECTIONS and result["unscored"] == 0, f"run: {result['tasks']}")
    expect(result["overall"]["score"] > 10.0 and result["overall"]["ci95"] is not None, f"run: {result['overall']}")
    expect((folder / "run" / "report.html").is_file(), "no report")
    return seconds


def expect(holds: bool, otherwise: str) -> None:
    """Raise unless a condition holds."""
    if not holds:
        raise Failed(otherwise)


def main() -> int:
    """Check the wheel with each interpreter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interpreters", nargs="+", help="such as python3.12, or a path")
    parser.add_argument("--dependencies", type=Path, help="a site-packages to take the dependencies from, no registry")
    parser.add_argument("--backend", choices=("serial", "ray"), default="ray", help="of the run")
    given = parser.parse_args()
    absent = [python for python in given.interpreters if shutil.which(python) is None]
    if absent:
        parser.error(f"not on this machine: {', '.join(absent)}; name others: make wheel-check PYTHONS='...'")
    with tempfile.TemporaryDirectory(prefix="traderbench-wheel-") as temporary:
        place = Path(temporary)
        wheel = build(place / "dist")
        for number, python in enumerate(str(Path(shutil.which(name)).absolute()) for name in given.interpreters):
            environment, folder = place / f"environment-{number}", place / f"empty-{number}"
            folder.mkdir()
            try:
                install(wheel, python, environment, given.dependencies)
                seconds = check(environment, folder, backend=given.backend)
            except (Failed, OSError, subprocess.TimeoutExpired) as error:
                print(f"{python}: {error}", file=sys.stderr)
                return 1
            print(f"{python}: {wheel.name} works: {json.dumps(seconds)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
