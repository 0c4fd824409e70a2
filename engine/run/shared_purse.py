"""One purse for the judges of all Ray workers: it is held by an actor, and a worker's calls are paid there."""

from __future__ import annotations

import secrets
from typing import Any

from evaluators.contract import JudgeUnavailable
from evaluators.judge.purse import Purse, PurseEmpty
from evaluators.judge.settings import JudgeSettings

ANSWER_S = 60.0
"""A holder that answers later is lost: its node is."""


def shared(judge: JudgeSettings | None) -> SharedPurse | None:
    """Return a purse for workers with what is left in the judge's; None without a budget: then each counts alone."""
    purse = None if judge is None else judge.purse
    if not isinstance(purse, Purse) or purse.limit_usd is None:
        return None
    import ray

    name = f"purse-{secrets.token_hex(8)}"
    holder = ray.remote(num_cpus=0)(Holder).options(name=name)
    return SharedPurse(name, holder.remote(purse.limit_usd, purse.prices, purse.spent_usd))


class Holder:
    """The inside of the actor: answers instead of raising, for an error would travel with the actor's traceback."""

    def __init__(self, limit_usd: float | None, prices: dict[str, Any], spent_usd: float) -> None:
        self._purse = Purse(limit_usd, prices, spent_usd=spent_usd)

    def open(self) -> str | None:
        """Return why nothing is left, if so."""
        try:
            self._purse.open()
        except PurseEmpty as error:
            return str(error)
        return None

    def pay(self, model: str, tokens: tuple[int, int] | None) -> float | str:
        """Return what the call cost, or why it could not be paid."""
        try:
            return self._purse.pay(model, tokens)
        except PurseEmpty as error:
            return str(error)


class SharedPurse:
    """What a worker has of the purse: a way to its holder. Its methods block, as the calls of judges do.

    It travels as the holder's name: a worker whose arguments hold references could not be started again everywhere.
    """

    def __init__(self, name: str, holder: Any = None) -> None:
        self._name, self._found = name, holder

    def __reduce__(self) -> tuple[type[SharedPurse], tuple[str]]:
        """Leave the way behind; it is found again by name."""
        return SharedPurse, (self._name,)

    def open(self) -> None:
        """Raise :class:`PurseEmpty` where nothing is left."""
        why = self._asked("open")
        if why is not None:
            raise PurseEmpty(why)

    def pay(self, model: str, tokens: tuple[int, int] | None) -> float:
        """Pay one call and return its cost in US dollars, NaN where it is unknown."""
        cost = self._asked("pay", model, tokens)
        if isinstance(cost, str):
            raise PurseEmpty(cost)
        return float(cost)

    def close(self) -> None:
        """End the holder."""
        import ray

        if self._found is not None:
            ray.kill(self._found)

    def _asked(self, method: str, *arguments: Any) -> Any:
        import ray

        try:
            if self._found is None:
                self._found = ray.get_actor(self._name)
            return ray.get(getattr(self._found, method).remote(*arguments), timeout=ANSWER_S)
        except (ray.exceptions.RayError, ValueError) as error:
            raise JudgeUnavailable(
                f"what the judges of this run are paid from is lost: {type(error).__name__}"
            ) from error
