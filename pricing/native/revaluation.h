/* Value of many options in many scenarios, included once per floating type; see risk/book.py.

   REAL           the type
   NAME(base)     name of a function for this type
   EXPONENTIAL, MILLS, ABSOLUTE, FARTHEST_FROM   helpers for this type */

INLINE void NAME(add_option)(
    int64_t count, const REAL *restrict spot, const REAL *restrict logs, const Option *option, double rate,
    double yield, double volatility_change, double years_passed, REAL *restrict total
) {
    double years = larger_of(option->time - years_passed, 0.0);
    double width = larger_of(option->volatility + volatility_change, 0.0) * __builtin_sqrt(years);
    const REAL shift = (REAL)((rate - yield) * years - logarithm(option->strike));
    /* A huge number stands for 1 / 0: distances stay 0 at the money and become infinite elsewhere. */
    const REAL over = (REAL)(width > 1e-30 ? 1.0 / width : 1e30), half = (REAL)(0.5 * width);
    const REAL cash = (REAL)(option->strike * exponential(-rate * years)), growth = (REAL)exponential(-yield * years);
    const REAL sign = (REAL)option->sign, weight = (REAL)option->shares;
    for (int64_t i = 0; i < count; i++) {
        REAL log_moneyness = logs[i] + shift, shares = spot[i] * growth;
        REAL distance = ABSOLUTE(log_moneyness) * over;
        REAL near = half - distance, far = half + distance;
        near = near < -FARTHEST_FROM ? -FARTHEST_FROM : near;
        far = far > FARTHEST_FROM ? FARTHEST_FROM : far;
        REAL near_size = ABSOLUTE(near), a = near_size + (REAL)4, b = far + (REAL)4, both = (REAL)1 / (a * b);
        REAL smaller = log_moneyness <= 0 ? shares : cash;
        REAL height = smaller * EXPONENTIAL((REAL)-0.5 * near * near) * (REAL)0.3989422804014327;
        REAL near_tail = height * MILLS((near_size - (REAL)2) * (both * b)) * (both * b);
        REAL far_leg = height * MILLS((far - (REAL)2) * (both * a)) * (both * a);
        REAL near_leg = near > 0 ? smaller - near_tail : near_tail;
        REAL exercise = sign * (shares - cash);
        exercise = exercise < 0 ? (REAL)0 : exercise;
        total[i] += weight * (near_leg - far_leg + exercise);
    }
}

/* Options are sorted by underlying, so that a block's prices and logarithms are gathered once each. */
void NAME(revalue)(
    int64_t scenarios, int64_t underlyings, const REAL *table, int64_t count, const Option *options,
    const double *moves, REAL *total
) {
    REAL spot[BLOCK], logs[BLOCK];
    for (int64_t start = 0; start < scenarios; start += BLOCK) {
        int64_t size = scenarios - start < BLOCK ? scenarios - start : BLOCK, gathered = -1;
        for (int64_t p = 0; p < count; p++) {
            if (options[p].underlying != gathered) {
                gathered = options[p].underlying;
                for (int64_t i = 0; i < size; i++) spot[i] = table[(start + i) * underlyings + gathered];
                for (int64_t i = 0; i < size; i++) {
                    double value = (double)spot[i];
                    logs[i] = (REAL)(value == 0.0 ? -1000.0 : logarithm(value));
                }
            }
            NAME(add_option)(size, spot, logs, options + p, moves[0], moves[1], moves[2], moves[3], total + start);
        }
    }
}
