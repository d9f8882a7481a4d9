/* Rounds of request, grant and accept: what the arbiters have in common.
 *
 * Source: PIM (Anderson et al., 1993) and iSLIP (McKeown, 1999). In each round every output that is
 * not matched yet grants to one of the unmatched inputs that ask for it, and every input that got
 * grants accepts one of them. A round matches at least one pair as long as one is possible, so
 * n_ports rounds give a maximal matching, and log2(n_ports) do nearly always.
 *
 * How an output and an input choose is the arbiter's own. Each port has a pointer for it, which
 * moves one beyond the partner when a pair is matched in the first round, and only then: a
 * request cannot be passed over for ever, because the pointer of its output stays until the input
 * it points at has been served.
 */
#ifndef MECH_ARB_MATCHING_H
#define MECH_ARB_MATCHING_H

#include <xoff/arb.h>

#define MATCHING_INLINE static inline __attribute__((always_inline))

struct matching_params {
    int64_t iterations;
};

struct matching_cfg {
    uint32_t n_ports, n_words, n_rounds;
};

/* For each input the set of n_words words of the outputs that grant to it, empty between calls;
 * then the pointers of outputs and those of inputs. */
struct matching_state {
    uint64_t words[1];
};

#define MATCHING_PARAMS                                                                         \
    {                                                                                           \
        .name = "iterations", .type = XOFF_P_INT,                                               \
        .offset = offsetof(struct matching_params, iterations), .preset = "auto", .min = "1",   \
        .max = "512", .allows_auto = true,                                                      \
        .help = "Rounds of request, grant and accept for a matching; auto: log2 of the ports, " \
                "rounded up."                                                                   \
    }

static inline int matching_configure(const struct matching_params *p,
                                     const struct xoff_arb_env *env, struct matching_cfg *c,
                                     struct xoff_arb_shape *shape, struct xoff_err *err)
{
    if (env->n_ports > XOFF_ARB_MAX_PORTS) {
        xoff_err_set(err, XOFF_E_RANGE, "kind", NULL, "arbitrates among at most 512 ports, not ");
        xoff_err_add_int(err, env->n_ports);
        return -(int)XOFF_E_RANGE;
    }
    *c = (struct matching_cfg){.n_ports = env->n_ports, .n_words = (env->n_ports + 63) / 64};
    c->n_rounds = (uint32_t)p->iterations;
    if (p->iterations == XOFF_PARAM_AUTO)
        for (c->n_rounds = 1; 1u << c->n_rounds < env->n_ports;)
            c->n_rounds++;
    shape->state_size =
        (size_t)c->n_words * env->n_ports * sizeof(uint64_t) + 2 * env->n_ports * sizeof(uint16_t);
    return 0;
}

/* Returns the first port of the set at or after `from`, else the first of all; the set is not
 * empty. */
MATCHING_INLINE uint32_t matching_first(const uint64_t *set, uint32_t n_words, uint32_t from)
{
    if (n_words == 1) {
        const uint64_t later = set[0] & ~UINT64_C(0) << from;
        return (uint32_t)__builtin_ctzll(later ? later : set[0]);
    }
    uint32_t word = from / 64;
    uint64_t bits = set[word] & ~UINT64_C(0) << from % 64;
    while (!bits) {
        word = word + 1 < n_words ? word + 1 : 0;
        bits = set[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* Returns the next port of the set at or after `from`, or UINT32_MAX. */
MATCHING_INLINE uint32_t matching_next(const uint64_t *set, uint32_t n_words, uint32_t from)
{
    uint32_t word = from / 64;
    if (word >= n_words)
        return UINT32_MAX;
    uint64_t bits = set[word] & ~UINT64_C(0) << from % 64;
    while (!bits) {
        if (++word == n_words)
            return UINT32_MAX;
        bits = set[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

MATCHING_INLINE uint64_t *matching_word(uint64_t *set, uint32_t n_words, uint32_t port)
{
    return n_words == 1 ? set : &set[port / 64];
}

MATCHING_INLINE uint64_t matching_bit(uint32_t port)
{
    return UINT64_C(1) << port % 64;
}

/* Chooses one of a set for a port. Weights of the candidates are `step` apart from bytes[0];
 * `bytes` is NULL if the arbiter does not read them. */
typedef uint32_t matching_choice(const uint64_t *set, uint32_t n_words, uint32_t from,
                                 const uint32_t *bytes, uint32_t step);

/* `bytes` is view->bytes, or NULL for an arbiter that does not read them. */
MATCHING_INLINE void matching_match_words(const struct matching_cfg *c, struct matching_state *s,
                                          const struct xoff_arb_view *view, uint32_t n_words,
                                          const uint32_t *bytes, matching_choice *choose,
                                          struct xoff_arb_matching *out)
{
    const uint32_t n = c->n_ports;
    uint64_t *grants = s->words;
    uint16_t *output_from = (uint16_t *)(grants + (size_t)n * n_words);
    uint16_t *input_from = output_from + n;
    struct xoff_arb_pair *pair = out->at + out->n;
    /* Of one word, these are in registers. */
    uint64_t free_inputs[XOFF_ARB_MAX_WORDS], unmatched[XOFF_ARB_MAX_WORDS];
    uint64_t granted[XOFF_ARB_MAX_WORDS];
    for (uint32_t k = 0; k < n_words; k++) {
        free_inputs[k] = view->inputs[k];
        unmatched[k] = view->outputs[k];
        granted[k] = 0;
    }
    for (uint32_t round = 0; round < c->n_rounds; round++) {
        uint64_t any_granted = 0;
        for (uint32_t word = 0; word < n_words; word++)
            for (uint64_t bits = unmatched[word]; bits; bits &= bits - 1) {
                const uint32_t output = word * 64 + (uint32_t)__builtin_ctzll(bits);
                uint64_t set[XOFF_ARB_MAX_WORDS], any = 0;
                for (uint32_t k = 0; k < n_words; k++)
                    any |= set[k] = view->asking[(size_t)output * n_words + k] & free_inputs[k];
                if (!any) { /* nobody is left who asks for it */
                    unmatched[word] ^= bits & -bits;
                    continue;
                }
                const uint32_t input = choose(set, n_words, output_from[output],
                                              bytes ? bytes + (size_t)output * n : NULL, 1);
                *matching_word(grants + (size_t)input * n_words, n_words, output) |= bits & -bits;
                any_granted |= *matching_word(granted, n_words, input) |= matching_bit(input);
            }
        if (!any_granted)
            break;
        for (uint32_t word = 0; word < n_words; word++) {
            uint64_t bits = granted[word];
            granted[word] = 0;
            free_inputs[word] &= ~bits;
            for (; bits; bits &= bits - 1) {
                const uint32_t input = word * 64 + (uint32_t)__builtin_ctzll(bits);
                uint64_t *set = grants + (size_t)input * n_words;
                const uint32_t output =
                    choose(set, n_words, input_from[input], bytes ? bytes + input : NULL, n);
                for (uint32_t k = 0; k < n_words; k++)
                    set[k] = 0;
                *matching_word(unmatched, n_words, output) &= ~matching_bit(output);
                *pair++ = (struct xoff_arb_pair){(uint16_t)input, (uint16_t)output};
                if (round == 0) {
                    output_from[output] = (uint16_t)(input + 1 < n ? input + 1 : 0);
                    input_from[input] = (uint16_t)(output + 1 < n ? output + 1 : 0);
                }
            }
        }
    }
    out->n = (uint32_t)(pair - out->at);
}

/* Most switches have up to 64 ports: sets are one word, and the loops over words disappear. */
MATCHING_INLINE void matching_match(const struct matching_cfg *c, struct matching_state *s,
                                    const struct xoff_arb_view *view, const uint32_t *bytes,
                                    matching_choice *choose, struct xoff_arb_matching *out)
{
    if (c->n_words == 1)
        matching_match_words(c, s, view, 1, bytes, choose, out);
    else
        matching_match_words(c, s, view, c->n_words, bytes, choose, out);
}

#endif
