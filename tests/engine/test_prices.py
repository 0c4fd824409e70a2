"""The table of prices: from the YAML or a file, for tokens of which an agent does not tell the cost."""

import asyncio
import math
from datetime import date

import pytest

from engine import config, shipped
from engine.agent.client import Reply, Usage
from engine.agent.model_settings import ModelSettings
from engine.errors import ConfigError
from engine.prices import Price
from engine.run import execute
from engine.run.tool_access import ToolAccess
from engine.spending import Spending
from evaluators import registry
from mcp_servers.access import Grant, new_key

RAW = {"name": "x", "datasets": [{"type": "synthetic"}]}
PRICE = Price(input_usd=2.5, output_usd=10.0)


def test_tokens_without_a_cost_get_the_price_of_the_table_and_told_costs_stay():
    spent = Spending(price=PRICE)
    spent.add(Usage(1_000, 200))
    spent.add(Usage(500, 0, 0.75))
    assert spent.cost_known and spent.cost_usd == pytest.approx(1_000 * 2.5e-6 + 200 * 10e-6 + 0.75)
    assert (spent.input_tokens, spent.output_tokens) == (1_500, 200)


def test_who_tells_no_tokens_has_no_known_cost():
    spent = Spending(price=PRICE)
    spent.add(Usage())
    assert not spent.cost_known and spent.cost_usd == 0.0
    unpriced = Spending()
    unpriced.add(Usage(10, 10))
    assert not unpriced.cost_known


def test_a_table_stands_in_the_config_or_in_a_file_that_it_names(tmp_path):
    file = tmp_path / "prices.yaml"
    file.write_text("gpt-4o: {input_usd: 2.5, output_usd: 10}\n")
    for given in (str(file), {"gpt-4o": {"input_usd": 2.5, "output_usd": 10}}):
        found = config.parse(RAW | {"prices": given}, source="c.yaml")
        assert found.prices == {"gpt-4o": PRICE}
        again = config.parse(found.model_dump(mode="json"), source="manifest")
        assert again.prices == found.prices, "the manifest needs no file"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nowhere.yaml", "prices: the price table nowhere.yaml cannot be read: .*No such file"),
        ({"m": {"input_usd": -1, "output_usd": 1}}, r"prices\.m\.input_usd: .*greater than or equal to 0.*\(got -1\)"),
        ({"m": {"input_usd": math.inf, "output_usd": 1}}, r"prices\.m\.input_usd: .*finite"),
        ({"m": {"input_usd": 1}}, r"prices\.m\.output_usd: this key is required"),
        ({"m": {"input_usd": 1, "output_usd": 1, "cached": 0}}, r"prices\.m\.cached: unknown key"),
    ],
)
def test_a_wrong_price_is_one_clear_line(given, message):
    with pytest.raises(ConfigError, match=message):
        config.parse(RAW | {"prices": given}, source="c.yaml")


def test_a_table_that_is_a_list_is_refused(tmp_path):
    file = tmp_path / "prices.yaml"
    file.write_text("- gpt-4o\n")
    with pytest.raises(ConfigError, match=r"must map names of models or agents to \{input_usd: .*got list"):
        config.parse(RAW | {"prices": str(file)}, source="c.yaml")


def test_the_models_price_is_that_of_the_table_where_no_flag_gives_one():
    table = {"mine": PRICE}
    assert ModelSettings("mine").priced(table) == ModelSettings("mine", input_price=2.5, output_price=10.0)
    given = ModelSettings("mine", input_price=1.0, output_price=1.0)
    assert given.priced(table) == given
    assert ModelSettings("other").priced(table) == ModelSettings("other")


class Metered:
    """An agent that tells tokens and no cost."""

    name, digest = "metered", "d"

    def conversation(self, task_id):
        return self

    async def send(self, text, *, timeout_s):
        return Reply("I do not know.", Usage(2_000, 100))

    async def close(self):
        pass


def test_a_task_limit_in_dollars_holds_for_an_agent_that_only_counts_tokens():
    (case,) = registry.get("synthetic").draw(seed=3, count=1, options={})

    def played(limit):
        limits = execute.Limits(
            task_time_s=5.0, turn_time_s=1.0, max_turns=3, max_tool_calls=3, max_tokens=None, max_cost_usd=limit
        )
        work = execute.execute(
            case,
            public_id="p",
            grant=Grant("r", "t", date(2024, 12, 31), 1, max_tool_calls=3),
            agent=Metered(),
            tools=ToolAccess({}, new_key(), {}),
            limits=limits,
            price=PRICE,
        )
        return asyncio.run(work)

    # 2,000 x 2.5 and 100 x 10 dollars a million: 0.006
    assert played(0.01)["usage"] == {"input_tokens": 2000, "output_tokens": 100, "cost_usd": 0.006, "cost_known": True}
    assert played(0.005)["reason"] == "limit: cost 0.0060 USD of 0.005 USD"


def test_the_shipped_example_is_a_table():
    found = config.parse(RAW | {"prices": str(shipped.folder("configs") / "own" / "prices.yaml")}, source="c.yaml")
    assert found.prices["gpt-4o"] == PRICE
