"""What was new in the premium, and so in the funding to come, at the close of an earlier bar.

Funding, and with it the premium, is the same in the mirror image: inverted, its sign would name the mirror.
"""

from __future__ import annotations

from backtest.simulators.structures.contract import FIRM_SPREAD, Structure, firm, nothing, of_the_bar

FUNDING_SURPRISE = Structure(
    nothing,
    of_the_bar(lambda bar: firm(bar.premium)),
    parity="even",
    lags=(1, 2, 3),
    choices=1,
    spread=FIRM_SPREAD,
)
