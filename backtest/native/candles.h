// Bars as the account and the strategies of a block of W lanes read them.
#pragma once
#include <algorithm>

#include "registers.h"

namespace backtest {

constexpr int CHUNK = 64;  // bars at a time: the candles of a block stay in the cache while all strategies pass by

// One market that all accounts trade, read where it lies.
template <typename T> struct Shared {
  using B = Lanes<T>;
  using V = typename B::V;
  const double *opens, *highs, *lows, *closes, *volumes, *rates;
  const double* returns;  // null when the product with it is not asked for

  V open(int64_t t) const { return B::splat(T(opens[t])); }
  V high(int64_t t) const { return B::splat(T(highs[t])); }
  V low(int64_t t) const { return B::splat(T(lows[t])); }
  V close(int64_t t) const { return B::splat(T(closes[t])); }
  V volume(int64_t t) const { return B::splat(T(volumes[t])); }
  V funding(int64_t t) const { return B::splat(T(rates[t])); }
  bool pays(int64_t t) const { return rates[t] != 0; }
  V market_return(int64_t t) const { return returns ? B::splat(T(returns[t])) : B::nan(); }
};

// Some bars of fields [lanes, bars], turned so that a bar of all lanes of the block is one register.
template <typename T> struct Chunk {
  using B = Lanes<T>;
  using V = typename B::V;
  static constexpr int W = B::W;
  enum Field { OPEN, HIGH, LOW, CLOSE, VOLUME, FUNDING, FIELDS };
  V field[FIELDS][CHUNK];
  bool pay[CHUNK];

  V open(int64_t t) const { return field[OPEN][t]; }
  V high(int64_t t) const { return field[HIGH][t]; }
  V low(int64_t t) const { return field[LOW][t]; }
  V close(int64_t t) const { return field[CLOSE][t]; }
  V volume(int64_t t) const { return field[VOLUME][t]; }
  V funding(int64_t t) const { return field[FUNDING][t]; }
  bool pays(int64_t t) const { return pay[t]; }
  V market_return(int64_t) const { return B::nan(); }

  // Row `lane` of a field begins at `from + lane * stride`; the block holds `lanes`, the last of them repeated.
  void turn(Field f, const double* from, int64_t stride, int lanes, int64_t first, int bars) {
    const double* row[W];
    for (int i = 0; i < W; ++i) row[i] = from + std::min(i, lanes - 1) * stride + first;
    for (int t = 0; t < bars; t += W) {
      V square[W];
      const int left = std::min(W, bars - t);
      if (left == W) {
        typedef double D __attribute__((vector_size(W * sizeof(double))));
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) {
          D d;
          std::memcpy(&d, row[i] + t, sizeof d);
          // The same bars of the next chunk: rows lie far apart, which the hardware does not foresee.
          __builtin_prefetch(row[i] + t + CHUNK);
          square[i] = __builtin_convertvector(d, V);
        }
      } else {
        for (int i = 0; i < W; ++i)
          for (int j = 0; j < W; ++j) square[i][j] = T(row[i][t + std::min(j, left - 1)]);
      }
      transpose(square);
      for (int j = 0; j < left; ++j) field[f][t + j] = square[j];
    }
  }

  // All fields, as turn() does one.
  void turn_all(const double* const (&from)[FIELDS], int64_t stride, int lanes, int64_t first, int bars) {
    for (int f = 0; f < FIELDS; ++f) turn(static_cast<Field>(f), from[f], stride, lanes, first, bars);
    for (int t = 0; t < bars; ++t) pay[t] = B::any(field[FUNDING][t] != 0);
  }

 private:
  static V even(V a, V b) {
    using M = typename B::M;
    M where;
    for (int i = 0; i < W; ++i) where[i] = i / 2 + (i % 2) * W;
    return __builtin_shuffle(a, b, where);
  }
  static V odd(V a, V b) {
    using M = typename B::M;
    M where;
    for (int i = 0; i < W; ++i) where[i] = W / 2 + i / 2 + (i % 2) * W;
    return __builtin_shuffle(a, b, where);
  }
  // Dealing the first half of the rows with the second, as often as W can be halved, turns rows into columns.
  static void transpose(V (&rows)[W]) {
#pragma GCC unroll 4
    for (int round = 1; round < W; round *= 2) {
      V dealt[W];
#pragma GCC unroll 8
      for (int i = 0; i < W / 2; ++i) {
        dealt[2 * i] = even(rows[i], rows[i + W / 2]);
        dealt[2 * i + 1] = odd(rows[i], rows[i + W / 2]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) rows[i] = dealt[i];
    }
  }
};

}  // namespace backtest
