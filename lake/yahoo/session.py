"""The HTTP session that yfinance is given: patient with a busy server, clear about a refusal, movable to a mirror."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from lake.patient import BUSY
from lake.point_in_time import ProviderUnavailable

ATTEMPTS = 4
BACK_OFF_S = 2.0
TIMEOUT_S = 30.0
PREPARING = ("/v1/test/getcrumb", "/consent", "/copyConsent", "/v2/collectConsent")
"""Paths that yfinance asks for its cookie; it copes with whatever they answer, and so with the bare ``/``."""


def new(
    *,
    base_url: str | None = None,
    timeout_s: float = TIMEOUT_S,
    back_off_s: float = BACK_OFF_S,
    attempts: int = ATTEMPTS,
) -> Any:
    """Return a session for ``yfinance.Ticker(..., session=...)``.

    Parameters
    ----------
    base_url
        Scheme and host of a server that speaks Yahoo's paths; Yahoo's own hosts when omitted.
    timeout_s, back_off_s, attempts
        Of one request; before the second attempt, doubled before each further one; at most.
    """
    from curl_cffi import requests

    session: Any = requests.Session(impersonate="chrome")
    plain = session.request

    def request(method: str, url: str, *args: Any, **options: Any) -> Any:
        address = url if base_url is None else _moved(url, base_url)
        options["timeout"] = min(float(options.get("timeout") or timeout_s), timeout_s)
        path = urlsplit(url).path
        if path in ("", "/", *PREPARING):
            return plain(method, address, *args, **options)
        pause, said = back_off_s, ""
        for attempt in range(attempts):
            try:
                reply = plain(method, address, *args, **options)
            except requests.exceptions.RequestException as error:
                said = str(error).split(". See ")[0]
            else:
                if reply.status_code == 403:
                    raise ProviderUnavailable(
                        f"Yahoo Finance refuses {path} with HTTP 403: wait, or use another network"
                    )
                if reply.status_code not in BUSY:
                    return reply
                said = f"HTTP {reply.status_code}"
            if attempt < attempts - 1:
                time.sleep(pause)
                pause *= 2.0
        raise ProviderUnavailable(f"Yahoo Finance did not give {path} in {attempts} attempts, at last: {said}")

    session.request = request
    return session


def _moved(url: str, base_url: str) -> str:
    base, old = urlsplit(base_url), urlsplit(url)
    return urlunsplit((base.scheme, base.netloc, old.path, old.query, old.fragment))
