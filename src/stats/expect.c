/* Expectations: one comparison of two arithmetic expressions over the metrics of runs.
 *
 *   expectation  sum ( "==" sum [ "within" NUMBER ] | ("!=" "<=" ">=" "<" ">") sum )
 *   sum          product { ("+" | "-") product }
 *   product      factor { ("*" | "/") factor }
 *   factor       "-" factor | "(" sum ")" | NUMBER | NAME | "abs(" sum ")"
 *                | ("min(" | "max(") sum { "," sum } ")"
 *   NUMBER       3, 0.5, 1e-3, 10k, 25%, 2us, 10Gbps, 16KiB
 *   NAME         letters, digits, _ # . and -, such as drops.link-down or DSH-2.fct.p99
 *
 * A recursive-descent parser computes while it reads, once per run. A '-' or '.' inside a name must
 * have a name character on both sides, so a difference of names is written with spaces. A word that
 * starts with a digit is a name only if a dot is followed by a letter in it (8x.fct.p99).
 *
 * Values keep their kind (time, rate, size, number), so that comparing a time with a size is an
 * error rather than a number. Bare numbers fit any kind, in seconds, bits per second or bytes.
 * Kinds are not followed through products of two quantities that both have one: such a result fits
 * any.
 */
#include <stdarg.h>
#include <string.h>

#include "stats/output.h"
#include "stats/quantity.h"

#define MAX_DEPTH 64 /* depth of parentheses and signs */
#define MAX_LENGTH 4096
#define MAX_WORD 128

enum comparison { CMP_EQ, CMP_NE, CMP_LE, CMP_GE, CMP_LT, CMP_GT, N_COMPARISONS };
/* Longer signs first, so that "<=" is not read as "<". */
static const char *const comparison_signs[N_COMPARISONS] = {"==", "!=", "<=", ">=", "<", ">"};

/* The result of an expectation for one run. */
struct outcome {
    struct quantity left, right;
    const char *left_at, *left_end, *right_at, *right_end; /* into the text */
    bool left_has_name, right_has_name;
    enum comparison comparison;
    bool holds;
};

struct parser {
    const char *text, *at;
    const struct results *const *runs;
    const struct summary *const *summaries;
    uint32_t n_runs, run;        /* bare names mean this run; n_runs 0: syntax only */
    bool checks_names;           /* reports names that no metric can have */
    const struct metric *sought; /* not NULL: only looks for this name, computes nothing */
    bool has_sought;
    const char *variant; /* not NULL: only looks for names that begin with it */
    bool has_variant;
    bool wants_variant; /* bare names are an error where there are several runs */
    bool has_name;      /* a name was read since this was last cleared */
    bool has_bare_name; /* a name without variant was read */
    uint32_t depth;
    int status; /* the first error */
    struct xoff_err *err;
};

static struct quantity parse_sum(struct parser *p);

__attribute__((format(printf, 4, 5))) static void fail(struct parser *p, enum xoff_err_code code,
                                                       const char *at, const char *format, ...)
{
    char message[384];
    va_list args;

    if (p->status)
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    p->status = xoff_err_set(p->err, code, "expect", p->text, message);
    if (p->err)
        p->err->column = (int)(at - p->text) + 1;
}

static void skip_spaces(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r')
        p->at++;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_digit(c) || is_letter(c) || c == '#';
}

/* Length of the name-like run of characters at s. */
static size_t word_length(const char *s)
{
    size_t n = 0;
    while (is_word(s[n]) || (n && (s[n] == '.' || s[n] == '-') && is_word(s[n + 1])))
        n++;
    return n;
}

/* Length of the number with its unit at s, which starts with a digit or a point. */
static size_t number_length(const char *s)
{
    size_t n = 0;
    while (is_digit(s[n]) || s[n] == '.')
        n++;
    if (s[n] == 'e' || s[n] == 'E') {
        const size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
        if (is_digit(s[n + 1 + sign]))
            n += 1 + sign;
    }
    while (is_digit(s[n]) || is_letter(s[n]))
        n++;
    if (s[n] == '%')
        return n + 1;
    size_t spaces = 0;
    while (s[n + spaces] == ' ')
        spaces++;
    return s[n + spaces] == '%' ? n + spaces + 1 : n;
}

static bool is_name_at(const char *s)
{
    const size_t n = word_length(s);
    if (!n || !is_digit(*s))
        return n > 0;
    for (size_t i = 1; i + 1 < n; i++)
        if (s[i] == '.' && is_letter(s[i + 1]))
            return true;
    return false;
}

static struct quantity parse_number(struct parser *p)
{
    struct quantity q = {0, KIND_ANY};
    char word[MAX_WORD];
    const size_t n = number_length(p->at);

    if (n >= sizeof word) {
        fail(p, XOFF_E_SYNTAX, p->at, "number of more than %d characters", MAX_WORD - 1);
        return q;
    }
    memcpy(word, p->at, n);
    word[n] = '\0';
    const int status = quantity_read(word, &q);
    if (status == -XOFF_E_RANGE)
        fail(p, XOFF_E_RANGE, p->at, "%s is too large or too fine to represent", word);
    else if (status)
        fail(p, XOFF_E_UNIT, p->at,
             "%s is not a quantity: give a number with no unit, %%, k, M or G, a time (ps ns us ms "
             "s), "
             "a rate (bps kbps Mbps Gbps Tbps) or a size (B KB MB GB KiB MiB GiB)",
             word);
    p->at += n;
    return q;
}

static enum kind kind_of_metric(const struct metric *metric)
{
    if (!strcmp(metric->unit, "s"))
        return KIND_TIME;
    if (!strcmp(metric->unit, "bps"))
        return KIND_RATE;
    return !strcmp(metric->unit, "B") ? KIND_SIZE : KIND_NUMBER;
}

/* Reasons why a metric may be absent, by the start of its name; the first match counts. */
static const struct {
    const char *start, *reason;
} absences[] = {
    {"fct.ack", "no such flow was acknowledged"},
    {"fct", "no such flow finished"},
    {"slowdown", "no such flow finished"},
    {"throughput", "no such flow lived"},
    {"jain", "no such flow delivered anything"},
    {"deadlock.onset", "there was no deadlock"},
    {"headroom.maxima.", "headroom in use never fell"},
    {"headroom", "no port has headroom"},
    {"buffer", "no switch has a buffer"},
    {"utilisation", "there were no ports"},
    {"operations", "no such operation completed"},
    {"insurance", "no buffer has insurance"},
    {"curve.", "no curve is called so, or no sample falls into it"},
    {"min_share", "no such flow delivered"},
    {"feedback", "there was no time with traffic"},
    {"pauses.counters", "no pause policy counts who sends to an egress queue"},
};

static void fail_absent(struct parser *p, const char *at, const char *metric, const char *variant)
{
    const char *reason = NULL;
    for (size_t i = 0; i < sizeof absences / sizeof *absences && !reason; i++)
        if (!strncmp(metric, absences[i].start, strlen(absences[i].start)))
            reason = absences[i].reason;
    fail(p, reason ? XOFF_E_MISSING : XOFF_E_UNKNOWN, at, "there is no metric %s in %s%s%s%s%s",
         metric, *variant ? "variant " : "the run", variant, reason ? " (it is absent when " : "",
         reason ? reason : "",
         reason ? ")"
                : "; names are in docs/results.md, a difference of names "
                  "needs spaces around '-'");
}

/* Finds VARIANT.metric if the name starts with a variant's name (the longest that fits), else the
 * metric of this run. Returns NULL when `*run` has no such metric. `*rest` is the metric's part of
 * the name behind a variant's; NULL: the name is bare. */
static const struct metric *look_up(const struct parser *p, const char *name, const char **rest,
                                    uint32_t *run)
{
    size_t longest = 0;

    *rest = NULL;
    *run = p->run;
    for (uint32_t i = 0; i < p->n_runs; i++) {
        const char *variant = output_text(p->runs[i]->variant);
        const size_t n = strlen(variant);
        if (n > longest && !strncmp(name, variant, n) && name[n] == '.') {
            longest = n;
            *run = i;
            *rest = name + n + 1;
        }
    }
    const struct metric *own = summary_find(p->summaries[p->run], name);
    const struct metric *metric = *rest ? summary_find(p->summaries[*run], *rest) : own;
    /* A variant may have the name of a metric's first part; the metric is meant if it exists. */
    if (!metric && own) {
        metric = own;
        *rest = NULL;
    }
    return metric;
}

static const struct metric *find_metric(struct parser *p, const char *name, const char *at)
{
    const char *rest;
    uint32_t run;
    const struct metric *metric = look_up(p, name, &rest, &run);

    if (p->sought) {
        p->has_sought |= metric == p->sought;
        return NULL;
    }
    if (!metric)
        fail_absent(p, at, rest ? rest : name, output_text(p->runs[run]->variant));
    if (!rest) {
        p->has_bare_name = true;
        if (metric && p->wants_variant && p->n_runs > 1)
            fail(p, XOFF_E_CONFLICT, at, "%s is of every variant; name one, such as %s.%s", name,
                 output_text(p->runs[0]->variant), name);
    }
    return metric;
}

/* Whether a name is VARIANT.metric. A variant may have the name of a metric's first part, as in
 * drops.lossless: what follows then is no metric. */
static bool is_of_variant(const char *name, const char *variant)
{
    const size_t n = strlen(variant);
    return !strncmp(name, variant, n) && name[n] == '.' && summary_has_family(name + n + 1);
}

static struct quantity parse_name(struct parser *p)
{
    struct quantity q = {0, KIND_ANY};
    char name[MAX_WORD];
    const char *at = p->at;
    const size_t n = word_length(at);

    if (n >= sizeof name) {
        fail(p, XOFF_E_SYNTAX, at, "name of more than %d characters", MAX_WORD - 1);
        return q;
    }
    memcpy(name, at, n);
    name[n] = '\0';
    if (!strcmp(name, "within")) {
        fail(p, XOFF_E_SYNTAX, at, "'within' comes at the end of a comparison with ==");
        return q;
    }
    p->at += n;
    p->has_name = true;
    if (p->variant)
        p->has_variant |= is_of_variant(name, p->variant);
    if (!p->n_runs) {
        if (p->checks_names && !summary_has_family(name))
            fail(p, XOFF_E_UNKNOWN, at,
                 "no metric is called %s; names are in docs/results.md, a difference of names "
                 "needs spaces around '-'",
                 name);
        return q;
    }
    const struct metric *metric = find_metric(p, name, at);
    if (metric)
        q = (struct quantity){metric->value, kind_of_metric(metric)};
    return q;
}

static void fail_unexpected(struct parser *p, const char *wanted)
{
    const unsigned char c = (unsigned char)*p->at;
    if (!c)
        fail(p, XOFF_E_SYNTAX, p->at, "the text ends where %s is expected", wanted);
    else if (c > ' ' && c < 0x7f)
        fail(p, XOFF_E_SYNTAX, p->at, "unexpected '%c' where %s is expected", c, wanted);
    else
        fail(p, XOFF_E_SYNTAX, p->at, "unexpected byte 0x%02x where %s is expected", c, wanted);
}

/* The kind of a sum or comparison of both, or an error. */
static enum kind fit(struct parser *p, const char *at, enum kind a, enum kind b)
{
    if (a == b || b == KIND_ANY)
        return a;
    if (a != KIND_ANY)
        fail(p, XOFF_E_UNIT, at, "%s and %s do not go together", quantity_words[a],
             quantity_words[b]);
    return b;
}

/* A word of three letters before '(' is a function: no metric has such a name. */
enum function { FUNCTION_ABS, FUNCTION_MIN, FUNCTION_MAX, N_FUNCTIONS };
static const char *const function_names[N_FUNCTIONS] = {"abs", "min", "max"};

static enum function function_at(const char *s)
{
    uint32_t i = 0;
    while (i < N_FUNCTIONS && strncmp(s, function_names[i], 3))
        i++;
    s += 3 * (i < N_FUNCTIONS);
    while (*s == ' ')
        s++;
    return *s == '(' ? (enum function)i : N_FUNCTIONS;
}

static struct quantity parse_function(struct parser *p, enum function function)
{
    p->at = strchr(p->at, '(') + 1;
    struct quantity q = parse_sum(p);
    skip_spaces(p);
    while (function != FUNCTION_ABS && *p->at == ',' && !p->status) {
        const char *comma = p->at++;
        const struct quantity next = parse_sum(p);
        if (p->status)
            break;
        q.kind = fit(p, comma, q.kind, next.kind);
        if (function == FUNCTION_MIN ? next.value < q.value : next.value > q.value)
            q.value = next.value;
        skip_spaces(p);
    }
    if (*p->at == ')')
        p->at++;
    else
        fail_unexpected(p, function == FUNCTION_ABS ? "an operator or ')'"
                                                    : "an operator, ',' or ')'");
    if (function == FUNCTION_ABS)
        q.value = quantity_magnitude(q.value);
    return q;
}

static struct quantity parse_factor(struct parser *p)
{
    struct quantity q = {0, KIND_ANY};

    skip_spaces(p);
    if (p->depth == MAX_DEPTH) {
        fail(p, XOFF_E_SYNTAX, p->at, "nested deeper than %d", MAX_DEPTH);
        return q;
    }
    p->depth++;
    if (*p->at == '-') {
        p->at++;
        q = parse_factor(p);
        q.value = -q.value;
    } else if (*p->at == '(') {
        p->at++;
        q = parse_sum(p);
        skip_spaces(p);
        if (*p->at == ')')
            p->at++;
        else
            fail_unexpected(p, "an operator or ')'");
    } else if (function_at(p->at) != N_FUNCTIONS) {
        q = parse_function(p, function_at(p->at));
    } else if (is_name_at(p->at)) {
        q = parse_name(p);
    } else if (is_digit(*p->at) || (*p->at == '.' && is_digit(p->at[1]))) {
        q = parse_number(p);
    } else {
        fail_unexpected(p, "a number, a metric or '('");
    }
    p->depth--;
    return q;
}

static bool is_plain(enum kind kind)
{
    return kind == KIND_ANY || kind == KIND_NUMBER;
}

/* Before a run, and where only names are read, metrics have no values. */
static bool has_values(const struct parser *p)
{
    return p->n_runs && !p->sought;
}

/* Without values the kind of a metric is unknown, and so is the kind of an expression with it. */
static bool is_open(const struct parser *p, struct quantity a, struct quantity b)
{
    return !has_values(p) && (a.kind == KIND_ANY || b.kind == KIND_ANY);
}

static struct quantity multiply(const struct parser *p, struct quantity a, struct quantity b)
{
    struct quantity q = {a.value * b.value, KIND_ANY};
    if (is_open(p, a, b))
        return q;
    if (is_plain(a.kind) && is_plain(b.kind))
        q.kind = a.kind == b.kind ? a.kind : KIND_NUMBER;
    else if (is_plain(a.kind))
        q.kind = b.kind;
    else if (is_plain(b.kind))
        q.kind = a.kind;
    return q;
}

static struct quantity divide(struct parser *p, const char *at, struct quantity a,
                              struct quantity b)
{
    struct quantity q = {0, KIND_ANY};
    if (is_open(p, a, b))
        return q;
    if (is_plain(b.kind))
        q.kind = is_plain(a.kind) && a.kind != b.kind ? KIND_NUMBER : a.kind;
    else if (a.kind == b.kind)
        q.kind = KIND_NUMBER;
    if (!has_values(p) || p->status)
        return q;
    if (b.value == 0)
        fail(p, XOFF_E_RANGE, at, "division by zero");
    else
        q.value = a.value / b.value;
    return q;
}

static struct quantity parse_product(struct parser *p)
{
    struct quantity q = parse_factor(p);
    while (!p->status) {
        skip_spaces(p);
        const char *sign = p->at;
        if (*sign != '*' && *sign != '/')
            break;
        p->at++;
        const struct quantity right = parse_factor(p);
        q = *sign == '*' ? multiply(p, q, right) : divide(p, sign, q, right);
    }
    return q;
}

static struct quantity parse_sum(struct parser *p)
{
    struct quantity q = parse_product(p);
    while (!p->status) {
        skip_spaces(p);
        const char *sign = p->at;
        if (*sign != '+' && *sign != '-')
            break;
        p->at++;
        const struct quantity right = parse_product(p);
        if (p->status)
            break;
        q.kind = fit(p, sign, q.kind, right.kind);
        q.value = *sign == '+' ? q.value + right.value : q.value - right.value;
    }
    return q;
}

static bool is_finite(double x)
{
    return x - x == 0;
}

static bool compare(enum comparison comparison, double a, double b)
{
    switch (comparison) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return a != b;
    case CMP_LE:
        return a <= b;
    case CMP_GE:
        return a >= b;
    case CMP_LT:
        return a < b;
    default:
        return a > b;
    }
}

/* "within 2%" of the right side, or "within 1us": turns equality into nearness. */
static bool parse_within(struct parser *p, const struct outcome *o)
{
    const char *at = p->at;
    p->at += strlen("within");
    skip_spaces(p);
    if (o->comparison != CMP_EQ) {
        fail(p, XOFF_E_SYNTAX, at, "'within' goes with == only");
        return false;
    }
    if (!is_digit(*p->at) && *p->at != '.') {
        fail_unexpected(p, "a tolerance such as 2% or 1us");
        return false;
    }
    at = p->at;
    struct quantity tolerance = parse_number(p);
    if (p->status)
        return false;
    if (p->at[-1] == '%')
        tolerance.value *= quantity_magnitude(o->right.value);
    else
        fit(p, at, fit(p, at, o->left.kind, o->right.kind), tolerance.kind);
    return quantity_magnitude(o->left.value - o->right.value) <= tolerance.value;
}

static void parse_comparison(struct parser *p, struct outcome *o)
{
    const char *sign = p->at;
    for (uint32_t i = 0; i < N_COMPARISONS; i++) {
        const size_t n = strlen(comparison_signs[i]);
        if (!strncmp(p->at, comparison_signs[i], n)) {
            o->comparison = (enum comparison)i;
            p->at += n;
            break;
        }
    }
    if (p->at != sign)
        return;
    if (*sign == '=')
        fail(p, XOFF_E_SYNTAX, sign, "'=' compares nothing: write ==");
    else
        fail_unexpected(p, "an operator or one of == != <= >= < >");
}

/* Returns the end of the text of a side: spaces before p->at are not part of it. */
static const char *side_end(const struct parser *p, const char *start)
{
    const char *end = p->at;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\n'))
        end--;
    return end;
}

static int evaluate(struct parser *p, struct outcome *o)
{
    *o = (struct outcome){0};
    skip_spaces(p);
    o->left_at = p->at;
    o->left = parse_sum(p);
    o->left_end = side_end(p, o->left_at);
    o->left_has_name = p->has_name;
    p->has_name = false;
    const char *sign = p->at;
    if (!p->status)
        parse_comparison(p, o);
    skip_spaces(p);
    o->right_at = p->at;
    if (!p->status)
        o->right = parse_sum(p);
    o->right_end = side_end(p, o->right_at);
    o->right_has_name = p->has_name;
    if (p->status)
        return p->status;

    fit(p, sign, o->left.kind, o->right.kind);
    if (!is_finite(o->left.value) || !is_finite(o->right.value))
        fail(p, XOFF_E_RANGE, o->left_at, "a side is too large to represent");
    o->holds = compare(o->comparison, o->left.value, o->right.value);
    if (is_name_at(p->at) && word_length(p->at) == 6 && !strncmp(p->at, "within", 6)) {
        o->holds = parse_within(p, o);
        skip_spaces(p);
        o->right_end = side_end(p, o->right_at);
    }
    if (*p->at)
        fail_unexpected(p, "an operator or the end");
    return p->status;
}

__attribute__((format(printf, 3, 4))) static void append(char *detail, size_t size,
                                                         const char *format, ...)
{
    const size_t used = strlen(detail);
    va_list args;
    va_start(args, format);
    if (used < size)
        vsnprintf(detail + used, size - used, format, args);
    va_end(args);
}

/* "fct.p99 = 81.2us <= 100us"; a side without names is shown as it was written. */
static void describe(const struct outcome *o, char *detail, size_t size)
{
    char left[48], right[48];
    const enum kind kind = o->left.kind != KIND_ANY ? o->left.kind : o->right.kind;
    for (int digits = 6; digits <= 18; digits += 3) { /* 17 digits tell any two doubles apart */
        quantity_format(left, sizeof left, (struct quantity){o->left.value, kind}, digits);
        quantity_format(right, sizeof right, (struct quantity){o->right.value, kind}, digits);
        if (o->left.value == o->right.value || strcmp(left, right))
            break; /* else more digits show the difference */
    }
    append(detail, size, "%.*s", (int)(o->left_end - o->left_at), o->left_at);
    if (o->left_has_name)
        append(detail, size, " = %s", left);
    append(detail, size, "%s %s %.*s", o->holds ? "" : ", not", comparison_signs[o->comparison],
           (int)(o->right_end - o->right_at), o->right_at);
    if (o->right_has_name)
        append(detail, size, " = %s", right);
}

int expect_evaluate(const char *text, const struct results *const *runs,
                    const struct summary *const *summaries, uint32_t n_runs, bool *holds,
                    char *detail, size_t detail_size, struct xoff_err *err)
{
    struct parser p = {.text = text, .at = text, .err = err, .checks_names = n_runs == 0};
    struct outcome o;
    char all[1024] = "", failed[1024] = "";
    bool all_hold = true;

    *holds = false;
    if (detail_size)
        *detail = '\0';
    if (strlen(text) > MAX_LENGTH) {
        fail(&p, XOFF_E_SYNTAX, text, "expectation of more than %d characters", MAX_LENGTH);
        return p.status;
    }
    /* The syntax is checked first: errors in it do not depend on the runs. */
    if (evaluate(&p, &o))
        return p.status;
    for (uint32_t i = 0; i < n_runs; i++) {
        p = (struct parser){.text = text,
                            .at = text,
                            .runs = runs,
                            .summaries = summaries,
                            .n_runs = n_runs,
                            .run = i,
                            .err = err};
        if (evaluate(&p, &o))
            return p.status;
        char *into[2] = {all, o.holds ? NULL : failed};
        for (uint32_t j = 0; j < 2; j++) {
            if (!into[j])
                continue;
            const bool is_one_of_many = p.has_bare_name && n_runs > 1;
            const char *variant = is_one_of_many ? output_text(runs[i]->variant) : "";
            append(into[j], sizeof all, "%s%s%s", *into[j] ? "; " : "", variant,
                   *variant ? ": " : "");
            describe(&o, into[j], sizeof all);
        }
        all_hold = all_hold && o.holds;
        if (!p.has_bare_name)
            break; /* equal in every run */
    }
    *holds = all_hold;
    if (detail_size)
        snprintf(detail, detail_size, "%s", all_hold ? all : failed);
    return 0;
}

bool expect_names(const char *text, const struct results *const *runs,
                  const struct summary *const *summaries, uint32_t n_runs, uint32_t run,
                  const char *metric)
{
    struct parser p = {.text = text,
                       .at = text,
                       .runs = runs,
                       .summaries = summaries,
                       .n_runs = n_runs,
                       .run = run,
                       .sought = summary_find(summaries[run], metric)};
    struct outcome o;
    return p.sought && !evaluate(&p, &o) && p.has_sought;
}

bool expect_names_variant(const char *text, const char *variant)
{
    struct parser p = {.text = text, .at = text, .variant = variant};
    struct outcome o;
    return !evaluate(&p, &o) && p.has_variant;
}

int expect_compute(const char *text, const struct results *const *runs,
                   const struct summary *const *summaries, uint32_t n_runs, double *value,
                   struct xoff_err *err)
{
    struct parser p = {.text = text, .at = text, .err = err, .checks_names = true};

    *value = 0;
    if (strlen(text) > MAX_LENGTH)
        fail(&p, XOFF_E_SYNTAX, text, "expression of more than %d characters", MAX_LENGTH);
    /* Syntax first, as above: with runs the text is read a second time. */
    for (uint32_t pass = 0; pass < 1 + (n_runs > 0) && !p.status; pass++) {
        p = (struct parser){.text = text,
                            .at = text,
                            .runs = runs,
                            .summaries = summaries,
                            .n_runs = pass ? n_runs : 0,
                            .checks_names = n_runs == 0,
                            .wants_variant = true,
                            .err = err};
        *value = parse_sum(&p).value;
        if (!p.status && *p.at)
            fail_unexpected(&p, "an operator or the end");
        if (!p.status && !is_finite(*value))
            fail(&p, XOFF_E_RANGE, text, "the value is too large to represent");
    }
    if (p.status || !n_runs)
        *value = 0;
    return p.status;
}
