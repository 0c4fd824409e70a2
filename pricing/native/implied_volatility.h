/* Implied volatility as a loop; see implied_volatility.py and rational_cubic.py. Included by kernels.c. */


INLINE double interpolate(
    double left, double right, double left_value, double right_value, double left_slope, double right_slope, double x,
    double curvature, double at_right
) {
    double width = right - left, over_width = 1.0 / width, secant = (right_value - left_value) * over_width;
    double rise = right_slope - left_slope, left_gap = secant - left_slope, right_gap = right_slope - secant;
    double gap = at_right > 0.0 ? right_gap : left_gap;
    double wanted = (0.5 * width * curvature + rise) / gap;
    double monotone = (left_slope + right_slope) / secant;
    double over_gaps = 1.0 / (left_gap * right_gap);
    double convex = larger_of(__builtin_fabs(rise * left_gap * over_gaps), __builtin_fabs(rise * right_gap * over_gaps));
    double smallest = left_gap * right_gap > 0.0 ? larger_of(monotone, convex) : larger_of(monotone, 0.0);
    double control = larger_of(wanted, smallest);
    double t = (x - left) * over_width, rest = 1.0 - t;
    double top = right_value * t * t * t + (control * right_value - width * right_slope) * t * t * rest +
                 (control * left_value + width * left_slope) * t * rest * rest + left_value * rest * rest * rest;
    double value = top / (1.0 + (control - 3.0) * t * rest);
    double linear = left_value * rest + right_value * t;
    return control < 1e15 ? value : linear;
}

typedef struct {
    double deviation, lowest, highest;
} Guess;

INLINE Guess guess_deviation(double price, double log_distance, double scale) {
    double centre = __builtin_sqrt(2.0 * log_distance);
    OutOfTheMoney at_centre = out_of_the_money(log_distance, centre, 1.0 / centre, scale, 1);
    double inverse_centre = 1.0 / at_centre.scaled_density;
    double below = price < at_centre.price ? 1.0 : -1.0;
    double edge = centre + (below > 0.0 ? -at_centre.price : scale - at_centre.price) * inverse_centre;
    double over_edge = 1.0 / edge;
    OutOfTheMoney at_edge = out_of_the_money(log_distance, edge, over_edge, scale, 1);
    double inverse_edge = 1.0 / at_edge.scaled_density;
    /* Region of price: 0 lowest, 1 lower, 2 upper, 3 highest. */
    double region = below > 0.0 ? (price < at_edge.price ? 0.0 : 1.0) : (price > at_edge.price ? 3.0 : 2.0);
    double outer = region * (region - 3.0) == 0.0 ? 1.0 : -1.0;

    double ratio = log_distance * over_edge;
    double z = ratio * (1.0 / 1.7320508075688772), y = z * z, square = edge * edge;
    double tail_at = below > 0.0 ? z : 0.5 * edge;
    double mills = mills_from(tail_at, 1.0 / (tail_at + 4.0)), tail = density(tail_at) * mills;
    double lower = (2.0 * PI / (3.0 * SQRT_THREE)) * log_distance * tail * tail * tail;
    double lower_slope = y * mills * mills * exponential(0.125 * square);
    double bracket = 8.0 * SQRT_THREE * edge * log_distance +
                     (3.0 * square * (square - 8.0) - 8.0 * log_distance * log_distance) * mills;
    double growth = exponential(below > 0.0 ? 2.0 * y + 0.25 * square : ratio * ratio + 0.125 * square);
    double lower_curvature = (PI / 6.0) * y * over_edge * over_edge * over_edge * tail * bracket * growth;
    double upper_slope = -0.5 * exponential(0.5 * ratio * ratio);
    double upper_curvature = 1.2533141373155003 * growth * ratio * ratio * over_edge;

    double left = outer > 0.0 ? (below > 0.0 ? 0.0 : at_edge.price) : (below > 0.0 ? at_edge.price : at_centre.price);
    double right = outer > 0.0 ? (below > 0.0 ? at_edge.price : scale) : (below > 0.0 ? at_centre.price : at_edge.price);
    double left_value = outer > 0.0 ? (below > 0.0 ? 0.0 : tail) : (below > 0.0 ? edge : centre);
    double right_value = outer > 0.0 ? (below > 0.0 ? lower : 0.0) : (below > 0.0 ? centre : edge);
    double left_slope = outer > 0.0 ? (below > 0.0 ? 1.0 : upper_slope) : (below > 0.0 ? inverse_edge : inverse_centre);
    double right_slope = outer > 0.0 ? (below > 0.0 ? lower_slope : -0.5) : (below > 0.0 ? inverse_centre : inverse_edge);
    double curvature = outer > 0.0 ? (below > 0.0 ? lower_curvature : upper_curvature) : 0.0;
    double value =
        interpolate(left, right, left_value, right_value, left_slope, right_slope, price, curvature, below);
    double t = (price - left) / (right - left);
    double parabola = below > 0.0 ? (lower * t + at_edge.price * (1.0 - t)) * t
                                  : (tail * (1.0 - t) + 0.5 * (scale - at_edge.price) * t) * (1.0 - t);
    double mapped = value > 0.0 ? value : parabola;
    double argument = logarithm(mapped);
    double reduced = (argument + logarithm(1.5 * SQRT_THREE / PI / log_distance)) * (1.0 / 3.0);
    argument = below > 0.0 ? reduced : argument;
    double u = __builtin_sqrt(-2.0 * argument);
    double quantile = u - quantile_polynomial((u - 4.0) / (u + 4.0));
    double far_guess = below > 0.0 ? log_distance / (SQRT_THREE * quantile) : 2.0 * quantile;
    double deviation = outer > 0.0 ? far_guess : value;
    double lowest = region == 0.0 ? 1.0 : -1.0, highest = region == 3.0 ? price - 0.5 * scale : -1.0;
    Guess guess = {deviation, lowest, highest};
    return guess;
}

INLINE double householder_step(
    double price, double log_price_wanted, double log_distance, double scale, double deviation, double lowest,
    double highest
) {
    double over_deviation = 1.0 / deviation, h = log_distance * over_deviation;
    OutOfTheMoney at = out_of_the_money(log_distance, deviation, over_deviation, scale, 1);
    double second = h * h * over_deviation - 0.25 * deviation;
    double slope = h * over_deviation, third = second * second - 3.0 * slope * slope - 0.25;

    double missing = scale - at.price, missing_wanted = scale - price;
    double log_of = logarithm(lowest > 0.0 ? at.price : missing_wanted / missing);
    double over_price = 1.0 / (lowest > 0.0 ? at.price : missing);
    double relative = at.scaled_density * over_price, inverse_log = 1.0 / log_of;
    double curve = relative * (1.0 + 2.0 * inverse_log);

    double low_newton = (log_price_wanted - log_of) * log_of / (log_price_wanted * relative);
    double high_newton = -log_of / relative, newton = (price - at.price) / at.scaled_density;
    newton = lowest > 0.0 ? low_newton : (highest > 0.0 ? high_newton : newton);
    double halley = lowest > 0.0 ? second - curve : (highest > 0.0 ? second + relative : second);
    double low_cubic = third + 2.0 * relative * relative * (1.0 + 3.0 * inverse_log * (1.0 + inverse_log)) -
                       3.0 * second * curve;
    double high_cubic = third + relative * (2.0 * relative + 3.0 * second);
    double cubic = lowest > 0.0 ? low_cubic : (highest > 0.0 ? high_cubic : third);
    return newton * (1.0 + 0.5 * halley * newton) / (1.0 + newton * (halley + cubic * newton * (1.0 / 6.0)));
}

/* The columns of the price with the price itself in the place of the volatility. */
INLINE void solve_block(int64_t count, const double *const *in, const uint8_t *is_call, double *value, int32_t *status) {
    const double *restrict spots = in[SPOT], *restrict strikes = in[STRIKE], *restrict times = in[TIME];
    const double *restrict rates = in[RATE], *restrict prices = in[VOLATILITY], *restrict yields = in[YIELD];
    double *restrict values = value;
    int32_t *restrict statuses = status;
    double verdicts[BLOCK];
    double signs[BLOCK], wanted[BLOCK], distances[BLOCK], scales[BLOCK], roundings[BLOCK], weights[BLOCK], bounds[BLOCK];
    double deviations[BLOCK], lows[BLOCK], highs[BLOCK];
    for (int64_t i = 0; i < count; i++) signs[i] = is_call[i] ? 1.0 : -1.0;
#pragma GCC ivdep
    for (int64_t i = 0; i < count; i++) {
        double time = times[i], price = prices[i];
        double over_spot;
        double log_moneyness = log_forward_over_strike(spots[i], strikes[i], time, rates[i], yields[i], &over_spot);
        double shares = times_exponential(spots[i], -yields[i] * time);
        double cash = times_exponential(strikes[i], -rates[i] * time);
        double out_sign = log_moneyness <= 0.0 ? 1.0 : -1.0, asked = signs[i] * out_sign;
        double smaller = out_sign > 0.0 ? shares : cash, larger = out_sign > 0.0 ? cash : shares;
        double log_size = __builtin_fabs(log_moneyness);
        double in_value = intrinsic(log_size, smaller, __builtin_fabs(shares - cash));
        in_value = asked > 0.0 ? 0.0 : in_value;
        double log_distance = log_size < 1e-150 ? 1e-150 : log_size;
        double scale = exponential(-0.5 * log_distance), time_value = price - in_value;
        distances[i] = log_distance;
        scales[i] = scale;
        weights[i] = smaller / scale;
        wanted[i] = time_value / smaller * scale;
        double rounding = 2.220446049250313e-16 * (in_value > 0.0 ? larger : price);
        double flat = in_value > 0.0 ? 4.0 * rounding : 0.0;
        roundings[i] = rounding;
        double verdict = time_value <= flat ? 4.0 : 0.0;
        verdict = time_value >= smaller ? 2.0 : verdict;
        verdict = time_value < -4.0 * rounding ? 1.0 : verdict;
        verdict = spots[i] <= 0.0 ? 3.0 : verdict;
        verdict = strikes[i] <= 0.0 ? 3.0 : verdict;
        verdict = time <= 0.0 ? 3.0 : verdict;
        double sum = price + log_moneyness;
        verdicts[i] = sum != sum ? 3.0 : verdict;
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < count; i++) {
        Guess guess = guess_deviation(wanted[i], distances[i], scales[i]);
        deviations[i] = guess.deviation;
        lows[i] = guess.lowest;
        highs[i] = guess.highest;
        bounds[i] = logarithm(wanted[i]);
    }
    for (int round = 0; round < 2; round++) {
#pragma GCC ivdep
        for (int64_t i = 0; i < count; i++)
            deviations[i] += householder_step(
                wanted[i], bounds[i], distances[i], scales[i], deviations[i], lows[i], highs[i]
            );
    }
#pragma GCC ivdep
    for (int64_t i = 0; i < count; i++) {
        double near = 0.5 * deviations[i] - distances[i] / deviations[i];
        double relative_vega = scales[i] * density(near) * deviations[i] * weights[i];
        double verdict = verdicts[i], volatility = deviations[i] / __builtin_sqrt(times[i]);
        double loose = roundings[i] > 1e-6 * relative_vega ? 5.0 : 0.0;
        verdict = verdict == 0.0 ? loose : verdict;
        double none = verdict == 4.0 ? 0.0 : __builtin_nan("");
        double answered = verdict * (verdict - 5.0);
        statuses[i] = (int32_t)verdict;
        values[i] = answered == 0.0 ? volatility : none;
    }
}

int64_t implied_volatility(
    int64_t count, const Column *columns, const uint8_t *is_call, int64_t call_step, void *const *out
) {
    double repeated[COLUMNS][BLOCK];
    uint8_t flags[BLOCK];
    const double *in[COLUMNS];
    int64_t refused = 0;
    for (int c = 0; c < COLUMNS; c++)
        if (!columns[c].step) repeat(repeated[c], columns[c]);
    if (!call_step) memset(flags, is_call[0] ? 1 : 0, BLOCK);
    for (int64_t start = 0; start < count; start += BLOCK) {
        int64_t size = count - start < BLOCK ? count - start : BLOCK;
        for (int c = 0; c < COLUMNS; c++) {
            in[c] = block_of(columns[c], start, repeated[c]);
            if (start && !columns[c].step) continue;
            refused += c < RATE ? impossible(in[c], size) : infinite(in[c], size);
        }
        solve_block(size, in, call_step ? is_call + start : flags, (double *)out[0] + start, (int32_t *)out[1] + start);
    }
    return refused;
}
