// The account step and its tally for W accounts side by side: what backtest/episode.py and backtest/tally.py say. What is
// rare (orders, exits, funding) is branched over when no account of the block needs it.
#pragma once
#include "registers.h"

namespace backtest {

enum Row {
  CASH, POSITION, ENTRY, STOP, TAKE, EQUITY, TRADE_EQUITY, EVENTS,
  TRADES, WINS, GROSS_PROFIT, GROSS_LOSS, TRADED, COSTS, FUNDING, REFUSALS, LIQUIDATIONS,
  INVERSE, FIRST, SECOND, THIRD, FOURTH, DOWNSIDE, EQUITY_SUM, EXPOSURE_SUM, GROSS_EXPOSURE_SUM,
  PEAK, WORST_PEAK, WORST_TROUGH, BELOW, LONGEST_BELOW, MARKET_PRODUCT, ROWS
};

constexpr int32_t HOLD = 0, BUY = 1, SELL = 2, CLOSE = 3, TARGET = 4;

enum Event {
  ORDER_REFUSED = 1, ORDER_CUT = 2, ORDER_TOO_SMALL = 4, STOP_REFUSED = 8, TAKE_PROFIT_REFUSED = 16,
  FILLED = 32, STOPPED = 64, TOOK_PROFIT = 128, LIQUIDATED = 256, ORDER_CANCELLED = 512
};

template <typename T> struct Costs {
  T fee, slippage, impact, band, leverage, maintenance, liquidation_fee, minimum;
  explicit Costs(const T* r)
      : fee(r[0] * T(1e-4)), slippage(r[1] * T(1e-4)), impact(r[2] * T(1e-4)), band(r[3] * T(1e-4)),
        leverage(r[4]), maintenance(r[5]), liquidation_fee(r[6] * T(1e-4)), minimum(r[7]) {}
};

template <typename T> struct Accounts {
  using B = Lanes<T>;
  using V = typename B::V;
  using M = typename B::M;
  using I = typename B::I;
  V row[ROWS];
  M events;

  void flag(M where, I event) { events |= where & event; }
  void count(Row r, M where) { row[r] += B::only(where, B::one()); }

  static V slippage(V quantity, V volume, const Costs<T>& c) {
    V free = c.slippage + c.impact * B::root(B::abs(quantity) / volume);
    return B::pick(free < c.band, free, B::splat(c.band));
  }

  void book_fill(M where, V size, V price, V fill, V fee) {
    row[TRADED] += B::only(where, size * fill);
    row[COSTS] += B::only(where, size * B::abs(fill - price) + fee);
  }

  void book_trade(M closed, V profit) {
    M won = closed & (profit > 0);
    count(TRADES, closed);
    count(WINS, won);
    row[GROSS_PROFIT] += B::only(won, profit);
    row[GROSS_LOSS] -= B::only(closed & ~won, profit);
  }

  void leave(M where, V price, V volume, V fee_rate, const Costs<T>& c) {
    V quantity = -row[POSITION];
    V slip = slippage(quantity, volume, c);
    V fill = price * (T(1) + B::pick(quantity > 0, slip, -slip));
    V size = B::abs(quantity);
    V fee = size * fill * fee_rate;
    V cash = B::max(row[CASH] - quantity * fill - fee, V{});
    book_fill(where, size, price, fill, fee);
    book_trade(where, cash - row[TRADE_EQUITY]);
    row[CASH] = B::pick(where, cash, row[CASH]);
    row[POSITION] = B::pick(where, V{}, row[POSITION]);
    row[ENTRY] = B::pick(where, V{}, row[ENTRY]);
    row[STOP] = B::pick(where, B::nan(), row[STOP]);
    row[TAKE] = B::pick(where, B::nan(), row[TAKE]);
  }

  template <typename Bars> M liquidate_at_open(const Bars& b, int64_t t, V open, const Costs<T>& c) {
    V position = row[POSITION];
    M broken = (position != 0) & (row[CASH] + position * open <= c.maintenance * B::abs(position) * open);
    if (B::any(broken)) {
      leave(broken, open, b.volume(t), B::splat(c.fee + c.liquidation_fee), c);
      count(LIQUIDATIONS, broken);
      flag(broken, LIQUIDATED | ORDER_CANCELLED);
    }
    return broken;
  }

  // An order of any kind; see backtest.account.Action.
  void order(M kind, V size, V open, V volume, M cancelled, const Costs<T>& c) {
    V held = row[POSITION] * open, equity = B::max(row[CASH] + held, V{});
    V limit = c.leverage * equity, amount = size * equity;
    M buys = kind == BUY, sells = kind == SELL, closes = kind == CLOSE, targets = kind == TARGET;
    M sized = (((buys | sells) & (size > 0)) | targets) & B::finite(size);
    M refused = ~(sized | closes | (kind == HOLD)) & ~cancelled;
    V asked = B::pick(buys, held + amount, B::pick(sells, held - amount, amount));
    V highest = B::pick(buys, B::max(limit, held), limit);
    V lowest = B::pick(sells, B::min(-limit, held), -limit);
    V goal = B::pick(sells, asked, B::min(asked, highest));
    goal = B::pick(buys, goal, B::max(goal, lowest));
    flag(sized & ~cancelled & (goal != asked), ORDER_CUT);
    flag(refused, ORDER_REFUSED);
    count(REFUSALS, refused);
    trade_to(B::pick(closes, V{}, goal), (sized | closes) & ~cancelled, closes, open, volume, c);
  }

  // The same for orders that are all of kind TARGET.
  void target(M asks, V size, V open, V volume, M cancelled, const Costs<T>& c) {
    V equity = B::max(row[CASH] + row[POSITION] * open, V{});
    V limit = c.leverage * equity, asked = size * equity;
    M sized = asks & B::finite(size), refused = asks & ~sized & ~cancelled;
    V goal = B::max(B::min(asked, limit), -limit);
    flag(sized & ~cancelled & (goal != asked), ORDER_CUT);
    flag(refused, ORDER_REFUSED);
    count(REFUSALS, refused);
    trade_to(goal, sized & ~cancelled, M{}, open, volume, c);
  }

  // Trade to a position worth `goal` at the open, in quote currency.
  void trade_to(V goal, M active, M closes, V open, V volume, const Costs<T>& c) {
    V old = row[POSITION], held = old * open;
    M tiny = B::abs(goal) < c.minimum;
    goal = B::pick(tiny, V{}, goal);
    M small = ((goal != 0) & (B::abs(goal - held) < c.minimum)) | (tiny & (held == 0) & ~closes);
    flag(active & small, ORDER_TOO_SMALL);
    M trades = active & ~small & (goal != held);
    if (!B::any(trades)) return;
    V now = B::pick(trades, B::pick(goal == 0, V{}, goal / open), old);
    V quantity = now - old, amount_traded = B::abs(quantity);
    V slip = slippage(quantity, volume, c);
    V fill = open * (T(1) + B::pick(quantity > 0, slip, B::pick(quantity < 0, -slip, V{})));
    V fee = amount_traded * fill * c.fee;
    V cash = row[CASH] - quantity * fill - fee;
    M flips = old * now < 0, flat = now == 0;
    M ends = trades & (old != 0) & (flat | flips), opens = trades & ~flat & ((old == 0) | flips);
    V unit_cost = B::abs(fill - open) + fill * c.fee;
    V before = row[CASH] + old * open;
    V after_closing = B::max(before - B::abs(old) * unit_cost, V{});
    book_fill(trades, amount_traded, open, fill, fee);
    book_trade(ends, after_closing - row[TRADE_EQUITY]);
    row[CASH] = B::pick(trades, B::pick(flat, B::max(cash, V{}), cash), row[CASH]);
    M grows = trades & (B::abs(now) > B::abs(old));
    V average = (B::abs(old) * row[ENTRY] + amount_traded * fill) / B::abs(now);
    V entry = B::pick(opens, fill, B::pick(grows, average, row[ENTRY]));
    row[ENTRY] = B::pick(trades & flat, V{}, entry);
    row[TRADE_EQUITY] = B::pick(opens, B::pick(ends, after_closing, before), row[TRADE_EQUITY]);
    row[POSITION] = now;
    M fresh = ends | opens;
    row[STOP] = B::pick(fresh, B::nan(), row[STOP]);
    row[TAKE] = B::pick(fresh, B::nan(), row[TAKE]);
    flag(trades, FILLED);
  }

  void place(V stop, V take, V open, M cancelled) {
    M is_long = row[POSITION] > 0, is_short = row[POSITION] < 0;
    M stop_below = (stop > 0) & (stop < open), stop_above = B::finite(stop) & (stop > open);
    M take_below = (take > 0) & (take < open), take_above = B::finite(take) & (take > open);
    M stop_valid = (is_long & stop_below) | (is_short & stop_above);
    M take_valid = (is_long & take_above) | (is_short & take_below);
    M stop_refused = B::given(stop) & ~stop_valid & ~cancelled;
    M take_refused = B::given(take) & ~take_valid & ~cancelled;
    row[STOP] = B::pick(stop_valid, stop, row[STOP]);
    row[TAKE] = B::pick(take_valid, take, row[TAKE]);
    count(REFUSALS, stop_refused);
    count(REFUSALS, take_refused);
    flag(stop_refused, STOP_REFUSED);
    flag(take_refused, TAKE_PROFIT_REFUSED);
  }

  template <typename Bars> void exits(const Bars& b, int64_t t, V open, const Costs<T>& c) {
    V high = b.high(t), low = b.low(t), position = row[POSITION], size = B::abs(position);
    M held = position != 0, is_long = position > 0;
    V adverse_price = B::pick(is_long, low, high), best_price = B::pick(is_long, high, low);
    // Wide enough never to miss what the exact comparison below finds.
    const T slack = sizeof(T) == 8 ? T(1e-9) : T(1e-4);
    V notional = size * adverse_price;
    M near = row[CASH] + position * adverse_price <= (c.maintenance + slack) * notional;
    M stop_hit = B::pick(is_long, low - row[STOP], row[STOP] - high) <= 0;
    M take_hit = B::pick(is_long, row[TAKE] - high, low - row[TAKE]) <= 0;
    if (!B::any(held & (near | stop_hit | take_hit))) return;
    V side = B::pick(is_long, B::one(), -B::one());
    V worst = side * adverse_price, best = side * best_price;
    V net = B::pick(held, position - c.maintenance * size, B::one());
    V margin_level = side * (-row[CASH] / net), stop_level = side * row[STOP];
    M stopped_first = stop_level > margin_level;
    V level = B::pick(stopped_first, stop_level, margin_level);
    M adverse = held & (worst <= level);
    M takes = held & ~adverse & (best >= side * row[TAKE]);
    M out = adverse | takes;
    if (!B::any(out)) return;
    V price = B::pick(takes, row[TAKE], side * B::min(level, side * open));
    M liquidated = adverse & ~stopped_first;
    V fee_rate = c.fee + B::only(liquidated, B::splat(c.liquidation_fee));
    leave(out, B::pick(out, price, open), b.volume(t), fee_rate, c);
    count(LIQUIDATIONS, liquidated);
    flag(liquidated, LIQUIDATED);
    flag(adverse & stopped_first, STOPPED);
    flag(takes, TOOK_PROFIT);
  }

  void tally(V close, V market_return) {
    V equity = B::max(row[CASH] + row[POSITION] * close, V{});
    V change = (equity - row[EQUITY]) * row[INVERSE];
    V square = change * change;
    V inverse = B::only(equity > 0, T(1) / equity);
    V exposure = row[POSITION] * close * inverse;
    V peak = B::max(row[PEAK], equity);
    M worse = equity * row[WORST_PEAK] < row[WORST_TROUGH] * peak;
    V below = B::only(equity < peak, row[BELOW] + T(1));
    row[EQUITY] = equity;
    row[INVERSE] = inverse;
    row[FIRST] += change;
    row[SECOND] += square;
    row[THIRD] += square * change;
    row[FOURTH] += square * square;
    row[DOWNSIDE] += B::only(change < 0, square);
    row[EQUITY_SUM] += equity;
    row[EXPOSURE_SUM] += exposure;
    row[GROSS_EXPOSURE_SUM] += B::abs(exposure);
    row[PEAK] = peak;
    row[WORST_PEAK] = B::pick(worse, peak, row[WORST_PEAK]);
    row[WORST_TROUGH] = B::pick(worse, equity, row[WORST_TROUGH]);
    row[BELOW] = below;
    row[LONGEST_BELOW] = B::max(row[LONGEST_BELOW], below);
    row[MARKET_PRODUCT] += change * market_return;
  }

  // Bars `first` to `last` (excluded). Bars have fields of a bar by its number; orders those that wait at its open.
  template <typename Bars, typename Orders>
  void pass(const Bars& b, const Orders& o, int64_t first, int64_t last, const Costs<T>& c) {
    for (int64_t t = first; t < last; ++t) {
      V open = b.open(t);
      M cancelled = M{};
      events = M{};
      if (B::any(row[POSITION] != 0)) {
        if (b.pays(t)) {
          V paid = row[POSITION] * open * b.funding(t);
          row[CASH] -= paid;
          row[FUNDING] += paid;
        }
        cancelled = liquidate_at_open(b, t, open, c);
      }
      o.fill(*this, b, t, open, cancelled, c);
      if (B::any(row[POSITION] != 0)) exits(b, t, open, c);
      tally(b.close(t), b.market_return(t));
    }
    row[EVENTS] = __builtin_convertvector(events, V);
  }
};

}  // namespace backtest
