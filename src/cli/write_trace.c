/* A trace in the text form of the ns-3 RDMA family (docs/import.md):
 *
 *   time_ns n:node port:queue queue_bytes event ecn:0|3 sip dip ... size
 *   sport dport U seq ts class size(payload)      data; T: over TCP
 *   sport dport A 0x00|0x01 class seq ts size     an ACK; N: a NACK, C: a CNP or a notification
 *   P 5|0 queue_bytes class size                  a pause or a resume of one class
 *
 * An address is 0x0b000001 + 256 * node; that of a pause frame belongs to the link.
 */

#include <xoff/units.h>

#include "cli/cli.h"
#include "stats/whole.h"

#define LINKS_A_BLOCK 254 /* addresses 10.b.1.0 to 10.b.254.0 */
#define PAUSE_US 5        /* what the original writes unless PAUSE_TIME says otherwise */

static uint32_t address(const struct results *r, uint32_t host)
{
    const uint32_t id = r->nodes[host].number;
    return 0x0b000001u + (id / 256 << 16) + (id % 256 << 8);
}

static uint32_t link_address(const struct result_event *e)
{
    return 10u << 24 | (e->from / LINKS_A_BLOCK + 1) << 16 | (e->from % LINKS_A_BLOCK + 1) << 8 |
           (e->to + 1);
}

static char letter(const struct result_event *e)
{
    switch (e->kind) {
    case RESULT_FRAME_DATA:
        return e->by == RESULT_BY_TCP ? 'T' : 'U';
    case RESULT_FRAME_ACK:
        return 'A';
    case RESULT_FRAME_NACK:
        return 'N';
    default:
        return 'C';
    }
}

static void print_event(FILE *out, const struct results *r, const struct result_event *e)
{
    static const char *const names[] = {"Recv", "Enqu", "Dequ", "Drop"};
    fprintf(out, "%lld n:%u %u:%u %u %s ecn:%u ", (long long)(e->at / XOFF_NS),
            r->nodes[e->node].number, e->port + 1u, e->queue, e->queue_bytes, names[e->what],
            e->is_marked ? 3u : 0u);
    if (e->kind == RESULT_FRAME_PAUSE) {
        fprintf(out, "%08x ffffffff P %u %u %u %u\n", link_address(e), e->pauses ? PAUSE_US : 0u,
                e->asked_bytes, e->priority, e->bytes);
        return;
    }
    const unsigned long long seq = e->seq;
    const long long sent_ns = (long long)(e->sent_at / XOFF_NS);
    fprintf(out, "%08x %08x %u %u %c ", address(r, e->from), address(r, e->to), e->sport, e->dport,
            letter(e));
    if (e->kind == RESULT_FRAME_DATA)
        fprintf(out, "%llu %lld %u %u(%u)\n", seq, sent_ns, e->priority, e->bytes,
                e->payload_bytes);
    else
        fprintf(out, "0x%02x %u %llu %lld %u\n", e->echoes, e->priority, seq, sent_ns, e->bytes);
}

static void write_trace(FILE *out, const void *context)
{
    const struct results *r = context;
    for (uint64_t i = 0; i < r->n_trace && !ferror(out); i++)
        print_event(out, r, &r->trace[i]);
}

int cli_write_trace(const char *path, const struct results *r, FILE *told, struct xoff_err *err)
{
    const int reason = whole_write(path, write_trace, r);
    if (reason)
        return cli_cannot_write(path, reason, err);
    fprintf(told, "trace: %s, %llu events\n", path, (unsigned long long)r->n_trace);
    return 0;
}
