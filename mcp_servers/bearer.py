"""The token of a request: in its path, or in the header of clients that keep one address and send credentials."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_servers.access import InvalidToken

SCHEME = "Bearer"


def token(in_path: str | None, authorization: Sequence[str]) -> str | None:
    """Return the one token that a request presents, not yet verified; None where it presents none.

    Parameters
    ----------
    in_path
        The token of the path, or None for a path that has no place for one.
    authorization
        Every ``Authorization`` header of the request.

    Raises
    ------
    InvalidToken
        For a header that is no bearer's, for two headers, and where path and header are not the same token: a request
        has one caller, and nobody should have to guess which.
    """
    if not authorization:
        return in_path
    if len(authorization) > 1:
        raise InvalidToken(f"{len(authorization)} Authorization headers; one caller has one")
    scheme, _, presented = authorization[0].partition(" ")
    if scheme.lower() != SCHEME.lower() or not presented.strip():
        raise InvalidToken(f"the Authorization header must read {SCHEME} <token>")
    if in_path is not None and in_path != presented.strip():
        raise InvalidToken("the token of the path and the token of the Authorization header differ; send one of them")
    return presented.strip()
