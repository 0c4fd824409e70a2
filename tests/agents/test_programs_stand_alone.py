"""A purple agent imports nothing of the project, as a stranger's would."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tests.free_port import free_port

AGENTS = Path(__file__).resolve().parents[2] / "agents"
PROJECT = {"engine", "evaluators", "mcp_servers", "lake", "transforms", "backtest", "pricing", "native"}
PURPLES = ("quant", "llm", "reference")


def imported_packages(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module.split(".")[0])
    return found


def sources(*folders: str) -> list[Path]:
    shared = list(AGENTS.glob("*.py"))
    return shared + [path for folder in folders for path in (AGENTS / folder).rglob("*.py")]


@pytest.mark.parametrize("path", sources(*PURPLES), ids=lambda path: str(path.relative_to(AGENTS)))
def test_a_purple_agent_imports_no_package_of_the_project(path: Path) -> None:
    assert not imported_packages(path) & PROJECT


def test_the_folder_of_programs_is_no_package() -> None:
    assert not (AGENTS / "__init__.py").exists()


def test_no_program_calls_import_by_a_computed_name() -> None:
    for path in sources(*PURPLES):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        names = {node.func.id for node in calls if isinstance(node.func, ast.Name)}
        assert "__import__" not in names and "importlib" not in imported_packages(path), path


@pytest.mark.parametrize("program", ["quant", "reference"])
def test_a_purple_agent_runs_where_the_project_is_not_installed(program: str, tmp_path: Path) -> None:
    copy = tmp_path / "agents"
    shutil.copytree(AGENTS, copy, ignore=shutil.ignore_patterns("green", "__pycache__"))
    blocker = tmp_path / "sitecustomize.py"
    blocker.write_text(
        "import sys\n"
        f"HIDDEN = {sorted(PROJECT)!r}\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in HIDDEN:\n"
        "            raise ModuleNotFoundError(f'{name} is hidden in this test')\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    port = str(free_port())
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, str(copy / program), "--port", port, "--store-predicted"], env=environment, cwd=tmp_path
    )
    try:
        while True:
            try:
                card = httpx.get(f"http://127.0.0.1:{port}/.well-known/agent-card.json", trust_env=False).json()
                break
            except httpx.TransportError:
                assert process.poll() is None
                time.sleep(0.05)
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": '{"type": "trading_decision"}'}]}
        reply = httpx.post(
            f"http://127.0.0.1:{port}/",
            json={"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}},
            headers={"A2A-Version": "1.0"},
            trust_env=False,
        ).json()
    finally:
        process.terminate()
        process.wait()
    assert card["supportedInterfaces"][0]["protocolVersion"] == "1.0"
    assert "HOLD" in reply["result"]["task"]["artifacts"][0]["parts"][0]["text"]
