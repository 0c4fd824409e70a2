"""A built-in agent is another user where that can be, and where it cannot a run and doctor say why."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.agent import builtin as builtin_agents
from engine.agent import process as agent_process
from engine.agent import user as agent_user
from engine.agent.user import AgentUser
from engine.machine import doctor
from engine.run import services

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a process as another user")
SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture(autouse=True)
def chosen_anew():
    agent_user.choose.cache_clear()
    yield
    agent_user.choose.cache_clear()


def test_an_ordinary_users_agent_is_the_same_user(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert agent_user.choose(tmp_path) == AgentUser(None, "agents that we start are the same user as we are")
    assert doctor._agent_user().state == "ok"


@as_root
def test_where_another_user_cannot_read_the_program_run_and_doctor_say_why(tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir(mode=0o700)
    (tmp_path / "closed" / "__main__.py").write_text("")
    user = agent_user.choose(tmp_path / "closed" / "__main__.py")
    assert not user.is_apart
    assert user.text.startswith("agents that we start are root, as we are: another user cannot run them (")
    assert "Permission denied" in user.text
    monkeypatch.setattr(builtin_agents, "user_of", lambda name: user)
    assert services.told_about("builtin:quant") == f"; {user.text}"
    assert services.told_about("builtin:oracle") == services.told_about("http://127.0.0.1:9") == ""
    found = doctor._agent_user()
    assert (found.state, user.text in found.text) == ("warning", True)


def test_a_user_apart_needs_no_word_of_the_run(monkeypatch):
    monkeypatch.setattr(builtin_agents, "user_of", lambda name: AgentUser(61200, "agents that we start are user 61200"))
    assert services.told_about("builtin:quant") == ""
    assert doctor._agent_user() == doctor.Check("agent user", "ok", "agents that we start are user 61200")


@as_root
@pytest.mark.skipif(not os.access(SYSTEM_PYTHON, os.X_OK), reason=f"no {SYSTEM_PYTHON}, which every user may run")
def test_a_process_of_another_user_has_no_group_of_ours_and_dies_with_us(tmp_path, monkeypatch):
    """The interpreter of the system stands for one that every user may run."""
    monkeypatch.setattr(sys, "executable", SYSTEM_PYTHON)
    home = Path("/tmp") / f"tb-test-{os.getpid()}"
    home.mkdir(mode=0o700)
    try:
        os.chown(home, 61200, 61200)
        log = tmp_path / "log"
        process = agent_process.launch(
            ["-I", "-c", "import os; print(os.getresuid(), os.getresgid(), os.getgroups(), os.listdir('.'))"],
            environment={},
            folder=home,
            log=log,
            user=61200,
        )
        assert process.wait() == 0
        assert log.read_text() == "(61200, 61200, 61200) (61200, 61200, 61200) [] []\n"
        harness = (
            "import sys, time\nfrom pathlib import Path\nfrom engine.agent import process as agent_process\n"
            f"sys.executable = {SYSTEM_PYTHON!r}\n"
            f"process = agent_process.launch(['-c', 'import time; time.sleep(60)'], environment={{}}, user=61200, "
            f"folder=Path({str(home)!r}), log=Path({str(log)!r}))\n"
            "print(process.pid, flush=True)\ntime.sleep(60)\n"
        )
        monkeypatch.undo()
        with subprocess.Popen([sys.executable, "-c", harness], stdout=subprocess.PIPE, text=True) as parent:
            agent = int(parent.stdout.readline())
            while "time.sleep" not in Path(f"/proc/{agent}/cmdline").read_text():
                time.sleep(0.02)
            time.sleep(0.3)
            assert Path(f"/proc/{agent}").stat().st_uid == 61200
            parent.send_signal(signal.SIGKILL)
        deadline = time.monotonic() + 30
        while is_alive(agent) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not is_alive(agent)
    finally:
        home.rmdir()


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@as_root
def test_a_builtin_agent_runs_as_the_user_that_was_chosen(monkeypatch):
    async def owner():
        async with builtin_agents.start("null"):
            (pid,) = [
                int(pid) for tasks in Path("/proc/self/task").glob("*/children") for pid in tasks.read_text().split()
            ]
            return Path(f"/proc/{pid}").stat().st_uid

    user = builtin_agents.user_of("null")
    if not user.is_apart:
        pytest.skip(user.text)
    assert asyncio.run(owner()) == user.number
