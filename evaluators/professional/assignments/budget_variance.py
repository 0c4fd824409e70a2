"""Price, volume and cost variances of a product range against its budget."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

from evaluators.professional import briefs_companies
from evaluators.professional.assignment import Assignment, Template, any_day
from evaluators.professional.memo import Figure, Memo
from evaluators.professional.sheet import Exhibit, Heading, Sheet, column
from evaluators.professional.table import Column, Table

COLUMNS = (
    Column("product", "key", "is the product, in ascending order"),
    Column("price_variance", "money", "is actual price less budget price, times actual volume"),
    Column("volume_variance", "money", "is actual volume less budget volume, times budget contribution a unit"),
    Column("cost_variance", "money", "is budget unit cost less actual unit cost, times actual volume"),
)
DIVISIONS = ("Fasteners", "Coatings", "Sensors", "Packaging")
SIGNED = "all products, negative when unfavourable"


class Line(NamedTuple):
    """Volume in units, price and unit cost in dollars."""

    volume: int
    price: float
    unit_cost: float

    @property
    def contribution(self) -> float:
        """Volume times price less unit cost, dollars."""
        return self.volume * (self.price - self.unit_cost)


class Product(NamedTuple):
    """Budget and actual line of one product."""

    product: str
    budget: Line
    actual: Line

    def variances(self) -> tuple[float, float, float]:
        """Return price, volume and cost variance; they add up to the change of contribution."""
        planned, reached = self.budget, self.actual
        return (
            (reached.price - planned.price) * reached.volume,
            (reached.volume - planned.volume) * (planned.price - planned.unit_cost),
            (planned.unit_cost - reached.unit_cost) * reached.volume,
        )


def _draw(rng: random.Random, name: str) -> Product:
    price = round(rng.uniform(20, 160), 2)
    planned = Line(rng.randrange(800, 9000, 50), price, round(price * rng.uniform(0.45, 0.75), 2))
    reached = Line(
        round(planned.volume * rng.uniform(0.85, 1.15)),
        round(planned.price * rng.uniform(0.93, 1.06), 2),
        round(planned.unit_cost * rng.uniform(0.92, 1.1), 2),
    )
    return Product(name, planned, reached)


def _exhibit(rng: random.Random, titles: tuple[str, ...], lines: Sequence[tuple[str, Line]]) -> Exhibit:
    taken = {name for name, _ in lines}
    return Exhibit(
        titles=titles,
        headings=(
            Heading(("product", "item")),
            Heading(("volume", "units", "units sold")),
            Heading(("price", "price a unit"), "price"),
            Heading(("unit cost", "cost a unit"), "price"),
        ),
        rows=tuple((name, *line) for name, line in lines),
        spare=tuple(name for name in (f"P{number}" for number in range(10, 99)) if name not in taken),
        beside=(
            column(rng, Heading(("list price",), "price"), lines, 20, 160, 2),
            column(rng, Heading(("units in stock",)), lines, 50, 900),
        ),
    )


def _sheet(rng: random.Random, products: Sequence[Product]) -> Sheet:
    budget = [(row.product, row.budget) for row in products]
    actual = [(row.product, row.actual) for row in products]
    return Sheet(
        exhibits=(
            _exhibit(rng, ("the budget", "budget of the year", "what was planned"), budget),
            _exhibit(rng, ("the actual figures", "actuals of the year", "what was reached"), actual),
        )
    )


def assign(rng: random.Random) -> Assignment:
    """Draw a product range."""
    division, as_of = rng.choice(DIVISIONS), any_day(rng)
    products = [_draw(rng, f"P{number}") for number in sorted(rng.sample(range(10, 99), rng.randint(5, 8)))]
    price, volume, cost = (sum(column) for column in zip(*(p.variances() for p in products), strict=True))
    largest = max((("PRICE", price), ("VOLUME", volume), ("COST", cost)), key=lambda pair: abs(pair[1]))[0]
    memo = Memo(
        recipient="Finance Director",
        subject=f"{division} budget variance",
        written_on=as_of,
        figures=(
            Figure("Budget contribution", sum(p.budget.contribution for p in products), "currency"),
            Figure("Actual contribution", sum(p.actual.contribution for p in products), "currency"),
            Figure("Price variance", price, "currency", SIGNED),
            Figure("Volume variance", volume, "currency", SIGNED),
            Figure("Cost variance", cost, "currency", SIGNED),
        ),
        verdicts=("PRICE", "VOLUME", "COST"),
        verdict=largest,
        verdict_rule="the driver whose total variance is the largest in absolute amount.",
        summary="The change of contribution against budget is split into three parts that add up to it.",
        finding="This is the driver with the largest total.",
    )
    cells = tuple((product.product, *product.variances()) for product in products)
    inputs = {
        "products": [
            {"product": p.product, "budget": p.budget._asdict(), "actual": p.actual._asdict()} for p in products
        ]
    }
    table = Table("variance.csv", COLUMNS, cells)
    return Assignment({"division": division}, inputs, _sheet(rng, products), table, memo, as_of)


TEMPLATE = Template("budget-variance", "Management Accounting", assign, briefs_companies.VARIANCE)
