/* The practical floor of a backtest: one moving-average cross with fee, slippage, funding, leverage cap, stop,
   liquidation and the sums of all metrics, without a branch, eight accounts to a vector register. Compiled as C++ for the
   vector forms of ?: (-x c++ -O3 -march=native -ffast-math). */
#include <stdint.h>

#define ROWS 24
enum {
  FAST, SLOW, SIDE, CASH, POSITION, STOP, TRADE_EQUITY, EQUITY, TRADES, WINS, PROFIT, LOSS, TRADED, COSTS, FUNDING,
  S1, S2, S3, S4, DOWN, PEAK, DRAWDOWN, BELOW, LONGEST
};

#define W 8
typedef double V __attribute__((vector_size(W * sizeof(double))));
typedef double U __attribute__((vector_size(W * sizeof(double)), aligned(8)));

static inline V most(V a, V b) { return a > b ? a : b; }
static inline V least(V a, V b) { return a < b ? a : b; }
static inline V size_of(V a) { return a > -a ? a : -a; }

/* Candles are [bars][lanes]; state is [ROWS][lanes]; lanes is a multiple of W. */
extern "C" void backtest(
    int64_t bars, int64_t lanes, const double *open, const double *high, const double *low, const double *close,
    const double *funding, double fee, double slip, double leverage, double maintenance, double stop_distance, double *state
) {
    const V zero = {}, one = zero + 1.0, tiny = zero + 1e-300;
    for (int64_t i = 0; i < lanes; i += W) {
        V s[ROWS];
        for (int r = 0; r < ROWS; r++) s[r] = *(const U *)(state + r * lanes + i);
        for (int64_t t = 0; t < bars; t++) {
            const int64_t at = t * lanes + i;
            const V o = *(const U *)(open + at), h = *(const U *)(high + at), l = *(const U *)(low + at);
            const V c = *(const U *)(close + at), f = *(const U *)(funding + at);
            const V started = zero + (t > 0 ? 1.0 : 0.0);
            V position = s[POSITION], paid = position * o * f, cash = s[CASH] - paid;
            V equity = most(cash + position * o, zero), side = (s[FAST] > s[SLOW] ? one : -one) * started;
            V wanted = side != s[SIDE] ? side * (leverage < 1.0 ? leverage : 1.0) * equity / o : position;
            V traded = wanted - position, size = size_of(traded);
            V fill = o * (one + (traded > zero ? zero + slip : zero - slip));
            V closing = equity - size_of(position) * (o * slip + fee * fill), profit = closing - s[TRADE_EQUITY];
            V ends = position != zero ? (traded != zero ? one : zero) : zero;
            s[FUNDING] += paid;
            s[TRADES] += ends;
            s[WINS] += profit > zero ? ends : zero;
            s[PROFIT] += profit > zero ? ends * profit : zero;
            s[LOSS] -= profit > zero ? zero : ends * profit;
            s[TRADE_EQUITY] = traded != zero ? (ends > zero ? closing : equity) : s[TRADE_EQUITY];
            s[TRADED] += size * fill;
            s[COSTS] += size * (size_of(fill - o) + fee * fill);
            cash -= traded * fill + size * fill * fee;
            position = wanted;
            V stop = traded != zero ? o * (one - side * stop_distance) : s[STOP];
            V margin = -cash / (position - maintenance * size_of(position) + tiny);
            V level = position > zero ? most(stop, margin) : least(stop, margin);
            V reach = position > zero ? level - l : (position < zero ? h - level : -one);
            V out = reach >= zero ? one : zero;
            V leave = position > zero ? least(level, o) * (1.0 - slip) : most(level, o) * (1.0 + slip);
            V left = most(cash + position * leave - size_of(position) * leave * fee, zero), gain = left - s[TRADE_EQUITY];
            s[TRADED] += out * size_of(position) * leave;
            s[TRADES] += out;
            s[WINS] += gain > zero ? out : zero;
            s[PROFIT] += gain > zero ? out * gain : zero;
            s[LOSS] -= gain > zero ? zero : out * gain;
            cash = out > zero ? left : cash;
            position = out > zero ? zero : position;
            V now = most(cash + position * c, zero), change = now / s[EQUITY] - one, square = change * change;
            V peak = most(s[PEAK], now), below = now < peak ? s[BELOW] + one : zero;
            s[S1] += change;
            s[S2] += square;
            s[S3] += square * change;
            s[S4] += square * square;
            s[DOWN] += change < zero ? square : zero;
            s[DRAWDOWN] = most(s[DRAWDOWN], one - now / peak);
            s[PEAK] = peak;
            s[BELOW] = below;
            s[LONGEST] = most(s[LONGEST], below);
            s[EQUITY] = now;
            s[CASH] = cash;
            s[POSITION] = position;
            s[STOP] = stop;
            s[SIDE] = side;
            s[FAST] += 2.0 / 13.0 * (c - s[FAST]);
            s[SLOW] += 2.0 / 27.0 * (c - s[SLOW]);
        }
        for (int r = 0; r < ROWS; r++) *(U *)(state + r * lanes + i) = s[r];
    }
}
