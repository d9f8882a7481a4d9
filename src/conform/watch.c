/* What can be seen in a capture of a link. See watch.h.
 *
 * Pauses are followed for each sender, by interface and MAC address, and each priority. A pause
 * that is sent again before it runs out was renewed in time. One that is sent again within its own
 * length after that is taken for a refresh that came too late; later it is another pause, and the
 * one before ran out without a resume.
 *
 * Of DCBX the last frame of each port counts. A port that ought to have taken over what its peer
 * said must show it in a frame that it sent at least 10 s later.
 */
#include "conform/watch.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/cnm.h>
#include <xoff/dcbx_tlv.h>
#include <xoff/eth.h>
#include <xoff/pfc_frame.h>
#include <xoff/uec.h>
#include <xoff/units.h>

#include "wire/octets.h"

#define MAX_SENDERS 64
#define MAX_PORTS 16
#define PFC_OCTETS 34 /* up to the last time; padding may be cut off in a capture */
#define TAKEN_OVER_WITHIN (10 * XOFF_S)

/* A pause of one priority that its sender has asked for. */
struct asked {
    bool is_on;
    xoff_time runs_out_at, lasts;
    uint64_t frame;
};

struct sender {
    uint32_t interface;
    uint8_t mac[6];
    bool has_pause, has_pfc;
    struct asked asked[XOFF_N_PRIORITIES];
};

struct neighbour {
    uint32_t interface;
    struct xoff_lldp lldp;
    struct xoff_dcbx_pdu pdu;
    xoff_time at;
    uint64_t frame;
};

struct watch {
    xoff_rate rate_bps;
    uint64_t n_frames;
    xoff_time at, first_at; /* of the last frame and the first, from the epoch of the file */
    bool has_time;
    struct sender senders[MAX_SENDERS];
    uint32_t n_senders;
    struct neighbour *neighbours;
    uint32_t n_neighbours;
    uint64_t n_pfc, n_pause, n_other, n_asked, n_renewed, n_resumed, n_open, n_remarks;
    uint16_t least_quanta, most_quanta;
    struct watch_result results[WATCH_N_CHECKS];
};

#define CHECK(number, name, why)                                                \
    {                                                                           \
        .id = "CAP." number, .suite = "capture", .title = name, .purpose = why, \
        .procedure = "Read the capture.",                                       \
    }

const struct xoff_conform_test watch_tests[WATCH_N_CHECKS] = {
    [WATCH_PFC] = CHECK("1", "PAUSE and PFC frames",
                        "Pause frames are well formed, and no port sends both kinds."),
    [WATCH_QUANTA] = CHECK("2", "quanta", "Pauses have times, and only for priorities they name."),
    [WATCH_REFRESH] = CHECK("3", "refresh", "A pause that goes on is renewed before it runs out."),
    [WATCH_RESUME] =
        CHECK("4", "pause without resume", "A pause ends by a resume and does not run out."),
    [WATCH_DCBX] =
        CHECK("5", "LLDP and DCBX frames", "LLDP frames and the TLVs of DCBX are well formed."),
    [WATCH_WILLING] = CHECK("6", "agreement of two ports",
                            "Two ports that speak DCBX come to the same PFC, by willing bits and "
                            "MAC addresses; there are no more than two."),
    [WATCH_CNM] = CHECK("7", "CNM frames", "Congestion notifications are well formed."),
};

struct watch *watch_create(xoff_rate rate_bps)
{
    struct watch *w = calloc(1, sizeof *w);
    XOFF_ASSERT(w);
    w->neighbours = calloc(MAX_PORTS, sizeof *w->neighbours);
    XOFF_ASSERT(w->neighbours);
    w->rate_bps = rate_bps;
    w->least_quanta = UINT16_MAX;
    for (uint32_t i = 0; i < WATCH_N_CHECKS; i++)
        w->results[i].result.test = &watch_tests[i];
    return w;
}

void watch_destroy(struct watch *w)
{
    if (w)
        free(w->neighbours);
    free(w);
}

__attribute__((format(printf, 4, 5))) static void find(struct watch *w, enum watch_check check,
                                                       uint64_t frame, const char *text, ...)
{
    struct watch_result *r = &w->results[check];
    if (r->n_findings++ >= WATCH_MAX_FINDINGS)
        return;
    struct watch_finding *f = &r->findings[r->n_findings - 1];
    va_list arguments;
    f->frame = frame;
    va_start(arguments, text);
    vsnprintf(f->text, sizeof f->text, text, arguments);
    va_end(arguments);
}

/* Pauses */

static struct sender *find_sender(struct watch *w, uint32_t interface, const uint8_t mac[6])
{
    for (uint32_t i = 0; i < w->n_senders; i++)
        if (w->senders[i].interface == interface && !memcmp(w->senders[i].mac, mac, 6))
            return &w->senders[i];
    if (w->n_senders == MAX_SENDERS)
        return NULL;
    struct sender *s = &w->senders[w->n_senders++];
    s->interface = interface;
    memcpy(s->mac, mac, 6);
    return s;
}

static double us(xoff_time t)
{
    return (double)t / (double)XOFF_US;
}

/* The sender asks for a pause of the priority once more while the last one was not resumed. */
static void ask_again(struct watch *w, const struct asked *asked, uint32_t priority)
{
    const xoff_time late = w->at - asked->runs_out_at;
    if (late <= 0)
        w->n_renewed++;
    else if (late <= asked->lasts)
        find(w, WATCH_REFRESH, w->n_frames, "priority %u: renewed %.1f us after it had run out",
             priority, us(late));
    else
        find(w, WATCH_RESUME, asked->frame, "priority %u: the pause ran out and was not resumed",
             priority);
}

static void follow(struct watch *w, struct sender *s, uint32_t priority, uint16_t quanta)
{
    struct asked *asked = &s->asked[priority];
    w->n_asked += quanta && !asked->is_on;
    if (!quanta) {
        w->n_resumed += asked->is_on;
        asked->is_on = false;
        return;
    }
    w->least_quanta = quanta < w->least_quanta ? quanta : w->least_quanta;
    w->most_quanta = quanta > w->most_quanta ? quanta : w->most_quanta;
    if (!w->has_time)
        return;
    if (asked->is_on)
        ask_again(w, asked, priority);
    asked->is_on = true;
    asked->frame = w->n_frames;
    asked->lasts = xoff_quanta_time(quanta, w->rate_bps);
    asked->runs_out_at = w->at + asked->lasts;
}

static void read_pause(struct watch *w, const uint8_t *octets, uint32_t length, uint32_t interface,
                       bool is_cut)
{
    uint8_t whole[XOFF_PAUSE_FRAME_BYTES] = {0};
    struct xoff_pause_frame pause;
    struct xoff_err err;
    const uint16_t opcode = (uint16_t)(octets[14] << 8 | octets[15]);
    if (opcode == XOFF_OPCODE_EXTENSION) {
        w->n_other++;
        return;
    }
    memcpy(whole, octets, length < sizeof whole ? length : sizeof whole);
    if (is_cut && length >= PFC_OCTETS) /* a capture that keeps the first octets only */
        length = XOFF_PAUSE_FRAME_BYTES - 4;
    if (xoff_pause_frame_decode(whole, length, &pause, &err)) {
        find(w, WATCH_PFC, w->n_frames, "%s: %s", err.subject, err.message);
        return;
    }
    struct sender *s = find_sender(w, interface, whole + 6);
    if (!s)
        return;
    const bool is_pfc = pause.opcode == XOFF_OPCODE_PFC;
    const bool was_mixed = s->has_pause && s->has_pfc;
    *(is_pfc ? &w->n_pfc : &w->n_pause) += 1;
    *(is_pfc ? &s->has_pfc : &s->has_pause) = true;
    if (s->has_pause && s->has_pfc && !was_mixed)
        find(w, WATCH_PFC, w->n_frames, "a port sends PAUSE and PFC; they exclude each other");
    if (whole[6] & 1)
        find(w, WATCH_PFC, w->n_frames, "the source is a group address");
    if (is_pfc && !pause.classes)
        find(w, WATCH_QUANTA, w->n_frames, "the enable vector is empty");
    for (uint32_t p = 0; p < XOFF_N_PRIORITIES && is_pfc; p++) {
        if (pause.classes >> p & 1)
            follow(w, s, p, pause.quanta[p]);
        else if (pause.quanta[p])
            find(w, WATCH_QUANTA, w->n_frames, "%u quanta for priority %u, whose bit is 0",
                 pause.quanta[p], p);
    }
}

static void end_pauses(struct watch *w)
{
    for (uint32_t i = 0; i < w->n_senders; i++)
        for (uint32_t p = 0; p < XOFF_N_PRIORITIES; p++) {
            const struct asked *asked = &w->senders[i].asked[p];
            if (asked->is_on && w->at > asked->runs_out_at)
                find(w, WATCH_RESUME, asked->frame,
                     "priority %u: the pause ran out and was not resumed", p);
            else
                w->n_open += asked->is_on;
        }
}

/* DCBX */

static void read_lldp(struct watch *w, const uint8_t *octets, uint32_t length, uint32_t interface)
{
    struct neighbour heard = {.interface = interface, .at = w->at, .frame = w->n_frames};
    struct xoff_err err = {0};
    w->results[WATCH_DCBX].result.n_frames++;
    if (xoff_dcbx_pdu_decode(octets, length, &heard.lldp, &heard.pdu, &err) < 0) {
        find(w, WATCH_DCBX, w->n_frames, "%s: %s", err.subject, err.message);
        return;
    }
    if (err.code)
        find(w, WATCH_DCBX, w->n_frames, "%s: %s", err.subject, err.message);
    for (uint32_t kind = 0; kind < XOFF_DCBX_N_KINDS; kind++)
        w->n_remarks += (uint32_t)__builtin_popcount(heard.pdu.remarks[kind]);
    uint32_t i = 0;
    while (i < w->n_neighbours && (w->neighbours[i].interface != interface ||
                                   memcmp(w->neighbours[i].lldp.source, heard.lldp.source, 6)))
        i++;
    if (i < MAX_PORTS) {
        w->neighbours[i] = heard;
        w->n_neighbours += i == w->n_neighbours;
    }
}

static bool says(const struct neighbour *n, enum xoff_dcbx_kind kind)
{
    return n->pdu.has >> kind & 1;
}

/* Whether `a` has had the time to take over what `b` said. */
static bool had_time(const struct neighbour *a, const struct neighbour *b)
{
    return a->at - b->at >= TAKEN_OVER_WITHIN;
}

/* PFC is symmetric: the one that gives way must come to what the other has. */
static void check_pfc(struct watch *w, const struct neighbour *a, const struct neighbour *b)
{
    const struct xoff_dcbx_pfc *mine = &a->pdu.pfc, *other = &b->pdu.pfc;
    if (!says(a, XOFF_DCBX_PFC) || !says(b, XOFF_DCBX_PFC) || mine->enabled == other->enabled)
        return;
    const uint64_t frame = a->frame > b->frame ? a->frame : b->frame;
    if (!mine->is_willing && !other->is_willing) {
        find(w, WATCH_WILLING, frame, "neither port is willing, PFC is %02x and %02x",
             mine->enabled, other->enabled);
        return;
    }
    const bool a_is_lower = memcmp(a->lldp.source, b->lldp.source, 6) < 0;
    const bool a_yields = mine->is_willing && (!other->is_willing || !a_is_lower);
    if (a_yields ? had_time(a, b) : had_time(b, a))
        find(w, WATCH_WILLING, frame, "%s, and PFC stays %02x and %02x",
             mine->is_willing && other->is_willing
                 ? "both ports are willing, the lower MAC address counts"
                 : "one port is willing",
             mine->enabled, other->enabled);
}

/* A willing port must come to what its peer recommends. */
static void check_ets(struct watch *w, const struct neighbour *a, const struct neighbour *b)
{
    const struct xoff_dcbx_ets *mine = &a->pdu.ets, *wanted = &b->pdu.recommendation;
    const bool is_taken = !memcmp(mine->class_of, wanted->class_of, 8) &&
                          !memcmp(mine->percent, wanted->percent, 8) &&
                          !memcmp(mine->tsa, wanted->tsa, 8);
    if (says(a, XOFF_DCBX_ETS_CONFIGURATION) && mine->is_willing &&
        says(b, XOFF_DCBX_ETS_RECOMMENDATION) && had_time(a, b) && !is_taken)
        find(w, WATCH_WILLING, a->frame,
             "a port is willing and does not follow the ETS recommendation of its peer");
}

static void check_fcoe(struct watch *w, const struct neighbour *n)
{
    for (uint32_t i = 0; says(n, XOFF_DCBX_APPLICATIONS) && i < n->pdu.apps.n; i++) {
        const struct xoff_dcbx_app *app = &n->pdu.apps.app[i];
        if (app->selector == XOFF_APP_ETHERTYPE && app->protocol == XOFF_APP_FCOE &&
            says(n, XOFF_DCBX_PFC) && !(n->pdu.pfc.enabled >> app->priority & 1))
            find(w, WATCH_WILLING, n->frame, "FCoE has priority %u, which is not lossless",
                 app->priority);
    }
}

static void check_pair(struct watch *w, const struct neighbour *a, const struct neighbour *b)
{
    const uint64_t frame = a->frame > b->frame ? a->frame : b->frame;
    const uint8_t ieee = 1 << XOFF_DCBX_ETS_CONFIGURATION | 1 << XOFF_DCBX_PFC;
    const bool a_is_old = says(a, XOFF_DCBX_CEE) && !(a->pdu.has & ieee);
    const bool b_is_old = says(b, XOFF_DCBX_CEE) && !(b->pdu.has & ieee);
    if ((a_is_old && b->pdu.has & ieee && !says(b, XOFF_DCBX_CEE)) ||
        (b_is_old && a->pdu.has & ieee && !says(a, XOFF_DCBX_CEE)))
        find(w, WATCH_WILLING, frame, "one port speaks Baseline (CEE), the other IEEE");
    check_pfc(w, a, b);
    check_ets(w, a, b);
    check_ets(w, b, a);
}

/* Ports of one interface are the two ends of a link. */
static void check_neighbours(struct watch *w)
{
    for (uint32_t i = 0; i < w->n_neighbours; i++) {
        uint32_t n = 0, other = 0;
        for (uint32_t k = 0; k < w->n_neighbours; k++)
            if (w->neighbours[k].interface == w->neighbours[i].interface && ++n == 2)
                other = k;
        check_fcoe(w, &w->neighbours[i]);
        if (other > i && n == 2)
            check_pair(w, &w->neighbours[i], &w->neighbours[other]);
        else if (other > i)
            find(w, WATCH_WILLING, w->neighbours[other].frame,
                 "%u ports speak on one link: LLDP frames are forwarded somewhere", n);
    }
}

/* Frames */

static void read_cnm(struct watch *w, const uint8_t *octets, uint32_t length, size_t at)
{
    struct xoff_cnm cnm;
    struct xoff_err err;
    w->results[WATCH_CNM].result.n_frames++;
    if (xoff_cnm_decode(octets, length, at, &cnm, &err) < 0)
        find(w, WATCH_CNM, w->n_frames, "%s: %s", err.subject, err.message);
    else if (cnm.feedback == 0)
        find(w, WATCH_CNM, w->n_frames, "a notification without feedback");
}

void watch_frame(struct watch *w, const struct capture_frame *frame)
{
    struct xoff_eth eth;
    struct xoff_cn_tag tag = {0};
    struct xoff_err err;
    const bool is_cut = frame->captured < frame->original;
    const uint32_t fcs = is_cut || frame->captured < frame->fcs_octets ? 0 : frame->fcs_octets;
    const uint32_t length = frame->captured - fcs;
    w->n_frames++;
    w->has_time = frame->has_time;
    if (frame->has_time)
        w->at = (xoff_time)((frame->at_ns - (w->first_at ? (uint64_t)w->first_at : frame->at_ns)) *
                            (uint64_t)XOFF_NS);
    if (frame->has_time && !w->first_at)
        w->first_at = (xoff_time)frame->at_ns;
    if (frame->interface && frame->interface->link_type != CAPTURE_ETHERNET)
        return;
    int at = xoff_eth_decode(frame->octets, length, &eth, &err);
    if (at < 0)
        return;
    if (eth.type == XOFF_ETHERTYPE_MAC_CONTROL && !eth.n_tags && length >= 16)
        read_pause(w, frame->octets, length, frame->interface_index, is_cut);
    if (eth.type == XOFF_ETHERTYPE_LLDP)
        read_lldp(w, frame->octets, length, frame->interface_index);
    if (eth.type == XOFF_ETHERTYPE_CN_TAG)
        at = xoff_cn_tag_decode(frame->octets, length, (size_t)at, &tag, &err);
    if (at > 0 && (eth.type == XOFF_ETHERTYPE_CNM || tag.type == XOFF_ETHERTYPE_CNM))
        read_cnm(w, frame->octets, length, (size_t)at);
}

/* The end */

__attribute__((format(printf, 3, 4))) static void conclude(struct watch *w, enum watch_check check,
                                                           const char *text, ...)
{
    struct watch_result *r = &w->results[check];
    struct xoff_conform_result *result = &r->result;
    va_list arguments;
    result->verdict = XOFF_PASS;
    if (r->n_findings) {
        result->verdict = XOFF_FAIL;
        const struct watch_finding first = r->findings[0];
        snprintf(result->observed, sizeof result->observed,
                 "%" PRIu64 " found; frame %" PRIu64 ": %.110s", r->n_findings, first.frame,
                 first.text);
        return;
    }
    va_start(arguments, text);
    vsnprintf(result->observed, sizeof result->observed, text, arguments);
    va_end(arguments);
}

static void leave_out(struct watch *w, enum watch_check check, const char *why)
{
    struct xoff_conform_result *result = &w->results[check].result;
    if (result->verdict == XOFF_PASS && !result->n_frames) {
        result->verdict = XOFF_SKIP;
        snprintf(result->observed, sizeof result->observed, "%s", why);
    }
}

const struct watch_result *watch_end(struct watch *w)
{
    end_pauses(w);
    check_neighbours(w);
    const uint64_t n_pauses = w->n_pfc + w->n_pause + w->n_other;
    for (uint32_t check = WATCH_PFC; check <= WATCH_RESUME; check++)
        w->results[check].result.n_frames = check == WATCH_PFC ? n_pauses : w->n_pfc;
    w->results[WATCH_WILLING].result.n_frames = w->n_neighbours > 1 ? w->n_neighbours : 0;
    conclude(w, WATCH_PFC, "%" PRIu64 " PFC, %" PRIu64 " PAUSE, %" PRIu64 " CC_Update", w->n_pfc,
             w->n_pause, w->n_other);
    conclude(w, WATCH_QUANTA, "%u to %u quanta", w->most_quanta ? w->least_quanta : 0u,
             w->most_quanta);
    conclude(w, WATCH_REFRESH, "%" PRIu64 " pauses, renewed %" PRIu64 " times", w->n_asked,
             w->n_renewed);
    conclude(w, WATCH_RESUME, "%" PRIu64 " resumed, %" PRIu64 " still on at the end", w->n_resumed,
             w->n_open);
    conclude(w, WATCH_DCBX, "%" PRIu64 " LLDP frames; %" PRIu64 " remarks, such as reserved bits",
             w->results[WATCH_DCBX].result.n_frames, w->n_remarks);
    conclude(w, WATCH_WILLING, "%u ports, no conflict", w->n_neighbours);
    conclude(w, WATCH_CNM, "%" PRIu64 " messages", w->results[WATCH_CNM].result.n_frames);
    for (uint32_t check = WATCH_PFC; check <= WATCH_RESUME; check++)
        leave_out(w, check, check == WATCH_PFC ? "no pause frame in it" : "no PFC frame in it");
    leave_out(w, WATCH_DCBX, "no LLDP frame in it");
    leave_out(w, WATCH_WILLING, "LLDP frames of fewer than two ports in it");
    leave_out(w, WATCH_CNM, "no CNM in it");
    return w->results;
}
