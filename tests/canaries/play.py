"""Random calls of every tool, with odd dates, on a lake that knows the future."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError

from mcp_servers import caller, edgar, options, risk, sandbox, trading, yfinance
from mcp_servers.access import Grant
from mcp_servers.sandbox.pool import Pool
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
SELDOM = {
    "calibrate_heston": 0.002,
    "price_path_dependent_option": 0.1,
    "execute_python": 0.05,
    "analyze_volatility": 0.03,
    "get_iv_surface": 0.04,
    "calculate_implied_volatility": 0.1,
    "search_filings": 0.25,
    "get_filing": 0.25,
    "get_filing_section": 0.25,
    "list_tickers": 0.25,
    "list_filings": 0.25,
    "get_option_expirations": 0.5,
    "get_options_chain": 0.5,
}
"""Tools of which a call takes long: their share of the calls that the others get."""
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
    seconds
        Processor times of each call on the lake with and on the one without them.
    asked
        Number of calls.
    unclear
        Tool, arguments and text of each error that is no single line saying what was wrong.
    """

    answered: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    leaks: list[tuple[str, str]] = field(default_factory=list)
    unclear: list[tuple[str, str, str]] = field(default_factory=list)
    different: list[tuple[str, str, str, str]] = field(default_factory=list)
    seconds: defaultdict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    asked: int = 0

    def slower(self) -> dict[str, tuple[float, float]]:
        """Return by tool the share of calls that took longer with the planted records, and its distance from a half.

        The distance is in standard deviations of a fair coin: what is cached because of tomorrow would show in it.
        """
        found = {}
        for tool, pairs in self.seconds.items():
            longer, different = sum(one > other for one, other in pairs), sum(one != other for one, other in pairs)
            if different:
                found[tool] = longer / different, (2 * longer - different) / different**0.5
        return found


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


async def _timed(server: MCPServer, tool: str, arguments: dict[str, Any]) -> tuple[str | Exception, float]:
    """Return the answer as text, or the error, and the processor time that it took."""
    started = time.thread_time()
    try:
        answer: str | Exception = json.dumps((await server.call_tool(tool, arguments)).structured_content)
    except Exception as error:
        answer = error
    return answer, time.thread_time() - started


def _note(
    tally: Tally, module: Any, tool: str, arguments: dict[str, Any], answer: str | Exception, as_of: date
) -> None:
    if isinstance(answer, str):
        tally.answered[tool] += 1
        _judge(tally, module, tool, arguments, answer, as_of)
        return
    tally.refused[tool] += 1
    text = str(answer)
    clear = isinstance(answer, ToolError) and not isinstance(answer, UnexpectedToolError)
    if not clear or not text.strip():
        tally.unclear.append((tool, json.dumps(arguments)[:300], f"{type(answer).__name__}: {text}"[:300]))
    if is_planted(text) or (NEWCOMER in text and NEWCOMER not in json.dumps(arguments)):
        tally.leaks.append((tool, json.dumps(arguments)[:300]))


async def _ask(
    tally: Tally, module: Any, server: MCPServer, clean: MCPServer | None, tool: str, arguments: dict[str, Any]
) -> None:
    """Ask a lake with and, where there is one, a lake without records of tomorrow the same.

    Values, errors and counts have to be equal. Which is asked first alternates, so that their times can be compared.
    """
    both = [server] if clean is None else [server, clean]
    first = tally.asked % 2 if clean is not None else 0
    tally.asked += 1
    found = {}
    for place in (first, 1 - first)[: len(both)]:
        found[place] = await _timed(both[place], tool, arguments)
    answer, seconds = found[0]
    _note(tally, module, tool, arguments, answer, caller.as_of())
    if clean is not None:
        tally.seconds[tool].append((seconds, found[1][1]))
        if str(answer) != str(found[1][0]):
            texts = (str(answer)[:300], str(found[1][0])[:300])
            tally.different.append((tool, json.dumps(arguments)[:300], *texts))


def _order(tools: Sequence[Any], calls: int, rng: random.Random) -> list[Any]:
    """Return whom to ask: each tool its share, by largest remainders, in random order."""
    shares = [SELDOM.get(tool.name, 1.0) for *_, tool in tools]
    wanted = [calls * share / sum(shares) for share in shares]
    left = sorted(range(len(tools)), key=lambda place: int(wanted[place]) - wanted[place])
    counts = [int(number) for number in wanted]
    for place in left[: calls - sum(counts)]:
        counts[place] += 1
    order = [each for each, count in zip(tools, counts, strict=True) for _ in range(count)]
    rng.shuffle(order)
    return order


async def _play(calls: int, seed: int, as_of: date, pool: Pool | None) -> Tally:
    rng, tally, lake = random.Random(seed), Tally(), planted()
    drawer = Arguments(rng, as_of)
    servers = [(module, module.build_server(lake=lake)) for module in (edgar, yfinance, options, trading)]
    servers += [(risk, risk.build_server()), *([] if pool is None else [(sandbox, sandbox.build_server(pool=pool))])]
    without = planted(with_tomorrow=False)
    clean = {module: module.build_server(lake=without) for module in (edgar, yfinance, options, trading)}
    tools = [(module, server, tool) for module, server in servers for tool in await server.list_tools()]
    for number, (module, server, tool) in enumerate(_order(tools, calls, rng)):
        with caller.acting_as(Grant("canaries", f"task {number // CALLS_OF_A_TASK}", as_of, seed)):
            other = clean.get(module)
            if module is trading and rng.random() < 0.1:
                started = {"start": str(as_of - timedelta(days=5))}
                # few random orders have prices that go together
                order = {"client_order_id": f"usual {number}"} | ORDER
                for name, usual in (("open_account", started), ("place_order", order)):
                    await _ask(tally, trading, server, other, name, usual)
            usual = USUAL.get(module, USUAL_ELSEWHERE) | USUAL_OF_TOOL.get(tool.name, {})
            arguments = drawer.of(tool.input_schema, usual)
            await _ask(tally, module, server, other, tool.name, arguments)
    return tally


def play(calls: int, *, seed: int, as_of: date = AS_OF, pool: Pool | None = None) -> Tally:
    """Make ``calls`` random calls on a simulation date, the sandbox's where it has a pool; return what came of them."""
    return anyio.run(_play, calls, seed, as_of, pool)
