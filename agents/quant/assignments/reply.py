"""Professional assignments: the desks that know a calculation, tried in turn."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from mcp_toolbox import Toolbox

from assignments import fixed_income, paper_account, portfolio
from assignments.deliverables import Work, hand_in, read_form
from reading.message import context_of

Desk: TypeAlias = Callable[[Mapping[str, Any], Toolbox], Awaitable[Work | None]]

DESKS: tuple[Desk, ...] = (
    fixed_income.loan_schedule,
    fixed_income.bond_ladder,
    portfolio.option_book,
    portfolio.rebalancing,
    portfolio.value_at_risk,
    paper_account.trade_costs,
)


async def answer(body: dict[str, Any], toolbox: Toolbox) -> str | None:
    """Return both deliverables of an assignment; None when no desk knows the calculation."""
    # what an account is worth on the day of the assignment hangs on that day, which stands beside the inputs
    form, context = read_form(str(body.get("question", ""))), {"as_of": body.get("as_of")} | context_of(body)
    if form is None:
        return None
    for desk in DESKS:
        work = await desk(context, toolbox)
        reply = hand_in(form, work, context) if work is not None else None
        if reply is not None:
            return reply
    return None
