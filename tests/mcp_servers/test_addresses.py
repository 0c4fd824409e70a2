"""By which names and from where the tool servers are reached."""

from __future__ import annotations

import socket
import unittest.mock

import httpx
import pytest

from engine.config import ExecutionConfig
from engine.errors import ConfigError
from engine.run import services
from mcp_servers import addresses
from mcp_servers.server_set import start_servers

NAMES = frozenset({"127.0.0.1", "localhost", "green"})


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8101", "localhost", "green:8101", "GREEN:1", "green.:80", "10.0.0.7:8101", "[fe80::1]:80"]
)
def test_known_names_and_numbers_are_answered(host: str) -> None:
    assert addresses.refusal(host, "", NAMES) is None


@pytest.mark.parametrize("host", ["", "evil.example:8101", "green.evil.example", "127.0.0.1.evil.example:80", "[x"])
def test_other_names_are_refused_and_told_what_to_set(host: str) -> None:
    status, said = addresses.refusal(host, "", NAMES) or (0, "")
    assert status == 421 and repr(host) in said
    assert "127.0.0.1, green, localhost" in said and "--public-host" in said and "--allowed-host" in said


@pytest.mark.parametrize(
    ("origin", "status"), [("http://localhost:3000", 0), ("http://green", 0), ("http://6.6.6.6", 403), ("null", 403)]
)
def test_pages_of_other_hosts_are_refused(origin: str, status: int) -> None:
    assert (addresses.refusal("127.0.0.1", origin, NAMES) or (0, ""))[0] == status


def test_this_machine_is_not_another_host() -> None:
    assert addresses.towards("http://127.0.0.1:9110") is None
    assert addresses.towards("http://localhost:9110") is None
    assert addresses.towards("http://a..b:9110") is None


def test_what_an_agent_is_told_is_what_it_can_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "towards", lambda url: None if "127." in url else "10.0.0.5")
    here, everywhere = ExecutionConfig(), ExecutionConfig(host="0.0.0.0")
    assert services.reachable(here, "http://127.0.0.1:9110") == here
    assert services.reachable(here, "builtin:oracle") == here
    assert services.reachable(everywhere, "http://10.0.0.9:9110").public_host == "10.0.0.5"
    named = ExecutionConfig(public_host="bench")
    assert services.reachable(named, "http://10.0.0.9:9110") == named
    with pytest.raises(ConfigError, match=r"could not reach tool servers on 127\.0\.0\.1; .* --host 10\.0\.0\.5"):
        services.reachable(here, "http://10.0.0.9:9110")


def test_a_server_answers_to_its_names_and_the_harness_channel_stays_on_this_machine() -> None:
    with start_servers(
        ["risk"], ports="auto", host="0.0.0.0", public_host="green", allowed_hosts=["bench.example"]
    ) as servers:
        (url,) = servers.urls("token").values()
        assert url == f"http://green:{servers.ports['risk']}/t/token/mcp"
        assert servers.health() == {"risk": "ok"}
        here = f"http://127.0.0.1:{servers.ports['risk']}/t/token/mcp"
        with httpx.Client(trust_env=False) as web:
            status = {
                host: web.post(here, headers={"Host": host}).status_code
                for host in ("green:1", "bench.example", "10.1.2.3", "evil.example")
            }
            assert status == {"green:1": 401, "bench.example": 401, "10.1.2.3": 401, "evil.example": 421}
            refused = web.post(here, headers={"Host": "evil.example"}).json()["error"]
            assert "execution.public_host" in refused
        (channel,) = servers.channels.values()
        assert channel.startswith("http://127.0.0.1:")
        port = int(channel.rpartition(":")[2])
        with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
            # another loopback address reaches what listens everywhere, and not what listens on 127.0.0.1 alone
            probe.connect(("127.0.0.2", port))


@pytest.mark.parametrize("name", ["", "gw:9000", "http://gw", "gw ", "-gw", "fe80::1"])
def test_what_is_no_name_alone_is_refused_before_anybody_is_told_it(name: str) -> None:
    for field in ({"public_host": name}, {"allowed_hosts": (name,)}, {"host": name}):
        with pytest.raises(ValueError, match="without scheme, port or blanks"):
            ExecutionConfig(**field)


def test_a_blank_name_opens_nothing() -> None:
    blank = frozenset({"", "127.0.0.1"})
    assert addresses.refusal("127.0.0.1", "null", blank) == (403, unittest.mock.ANY)
    assert addresses.refusal("[", "", blank) == (421, unittest.mock.ANY)
