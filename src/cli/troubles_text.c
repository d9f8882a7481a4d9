/* Prints the places of losses, hosts that are cut off, the cycles of deadlocks, and what the audit
 * found. */
#include <string.h>

#include "cli/cli.h"

/* Prints "s0 port 10 (to h9)". */
static void print_port(FILE *out, const struct results *r, uint32_t node, uint32_t port)
{
    fprintf(out, "%s port %u", r->nodes[node].name, port);
    for (uint32_t i = 0; i < r->n_ports; i++)
        if (r->ports[i].node == node && r->ports[i].port == port) {
            fprintf(out, " (to %s)", r->nodes[r->ports[i].peer_node].name);
            return;
        }
}

/* Prints "  PFC: drop", the first word only where there are variants. */
static void print_start(FILE *out, const struct results *r, const char *colour, const char *what)
{
    const struct cli_style *s = cli_style(out);
    fprintf(out, "  %s%s%s%s%s%s", r->variant, *r->variant ? ": " : "", s->bold, colour, what,
            s->off);
}

/* Prints the cycle; a priority is printed once when it is the same all around. */
static void print_deadlock(FILE *out, const struct cli_style *s, const struct results *r,
                           const struct result_deadlock *d)
{
    const struct result_deadlock_port *ports = &r->deadlock_ports[d->first];
    char text[32];
    bool is_mixed = false;
    for (uint32_t k = 1; k < d->n; k++)
        is_mixed |= ports[k].priority != ports[0].priority;
    print_start(out, r, s->red, "deadlock");
    fprintf(out, " since %s\n   ",
            cli_figure(text, sizeof text, (double)d->onset_at / (double)XOFF_S, "s"));
    for (uint32_t k = 0; k < d->n; k++) {
        fprintf(out, "%s ", !k ? "" : k % 3 ? " ->" : " ->\n   "); /* three fit a line */
        print_port(out, r, ports[k].node, ports[k].port);
        if (is_mixed)
            fprintf(out, " priority %u", ports[k].priority);
    }
    if (is_mixed)
        fprintf(out, " -> back\n");
    else
        fprintf(out, " -> back, priority %u\n", ports[0].priority);
}

static void print_drop(FILE *out, const struct cli_style *s, const struct results *r,
                       const struct result_drop *d)
{
    static const char *const causes[] = {
#define X(id, name, text) text,
        RESULT_DROP_MAP(X)
#undef X
    };
    char text[32];
    print_start(out, r, d->lossless ? s->red : s->yellow, "drop");
    fputc(' ', out);
    print_port(out, r, d->node, d->port);
    fprintf(out, ", priority %u%s: %llu frames\n    from %s: %s", d->priority,
            d->lossless ? " (lossless)" : "", (unsigned long long)d->frames,
            cli_figure(text, sizeof text, (double)d->first_at / (double)XOFF_S, "s"),
            causes[d->cause]);
    if (d->out_port != UINT32_MAX) {
        fprintf(out, ", to ");
        print_port(out, r, d->node, d->out_port);
    }
    fputc('\n', out);
}

/* What is to or from a host without a link never arrives, however long a run waits. */
static void print_cut_off(FILE *out, const struct cli_style *s, const struct cli_run *run)
{
    const struct topo *topo = &run->built->topo;
    char text[32];
    for (uint32_t host = 0; host < topo->n_hosts; host++) {
        const xoff_time at = topo_cut_off_at(topo, host, run->results->end_at);
        if (at == XOFF_NEVER)
            continue;
        print_start(out, run->results, s->yellow, "cut off");
        fprintf(out,
                " %s: its link failed at %s and was not repaired; flows to or from it "
                "cannot finish\n",
                run->results->nodes[host].name,
                cli_figure(text, sizeof text, (double)at / (double)XOFF_S, "s"));
    }
}

void cli_print_troubles(FILE *out, const struct cli_run *run)
{
    enum { MAX_SHOWN = 8 };
    const struct cli_style *s = cli_style(out);
    const struct results *r = run->results;
    for (uint32_t i = 0; i < r->n_drops && i < MAX_SHOWN; i++)
        print_drop(out, s, r, &r->drops[i]);
    if (r->n_drops > MAX_SHOWN)
        fprintf(out, "  ... and %u more places, in the results\n", r->n_drops - MAX_SHOWN);
    print_cut_off(out, s, run);
    for (uint32_t i = 0; i < r->n_deadlocks; i++)
        print_deadlock(out, s, r, &r->deadlocks[i]);
    for (uint32_t i = 0; i < r->n_findings; i++) {
        print_start(out, r, s->red, "audit");
        fprintf(out, " %s\n", r->findings[i].text);
    }
}
