/* Batches: what workers bring back, and peers that share a batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "many/batch.h"

enum { RUNS = 7, BROKEN = 3, WRONG = 4 };

static struct run runs[RUNS], *list[RUNS];

/* Run i has the figure 10 i + its seed; one crashes, and one has a wrong scenario. */
static struct summary *simulate(void *context, const struct run *run, struct xoff_err *err)
{
    (void)context;
    if (run->number == BROKEN)
        abort();
    if (run->number == WRONG) {
        xoff_err_set(err, XOFF_E_RANGE, "stop", "0s", "too short");
        return NULL;
    }
    struct summary *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->metrics = calloc(1, sizeof *s->metrics);
    assert_non_null(s->metrics);
    s->n_metrics = 1;
    snprintf(s->metrics[0].name, sizeof s->metrics[0].name, "drops");
    s->metrics[0].value = (double)(10 * run->number + run->seed);
    return s;
}

static struct batch prepare(void)
{
    for (uint32_t i = 0; i < RUNS; i++) {
        summary_destroy(runs[i].summary);
        runs[i] = (struct run){.file = "x.yaml", .variant = "", .seed = i % 2, .number = i};
        snprintf(runs[i].key, sizeof runs[i].key, "%016x", i);
        list[i] = &runs[i];
    }
    return (struct batch){.runs = list, .n_runs = RUNS, .n_workers = 2, .simulate = simulate};
}

static bool is_as_simulated(void)
{
    bool is_good = true;
    for (uint32_t i = 0; i < RUNS; i++) {
        const struct run *r = &runs[i];
        const struct metric *m = r->summary ? summary_find(r->summary, "drops") : NULL;
        if (i == BROKEN)
            is_good &= r->state == RUN_BROKEN && strstr(r->err.message, "crashed");
        else if (i == WRONG)
            is_good &= r->state == RUN_BAD_INPUT && !strcmp(r->err.subject, "stop");
        else
            is_good &= r->state == RUN_DONE && m && m->value == (double)(10 * i + i % 2);
    }
    return is_good;
}

static void workers(void **state)
{
    (void)state;
    struct batch batch = prepare();
    assert_true(batch_go(&batch));
    assert_true(is_as_simulated());
}

static void carry(int fd, void *bytes, size_t size, bool is_reading)
{
    for (size_t n = 0; n < size;) {
        const ssize_t part = is_reading ? read(fd, (char *)bytes + n, size - n)
                                        : write(fd, (char *)bytes + n, size - n);
        assert_true(part > 0);
        n += (size_t)part;
    }
}

/* Two processes: what they say to each other goes through a pair of sockets, and the numbers come
 * from memory that they share. */
struct pair {
    int fd;
    uint32_t rank;
    _Atomic uint32_t *n_dealt;
    uint32_t n_taken, n_ended;
};

/* The first sends first. */
static void share(void *context, const void *bytes, size_t size, void **all, size_t *sizes)
{
    const struct pair *p = context;
    const uint32_t other = 1 - p->rank;
    char *own = malloc(size);
    assert_non_null(own);
    memcpy(own, bytes, size);
    sizes[p->rank] = size;
    for (uint32_t turn = 0; turn < 2; turn++) {
        carry(p->fd, &sizes[turn], sizeof *sizes, turn != p->rank);
        if (turn != p->rank) {
            *all = calloc(1, size + sizes[other]);
            assert_non_null(*all);
            carry(p->fd, (char *)*all + (p->rank ? 0 : size), sizes[other], true);
        } else {
            carry(p->fd, own, size, false);
        }
    }
    memcpy((char *)*all + (p->rank ? sizes[other] : 0), own, size);
    free(own);
}

/* The first process takes one run and then is late with everything, as after a long run. */
static bool deal(void *context, uint32_t end, bool wants, uint32_t *number)
{
    struct pair *p = context;
    if (!wants || (p->rank == 0 && p->n_taken && *p->n_dealt < end))
        return false;
    *number = atomic_fetch_add(p->n_dealt, 1);
    *number = *number < end ? *number : end;
    p->n_taken += *number < end;
    return true;
}

static void end_deal(void *context, uint32_t end)
{
    struct pair *p = context;
    (void)end;
    p->n_ended++;
}

static bool stop_second(void *context, uint32_t n_done, uint32_t n_runs)
{
    (void)n_runs;
    const struct pair *p = context;
    if (p->rank && n_done)
        *p->n_dealt = RUNS; /* as if the other had been stopped by the same signal */
    return !p->rank || n_done < 1;
}

static bool count_all(void *context, uint32_t n_done, uint32_t n_runs)
{
    const struct pair *p = context;
    assert_int_equal(n_runs, RUNS);
    return n_done <= p->n_taken;
}

static void peers(void **state)
{
    (void)state;
    for (int is_stopped = 0; is_stopped < 2; is_stopped++) {
        int fds[2], status;
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        void *shared =
            mmap(NULL, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_true(shared != MAP_FAILED);
        const pid_t child = fork();
        struct pair pair = {fds[child == 0], child == 0, shared, 0, 0};
        const struct batch_peers sharing = {&pair, pair.rank, 2, deal, end_deal, share};
        struct batch batch = prepare();
        batch.n_workers = 1;
        batch.peers = &sharing;
        batch.progress = is_stopped ? stop_second : count_all;
        batch.progress_context = &pair;
        const bool is_whole = batch_go(&batch);
        /* Both know all, and when one was stopped, both know that. While the first was late the
         * second has done the rest. */
        const bool is_good =
            (is_stopped ? !is_whole
                        : is_whole && is_as_simulated() &&
                              (pair.rank ? pair.n_taken >= RUNS - 1 : pair.n_taken <= 1)) &&
            pair.n_ended == 1;
        if (!child)
            _exit(is_good ? 0 : 1);
        assert_true(is_good);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        munmap(shared, sizeof(uint32_t));
        close(fds[0]);
        close(fds[1]);
    }
    prepare(); /* frees the figures */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(workers), cmocka_unit_test(peers)};
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
