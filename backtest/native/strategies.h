// The reference strategies of backtest/strategies, one struct each, under the same names. They see observed bars and ask
// for exposures (orders of kind TARGET); they never see the account.
#pragma once
#include <memory>

#include "candles.h"
#include "windows.h"

namespace backtest {

// The orders of one strategy: number t waits at the open of bar t of the chunk, the last one at the next chunk.
template <typename T> struct Orders {
  using B = Lanes<T>;
  using V = typename B::V;
  using M = typename B::M;
  V size[CHUNK + 1];
  M asks[CHUNK + 1];
  V stop[CHUNK + 1];
  bool stops;  // whether there is any to read

  template <typename Accounts, typename Bars, typename Costs>
  void fill(Accounts& a, const Bars& b, int64_t t, V open, M cancelled, const Costs& c) const {
    if (!B::any(asks[t])) return;
    a.target(asks[t], size[t], open, b.volume(t), cancelled, c);
    if (stops) a.place(B::pick(asks[t], stop[t], B::nan()), B::nan(), open, cancelled);
  }
};

template <typename T> struct Strategy {
  using V = typename Lanes<T>::V;
  double stop = std::numeric_limits<double>::quiet_NaN();  // distance of the stop-loss from the close, as a fraction of it; NaN for none
  virtual ~Strategy() = default;
  // Read `bars` observed bars and write the orders 1 to `bars`.
  virtual void decide(const Chunk<T>& seen, int bars, Orders<T>& orders) = 0;
};

// What all strategies have in common: Own says what it asks for after a bar.
template <typename T, typename Own> struct Decider : Strategy<T> {
  using B = Lanes<T>;
  using V = typename B::V;
  using M = typename B::M;
  bool started = false;

  void decide(const Chunk<T>& seen, int bars, Orders<T>& orders) final {
    Own own = std::move(static_cast<Own&>(*this));
    if (!own.started) own.start(seen);
    own.started = true;
    for (int t = 0; t < bars; ++t) own.next(seen, t, orders.asks[t + 1], orders.size[t + 1]);
    if (orders.stops)
      for (int t = 0; t < bars; ++t) {
        const V side = B::sign(orders.size[t + 1]);
        orders.stop[t + 1] = B::pick(side != 0, seen.close(t) * (T(1) - side * T(this->stop)), B::nan());
      }
    static_cast<Own&>(*this) = std::move(own);
  }
  void start(const Chunk<T>&) {}
};

// Those that trade when what they want changes.
template <typename T, typename Own> struct Follower : Decider<T, Own> {
  using typename Decider<T, Own>::V;
  using typename Decider<T, Own>::M;
  T exposure;
  V before{};

  explicit Follower(double exposure) : exposure(T(exposure)) {}
  void next(const Chunk<T>& seen, int t, M& asks, V& size) {
    const V wanted = static_cast<Own&>(*this).wanted(seen, t);
    asks = wanted != before;
    size = wanted * exposure;
    before = wanted;
  }
};

template <typename T> struct Flat : Decider<T, Flat<T>> {
  using M = typename Lanes<T>::M;
  explicit Flat(const double*) {}
  void next(const Chunk<T>&, int, M& asks, typename Lanes<T>::V&) { asks = M{}; }
};

template <typename T> struct BuyAndHold : Follower<T, BuyAndHold<T>> {
  explicit BuyAndHold(const double* p) : Follower<T, BuyAndHold<T>>(p[0]) {}
  typename Lanes<T>::V wanted(const Chunk<T>&, int) { return Lanes<T>::one(); }
};

template <typename T> struct Always : Decider<T, Always<T>> {
  T exposure;
  explicit Always(const double* p) : exposure(T(p[0])) {}
  void next(const Chunk<T>&, int, typename Lanes<T>::M& asks, typename Lanes<T>::V& size) {
    asks = ~typename Lanes<T>::M{};
    size = Lanes<T>::splat(exposure);
  }
};

template <typename T> struct RandomWalker : Decider<T, RandomWalker<T>> {
  using B = Lanes<T>;
  using V = typename B::V;
  using M = typename B::M;
  using U = typename B::U;
  uint32_t seed;
  T switch_rate, exposure;
  U state{};

  explicit RandomWalker(const double* p) : seed(uint32_t(p[0])), switch_rate(T(p[1])), exposure(T(p[2])) {}
  void start(const Chunk<T>& seen) {
    typedef float F __attribute__((vector_size(B::W * sizeof(float))));
    state = ((U)__builtin_convertvector(seen.close(0), F) ^ seed) * 2246822519u;
    state = state == 0 ? U{} + 1 : state;
  }
  void next(const Chunk<T>&, int, M& asks, V& size) {
    asks = uniform() < switch_rate;
    size = exposure * (T(2) * uniform() - T(1));
  }
  V uniform() {  // xorshift, Marsaglia 2003
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return __builtin_convertvector(state, V) * T(2.3283064365386963e-10);
  }
};

template <typename T> struct Average {  // exponential, started at the first value
  typename Lanes<T>::V mean{};
  T weight;
  explicit Average(double window) : weight(T(2.0 / (window + 1.0))) {}
  typename Lanes<T>::V push(typename Lanes<T>::V value) { return mean += weight * (value - mean); }
};

template <typename T> struct MovingAverageCross : Follower<T, MovingAverageCross<T>> {
  Average<T> fast, slow;
  explicit MovingAverageCross(const double* p) : Follower<T, MovingAverageCross<T>>(p[2]), fast(p[0]), slow(p[1]) {}
  void start(const Chunk<T>& seen) { fast.mean = slow.mean = seen.close(0); }
  typename Lanes<T>::V wanted(const Chunk<T>& seen, int t) {
    return Lanes<T>::sign(fast.push(seen.close(t)) - slow.push(seen.close(t)));
  }
};

template <typename T> struct Macd : Follower<T, Macd<T>> {
  Average<T> fast, slow, signal;
  explicit Macd(const double* p) : Follower<T, Macd<T>>(p[3]), fast(p[0]), slow(p[1]), signal(p[2]) {}
  void start(const Chunk<T>& seen) { fast.mean = slow.mean = seen.close(0); }
  typename Lanes<T>::V wanted(const Chunk<T>& seen, int t) {
    const auto line = fast.push(seen.close(t)) - slow.push(seen.close(t));
    return Lanes<T>::sign(line - signal.push(line));
  }
};

template <typename T> struct DonchianBreakout : Follower<T, DonchianBreakout<T>> {
  using V = typename Lanes<T>::V;
  Greatest<T> highs;
  Least<T> lows;
  explicit DonchianBreakout(const double* p)
      : Follower<T, DonchianBreakout<T>>(p[1]), highs(int(p[0])), lows(int(p[0])) {}
  V wanted(const Chunk<T>& seen, int t) {
    V side = this->before;
    if (highs.full()) {
      side = Lanes<T>::pick(seen.close(t) < lows.result(), -Lanes<T>::one(), side);
      side = Lanes<T>::pick(seen.close(t) > highs.result(), Lanes<T>::one(), side);
    }
    highs.push(seen.high(t));
    lows.push(seen.low(t));
    return side;
  }
};

// Long below, short above, flat again once the middle is crossed: how all three reversal traders go on.
template <typename T>
typename Lanes<T>::V reversed(typename Lanes<T>::V side, typename Lanes<T>::M below, typename Lanes<T>::M above,
                              typename Lanes<T>::M recovered, typename Lanes<T>::M fallen) {
  using B = Lanes<T>;
  const auto done = ((side > 0) & recovered) | ((side < 0) & fallen);
  return B::pick(below, B::one(), B::pick(above, -B::one(), B::pick(done, typename B::V{}, side)));
}

// Relative strength as gains over gains and losses, both means of the moves since the bar before.
template <typename T> struct Strength {
  using B = Lanes<T>;
  using V = typename B::V;
  int window, seen = 0;
  V close{}, gains{}, losses{};
  explicit Strength(double window) : window(int(window)) {}
  void push(V now) {
    if (seen) {
      const T weight = T(1) / T(std::min(seen, window));
      gains += (B::max(now - close, V{}) - gains) * weight;
      losses += (B::max(close - now, V{}) - losses) * weight;
    }
    close = now;
    ++seen;
  }
  bool ready() const { return seen > window; }
  V total() const { return gains + losses; }
};

template <typename T> struct RsiReversal : Follower<T, RsiReversal<T>> {
  using V = typename Lanes<T>::V;
  Strength<T> strength;
  T low, high;
  explicit RsiReversal(const double* p)
      : Follower<T, RsiReversal<T>>(p[3]), strength(p[0]), low(T(p[1])), high(T(p[2])) {}
  V wanted(const Chunk<T>& seen, int t) {
    strength.push(seen.close(t));
    if (!strength.ready()) return this->before;
    // Comparisons with 100 gains / total, without the division; no move at all is a strength of 50.
    const V gains = T(100) * strength.gains, total = strength.total();
    return reversed<T>(this->before, gains < low * total, gains > high * total, gains >= T(50) * total,
                       gains <= T(50) * total);
  }
};

template <typename T> struct RsiDivergence : Follower<T, RsiDivergence<T>> {
  using B = Lanes<T>;
  using V = typename B::V;
  Strength<T> strength;
  Least<T> lowest, weakest;
  Greatest<T> highest, strongest;
  explicit RsiDivergence(const double* p)
      : Follower<T, RsiDivergence<T>>(p[2]), strength(p[0]), lowest(int(p[1])), weakest(int(p[1])),
        highest(int(p[1])), strongest(int(p[1])) {}
  V wanted(const Chunk<T>& seen, int t) {
    const V close = seen.close(t);
    strength.push(close);
    V side = this->before;
    if (strength.ready()) {
      const V total = strength.total();
      const V value = B::pick(total > 0, T(100) * strength.gains / total, B::splat(50));
      typename B::M bull{}, bear{};
      if (weakest.full()) {
        bull = (close < lowest.result()) & (value > weakest.result() + T(5)) & (value < 50);
        bear = (close > highest.result()) & (value < strongest.result() - T(5)) & (value > 50);
      }
      side = reversed<T>(side, bull, bear, value >= 50, value <= 50);
      weakest.push(value);
      strongest.push(value);
    }
    lowest.push(close);
    highest.push(close);
    return side;
  }
};

template <typename T> struct Grid : Follower<T, Grid<T>> {
  using B = Lanes<T>;
  T spacing, levels;
  Average<T> anchor;
  explicit Grid(const double* p) : Follower<T, Grid<T>>(p[3] / p[1]), spacing(T(p[0])), levels(T(p[1])), anchor(p[2]) {}
  void start(const Chunk<T>& seen) { anchor.mean = seen.close(0); }
  typename B::V wanted(const Chunk<T>& seen, int t) {
    const auto steps = B::nearest(B::log(anchor.push(seen.close(t)) / seen.close(t)) / spacing);
    return B::max(B::min(steps, B::splat(levels)), B::splat(-levels));
  }
};

template <typename T> struct BollingerReversal : Follower<T, BollingerReversal<T>> {
  using B = Lanes<T>;
  using V = typename B::V;
  Sum<T> closes;
  T inverse, deviations;
  explicit BollingerReversal(const double* p)
      : Follower<T, BollingerReversal<T>>(p[2]), closes(int(p[0])), inverse(T(1.0 / p[0])), deviations(T(p[1])) {}
  V wanted(const Chunk<T>& seen, int t) {
    const V close = seen.close(t);
    closes.push(close);
    if (!closes.full()) return this->before;
    const V middle = closes.result() * inverse;
    V squares{};
    for (const V& each : closes.values()) squares += (each - middle) * (each - middle);
    const V width = deviations * B::root(squares * inverse);
    return reversed<T>(this->before, close < middle - width, close > middle + width, close >= middle, close <= middle);
  }
};

template <typename T> struct VolatilityTarget : Follower<T, VolatilityTarget<T>> {
  using B = Lanes<T>;
  using V = typename B::V;
  Sum<T> squares;
  T volatility, largest, band, per_year;
  V close{};
  explicit VolatilityTarget(const double* p)
      : Follower<T, VolatilityTarget<T>>(1.0), squares(int(p[1])), volatility(T(p[0])), largest(T(p[2])), band(T(p[3])),
        per_year(T(p[4] / p[1])) {}
  V wanted(const Chunk<T>& seen, int t) {
    if (close[0] > 0) {
      const V change = B::log(seen.close(t) / close);
      squares.push(change * change);
    }
    close = seen.close(t);
    if (!squares.full()) return this->before;
    const V fitting = B::min(volatility / B::root(squares.result() * per_year), B::splat(largest));
    return B::pick(B::abs(fitting - this->before) > band, fitting, this->before);
  }
};

template <typename T> struct Carry : Follower<T, Carry<T>> {
  using B = Lanes<T>;
  using V = typename B::V;
  Sum<T> rates;
  T threshold, per_year;
  explicit Carry(const double* p)
      : Follower<T, Carry<T>>(p[2]), rates(int(p[0])), threshold(T(p[1])), per_year(T(p[3] / p[0])) {}
  V wanted(const Chunk<T>& seen, int t) {
    rates.push(seen.funding(t));
    if (!rates.full()) return V{};
    const V paid = rates.result() * per_year;
    return B::pick(paid > threshold, -B::one(), B::pick(paid < -threshold, B::one(), V{}));
  }
};

// By the names of backtest.native.RULES, in that order; null for a number beyond them.
template <typename T> std::unique_ptr<Strategy<T>> make(int rule, const double* p) {
  switch (rule) {
    case 0: return std::make_unique<Flat<T>>(p);
    case 1: return std::make_unique<BuyAndHold<T>>(p);
    case 2: return std::make_unique<Always<T>>(p);
    case 3: return std::make_unique<RandomWalker<T>>(p);
    case 4: return std::make_unique<MovingAverageCross<T>>(p);
    case 5: return std::make_unique<Macd<T>>(p);
    case 6: return std::make_unique<DonchianBreakout<T>>(p);
    case 7: return std::make_unique<RsiReversal<T>>(p);
    case 8: return std::make_unique<RsiDivergence<T>>(p);
    case 9: return std::make_unique<Grid<T>>(p);
    case 10: return std::make_unique<BollingerReversal<T>>(p);
    case 11: return std::make_unique<VolatilityTarget<T>>(p);
    case 12: return std::make_unique<Carry<T>>(p);
    default: return nullptr;
  }
}

}  // namespace backtest
