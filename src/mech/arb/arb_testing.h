/* Drives an arbiter by plain matrices of requests, for its tests. Every matching is checked: only
 * pairs of ports that are not busy and asked, no port twice. */
#ifndef MECH_ARB_TESTING_H
#define MECH_ARB_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xoff/registry.h>

#define MAX XOFF_ARB_MAX_PORTS
#define NOBODY UINT32_MAX

struct board {
    struct xoff_arb arb;
    uint32_t n;
    uint32_t *bytes; /* [output * n + input]: 0: the input does not ask */
    bool is_busy_input[MAX], is_busy_output[MAX];
    uint32_t match[MAX]; /* by input: its output, or NOBODY */
    uint32_t n_matched;
};

static int board_try(struct board *b, const char *name, uint32_t n, const char *iterations,
                     struct xoff_err *err)
{
    const struct xoff_arb_ops *ops = xoff_arb_find(name);
    _Alignas(16) unsigned char params[64];
    assert_non_null(ops);
    assert_true(ops->params_size <= sizeof params);
    xoff_param_defaults(ops->params, params);
    if (iterations) {
        const int code =
            xoff_param_set(xoff_param_find(ops->params, "iterations"), params, iterations, err);
        if (code)
            return code;
    }
    const struct xoff_arb_env env = {.n_ports = n};
    void *cfg = calloc(1, xoff_arb_cfg_size(ops, n));
    const int code = xoff_arb_configure(&b->arb, ops, params, &env, cfg, err);
    if (code) {
        free(cfg);
        return code;
    }
    xoff_arb_init(&b->arb, malloc(b->arb.shape.state_size));
    b->n = n;
    memset(b->is_busy_input, 0, sizeof b->is_busy_input);
    memset(b->is_busy_output, 0, sizeof b->is_busy_output);
    b->bytes = calloc((size_t)n * n, sizeof *b->bytes);
    return 0;
}

static void board_init(struct board *b, const char *name, uint32_t n, const char *iterations)
{
    struct xoff_err err = {0};
    assert_int_equal(board_try(b, name, n, iterations, &err), 0);
}

static void board_fini(struct board *b)
{
    free((void *)b->arb.cfg), free(b->arb.state), free(b->bytes);
}

static inline uint32_t *board_at(struct board *b, uint32_t input, uint32_t output)
{
    return &b->bytes[(size_t)output * b->n + input];
}

/* Whether the input asks for the output and neither is busy. */
static inline bool board_may_match(struct board *b, uint32_t input, uint32_t output)
{
    return *board_at(b, input, output) && !b->is_busy_input[input] && !b->is_busy_output[output];
}

static void board_match(struct board *b)
{
    const uint32_t n_words = (b->n + 63) / 64;
    uint64_t inputs[XOFF_ARB_MAX_WORDS] = {0}, outputs[XOFF_ARB_MAX_WORDS] = {0};
    uint64_t *asking = calloc((size_t)b->n * n_words, sizeof *asking);
    bool is_any = false;
    for (uint32_t port = 0; port < b->n; port++) {
        inputs[port / 64] |= (uint64_t)!b->is_busy_input[port] << port % 64;
        outputs[port / 64] |= (uint64_t)!b->is_busy_output[port] << port % 64;
        if (b->is_busy_output[port]) /* its row may hold anything */
            memset(&asking[(size_t)port * n_words], 0xff, n_words * sizeof *asking);
    }
    for (uint32_t out = 0; out < b->n; out++)
        for (uint32_t in = 0; in < b->n; in++) {
            if (*board_at(b, in, out))
                asking[(size_t)out * n_words + in / 64] |= UINT64_C(1) << in % 64;
            is_any |= board_may_match(b, in, out);
        }
    const struct xoff_arb_view view = {.n_words = n_words,
                                       .inputs = inputs,
                                       .outputs = outputs,
                                       .asking = asking,
                                       .bytes = b->arb.shape.sees_bytes ? b->bytes : NULL};
    struct xoff_arb_pair pairs[MAX];
    struct xoff_arb_matching out = {99, pairs};
    xoff_arb_match(&b->arb, &view, &out);
    free(asking);
    bool taken[MAX] = {false};
    memset(b->match, 0xff, sizeof b->match);
    assert_true(out.n <= b->n);
    for (uint32_t i = 0; i < out.n; i++) {
        const struct xoff_arb_pair p = pairs[i];
        assert_true(p.input < b->n && p.output < b->n);
        assert_true(board_may_match(b, p.input, p.output));
        assert_int_equal(b->match[p.input], NOBODY);
        assert_false(taken[p.output]);
        b->match[p.input] = p.output;
        taken[p.output] = true;
    }
    assert_int_equal(is_any, out.n > 0); /* somebody always gets through */
    b->n_matched = out.n;
}

/* Whether no free input asks for a free output. */
static inline bool board_is_maximal(struct board *b)
{
    bool taken[MAX] = {false};
    for (uint32_t in = 0; in < b->n; in++)
        if (b->match[in] != NOBODY)
            taken[b->match[in]] = true;
    for (uint32_t in = 0; in < b->n; in++)
        for (uint32_t out = 0; out < b->n; out++)
            if (b->match[in] == NOBODY && !taken[out] && board_may_match(b, in, out))
                return false;
    return true;
}

/* Everybody asks for everything, with as many bytes. */
static inline void board_ask_all(struct board *b, uint32_t bytes)
{
    for (uint32_t i = 0; i < b->n * b->n; i++)
        b->bytes[i] = bytes;
}

/* Expects input i matched with output expected[i]; -1: not at all. */
static inline void board_expect(const struct board *b, const int *expected)
{
    for (uint32_t i = 0; i < b->n; i++)
        assert_int_equal((int)b->match[i], expected[i]);
}

#endif
