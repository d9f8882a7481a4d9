/* Ranks by MPI: the module that only processes started by mpirun load.
 *
 * Frames travel in one message for each neighbour and round, empty ones too, so that both sides
 * know how many to wait for. Sends are non-blocking and from the engine's own buffers, which stay
 * until the round is over. The reduction of the word is non-blocking, too, and goes on while
 * messages are received. All waiting is done in wait_for(): it polls a little, then gives the core
 * away, since ranks may be more than cores, and notices that a rank is gone.
 *
 * Threads of a rank call MPI one at a time (MPI_THREAD_SERIALIZED).
 */
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dist/dist.h"
#include "dist/divide.h"

#define TAG_FRAMES 1
#define TAG_BYTES 2
#define TAG_ASK 3
#define TAG_NUMBER 4
#define PIECE (1 << 30) /* bytes of one message, at most */
#define POLLS 100       /* before the core is given away */
#define NAPS_AFTER 2000 /* of those, sleeps take turns with polls */
#define NAP_NS 50000
#define LOST_S 0.5 /* Open MPI kills a second after it has asked ranks to end */

struct context {
    const struct dist_calls *calls;
    MPI_Comm comm;
    MPI_Op agree;
    MPI_Datatype word;
    int rank, n;
    MPI_Request *sends;
    int n_sends;
    void **in; /* by rank: where its batch is received */
    size_t *capacity;
    /* Of deal(). */
    uint32_t n_dealt; /* at the first rank */
    int n_through;    /* there, too: ranks that want no more */
    uint32_t number;  /* at the others: the answer, once `answer` is done */
    MPI_Request answer;
    bool has_asked, is_through;
};

static struct context the;

static void *grow(void *block, size_t size)
{
    void *grown = realloc(block, size ? size : 1);
    if (!grown)
        the.calls->lost("not enough memory");
    return grown;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Answers those that ask for a number below `end`. */
static void serve(struct context *c, uint32_t end)
{
    for (;;) {
        int is_there;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, c->comm, &is_there, &status);
        if (!is_there)
            return;
        uint32_t wants;
        MPI_Recv(&wants, 1, MPI_UINT32_T, status.MPI_SOURCE, TAG_ASK, c->comm, MPI_STATUS_IGNORE);
        const uint32_t number = wants && c->n_dealt < end ? c->n_dealt++ : end;
        if (wants) /* is received already, so this does not wait */
            MPI_Send(&number, 1, MPI_UINT32_T, status.MPI_SOURCE, TAG_NUMBER, c->comm);
        c->n_through += number == end;
    }
}

/* Something to wait for: requests, that a message can be received, or that all want no more. */
struct wait {
    MPI_Request *requests;
    int n;
    int from; /* with n 0: of which rank */
    bool is_serving;
    uint32_t end; /* of the numbers, when serving */
    MPI_Status status;
};

static bool is_over(struct wait *w)
{
    int is_done = 1;
    if (w->is_serving) {
        serve(&the, w->end);
        return the.n_through == the.n - 1;
    }
    if (!w->n)
        MPI_Iprobe(w->from, TAG_FRAMES, the.comm, &is_done, &w->status);
    for (int i = 0; i < w->n && is_done; i++) /* one that is done stays so */
        MPI_Test(&w->requests[i], &is_done, MPI_STATUS_IGNORE);
    return is_done;
}

/* `may_be_lost`: whoever is waited for answers in no time, unless it is gone. */
static void wait_for(struct wait *w, bool may_be_lost)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    double asked_s = 0;
    for (uint32_t polls = 0; !is_over(w); polls++) {
        if (polls < POLLS)
            continue;
        if (polls < NAPS_AFTER)
            sched_yield(); /* takes milliseconds where many want the core */
        else
            nanosleep(&nap, NULL);
        if (!may_be_lost || !the.calls->is_interrupted())
            continue;
        if (asked_s == 0)
            asked_s = now_s();
        else if (now_s() - asked_s > LOST_S)
            the.calls->lost("another rank has ended");
    }
}

static void post(void *context, const struct sim_batch *out)
{
    struct context *c = context;
    c->n_sends = 0;
    for (int r = 0; r < c->n; r++) {
        if (!out[r].is_neighbour)
            continue;
        if (out[r].size > PIECE)
            c->calls->lost("more than 1 GB of frames in one window");
        MPI_Isend(out[r].bytes, (int)out[r].size, MPI_BYTE, r, TAG_FRAMES, c->comm,
                  &c->sends[c->n_sends++]);
    }
}

static void receive(struct context *c, int from, struct sim_batch *in)
{
    struct wait w = {.from = from};
    int size;
    wait_for(&w, true);
    MPI_Get_count(&w.status, MPI_BYTE, &size);
    if ((size_t)size > c->capacity[from]) {
        c->capacity[from] = 2 * (size_t)size;
        c->in[from] = grow(c->in[from], c->capacity[from]);
    }
    MPI_Recv(c->in[from], size, MPI_BYTE, from, TAG_FRAMES, c->comm, MPI_STATUS_IGNORE);
    in->bytes = c->in[from];
    in->size = (size_t)size;
}

static void agree(void *context, struct sim_word *word, struct sim_batch *in)
{
    struct context *c = context;
    const struct sim_word own = *word;
    MPI_Request reduction;
    MPI_Iallreduce(&own, word, 1, c->word, c->agree, c->comm, &reduction);
    for (int r = 0; in && r < c->n; r++)
        if (in[r].is_neighbour)
            receive(c, r, &in[r]);
    wait_for(&(struct wait){.requests = &reduction, .n = 1}, true);
    if (c->n_sends)
        wait_for(&(struct wait){.requests = c->sends, .n = c->n_sends}, true);
    c->n_sends = 0;
}

static void combine(void *more, void *into, int *n, MPI_Datatype *type)
{
    const struct sim_word *a = more;
    struct sim_word *b = into;
    (void)type;
    for (int i = 0; i < *n; i++) {
        b[i].next_at = xoff_time_min(a[i].next_at, b[i].next_at);
        b[i].last_at = a[i].last_at > b[i].last_at ? a[i].last_at : b[i].last_at;
        b[i].arrivals += a[i].arrivals;
        b[i].stops += a[i].stops;
    }
}

/* Sends or receives bytes in pieces. */
static void carry(struct context *c, void *bytes, size_t size, int peer, bool is_send,
                  bool may_be_lost)
{
    for (size_t at = 0; at < size; at += PIECE) {
        const int n = (int)(size - at < PIECE ? size - at : PIECE);
        MPI_Request request;
        if (is_send)
            MPI_Isend((char *)bytes + at, n, MPI_BYTE, peer, TAG_BYTES, c->comm, &request);
        else
            MPI_Irecv((char *)bytes + at, n, MPI_BYTE, peer, TAG_BYTES, c->comm, &request);
        wait_for(&(struct wait){.requests = &request, .n = 1}, may_be_lost);
    }
}

static void bring_together(struct context *c, const void *bytes, size_t size, bool to_all,
                           bool may_be_lost, void **all, size_t *sizes)
{
    MPI_Request request;
    const uint64_t own = size;
    uint64_t *each = grow(NULL, sizeof *each * (size_t)c->n);
    MPI_Iallgather(&own, 1, MPI_UINT64_T, each, 1, MPI_UINT64_T, c->comm, &request);
    wait_for(&(struct wait){.requests = &request, .n = 1}, may_be_lost);
    size_t sum = 0;
    for (int r = 0; r < c->n; r++) {
        sizes[r] = to_all || c->rank == 0 ? (size_t)each[r] : 0;
        sum += sizes[r];
    }
    free(each);
    *all = sum || c->rank == 0 ? grow(NULL, sum) : NULL;
    if (c->rank) {
        carry(c, (void *)bytes, size, 0, true, may_be_lost);
    } else {
        if (size)
            memcpy(*all, bytes, size);
        size_t at = size;
        for (int r = 1; r < c->n; at += sizes[r++])
            carry(c, (char *)*all + at, sizes[r], r, false, may_be_lost);
    }
    for (size_t at = 0; to_all && at < sum; at += PIECE) {
        const int n = (int)(sum - at < PIECE ? sum - at : PIECE);
        MPI_Ibcast((char *)*all + at, n, MPI_BYTE, 0, c->comm, &request);
        wait_for(&(struct wait){.requests = &request, .n = 1}, may_be_lost);
    }
}

static void gather(void *context, const void *bytes, size_t size, bool to_all, void **all,
                   size_t *sizes)
{
    bring_together(context, bytes, size, to_all, false, all, sizes);
}

static void share(void *context, const void *bytes, size_t size, void **all, size_t *sizes)
{
    bring_together(context, bytes, size, true, true, all, sizes);
}

static bool deal(void *context, uint32_t end, bool wants, uint32_t *number)
{
    struct context *c = context;
    *number = end;
    if (c->rank == 0) {
        serve(c, end);
        if (wants && c->n_dealt < end)
            *number = c->n_dealt++;
        return wants;
    }
    if (wants && !c->has_asked) {
        const uint32_t one = 1;
        MPI_Irecv(&c->number, 1, MPI_UINT32_T, 0, TAG_NUMBER, c->comm, &c->answer);
        MPI_Send(&one, 1, MPI_UINT32_T, 0, TAG_ASK, c->comm);
        c->has_asked = true;
    }
    int is_answered = 0;
    if (c->has_asked)
        MPI_Test(&c->answer, &is_answered, MPI_STATUS_IGNORE);
    if (!is_answered)
        return false;
    c->has_asked = false;
    c->is_through = c->number == end;
    *number = c->number;
    return true;
}

static void end_deal(void *context, uint32_t end)
{
    struct context *c = context;
    if (c->rank == 0) {
        c->n_dealt = end;
        wait_for(&(struct wait){.is_serving = true, .end = end}, true);
        c->n_dealt = 0;
        c->n_through = 0;
        return;
    }
    if (c->has_asked) {
        wait_for(&(struct wait){.requests = &c->answer, .n = 1}, true);
        c->is_through = c->number == end;
    }
    const uint32_t none = 0;
    if (!c->is_through)
        MPI_Send(&none, 1, MPI_UINT32_T, 0, TAG_ASK, c->comm);
    c->has_asked = c->is_through = false;
}

static void divide(void *context, const struct sim_graph *graph, uint32_t *part_of)
{
    const struct context *c = context;
    if (!divide_graph(graph, (uint32_t)c->n, part_of))
        c->calls->lost("not enough memory");
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    (void)comm;
    MPI_Error_string(*code, text, &length);
    the.calls->lost(text);
}

static const char *start(const struct dist_calls *calls, struct sim_ranks *ranks)
{
    int level;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return "MPI could not be started";
    if (level < MPI_THREAD_SERIALIZED)
        return "this MPI allows no threads (MPI_THREAD_SERIALIZED)";
    the = (struct context){.calls = calls};
    MPI_Comm_dup(MPI_COMM_WORLD, &the.comm);
    MPI_Comm_rank(the.comm, &the.rank);
    MPI_Comm_size(the.comm, &the.n);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(the.comm, handler);
    MPI_Errhandler_free(&handler); /* the communicator keeps it */
    MPI_Op_create(combine, 1, &the.agree);
    MPI_Type_contiguous(sizeof(struct sim_word), MPI_BYTE, &the.word);
    MPI_Type_commit(&the.word);
    the.sends = grow(NULL, sizeof *the.sends * (size_t)the.n);
    the.in = grow(NULL, sizeof *the.in * (size_t)the.n);
    the.capacity = grow(NULL, sizeof *the.capacity * (size_t)the.n);
    memset(the.in, 0, sizeof *the.in * (size_t)the.n);
    memset(the.capacity, 0, sizeof *the.capacity * (size_t)the.n);
    *ranks = (struct sim_ranks){.context = &the,
                                .rank = (uint32_t)the.rank,
                                .n = (uint32_t)the.n,
                                .post = post,
                                .agree = agree,
                                .gather = gather,
                                .share = share,
                                .deal = deal,
                                .end_deal = end_deal,
                                .divide = divide};
    return NULL;
}

static void end(void)
{
    MPI_Request request;
    MPI_Ibarrier(the.comm, &request); /* MPI_Finalize() would spin until the last one comes */
    wait_for(&(struct wait){.requests = &request, .n = 1}, false);
    for (int r = 0; r < the.n; r++)
        free(the.in[r]);
    free(the.in), free(the.capacity), free(the.sends);
    MPI_Op_free(&the.agree);
    MPI_Type_free(&the.word);
    MPI_Comm_free(&the.comm);
    MPI_Finalize();
}

#ifdef OPEN_MPI
#define LIBRARY "Open MPI"
#elif defined MPICH
#define LIBRARY "MPICH"
#else
#define LIBRARY "neither Open MPI nor MPICH"
#endif

const struct dist_module dist_module = {DIST_VERSION, LIBRARY, start, end};
