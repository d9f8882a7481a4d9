/* Captured ports as pcapng files, with a comment on each pause frame that says why it was sent.
 *
 * A pause frame announces earlier decisions: for each class it names, the last decision of its
 * sender for that port. Frames and decisions are both in order of time, so one pass through the
 * decisions for each direction finds them all. A frame that repeats a decision is a refresh.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "cli/cli.h"
#include "net/packets.h"
#include "stats/text_stream.h"
#include "wire/packet.h"
#include "wire/pcapng.h"

#define NO_PAUSE UINT64_MAX
#define BUFFER_BYTES (1u << 18)                                        /* stays in the cache */
#define ROOM_BYTES PCAPNG_BLOCK_BYTES(PACKET_BUFFER_BYTES(UINT16_MAX)) /* room for any frame */

/* The decisions of one end of the link, up to some time. */
struct teller {
    uint32_t node, port;
    uint64_t next;                          /* next decision to read */
    uint64_t decided[2][XOFF_N_PRIORITIES]; /* last XON and XOFF; NO_PAUSE: none */
    uint64_t told[XOFF_N_PRIORITIES];       /* last decision announced by a frame */
};

struct capture_writer {
    const struct results *results;
    const struct result_capture *capture;
    struct teller tellers[2]; /* of the peer, of this port */
    uint32_t snap_bytes;      /* kept of a frame; 0: all */
    FILE *file;
    struct pcapng out;
    struct crc32 crc32;
};

static void teller_init(struct teller *t, uint32_t node, uint32_t port)
{
    *t = (struct teller){.node = node, .port = port};
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        t->decided[0][p] = t->decided[1][p] = t->told[p] = NO_PAUSE;
}

static void teller_advance(struct teller *t, const struct results *r, xoff_time to)
{
    for (; t->next < r->n_pauses && r->pauses[t->next].at <= to; t->next++) {
        const struct result_pause *d = &r->pauses[t->next];
        if (d->node != t->node || d->port != t->port)
            continue;
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
            if (d->priorities >> p & 1)
                t->decided[d->pause][p] = t->next;
    }
}

static const struct result_port *port_of(const struct results *r, uint32_t node, uint32_t port)
{
    uint32_t low = 0, high = r->n_ports; /* ports are in order of node and port */
    while (high - low > 1) {
        const uint32_t mid = low + (high - low) / 2;
        const struct result_port *p = &r->ports[mid];
        if (p->node < node || (p->node == node && p->port <= port))
            low = mid;
        else
            high = mid;
    }
    XOFF_ASSERT(r->ports[low].node == node && r->ports[low].port == port);
    return &r->ports[low];
}

static const char *peer_name(const struct results *r, uint32_t node, uint32_t port)
{
    return r->nodes[port_of(r, node, port)->peer_node].name;
}

static void print_classes(FILE *text, uint8_t classes)
{
    if (classes == 0xff) {
        fputs("all priorities", text);
        return;
    }
    fputs(classes & (classes - 1) ? "priorities" : "priority", text);
    char before = ' ';
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        if (classes >> p & 1) {
            fprintf(text, "%c%u", before, p);
            before = ',';
        }
}

/* Prints the egress of the bytes, and whether that was paused itself. */
static void print_egress(FILE *text, const struct results *r, const struct result_pause *d)
{
    if (d->egress_port != UINT32_MAX)
        fprintf(text, "%sport %u (to %s)",
                d->unit == XOFF_UNIT_EGRESS ? ", queue of " : ", most of it for ", d->egress_port,
                peer_name(r, d->node, d->egress_port));
    if (!d->pause)
        return;
    if (d->parent != UINT32_MAX)
        fprintf(text, ", itself under pause #%u of %s", d->parent,
                r->nodes[r->pauses[d->parent].node].name);
    else if (d->egress_paused)
        fputs(", itself paused", text);
    else
        fputs("; root", text);
}

static void print_decision(FILE *text, const struct results *r, uint64_t index)
{
    const struct result_pause *d = &r->pauses[index];
    const char *what = !r->nodes[d->node].is_switch        ? "receive buffer"
                       : d->unit == XOFF_UNIT_INGRESS      ? "ingress queue"
                       : d->unit == XOFF_UNIT_INGRESS_PORT ? "ingress port"
                                                           : "egress queue";
    char held[32], threshold[32];
    cli_figure(held, sizeof held, (double)d->occupied_bytes, "B");
    cli_figure(threshold, sizeof threshold, (double)d->threshold_bytes, "B");
    fprintf(text, ", decision #%llu: %s %s %s, threshold %s", (unsigned long long)index, what,
            d->pause ? "held" : "down to", held, threshold);
    print_egress(text, r, d);
}

/* Names the classes of one decision together. */
static void print_pause(FILE *text, const struct results *r, struct teller *t,
                        const struct result_frame *frame)
{
    const bool is_pfc = frame->opcode == XOFF_OPCODE_PFC;
    const char *separator = "";
    teller_advance(t, r, frame->sent_at);
    for (uint32_t classes = frame->classes; classes;) {
        const uint32_t first = (uint32_t)__builtin_ctz(classes);
        const bool pause = frame->quanta[is_pfc ? first : 0];
        const uint64_t decision = t->decided[pause][first];
        const bool is_refresh = pause && decision != NO_PAUSE && t->told[first] == decision;
        uint8_t same = 0;
        for (uint32_t p = first; p < XOFF_N_PRIORITIES; p++)
            if (classes >> p & 1 && t->decided[pause][p] == decision &&
                !frame->quanta[is_pfc ? p : 0] == !pause) {
                same |= (uint8_t)(1u << p);
                t->told[p] = decision;
            }
        classes &= ~(uint32_t)same;
        fprintf(text, "%s%s%s ", separator, is_refresh ? "refresh of " : "",
                pause ? "XOFF" : "XON");
        print_classes(text, same);
        if (decision == NO_PAUSE)
            fputs(": its decision is not on record", text);
        else
            print_decision(text, r, decision);
        separator = "; ";
    }
}

static char *comment_of(struct capture_writer *w, const struct result_frame *frame)
{
    const bool is_notice = frame->kind == RESULT_FRAME_NOTICE;
    if (frame->kind != RESULT_FRAME_PAUSE && !is_notice && !frame->is_corrupt)
        return NULL;
    char *comment = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&comment, &size);
    XOFF_ASSERT(text);
    if (frame->kind == RESULT_FRAME_PAUSE)
        print_pause(text, w->results, &w->tellers[frame->is_sent], frame);
    if (is_notice)
        fprintf(text, "notice about flow %u to %s", frame->flow,
                w->results->nodes[frame->from].name);
    if (frame->is_corrupt)
        fprintf(text, "%shit by an error of the link, dropped",
                frame->kind == RESULT_FRAME_PAUSE || is_notice ? "; " : "");
    text_stream_close(text, &comment);
    return comment;
}

/* The addresses of frames that ports send: their owner's, by its number among its kind. */
static void fill_source(const struct results *r, uint32_t node, uint32_t port,
                        struct packet *packet)
{
    if (r->nodes[node].is_switch)
        xoff_packet_switch_mac(node - r->n_hosts, port, packet->source_mac);
    else
        xoff_packet_host_mac(node, packet->source_mac);
}

static void fill_packet(const struct capture_writer *w, uint64_t index, struct packet *packet)
{
    const struct result_frame *frame = &w->capture->frames[index];
    packet_of_frame(frame, w->capture->extras ? &w->capture->extras[index] : NULL, packet);
    if (frame->kind == RESULT_FRAME_PAUSE) {
        const struct teller *sender = &w->tellers[frame->is_sent];
        fill_source(w->results, sender->node, sender->port, packet);
    } else if (packet->notice.is_cnm || packet->notice.is_bcn) {
        const struct result_port *port =
            &w->results->ports[packet->notice.cp_id / XOFF_N_PRIORITIES];
        fill_source(w->results, port->node, port->port, packet);
    }
}

static bool flush(struct capture_writer *w)
{
    const bool is_fine = fwrite(w->out.buf, 1, w->out.length, w->file) == w->out.length;
    w->out.length = 0;
    return is_fine;
}

/* Writes the octets of an LLDP frame and their FCS; returns the length. */
static uint32_t write_lldp(struct capture_writer *w, const struct result_frame *frame,
                           uint8_t *octets)
{
    const struct result_lldp *lldp = w->results->lldp;
    while (lldp->node != frame->from || lldp->port != frame->to || lldp->number != frame->flow)
        lldp++;
    memcpy(octets, lldp->octets, lldp->length);
    const uint32_t crc = xoff_crc32_octets(&w->crc32, CRC32_START, octets, lldp->length);
    xoff_crc32_put(frame->is_corrupt ? ~crc : crc, octets + lldp->length);
    return lldp->length + (uint32_t)PACKET_FCS_BYTES;
}

static uint32_t write_packet(struct capture_writer *w, uint64_t index, uint8_t *octets)
{
    if (w->capture->frames[index].kind == RESULT_FRAME_LLDP)
        return write_lldp(w, &w->capture->frames[index], octets);
    struct packet packet;
    fill_packet(w, index, &packet);
    return xoff_packet_encode(&packet, &w->crc32, octets);
}

static bool write_frame(struct capture_writer *w, uint64_t index)
{
    const struct result_frame *frame = &w->capture->frames[index];
    bool is_fine = true;
    if (w->out.capacity - w->out.length < ROOM_BYTES)
        is_fine = flush(w);
    uint8_t *octets = xoff_pcapng_packet_place(&w->out);
    const uint32_t bytes = write_packet(w, index, octets);
    char *comment = comment_of(w, frame);
    const struct pcapng_packet about = {
        .at_ns = (uint64_t)(frame->at / XOFF_NS),
        .octets = octets,
        .original_bytes = bytes,
        .captured_bytes =
            w->snap_bytes && w->snap_bytes < frame->bytes ? w->snap_bytes : frame->bytes,
        .direction = frame->is_sent ? PCAPNG_OUTBOUND : PCAPNG_INBOUND,
        .fcs_bytes = PACKET_FCS_BYTES,
        .has_crc_error = frame->is_corrupt,
        .comment = comment,
    };
    XOFF_ASSERT(xoff_pcapng_packet(&w->out, &about));
    free(comment);
    return is_fine;
}

static void write_head(struct capture_writer *w)
{
    const struct results *r = w->results;
    const struct result_capture *c = w->capture;
    const struct result_port *port = port_of(r, c->node, c->port);
    const char *name = r->nodes[c->node].name, *peer = r->nodes[port->peer_node].name;
    char comment[512], interface[128], description[128];
    snprintf(comment, sizeof comment, "%s%s%s; seed %llu, digest %016llx", r->title,
             *r->variant ? ", variant " : "", r->variant, (unsigned long long)r->seed,
             (unsigned long long)r->digest);
    snprintf(interface, sizeof interface, "%s:%u to %s", name, c->port, peer);
    snprintf(description, sizeof description, "port %u of %s, linked to port %u of %s", c->port,
             name, port->peer_port, peer);
    const struct pcapng_interface about = {.name = interface,
                                           .description = description,
                                           .speed_bps = port->rate_bps,
                                           .snap_bytes = w->snap_bytes,
                                           .fcs_bytes = PACKET_FCS_BYTES};
    XOFF_ASSERT(xoff_pcapng_section(&w->out, "xoff " XOFF_VERSION, comment));
    XOFF_ASSERT(xoff_pcapng_interface(&w->out, &about));
    teller_init(&w->tellers[0], port->peer_node, port->peer_port);
    teller_init(&w->tellers[1], c->node, c->port);
}

/* Returns 0 or the reason (errno). */
static int write_capture(const char *path, const struct results *r, const struct result_capture *c,
                         uint32_t snap_bytes)
{
    struct capture_writer w = {
        .results = r, .capture = c, .snap_bytes = snap_bytes, .file = fopen(path, "wb")};
    if (!w.file)
        return errno;
    w.out.capacity = BUFFER_BYTES;
    w.out.buf = malloc(w.out.capacity);
    XOFF_ASSERT(w.out.buf);
    setvbuf(w.file, NULL, _IONBF, 0); /* our own is larger */
    xoff_crc32_init(&w.crc32);
    write_head(&w);
    errno = 0;
    bool is_fine = true;
    for (uint64_t i = 0; i < c->n_frames && is_fine; i++)
        is_fine = write_frame(&w, i);
    const struct pcapng_counts counts = {.at_ns = (uint64_t)(r->end_at / XOFF_NS),
                                         .received_frames = c->n_frames + c->left_out,
                                         .dropped_frames = c->left_out};
    is_fine = is_fine && flush(&w) && xoff_pcapng_counts(&w.out, &counts) && flush(&w);
    int reason = is_fine ? 0 : errno ? errno : EIO;
    if (fclose(w.file) && !reason)
        reason = errno;
    free(w.out.buf);
    return reason;
}

/* A variant's name can contain characters that a file's name cannot. */
static void file_name(const struct results *r, const struct result_capture *c, char *buf,
                      size_t size)
{
    snprintf(buf, size, "capture-%s%s%s-%u.pcapng", r->variant, *r->variant ? "-" : "",
             r->nodes[c->node].name, c->port);
    for (char *at = buf; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_.+", *at))
            *at = '_';
}

static void print_capture(FILE *out, const char *dir, const char *name,
                          const struct result_capture *c)
{
    fprintf(out, "capture: %s/%s, %llu frame%s", dir, name, (unsigned long long)c->n_frames,
            c->n_frames == 1 ? "" : "s");
    if (c->left_out)
        fprintf(out, "; %llu more left out, --capture-limit keeps more",
                (unsigned long long)c->left_out);
    fputc('\n', out);
}

int cli_write_captures(const char *aside, const struct results *const *runs, uint32_t n_runs,
                       uint32_t snap_bytes, const char *dir, FILE *told, struct xoff_err *err)
{
    int code = 0;
    for (uint32_t i = 0; i < n_runs; i++)
        for (uint32_t k = 0; k < runs[i]->n_captures && !code; k++) {
            const struct result_capture *c = &runs[i]->captures[k];
            char name[256], *path;
            file_name(runs[i], c, name, sizeof name);
            XOFF_ASSERT(asprintf(&path, "%s/%s", aside, name) >= 0);
            const int reason = write_capture(path, runs[i], c, snap_bytes);
            if (reason)
                code = cli_cannot_write(path, reason, err);
            print_capture(told, dir, name, c);
            free(path);
        }
    return code;
}
