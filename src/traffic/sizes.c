/* Flow-size distributions: reading, means, and drawing by inverse transform.
 *
 * Points: u uniform in (0, 1), the first point whose part reaches u is found by halving, and the
 * size lies on the straight line from the point before; two points of one size are a step, two of
 * one part are a gap. The mean is the sum over segments of weight times middle.
 *
 * Pareto with smallest size L, shape a, cut at H: F(x) = (1 - (L/x)^a) / (1 - (L/H)^a), so
 * x = L (1 - u (1 - (L/H)^a))^(-1/a). Its mean is, without a cut, L a / (a - 1) for a > 1, and with
 * one L a/(a-1) (1 - (L/H)^(a-1)) / (1 - (L/H)^a), or for a = 1 L log(H/L) / (1 - L/H).
 *
 * Draws of points and Pareto are rounded to the nearest byte, which leaves the mean alone to within
 * a fraction of a byte; uniform and exponential are discrete from the start and have exact means.
 */
#include "traffic/sizes.h"

#include <string.h>

#include <xoff/units.h>

#include "base/text.h"
#include "traffic/draw.h"

#define MAX_WORDS 4
#define WORD 40

static const char accepted[] =
    "accepted are a size as 64KB, uniform 1KB 10KB, exponential 100KB (mean), pareto 10KB 1.5 "
    "(smallest, shape) [1GB (largest)], points as \"0B 0, 10KB 0.5, 1MB 1\", or one of";

static int refuse(struct xoff_err *err, enum xoff_err_code code, const char *value,
                  const char *message)
{
    return xoff_err_set(err, code, NULL, value, message);
}

static int refuse_form(struct xoff_err *err, enum xoff_err_code code, const char *text)
{
    const int rc = refuse(err, code, text, accepted);
    for (const struct sizes_named *named = sizes_named; err && named->name; named++) {
        xoff_err_add(err, " ");
        xoff_err_add(err, named->name);
    }
    return rc;
}

void sizes_fixed(int64_t bytes, struct sizes *out)
{
    *out = (struct sizes){
        .kind = SIZES_FIXED, .mean_bytes = (double)bytes, .min_bytes = bytes, .max_bytes = bytes};
}

int sizes_from_points(const struct sizes_point *points, uint32_t n, struct sizes *out,
                      struct xoff_err *err)
{
    if (n == 0 || n > SIZES_MAX_POINTS)
        return refuse(err, XOFF_E_RANGE, NULL, "a distribution has 1 to 64 points");
    *out = (struct sizes){.kind = SIZES_POINTS, .n_points = n};
    struct sizes_point last = {.bytes = points[0].bytes, .below = 0};
    for (uint32_t i = 0; i < n; i++) {
        const struct sizes_point p = points[i];
        if (p.bytes < last.bytes || p.bytes < 0)
            return refuse(err, XOFF_E_RANGE, NULL, "sizes must not fall from point to point");
        if (p.bytes > SIZES_MAX_BYTES)
            return refuse(err, XOFF_E_RANGE, NULL, "a flow has at most 1000000GB");
        if (!(p.below >= last.below && p.below <= 1))
            return refuse(err, XOFF_E_RANGE, NULL,
                          "the parts of flows up to each size must not fall, from 0 to 1");
        if (p.bytes == 0 && p.below > 0)
            return refuse(err, XOFF_E_RANGE, NULL, "a flow has at least 1B: 0B has part 0");
        const double middle = (double)p.bytes / 2 + (double)last.bytes / 2;
        out->mean_bytes += (p.below - last.below) * (middle + (p.bytes > last.bytes ? 0.5 : 0));
        out->below[i] = p.below;
        out->bytes[i] = (double)p.bytes;
        last = p;
    }
    if (last.below != 1)
        return refuse(err, XOFF_E_RANGE, NULL, "the last point must have part 1 (or 100%)");
    out->min_bytes = points[0].bytes ? points[0].bytes : 1;
    out->max_bytes = last.bytes;
    return 0;
}

/* Reads a size from 1 byte to the limit; blanks may stand around it. */
static int read_bytes(const char *text, int64_t min, int64_t *out, struct xoff_err *err)
{
    const int rc = xoff_parse_bytes(text, out);
    if (rc == -XOFF_E_RANGE || (rc == 0 && (*out < min || *out > SIZES_MAX_BYTES)))
        return refuse(err, XOFF_E_RANGE, text, "a flow has 1B to 1000000GB");
    if (rc)
        return refuse(err, (enum xoff_err_code) - rc, text,
                      "not a size; a size is as 64KB, with one of B KB MB GB KiB MiB GiB");
    return 0;
}

/* Splits at blanks. Returns the number of words, MAX_WORDS + 1 for too many or too long ones. */
static uint32_t split(const char *text, char words[MAX_WORDS][WORD])
{
    for (uint32_t n = 0;; n++) {
        text += strspn(text, " \t");
        if (*text == '\0')
            return n;
        const size_t length = strcspn(text, " \t");
        if (n == MAX_WORDS || length >= WORD)
            return MAX_WORDS + 1;
        memcpy(words[n], text, length);
        words[n][length] = '\0';
        text += length;
    }
}

static int read_point(const char *item, struct sizes_point *out, struct xoff_err *err)
{
    static const char form[] = "a point is a size and a part, as 10KB 0.5 or 10KB 50%";
    char text[2 * WORD];
    item += strspn(item, " \t");
    size_t length = strcspn(item, ",");
    while (length && (item[length - 1] == ' ' || item[length - 1] == '\t'))
        length--;
    if (length >= sizeof text)
        return refuse(err, XOFF_E_SYNTAX, NULL, form);
    memcpy(text, item, length);
    text[length] = '\0';
    char *part = text + strcspn(text, " \t");
    if (*part == '\0')
        return refuse(err, XOFF_E_SYNTAX, text, form);
    *part++ = '\0';
    const int rc = read_bytes(text, 0, &out->bytes, err);
    if (rc)
        return rc;
    part += strspn(part, " \t");
    if (xoff_parse_real(part, &out->below))
        return refuse(err, XOFF_E_TYPE, part, form);
    return 0;
}

static int read_points(const char *text, struct sizes *out, struct xoff_err *err)
{
    struct sizes_point points[SIZES_MAX_POINTS];
    uint32_t n = 0;
    for (const char *item = text; item; n++) {
        const size_t length = strcspn(item, ",");
        if (n == SIZES_MAX_POINTS)
            return refuse(err, XOFF_E_RANGE, NULL, "a distribution has 1 to 64 points");
        const int rc = read_point(item, &points[n], err);
        if (rc)
            return rc;
        item = item[length] ? item + length + 1 : NULL;
    }
    const int rc = sizes_from_points(points, n, out, err);
    if (rc && err) {
        struct text value = text_at(err->value, sizeof err->value, 0);
        text_add(&value, text);
    }
    return rc;
}

static int read_uniform(char words[MAX_WORDS][WORD], struct sizes *out, struct xoff_err *err)
{
    int64_t min, max;
    int rc = read_bytes(words[1], 1, &min, err);
    if (rc == 0)
        rc = read_bytes(words[2], 1, &max, err);
    if (rc)
        return rc;
    if (min > max)
        return refuse(err, XOFF_E_RANGE, words[1], "the smaller size comes first");
    *out = (struct sizes){.kind = SIZES_UNIFORM,
                          .mean_bytes = (double)min / 2 + (double)max / 2,
                          .min_bytes = min,
                          .max_bytes = max};
    return 0;
}

static int read_exponential(char words[MAX_WORDS][WORD], struct sizes *out, struct xoff_err *err)
{
    int64_t mean;
    const int rc = read_bytes(words[1], 1, &mean, err);
    if (rc)
        return rc;
    *out = (struct sizes){.kind = SIZES_EXPONENTIAL,
                          .mean_bytes = (double)mean,
                          .min_bytes = 1,
                          .max_bytes = SIZES_MAX_BYTES,
                          .log_miss = mean == 1 ? 0 : draw_log_miss(1 / (double)mean)};
    return 0;
}

static double pareto_mean(double min, double max, double shape)
{
    const double ratio = min / max;
    if (shape == 1)
        return min * -xoff_log(ratio) / (1 - ratio);
    const double uncut = min * shape / (shape - 1);
    return uncut * (1 - xoff_pow(ratio, shape - 1)) / (1 - xoff_pow(ratio, shape));
}

static int read_pareto(char words[MAX_WORDS][WORD], uint32_t n, struct sizes *out,
                       struct xoff_err *err)
{
    int64_t min, max = SIZES_MAX_BYTES;
    double shape;
    int rc = read_bytes(words[1], 1, &min, err);
    if (rc == 0 && n == 4)
        rc = read_bytes(words[3], 1, &max, err);
    if (rc)
        return rc;
    if (xoff_parse_real(words[2], &shape))
        return refuse(err, XOFF_E_TYPE, words[2], "the shape of pareto is a number as 1.5");
    if (n == 4 && min >= max)
        return refuse(err, XOFF_E_RANGE, words[3], "the largest size must exceed the smallest");
    if (n == 3 && shape <= 1)
        return refuse(err, XOFF_E_RANGE, words[2],
                      "without a largest size the shape of pareto must exceed 1, or there is no "
                      "mean; give a larger one, or a third value");
    if (shape < 0.01 || shape > 100)
        return refuse(err, XOFF_E_RANGE, words[2], "the shape of pareto is from 0.01 to 100");
    *out = (struct sizes){.kind = SIZES_PARETO,
                          .min_bytes = min,
                          .max_bytes = max,
                          .inverse_shape = 1 / shape,
                          .kept = 1};
    const double lowest = (double)min, highest = (double)max;
    if (n == 4)
        out->kept = 1 - xoff_pow(lowest / highest, shape);
    out->mean_bytes = n == 4 ? pareto_mean(lowest, highest, shape) : lowest * shape / (shape - 1);
    return 0;
}

int sizes_parse(const char *text, struct sizes *out, struct xoff_err *err)
{
    char words[MAX_WORDS][WORD];
    if (strchr(text, ','))
        return read_points(text, out, err);
    const uint32_t n = split(text, words);
    if (n == 0)
        return refuse_form(err, XOFF_E_MISSING, text);
    if (n == 3 && strcmp(words[0], "uniform") == 0)
        return read_uniform(words, out, err);
    if (n == 2 && strcmp(words[0], "exponential") == 0)
        return read_exponential(words, out, err);
    if ((n == 3 || n == 4) && strcmp(words[0], "pareto") == 0)
        return read_pareto(words, n, out, err);
    if (n != 1)
        return refuse_form(err, XOFF_E_SYNTAX, text);
    for (const struct sizes_named *named = sizes_named; named->name; named++) {
        if (strcmp(words[0], named->name) == 0)
            return sizes_from_points(named->points, named->n_points, out, err);
    }
    if (words[0][0] != '-' && (words[0][0] < '0' || words[0][0] > '9'))
        return refuse_form(err, XOFF_E_UNKNOWN, text);
    int64_t bytes;
    const int rc = read_bytes(words[0], 1, &bytes, err);
    if (rc == 0)
        sizes_fixed(bytes, out);
    return rc;
}

static int64_t draw_point(const struct sizes *sizes, double u)
{
    uint32_t low = 0, high = sizes->n_points - 1; /* the last part is 1 > u */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (sizes->below[middle] < u)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return (int64_t)sizes->bytes[0];
    const double part = (u - sizes->below[low - 1]) / (sizes->below[low] - sizes->below[low - 1]);
    const double bytes = sizes->bytes[low - 1] + part * (sizes->bytes[low] - sizes->bytes[low - 1]);
    const int64_t whole = (int64_t)bytes;
    return whole + ((double)whole < bytes);
}

static int64_t draw_pareto(const struct sizes *sizes, double u)
{
    const double above = 1 - u * sizes->kept;
    const double bytes = (double)sizes->min_bytes * xoff_pow(above, -sizes->inverse_shape);
    return bytes < (double)sizes->max_bytes ? (int64_t)(bytes + 0.5) : sizes->max_bytes;
}

int64_t sizes_draw(const struct sizes *sizes, struct xoff_rng *rng)
{
    switch (sizes->kind) {
    case SIZES_FIXED:
        break;
    case SIZES_UNIFORM: {
        const uint64_t n = (uint64_t)(sizes->max_bytes - sizes->min_bytes) + 1;
        return sizes->min_bytes + (int64_t)xoff_rng_below(rng, n);
    }
    case SIZES_EXPONENTIAL: {
        const uint64_t bytes = draw_geometric(rng, sizes->log_miss);
        return bytes < (uint64_t)SIZES_MAX_BYTES ? (int64_t)bytes : SIZES_MAX_BYTES;
    }
    case SIZES_PARETO:
        return draw_pareto(sizes, xoff_rng_unit(rng));
    case SIZES_POINTS:
        return draw_point(sizes, xoff_rng_unit(rng));
    }
    return sizes->min_bytes;
}
