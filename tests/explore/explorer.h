/* Breadth-first search over all states of a small world, however it is made.
 *
 * A model tells its initial state, how many choices a state offers and what each leads to. A state
 * is plain bytes, and equal states have equal bytes. Choice 0 of every state is the kind one: the
 * surroundings want nothing more and do what they can to bring the world to rest.
 *
 * Two things are checked. A step may answer that something must not happen. And from every state
 * the kind choices lead to rest: they form a path without a branch, so a world that does not come
 * to rest on it goes round in a circle, which is found.
 *
 * Of each state a fingerprint of 64 bits is kept, with its parent and the choice that led from
 * there; whole states are kept, packed, only while they wait to be expanded. Two states in n with
 * one fingerprint have a probability of about n^2 / 2^65: 3e-8 for 10^6 states, 3e-4 for 10^8. Then
 * one of them would not be expanded.
 *
 * When `max_states` are known the search goes on with the kind choices alone, so that each of them
 * is followed to rest.
 */
#ifndef EXPLORER_H
#define EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct explorer_model {
    size_t state_size; /* a multiple of 64 */
    void (*init)(const void *world, void *state);
    uint32_t (*n_choices)(const void *world, const void *state); /* 1 to 65535 */
    /* Returns NULL, or what must not happen. */
    const char *(*step)(const void *world, void *state, uint32_t choice);
    bool (*is_at_rest)(const void *world, const void *state);
};

struct explorer_answer {
    const char *violation; /* NULL: none */
    uint32_t *choices;     /* n_choices of them lead from the initial state to the violation */
    uint32_t n_choices;
    uint32_t n_states;   /* found, with every choice or by kind choices alone */
    uint32_t n_expanded; /* of these, all choices were tried */
    uint64_t n_steps;
    uint32_t depth;      /* longest shortest path to an expanded state */
    uint32_t rest_after; /* most kind steps from a state to rest */
    bool is_complete;    /* max_states did not end the search */
    size_t bytes;        /* of memory that the search took */
};

void explorer_run(const struct explorer_model *model, const void *world, uint32_t max_states,
                  struct explorer_answer *answer);
/* One step outside a search; a failed assertion is an answer, too. */
const char *explorer_step(const struct explorer_model *model, const void *world, void *state,
                          uint32_t choice);
void explorer_free(struct explorer_answer *answer);

#endif
