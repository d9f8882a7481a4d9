/* Says what was found, in sentences. Numbers carry their unit; names are those of the topology. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain/parts.h"
#include "stats/quantity.h"
#include "stats/text_stream.h"

struct text {
    FILE *out;
    char *words;
    size_t size;
};

static void begin(struct text *t)
{
    t->out = open_memstream(&t->words, &t->size);
    XOFF_ASSERT(t->out);
}

static char *end(struct text *t)
{
    text_stream_close(t->out, &t->words);
    return t->words;
}

#define FIGURE WORDS_FIGURE
static const char *figure(char buf[FIGURE], double value, enum kind kind)
{
    quantity_say(buf, FIGURE, (struct quantity){value, kind}, 3);
    return buf;
}

static const char *moment(char buf[FIGURE], int64_t ps)
{
    return figure(buf, (double)ps / (double)XOFF_S, KIND_TIME);
}

static const char *percent(char buf[FIGURE], double share)
{
    snprintf(buf, FIGURE, share > 0 && share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return buf;
}

const char *words_harm(char buf[WORDS_FIGURE], double byte_s)
{
    figure(buf, byte_s, KIND_SIZE);
    if (byte_s > 0)
        snprintf(buf + strlen(buf), WORDS_FIGURE - strlen(buf), "-seconds");
    else
        snprintf(buf, WORDS_FIGURE, "none");
    return buf;
}

static const char *name_of(const struct explanation *e, uint32_t node)
{
    return run_node_name(&e->run, node);
}

/* "leaf0 -> spine1", a port and where it leads. */
static void say_port(FILE *out, const struct explanation *e, uint32_t port)
{
    const struct run_port *p = &e->run.ports[port];
    fprintf(out, "%s -> %s", name_of(e, p->node), name_of(e, p->peer_node));
}

/* Where a root is: the host that it is about, or the port. */
static void say_place(FILE *out, const struct explanation *e, const struct root *root)
{
    const bool is_port = root->kind == ROOT_OVERSUBSCRIPTION || root->kind == ROOT_SLOW_LINK ||
                         root->kind == ROOT_LINK_FAILURE || root->kind == ROOT_LINK_ERRORS ||
                         root->kind == ROOT_STARVATION;
    if (root->kind == ROOT_INCAST)
        fputs(name_of(e, root->target), out);
    else if (root->kind == ROOT_DEADLOCK)
        fputs("the cycle", out);
    else if (is_port && root->port != NONE)
        say_port(out, e, root->port);
    else
        fputs(name_of(e, root->node), out);
}

static void say_cycle(FILE *out, const struct explanation *e, const struct root *root)
{
    const struct deadlock *d = &e->deadlocks[root->deadlock];
    for (uint32_t i = 0; i < d->n && i < 12; i++)
        fprintf(out, "%s -> ", name_of(e, e->run.ports[e->deadlock_ports[d->first + i]].node));
    if (d->n > 12)
        fprintf(out, "... -> ");
    fputs(d->n ? name_of(e, e->run.ports[e->deadlock_ports[d->first]].node) : "?", out);
}

char *words_title(const struct explanation *e, const struct root *root)
{
    struct text t;
    begin(&t);
    switch (root->kind) {
    case ROOT_SLOW_RECEIVER:
        fprintf(t.out, "slow receiver: %s", name_of(e, root->node));
        break;
    case ROOT_STUCK_RECEIVER:
        fprintf(t.out, "stuck receiver: %s", name_of(e, root->node));
        break;
    case ROOT_DEADLOCK:
        fprintf(t.out, "deadlock: ");
        say_cycle(t.out, e, root);
        break;
    case ROOT_INCAST:
        fprintf(t.out, "incast: %u hosts to ", root->n_senders);
        say_place(t.out, e, root);
        break;
    case ROOT_HEADROOM:
        fprintf(t.out, "too little headroom: %s", name_of(e, root->node));
        break;
    case ROOT_IGNORED_PAUSES:
        fprintf(t.out, "pauses not obeyed: %s", name_of(e, e->run.ports[root->port].node));
        break;
    default: {
        static const char *const titles[N_ROOT_KINDS] = {
            [ROOT_UNKNOWN] = "congestion",
            [ROOT_SLOW_LINK] = "slow link",
            [ROOT_OVERSUBSCRIPTION] = "oversubscription",
            [ROOT_STARVATION] = "starvation",
            [ROOT_LINK_FAILURE] = "link failure",
            [ROOT_LINK_ERRORS] = "link with errors",
            [ROOT_NO_ROUTE] = "no route",
            [ROOT_CYCLIC_ROUTES] = "cyclic routes",
        };
        fprintf(t.out, "%s: ", titles[root->kind]);
        say_place(t.out, e, root);
    }
    }
    return end(&t);
}

/* Copies a quantity of the configuration as it is read in a sentence. */
static void copy_quantity(char buf[FIGURE], const char *text)
{
    struct quantity q;
    if (!quantity_read(text, &q))
        figure(buf, q.value, q.kind);
    else
        snprintf(buf, FIGURE, "%s", text);
}

/* "100Gbps,500us: 10Gbps,1.5ms: 100Gbps": the slowest rate, and from when to when. */
static void say_service(FILE *out, const struct root *root)
{
    char list[256], slowest[FIGURE] = "", from[FIGURE] = "", to[FIGURE] = "";
    double least = INFINITY;
    snprintf(list, sizeof list, "%s", root->receiver->rate);
    for (char *rest = list, *part; (part = strsep(&rest, ","));) {
        char *colon = strchr(part, ':');
        const char *rate = colon ? colon + 1 + strspn(colon + 1, " ") : part;
        struct quantity q;
        if (colon)
            *colon = '\0';
        if (*slowest && !*to && colon)
            copy_quantity(to, part + strspn(part, " "));
        if (quantity_read(rate, &q) || q.value >= least)
            continue;
        least = q.value;
        figure(slowest, q.value, KIND_RATE);
        *from = *to = '\0';
        if (colon)
            copy_quantity(from, part + strspn(part, " "));
    }
    fprintf(out, least > 0 ? "took in only %s" : "took in nothing", slowest);
    if (*from)
        fprintf(out, " from %s", from);
    if (*to)
        fprintf(out, " to %s", to);
    else if (*from)
        fputs(" on", out);
}

static void say_span(FILE *out, const struct root *root)
{
    char a[FIGURE], b[FIGURE];
    if (root->to_ps > root->from_ps)
        fprintf(out, " (%s to %s)", moment(a, root->from_ps), moment(b, root->to_ps));
    else
        fprintf(out, " (from %s on)", moment(a, root->from_ps));
}

static void say_receiver(FILE *out, const struct explanation *e, const struct root *root)
{
    char a[FIGURE];
    fprintf(out, "%s ", name_of(e, root->node));
    if (root->receiver)
        say_service(out, root);
    else
        fprintf(out, "took frames in more slowly than they came, from %s on",
                moment(a, root->from_ps));
    if (root->kind == ROOT_STUCK_RECEIVER)
        fprintf(out, " and never lifted its pause");
}

static void say_loss(FILE *out, const struct root *root)
{
    fprintf(out, "%llu frame%s", (unsigned long long)root->lost_frames,
            root->lost_frames == 1 ? "" : "s");
}

static void say_what(FILE *out, const struct explanation *e, const struct root *root)
{
    char a[FIGURE], b[FIGURE];
    switch (root->kind) {
    case ROOT_SLOW_RECEIVER:
    case ROOT_STUCK_RECEIVER:
        say_receiver(out, e, root);
        return;
    case ROOT_INCAST:
        fprintf(out, "%u hosts sent to ", root->n_senders);
        say_place(out, e, root);
        fprintf(out, ", together more than the %s of ",
                figure(a, e->slowest_bps[root->port], KIND_RATE));
        say_port(out, e, root->port);
        say_span(out, root);
        return;
    case ROOT_SLOW_LINK:
        fprintf(out, "the link ");
        say_port(out, e, root->port);
        fprintf(out, " carries %s", figure(a, e->slowest_bps[root->port], KIND_RATE));
        if (root->change && root->change->at_ps > 0)
            fprintf(out, " from %s on", moment(b, root->change->at_ps));
        fprintf(out, ", less than the links that feed it or stand beside it");
        return;
    case ROOT_OVERSUBSCRIPTION:
        say_port(out, e, root->port);
        fprintf(out, " was asked for more than the %s that it carries",
                figure(a, e->slowest_bps[root->port], KIND_RATE));
        say_span(out, root);
        return;
    case ROOT_STARVATION:
        fprintf(out, "other priorities took all of ");
        say_port(out, e, root->port);
        return;
    case ROOT_DEADLOCK:
        fprintf(out, "at %s ", moment(a, e->deadlocks[root->deadlock].onset_ps));
        if (e->deadlocks[root->deadlock].n == 1) {
            fprintf(out,
                    "%s came to wait for itself: its inputs are full of frames behind one that "
                    "has no room",
                    name_of(e, root->node));
            return;
        }
        say_cycle(out, e, root);
        fprintf(out, " closed to a deadlock: each waits for the next to send");
        return;
    case ROOT_HEADROOM:
        fprintf(out, "%s had too little headroom for what was under way when it paused: ",
                name_of(e, root->node));
        say_loss(out, root);
        fprintf(out, " of lossless priorities found no room");
        return;
    case ROOT_IGNORED_PAUSES:
        fprintf(out, "%s did not obey the pauses of %s, which had no room for ",
                name_of(e, e->run.ports[root->port].node), name_of(e, root->node));
        say_loss(out, root);
        fprintf(out, " of lossless priorities");
        return;
    case ROOT_LINK_FAILURE:
        if (root->lost_frames || !root->change) {
            fprintf(out, "the link ");
            say_port(out, e, root->port);
            if (root->change)
                fprintf(out, " failed at %s; ", moment(a, root->change->at_ps));
            else
                fprintf(out, " failed; ");
            say_loss(out, root);
            fprintf(out, " sent over it %s lost", root->lost_frames == 1 ? "was" : "were");
        } else {
            fprintf(out, "after %s - %s failed at %s, ", root->change->a, root->change->b,
                    moment(a, root->change->at_ps));
            say_port(out, e, root->port);
            fprintf(out, " was asked for more than it carries");
        }
        return;
    case ROOT_LINK_ERRORS:
        fprintf(out, "errors on the link ");
        say_port(out, e, root->port);
        fprintf(out, " destroyed ");
        say_loss(out, root);
        return;
    case ROOT_NO_ROUTE:
        fprintf(out, "%s had no route for ", name_of(e, root->node));
        say_loss(out, root);
        return;
    case ROOT_CYCLIC_ROUTES:
        fprintf(out, "routes lead in a circle: ");
        say_loss(out, root);
        fprintf(out, " met too many switches, first at %s", name_of(e, root->node));
        return;
    default:
        fprintf(out, "%s ran out of room", name_of(e, root->node));
    }
}

char *words_what(const struct explanation *e, const struct root *root)
{
    struct text t;
    begin(&t);
    say_what(t.out, e, root);
    if (root->lost_frames && root->kind < ROOT_HEADROOM && root->kind != ROOT_DEADLOCK) {
        fprintf(t.out, "; ");
        say_loss(t.out, root);
        fprintf(t.out, " found no room");
    }
    return end(&t);
}

static void say_paused(FILE *out, const struct explanation *e, const struct root *root)
{
    struct paused paused[MOST_PAUSED];
    uint32_t left_out;
    const uint32_t n = explain_paused(e, root, paused, &left_out);
    const uint32_t n_shown = n > 4 ? 3 : n, n_others = n - n_shown + left_out;
    char a[FIGURE];
    if (!n)
        return;
    fprintf(out, "; because of it ");
    for (uint32_t i = 0; i < n_shown; i++)
        fprintf(out, "%s%s %s%s%s",
                !i                              ? ""
                : i + 1 == n_shown && !n_others ? " and "
                                                : ", ",
                name_of(e, paused[i].node), i ? "for " : "was paused for ",
                percent(a, share_of_time(e, paused[i].held_ps)), i ? "" : " of the time");
    if (n_others)
        fprintf(out, " and %u more", n_others);
}

#define WORTH_SHORT 0.05 /* less is under way at the end of any run */
static void say_harmed(FILE *out, const struct victim *v)
{
    char a[FIGURE];
    if (v->is_finished && v->slowdown > 1)
        fprintf(out, "took %.3g times as long as alone", v->slowdown);
    else if (!v->is_finished && v->life_ps > 0 && (double)v->held_ps > 0.995 * (double)v->life_ps)
        fprintf(out, "came to a stop");
    else if (!v->is_finished && v->lost > WORTH_SHORT)
        fprintf(out, "delivered %s less than it offered", percent(a, v->lost));
    else
        fprintf(out, "was held for %s of its life",
                percent(a, v->life_ps > 0 ? (double)v->held_ps / (double)v->life_ps : 0));
}

static void say_bystander(FILE *out, const struct explanation *e, const struct root *root)
{
    const struct victim *v = root->victims;
    if (!root->n_bystanders)
        return;
    fprintf(out, "; %s -> %s, which does not pass ", name_of(e, v->from), name_of(e, v->to));
    say_place(out, e, root);
    fprintf(out, ", ");
    say_harmed(out, v);
    if (root->n_bystanders > 1)
        fprintf(out, " (%llu more bystander%s waited)", (unsigned long long)root->n_bystanders - 1,
                root->n_bystanders > 2 ? "s" : "");
}

static bool is_job(const struct explanation *e, const struct job *job)
{
    return job->n_operations || (job->stands && e->entries[job->entry].is_collective);
}

static void say_jobs(FILE *out, const struct explanation *e, const struct root *root)
{
    char a[FIGURE];
    for (uint32_t i = 0; i < e->n_jobs; i++) {
        const struct job *job = &root->jobs[i];
        if (!is_job(e, job))
            continue;
        if (job->stands && e->entries[i].is_collective)
            fprintf(out, "; %s stands: all of its ranks wait for the held one", e->entries[i].name);
        else
            fprintf(out, "; %llu operations of %s stood for %s of their time",
                    (unsigned long long)job->n_operations, e->entries[i].name,
                    percent(a, job->held_ps / job->lasted_ps));
    }
}

char *words_jobs(const struct explanation *e, const struct root *root)
{
    struct text t;
    begin(&t);
    say_jobs(t.out, e, root);
    char *words = end(&t);
    memmove(words, words + strspn(words, "; "), strlen(words + strspn(words, "; ")) + 1);
    return words;
}

static void say_dropped(FILE *out, const struct explanation *e)
{
    const unsigned long long n = e->lost_frames, n_lossless = e->lost_lossless;
    const char *were = n == 1 ? "frame was" : "frames were";
    if (!n)
        fprintf(out, "nothing was dropped");
    else if (n == 1 && n_lossless)
        fprintf(out, "1 frame of a lossless priority was dropped for want of room");
    else if (n == n_lossless)
        fprintf(out, "%llu %s dropped, all of lossless priorities for want of room", n, were);
    else if (n_lossless)
        fprintf(out, "%llu %s dropped, %llu of lossless priorities for want of room", n, were,
                n_lossless);
    else
        fprintf(out, "%llu %s dropped", n, were);
}

static void say_unfinished(FILE *out, const struct explanation *e)
{
    if (e->n_unfinished)
        fprintf(out, "; %llu of %llu flows did not finish", (unsigned long long)e->n_unfinished,
                (unsigned long long)e->n_flows);
}

static uint32_t busiest(const struct explanation *e)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < e->run.n_ports; i++)
        if (found == NONE || e->run.ports[i].busy > e->run.ports[found].busy)
            found = i;
    return found;
}

static void say_healthy(FILE *out, const struct explanation *e)
{
    const uint32_t port = busiest(e);
    char a[FIGURE];
    fprintf(out, e->n_roots ? "Nothing stood for long" : "Nobody was paused");
    fprintf(out, ", and ");
    say_dropped(out, e);
    if (port != NONE && e->run.ports[port].busy > 0) {
        fprintf(out, "; the busiest link, ");
        say_port(out, e, port);
        fprintf(out, ", was used for %s of the time", percent(a, e->run.ports[port].busy));
    }
    say_unfinished(out, e);
    fprintf(out, ".");
}

char *words_headline(const struct explanation *e)
{
    struct text t;
    begin(&t);
    if (!e->n_named) {
        say_healthy(t.out, e);
        return end(&t);
    }
    const struct root *root = &e->roots[0];
    char *what = words_what(e, root);
    if (*what >= 'a' && *what <= 'z' && root->kind != ROOT_SLOW_RECEIVER &&
        root->kind != ROOT_STUCK_RECEIVER && root->kind != ROOT_OVERSUBSCRIPTION &&
        root->kind != ROOT_HEADROOM && root->kind != ROOT_IGNORED_PAUSES &&
        root->kind != ROOT_NO_ROUTE && root->kind != ROOT_UNKNOWN) /* a word, not a name */
        *what = (char)(*what - 'a' + 'A');
    fputs(what, t.out);
    free(what);
    say_paused(t.out, e, root);
    say_bystander(t.out, e, root);
    say_jobs(t.out, e, root);
    say_unfinished(t.out, e);
    if (!root->lost_frames || root->lost_frames != e->lost_frames) {
        fprintf(t.out, "; ");
        say_dropped(t.out, e);
    }
    fprintf(t.out, ".");
    for (uint32_t i = 1; i < e->n_named && i < 3; i++) {
        char *title = words_title(e, &e->roots[i]);
        fprintf(t.out, "%s%s", i == 1 ? " Beside it: " : ", ", title);
        free(title);
    }
    if (e->n_named > 3)
        fprintf(t.out, " and %u more", e->n_named - 3);
    if (e->n_named > 1)
        fprintf(t.out, ".");
    return end(&t);
}

char *words_victim(const struct explanation *e, const struct victim *v)
{
    struct text t;
    char a[FIGURE];
    begin(&t);
    fprintf(t.out, "%s -> %s", name_of(e, v->from), name_of(e, v->to));
    if (*v->traffic)
        fprintf(t.out, " (%s)", v->traffic);
    fprintf(
        t.out, " waited %s, %s of its life", moment(a, v->held_ps),
        percent((char[FIGURE]){0}, v->life_ps > 0 ? (double)v->held_ps / (double)v->life_ps : 0));
    if ((v->is_finished && v->slowdown > 1) || (!v->is_finished && v->lost > WORTH_SHORT)) {
        fprintf(t.out, ", and ");
        say_harmed(t.out, v);
    }
    fprintf(t.out, v->is_bystander ? "; a bystander" : "");
    return end(&t);
}

char *words_chain(const struct explanation *e, const struct root *root)
{
    struct text t;
    begin(&t);
    for (uint32_t i = 0; i < root->n_chain; i++) {
        const struct strand *strand = &e->strands[root->chain[i]];
        const struct run_port *port = &e->run.ports[e->run.lines[strand->line].port];
        char a[FIGURE];
        fprintf(t.out, "%s%s pauses %s (%s)", i ? ", so " : "", name_of(e, port->node),
                name_of(e, port->peer_node), percent(a, share_of_time(e, strand->measured_ps)));
    }
    return end(&t);
}

__attribute__((format(printf, 2, 3))) static void add(json_t *list, const char *format, ...)
{
    char *sentence;
    va_list arguments;
    va_start(arguments, format);
    XOFF_ASSERT(vasprintf(&sentence, format, arguments) >= 0);
    va_end(arguments);
    json_array_append_new(list, json_words(sentence, 0));
    free(sentence);
}

/* The other ports of the node that lead to switches: could they have carried more? */
static void add_siblings(json_t *list, const struct explanation *e, const struct root *root)
{
    const struct run_node *node = &e->run.nodes[root->node];
    double most = -1;
    char a[FIGURE], b[FIGURE];
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (p != root->port && e->run.ports[p].peer_node != NONE &&
            !e->run.nodes[e->run.ports[p].peer_node].is_host && e->run.ports[p].busy > most)
            most = e->run.ports[p].busy;
    if (most >= 0)
        add(list,
            "The port was in use for %s of the time, the busiest other one of %s towards a "
            "switch for %s.",
            percent(a, e->run.ports[root->port].busy), node->name, percent(b, most));
    else
        add(list, "The port was in use for %s of the time.",
            percent(a, e->run.ports[root->port].busy));
}

json_t *words_evidence(const struct explanation *e, const struct root *root)
{
    json_t *list = json_array();
    char a[FIGURE], b[FIGURE];
    XOFF_ASSERT(list);
    if (root->n_pauses)
        add(list, "%llu pause%s back to it, %s together; the first at %s.",
            (unsigned long long)root->n_pauses, root->n_pauses == 1 ? " goes" : "s go",
            moment(a, root->held_ps), moment(b, root->from_ps));
    if (root->n_adopted)
        add(list,
            "%llu of them name%s no parent, but the port that %s bytes wanted had just been "
            "paused for it.",
            (unsigned long long)root->n_adopted, root->n_adopted == 1 ? "s" : "",
            root->n_adopted == 1 ? "its" : "their");
    if (root->is_unlifted)
        add(list, "A pause of its own was never lifted.");
    if (root->port != NONE && root->kind != ROOT_DEADLOCK && root->kind != ROOT_HEADROOM &&
        root->kind != ROOT_IGNORED_PAUSES)
        add_siblings(list, e, root);
    if (root->n_senders)
        add(list, "%u host%s sent to or through it meanwhile.", root->n_senders,
            root->n_senders == 1 ? "" : "s");
    if (root->lost_frames)
        add(list, "%llu %s lost there, %llu of lossless priorities; the first at %s.",
            (unsigned long long)root->lost_frames,
            root->lost_frames == 1 ? "frame was" : "frames were",
            (unsigned long long)root->lost_lossless, moment(a, root->lost_from_ps));
    if (root->n_deaf)
        add(list, "%u of its ports sent pauses that the other end did not obey.", root->n_deaf);
    if (root->n_flows)
        add(list, "%llu flow%s waited for it, %llu of them %s.", (unsigned long long)root->n_flows,
            root->n_flows == 1 ? "" : "s", (unsigned long long)root->n_bystanders,
            root->n_bystanders == 1 ? "a bystander" : "bystanders");
    return list;
}

json_t *words_facts(const struct explanation *e)
{
    json_t *list = json_array();
    const uint32_t port = busiest(e);
    uint64_t n_stops = e->run.n_pauses;
    struct text t;
    char a[FIGURE];
    XOFF_ASSERT(list);
    add(list, "%llu flows, %llu of them with an end that they did not reach.",
        (unsigned long long)e->n_flows, (unsigned long long)e->n_unfinished);
    if (e->n_summarised)
        add(list,
            "%llu finished flows were summarised: all but the slowest of them are left out here.",
            (unsigned long long)e->n_summarised);
    add(list, "%llu pauses, %u deadlocks, %llu frames lost.", (unsigned long long)n_stops,
        e->n_deadlocks, (unsigned long long)e->lost_frames);
    if (port == NONE || e->run.ports[port].busy <= 0)
        return list;
    begin(&t);
    say_port(t.out, e, port);
    char *place = end(&t);
    add(list, "Busiest link: %s, %s of the time.", place, percent(a, e->run.ports[port].busy));
    free(place);
    return list;
}

struct sureness words_sure(const struct explanation *e, const struct root *root)
{
    struct sureness s = {.level = "high"};
    if (e->is_interrupted) {
        s.level = "low";
        snprintf(s.why, sizeof s.why, "the run was interrupted");
    } else if (e->run.pauses_left_out) {
        s.level = "low";
        snprintf(s.why, sizeof s.why, "%lld decisions were not kept, so later pauses are unknown",
                 (long long)e->run.pauses_left_out);
    } else if (!root) {
        snprintf(s.why, sizeof s.why,
                 "no port was held for 1 %% of the time, and no frame lost "
                 "that must not be");
    } else if (root->kind == ROOT_UNKNOWN) {
        s.level = "low";
        snprintf(s.why, sizeof s.why, "no queue held most of the bytes when pauses were decided");
    } else if (e->is_rerouted && root->deadlock == NONE) {
        s.level = "medium";
        snprintf(s.why, sizeof s.why,
                 "routes by hand changed during the run; who passes the root is taken from those "
                 "at the start");
    } else if (2 * root->n_adopted > root->n_pauses) {
        s.level = "medium";
        snprintf(s.why, sizeof s.why,
                 "most pauses are laid to it by time, not by a recorded parent");
    } else if (e->n_summarised) {
        s.level = "medium";
        snprintf(s.why, sizeof s.why,
                 "flows were summarised: the harm is that of the slowest and of those that did not "
                 "finish");
    } else if (e->is_coarse) {
        s.level = "medium";
        snprintf(s.why, sizeof s.why, "too many flows to follow each of them over all hops");
    } else if (root->n_pauses) {
        snprintf(s.why, sizeof s.why, "recorded causes lead from it to %s pause%s",
                 root->n_adopted ? "most" : "every", root->n_adopted ? "s" : "");
    } else {
        snprintf(s.why, sizeof s.why, "losses are recorded with their place and cause");
    }
    return s;
}

/* The same place in both runs; how many sent to it may differ. */
static bool is_same_root(const struct explanation *e, const struct explanation *first)
{
    const struct root *a = &e->roots[0], *b = &first->roots[0];
    if (a->kind != b->kind)
        return false;
    char *one = a->kind == ROOT_INCAST ? NULL : words_title(e, a);
    char *two = a->kind == ROOT_INCAST ? NULL : words_title(first, b);
    const bool is_same =
        one ? !strcmp(one, two) : !strcmp(name_of(e, a->target), name_of(first, b->target));
    free(two);
    free(one);
    return is_same;
}

char *words_difference(const struct explanation *e, const struct explanation *first)
{
    const struct explain_figures a = explain_figures(first), b = explain_figures(e);
    struct text t;
    char figures[2][FIGURE];
    begin(&t);
    fprintf(t.out, "Against %s: ", *first->variant ? first->variant : "the first run");
    char *one = first->n_named ? words_title(first, &first->roots[0]) : NULL;
    char *two = e->n_named ? words_title(e, &e->roots[0]) : NULL;
    if (!one && !two)
        fprintf(t.out, "neither has a root");
    else if (!two)
        fprintf(t.out, "the root there (%s) is gone", one);
    else if (!one)
        fprintf(t.out, "there is a root now (%s)", two);
    else if (is_same_root(e, first))
        fprintf(t.out, "the same root");
    else
        fprintf(t.out, "another root (there %s)", one);
    words_harm(figures[0], b.harm_byte_s);
    words_harm(figures[1], a.harm_byte_s);
    if ((one || two) && strcmp(figures[0], figures[1]))
        fprintf(t.out, ", harm %s instead of %s", figures[0], figures[1]);
    else if (one || two)
        fprintf(t.out, ", the same harm");
    if (a.bystanders_byte_s > 0 || b.bystanders_byte_s > 0)
        fprintf(t.out, ", to bystanders %s instead of %s",
                words_harm(figures[0], b.bystanders_byte_s),
                words_harm(figures[1], a.bystanders_byte_s));
    if (a.lost_frames != b.lost_frames)
        fprintf(t.out, ", %llu frame%s lost instead of %llu", (unsigned long long)b.lost_frames,
                b.lost_frames == 1 ? "" : "s", (unsigned long long)a.lost_frames);
    figure(figures[0], (double)b.delivered_bytes, KIND_SIZE);
    figure(figures[1], (double)a.delivered_bytes, KIND_SIZE);
    if (strcmp(figures[0], figures[1]))
        fprintf(t.out, ", %s delivered instead of %s", figures[0], figures[1]);
    fprintf(t.out, ".");
    free(two);
    free(one);
    return end(&t);
}
