/* Room at the outputs of fabric `cioq`: see cioq_room.h. */
#include "net/cioq_room.h"

void cioq_want_match(struct cioq *c, struct worker *w)
{
    if (c->match_at != XOFF_NEVER)
        return;
    cioq_want_match_in(c, (uint64_t)(sim_now(w) + c->slot_for - 1) / (uint64_t)c->slot_for);
    if (c->is_in_timer) /* timer() and clock_slots() do it */
        return;
    cioq_set_clock(c);
    node_rearm(&c->sw.head, w);
}

void cioq_set_asking(struct cioq *c, uint32_t out)
{
    const uint32_t n_words = c->n_words;
    const struct cioq_output *o = &c->outputs[out];
    uint64_t *row = &c->asking[out * n_words], *sets = c->granted ? c->granted : c->asks;
    const uint32_t ready = c->granted ? XOFF_ALL_PRIORITIES : o->open & o->asked;
    for (uint32_t k = 0; k < n_words; k++) {
        row[k] = 0;
        for (uint32_t mask = ready; mask; mask &= mask - 1)
            row[k] |= cioq_row(sets, n_words, out, (uint32_t)__builtin_ctz(mask))[k];
    }
    if (cioq_is_empty(row, n_words))
        cioq_take_out(c->wanted, n_words, out);
    else
        cioq_put_in(c->wanted, n_words, out);
}

void cioq_let_cross(struct cioq *c, struct worker *w, uint32_t in, uint32_t out)
{
    const uint32_t n_words = c->n_words;
    cioq_put_in(&c->asking[out * n_words], n_words, in);
    cioq_put_in(c->wanted, n_words, out);
    if (cioq_is_in(c->idle_inputs, n_words, in) && cioq_is_in(c->idle_outputs, n_words, out))
        cioq_want_match(c, w);
}

/* Returns the next port of a set from `from` on, or NET_NONE. */
static uint32_t next_in(const uint64_t *set, uint32_t n_words, uint32_t from)
{
    for (uint32_t k = from / 64; k < n_words; k++, from = 0) {
        const uint64_t bits = set[k] & ~UINT64_C(0) << from % 64;
        if (bits)
            return cioq_first_of(k, bits);
    }
    return NET_NONE;
}

void cioq_grant_ahead(struct cioq *c, struct worker *w, uint32_t out)
{
    const uint32_t n_words = c->n_words;
    struct cioq_output *o = &c->outputs[out];
    uint32_t mask;
    while ((mask = o->open & o->asked)) {
        uint64_t waiting[XOFF_ARB_MAX_WORDS] = {0};
        for (uint32_t left = mask; left; left &= left - 1) {
            const uint32_t p = (uint32_t)__builtin_ctz(left);
            for (uint32_t k = 0; k < n_words; k++)
                waiting[k] |= cioq_row(c->asks, n_words, out, p)[k] &
                              ~cioq_row(c->granted, n_words, out, p)[k];
        }
        uint32_t in = next_in(waiting, n_words, o->grant_from);
        if (in == NET_NONE && (in = next_in(waiting, n_words, 0)) == NET_NONE)
            return;
        const uint32_t asks = cioq_priorities_in(c->asks, n_words, in, out, mask);
        const uint32_t p = cioq_next_priority(
            c, in, out, asks & ~cioq_priorities_in(c->granted, n_words, in, out, mask));
        cioq_take_room(c, out, p, store_at(&c->sw.store, cioq_queue(c, in, out, p)->head)->bytes);
        cioq_put_in(cioq_row(c->granted, n_words, out, p), n_words, in);
        o->grant_from = (uint16_t)(in + 1 < c->sw.n_ports ? in + 1 : 0);
        cioq_let_cross(c, w, in, out);
    }
}

void cioq_use_grant(struct cioq *c, uint32_t in, uint32_t out, uint32_t priority)
{
    cioq_take_out(cioq_row(c->granted, c->n_words, out, priority), c->n_words, in);
    cioq_set_asking(c, out);
}
