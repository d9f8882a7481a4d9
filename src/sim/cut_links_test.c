/* Frames between ranks, and what is attached to them. The ranks of this test are threads.
 *
 *     0 --- 1 --- 2 --- 3 --- 4 --- 5      each pair of nodes is a rank: 0 1, 2 3, 4 5
 *
 * Node 0 sends frames in bursts, and the others send them on. The octets that are attached to a
 * frame must be at a rank before the frame is, the same, and as many.
 */
#include <pthread.h>

#include "sim/sim_testing.h"

#define N_RANKS 3
#define N_NODES 6
#define N_FRAMES 400
#define BURST 7
#define DELAY 1000
#define MOST_OCTETS 20000

struct rank {
    struct sim_ranks ranks;
    struct sim *sim;
    struct sim_node nodes[N_NODES];
    struct place {
        struct rank *rank;
        uint32_t node;
    } places[N_NODES];
    uint64_t n_sent, n_arrived[N_NODES];
    unsigned char *kept[N_FRAMES]; /* octets that have come with a frame */
    uint32_t n_kept;
    const struct sim_batch *out;
    struct sim_word word;
    void *in[N_RANKS];
};

static struct rank all[N_RANKS];
static pthread_barrier_t barrier;
static bool has_extra;

static size_t n_octets(uint64_t seq)
{
    /* Eight octets tell the number of the others: 56 of them fill a line. */
    static const size_t some[] = {0, 1, 55, 56, 57, 64, 0, 120, 121, 4088, MOST_OCTETS};
    return some[seq % (sizeof some / sizeof *some)];
}

static unsigned char octet(uint64_t seq, size_t i)
{
    return (unsigned char)xoff_mix64(seq << 32 | i);
}

/* ---- The ranks. ---- */

static void post(void *context, const struct sim_batch *out)
{
    struct rank *own = context;
    own->out = out;
}

/* The bytes are copied, to an address that is aligned as the engine asks for. */
static void agree(void *context, struct sim_word *word, struct sim_batch *in)
{
    struct rank *own = context;
    own->word = *word;
    pthread_barrier_wait(&barrier);
    for (uint32_t r = 0; r < N_RANKS; r++) {
        const struct rank *other = &all[r];
        if (other != own) {
            word->next_at = xoff_time_min(word->next_at, other->word.next_at);
            word->last_at = -xoff_time_min(-word->last_at, -other->word.last_at);
            word->arrivals += other->word.arrivals;
            word->stops += other->word.stops;
        }
        if (!in[r].is_neighbour)
            continue;
        const struct sim_batch *from = &other->out[own->ranks.rank];
        assert_true(from->is_neighbour && from->size % 64 == 0);
        free(own->in[r]);
        in[r].bytes = own->in[r] = aligned_alloc(64, from->size + 64);
        in[r].size = from->size;
        assert_non_null(in[r].bytes);
        if (from->size)
            memcpy(in[r].bytes, from->bytes, from->size);
    }
    pthread_barrier_wait(&barrier);
}

/* ---- The model. ---- */

static size_t attachment(void *net, const struct frame *frame, const void **octets)
{
    static unsigned char made[MOST_OCTETS]; /* for the first rank, where frames begin */
    const struct rank *rank = net;
    const size_t n = n_octets(frame->seq);
    const bool is_made = rank == &all[0];
    for (size_t i = 0; is_made && i < n; i++)
        made[i] = octet(frame->seq, i);
    *octets = is_made ? made : rank->kept[frame->seq];
    return n;
}

static void take_attachment(void *net, const struct frame *frame, const void *octets, size_t n)
{
    struct rank *rank = net;
    assert_true(n > 0 && n == n_octets(frame->seq));
    assert_null(rank->kept[frame->seq]);
    rank->kept[frame->seq] = malloc(n);
    assert_non_null(rank->kept[frame->seq]);
    memcpy(rank->kept[frame->seq], octets, n);
    rank->n_kept++;
}

static void send(struct worker *w, uint32_t node, uint64_t seq)
{
    struct long_frame f = {.frame = {.seq = seq, .kind = FRAME_DATA, .is_bare = seq % 3 == 0}};
    memset(f.extra.bytes, (int)(seq & 0xff), sizeof f.extra.bytes);
    sim_send(w, 2 * node, &f.frame, sim_now(w) + DELAY);
}

static void arrive(void *self, struct worker *w, uint32_t port, const struct frame *f)
{
    const struct place *p = self;
    struct rank *rank = p->rank;
    (void)port;
    assert_int_equal(f->seq, rank->n_arrived[p->node]++);
    for (uint32_t i = 0; has_extra && !f->is_bare && i < sizeof(struct frame_extra); i++)
        assert_int_equal(((const unsigned char *)(f + 1))[i], f->seq & 0xff);
    for (size_t i = 0; rank != &all[0] && i < n_octets(f->seq); i++)
        if (rank->kept[f->seq][i] != octet(f->seq, i))
            fail_msg("frame %u: octet %u", (unsigned)f->seq, (unsigned)i);
    if (p->node + 1 < N_NODES)
        send(w, p->node, f->seq);
}

static void transmit(void *self, struct worker *w, uint32_t port)
{
    (void)self, (void)w, (void)port;
}

static void timer(void *self, struct worker *w)
{
    struct rank *rank = ((const struct place *)self)->rank;
    for (uint32_t i = 0; i < BURST && rank->n_sent < N_FRAMES; i++)
        send(w, 0, rank->n_sent++);
    if (rank->n_sent < N_FRAMES)
        sim_at_timer(w, 0, sim_now(w) + DELAY / 2);
}

static bool progress(void *net, xoff_time now, uint64_t arrivals)
{
    (void)net, (void)now, (void)arrivals;
    return true;
}

static bool has_changes(void *net)
{
    (void)net;
    return false;
}

static void *run(void *argument)
{
    struct rank *own = argument;
    sim_run(own->sim, XOFF_NEVER, XOFF_S);
    return NULL;
}

static void enter(uint32_t r, uint32_t n_threads)
{
    static const uint32_t n_ports[N_NODES] = {1, 2, 2, 2, 2, 1};
    static const uint32_t part_of[N_NODES] = {0, 0, 1, 1, 2, 2};
    struct sim_link_spec links[2 * (N_NODES - 1)];
    struct rank *own = &all[r];
    for (uint32_t n = 0; n + 1 < N_NODES; n++) {
        links[2 * n] = (struct sim_link_spec){
            .from_node = n, .from_port = n > 0, .to_node = n + 1, .lookahead = DELAY};
        links[2 * n + 1] = (struct sim_link_spec){
            .from_node = n + 1, .to_node = n, .to_port = n > 0, .lookahead = DELAY};
    }
    *own = (struct rank){
        .ranks = {.context = own, .rank = r, .n = N_RANKS, .post = post, .agree = agree}};
    for (uint32_t n = 0; n < N_NODES; n++) {
        own->places[n] = (struct place){own, n};
        own->nodes[n] = (struct sim_node){
            .self = &own->places[n], .arrive = arrive, .transmit = transmit, .timer = timer};
    }
    const struct sim_spec spec = {.n_nodes = N_NODES,
                                  .n_ports = n_ports,
                                  .links = links,
                                  .n_links = 2 * (N_NODES - 1),
                                  .n_threads = n_threads,
                                  .chunk_frames = 8,
                                  .has_extra = has_extra,
                                  .ranks = &own->ranks,
                                  .part_of = part_of,
                                  .model = {.net = own,
                                            .nodes = own->nodes,
                                            .progress = progress,
                                            .has_changes = has_changes,
                                            .attachment = attachment,
                                            .take_attachment = take_attachment}};
    assert_int_equal(sim_create(&spec, &own->sim), 0);
}

static void leave(struct rank *own)
{
    sim_destroy(own->sim);
    for (uint32_t r = 0; r < N_RANKS; r++)
        free(own->in[r]);
    for (uint32_t i = 0; i < N_FRAMES; i++)
        free(own->kept[i]);
}

static void octets_come_with_their_frame(void **state)
{
    (void)state;
    uint32_t n_with = 0;
    for (uint64_t seq = 0; seq < N_FRAMES; seq++)
        n_with += n_octets(seq) > 0;
    for (uint32_t i = 0; i < 4; i++) {
        pthread_t threads[N_RANKS];
        has_extra = i & 1;
        assert_int_equal(pthread_barrier_init(&barrier, NULL, N_RANKS), 0);
        for (uint32_t r = 0; r < N_RANKS; r++)
            enter(r, 1 + i / 2);
        sim_at_timer(sim_exclusive(all[0].sim), 0, 0);
        for (uint32_t r = 0; r < N_RANKS; r++)
            assert_int_equal(pthread_create(&threads[r], NULL, run, &all[r]), 0);
        for (uint32_t r = 0; r < N_RANKS; r++)
            assert_int_equal(pthread_join(threads[r], NULL), 0);
        for (uint32_t n = 1; n < N_NODES; n++)
            assert_int_equal(all[n / 2].n_arrived[n], N_FRAMES);
        for (uint32_t r = 0; r < N_RANKS; r++)
            assert_int_equal(all[r].n_kept, r ? n_with : 0);
        for (uint32_t r = 0; r < N_RANKS; r++)
            leave(&all[r]);
        pthread_barrier_destroy(&barrier);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(octets_come_with_their_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
