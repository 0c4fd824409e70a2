"""The second route of every template: the function of its name in the file of its bank."""

from __future__ import annotations

from collections.abc import Callable

from evaluators.synthetic import bank_corporate, bank_markets, bank_operations, bank_performance, bank_rates
from tests.evaluators.synthetic.second_routes import corporate, markets, operations, performance, rates
from tests.evaluators.synthetic.second_routes.root import Values

ROUTES: dict[str, Callable[[Values], Values]] = {
    template.name: getattr(routes, template.name)
    for bank, routes in (
        (bank_corporate, corporate),
        (bank_markets, markets),
        (bank_operations, operations),
        (bank_performance, performance),
        (bank_rates, rates),
    )
    for template in bank.TEMPLATES
}
