"""Right arguments of every public function of ``backtest``, and an independent check of what it answers."""

from __future__ import annotations

import inspect
import math
from functools import partial
from statistics import NormalDist
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from backtest import (
    account,
    batch,
    costs,
    episode,
    indicators,
    market,
    metrics,
    rules,
    simulators,
    strategies,
)
from backtest.account import BUY, HOLD, TARGET
from backtest.episode import Strategy
from backtest.market import Market
from backtest.simulators import facts
from tests.fuzz import oracles
from tests.fuzz.case import Case, Random

Arguments = dict[str, Any]
BARS = 12
FLAT = account.open_account()
LEDGER = FLAT.ledger._replace(
    trades=jnp.asarray(4.0),
    wins=jnp.asarray(3.0),
    gross_profit=jnp.asarray(9.0),
    gross_loss=jnp.asarray(2.0),
    traded_notional=jnp.asarray(1000.0),
)
TRAITS = simulators.Traits(*(field[0] for field in simulators.draw_traits(jax.random.key(0), markets=1)))
KNOWABLE = simulators.simulate_knowable(jax.random.key(0), TRAITS, bars=24)
LONG = simulators.simulate(jax.random.key(0), bars=24 * 40)


def candles(rng: Random, bars: int = BARS) -> Market:
    close = 100.0 * np.exp(np.cumsum(rng.normal(0.0, 0.01, bars)))
    open_ = close * np.exp(rng.normal(0.0, 0.005, bars))
    high, low = np.maximum(open_, close) * 1.01, np.minimum(open_, close) * 0.99
    return Market(3600.0 * np.arange(bars), open_, high, low, close, rng.uniform(50.0, 90.0, bars), np.zeros(bars))


def path(rng: Random) -> Any:
    return 100.0 * np.exp(np.cumsum(rng.normal(0.0, 0.05, 5)))


def bar_returns(rng: Random) -> Any:
    return rng.normal(0.0, 0.02, 5)


def listed(values: Any) -> list[float]:
    return [float(each) for each in np.asarray(values)]


def played(a: Arguments, got: Any) -> bool:
    """Invariants of the account: equity >= 0, costs >= 0, and cash plus position is equity."""
    end, last = got.account, float(np.asarray(a["market"].close)[-1])
    equity = float(end.cash) + float(end.position) * last
    return (
        bool((np.asarray(got.equity) >= 0.0).all())
        and oracles.close(end.equity, max(equity, 0.0))
        and float(end.ledger.costs) >= 0.0
    )


def still(a: Arguments, got: Any) -> bool:
    return bool((np.asarray(got.equity) == 10_000.0).all()) and float(got.account.ledger.trades) == 0.0


def stepped(a: Arguments, got: Any) -> bool:
    """One order at the open of a bar, without costs: what it gains is its size times the move."""
    bar, order = a["bar"], a["action"]
    move = float(bar.close) / float(bar.open) - 1.0
    return oracles.close(got.equity, 10_000.0 * (1.0 + float(order.size) * move), rtol=1e-9)


def one_bar(rng: Random) -> Market:
    return market.bar_at(candles(rng), 3)


def fill_price(a: Arguments, got: Any) -> bool:
    r, q = a["rules"], np.asarray(a["quantity"])
    slip = r.slippage_bps * 1e-4 + r.impact_bps * 1e-4 * np.sqrt(np.abs(q) / a["volume"])
    slip = np.minimum(slip, r.max_slippage_bps * 1e-4)
    price = a["price"] * (1.0 + np.sign(q) * slip)
    return oracles.close(got[0], price) and oracles.close(got[1], np.abs(q) * price * r.fee_bps * 1e-4)


def slipped(a: Arguments, got: Any) -> bool:
    r = a["rules"]
    wanted = r.slippage_bps * 1e-4 + r.impact_bps * 1e-4 * np.sqrt(np.abs(a["quantity"]) / a["volume"])
    return oracles.close(got, np.minimum(wanted, r.max_slippage_bps * 1e-4))


def held(a: Arguments, got: Any) -> bool:
    wanted = [sum(math.log(1.0 + e * r) for r in listed(a["returns"])) for e in listed(a["exposure"])]
    return oracles.close(got, wanted)


def over_ema(a: Arguments, got: Any) -> bool:
    return oracles.close(got, oracles.ema(listed(a["market"].close), 4))


def summary(a: Arguments, got: Any) -> bool:
    values = oracles.returns(listed(a["equity"]))
    return (
        oracles.close(got.sharpe, sum(values) / len(values) / oracles.deviation(values) * math.sqrt(8760.0))
        and oracles.close(got.max_drawdown, max(oracles.drawdowns(listed(a["equity"]))))
        and oracles.close(got.skewness, oracles.moment(values, 3))
        and oracles.close(got.win_rate, 0.75)
    )


def strategy_case(function: Any, weight: float = 0.4, **fields: Any) -> Case:
    return Case(
        function,
        lambda r: dict(fields),
        lambda a, g: orders_of(g) == orders_of(function(**fields)),
        weight=weight,
    )


def others(cases: list[Case]) -> list[Case]:
    """Return cases of the strategies and indicators that have none of their own: as they are by default."""
    tried = {case.function for case in cases}
    made = [getattr(indicators, name) for name in indicators.__all__ if name.islower() and name != "over"]
    return [
        *(strategy_case(each, **defaults(each)) for each in strategies.STRATEGIES.values() if each not in tried),
        *(Case(each, partial(defaults, each), causal, weight=0.3) for each in made if each not in tried),
    ]


def defaults(function: Any, rng: Random | None = None) -> Arguments:
    """Return the default of each parameter, and a window of 4 bars for those without one."""
    takes = inspect.signature(function).parameters.values()
    return {each.name: 4 if each.default is each.empty else each.default for each in takes}


def causal(a: Arguments, got: Any) -> bool:
    """Whether an indicator's first values are the same where the rest of the market is not there yet."""
    short, whole = (indicators.over(got, each) for each in (market.window(M, 0, BARS - 4), M))
    return all(
        np.array_equal(one, other[: BARS - 4], equal_nan=True)
        for one, other in zip(jax.tree.leaves(short), jax.tree.leaves(whole), strict=True)
    )


def orders_of(strategy: Strategy) -> str:
    """Return what a strategy asks for after each of three bars."""
    memory, asked = strategy.init(market.bar_at(M, 0)), []
    for place in range(3):
        memory, order = strategy.decide(memory, market.bar_at(M, place), FLAT)
        asked.append((int(order.kind), float(order.size)))
    return repr(asked)


def with_a_stop(strategy: Strategy) -> bool:
    """Whether an order of an always-long strategy carries a stop 10% below the close."""
    bar = market.bar_at(M, 0)
    order = strategy.decide(strategy.init(bar), bar, FLAT)[1]
    return oracles.close(order.stop_loss, 0.9 * float(bar.close))


def moments(rng: Random) -> Arguments:
    return {
        "mean": float(rng.normal(0, 0.01)),
        "deviation": float(rng.uniform(0.01, 0.1)),
        "skewness": 0.0,
        "kurtosis": 3.0,
    }


def equity(rng: Random) -> Arguments:
    return {"equity": path(rng)}


def earned(rng: Random) -> Arguments:
    return {"returns": bar_returns(rng)}


def longest(a: Arguments, got: Any) -> bool:
    run = best = 0
    for each in oracles.drawdowns(listed(a["equity"])):
        run = run + 1 if each > 0.0 else 0
        best = max(best, run)
    return float(got) == best


def all_cases() -> list[Case]:
    cases = _written()
    return [*cases, *others(cases)]


def _written() -> list[Case]:
    year = {"bars_per_year": 8760.0}
    z = NormalDist().inv_cdf(0.05)
    return [
        Case(
            account.open_account,
            lambda r: {"equity": float(r.uniform(1, 9))},
            lambda a, g: float(g.cash) == a["equity"] and float(g.position) == 0.0,
        ),
        Case(
            account.action,
            lambda r: {"kind": int(r.integers(5)), "size": r.uniform(0, 1, 3)},
            lambda a, g: (
                g.kind.shape == (3,)
                and oracles.close(g.size, a["size"])
                and bool((np.asarray(g.kind) == a["kind"]).all())
            ),
        ),
        Case(
            account.hold, lambda r: {"like": r.uniform(0, 1, 3)}, lambda a, g: bool((np.asarray(g.kind) == HOLD).all())
        ),
        Case(
            account.target,
            lambda r: {"exposure": r.uniform(-1, 1, 3)},
            lambda a, g: oracles.close(g.size, a["exposure"]) and bool((np.asarray(g.kind) == TARGET).all()),
        ),
        Case(
            account.stops_of,
            lambda r: {"order": account.target(r.uniform(-1, 1, 3))},
            lambda a, g: bool(np.isnan(np.asarray(g)).all()),
        ),
        Case(
            account.with_stops,
            lambda r: {"order": account.target(r.uniform(-1, 1, 3))},
            lambda a, g: bool(np.isnan(np.asarray(g.stop_loss)).all()),
        ),
        Case(
            account.last_asked,
            lambda r: {"before": account.action(BUY, 0.5), "order": account.action(HOLD)},
            lambda a, g: int(g.kind) == BUY,
        ),
        Case(
            batch.evaluate,
            lambda r: {"market": candles(r), "strategies": [strategies.flat(), strategies.always(1.0)]},
            lambda a, g: float(g.total_return[0]) == 0.0 and 0.0 <= float(g.max_drawdown[1]) <= 1.0,
            weight=0.3,
        ),
        Case(
            costs.slippage,
            lambda r: {"quantity": r.uniform(-9, 9, 3), "volume": r.uniform(10, 90, 3), "rules": rules.DEFAULT_RULES},
            slipped,
        ),
        Case(
            costs.fee,
            lambda r: {"notional": r.uniform(0, 9, 3), "rules": rules.DEFAULT_RULES, "extra_fee_bps": 3.0},
            lambda a, g: oracles.close(g, a["notional"] * 8.0 / 10_000.0),
        ),
        Case(
            costs.unit_cost,
            lambda r: {"fill_price": r.uniform(90, 110, 3), "price": 100.0, "rules": rules.DEFAULT_RULES},
            lambda a, g: oracles.close(g, abs(a["fill_price"] - 100.0) + a["fill_price"] * 5.0 / 10_000.0),
        ),
        Case(
            costs.one_way,
            lambda r: {"quantity": r.uniform(-9, 9, 3), "volume": r.uniform(10, 90, 3), "rules": rules.DEFAULT_RULES},
            lambda a, g: slipped(a, g - 5.0 / 10_000.0),
        ),
        Case(
            costs.fill,
            lambda r: {
                "quantity": r.uniform(-9, 9, 3),
                "price": 100.0,
                "volume": r.uniform(10, 90, 3),
                "rules": rules.DEFAULT_RULES,
            },
            fill_price,
        ),
        Case(
            episode.step,
            lambda r: {
                "state": FLAT,
                "action": account.action(TARGET, float(r.uniform(0, 1))),
                "bar": one_bar(r),
                "rules": rules.FREE,
            },
            stepped,
            weight=0.3,
            dear=True,
        ),
        Case(episode.run, lambda r: {"market": candles(r), "policy": strategies.always(1.0)}, played, weight=0.5),
        Case(
            episode.rollout,
            lambda r: {
                "market": Market(*map(jnp.asarray, candles(r))),
                "policy": strategies.flat(),
                "rules": rules.FREE,
                "account": FLAT,
            },
            still,
            weight=0.2,
            dear=True,
        ),
        Case(
            indicators.ema,
            lambda r: {"window": int(r.integers(1, 5))},
            lambda a, g: oracles.close(indicators.over(g, M), oracles.ema(listed(M.close), a["window"])),
            weight=0.3,
        ),
        Case(
            indicators.sma,
            lambda r: {"window": int(r.integers(1, 5))},
            lambda a, g: oracles.close(indicators.over(g, M), oracles.sma(listed(M.close), a["window"])),
            weight=0.3,
        ),
        Case(
            indicators.rsi,
            lambda r: {"window": int(r.integers(2, 5))},
            lambda a, g: oracles.close(indicators.over(g, M), oracles.rsi(listed(M.close), a["window"])),
            weight=0.3,
        ),
        Case(
            indicators.atr,
            lambda r: {"window": int(r.integers(2, 5))},
            lambda a, g: oracles.close(
                indicators.over(g, M), oracles.true_ranges(listed(M.high), listed(M.low), listed(M.close), a["window"])
            ),
            weight=0.3,
        ),
        Case(
            indicators.donchian,
            lambda r: {"window": int(r.integers(1, 5))},
            lambda a, g: oracles.close(
                indicators.over(g, M)[1:], oracles.donchian(listed(M.high), listed(M.low), a["window"])
            ),
            weight=0.3,
        ),
        Case(
            indicators.bollinger,
            lambda r: {"window": int(r.integers(2, 5)), "deviations": 2.0},
            lambda a, g: oracles.close(indicators.over(g, M).middle, oracles.sma(listed(M.close), a["window"])),
            weight=0.3,
        ),
        Case(
            indicators.macd,
            lambda r: {"fast": 2, "slow": int(r.integers(3, 6)), "signal": 2},
            lambda a, g: oracles.close(
                indicators.over(g, M).line,
                np.subtract(oracles.ema(listed(M.close), 2), oracles.ema(listed(M.close), a["slow"])),
            ),
            weight=0.3,
        ),
        Case(
            indicators.adx,
            lambda r: {"window": int(r.integers(2, 4))},
            lambda a, g: all(np.nanmin(x) >= 0.0 and np.nanmax(x) <= 100.0 + 1e-9 for x in indicators.over(g, M)),
            weight=0.3,
        ),
        Case(
            indicators.vwap,
            lambda r: {},
            lambda a, g: bool(((indicators.over(g, M) >= M.low.min()) & (indicators.over(g, M) <= M.high.max())).all()),
            weight=0.05,
        ),
        Case(
            indicators.realised_volatility,
            lambda r: {"window": int(r.integers(2, 4)), **year},
            lambda a, g: oracles.close(
                np.asarray(indicators.over(g, M))[-1],
                math.sqrt(8760.0 * np.mean(np.diff(np.log(M.close))[-a["window"] :] ** 2)),
            ),
            weight=0.3,
        ),
        Case(
            indicators.funding_carry,
            lambda r: {"window": int(r.integers(2, 4)), **year},
            lambda a, g: oracles.close(np.asarray(indicators.over(g, M))[-1], 0.0),
            weight=0.3,
        ),
        Case(indicators.over, lambda r: {"indicator": indicators.ema(4), "market": candles(r)}, over_ema, weight=0.5),
        Case(
            market.bar_at,
            lambda r: {"market": candles(r), "index": int(r.integers(BARS))},
            lambda a, g: float(g.close) == float(np.asarray(a["market"].close)[a["index"]]),
            weight=2,
        ),
        Case(
            market.window,
            lambda r: {"market": candles(r), "start": 2, "stop": 5},
            lambda a, g: bool((np.asarray(g.close) == np.asarray(a["market"].close)[2:5]).all()),
            weight=2,
        ),
        Case(market.stack, lambda r: {"markets": [candles(r), candles(r)]}, lambda a, g: g.close.shape == (2, BARS)),
        Case(market.problems, lambda r: {"market": candles(r)}, lambda a, g: g == [], weight=2),
        Case(
            market.check,
            lambda r: {"market": candles(r)},
            lambda a, g: bool((np.asarray(g.close) == np.asarray(a["market"].close)).all()),
            weight=2,
        ),
        Case(
            rules.check_rules,
            lambda r: {"rules": rules.Rules(fee_bps=float(r.uniform(0, 9)))},
            lambda a, g: g == a["rules"],
        ),
        Case(metrics.returns, equity, lambda a, g: oracles.close(g, oracles.returns(listed(a["equity"])))),
        Case(metrics.total_return, equity, lambda a, g: oracles.close(g, a["equity"][-1] / a["equity"][0] - 1.0)),
        Case(metrics.log_growth, equity, lambda a, g: oracles.close(g, math.log(a["equity"][-1] / a["equity"][0]))),
        Case(
            metrics.annual_return,
            lambda r: {"equity": path(r), "bars_per_year": 8.0},
            lambda a, g: oracles.close(g, (a["equity"][-1] / a["equity"][0]) ** 2 - 1.0),
        ),
        Case(
            metrics.annual_volatility,
            lambda r: earned(r) | year,
            lambda a, g: oracles.close(g, oracles.deviation(listed(a["returns"])) * math.sqrt(8760.0)),
        ),
        Case(
            metrics.sharpe,
            lambda r: earned(r) | year,
            lambda a, g: oracles.close(
                g, np.mean(a["returns"]) / oracles.deviation(listed(a["returns"])) * math.sqrt(8760.0)
            ),
        ),
        Case(
            metrics.sortino,
            lambda r: {"returns": np.append(bar_returns(r), -0.01), **year},
            lambda a, g: oracles.close(
                g,
                np.mean(a["returns"])
                / math.sqrt(np.mean([min(x, 0.0) ** 2 for x in listed(a["returns"])]))
                * math.sqrt(8760.0),
            ),
        ),
        Case(
            metrics.calmar,
            lambda r: {"equity": np.append(path(r), 10.0), "bars_per_year": 5.0},
            lambda a, g: oracles.close(
                g, (a["equity"][-1] / a["equity"][0] - 1.0) / max(oracles.drawdowns(listed(a["equity"])))
            ),
        ),
        Case(metrics.drawdowns, equity, lambda a, g: oracles.close(g, oracles.drawdowns(listed(a["equity"])))),
        Case(metrics.max_drawdown, equity, lambda a, g: oracles.close(g, max(oracles.drawdowns(listed(a["equity"]))))),
        Case(metrics.max_drawdown_bars, equity, longest, weight=0.3),
        Case(metrics.win_rate, lambda r: {"ledger": LEDGER}, lambda a, g: float(g) == 0.75, weight=0.3),
        Case(metrics.profit_factor, lambda r: {"ledger": LEDGER}, lambda a, g: float(g) == 4.5, weight=0.3),
        Case(
            metrics.turnover,
            lambda r: {"equity": path(r), "ledger": LEDGER, "bars_per_year": 4.0},
            lambda a, g: oracles.close(g, 1000.0 / np.mean(a["equity"][1:])),
        ),
        Case(metrics.skewness, earned, lambda a, g: oracles.close(g, oracles.moment(listed(a["returns"]), 3))),
        Case(metrics.kurtosis, earned, lambda a, g: oracles.close(g, oracles.moment(listed(a["returns"]), 4))),
        Case(
            metrics.standardised_moment,
            lambda r: {"values": bar_returns(r), "order": 3},
            lambda a, g: oracles.close(g, oracles.moment(listed(a["values"]), 3)),
        ),
        Case(
            metrics.value_at_risk,
            lambda r: earned(r) | {"level": 0.9},
            lambda a, g: oracles.close(g, -oracles.quantile(listed(a["returns"]), 0.1)),
        ),
        Case(
            metrics.expected_shortfall,
            lambda r: earned(r) | {"level": 0.9},
            lambda a, g: oracles.close(g, -min(a["returns"])),
        ),
        Case(metrics.modified_value_at_risk, moments, lambda a, g: oracles.close(g, -(a["mean"] + a["deviation"] * z))),
        Case(
            metrics.modified_expected_shortfall,
            moments,
            lambda a, g: oracles.close(g, a["deviation"] * NormalDist().pdf(z) / 0.05 - a["mean"]),
        ),
        Case(
            metrics.probabilistic_sharpe,
            lambda r: {"sharpe_per_bar": float(r.normal(0, 0.1)), "skewness": 0.0, "kurtosis": 3.0, "bars": 100},
            lambda a, g: oracles.close(
                g,
                NormalDist().cdf(
                    a["sharpe_per_bar"] * math.sqrt(99.0) / math.sqrt(1.0 + 0.5 * a["sharpe_per_bar"] ** 2)
                ),
            ),
        ),
        Case(
            metrics.deflated_sharpe,
            lambda r: {
                "sharpe_per_bar": 0.1,
                "skewness": 0.0,
                "kurtosis": 3.0,
                "bars": 100,
                "trials": 5,
                "trial_variance": 0.01,
            },
            lambda a, g: 0.0 <= float(g) <= NormalDist().cdf(0.1 * math.sqrt(99.0) / math.sqrt(1.005)),
        ),
        Case(metrics.summary, lambda r: {"equity": path(r), "ledger": LEDGER, **year}, summary, weight=0.1),
        Case(
            metrics.ratio,
            lambda r: {"numerator": float(r.normal()), "denominator": float(r.uniform(1, 2))},
            lambda a, g: oracles.close(g, a["numerator"] / a["denominator"]),
        ),
        Case(
            simulators.simulate,
            lambda r: {"key": jax.random.key(int(r.integers(99))), "bars": 24},
            lambda a, g: market.problems(g) == [],
            weight=0.3,
        ),
        Case(
            simulators.draw_traits,
            lambda r: {"key": jax.random.key(int(r.integers(99))), "markets": 6},
            lambda a, g: len(set(np.asarray(g.kind).tolist())) == 6 and set(np.abs(g.sign).tolist()) == {1.0},
            weight=0.1,
        ),
        Case(
            simulators.simulate_knowable,
            lambda r: {"key": jax.random.key(int(r.integers(99))), "traits": TRAITS, "bars": 24},
            lambda a, g: market.problems(g.market) == [],
            weight=0.1,
            dear=True,
        ),
        Case(
            simulators.mirrored_traits,
            lambda r: {"traits": TRAITS},
            lambda a, g: bool((np.abs(g.sign) == np.abs(TRAITS.sign)).all()) and g.kind is TRAITS.kind,
            weight=0.05,
        ),
        Case(
            simulators.mirror,
            lambda r: {"knowable": KNOWABLE, "traits": TRAITS},
            lambda a, g: market.problems(g[0].market) == [] and bool((g[0].mean == -KNOWABLE.mean).all()),
            weight=0.1,
        ),
        Case(
            facts.measure,
            lambda r: {"market": LONG, "bar_seconds": 3600.0},
            lambda a, g: g.annual_volatility > 0.0,
            weight=0.1,
            dear=True,
        ),
        strategy_case(strategies.flat, weight=0.05),
        strategy_case(strategies.always, exposure=1.0),
        strategy_case(strategies.buy_and_hold, exposure=1.0),
        strategy_case(strategies.random_walker, seed=1, switch_rate=0.1, exposure=1.0),
        strategy_case(strategies.moving_average_cross, fast=2, slow=3, exposure=1.0),
        strategy_case(strategies.macd, fast=2, slow=3, signal=2, exposure=1.0),
        strategy_case(strategies.donchian_breakout, window=3, exposure=1.0),
        strategy_case(strategies.rsi_reversal, window=3, low=30.0, high=70.0, exposure=1.0),
        strategy_case(strategies.rsi_divergence, window=3, lookback=4, exposure=1.0),
        strategy_case(strategies.grid, spacing=0.01, levels=3, window=5, exposure=1.0),
        strategy_case(strategies.bollinger_reversal, window=3, deviations=2.0, exposure=1.0),
        strategy_case(strategies.volatility_target, volatility=0.4, window=3, largest=2.0, band=0.1),
        strategy_case(strategies.carry, window=3, threshold=0.1, exposure=1.0),
        Case(
            strategies.with_stop,
            lambda r: {"strategy": strategies.always(1.0), "stop": 0.1},
            lambda a, g: with_a_stop(g),
        ),
        Case(strategies.get, lambda r: {"name": "always_long", "stop": 0.1}, lambda a, g: with_a_stop(g)),
        Case(
            strategies.always_long,
            lambda r: {},
            lambda a, g: orders_of(g) == orders_of(strategies.always(1.0)),
            weight=0.02,
        ),
        Case(
            strategies.always_short,
            lambda r: {},
            lambda a, g: orders_of(g) == orders_of(strategies.always(-1.0)),
            weight=0.02,
        ),
    ]


M = candles(np.random.default_rng(5))
