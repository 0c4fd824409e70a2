// Numbers of W lanes side by side, as the compiler's vectors: one name for every instruction set.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

namespace backtest {

template <typename T> struct Signed;
template <> struct Signed<double> { using type = int64_t; };
template <> struct Signed<float> { using type = int32_t; };

template <typename T> constexpr int WIDTH = 64 / sizeof(T);

template <typename T> struct Lanes {
  static constexpr int W = WIDTH<T>;
  using I = typename Signed<T>::type;
  typedef T V __attribute__((vector_size(W * sizeof(T))));
  typedef I M __attribute__((vector_size(W * sizeof(T))));
  typedef int32_t K __attribute__((vector_size(W * sizeof(int32_t))));
  typedef uint32_t U __attribute__((vector_size(W * sizeof(uint32_t))));

  static V splat(T x) { return V{} + x; }
  static V one() { return splat(1); }
  static V nan() { return splat(std::numeric_limits<T>::quiet_NaN()); }
  static V load(const T* p) { V v; std::memcpy(&v, p, sizeof v); return v; }
  static void store(T* p, V v) { std::memcpy(p, &v, sizeof v); }
  static bool any(M m) {
#ifdef __AVX512DQ__
    __m512i bits;
    std::memcpy(&bits, &m, sizeof bits);
    return sizeof(T) == 8 ? _mm512_movepi64_mask(bits) != 0 : _mm512_movepi32_mask(bits) != 0;
#else
    I all = 0;
    for (int i = 0; i < W; ++i) all |= m[i];
    return all != 0;
#endif
  }
  static V pick(M m, V a, V b) { return m ? a : b; }
  static V only(M m, V a) { return (V)((M)a & m); }
  static V abs(V a) { return (V)((M)a & std::numeric_limits<I>::max()); }
  static V sign(V a) { return pick(a > 0, one(), pick(a < 0, -one(), a)); }
  static V min(V a, V b) { return a < b ? a : b; }
  static V max(V a, V b) { return a > b ? a : b; }
  static V root(V a) {
    V r;
    for (int i = 0; i < W; ++i) r[i] = std::sqrt(a[i]);
    return r;
  }
  static V nearest(V a) {
    V r;
    for (int i = 0; i < W; ++i) r[i] = std::nearbyint(a[i]);
    return r;
  }
  static M finite(V a) { return abs(a) <= std::numeric_limits<T>::max(); }
  static M given(V a) { return a == a; }

  // Natural logarithm of normal numbers above 0, to about 2 units in the last place: m * 2^k with m next to 1, then
  // log(m) = 2 atanh((m - 1) / (m + 1)) by its series.
  static V log(V a) {
    constexpr int fraction = std::numeric_limits<T>::digits - 1;
    const M half = (M)splat(T(0.70710678118654752440));
    const M k = ((M)a - half) >> fraction;
    const V m = (V)((M)a - (k << fraction));
    const V s = (m - T(1)) / (m + T(1)), z = s * s;
    V series = splat(T(1) / 23);
    for (int odd = 21; odd >= 3; odd -= 2) series = series * z + T(1) / T(odd);
    const V exponent = __builtin_convertvector(k, V);
    // ln 2 in two parts: the first has so few digits that its product with k is exact.
    const T high = T(0.693145751953125), low = T(1.42860682030941723212e-6);
    return exponent * high + (T(2) * s + (T(2) * s * z * series + exponent * low));
  }
};

}  // namespace backtest
