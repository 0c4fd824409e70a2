"""The bearer token that an agent under test asks for, from the environment: never an argument, a file or a record.

It goes to the address that the user gave as ``--agent`` and nowhere else. Built-in agents get none.
"""

from __future__ import annotations

import os
import re

from engine.errors import ConfigError

VARIABLE = "TRADERBENCH_AGENT_TOKEN"


def given() -> str | None:
    """Return the token, or None where the variable is unset or empty.

    Raises
    ------
    ConfigError
        When it holds characters that no token has (RFC 6750, section 2.1); the message does not repeat it.
    """
    token = os.environ.get(VARIABLE, "").strip()
    if token and re.fullmatch(r"[A-Za-z0-9\-._~+/]+=*", token) is None:
        raise ConfigError(
            f"{VARIABLE}: a bearer token is one word of letters, digits and -._~+/ (without Bearer before it); what it "
            "holds is not one"
        )
    return token or None
