"""A token in a header is the token in the path, and nothing more: it opens what that opens, and never two doors."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_servers import access, bearer, caller
from mcp_servers.access import Grant, InvalidToken
from mcp_servers.app import build_app
from mcp_servers.catalog import SERVERS
from mcp_servers.embedded import run_in_thread
from mcp_servers.host import build, guarded
from mcp_servers.server_set import ServerSet, start_servers
from mcp_servers.setting import bind
from tests.mcp_servers.call_logs import calls_of

EARLY, LATE = date(2011, 9, 19), date(2012, 9, 19)
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
QUOTE = {"name": "get_quote", "arguments": {"ticker": "AAPL"}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": QUOTE}


@pytest.fixture(scope="module")
def servers() -> Iterator[ServerSet]:
    with start_servers(("edgar", "yfinance"), ports="auto") as running:
        yield running


def token(servers: ServerSet, task: str, *, as_of: date = LATE, only: tuple[str, ...] | None = None) -> str:
    return access.issue(Grant("run", task, as_of, 1, servers=only), servers.key)


def root(servers: ServerSet) -> str:
    return f"http://127.0.0.1:{servers.ports['yfinance']}"


def post(url: str, *authorization: str, **headers: str) -> httpx.Response:
    """Call the quote tool with these ``Authorization`` headers, each a header of its own."""
    given = [*(ACCEPT | headers).items(), *(("Authorization", value) for value in authorization)]
    with httpx.Client(trust_env=False) as web:
        return web.post(url, json=CALL, headers=given)


def quoted(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    day: str = answer.json()["result"]["structuredContent"]["date"]
    return day


def test_an_mcp_client_with_one_fixed_url_is_the_task_of_its_header(servers: ServerSet) -> None:
    mine = token(servers, "hosted", as_of=EARLY)

    async def run() -> list[Any]:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {mine}"}, trust_env=False) as web:
            transport = streamable_http_client(f"{root(servers)}/mcp", http_client=web)
            async with Client(transport) as client:
                known = await client.call_tool("get_quote", {"ticker": "AAPL"})
                ahead = await client.call_tool("get_quote", {"ticker": "AAPL", "date": "2011-09-20"})
        return [known.structured_content["date"], ahead.is_error]

    assert anyio.run(run) == ["2011-09-19", True]
    seen = calls_of(servers, "yfinance", mine)
    assert [(call["ok"], call["lookahead"]) for call in seen] == [(True, False), (False, True)]


def test_path_and_header_are_one_task_with_one_count_of_calls(servers: ServerSet) -> None:
    mine = token(servers, "both")
    in_path = f"{root(servers)}/t/{mine}/mcp"
    for answer in (post(in_path), post(f"{root(servers)}/mcp", f"Bearer {mine}"), post(in_path, f"bearer  {mine}")):
        assert quoted(answer) == "2012-09-19"
    assert [call["number"] for call in calls_of(servers, "yfinance", mine)] == [1, 2, 3]


def test_two_different_tokens_are_refused_whichever_way_round(servers: ServerSet) -> None:
    early, late = token(servers, "early", as_of=EARLY), token(servers, "late")
    for path, header in ((early, late), (late, early)):
        answer = post(f"{root(servers)}/t/{path}/mcp", f"Bearer {header}")
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert "differ; send one of them" in answer.json()["error"]
    answer = post(f"{root(servers)}/mcp", f"Bearer {early}", f"Bearer {late}")
    assert (answer.status_code, answer.json()["error"]) == (401, "2 Authorization headers; one caller has one")
    assert calls_of(servers, "yfinance", early) == calls_of(servers, "yfinance", late) == []


def test_a_valid_path_does_not_carry_a_header_that_is_none(servers: ServerSet) -> None:
    mine = token(servers, "sloppy")
    for value in ("Basic dXNlcjpwYXNz", "Bearer", f"Token {mine}", mine, f"Bearer{mine}", ""):
        assert post(f"{root(servers)}/t/{mine}/mcp", value).status_code == 401, value
    assert calls_of(servers, "yfinance", mine) == []


def stretched(genuine: str) -> str:
    body, signature = genuine.split(".")
    fields = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))) | {"as_of": "2030-01-01"}
    forged = json.dumps(fields, sort_keys=True, separators=(",", ":")).encode()
    return f"{base64.urlsafe_b64encode(forged).rstrip(b'=').decode()}.{signature}"


def test_nothing_but_a_genuine_token_opens_the_plain_address(servers: ServerSet) -> None:
    mine, other = token(servers, "forger"), token(servers, "other")
    stranger = access.issue(Grant("run", "forger", date(2030, 1, 1), 1), access.new_key())
    plain = f"{root(servers)}/mcp"
    tried = [
        stranger,
        stretched(mine),
        mine[:-1],
        f"{mine}=",
        f"{mine}, Bearer {other}",
        f"{mine} {other}",
        f'"{mine}"',
    ]
    for wrong in tried:
        assert post(plain, f"Bearer {wrong}").status_code == 401, wrong
    for url in (plain, f"{plain}?access_token={mine}", f"{plain}?token={mine}"):
        assert post(url).status_code == 401
        assert post(url, **{"X-Authorization": f"Bearer {mine}", "Cookie": f"token={mine}"}).status_code == 401
    assert calls_of(servers, "yfinance", mine) == []


def test_a_header_opens_no_other_path(servers: ServerSet) -> None:
    mine = token(servers, "paths")
    for path in ("/t//mcp", "/t/mcp", "/mcp/", "//mcp", "/log", f"/t/{mine}/log", f"/t/{mine}/close", "/"):
        expected = 401 if path == "/t//mcp" else 404
        assert post(root(servers) + path, f"Bearer {mine}").status_code == expected, path


def test_a_header_stretches_no_grant(servers: ServerSet) -> None:
    elsewhere = token(servers, "elsewhere", only=("edgar",))
    answer = post(f"{root(servers)}/mcp", f"Bearer {elsewhere}")
    assert (answer.status_code, answer.json()["error"]) == (403, "the task elsewhere does not use the yfinance server")
    over = token(servers, "over")
    proof = {"X-TraderBench-Harness": access.harness_proof(over, servers.key)}
    with httpx.Client(trust_env=False) as web:
        web.post(f"{servers.channels['yfinance']}/close/yfinance/{over}", headers=proof).raise_for_status()
    assert post(f"{root(servers)}/mcp", f"Bearer {over}").status_code == 410
    mine = token(servers, "page")
    assert post(f"{root(servers)}/mcp", f"Bearer {mine}", Host="evil.example").status_code == 421
    assert post(f"{root(servers)}/mcp", f"Bearer {mine}", Origin="http://evil.example").status_code == 403


def test_a_server_that_runs_alone_does_not_take_a_wrong_token_for_none() -> None:
    key = access.new_key()
    standalone = caller.standalone_grant(LATE)
    server, inside = build(SERVERS["yfinance"]), []

    async def look(ctx: Any, call_next: Any) -> Any:
        inside.append(ctx.request.headers)
        return await call_next(ctx)

    server.middleware.append(look)
    app = build_app(server, server_name="yfinance", key=key, standalone=standalone)
    listener = bind("127.0.0.1", 0, name="yfinance")
    run_in_thread(guarded(app), listener)
    plain = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    assert quoted(post(plain)) == "2012-09-19"
    assert quoted(post(plain, f"Bearer {access.issue(Grant('run', 'task', EARLY, 1), key)}")) == "2011-09-19"
    assert post(plain, f"Bearer {access.issue(Grant('run', 'task', EARLY, 1), access.new_key())}").status_code == 401
    assert post(plain, "Bearer anything").status_code == 401
    # the token went no further than the door
    assert len(inside) == 2 and all("accept" in headers and "authorization" not in headers for headers in inside)


TEXT = st.text(st.characters(codec="latin-1"), max_size=30)


@given(st.none() | TEXT, st.lists(TEXT | TEXT.map("Bearer {}".format), max_size=3))
def test_a_request_has_one_token_or_none_or_is_refused(in_path: str | None, authorization: list[str]) -> None:
    try:
        found = bearer.token(in_path, authorization)
    except InvalidToken:
        assert authorization
        return
    if not authorization:
        assert found == in_path
        return
    (header,) = authorization
    assert header.lower().startswith("bearer ") and header[7:].strip() == found
    assert in_path in (None, found)
