/* The parts of fabric `cioq` that its files share: switch_cioq.c has the path of a frame,
 * cioq_room.c the room at its outputs; cioq_build.c builds the fabric and describes its buffers. */
#ifndef NET_CIOQ_H
#define NET_CIOQ_H

#include "net/switch.h"

#define CIOQ_INLINE static inline __attribute__((always_inline))

/* Parameters as the scenario writes them: cioq_table. */
struct cioq_params {
    int64_t voq;
    double speedup;
    int64_t output_buffer, output_reserve;
    int64_t cell, grants;
    xoff_time round_trip;
};

/* When an output takes the room for a frame. */
enum cioq_grants { CIOQ_MATCHED, CIOQ_AHEAD };

/* Frames that wait at an input: for an output and priority, or without VOQs for a priority. */
struct cioq_voq {
    uint32_t head, tail, n;
    uint32_t bytes;
};

struct cioq_input {
    struct xoff_mmu mmu; /* of the one port */
    struct maxima maxima;
};

struct cioq_output {
    int64_t taken_bytes; /* of frames that lie in the buffer or have room reserved in it */
    int64_t peak_bytes;
    int64_t held_bytes;   /* of frames that lie in it */
    int64_t shared_bytes; /* taken beyond the reserves */
    int64_t by_priority[XOFF_N_PRIORITIES];
    uint8_t asked; /* priorities of which a frame at the head of an input is for this output */
    uint8_t open;  /* priorities that have room for a largest frame */
    uint16_t grant_from; /* CIOQ_AHEAD: whose turn is next */
    struct xoff_mmu mmu; /* describes the buffer: output_view() */
};

/* What an output buffer is like; the same for all. */
struct cioq_output_cfg {
    int64_t capacity_bytes, shared_bytes, reserve_bytes, max_frame_bytes;
};

struct cioq {
    struct sw sw;
    struct cioq_input *inputs;
    struct cioq_output *outputs;
    struct cioq_output_cfg output_cfg;
    bool has_voqs;
    uint32_t n_words; /* of a set of ports */
    uint32_t cell_bytes;
    xoff_time slot_for, round_trip;
    /* Sets of ports; a port is idle while it takes no part in a transfer. */
    uint64_t *idle_inputs, *idle_outputs;
    uint32_t *moving;   /* by input, if it is not idle: the place of the frame that crosses */
    uint32_t turn_mask; /* the turn of a slot is its number & turn_mask, which is 2^k - 1 */
    uint64_t *done;     /* [turn * n_words]: inputs whose transfer ends in the slot of that turn */
    uint64_t *turns;    /* set of turns in which a transfer ends */
    uint64_t *asks;     /* [(output * XOFF_N_PRIORITIES + priority) * n_words]: set of inputs */
    uint64_t *granted;  /* like asks: inputs whose head has room already; NULL: CIOQ_MATCHED */
    /* [output * n_words]: inputs, idle or not, with a head that may cross to the output: it asks,
     * and its priority has room there (CIOQ_MATCHED), or it was given some (CIOQ_AHEAD). And the
     * outputs for which there are any. */
    uint64_t *asking, *wanted;
    struct cioq_voq *voqs;  /* cioq_queue() */
    uint8_t *last_priority; /* [output * n_ports + input]: the one that crossed last */
    uint32_t *pair_bytes;   /* [output * n_ports + input], or NULL: the arbiter reads none */
    int64_t *waiting_bytes; /* [output * XOFF_N_PRIORITIES + priority], in all inputs */
    struct xoff_arb arb;
    struct xoff_arb_matching matching;
    /* Both XOFF_NEVER if there is nothing to do: when the first frame of all has crossed, and when
     * the arbiter is asked, which is 1 ps after the start of the slot. */
    xoff_time first_at, match_at;
    uint64_t first_slot, match_slot; /* the numbers of these slots */
    bool is_in_timer;                /* the switch handles its timers, and rearms when it is done */
    struct fifo line;                /* frames that the arbiter has not heard of yet */
    struct xoff_pause pause;
    struct xoff_edges edges;
};

/* Timers of the fabric. Those that expire at once are handled in this order; slots come before
 * CIOQ_PAUSE (fabric_ops.clock_before). */
enum { CIOQ_LINE, CIOQ_PAUSE, CIOQ_TIMERS };

static inline uint32_t cioq_cells(uint32_t bytes, uint32_t cell_bytes)
{
    return (bytes + XOFF_OVERHEAD_BYTES + cell_bytes - 1) / cell_bytes;
}

static inline struct cioq *cioq_of(const struct sw *sw)
{
    return (struct cioq *)sw;
}

/* Sets of ports are of n_words words. Most switches have up to 64 ports: where n_words is the
 * constant 1, port / 64 need not be computed, and loops over words disappear. */
static inline uint64_t *cioq_word(uint64_t *set, uint32_t n_words, uint32_t port)
{
    return n_words == 1 ? set : &set[port / 64];
}

static inline uint64_t cioq_bit(uint32_t port)
{
    return UINT64_C(1) << port % 64;
}

static inline bool cioq_is_in(uint64_t *set, uint32_t n_words, uint32_t port)
{
    return *cioq_word(set, n_words, port) & cioq_bit(port);
}

static inline void cioq_put_in(uint64_t *set, uint32_t n_words, uint32_t port)
{
    *cioq_word(set, n_words, port) |= cioq_bit(port);
}

static inline void cioq_take_out(uint64_t *set, uint32_t n_words, uint32_t port)
{
    *cioq_word(set, n_words, port) &= ~cioq_bit(port);
}

static inline bool cioq_is_empty(const uint64_t *set, uint32_t n_words)
{
    uint64_t any = 0;
    for (uint32_t k = 0; k < n_words; k++)
        any |= set[k];
    return !any;
}

/* The first port of a word of a set; of the loops over the ports of a set, the inner one is over
 * the bits of a copy of the word. */
static inline uint32_t cioq_first_of(uint32_t word, uint64_t bits)
{
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* Returns the inputs of a set like c->asks. */
static inline uint64_t *cioq_row(uint64_t *sets, uint32_t n_words, uint32_t out, uint32_t priority)
{
    return &sets[(out * XOFF_N_PRIORITIES + priority) * n_words];
}

static inline struct cioq_voq *cioq_queue(const struct cioq *c, uint32_t in, uint32_t out,
                                          uint32_t priority)
{
    const uint32_t row = c->has_voqs ? in * c->sw.n_ports + out : in;
    return &c->voqs[row * XOFF_N_PRIORITIES + priority];
}

/* cioq_build.c */
extern const struct xoff_param cioq_table[];
xoff_time cioq_transit(const struct net_switch *spec, xoff_rate fastest_bps, uint32_t bytes,
                       xoff_time *carries_for);
uint64_t cioq_estimate(const struct net_switch *spec, uint32_t n_ports);
int cioq_build(struct sw *sw, const struct xoff_mmu_env *env, enum net_part *part,
               struct xoff_err *err);
void cioq_image(struct sw *sw, struct image *image);
void cioq_destroy(struct sw *sw);
bool cioq_buffer(const struct sw *sw, uint32_t i, struct fabric_buffer *buffer);

#endif
