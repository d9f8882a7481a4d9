/* Role arb: which inputs of a crossbar send to which outputs next.
 *
 * Frames wait at inputs. The caller says which inputs ask for which outputs, and which ports may be
 * matched: those that are not busy, and outputs that have room. The arbiter answers a matching:
 * pairs of such an input and an output it asked for, in which no port occurs twice. The contract is
 * that of every role (role.h); cfg and state belong to a switch.
 *
 * Sets of ports are bit masks of view.n_words words: bit n % 64 of word n / 64 is port n.
 */
#ifndef XOFF_ARB_H
#define XOFF_ARB_H

#include <xoff/role.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XOFF_ARB_MAX_PORTS 512
#define XOFF_ARB_MAX_WORDS (XOFF_ARB_MAX_PORTS / 64)

struct xoff_arb_env {
    uint32_t n_ports;
};

struct xoff_arb_view {
    uint32_t n_words;        /* of a set of ports: n_ports / 64, rounded up */
    const uint64_t *inputs;  /* set: inputs that may be matched */
    const uint64_t *outputs; /* set: outputs that may be matched */
    const uint64_t *asking;  /* [output * n_words]: set of inputs that ask for the output; means
                              * nothing for outputs that may not be matched */
    /* [output * n_ports + input]: bytes that wait at the input for the output, if
     * shape.sees_bytes, else NULL. */
    const uint32_t *bytes;
};

struct xoff_arb_pair {
    uint16_t input, output;
};

/* `at` has room for n_ports pairs. */
struct xoff_arb_matching {
    uint32_t n;
    struct xoff_arb_pair *at;
};

struct xoff_arb_shape {
    size_t state_size;
    bool sees_bytes; /* reads view.bytes */
};

struct xoff_arb_ops {
    const char *name, *summary;
    const struct xoff_param *params;
    size_t params_size;
    size_t cfg_size, cfg_port_size;
    int (*configure)(const void *params, const struct xoff_arb_env *env, void *cfg,
                     struct xoff_arb_shape *shape, struct xoff_err *err);
    void (*init)(const void *cfg, void *state);
    /* Appends pairs; the caller has emptied `out`. Answers at least one pair if there is any, so
     * that a caller who asks again after each matching gets every frame through. */
    void (*match)(const void *cfg, void *state, const struct xoff_arb_view *view,
                  struct xoff_arb_matching *out);
};

/* A configured arbiter: the typed handle that everyone calls through. */
struct xoff_arb {
    const struct xoff_arb_ops *ops;
    const void *cfg;
    void *state;
    struct xoff_arb_shape shape;
};

XOFF_ROLE(arb)

/* `state` has shape.state_size bytes and stays the caller's. */
static inline void xoff_arb_init(struct xoff_arb *arb, void *state)
{
    arb->state = state;
    if (arb->ops->init)
        arb->ops->init(arb->cfg, state);
    else
        memset(state, 0, arb->shape.state_size);
}

static inline void xoff_arb_match(const struct xoff_arb *arb, const struct xoff_arb_view *view,
                                  struct xoff_arb_matching *out)
{
    out->n = 0;
    arb->ops->match(arb->cfg, arb->state, view, out);
}

#ifdef __cplusplus
}
#endif

#endif
