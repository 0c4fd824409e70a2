"""Modules of the agent programs, imported the way the programs themselves find them."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from engine.agent.builtin import start

AGENTS = Path(__file__).resolve().parents[2] / "agents"


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], ModuleType]]:
    """Return ``import_from(folder, module)``; what it imported is forgotten after the test."""
    before = set(sys.modules)

    def import_from(folder: str, module: str) -> ModuleType:
        for place in (AGENTS, AGENTS / folder):
            monkeypatch.syspath_prepend(str(place))
        return importlib.import_module(module)

    yield import_from
    for name in set(sys.modules) - before:
        place = getattr(sys.modules[name], "__file__", None) or ""
        if place.startswith(str(AGENTS)):
            del sys.modules[name]


@pytest.fixture
def dialogue(program: Callable[[str, str], ModuleType]) -> ModuleType:
    """Return the language-model agent's module ``dialogue``."""
    return program("llm", "dialogue")


@pytest.fixture(scope="module")
def quant() -> Iterator[Callable[[str], str]]:
    """Yield what asks the quant agent over A2A and returns its reply; the program is started once for a file."""
    with asyncio.Runner() as runner:
        stack = contextlib.AsyncExitStack()
        agent = runner.run(stack.enter_async_context(start("quant")))
        try:
            yield lambda text: runner.run(agent.conversation("task").send(text, timeout_s=60.0)).text
        finally:
            runner.run(stack.aclose())
