// The last N values of a series: what native/windows.py says, in a few operations a value.
#pragma once
#include "lanes.h"

// Sum, greatest or least of the last N values. Values are kept in blocks of N: what is in the window is the tail of the
// block before and the head of this one. Tails are combined once a block, from its end; no value is ever taken out of a
// sum again, so nothing drifts.
template <typename V, int N, V combine(V, V)> struct Tail {
  V tail[N], head;
  void push(V value, const V* values, int next) {
    head = next ? combine(head, value) : value;
    if (next < N - 1) return;
    tail[N - 1] = values[N - 1];
    for (int i = N - 2; i >= 0; --i) tail[i] = combine(values[i], tail[i + 1]);
  }
  V result(int next) const { return next ? combine(tail[next], head) : tail[0]; }
};
struct Nothing {
  template <typename... T> void push(T...) {}
};
template <typename V> INLINE V plus(V a, V b) { return a + b; }

template <typename V, int N, bool SUM, bool LEAST, bool GREATEST> struct Ring {
  V values[N];
  std::conditional_t<SUM, Tail<V, N, plus<V>>, Nothing> sums;
  std::conditional_t<LEAST, Tail<V, N, lesser<V>>, Nothing> leasts;
  std::conditional_t<GREATEST, Tail<V, N, greater<V>>, Nothing> greatests;
  int next = 0;
  bool full = false;

  void push(V value) {
    values[next] = value;
    sums.push(value, values, next);
    leasts.push(value, values, next);
    greatests.push(value, values, next);
    if (++next == N) next = 0, full = true;
  }
  static V missing() { return splat<V>(std::numeric_limits<double>::quiet_NaN()); }
  V sum() const { return full ? sums.result(next) : missing(); }
  V least() const { return full ? leasts.result(next) : missing(); }
  V greatest() const { return full ? greatests.result(next) : missing(); }
  V squares(V centre) const {
    V total{};
    for (int i = 0; i < N; ++i) total += (values[i] - centre) * (values[i] - centre);
    return full ? total : missing();
  }
};
