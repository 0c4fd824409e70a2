"""One GET of a provider's file: tried again while the provider is busy, and an error that says what it said at last."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from lake.point_in_time import ProviderUnavailable

TIMEOUT_S = 20.0
ATTEMPTS = 5
BACK_OFF_S = 1.0
BUSY = (429, 500, 502, 503, 504)
MAX_WAIT_S = 60.0


def get(
    url: str,
    *,
    whose: str,
    headers: Mapping[str, str],
    refused: str = "wait, or use another network",
    check: Callable[[bytes], Any] | None = None,
    timeout_s: float = TIMEOUT_S,
    back_off_s: float = BACK_OFF_S,
) -> bytes:
    """Return an answer that is whole.

    Parameters
    ----------
    whose
        The provider's name, for errors.
    refused
        What a 403 means, and what to do.
    check
        Raises ``ValueError`` where an answer is not what it should be; None takes any.
    timeout_s, back_off_s
        Of one attempt; before the second one, doubled before each further one. A ``Retry-After`` in seconds is kept to.

    Raises
    ------
    ProviderUnavailable
        The provider refuses, or is busy, away or cut short in all of :data:`ATTEMPTS`.
    """
    import httpx

    pause, said = back_off_s, ""
    for attempt in range(ATTEMPTS):
        wait = pause
        try:
            reply = httpx.get(url, headers=dict(headers), timeout=timeout_s)
            if reply.status_code not in BUSY:
                reply.raise_for_status()
                if check is not None:
                    check(reply.content)
                return reply.content
            said = f"HTTP {reply.status_code}"
            wait = max(wait, retry_after(reply.headers.get("Retry-After", "")))
        except httpx.HTTPStatusError as error:
            text = str(error).splitlines()[0]
            meaning = f"; {refused}" if error.response.status_code == 403 else ""
            raise ProviderUnavailable(f"{whose} did not give {url}: {text}{meaning}") from error
        # an answer that is cut short is an error of the transport, or not what it should be
        except (httpx.TransportError, ValueError) as error:
            said = str(error) or type(error).__name__
        if attempt < ATTEMPTS - 1:
            time.sleep(min(wait, MAX_WAIT_S))
        pause *= 2.0
    raise ProviderUnavailable(f"{whose} did not give {url} in {ATTEMPTS} attempts, at last: {said}")


def retry_after(text: str) -> float:
    """Return what a ``Retry-After`` asks for in seconds; 0 where it names a day or nothing."""
    return float(text) if text.isascii() and text.isdigit() else 0.0
