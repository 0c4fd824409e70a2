"""Child processes end with what started them, however it ends."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from engine.agent import process as agent_process

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def test_a_deaf_process_is_killed_when_even_the_wait_for_its_end_is_cancelled(tmp_path: Path) -> None:
    async def run() -> tuple[int | None, float]:
        log = tmp_path / "log"
        process = agent_process.launch(["-c", DEAF], environment={}, folder=tmp_path, log=log)
        while log.read_text() != "up\n":
            await asyncio.sleep(0.02)
        stopping = asyncio.create_task(agent_process.stop(process, timeout_s=50.0))
        await asyncio.sleep(0.1)
        began = time.monotonic()
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
        return process.poll(), time.monotonic() - began

    status, seconds = asyncio.run(run())
    assert status == -9 and seconds < 20.0
