"""The multiples of a peer group and the price they imply for a target."""

from __future__ import annotations

import random
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.professional import briefs_companies
from evaluators.professional.assignment import Assignment, Template, any_day, limit_near
from evaluators.professional.assignments.names import COMPANIES
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Fact, Heading, Sheet, column
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("peer", "key", "is the company, in alphabetical order"),
    Column("enterprise_value", "number", "is the enterprise value in millions of dollars"),
    Column("ev_to_ebitda", "number", "is enterprise value over EBITDA", decimals=3),
    Column("price_to_earnings", "number", "is market value of the shares over net income", decimals=3),
)


class Peer(NamedTuple):
    """A listed company; amounts in millions of dollars, shares in millions."""

    peer: str
    share_price: float
    shares: float
    debt: float
    cash: float
    ebitda: float
    net_income: float

    @property
    def enterprise_value(self) -> float:
        """Market value of the shares plus debt less cash, in millions."""
        return self.share_price * self.shares + self.debt - self.cash

    def multiples(self) -> tuple[float, float]:
        """Return enterprise value over EBITDA, and price over earnings."""
        return self.enterprise_value / self.ebitda, self.share_price * self.shares / self.net_income


def _draw(rng: random.Random, name: str) -> Peer:
    ebitda = round(rng.uniform(40, 400), 1)
    income = round(ebitda * rng.uniform(0.35, 0.55), 1)
    shares = round(rng.uniform(10, 120), 1)
    price = round(income * rng.uniform(11, 24) / shares, 2)
    debt, cash = round(ebitda * rng.uniform(0.5, 3), 1), round(ebitda * rng.uniform(0.1, 0.8), 1)
    return Peer(name, price, shares, debt, cash, ebitda, income)


def _sheet(rng: random.Random, peers: Sequence[Peer], target: Peer) -> Sheet:
    of = f"of {target.peer}"
    taken = {target.peer, *(peer.peer for peer in peers)}
    table = Exhibit(
        titles=("the peers", "the peer group", "listed companies of the group"),
        headings=(
            Heading(("company", "peer")),
            Heading(("share price", "price"), "price"),
            Heading(("shares in millions", "million shares outstanding")),
            Heading(("debt", "financial debt"), "millions"),
            Heading(("cash", "cash on hand"), "millions"),
            Heading(("EBITDA",), "millions"),
            Heading(("net income", "earnings"), "millions"),
        ),
        rows=tuple(peers),
        spare=tuple(name for name in (*COMPANIES, "Kestrelworth", "Lowmoor", "Marchbank") if name not in taken),
        beside=(
            column(rng, Heading(("revenue",), "millions"), peers, 300, 2500, 1),
            column(rng, Heading(("EBITDA of the year before",), "millions"), peers, 40, 400, 1),
        ),
    )
    facts = (
        Fact((f"share price {of}",), target.share_price, "price"),
        Fact((f"shares {of} in millions",), target.shares),
        Fact((f"debt {of}", f"financial debt {of}"), target.debt, "millions"),
        Fact((f"cash {of}",), target.cash, "millions"),
        Fact((f"EBITDA {of}",), target.ebitda, "millions"),
        Fact((f"net income {of}", f"earnings {of}"), target.net_income, "millions"),
    )
    beside = (
        Fact((f"revenue {of}",), round(rng.uniform(300, 2500), 1), "millions"),
        Fact((f"highest share price {of} in a year",), round(target.share_price * rng.uniform(1.1, 1.6), 2), "price"),
    )
    return Sheet(facts, (table,), beside)


def assign(rng: random.Random) -> Assignment:
    """Draw a target, its peers and a share price near what the peers imply."""
    names, as_of = rng.sample(COMPANIES, rng.randint(6, 8)), any_day(rng)
    target, peers = _draw(rng, names[0]), [_draw(rng, name) for name in sorted(names[1:])]
    by_ebitda, by_income = (statistics.median(column) for column in zip(*(p.multiples() for p in peers), strict=True))
    price_by_ebitda = (by_ebitda * target.ebitda - target.debt + target.cash) / target.shares
    price_by_income = by_income * target.net_income / target.shares
    middle = (price_by_ebitda + price_by_income) / 2
    target = target._replace(share_price=limit_near(rng, middle))
    memo = Memo(
        recipient="Deal Team",
        subject=f"{target.peer} comparable companies",
        written_on=as_of,
        figures=(
            Figure("Median EV/EBITDA", by_ebitda, "number"),
            Figure("Median P/E", by_income, "number"),
            Figure("Price by EV/EBITDA", price_by_ebitda, "currency", "per share of the target"),
            Figure("Price by P/E", price_by_income, "currency", "per share of the target"),
            Figure("Midpoint", middle, "currency", "mean of the two prices"),
        ),
        verdicts=("CHEAP", "DEAR"),
        verdict="CHEAP" if middle > target.share_price else "DEAR",
        verdict_rule="CHEAP if the midpoint exceeds the share price of the target, else DEAR.",
        summary="The target is priced at the medians of its peers, once on enterprise value and once on earnings.",
        finding="This compares the midpoint of the two prices with the share price of the target.",
    )
    cells = tuple((peer.peer, peer.enterprise_value, *peer.multiples()) for peer in peers)
    inputs = {"peers": [peer._asdict() for peer in peers], "target": target._asdict()}
    sheet, table = _sheet(rng, peers, target), Table("peers.csv", COLUMNS, cells)
    return Assignment({"target": target.peer}, inputs, sheet, table, memo, as_of)


TEMPLATE = Template("comparable-companies", "Valuation", assign, briefs_companies.COMPARABLES)
