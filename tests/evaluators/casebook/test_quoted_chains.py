"""Cases on quoted option chains: golds by what the options server answers, with formulas written here."""

from __future__ import annotations

import csv
import importlib.util
import math
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Any

import anyio
import pytest
from mcp import Client
from scipy import integrate, optimize

from evaluators.casebook.answer import Figure
from evaluators.casebook.dataset import DATASET
from evaluators.casebook.families import quoted_chains
from evaluators.contract import DIFFICULTIES, Case
from evaluators.validity import findings
from lake import providers
from lake.settings import LakeSettings
from mcp_servers import caller, options
from mcp_servers.access import Grant
from tests.lake.quoted import made_chain

DAY = date(2024, 3, 4)
N = NormalDist().cdf
QUOTES = {"quotes": True, "task_types": list(quoted_chains.FAMILIES)}
COLUMNS = "quote_date expiration strike option_type bid_eod ask_eod spot".split()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> LakeSettings:
    folder = tmp_path_factory.mktemp("lake")
    (folder / "options").mkdir()
    with (folder / "options" / "SPX.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for number, days in enumerate(made_chain.DAYS):
            # two points of volatility more at each expiration, so that they cannot be taken for each other
            rows = made_chain.rows(DAY, exercise="european", shift=0.02 * number)
            for day, _, spot, expiration, kind, strike, _, bid, ask, *_ in rows:
                if (expiration - day).days == days:
                    writer.writerow([day, expiration, strike, kind, bid or 0, ask, spot])
    return LakeSettings(options="folder", path=str(folder))


@pytest.fixture(scope="module")
def google(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> LakeSettings:
    program = Path(__file__).parents[3] / "benchmarks" / "goog_chain.py"
    spec = importlib.util.spec_from_file_location("goog_chain", program)
    assert spec is not None and spec.loader is not None
    goog_chain = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(goog_chain)
    folder = tmp_path_factory.mktemp("google")
    goog_chain.write(shared_data / "options" / "daily_goog_2015_quote_american.zip", folder / "options" / "GOOG.csv")
    return LakeSettings(options="folder", path=str(folder))


@lru_cache(maxsize=64)
def ask(settings: LakeSettings, as_of: date, tool: str, ticker: str, expiration: str | None = None) -> Any:
    """What an agent is told."""
    arguments = {"ticker": ticker} | ({"expiration": expiration} if expiration else {})

    async def call() -> Any:
        with caller.acting_as(Grant("run", "task", as_of, 0)):
            async with Client(options.build_server(lake=providers.open_lake(settings))) as client:
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return result.structured_content

    return anyio.run(call)


class Smile:
    """One expiration of the surface as the server tells it."""

    def __init__(self, surface: Mapping[str, Any], row: int) -> None:
        self.expiration: str = surface["expirations"][row]
        self.curve: Mapping[str, float] = surface["curves"][row]
        self.forward: float = surface["forward"][row]
        self.years: float = surface["time_to_expiry"][row]
        self.discount = math.exp(-surface["rate"] * self.years)
        self.spot: float = surface["spot"]

    def volatility(self, strike: float) -> float:
        c, k = self.curve, math.log(strike / self.forward)
        total = c["a"] + c["b"] * (c["rho"] * (k - c["m"]) + math.hypot(k - c["m"], c["sigma"]))
        return math.sqrt(total / self.years)

    def d1(self, strike: float) -> float:
        deviation = self.volatility(strike) * math.sqrt(self.years)
        return math.log(self.forward / strike) / deviation + 0.5 * deviation

    def price(self, strike: float, kind: str) -> float:
        d1 = self.d1(strike)
        d2 = d1 - self.volatility(strike) * math.sqrt(self.years)
        call = self.discount * (self.forward * N(d1) - strike * N(d2))
        return call if kind == "call" else call - self.discount * (self.forward - strike)

    def above(self, strike: float) -> float:
        """Probability by integrating the second difference of put prices."""
        step = 2e-3 * self.forward

        def density(x: float) -> float:
            low, middle, high = (self.price(at, "put") for at in (x - step, x, x + step))
            return (high - 2 * middle + low) / step**2 / self.discount

        top = self.forward * math.exp(9 * self.volatility(self.forward) * math.sqrt(self.years))
        points = [self.forward] if strike < self.forward else None
        return integrate.quad(density, strike, top, limit=500, points=points)[0]

    def at_delta(self, delta: float) -> float:
        """Strike of a forward delta of a call (or, below 0, of a put)."""
        wanted = delta if delta > 0 else 1 + delta
        edge = 8 * self.volatility(self.forward) * math.sqrt(self.years)
        return optimize.brentq(
            lambda strike: N(self.d1(strike)) - wanted, self.forward * math.exp(-edge), self.forward * math.exp(edge)
        )


def unlisted_strike(i: Mapping[str, Any], smiles: list[Smile], chain: Mapping[str, Any]) -> dict[str, Any]:
    smile, strike, kind = smiles[i["row"]], i["strike"], i["kind"]
    assert strike not in chain["strike"]
    value = smile.price(strike, kind)
    carry = smile.forward * smile.discount / smile.spot
    delta = carry * (N(smile.d1(strike)) - (kind == "put"))
    return {
        "volatility_pct": 100 * smile.volatility(strike),
        "value_usd": value,
        "hedge_shares": 100 * i["contracts"] * delta,
        "gain_usd": 100 * i["contracts"] * abs(value - i["offer"]),
        "above_pct": 100 * smile.above(strike),
        "side": ("buy" if value > i["offer"] else "sell",),
    }


def quoted_vertical(i: Mapping[str, Any], smiles: list[Smile], chain: Mapping[str, Any]) -> dict[str, Any]:
    smile, kind, shares = smiles[i["row"]], i["kind"], 100 * i["contracts"]
    bid = dict(zip(chain["strike"], chain[f"{kind}_bid"], strict=True))
    ask_ = dict(zip(chain["strike"], chain[f"{kind}_ask"], strict=True))
    natural = ask_[i["bought"]] - bid[i["sold"]]
    half = 0.5 * (ask_[i["bought"]] - bid[i["bought"]] + ask_[i["sold"]] - bid[i["sold"]])
    paid = natural - half * (1 - i["patience"] / 100)
    end = i["bought"] + (paid if kind == "call" else -paid)
    above = 100 * smile.above(end)
    worth = smile.price(i["bought"], kind) - smile.price(i["sold"], kind)
    return {
        "natural_usd": shares * natural,
        "expected_usd": shares * paid,
        "round_trip_usd": 2 * shares * half * i["patience"] / 100,
        "breakeven_pct": 100 * (end - smile.spot) / smile.spot,
        "profit_pct": above if kind == "call" else 100 - above,
        "edge_usd": shares * (worth - paid),
        "decision": ("trade" if worth > paid else "pass",),
    }


def wings(i: Mapping[str, Any], smiles: list[Smile], chain: Mapping[str, Any]) -> dict[str, Any]:
    near, far, delta = smiles[i["near"]], smiles[i["far"]], i["share"] / 100
    call, put = ([each.volatility(each.at_delta(d)) for each in (near, far)] for d in (delta, -delta))
    reversal = [100 * (c - p) for c, p in zip(call, put, strict=True)]
    middle = [each.volatility(each.forward) for each in (near, far)]
    variance = middle[1] ** 2 * far.years - middle[0] ** 2 * near.years
    steeper = near if abs(reversal[0]) > abs(reversal[1]) else far
    return {
        "put_strike": near.at_delta(-delta),
        "reversal_near_pts": reversal[0],
        "forward_volatility_pct": 100 * math.sqrt(variance / (far.years - near.years)),
        "butterfly_far_pts": 50 * (call[1] + put[1]) - 100 * middle[1],
        "gain_usd": i["vega"] * (reversal[1] - reversal[0]),
        "steeper": (steeper.expiration,),
    }


ROUTES = {"unlisted-strike": unlisted_strike, "quoted-vertical": quoted_vertical, "wings": wings}


def by_the_second_route(settings: LakeSettings, name: str, level: Any, seed: int) -> None:
    template = quoted_chains.templates(settings)[name]
    drawn, turns = template.case(Random(seed), level, template.wordings[seed % len(template.wordings)])
    ticker = str(drawn.inputs["ticker"])
    surface = ask(settings, drawn.as_of, "get_iv_surface", ticker)
    smiles = [Smile(surface, row) for row in range(len(surface["expirations"]))]
    chain = {} if name == "wings" else smiles[drawn.inputs["row"]].expiration
    chain = chain and ask(settings, drawn.as_of, "get_options_chain", ticker, chain)
    expected = ROUTES[name](drawn.inputs, smiles, chain)
    assert drawn.servers == ("options",) and ticker in turns[0].text
    for item in drawn.asked:
        if isinstance(item, Figure):
            assert abs(expected[item.name] - item.gold) < 0.25 * item.margin, (name, item, expected[item.name])
        else:
            assert item.gold == expected[item.name]


@pytest.mark.parametrize("level", DIFFICULTIES)
@pytest.mark.parametrize("name", ROUTES)
def test_every_gold_of_a_made_chain_is_found_from_the_servers_answers(
    made: LakeSettings, name: str, level: Any
) -> None:
    for seed in range(6):
        by_the_second_route(made, name, level, seed)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ROUTES)
def test_every_gold_of_googles_chain_is_found_from_the_servers_answers(google: LakeSettings, name: str) -> None:
    for seed in range(8):
        by_the_second_route(google, name, "expert", seed)


@pytest.mark.shared_data
def test_an_unlisted_strike_costs_what_its_listed_neighbours_say(google: LakeSettings) -> None:
    """Without any surface: the value lies between the quotes beside it, early exercise being worth little there."""
    template = quoted_chains.templates(google)["unlisted-strike"]
    for seed in range(12):
        drawn, _ = template.case(Random(seed), "easy", template.wordings[0])
        surface = ask(google, drawn.as_of, "get_iv_surface", "GOOG")
        kind, strike = drawn.inputs["kind"], float(str(drawn.inputs["strike"]))
        expiration = surface["expirations"][drawn.inputs["row"]]
        chain = ask(google, drawn.as_of, "get_options_chain", "GOOG", expiration)
        rows = zip(chain["strike"], chain[f"{kind}_bid"], chain[f"{kind}_ask"], strict=True)
        quotes = {at: (bid, ask_) for at, bid, ask_ in rows if bid and ask_}
        around = [quotes[max(at for at in quotes if at < strike)], quotes[min(at for at in quotes if at > strike)]]
        value = next(item.gold for item in drawn.asked if item.name == "value_usd")
        assert 0.985 * min(bid for bid, _ in around) < value < 1.015 * max(ask_ for _, ask_ in around)


def drawn_cases(settings: LakeSettings, count: int, seed: int = 1) -> list[Case]:
    return list(DATASET.over(settings).draw(seed=seed, count=count, options=QUOTES))


def test_cases_are_drawn_by_option_and_differ_and_earn_everything_only_when_right(made: LakeSettings) -> None:
    cases = [case for seed in range(3) for case in drawn_cases(made, 18, seed)]
    assert {case.task.family for case in cases} == {f"casebook/{name}" for name in quoted_chains.FAMILIES}
    assert {case.task.difficulty for case in cases} == set(DIFFICULTIES)
    assert len({case.task.question for case in cases}) == len(cases)
    assert {(case.task.servers, case.task.as_of) for case in cases} == {(("options",), DAY)}
    assert [row for row in findings("analytical_reasoning", cases) if not row.ok] == []


def test_they_belong_to_the_usual_draw_where_quotes_are_asked_for(made: LakeSettings) -> None:
    every = DATASET.over(made).draw(seed=1, count=120, options={"quotes": True})
    assert {f"casebook/{name}" for name in quoted_chains.FAMILIES} <= {case.task.family for case in every}
    usual = DATASET.over(made).draw(seed=1, count=120, options={})
    assert [case.task for case in usual] == [case.task for case in DATASET.draw(seed=1, count=120, options={})]


def test_other_quotes_change_the_hash(made: LakeSettings, tmp_path: Path) -> None:
    (tmp_path / "options").mkdir()
    text = (Path(made.path) / "options" / "SPX.csv").read_text()
    (tmp_path / "options" / "SPX.csv").write_text(text.replace("100.0\n", "100.1\n", 1) + "\n")
    other = LakeSettings(options="folder", path=str(tmp_path))
    assert DATASET.over(made).data_hash(QUOTES) != DATASET.over(other).data_hash(QUOTES)
    assert DATASET.over(made).data_hash({}) == DATASET.over(other).data_hash({})


def test_a_lake_without_quotes_is_told_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"^quotes: the run's lake has no option quotes; name some, as in lake: \{"):
        DATASET.over(LakeSettings()).draw(seed=1, count=1, options=QUOTES)
    with pytest.raises(ValueError, match="task_types: 'wings' is drawn from quoted option chains; write quotes: true"):
        DATASET.draw(seed=1, count=1, options={"task_types": ["wings"]})


def test_quotes_too_few_for_a_surface_are_told_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "options").mkdir()
    rows = "".join(f"2024-03-04,2024-04-19,{strike},C,3.00,3.20,100\n" for strike in (95, 100))
    (tmp_path / "options" / "ACME.csv").write_text(",".join(COLUMNS) + "\n" + rows)
    with pytest.raises(ValueError, match=r"quotes: no chain of the run's lake can be asked about; the last: .*ACME"):
        drawn_cases(LakeSettings(options="folder", path=str(tmp_path)), 1)


def test_a_lake_without_a_spread_is_one_clear_error(made: LakeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quoted_chains, "LEAST_BID", 1e9)
    with pytest.raises(ValueError, match="quotes: 40 expirations of the run's lake had no two strikes with a bid"):
        DATASET.over(made).draw(seed=1, count=1, options={"quotes": True, "task_types": ["quoted-vertical"]})
