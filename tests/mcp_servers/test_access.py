"""A token is the grant; nobody but the harness can make one or read a call log."""

from __future__ import annotations

import base64
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_servers import access
from mcp_servers.access import Grant, InvalidToken

KEY = bytes(range(32))
GRANT = Grant("run-1", "task/é-1", date(2020, 6, 30), 7, 20)


def test_a_token_gives_its_grant_back() -> None:
    assert access.verify(access.issue(GRANT, KEY), KEY) == GRANT


def test_the_same_grant_gives_the_same_token_and_it_is_safe_in_a_path() -> None:
    token = access.issue(GRANT, KEY)
    assert token == access.issue(GRANT, KEY)
    assert all(letter.isalnum() or letter in "-_." for letter in token)


def test_a_grant_with_a_later_date_is_refused() -> None:
    body, signature = access.issue(GRANT, KEY).split(".")
    fields = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    fields["as_of"] = "2030-01-01"
    forged = base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()
    with pytest.raises(InvalidToken):
        access.verify(f"{forged}.{signature}", KEY)


def test_a_token_of_another_run_is_refused() -> None:
    with pytest.raises(InvalidToken):
        access.verify(access.issue(GRANT, KEY), access.new_key())


@pytest.mark.parametrize("task", ["t", "ta", "tas"])
def test_a_token_is_this_text_and_no_other_that_decodes_to_the_same(task: str) -> None:
    token = access.issue(Grant("run", task, date(2020, 6, 30), 7), KEY)
    body, signature = token.split(".")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    others = [f"{token[:-1]}{letter}" for letter in letters if letter != token[-1]]
    others += [f"{body}=.{signature}", f"{token}=", f"{token}==", f"{token}\n", f"\n{token}", f"{token}!", f" {token}"]
    others += [f"{body}\n.{signature}", f"{body}*.{signature}", f"{body}\x00.{signature}", f"{body}é.{signature}"]
    for other in others:
        with pytest.raises(InvalidToken):
            access.verify(other, KEY)


@given(st.text(max_size=60))
def test_any_other_text_is_refused_without_a_crash(text: str) -> None:
    with pytest.raises(InvalidToken):
        access.verify(text, KEY)


def test_the_proof_of_the_harness_belongs_to_one_token_and_one_key() -> None:
    token, other = access.issue(GRANT, KEY), access.issue(Grant("run-1", "task-2", date(2020, 1, 1), 0), KEY)
    proof = access.harness_proof(token, KEY)
    assert access.is_harness(proof, token, KEY)
    assert not access.is_harness(proof, other, KEY)
    assert not access.is_harness(proof, token, access.new_key())
    assert not access.is_harness("ü", token, KEY)
