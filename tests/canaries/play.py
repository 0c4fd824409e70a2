"""Random calls of every tool, with odd dates, on a lake that knows the future."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError

from mcp_servers import caller, edgar, options, risk, trading, yfinance
from mcp_servers.access import Grant
from tests.canaries.planted import AS_OF, DIGITS, NEWCOMER, planted

CALLS_OF_A_TASK = 100
DATED = ("date", "start", "end", "to", "expiration")
USUAL = {edgar: {"ticker": "AAPL", "concept": "Revenues", "fiscal_period": "FY", "fiscal_year": 2019}}
USUAL_ELSEWHERE = {"ticker": "SIM-TECH", "series": "DTB3", "symbol": "BTC/USDT", "timeframe": "1h"}
ORDER = {"ticker": "SIM-TECH", "side": "buy", "quantity": 10}
USUAL_OF_TOOL = {
    **{
        key: {"ticker": "AAPL"}
        for key in ("get_actions", "get_earnings", "get_estimates", "get_financials", "get_news")
    },
    "get_financials": {"ticker": "AAPL", "statement": "income", "frequency": "annual"},
    "get_funding_rates": {"symbol": "BTC/USDT:USDT"},
    **{tool: {"form": "10-Q", "section": "I-2"} for tool in ("get_filing", "get_filing_section")},
}
WORDS = {
    "ticker": (NEWCOMER, "ACME", "AAPL", "SIM-TECH", "sim-tech", "IBM", "SIM-TECH\0", "ＳＩＭ-ＴＥＣＨ", "^TECH", ""),
    "concept": ("Revenue", "Revenues", "NetIncomeLoss", "revenue\0", "*"),
    "query": ("", "Apple", "0000320193", "2020-06-16", "%", "phones", "Apple sells"),
    "accession": ("0000320193-20-000062", "0000320193-20-000062' OR '1'='1", "%"),
    "symbol": ("BTC/USDT", "BTC/USDT:USDT", NEWCOMER, "../.."),
    "timeframe": ("1h",),
    "series": ("DTB3", "VIX", "dtb3", "*"),
    "section": ("I-2", "2", "1A", "*", "%"),
    "fiscal_period": ("FY", "Q1", "Q2", "TTM"),
}
COMPUTES = ("analyze_strategy", "calibrate_heston", "price_path_dependent_option")
"""Tools of the options server that are asked less often, for each call takes long."""
OTHERS = ("", "a", "x" * 5000, "\0", "é\u202e", "null", "NaN", "1e999", "777", "__class__")
NUMBERS = (0, 1, -1, 2, 7, 0.05, 0.2, 100, 2019, 2020, 2021, 9999, 10**9, 10**30, -(10**9), 1e308, 1e-320)
JUNK = (None, True, False, [], {}, [[]], "9" * 400, float("inf"), float("nan"))
DIGITS_ELSEWHERE = ("٠١٢٣٤٥٦٧٨٩", "０１２３４５６７８９", "०१२३४५६७८९")
_NUMBER = re.compile(r"[\d.]+")
OF_ITS_TYPE = 0.95
"""Share of arguments that have the right type."""


@dataclass
class Tally:
    """What came of the calls, by tool.

    Attributes
    ----------
    leaks
        Tool and arguments of each answer that held a planted record, or a day after the simulation date.
    different
        Tool, arguments, and both texts, where a lake without the planted records answers otherwise.
    unclear
        Tool, arguments and text of each error that is no single line saying what was wrong.
    """

    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    leaks: list[tuple[str, str]] = field(default_factory=list)
    unclear: list[tuple[str, str, str]] = field(default_factory=list)
    different: list[tuple[str, str, str, str]] = field(default_factory=list)


def odd_date(rng: random.Random, around: date) -> Any:
    """Return a date as agents and attackers write it."""
    day = around + timedelta(days=rng.choice((-4000, -400, -30, -1, 0, 0, 1, 1, 2, 30, 400, 3000)))
    day = rng.choice((day, day, day, date(1, 1, 1), date(9999, 12, 31), date(1, 12, 30)))
    moment = datetime(day.year, day.month, day.day, 23, 59, tzinfo=UTC)
    seconds = (day - date(1970, 1, 1)).days * 86400
    foreign = str.maketrans("0123456789", rng.choice(DIGITS_ELSEWHERE))
    forms: tuple[Callable[[], Any], ...] = (
        *(day.isoformat,) * 20,
        lambda: f"{day}T00:00:00",
        lambda: f"{day}T{rng.randrange(24):02}:00:00{rng.choice(('Z', '+14:00', '-12:00', '+00:00', '-00:01'))}",
        moment.isoformat,
        lambda: day.isoformat().translate(foreign),
        lambda: f"{day}\0",
        lambda: f"\0{day}",
        lambda: f" {day}\n",
        lambda: rng.choice(("today", "tomorrow", "now", "latest", "yesterday", "max", "P1D", "never")),
        lambda: day.strftime("%d.%m.%Y"),
        lambda: day.strftime("%Y%m%d"),
        lambda: "{}-W{:02}-{}".format(*day.isocalendar()),
        lambda: f"{day.year}-{day.month}-{day.day}",
        lambda: f"{day.year}-02-30",
        lambda: f"-{day}",
        lambda: f"+{day}",
        lambda: "10000-01-01",
        lambda: seconds,
        lambda: seconds * 1000,
        lambda: str(seconds),
        lambda: float(seconds) + 0.5,
        lambda: day.toordinal(),
        lambda: rng.choice(JUNK),
    )
    return rng.choice(forms)()


class Arguments:
    """Draws arguments for a tool from its published schema."""

    def __init__(self, rng: random.Random, around: date) -> None:
        self._rng = rng
        self._around = around

    def of(self, schema: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
        """Return arguments; required ones nearly always, and now and then a name that does not exist.

        Most of those in ``usual`` keep that value, or too few calls would come far.
        """
        drawn = self._object(schema, schema.get("$defs", {}))
        for name in sorted(drawn.keys() & usual.keys()):
            drawn[name] = usual[name] if self._rng.random() < 0.8 else drawn[name]
        if self._rng.random() < 0.02:
            drawn["as_of"] = odd_date(self._rng, self._around)
        return drawn

    def _object(self, schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
        required = schema.get("required", ())
        return {
            name: self._value(name, node, definitions)
            for name, node in schema.get("properties", {}).items()
            if self._rng.random() < (0.98 if name in required else 0.4)
        }

    def _value(self, name: str, node: dict[str, Any], definitions: dict[str, Any]) -> Any:
        rng = self._rng
        if "anyOf" in node:
            node = rng.choice(node["anyOf"])
        if "$ref" in node:
            node = definitions[node["$ref"].rpartition("/")[2]]
        kind = node.get("type")
        if name in DATED or node.get("format") == "date":
            return odd_date(rng, self._around)
        if rng.random() > OF_ITS_TYPE:
            return rng.choice(JUNK)
        if "enum" in node:
            return rng.choice(node["enum"])
        if kind == "object":
            return self._object(node, definitions)
        if kind == "array":
            return [self._value(name, node.get("items", {}), definitions) for _ in range(rng.randrange(4))]
        if kind == "boolean":
            return rng.random() < 0.5
        if kind in ("integer", "number"):
            least, most = node.get("minimum", 0), min(node.get("maximum", 300), 300)
            inside = rng.randint(int(least), max(int(least), int(most)))
            return rng.choice((inside, inside, inside, rng.choice(NUMBERS)))
        return rng.choice((*WORDS.get(name, OTHERS), rng.choice(OTHERS)))


def is_planted(text: str) -> bool:
    """Return whether the text holds a planted number in any power of ten, or one beside it: its bar has a range.

    Not whether its digits stand somewhere within: among 100,000 computed prices of 16 digits they do by chance.
    """
    for number in _NUMBER.findall(text.replace("_", "").replace(",", "")):
        significant = number.replace(".", "").strip("0")
        if significant.startswith(DIGITS[:-1]) and len(significant) <= len(DIGITS) + 2:
            return True
    return False


def _later_days(text: str, as_of: date) -> Iterator[str]:
    yield from (day for day in re.findall(r"\b\d{4}-\d\d-\d\d\b", text) if day > as_of.isoformat())


def _judge(tally: Tally, module: Any, tool: str, arguments: dict[str, Any], text: str, as_of: date) -> None:
    """Note an answer that holds what it must not. Days of expiry, and of fiscal years, may lie ahead."""
    told = NEWCOMER in text.upper() and NEWCOMER not in json.dumps(arguments).upper()
    if told or is_planted(text) or (module in (yfinance, trading) and any(_later_days(text, as_of))):
        tally.leaks.append((tool, json.dumps(arguments)[:300]))


async def _compare(tally: Tally, servers: Sequence[MCPServer], tool: str, arguments: dict[str, Any]) -> None:
    """Ask a lake with and one without records of tomorrow the same; values, errors and counts have to be equal."""
    texts = []
    for server in servers:
        try:
            texts.append(json.dumps((await server.call_tool(tool, arguments)).structured_content))
        except ToolError as error:
            texts.append(str(error))
    if texts[0] != texts[1]:
        tally.different.append((tool, json.dumps(arguments)[:300], texts[0][:300], texts[1][:300]))


async def _ask(tally: Tally, module: Any, server: MCPServer, tool: str, arguments: dict[str, Any], as_of: date) -> None:
    try:
        result = await server.call_tool(tool, arguments)
    except Exception as error:
        tally.refused[tool] += 1
        text = str(error)
        clear = isinstance(error, ToolError) and not isinstance(error, UnexpectedToolError)
        if not clear or not text.strip():
            tally.unclear.append((tool, json.dumps(arguments)[:300], f"{type(error).__name__}: {text}"[:300]))
        if is_planted(text) or (NEWCOMER in text and NEWCOMER not in json.dumps(arguments)):
            tally.leaks.append((tool, json.dumps(arguments)[:300]))
        return
    tally.answered[tool] += 1
    _judge(tally, module, tool, arguments, json.dumps(result.structured_content), as_of)


async def _play(calls: int, seed: int, as_of: date) -> Tally:
    rng, tally, lake = random.Random(seed), Tally(), planted()
    drawer = Arguments(rng, as_of)
    servers = [(module, module.build_server(lake=lake)) for module in (edgar, yfinance, options, trading)]
    servers.append((risk, risk.build_server()))
    without = planted(with_tomorrow=False)
    clean = {module: module.build_server(lake=without) for module in (edgar, yfinance)}
    tools = [(module, server, tool) for module, server in servers for tool in await server.list_tools()]
    light = [each for each in tools if each[0] is not risk and each[2].name not in COMPUTES]
    for number in range(calls):
        module, server, tool = rng.choice(light if rng.random() < 0.9 else tools)
        with caller.acting_as(Grant("canaries", f"task {number // CALLS_OF_A_TASK}", as_of, seed)):
            if module is trading and rng.random() < 0.1:
                await _ask(tally, trading, server, "open_account", {"start": str(as_of - timedelta(days=5))}, as_of)
                # few random orders have prices that go together
                await _ask(tally, trading, server, "place_order", {"client_order_id": f"usual {number}"} | ORDER, as_of)
            usual = USUAL.get(module, USUAL_ELSEWHERE) | USUAL_OF_TOOL.get(tool.name, {})
            arguments = drawer.of(tool.input_schema, usual)
            await _ask(tally, module, server, tool.name, arguments, as_of)
            if module in clean:
                await _compare(tally, (server, clean[module]), tool.name, arguments)
    return tally


def play(calls: int, *, seed: int, as_of: date = AS_OF) -> Tally:
    """Make ``calls`` random calls on a simulation date and return what came of them."""
    return anyio.run(_play, calls, seed, as_of)
