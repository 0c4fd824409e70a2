/* The practical floor: plain loops, -O3 -march=native -ffast-math, the C library's vector mathematics. */
#include <math.h>
#include <stdint.h>

#define INVERSE_SQRT_2PI 0.3989422804014327
#define INVERSE_SQRT_2 0.7071067811865476

void chain(
    int64_t n, double spot, const double *restrict strike, const double *restrict time, double rate,
    const double *restrict volatility, double yield, const double *restrict sign, double *restrict price,
    double *restrict delta, double *restrict gamma, double *restrict theta, double *restrict vega, double *restrict rho
) {
    for (int64_t i = 0; i < n; i++) {
        double root = sqrt(time[i]), deviation = volatility[i] * root, w = sign[i];
        double d1 = (log(spot / strike[i]) + (rate - yield) * time[i]) / deviation + 0.5 * deviation;
        double d2 = d1 - deviation;
        double growth = exp(-yield * time[i]), shares = spot * growth, cash = strike[i] * exp(-rate * time[i]);
        double n1 = 0.5 * erfc(-w * d1 * INVERSE_SQRT_2), n2 = 0.5 * erfc(-w * d2 * INVERSE_SQRT_2);
        double density = INVERSE_SQRT_2PI * exp(-0.5 * d1 * d1);
        price[i] = w * (shares * n1 - cash * n2);
        delta[i] = w * n1 * growth;
        gamma[i] = growth * density / (spot * deviation);
        theta[i] = -shares * density * volatility[i] / (2.0 * root) + w * (yield * shares * n1 - rate * cash * n2);
        vega[i] = shares * density * root;
        rho[i] = w * time[i] * cash * n2;
    }
}

void revalue(
    int64_t scenarios, int64_t positions, int64_t underlyings, const double *restrict spot,
    const double *restrict log_spot, double rate, const int64_t *restrict underlying, const double *restrict sign,
    const double *restrict shares, const double *restrict strike, const double *restrict time,
    const double *restrict volatility, double *restrict total
) {
    enum { BLOCK = 512 };
    for (int64_t start = 0; start < scenarios; start += BLOCK) {
        int64_t size = scenarios - start < BLOCK ? scenarios - start : BLOCK;
        for (int64_t i = 0; i < size; i++) total[start + i] = 0.0;
        for (int64_t p = 0; p < positions; p++) {
            const double *s = spot + underlying[p] * scenarios + start, *l = log_spot + underlying[p] * scenarios + start;
            double deviation = volatility[p] * sqrt(time[p]), over = 1.0 / deviation, w = sign[p];
            double shift = (rate * time[p] - log(strike[p])) * over + 0.5 * deviation;
            double cash = strike[p] * exp(-rate * time[p]);
            for (int64_t i = 0; i < size; i++) {
                double d1 = l[i] * over + shift, d2 = d1 - deviation;
                double value = s[i] * 0.5 * erfc(-w * d1 * INVERSE_SQRT_2) - cash * 0.5 * erfc(-w * d2 * INVERSE_SQRT_2);
                total[start + i] += shares[p] * w * value;
            }
        }
    }
}
