// What a loop over bars reads and writes: some bars of a block of markets, and the orders that wait at their opens.
#pragma once
#include <algorithm>
#include <type_traits>

#include "lanes.h"

using V = Of<NUMBER>::V;

constexpr int CHUNK = 64;  // bars at a time: the candles of a block stay in the cache while all strategies pass by

enum Field { OPEN, HIGH, LOW, CLOSE, VOLUME, FUNDING_RATE, FIELDS };

// Orders of one strategy: number t waits at the open of bar t of the chunk, the last one at the next chunk.
struct Orders {
  i32 kind[CHUNK + 1];
  V size[CHUNK + 1], stop_loss[CHUNK + 1], take_profit[CHUNK + 1];
};

// Some bars of fields [lanes, bars], turned so that a bar of all lanes of the block is one register.
struct Chunk {
  V field[FIELDS][CHUNK];
  f64 time[CHUNK];

  // Row `lane` of a field begins at `from + lane * stride`; the block holds `lanes`, the last of them repeated.
  template <typename To> static void turn(To* to, const double* from, int64_t stride, int lanes, int bars) {
    const double* row[W];
    for (int i = 0; i < W; ++i) row[i] = from + std::min(i, lanes - 1) * stride;
    for (int t = 0; t < bars; t += W) {
      To square[W];
      const int left = std::min(W, bars - t);
      if (left == W) {
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) {
          // The same bars of the next chunk: rows lie far apart, which the hardware does not foresee. To the second
          // cache: where rows are a power of two apart they would throw each other out of the first.
          for (int line = 0; line < W; line += 8) __builtin_prefetch(row[i] + t + CHUNK + line, 0, 2);
          square[i] = convert<To>(load<f64>(row[i] + t));
        }
      } else {
        for (int i = 0; i < W; ++i)
          for (int j = 0; j < W; ++j) square[i][j] = (row[i][t + std::min(j, left - 1)]);
      }
      transpose(square);
      for (int j = 0; j < left; ++j) to[t + j] = square[j];
    }
  }

 private:
  template <bool ODD, typename To> static To dealt(To a, To b) {
    std::conditional_t<sizeof(To) == sizeof(i64), i64, i32> where;
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) where[i] = (ODD ? W / 2 : 0) + i / 2 + (i % 2) * W;
    return __builtin_shuffle(a, b, where);
  }
  // Dealing the first half of the rows with the second, as often as W can be halved, turns rows into columns.
  template <typename To> static void transpose(To (&rows)[W]) {
#pragma GCC unroll 4
    for (int round = 1; round < W; round *= 2) {
      To next[W];
#pragma GCC unroll 8
      for (int i = 0; i < W / 2; ++i) {
        next[2 * i] = dealt<false>(rows[i], rows[i + W / 2]);
        next[2 * i + 1] = dealt<true>(rows[i], rows[i + W / 2]);
      }
#pragma GCC unroll 16
      for (int i = 0; i < W; ++i) rows[i] = next[i];
    }
  }
};

// Bars `first` to `last` (excluded) of a chunk past the accounts of a block: `account` is one register a row.
using Settle = void(V* account, const Chunk* bars, const Orders* orders, int first, int last, const NUMBER* rules);
// The first bar that a strategy sees, and the bars that it decides after: the order decided after bar t is number t + 1.
using Begin = void(void* memory, const Chunk* seen, const double* p);
using Decide = void(void* memory, const Chunk* seen, Orders* orders, const V* account, int first, int last, const double* p);

struct Player {
  Begin* begin;
  Decide* decide;
  int64_t memory;       // bytes
  bool reads_account;
  bool has_brackets;    // whether it writes stop-losses and take-profits
};
