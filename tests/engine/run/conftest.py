"""Tool servers that the runs of a file share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.config import ExecutionConfig
from engine.run import services
from engine.run.tool_access import ToolAccess


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[ToolAccess, str]]:
    """Yield six tool servers for the runs that need not start their own: that costs more than most runs."""
    with services.tool_servers(ExecutionConfig(backend="serial", ports="auto")) as up:
        yield up
