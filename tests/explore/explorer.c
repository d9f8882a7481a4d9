/* Breadth-first search: see explorer.h. */
#include "explore/explorer.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/err.h>
#include <xoff/rng.h>

#define NONE UINT32_MAX
#define AT_REST 0x8000u /* flag beside the choice that led to a state */

/* Packed states that wait, in blocks: a block that is read to its end is free for those that come,
 * so that a line takes hardly more than what is in it. */
#define BLOCK_BYTES (1 << 20)

struct block {
    struct block *next;
    size_t size;
    uint8_t bytes[];
};

struct line {
    struct block *first, *last;
};

struct search {
    const struct explorer_model *model;
    const void *world;
    uint64_t *prints;  /* fingerprint of each state */
    uint32_t *parents; /* the state it was first reached from */
    uint16_t *choices; /* the choice that led from there, and AT_REST */
    uint32_t *kind;    /* the state that choice 0 leads to */
    uint32_t n, capacity;
    uint32_t *table; /* state numbers + 1 by fingerprint; 0: free */
    uint64_t mask;
    struct line now, next;
    struct block *free_blocks;
    size_t n_words, block_bytes, n_blocks;
    uint64_t *first, *at, *trial; /* initial state, the one that is expanded, and a successor */
    uint8_t *packed;
    uint32_t current, choice; /* what is being tried */
};

/* A failed assertion in the code under test ends here while a search runs. */
static jmp_buf failed;
static bool is_searching;
static char assertion[256];

__attribute__((noreturn)) void xoff_assert_fail(const char *expression, const char *file, int line)
{
    snprintf(assertion, sizeof assertion, "assertion at %s:%d: %s", file, line, expression);
    if (is_searching)
        longjmp(failed, 1);
    fprintf(stderr, "%s\n", assertion);
    abort();
}

static void *checked(void *memory)
{
    if (!memory) {
        fprintf(stderr, "not enough memory\n");
        exit(1);
    }
    return memory;
}

static void *zeroed(size_t n, size_t size)
{
    return checked(calloc(n ? n : 1, size));
}

/* Packing. What equals the initial state takes no room: a mask tells in which of 64 groups of eight
 * words something differs, a byte for each of them in which words, and one for each of these in
 * which bytes. */

#define GROUP 8
#define GROUPS 64

static uint8_t *pack_group(const uint64_t *state, const uint64_t *first, uint8_t *p)
{
    uint8_t *words = p++;
    *words = 0;
    for (unsigned k = 0; k < GROUP; k++) {
        uint64_t x = state[k] ^ first[k];
        if (!x)
            continue;
        *words |= (uint8_t)(1u << k);
        uint8_t *bytes = p++;
        *bytes = 0;
        while (x) {
            const unsigned b = (unsigned)__builtin_ctzll(x) / 8;
            *bytes |= (uint8_t)(1u << b);
            *p++ = (uint8_t)(x >> 8 * b);
            x &= ~(UINT64_C(0xff) << 8 * b);
        }
    }
    return p;
}

static size_t pack(const struct search *s, const uint64_t *state, uint8_t *out)
{
    uint8_t *p = out;
    for (size_t i = 0; i < s->n_words; i += GROUP * GROUPS) {
        uint8_t *at = p;
        uint64_t groups = 0;
        p += sizeof groups;
        for (size_t g = 0; g < GROUPS && i + g * GROUP < s->n_words; g++) {
            const uint64_t *a = state + i + g * GROUP, *b = s->first + i + g * GROUP;
            uint64_t differs = 0;
            for (unsigned k = 0; k < GROUP; k++)
                differs |= a[k] ^ b[k];
            if (!differs)
                continue;
            groups |= UINT64_C(1) << g;
            p = pack_group(a, b, p);
        }
        memcpy(at, &groups, sizeof groups);
    }
    return (size_t)(p - out);
}

static const uint8_t *unpack(const struct search *s, const uint8_t *in, uint64_t *state)
{
    memcpy(state, s->first, s->n_words * sizeof *state);
    for (size_t i = 0; i < s->n_words; i += GROUP * GROUPS) {
        uint64_t groups;
        memcpy(&groups, in, sizeof groups);
        in += sizeof groups;
        for (; groups; groups &= groups - 1) {
            uint64_t *at = state + i + GROUP * (size_t)__builtin_ctzll(groups);
            for (unsigned words = *in++; words; words &= words - 1)
                for (unsigned bytes = *in++; bytes; bytes &= bytes - 1)
                    at[__builtin_ctz(words)] ^= (uint64_t)*in++ << 8 * __builtin_ctz(bytes);
        }
    }
    return in;
}

static uint64_t fingerprint(const uint8_t *bytes, size_t size)
{
    uint64_t h = size * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; size -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        h = (h ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
        h ^= h >> 32;
    }
    uint64_t word = 0;
    memcpy(&word, bytes, size);
    return xoff_mix64(h ^ word * UINT64_C(0x94d049bb133111eb));
}

static void append(struct search *s, struct line *line, const uint8_t *bytes, size_t size)
{
    if (!line->last || line->last->size + size > s->block_bytes) {
        struct block *b = s->free_blocks;
        if (b) {
            s->free_blocks = b->next;
        } else {
            b = checked(malloc(sizeof *b + s->block_bytes));
            s->n_blocks++;
        }
        b->next = NULL;
        b->size = 0;
        *(line->last ? &line->last->next : &line->first) = b;
        line->last = b;
    }
    memcpy(line->last->bytes + line->last->size, bytes, size);
    line->last->size += size;
}

/* The set of known states */

static void grow(struct search *s)
{
    s->capacity = s->capacity ? s->capacity / 2 * 3 : 1 << 16;
    s->prints = checked(realloc(s->prints, s->capacity * sizeof *s->prints));
    s->parents = checked(realloc(s->parents, s->capacity * sizeof *s->parents));
    s->choices = checked(realloc(s->choices, s->capacity * sizeof *s->choices));
    s->kind = checked(realloc(s->kind, s->capacity * sizeof *s->kind));
}

static void rehash(struct search *s, uint64_t n_entries)
{
    free(s->table);
    s->table = zeroed(n_entries, sizeof *s->table);
    s->mask = n_entries - 1;
    for (uint32_t i = 0; i < s->n; i++) {
        uint64_t at = s->prints[i] & s->mask;
        while (s->table[at])
            at = (at + 1) & s->mask;
        s->table[at] = i + 1;
    }
}

/* Returns the number of a state, and puts it in line if it was not known. */
static uint32_t number_of(struct search *s, const uint64_t *state)
{
    const size_t size = pack(s, state, s->packed);
    const uint64_t print = fingerprint(s->packed, size);
    uint64_t at = print & s->mask;
    for (; s->table[at]; at = (at + 1) & s->mask)
        if (s->prints[s->table[at] - 1] == print)
            return s->table[at] - 1;
    if (s->n == s->capacity)
        grow(s);
    const uint32_t number = s->n++;
    s->table[at] = s->n;
    s->prints[number] = print;
    s->parents[number] = s->current;
    s->choices[number] = (uint16_t)s->choice;
    s->kind[number] = NONE;
    if (s->model->is_at_rest(s->world, state))
        s->choices[number] |= AT_REST;
    append(s, &s->next, s->packed, size);
    if (s->n > (s->mask + 1) / 8 * 5)
        rehash(s, 2 * (s->mask + 1));
    return number;
}

/* Tries `n` choices of state number `current`, which is in `at`. */
static const char *expand(struct search *s, uint32_t n)
{
    for (s->choice = 0; s->choice < n; s->choice++) {
        memcpy(s->trial, s->at, s->n_words * sizeof *s->at);
        const char *violation = s->model->step(s->world, s->trial, s->choice);
        if (violation)
            return violation;
        const uint32_t to = number_of(s, s->trial);
        if (s->choice == 0)
            s->kind[s->current] = to;
    }
    return NULL;
}

static const char *expand_all(struct search *s, uint32_t max_states, struct explorer_answer *answer)
{
    uint32_t number = 0;
    answer->is_complete = true;
    for (uint32_t depth = 0; s->next.first; depth++) {
        s->now = s->next;
        s->next = (struct line){0};
        while (s->now.first) {
            struct block *b = s->now.first;
            const uint8_t *in = b->bytes;
            while (in < b->bytes + b->size) {
                in = unpack(s, in, s->at);
                s->current = number++;
                uint32_t n = 1;
                if (s->n < max_states) {
                    n = s->model->n_choices(s->world, s->at);
                    answer->n_expanded++;
                    answer->depth = depth;
                } else {
                    answer->is_complete = false;
                }
                answer->n_steps += n;
                const char *violation = expand(s, n);
                if (violation)
                    return violation;
            }
            s->now.first = b->next;
            b->next = s->free_blocks;
            s->free_blocks = b;
        }
    }
    return NULL;
}

/* Follows the kind choices of every state to rest. `after` is the number of steps still to go,
 * UNKNOWN before it is found and HERE while it is looked for. */
enum { UNKNOWN = 0xffff, HERE = 0xfffe };

static const char *find_circle(struct search *s, struct explorer_answer *answer)
{
    uint16_t *after = zeroed(s->n, sizeof *after);
    const char *violation = NULL;
    memset(after, 0xff, s->n * sizeof *after);
    for (uint32_t i = 0; i < s->n && !violation; i++) {
        uint32_t j = i;
        for (; after[j] == UNKNOWN && !(s->choices[j] & AT_REST); j = s->kind[j])
            after[j] = HERE;
        if (after[j] == HERE) {
            s->current = i; /* the first state by number: it has the shortest path */
            violation = "it never comes to rest, although nothing more is sent and all may leave";
            break;
        }
        if (after[j] == UNKNOWN)
            after[j] = 0;
        const uint16_t rest = after[j];
        uint32_t n = 0;
        for (j = i; after[j] == HERE; j = s->kind[j])
            n++;
        for (j = i; after[j] == HERE; j = s->kind[j])
            after[j] = (uint16_t)(rest + n--);
        if (after[i] > answer->rest_after)
            answer->rest_after = after[i];
    }
    free(after);
    return violation;
}

static void tell_path(const struct search *s, bool with_choice, struct explorer_answer *answer)
{
    uint32_t n = with_choice;
    for (uint32_t i = s->current; i; i = s->parents[i])
        n++;
    answer->n_choices = n;
    answer->choices = zeroed(n, sizeof *answer->choices);
    if (with_choice)
        answer->choices[--n] = s->choice;
    for (uint32_t i = s->current; i; i = s->parents[i])
        answer->choices[--n] = s->choices[i] & ~AT_REST;
}

static void begin(struct search *s, const struct explorer_model *model, const void *world)
{
    *s = (struct search){.model = model, .world = world, .n_words = model->state_size / 8};
    s->first = zeroed(s->n_words, sizeof *s->first);
    s->at = zeroed(s->n_words, sizeof *s->at);
    s->trial = zeroed(s->n_words, sizeof *s->trial);
    const size_t most = 16 + s->n_words / GROUP + 9 * s->n_words; /* of a packed state */
    s->packed = zeroed(most, 1);
    s->block_bytes = most > BLOCK_BYTES ? most : BLOCK_BYTES;
    model->init(world, s->first);
    rehash(s, 1 << 16);
    number_of(s, s->first);
}

static void free_line(struct block *first)
{
    for (struct block *b = first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
}

static void end(struct search *s)
{
    free(s->prints);
    free(s->parents);
    free(s->choices);
    free(s->kind);
    free(s->table);
    free_line(s->now.first);
    free_line(s->next.first);
    free_line(s->free_blocks);
    free(s->first);
    free(s->at);
    free(s->trial);
    free(s->packed);
}

void explorer_run(const struct explorer_model *model, const void *world, uint32_t max_states,
                  struct explorer_answer *answer)
{
    static struct search s; /* out of reach of longjmp() */
    memset(answer, 0, sizeof *answer);
    begin(&s, model, world);
    is_searching = true;
    if (setjmp(failed) == 0)
        answer->violation = expand_all(&s, max_states, answer);
    else
        answer->violation = assertion;
    is_searching = false;
    if (answer->violation)
        tell_path(&s, true, answer);
    else if ((answer->violation = find_circle(&s, answer)))
        tell_path(&s, false, answer);
    answer->n_states = s.n;
    answer->bytes =
        s.capacity * (sizeof *s.prints + sizeof *s.parents + sizeof *s.choices + sizeof *s.kind) +
        (s.mask + 1) * sizeof *s.table + s.n_blocks * s.block_bytes;
    end(&s);
}

const char *explorer_step(const struct explorer_model *model, const void *world, void *state,
                          uint32_t choice)
{
    const char *volatile violation = assertion;
    is_searching = true;
    if (setjmp(failed) == 0)
        violation = model->step(world, state, choice);
    is_searching = false;
    return violation;
}

void explorer_free(struct explorer_answer *answer)
{
    free(answer->choices);
    answer->choices = NULL;
}
