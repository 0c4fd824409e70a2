"""What whole runs share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine import services
from engine.config import ExecutionConfig
from engine.tool_access import ToolAccess


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[ToolAccess, str]]:
    """Yield the six tool servers for runs that need not start their own: that costs more than most runs."""
    with services.tool_servers(ExecutionConfig(backend="serial", ports="auto")) as up:
        yield up
