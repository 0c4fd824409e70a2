"""Where a process computes: names, what is not there, what is pinned, and a sweep on eight devices beside one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from engine import devices
from engine.agent import builtin as builtin_agents
from engine.config import parse
from engine.errors import ConfigError
from engine.sweep.config import parse as parse_sweep

ROOT = Path(__file__).resolve().parents[2]
SWEEP = {
    "name": "devices",
    "transforms": ["baseline", "noisy", "adversarial"],
    "severities": [0.5, 1.0],
    "seeds": 19,
    "seeds_per_shard": 11,
    "windows": 2,
    "bars": 120,
    "strategies": ["buy_and_hold", "macd", "grid"],
}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program of the project without an order where to compute."""
    orders = ("JAX_PLATFORMS", "XLA_FLAGS", "XLA_PYTHON_CLIENT_PREALLOCATE")
    inherited = {name: value for name, value in os.environ.items() if name not in orders}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.mark.parametrize(("text", "device"), [("cpu", ("cpu", None)), ("cuda", ("cuda", None)), ("tpu:3", ("tpu", 3))])
def test_names_of_devices(text: str, device: tuple[str, int | None]) -> None:
    assert devices.named(text) == device


@pytest.mark.parametrize("text", ["gpu", "cuda:", "cuda:-1", "cuda:one", "", "CPU"])
def test_a_name_that_is_none_is_refused_by_every_reader(text: str) -> None:
    with pytest.raises(ConfigError, match=r"execution.device.*a device is cpu, cuda or tpu.*got " + repr(text)):
        parse({"name": "x", "datasets": [{"type": "crypto"}], "execution": {"device": text}}, source="x.yaml")
    with pytest.raises(ConfigError, match=r"execution.device.*a device is cpu, cuda or tpu"):
        parse_sweep(SWEEP | {"execution": {"device": text}}, source="x.yaml", folder=ROOT)
    refused = run("-m", "engine.cli", "validate", "crypto", "--device", text)
    assert refused.returncode == 2 and "argument --device: a device is cpu, cuda or tpu" in refused.stderr


def test_the_device_is_no_part_of_what_a_sweep_is() -> None:
    plain = parse_sweep(SWEEP, source="x", folder=ROOT)
    assert (
        plain.on("cuda").digest()
        == plain.digest()
        != parse_sweep(SWEEP | {"bars": 121}, source="x", folder=ROOT).digest()
    )
    assert plain.on("cuda:1").execution.device == "cuda:1"


MISSING = {
    "cuda": "device cuda: it is not there, jax finds 1 cpu; jax's plugin for cuda comes with: pip install \"trader",
    "tpu:1": "device tpu:1: it is not there, jax finds 1 cpu; jax's plugin for tpu comes with: pip install",
    "cpu:1": "device cpu:1: it is not there, jax finds 1 cpu\n",
}


@pytest.mark.parametrize("device", MISSING)
def test_a_device_that_is_not_there_is_one_error_that_names_those_that_are(device: str, tmp_path: Path) -> None:
    if devices.counted(devices.available()) != "1 cpu":
        pytest.skip("this machine has more than a processor")
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(yaml.safe_dump(SWEEP))
    out = ("--out", str(tmp_path / "out"))
    for command in (
        ("sweep", str(sweep), *out, "--device", device),
        ("run", "quick", "--agent", "builtin:null", *out, "--device", device),
        ("validate", "crypto", "--device", device),
    ):
        ended = run("-m", "engine.cli", *command)
        assert ended.returncode == 2, ended.stderr
        assert ended.stderr.splitlines(keepends=True)[-1].startswith(f"traderbench: error: {MISSING[device]}")
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_config_says_where_and_the_command_line_wins(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(yaml.safe_dump(SWEEP | {"execution": {"device": "cpu:7"}}))
    refused = run("-m", "engine.cli", "sweep", str(sweep), "--out", str(tmp_path / "out"))
    assert "device cpu:7: it is not there" in refused.stderr
    told = run("-m", "engine.cli", "sweep", str(sweep), "--out", str(tmp_path / "out"), "--device", "cpu", "--json")
    assert json.loads(told.stdout)["device"] == "1 cpu"


def test_the_sweep_on_eight_devices_is_that_of_one_bit_for_bit(tmp_path: Path) -> None:
    """19 seeds in shards of 11 and 8 divide by nothing."""
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(yaml.safe_dump(SWEEP))
    tables = {}
    for count in (1, 8):
        out = tmp_path / str(count)
        forced = {"XLA_FLAGS": f"--xla_force_host_platform_device_count={count}"}
        ended = run("-m", "engine.cli", "sweep", str(sweep), "--out", str(out), "--device", "cpu", "--json", **forced)
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["device"] == f"{count} cpu"
        tables[count] = pd.read_parquet(out / "results").sort_values(
            ["transform", "severity", "window", "seed", "strategy"], ignore_index=True
        )
    assert len(tables[1]) == 3 * 2 * 2 * 19 * 3
    pd.testing.assert_frame_equal(tables[1], tables[8], check_exact=True)


def test_without_an_order_every_command_stays_on_the_processor() -> None:
    code = (
        "import os, sys; from engine import devices; devices.pin(); print(os.environ['JAX_PLATFORMS']);"
        "devices.widen_vectors(); print(os.environ['XLA_FLAGS'], 'jax' in sys.modules)"
    )
    assert run("-c", code).stdout.split() == ["cpu", "--xla_cpu_prefer_vector_width=512", "False"]
    ordered = run("-c", code, JAX_PLATFORMS="cuda", XLA_FLAGS="--xla_dump_to=x")
    assert ordered.stdout.split() == ["cuda", "--xla_dump_to=x", "False"]


def test_processes_that_share_a_card_leave_each_other_its_memory() -> None:
    code = (
        "import os\nfrom engine import devices, errors\n"
        "try: devices.use('cuda', shared={shared})\nexcept errors.ConfigError: pass\n"
        "print(os.environ.get('XLA_PYTHON_CLIENT_PREALLOCATE'))"
    )
    assert run("-c", code.format(shared=True)).stdout.split() == ["false"]
    assert run("-c", code.format(shared=False)).stdout.split() == ["None"]


def test_agents_and_tool_servers_are_pinned_whatever_the_harness_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from mcp_servers import process
    from mcp_servers.setting import Setting

    monkeypatch.setenv("JAX_PLATFORMS", "cuda,cpu")
    given = builtin_agents._environment("/home", builtin_agents.lookup("quant"), {})
    assert given["JAX_PLATFORMS"] == "cpu"
    server = process.ServerProcess(
        {"risk": 0}, Setting(host="127.0.0.1", key=b"k", state_dir=tmp_path), tmp_path / "log"
    )
    try:
        environment = Path(f"/proc/{server.pid}/environ")
        try:
            told = environment.read_bytes().split(b"\0")
        except PermissionError:
            pytest.skip("a process that cannot be inspected")
        assert b"JAX_PLATFORMS=cpu" in told
    finally:
        server.close()


def test_the_doctor_tells_the_devices() -> None:
    from engine.machine.doctor import diagnose

    (check,) = [check for check in diagnose() if check.name == "devices"]
    assert check.state == "ok" and check.text.startswith(devices.counted(devices.available()))


@pytest.mark.ray
def test_a_cluster_without_the_device_is_one_error_and_not_a_wait(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.yaml"
    sweep.write_text(yaml.safe_dump(SWEEP))
    command = ("sweep", str(sweep), "--out", str(tmp_path / "out"), "--backend", "ray", "--workers", "1")
    for device, error in (
        ("tpu", "device tpu: the Ray cluster has none (TPU); it has 1 CPU"),
        ("cpu:0", "device cpu:0: with --backend ray say cpu; Ray deals them out"),
    ):
        ended = run("-m", "engine.cli", *command, "--device", device)
        assert (ended.returncode, ended.stderr.splitlines()[-1]) == (2, f"traderbench: error: {error}")
