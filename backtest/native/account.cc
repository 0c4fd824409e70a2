// The account step and the tally of many accounts over many bars: what backtest/episode.py and backtest/tally.py say,
// in vector registers. A block of W accounts stays in registers while its bars pass by; what is rare (orders, exits,
// funding) is branched over when no account of the block needs it.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

namespace {

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

template <typename T> struct Signed;
template <> struct Signed<double> { using type = int64_t; };
template <> struct Signed<float> { using type = int32_t; };

template <typename T, int W> struct Block {
  using I = typename Signed<T>::type;
  typedef T V __attribute__((vector_size(W * sizeof(T))));
  typedef I M __attribute__((vector_size(W * sizeof(T))));
  typedef int32_t K __attribute__((vector_size(W * sizeof(int32_t))));

  static V splat(T x) { return V{} + x; }
  static V load(const T* p) { V v; std::memcpy(&v, p, sizeof v); return v; }
  static void store(T* p, V v) { std::memcpy(p, &v, sizeof v); }
  static bool any(M m) {
#ifdef __AVX512DQ__
    if constexpr (sizeof(M) == 64) {
      __m512i bits;
      std::memcpy(&bits, &m, sizeof bits);
      return sizeof(T) == 8 ? _mm512_movepi64_mask(bits) != 0 : _mm512_movepi32_mask(bits) != 0;
    }
#endif
    I all = 0;
    for (int i = 0; i < W; ++i) all |= m[i];
    return all != 0;
  }
  static V pick(M m, V a, V b) { return m ? a : b; }
  static V only(M m, V a) { return (V)((M)a & m); }
  static V abs(V a) { return (V)((M)a & std::numeric_limits<I>::max()); }
  static V min(V a, V b) { return a < b ? a : b; }
  static V max(V a, V b) { return a > b ? a : b; }
  static V root(V a) {
    V r;
    for (int i = 0; i < W; ++i) r[i] = std::sqrt(a[i]);
    return r;
  }
  static M finite(V a) { return abs(a) <= std::numeric_limits<T>::max(); }
  static M given(V a) { return a == a; }
};

template <typename T> struct Costs {
  T fee, slippage, impact, band, leverage, maintenance, liquidation_fee, minimum;
  explicit Costs(const T* r)
      : fee(r[0] * T(1e-4)), slippage(r[1] * T(1e-4)), impact(r[2] * T(1e-4)), band(r[3] * T(1e-4)),
        leverage(r[4]), maintenance(r[5]), liquidation_fee(r[6] * T(1e-4)), minimum(r[7]) {}
};

template <typename T> struct Bars {
  const T *open, *high, *low, *close, *volume, *funding;
  const T* market_return;  // null when the product with it is not asked for
  int64_t lanes;  // 1 when all accounts trade one market
};

template <typename T> struct Orders {
  const int32_t* kind;
  const T *size, *stop, *take;  // stop and take may be null: no order has any
};

template <typename T, int W> struct Accounts : Block<T, W> {
  using B = Block<T, W>;
  using V = typename B::V;
  using M = typename B::M;
  using I = typename B::I;
  V row[ROWS];
  M events;

  static V one() { return B::splat(1); }
  static V nan() { return B::splat(std::numeric_limits<T>::quiet_NaN()); }
  void flag(M where, I event) { events |= where & event; }
  void count(Row r, M where) { row[r] += B::only(where, one()); }

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
    row[STOP] = B::pick(where, nan(), row[STOP]);
    row[TAKE] = B::pick(where, nan(), row[TAKE]);
  }

  template <typename At>
  M liquidate_at_open(V open, const T* volume, int64_t t, const At& at, const Costs<T>& c) {
    V position = row[POSITION];
    M broken = (position != 0) & (row[CASH] + position * open <= c.maintenance * B::abs(position) * open);
    if (B::any(broken)) {
      leave(broken, open, at(volume, t), B::splat(c.fee + c.liquidation_fee), c);
      count(LIQUIDATIONS, broken);
      flag(broken, LIQUIDATED | ORDER_CANCELLED);
    }
    return broken;
  }

  void order(M kind, V size, V open, V volume, M cancelled, const Costs<T>& c) {
    V old = row[POSITION], held = old * open;
    V equity = B::max(row[CASH] + held, V{});
    V limit = c.leverage * equity;
    M buys = kind == BUY, sells = kind == SELL, closes = kind == CLOSE, targets = kind == TARGET;
    M sized = (((buys | sells) & (size > 0)) | targets) & B::finite(size);
    M refused = ~(sized | closes | (kind == HOLD)) & ~cancelled;
    V amount = size * equity;
    V asked = B::pick(buys, held + amount, B::pick(sells, held - amount, amount));
    V highest = B::pick(buys, B::max(limit, held), limit);
    V lowest = B::pick(sells, B::min(-limit, held), -limit);
    V goal = B::pick(sells, asked, B::min(asked, highest));
    goal = B::pick(buys, goal, B::max(goal, lowest));
    goal = B::pick(closes, V{}, goal);
    M active = (sized | closes) & ~cancelled;
    flag(active & sized & (goal != asked), ORDER_CUT);
    flag(refused, ORDER_REFUSED);
    count(REFUSALS, refused);
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
    row[STOP] = B::pick(fresh, nan(), row[STOP]);
    row[TAKE] = B::pick(fresh, nan(), row[TAKE]);
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

  template <typename At>
  void exits(V open, V high, V low, const T* volume, int64_t t, const At& at, const Costs<T>& c) {
    V position = row[POSITION], size = B::abs(position);
    M held = position != 0, is_long = position > 0;
    V adverse_price = B::pick(is_long, low, high), best_price = B::pick(is_long, high, low);
    // Wide enough never to miss what the exact comparison below finds.
    const T slack = sizeof(T) == 8 ? T(1e-9) : T(1e-4);
    V notional = size * adverse_price;
    M near = row[CASH] + position * adverse_price <= (c.maintenance + slack) * notional;
    M stop_hit = B::pick(is_long, low - row[STOP], row[STOP] - high) <= 0;
    M take_hit = B::pick(is_long, row[TAKE] - high, low - row[TAKE]) <= 0;
    if (!B::any(held & (near | stop_hit | take_hit))) return;
    V side = B::pick(is_long, one(), -one());
    V worst = side * adverse_price, best = side * best_price;
    V net = B::pick(held, position - c.maintenance * size, one());
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
    leave(out, B::pick(out, price, open), at(volume, t), fee_rate, c);
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

  void pass(const Bars<T>& b, const Orders<T>& o, int64_t bars, int64_t lanes, int64_t lane, const Costs<T>& c) {
    auto at = [&](const T* p, int64_t t) {
      if (b.lanes == 1) return B::splat(p[t]);
      const T* here = p + t * b.lanes + lane;
      // The same bar of the next block: rows lie far apart, which the hardware does not foresee.
      __builtin_prefetch(here + W);
      return B::load(here);
    };
    for (int64_t t = 0; t < bars; ++t) {
      V open = at(b.open, t), rate = at(b.funding, t);
      M cancelled = M{};
      events = M{};
      if (B::any(row[POSITION] != 0)) {
        if (B::any(rate != 0)) {
          V paid = row[POSITION] * open * rate;
          row[CASH] -= paid;
          row[FUNDING] += paid;
        }
        cancelled = liquidate_at_open(open, b.volume, t, at, c);
      }
      typename B::K narrow;
      std::memcpy(&narrow, o.kind + t * lanes + lane, sizeof narrow);
      M kind = __builtin_convertvector(narrow, M);
      if (B::any(kind != HOLD))
        order(kind, B::load(o.size + t * lanes + lane), open, at(b.volume, t), cancelled, c);
      if (o.stop || o.take) {
        V stop = o.stop ? B::load(o.stop + t * lanes + lane) : nan();
        V take = o.take ? B::load(o.take + t * lanes + lane) : nan();
        if (B::any(B::given(stop) | B::given(take))) place(stop, take, open, cancelled);
      }
      if (B::any(row[POSITION] != 0)) exits(open, at(b.high, t), at(b.low, t), b.volume, t, at, c);
      tally(at(b.close, t), b.market_return ? at(b.market_return, t) : nan());
    }
    row[EVENTS] = __builtin_convertvector(events, V);
  }
};

template <typename T, int W>
void run(const T* state, T* out, const Bars<T>& b, const Orders<T>& o, int64_t bars, int64_t lanes, const Costs<T>& c) {
  for (int64_t next = 0; next < lanes; next += W) {
    // The last block reaches back over accounts that were done already: the same once more, from the same start.
    const int64_t lane = next + W <= lanes ? next : lanes - W;
    Accounts<T, W> accounts;
    for (int r = 0; r < ROWS; ++r) accounts.row[r] = Block<T, W>::load(state + r * lanes + lane);
    accounts.pass(b, o, bars, lanes, lane, c);
    for (int r = 0; r < ROWS; ++r) Block<T, W>::store(out + r * lanes + lane, accounts.row[r]);
  }
}

template <ffi::DataType D> using In = ffi::Buffer<D, 2>;

template <typename T, ffi::DataType D>
ffi::Error Account(In<D> state, In<D> open, In<D> high, In<D> low, In<D> close, In<D> volume, In<D> funding,
                   In<D> market_return, ffi::Buffer<ffi::S32, 2> kind, In<D> size, In<D> stop, In<D> take,
                   ffi::Buffer<D, 1> rules, ffi::Buffer<ffi::S32, 0> start, ffi::ResultBuffer<D, 2> out) {
  const int64_t lanes = state.dimensions()[1], bars = kind.dimensions()[0], wide = open.dimensions()[1];
  const int64_t first = start.typed_data()[0];
  constexpr int W = 64 / sizeof(T);
  if (lanes < W) return ffi::Error::InvalidArgument("account: fewer accounts than a vector register holds");
  if (state.dimensions()[0] != ROWS || (wide != lanes && wide != 1) || rules.dimensions()[0] != 8)
    return ffi::Error::InvalidArgument("account: shapes do not fit each other");
  if (first < 0 || first + bars > open.dimensions()[0])
    return ffi::Error::InvalidArgument("account: there are orders for bars that the market does not have");
  auto from = [&](const In<D>& field) { return field.typed_data() + first * wide; };
  const T* returns = market_return.dimensions()[0] ? from(market_return) : nullptr;
  Bars<T> b{from(open), from(high), from(low), from(close), from(volume), from(funding), returns, wide};
  Orders<T> o{kind.typed_data(), size.typed_data(), stop.dimensions()[0] ? stop.typed_data() : nullptr,
              take.dimensions()[0] ? take.typed_data() : nullptr};
  Costs<T> c(rules.typed_data());
  run<T, W>(state.typed_data(), out->typed_data(), b, o, bars, lanes, c);
  return ffi::Error::Success();
}

}  // namespace

#define BIND(D) \
  ffi::Ffi::Bind().Arg<In<D>>().Arg<In<D>>().Arg<In<D>>().Arg<In<D>>().Arg<In<D>>().Arg<In<D>>().Arg<In<D>>() \
      .Arg<In<D>>().Arg<ffi::Buffer<ffi::S32, 2>>().Arg<In<D>>().Arg<In<D>>().Arg<In<D>>() \
      .Arg<ffi::Buffer<D, 1>>().Arg<ffi::Buffer<ffi::S32, 0>>().Ret<ffi::Buffer<D, 2>>()

XLA_FFI_DEFINE_HANDLER_SYMBOL(AccountF64, (Account<double, ffi::F64>), BIND(ffi::F64));
XLA_FFI_DEFINE_HANDLER_SYMBOL(AccountF32, (Account<float, ffi::F32>), BIND(ffi::F32));
