// Numbers of W lanes side by side, as the compiler's vectors: one name for every instruction set. Whoever includes this
// says first what W is, and what type a condition has (`MASK`: a signed integer as wide as the widest number).
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

template <typename T> struct Of { typedef T V __attribute__((vector_size(W * sizeof(T)))); };
using f64 = Of<double>::V;
using f32 = Of<float>::V;
using i64 = Of<int64_t>::V;
using i32 = Of<int32_t>::V;
using u64 = Of<uint64_t>::V;
using u32 = Of<uint32_t>::V;
using u8 = Of<uint8_t>::V;
using mask = Of<MASK>::V;

// A minus keeps the sign of a zero, which a plus would lose.
template <typename V> using Number = std::remove_reference_t<decltype(std::declval<V&>()[0])>;
template <typename V, typename T> INLINE V splat(T x) { return Number<V>(x) - V{}; }
template <> inline __attribute__((always_inline)) mask splat<mask, bool>(bool x) { return mask{} - MASK(x); }
template <typename V> INLINE V load(const void* p) { V v; std::memcpy(&v, p, sizeof v); return v; }
template <typename V> INLINE void store(void* p, V v) { std::memcpy(p, &v, sizeof v); }
INLINE mask load_bools(const void* p) { return -__builtin_convertvector(load<u8>(p), mask); }
INLINE void store_bools(void* p, mask m) { store(p, __builtin_convertvector(-m, u8)); }

INLINE bool any(mask m) {
#ifdef __AVX512DQ__
  if constexpr (sizeof(mask) == 64) {
    __m512i bits;
    std::memcpy(&bits, &m, sizeof bits);
    return (sizeof(MASK) == 8 ? _mm512_movepi64_mask(bits) : _mm512_movepi32_mask(bits)) != 0;
  }
#endif
  MASK all = 0;
  for (int i = 0; i < W; ++i) all |= m[i];
  return all != 0;
}

template <typename To, typename V> INLINE To convert(V v) { return __builtin_convertvector(v, To); }

template <typename V> INLINE V pick(mask m, V a, V b) {
  if constexpr (sizeof(V) == sizeof(mask)) return m ? a : b;
  else if constexpr (sizeof(V) < sizeof(mask)) return convert<i32>(m) ? a : b;
  else return convert<i64>(m) ? a : b;
}
template <typename V> INLINE V pick(bool m, V a, V b) { return m ? a : b; }

// Greater and lesser of two; NaN where one is.
template <typename V> INLINE V greater(V a, V b) { return (a > b) | (a != a) ? a : b; }
template <typename V> INLINE V lesser(V a, V b) { return (a < b) | (a != a) ? a : b; }
INLINE double greater(double a, double b) { return a > b || a != a ? a : b; }
INLINE double lesser(double a, double b) { return a < b || a != a ? a : b; }

INLINE f64 absolute(f64 a) { return (f64)((i64)a & std::numeric_limits<int64_t>::max()); }
INLINE f32 absolute(f32 a) { return (f32)((i32)a & std::numeric_limits<int32_t>::max()); }
// a * b + c, rounded once. Nothing else is fused: the compiler is told not to.
template <typename V> INLINE V fused(V a, V b, V c) {
#ifdef __AVX512F__
  if constexpr (std::is_same_v<V, f64> && sizeof(V) == 64) return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
  if constexpr (std::is_same_v<V, f32> && sizeof(V) == 64) return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#endif
  V r;
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) r[i] = std::fma(a[i], b[i], c[i]);
  return r;
}

template <typename V> INLINE V absolute(V a) { return a < 0 ? -a : a; }
template <typename V> INLINE V sign(V a) { return a > 0 ? V{} + 1 : (a < 0 ? V{} - 1 : a); }

// A function of the C library, a lane at a time (the compiler has an instruction for some of them).
template <typename F, typename V> INLINE V each(F function, V a) {
  V r;
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) r[i] = function(a[i]);
  return r;
}
template <typename F, typename V> INLINE V each(F function, V a, V b) {
  V r;
  for (int i = 0; i < W; ++i) r[i] = function(a[i], b[i]);
  return r;
}

// Sum of c[i] x^i in two chains of half the length: these loops wait for latency, not for arithmetic.
template <typename V, typename T, int N> INLINE V polynomial(const T (&c)[N], V x) {
  constexpr int half = 4;
  V high = splat<V>(c[N - 1]), low = splat<V>(c[half - 1]);
#pragma GCC unroll 16
  for (int i = N - 2; i >= half; --i) high = fused(high, x, splat<V>(c[i]));
#pragma GCC unroll 16
  for (int i = half - 2; i >= 0; --i) low = fused(low, x, splat<V>(c[i]));
  const V second = x * x;
  return fused(high, second * second, low);
}

// exp(x) = 2^n exp(r) with |r| <= log(2) / 2, to about one unit in the last place; 0 below the smallest normal number.
INLINE f64 exponential(f64 x) {
  static constexpr double c[] = {  // (exp(r) - 1 - r) / r^2: a Chebyshev fit, relative error 1e-17
      0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717,
      0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06, 2.7620088445409746e-07,
      2.510038549551032e-08};
  const f64 shift = splat<f64>(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to a whole number
  f64 bounded = x < -708.0 ? splat<f64>(-708.0) : x;
  bounded = bounded > 709.8 ? splat<f64>(709.8) : bounded;
  const f64 shifted = fused(bounded, splat<f64>(1.4426950408889634), shift), n = shifted - shift;
  const f64 close = fused(-n, splat<f64>(0.693147180369123816490), bounded);
  const f64 r = fused(-n, splat<f64>(1.90821492927058770002e-10), close);
  const f64 tail = fused(r * r, polynomial(c, r), r);
  const f64 half = (f64)(((u64)shifted << 52) + (1022ull << 52));  // 2^(n - 1): 2^n itself may be too large
  const f64 value = 2.0 * fused(half, tail, half);
  return x < -708.0 ? f64{} : value;
}

INLINE f32 exponential(f32 x) {
  static constexpr float c[] = {0.5f, 0.16666576989698775f, 0.041666554617204574f, 0.008363179052722578f,
                                0.0013926183587713494f};
  const f32 shift = splat<f32>(12582912.0f);
  f32 bounded = x < -87.0f ? splat<f32>(-87.0f) : x;
  bounded = bounded > 88.8f ? splat<f32>(88.8f) : bounded;
  const f32 shifted = fused(bounded, splat<f32>(1.44269504f), shift), n = shifted - shift;
  const f32 r = fused(n, splat<f32>(2.12194440e-4f), fused(-n, splat<f32>(0.693359375f), bounded));
  const f32 tail = fused(r * r, polynomial(c, r), r);
  const f32 half = (f32)(((u32)shifted << 23) + (126u << 23));
  const f32 value = 2.0f * fused(half, tail, half);
  return x < -87.0f ? f32{} : value;
}

// Natural logarithm to about one unit in the last place: x = 2^k m with m next to 1 and log(m) = 2 atanh(s) for
// s = (m - 1) / (m + 1), the leading term kept exact. `c` holds the series of atanh, cut where it no longer counts.
// Numbers below the smallest normal one are 0, as they are to XLA.
template <typename V, typename I, typename T, int N>
INLINE V logarithm(V x, const T (&c)[N], int fraction, T ln2_high, T ln2_low) {
  const I half = (I)splat<V>(T(0.70710678118654752440));
  const I k = ((I)x - half) >> fraction;
  const V m = (V)((I)x - (k << fraction)), exponent = convert<V>(k);
  const V f = m - T(1), s = f / (m + T(1)), z = s * s;
  const V tail = s * fused(T(-2) * z, polynomial(c, z), f);
  V value = fused(exponent, splat<V>(ln2_high), f - fused(-exponent, splat<V>(ln2_low), tail));
  value = x < std::numeric_limits<T>::min() ? splat<V>(-std::numeric_limits<T>::infinity()) : value;
  value = x > std::numeric_limits<T>::max() ? x : value;
  return x < V{} ? splat<V>(std::numeric_limits<T>::quiet_NaN()) : (x == x ? value : x);
}
INLINE f64 logarithm(f64 x) {
  static constexpr double c[] = {  // atanh(s) = s + s^3 (1/3 + z/5 + ...), economised on |s| <= 0.1716
      0.3333333333333333, 0.2000000000000044, 0.14285714285401616, 0.11111111195900235, 0.09090897815442374,
      0.07693120102906854, 0.06634379834277701, 0.06543383504997692};
  return logarithm<f64, i64>(x, c, 52, 0.693147180369123816490, 1.90821492927058770002e-10);
}
INLINE f32 logarithm(f32 x) {
  static constexpr float c[] = {0.333333333f, 0.2f, 0.142857143f, 0.111111111f, 0.0909090909f};
  return logarithm<f32, i32>(x, c, 23, 0.693359375f, -2.12194440e-4f);
}
