/* Turns captured frames into results: the notes of a port, with the place of each frame in its
 * message and its packet sequence number.
 *
 * A frame knows its byte in the flow, or for datagrams in the message. Packet numbers are computed
 * from the records of the source: all frames of a message but its last are full, and the messages
 * of a connection follow each other. All records of a connection carry the connection's hash, which
 * was computed from the number of its first record only.
 */
#include <stdlib.h>

#include "net/model.h"

static void *make(uint64_t n, size_t size)
{
    void *array = calloc(n ? n : 1, size);
    XOFF_ASSERT(array);
    return array;
}

/* Where a message begins in its connection. */
struct begin {
    uint32_t hash, to, number; /* `number` is that of the message's record */
    bool is_connection;        /* the first of its connection ... */
    uint32_t n_messages;       /* ... which has so many */
    uint64_t byte;
    uint32_t psn;
};

/* The messages of a host, those of a connection in order and together. */
struct numbering {
    struct begin *begins;
    uint32_t *place; /* index in it of each record */
    uint32_t n;
};

static int compare_begins(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static uint64_t payload_max(const struct flow_note *note)
{
    return (uint64_t)(note->frame_bytes - note->header_bytes);
}

static void number_messages(const struct host *host, struct numbering *out)
{
    out->n = host->n_flow_notes;
    out->begins = make(out->n, sizeof *out->begins);
    out->place = make(out->n, sizeof *out->place);
    for (uint32_t i = 0; i < out->n; i++) {
        const struct flow_note *note = &host->flow_notes[i];
        out->begins[i] = (struct begin){
            .hash = note->hash,
            .to = note->to,
            .number = i,
            .is_connection = note->hash == flow_hash(host->node, note->to, i),
        };
    }
    qsort(out->begins, out->n, sizeof *out->begins, compare_begins);
    struct begin *connection = out->begins;
    for (uint32_t k = 0; k < out->n; k++) {
        struct begin *b = &out->begins[k];
        out->place[b->number] = k;
        if (b->is_connection)
            connection = b;
        connection->n_messages++;
        if (b == connection)
            continue;
        const struct flow_note *before = &host->flow_notes[b[-1].number];
        const uint64_t frames = (before->offered + payload_max(before) - 1) / payload_max(before);
        b->byte = b[-1].byte + before->offered;
        b->psn = b[-1].psn + (uint32_t)frames;
    }
}

/* Number of frames up to byte `seq` of a flow. */
static uint32_t frames_before(const struct host *host, const struct numbering *numbering,
                              uint32_t flow, uint64_t seq)
{
    if (!seq)
        return 0;
    uint32_t low = numbering->place[flow], high = low + numbering->begins[low].n_messages;
    while (high - low > 1) {
        const uint32_t mid = low + (high - low) / 2;
        if (numbering->begins[mid].byte < seq)
            low = mid;
        else
            high = mid;
    }
    const struct begin *b = &numbering->begins[low];
    const uint64_t max = payload_max(&host->flow_notes[b->number]);
    return b->psn + (uint32_t)((seq - b->byte + max - 1) / max);
}

static const uint8_t by_of[] = {
    [XOFF_REL_AS_ROCE] = RESULT_BY_GO_BACK_N,
    [XOFF_REL_AS_DATAGRAM] = RESULT_BY_DATAGRAM,
    [XOFF_REL_AS_TCP] = RESULT_BY_TCP,
};

static void take_pause(const struct frame *f, struct result_frame *out)
{
    out->sent_at = (xoff_time)((uint64_t)f->word << 32 | f->message);
    out->opcode = f->pause.opcode;
    out->classes = f->pause.classes;
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++)
        out->quanta[p] = f->pause.quanta[p];
}

void capture_read(const struct net *net, const struct frame *f, struct result_frame *out)
{
    *out = (struct result_frame){
        .at = f->at,
        .bytes = f->bytes,
        .kind = f->kind,
        .is_sent = f->pool & CAPTURE_SENT,
        .is_corrupt = f->pool & CAPTURE_CORRUPT,
    };
    if (f->kind == FRAME_PAUSE) {
        take_pause(f, out);
        return;
    }
    if (f->kind == FRAME_LLDP) {
        out->from = f->src;
        out->to = f->dst;
        out->flow = f->flow;
        return;
    }
    out->sent_at = frame_sent_at(f);
    out->seq = f->seq;
    out->from = f->src;
    out->to = f->dst;
    out->flow = f->flow;
    out->hash = f->hash;
    out->by = by_of[net->spec.transports[f->transport].rel->format];
    out->priority = f->priority;
    out->is_marked = f->flags & FRAME_MARKED;
    out->is_tagged = f->flags & FRAME_TAGGED;
    out->asks_rate =
        (f->kind == FRAME_DATA || f->kind == FRAME_PROBE) && f->flags & FRAME_ASKS_RATE;
    if (f->kind == FRAME_DATA || f->kind == FRAME_NOTICE || f->kind == FRAME_PROBE)
        out->payload_bytes = f->payload;
    if (f->kind != FRAME_DATA)
        return;
    out->has_rrt = net->transports[f->transport].rp.ops->tag_bytes == XOFF_RRT_BYTES;
    out->is_last = f->flags & FRAME_LAST;
    out->asks = f->flags & FRAME_ASKS;
    out->is_reduced = f->flags & FRAME_REDUCED;
}

/* Adds the number of the packet, and whether it begins its message. */
static void number_frame(const struct net *net, struct numbering *numberings, const struct frame *f,
                         struct result_frame *out)
{
    if (frame_is_control(f) || f->kind == FRAME_NOTICE || f->kind == FRAME_PROBE)
        return;
    const uint32_t source = f->kind == FRAME_DATA ? f->src : f->dst;
    const struct host *host = &net->hosts[source];
    struct numbering *numbering = &numberings[source];
    if (!numbering->begins)
        number_messages(host, numbering);
    if (f->kind != FRAME_DATA) {
        const uint32_t n = frames_before(host, numbering, f->flow, f->seq);
        out->psn = f->kind == FRAME_ACK ? n - 1 : n;
        return;
    }
    const struct begin *begin = &numbering->begins[numbering->place[f->message]];
    const uint64_t within = out->by == RESULT_BY_DATAGRAM ? f->seq : f->seq - begin->byte;
    out->psn = begin->psn + (uint32_t)(within / payload_max(&host->flow_notes[f->message]));
    out->is_first = !within;
}

void capture_read_extra(const struct net *net, const struct frame *f,
                        struct result_frame_extra *out)
{
    if (frame_is_control(f) || f->is_bare)
        return;
    const struct transport *t = &net->transports[f->transport];
    /* A run whose frames carry telemetry has no tags. */
    const bool is_tagged = f->kind == FRAME_DATA && !net->has_stamps;
    const bool is_message = f->kind == FRAME_NOTICE || f->kind == FRAME_PROBE;
    if ((is_message || is_tagged) && extra_at(f)->tag.kind != XOFF_NOTICE_NONE) {
        out->has_notice = true;
        out->notice = extra_at(f)->tag;
    } else if (t->np.ops->has_telemetry && !is_message) {
        out->has_telemetry = true;
        out->telemetry = extra_at(f)->telemetry;
    } else if (t->rel.shape.names_blocks && f->kind == FRAME_ACK) {
        const struct sack *sack = &extra_at(f)->sack;
        out->n_sacks = sack->n;
        for (uint32_t i = 0; i < sack->n; i++) {
            out->sack_from[i] = f->seq + sack->from[i];
            out->sack_to[i] = out->sack_from[i] + sack->bytes[i];
        }
    }
}

void capture_collect(struct net *net, struct results *r)
{
    _Static_assert(
        (int)RESULT_FRAME_DATA == FRAME_DATA && (int)RESULT_FRAME_ACK == FRAME_ACK &&
            (int)RESULT_FRAME_NACK == FRAME_NACK && (int)RESULT_FRAME_CNP == FRAME_CNP &&
            (int)RESULT_FRAME_PAUSE == FRAME_PAUSE && (int)RESULT_FRAME_LLDP == FRAME_LLDP &&
            (int)RESULT_FRAME_NOTICE == FRAME_NOTICE && (int)RESULT_FRAME_PROBE == FRAME_PROBE,
        "kinds of frames have the same numbers in the network and in results");
    if (!net->spec.n_captures)
        return;
    r->captures = make(net->spec.n_captures, sizeof *r->captures);
    struct numbering *numberings = make(net->n_hosts, sizeof *numberings);
    for (uint32_t i = 0; i < net->spec.n_captures; i++) {
        const struct net_capture *which = &net->spec.captures[i];
        struct capture *notes = net_port(net, which->node, which->port)->capture;
        struct result_capture *out = &r->captures[r->n_captures++];
        *out = (struct result_capture){.node = which->node,
                                       .port = which->port,
                                       .frames = make(notes->n, sizeof *out->frames),
                                       .n_frames = notes->n,
                                       .left_out = notes->left_out};
        if (notes->step > 1)
            out->extras = make(notes->n, sizeof *out->extras);
        for (uint64_t k = 0; k < notes->n; k++) {
            const struct frame *f = capture_at(notes, k);
            capture_read(net, f, &out->frames[k]);
            number_frame(net, numberings, f, &out->frames[k]);
            if (out->extras)
                capture_read_extra(net, f, &out->extras[k]);
        }
    }
    for (uint32_t h = 0; h < net->n_hosts; h++)
        free(numberings[h].begins), free(numberings[h].place);
    free(numberings);
}
