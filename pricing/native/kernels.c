/* The formulas of moneyness.py, normal.py, out_of_the_money.py, black_scholes.py and implied_volatility.py as loops that
   a C compiler vectorises. No library function is called, branches are selections, and every loop runs over a block that
   stays in the first-level cache. The tests run both implementations on the same grids. */

#include <stdint.h>
#include <string.h>
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#if !defined(__FP_FAST_FMA)
#error "the compensated products need a fused multiply-add in hardware"
#endif

#define BLOCK 256
#define PAST_CACHE 32768
#define INLINE static inline __attribute__((always_inline))
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const double MILLS[] = {
    2.528215375728327,
    -3.133200115531754,
    2.7447682087575633,
    -1.6173302843263708,
    0.517156213468258,
    0.02758325330256269,
    -0.08757131825528304,
    0.009164711837382152,
    0.01585180255039732,
    -0.001924217842423693,
    -0.0035353996219569,
    2.4191741755252075e-05,
    0.0008455513493704158,
    0.00017515082124446984,
    -0.0001710649948407852,
    -9.630427634687243e-05,
    9.863788458577504e-06,
    3.28144839345031e-05,
    1.8518134561657662e-05,
    -1.3055204998669115e-05,
    -1.1856015077916327e-05,
    9.931215676866513e-06,
    -1.971107496378562e-06};
static const double ATANH[] = {
    0.3333333333333333,
    0.2000000000000044,
    0.14285714285401616,
    0.11111111195900235,
    0.09090897815442374,
    0.07693120102906854,
    0.06634379834277701,
    0.06543383504997692};
static const double QUANTILE[] = {
    0.5988080095128435,
    -0.7471625079210734,
    0.34259325034941573,
    -0.26094483915931804,
    0.1720177798177311,
    -0.13924752821878716,
    0.08933385888554062,
    -0.09392819652087567,
    0.13255533300813913,
    -0.11205735271392522,
    0.025401723497284635};
static const double EXPONENTIAL[] = {
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08};

static const double INVERSE_SQRT_TWO_PI = 0.3989422804014327;
static const double SQRT_THREE = 1.7320508075688772;
static const double PI = 3.141592653589793;
static const double LN2_HIGH = 0.693147180369123816490;
static const double LN2_LOW = 1.90821492927058770002e-10;
static const double FARTHEST = 60.0;
static const double SERIES_BELOW = 0.024;

INLINE double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE uint64_t to_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE double larger_of(double a, double b) { return a > b ? a : b; }

/* Low and high powers apart: two chains of dependent steps of half the length, as these loops wait for latency and not
   for arithmetic. (Even and odd powers would cancel against each other where the coefficients alternate.) */
#define POLYNOMIAL(name, table, half)                                                                 \
    INLINE double name(double x) {                                                                    \
        const int top = COUNT(table) - 1;                                                             \
        double second = x * x, fourth = second * second, power = half == 4 ? fourth : fourth * fourth; \
        double high = table[top], low = table[half - 1];                                              \
        _Pragma("GCC unroll 16") for (int i = top - 1; i >= half; i--)                                \
            high = __builtin_fma(high, x, table[i]);                                                  \
        _Pragma("GCC unroll 16") for (int i = half - 2; i >= 0; i--)                                  \
            low = __builtin_fma(low, x, table[i]);                                                    \
        return __builtin_fma(high, power, low);                                                       \
    }

POLYNOMIAL(mills_polynomial, MILLS, 8)
POLYNOMIAL(atanh_polynomial, ATANH, 4)
POLYNOMIAL(quantile_polynomial, QUANTILE, 4)
POLYNOMIAL(exponential_polynomial, EXPONENTIAL, 4)

/* value * exp(x), rounded once but for a small part of it; 0 below -708. */
INLINE double times_exponential(double value, double x) {
    const double shift = 6755399441055744.0;
    double bounded = x < -708.0 ? -708.0 : (x > 709.0 ? 709.0 : x);
    double shifted = bounded * 1.4426950408889634 + shift;
    double n = shifted - shift;
    double r = __builtin_fma(-n, LN2_LOW, __builtin_fma(-n, LN2_HIGH, bounded));
    double tail = __builtin_fma(r * r, exponential_polynomial(r), r);
    double scaled = value * from_bits((to_bits(shifted) << 52) + (1023ull << 52));
    return x < -708.0 ? 0.0 * value : __builtin_fma(scaled, tail, scaled);
}

INLINE double exponential(double x) { return times_exponential(1.0, x); }

/* Mantissa in [1, 2) and exponent, as doubles, of a positive normal number. */
INLINE double mantissa_of(double x) {
    return from_bits((to_bits(x) & 0x000FFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
}

INLINE double exponent_of(double x) {
    return from_bits((to_bits(x) >> 52) | 0x4330000000000000ull) - (4503599627370496.0 + 1023.0);
}

INLINE double logarithm(double x) {
    double mantissa = mantissa_of(x), exponent = exponent_of(x);
    int high = mantissa > 1.4142135623730951;
    mantissa = high ? 0.5 * mantissa : mantissa;
    exponent = high ? exponent + 1.0 : exponent;
    double f = mantissa - 1.0;
    double s = f / (mantissa + 1.0), z = s * s;
    /* 2 atanh(s) = f - s (f - 2 z P(z)) keeps the leading term exact. */
    double tail = s * (f - 2.0 * z * atanh_polynomial(z));
    return exponent * LN2_HIGH + (f - (tail - exponent * LN2_LOW));
}

/* Reciprocal of x from one that is right to a few units in the last place. */
INLINE double refined(double reciprocal, double x) {
    return __builtin_fma(__builtin_fma(-x, reciprocal, 1.0), reciprocal, reciprocal);
}

INLINE double mills_from(double x, double reciprocal) { return mills_polynomial((x - 2.0) * reciprocal) * reciprocal; }

INLINE double density(double x) { return times_exponential(INVERSE_SQRT_TWO_PI, -0.5 * x * x); }

/* See moneyness.py. */
INLINE double log_forward_over_strike(
    double spot, double strike, double time, double rate, double yield, double *over_spot
) {
    double a = mantissa_of(spot), b = mantissa_of(strike);
    double exponent = exponent_of(spot) - exponent_of(strike);
    int high = a > 1.4142135623730951 * b, low = b > 1.4142135623730951 * a;
    a = high ? 0.5 * a : a;
    b = low ? 0.5 * b : b;
    exponent = high ? exponent + 1.0 : exponent;
    exponent = low ? exponent - 1.0 : exponent;

    double numerator = a - b;
    double denominator = a + b, shadow = denominator - a;
    double denominator_error = (a - (denominator - shadow)) + (b - shadow);
    /* One division serves two reciprocals; s is corrected by its residue. */
    double shared = 1.0 / (denominator * spot), reciprocal = shared * spot;
    *over_spot = shared * denominator;
    double s = numerator * reciprocal;
    double s_error = __builtin_fma(-s, denominator_error, __builtin_fma(-s, denominator, numerator)) * reciprocal;

    double carry = rate - yield, rate_shadow = carry - rate;
    double carry_error = (rate - (carry - rate_shadow)) - (yield + rate_shadow);
    double growth = carry * time;
    double growth_error = __builtin_fma(carry_error, time, __builtin_fma(carry, time, -growth));

    double z = s * s, whole = exponent * LN2_HIGH, twice = 2.0 * s;
    double leading = whole + twice, leading_shadow = leading - whole;
    double leading_error = (whole - (leading - leading_shadow)) + (twice - leading_shadow);
    double total = leading + growth, total_shadow = total - leading;
    double total_error = (leading - (total - total_shadow)) + (growth - total_shadow);
    double tail = 2.0 * __builtin_fma(s * z, atanh_polynomial(z), s_error) + exponent * LN2_LOW;
    double value = total + (((tail + growth_error) + leading_error) + total_error);
    value = spot > 0.0 ? value : -__builtin_inf();
    value = strike > 0.0 ? value : (spot > 0.0 ? __builtin_inf() : 0.0);
    return spot != spot || strike != strike ? spot + strike : value;
}

typedef struct {
    double price, near, far, scaled_density, near_tail, far_leg;
} OutOfTheMoney;

/* See out_of_the_money.py. */
INLINE OutOfTheMoney out_of_the_money(
    double log_distance, double deviation, double over_deviation, double smaller, int with_series
) {
    double distance = log_distance * over_deviation;
    distance = __builtin_fma(__builtin_fma(-distance, deviation, log_distance), over_deviation, distance);
    distance = deviation == 0.0 ? log_distance + __builtin_inf() : distance;
    distance = log_distance > 1e6 ? log_distance : distance;
    distance = log_distance == 0.0 ? 0.0 : distance;
    double near = 0.5 * deviation - distance, far = -0.5 * deviation - distance;
    near = near < -FARTHEST ? -FARTHEST : near;
    far = far < -FARTHEST ? -FARTHEST : far;
    double scaled_density = smaller * density(near);
    double near_size = __builtin_fabs(near);
    double near_shifted = near_size + 4.0, far_shifted = 4.0 - far, both = 1.0 / (near_shifted * far_shifted);
    double near_mills = mills_from(near_size, refined(both * far_shifted, near_shifted));
    double far_mills = mills_from(-far, refined(both * near_shifted, far_shifted));

    double inside = __builtin_fma(-scaled_density, near_mills + far_mills, smaller);
    double outside = scaled_density * (near_mills - far_mills);
    double price = near > 0.0 ? inside : outside;
    OutOfTheMoney out = {price, near, far, scaled_density, scaled_density * near_mills, scaled_density * far_mills};
    if (!with_series) return out;

    double previous = far_mills, current = __builtin_fma(far, far_mills, 1.0);
    double series = current * deviation, power = deviation;
    _Pragma("GCC unroll 8") for (int order = 1; order < 9; order++) {
        double next = __builtin_fma(far, current, order * previous);
        previous = current;
        current = next;
        power *= deviation * (1.0 / (order + 1));
        series = __builtin_fma(current, power, series);
    }
    out.price = deviation < SERIES_BELOW ? scaled_density * series : price;
    return out;
}

INLINE double intrinsic(double log_distance, double smaller, double difference) {
    double p = 1.0 / 720;
    p = __builtin_fma(p, log_distance, 1.0 / 120);
    p = __builtin_fma(p, log_distance, 1.0 / 24);
    p = __builtin_fma(p, log_distance, 1.0 / 6);
    p = __builtin_fma(p, log_distance, 1.0 / 2);
    p = __builtin_fma(p, log_distance, 1.0);
    return log_distance < 0.01 ? smaller * log_distance * p : difference;
}

/* A column is an array or one number repeated: step 1 or 0. */
typedef struct {
    const double *data;
    int64_t step;
} Column;

INLINE const double *block_of(Column column, int64_t start, const double *repeated) {
    return column.step ? column.data + start : repeated;
}

static void repeat(double *block, Column column) {
    for (int i = 0; i < BLOCK; i++) block[i] = column.data[0];
}

enum { SPOT, STRIKE, TIME, RATE, VOLATILITY, YIELD, COLUMNS };

typedef struct {
    double *price, *delta, *gamma, *theta, *vega, *rho;
} Outputs;

INLINE void price_block(
    int64_t count, const double *const *in, const uint8_t *is_call, Outputs out, int with_price, int with_greeks,
    int with_series
) {
    const double *restrict spots = in[SPOT], *restrict strikes = in[STRIKE], *restrict times = in[TIME];
    const double *restrict rates = in[RATE], *restrict volatilities = in[VOLATILITY], *restrict yields = in[YIELD];
    double *restrict prices = out.price, *restrict deltas = out.delta, *restrict gammas = out.gamma;
    double *restrict thetas = out.theta, *restrict vegas = out.vega, *restrict rhos = out.rho;
    double signs[BLOCK];
    for (int64_t i = 0; i < count; i++) signs[i] = is_call[i] ? 1.0 : -1.0;
#pragma GCC ivdep
    for (int64_t i = 0; i < count; i++) {
        double spot = spots[i], strike = strikes[i], time = times[i];
        double rate = rates[i], volatility = volatilities[i], yield = yields[i];
        double over_spot;
        double log_moneyness = log_forward_over_strike(spot, strike, time, rate, yield, &over_spot);
        double sqrt_time = __builtin_sqrt(time);
        double deviation = volatility * sqrt_time;
        double shares = times_exponential(spot, -yield * time), cash = times_exponential(strike, -rate * time);
        /* Conditions are kept as signs: gcc vectorises a selection, not logic between conditions. */
        double sign = signs[i], out_sign = log_moneyness <= 0.0 ? 1.0 : -1.0, asked = sign * out_sign;
        double smaller = out_sign > 0.0 ? shares : cash, larger = out_sign > 0.0 ? cash : shares;
        double log_distance = __builtin_fabs(log_moneyness);
        double over_both = 1.0 / (deviation * sqrt_time);
        OutOfTheMoney o = out_of_the_money(log_distance, deviation, over_both * sqrt_time, smaller, with_series);
        if (with_price) {
            double in_value = intrinsic(log_distance, smaller, __builtin_fabs(shares - cash));
            prices[i] = o.price + (asked > 0.0 ? 0.0 : in_value);
        }
        if (with_greeks) {
            double near_side = o.near > 0.0 ? asked : -asked;
            double near_leg = near_side > 0.0 ? smaller - o.near_tail : o.near_tail;
            double far_leg = asked > 0.0 ? o.far_leg : larger - o.far_leg;
            double share_leg = out_sign > 0.0 ? near_leg : far_leg, cash_leg = out_sign > 0.0 ? far_leg : near_leg;
            double n = o.scaled_density;
            double gamma = n * over_spot * over_spot * (over_both * sqrt_time);
            double decay = 0.5 * n * volatility * (over_both * deviation);
            double worthless = sign > 0.0 ? 0.0 : -exponential(-yield * time);
            deltas[i] = spot == 0.0 ? worthless : sign * share_leg * over_spot;
            gamma = deviation == 0.0 ? n * __builtin_inf() : gamma;
            gammas[i] = n == 0.0 ? 0.0 : gamma;
            decay = sqrt_time == 0.0 ? n * __builtin_inf() : decay;
            decay = volatility == 0.0 ? 0.0 : decay;
            decay = n == 0.0 ? 0.0 : decay;
            thetas[i] = sign * (yield * share_leg - rate * cash_leg) - decay;
            vegas[i] = n * sqrt_time;
            rhos[i] = sign * time * cash_leg;
        }
    }
}

/* How many values lie outside [0, largest double]; NaN means missing and is let through. */
static int64_t impossible(const double *block, int64_t count) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) found += (block[i] < 0.0) | (block[i] > 1.7976931348623157e308);
    return found;
}

/* A whole block without short expiries does without the series; NaN counts as zero. */
static double smallest_deviation(const double *volatility, const double *time, int64_t count) {
    double smallest = 1.0;
    for (int64_t i = 0; i < count; i++) {
        double square = volatility[i] * volatility[i] * time[i];
        smallest = square >= smallest ? smallest : (square == square ? square : 0.0);
    }
    return __builtin_sqrt(smallest);
}

static int64_t infinite(const double *block, int64_t count) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) found += __builtin_fabs(block[i]) > 1.7976931348623157e308;
    return found;
}

/* Results too many for the cache go past it, which saves reading their old content. */
static void deliver(double *to, const double *from, int64_t count, int past_cache) {
#if defined(__AVX512F__)
    if (past_cache && (uintptr_t)to % 64 == 0) {
        int64_t i = 0;
        for (; i + 8 <= count; i += 8) _mm512_stream_pd(to + i, _mm512_load_pd(from + i));
        for (; i < count; i++) to[i] = from[i];
        _mm_sfence();
        return;
    }
#endif
    (void)past_cache;
    memcpy(to, from, (size_t)count * sizeof *to);
}

INLINE int64_t price_all(
    int64_t count, const Column *columns, const uint8_t *is_call, int64_t call_step, Outputs out, int with_price,
    int with_greeks
) {
    double repeated[COLUMNS][BLOCK];
    uint8_t flags[BLOCK];
    const double *in[COLUMNS];
    double results[6][BLOCK] __attribute__((aligned(64)));
    int64_t refused = 0;
    for (int c = 0; c < COLUMNS; c++)
        if (!columns[c].step) repeat(repeated[c], columns[c]);
    if (!call_step) memset(flags, is_call[0] ? 1 : 0, BLOCK);
    for (int64_t start = 0; start < count; start += BLOCK) {
        int64_t size = count - start < BLOCK ? count - start : BLOCK;
        for (int c = 0; c < COLUMNS; c++) {
            in[c] = block_of(columns[c], start, repeated[c]);
            if (start && !columns[c].step) continue;
            refused += c == RATE || c == YIELD ? infinite(in[c], size) : impossible(in[c], size);
        }
        Outputs at = {results[0], results[1], results[2], results[3], results[4], results[5]};
        const uint8_t *calls = call_step ? is_call + start : flags;
        if (with_price && smallest_deviation(in[VOLATILITY], in[TIME], size) < SERIES_BELOW)
            price_block(size, in, calls, at, with_price, with_greeks, 1);
        else
            price_block(size, in, calls, at, with_price, with_greeks, 0);
        double *const targets[] = {out.price, out.delta, out.gamma, out.theta, out.vega, out.rho};
        for (int result = with_price ? 0 : 1; result < (with_greeks ? 6 : 1); result++)
            deliver(targets[result] + start, results[result], size, count >= PAST_CACHE);
    }
    return refused;
}

/* The three entry points return how many arguments were refused. */
int64_t black_scholes_price(
    int64_t count, const Column *columns, const uint8_t *is_call, int64_t call_step, double *const *out
) {
    Outputs at = {out[0], 0, 0, 0, 0, 0};
    return price_all(count, columns, is_call, call_step, at, 1, 0);
}

int64_t black_scholes_greeks(
    int64_t count, const Column *columns, const uint8_t *is_call, int64_t call_step, double *const *out
) {
    Outputs at = {0, out[0], out[1], out[2], out[3], out[4]};
    return price_all(count, columns, is_call, call_step, at, 0, 1);
}

int64_t black_scholes_price_and_greeks(
    int64_t count, const Column *columns, const uint8_t *is_call, int64_t call_step, double *const *out
) {
    Outputs at = {out[0], out[1], out[2], out[3], out[4], out[5]};
    return price_all(count, columns, is_call, call_step, at, 1, 1);
}

#include "implied_volatility.h"

/* Full revaluation of books, in both types. */

typedef struct {
    int64_t underlying;
    double sign, shares, strike, time, volatility;
} Option;

#define REAL double
#define NAME(base) base##_double
#define EXPONENTIAL exponential
#define MILLS mills_polynomial
#define ABSOLUTE __builtin_fabs
#define FARTHEST_FROM 60.0
#include "revaluation.h"
#undef REAL
#undef NAME
#undef EXPONENTIAL
#undef MILLS
#undef ABSOLUTE
#undef FARTHEST_FROM

/* The same two functions for float: relative errors 1e-8 and 1e-8 before rounding. */
static const float MILLS_FLOAT[] = {
    2.5282153755047627f,
    -3.1332005450144176f,
    2.744768435749442f,
    -1.617309493792303f,
    0.5171405237118031f,
    0.027308237360552948f,
    -0.08729773832396326f,
    0.010528310144693468f,
    0.014163293689284127f,
    -0.004191642997573757f};
static const float EXPONENTIAL_FLOAT[] = {
    0.5f,
    0.16666576989698775f,
    0.041666554617204574f,
    0.008363179052722578f,
    0.0013926183587713494f};

INLINE float mills_polynomial_float(float x) {
    float total = MILLS_FLOAT[COUNT(MILLS_FLOAT) - 1];
    _Pragma("GCC unroll 16") for (int i = COUNT(MILLS_FLOAT) - 2; i >= 0; i--)
        total = __builtin_fmaf(total, x, MILLS_FLOAT[i]);
    return total;
}

INLINE float exponential_float(float x) {
    const float shift = 12582912.0f;
    float bounded = x < -87.0f ? -87.0f : x;
    float shifted = bounded * 1.44269504f + shift, n = shifted - shift;
    float r = __builtin_fmaf(-n, -2.12194440e-4f, __builtin_fmaf(-n, 0.693359375f, bounded));
    float q = EXPONENTIAL_FLOAT[COUNT(EXPONENTIAL_FLOAT) - 1];
    _Pragma("GCC unroll 16") for (int i = COUNT(EXPONENTIAL_FLOAT) - 2; i >= 0; i--)
        q = __builtin_fmaf(q, r, EXPONENTIAL_FLOAT[i]);
    float value = 1.0f + __builtin_fmaf(r * r, q, r);
    uint32_t bits, moved;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&moved, &shifted, sizeof moved);
    bits += moved << 23;
    memcpy(&value, &bits, sizeof value);
    return x < -87.0f ? 0.0f : value;
}

#define REAL float
#define NAME(base) base##_float
#define EXPONENTIAL exponential_float
#define MILLS mills_polynomial_float
#define ABSOLUTE __builtin_fabsf
#define FARTHEST_FROM 14.0f
#include "revaluation.h"
