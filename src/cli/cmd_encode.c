/* xoff encode: one frame, as hex digits or in a capture. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xoff/units.h>

#include "cli/cli.h"
#include "cli/encode.h"

enum {
    OPTION_SOURCE = 256,
    OPTION_DESTINATION,
    OPTION_PRIORITY,
    OPTION_VLAN,
    OPTION_FCS,
    OPTION_COUNT,
    OPTION_INTERVAL,
    OPTION_PCAP,
    FIRST_OF_KINDS, /* the options below are of some kinds only */
    OPTION_PAUSE = FIRST_OF_KINDS,
    OPTION_RESUME,
    OPTION_QUANTA,
    OPTION_FLOW,
    OPTION_FEEDBACK,
    OPTION_CP,
    OPTION_OFFSET,
    OPTION_DELTA,
    OPTION_ABOUT_PRIORITY,
    OPTION_ABOUT_DESTINATION,
    OPTION_MSDU,
    OPTION_STOP,
    OPTION_RATE,
    OPTION_BACK,
    OPTION_CN_TAG,
    OPTION_LIMITED_BY,
    OPTION_PAYLOAD,
    OPTION_QP,
    OPTION_PSN,
    OPTION_DSCP,
    OPTION_ECN,
    OPTION_SOURCE_IP,
    OPTION_DESTINATION_IP,
    OPTION_NAK,
    OPTION_CONSUMED,
    OPTION_UPPER,
    OPTION_TYPE,
    OPTION_SEQUENCE,
    OPTION_CREDIT,
    OPTION_TTL,
    OPTION_WILLING,
    OPTION_PFC_TLV,
    OPTION_ETS_TLV,
    OPTION_CLASS_OF,
    OPTION_APP_TLV,
    OPTION_CN_TLV,
    OPTIONS_END
};

#define OF(kind) (1u << ENCODE_##kind)
#define OF_ROCE (OF(DATA) | OF(ACK) | OF(CNP))

/* The kinds that each option is for, from FIRST_OF_KINDS on. */
static const uint16_t kinds_of[OPTIONS_END - FIRST_OF_KINDS] = {
    OF(PFC),                                     /* pause */
    OF(PFC),                                     /* resume */
    OF(PAUSE),                                   /* quanta */
    OF(CNM) | OF(BCN) | OF(RATE_TAG) | OF(DATA), /* flow */
    OF(CNM),                                     /* feedback */
    OF(CNM) | OF(BCN),                           /* cp */
    OF(CNM) | OF(BCN),                           /* queue-offset */
    OF(CNM) | OF(BCN),                           /* queue-delta */
    OF(CNM),                                     /* about-priority */
    OF(CNM) | OF(BCN),                           /* about-destination */
    OF(CNM),                                     /* msdu */
    OF(BCN),                                     /* stop */
    OF(RATE_TAG) | OF(DATA),                     /* rate */
    OF(RATE_TAG) | OF(DATA),                     /* back */
    OF(DATA),                                    /* cn-tag */
    OF(DATA),                                    /* limited-by */
    OF(DATA),                                    /* payload */
    OF_ROCE,                                     /* queue-pair */
    OF_ROCE,                                     /* psn */
    OF_ROCE,                                     /* dscp */
    OF_ROCE,                                     /* ecn */
    OF_ROCE,                                     /* source-ip */
    OF_ROCE,                                     /* destination-ip */
    OF(ACK),                                     /* nak */
    OF(CC_UPDATE),                               /* consumed */
    OF(CC_UPDATE),                               /* upper */
    OF(CTLOS),                                   /* type */
    OF(CTLOS),                                   /* sequence */
    OF(CTLOS),                                   /* credit */
    OF(LLDP),                                    /* ttl */
    OF(LLDP),                                    /* willing */
    OF(LLDP),                                    /* pfc */
    OF(LLDP),                                    /* ets */
    OF(LLDP),                                    /* class-of */
    OF(LLDP),                                    /* app */
    OF(LLDP),                                    /* cn */
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "All kinds:", 1},
    {"source", OPTION_SOURCE, "MAC", 0, "Source address (default: 02-00-00-00-00-01)", 1},
    {"destination", OPTION_DESTINATION, "MAC", 0,
     "Destination (default: 02-00-00-00-00-02; PAUSE, PFC, CC_Update and LLDP have their own)", 1},
    {"priority", OPTION_PRIORITY, "N", 0, "Add a VLAN tag with this priority", 1},
    {"vlan", OPTION_VLAN, "N", 0, "Add a VLAN tag with this VLAN", 1},
    {"fcs", OPTION_FCS, NULL, 0, "Append the FCS", 1},
    {"count", OPTION_COUNT, "N", 0, "Write the frame N times", 1},
    {"interval", OPTION_INTERVAL, "TIME", 0, "Time between two frames of a capture (default: 1us)",
     1},
    {"pcap", OPTION_PCAP, "FILE", 0,
     "Write a capture instead of hex digits: pcapng if FILE ends in .pcapng", 1},
    {NULL, 0, NULL, 0, "pfc and pause:", 2},
    {"pause", OPTION_PAUSE, "CLASS:QUANTA,...", 0, "Pause these priorities", 2},
    {"resume", OPTION_RESUME, "CLASS,...", 0, "Let these priorities go on", 2},
    {"quanta", OPTION_QUANTA, "N", 0, "Time of PAUSE (default: 0)", 2},
    {NULL, 0, NULL, 0, "cnm, bcn, rate-tag and tags of data:", 3},
    {"flow", OPTION_FLOW, "N", 0, "Flow; of a cnm that of its CN-TAG, of data that of its rate tag",
     3},
    {"feedback", OPTION_FEEDBACK, "N", 0, "Quantized feedback, 0 to 63 (default: 1)", 3},
    {"cp", OPTION_CP, "ID", 0, "Congestion point", 3},
    {"queue-offset", OPTION_OFFSET, "N", 0,
     "Set point less queue, in units of 64 octets: negative when congested", 3},
    {"queue-delta", OPTION_DELTA, "N", 0,
     "Queue before less queue now, in the same units: negative when growing", 3},
    {"about-priority", OPTION_ABOUT_PRIORITY, "N", 0, "Priority of the sampled frame", 3},
    {"about-destination", OPTION_ABOUT_DESTINATION, "MAC", 0, "Destination of the sampled frame",
     3},
    {"msdu", OPTION_MSDU, "HEX", 0, "First octets of the sampled frame's MSDU, 64 at most", 3},
    {"stop", OPTION_STOP, NULL, 0, "bcn: severe congestion", 3},
    {"rate", OPTION_RATE, "RATE", 0, "Rate of the tag, such as 10Gbps (default: none yet)", 3},
    {"back", OPTION_BACK, NULL, 0, "The tag is on its way back to the source", 3},
    {NULL, 0, NULL, 0, "data, ack and cnp:", 4},
    {"cn-tag", OPTION_CN_TAG, "FLOW", 0, "Add a CN-TAG", 4},
    {"limited-by", OPTION_LIMITED_BY, "ID", 0, "Add a rate-regulation tag of this point", 4},
    {"payload", OPTION_PAYLOAD, "N", 0, "Octets of payload, zeros (default: 0)", 4},
    {"queue-pair", OPTION_QP, "N", 0, "Destination queue pair (default: 2)", 4},
    {"psn", OPTION_PSN, "N", 0, "Packet sequence number", 4},
    {"dscp", OPTION_DSCP, "N", 0, "DSCP, 0 to 63", 4},
    {"ecn", OPTION_ECN, "N", 0, "ECN, 0 to 3; 3: congestion experienced", 4},
    {"source-ip", OPTION_SOURCE_IP, "IP", 0, "IPv4 source (default: 10.0.0.1)", 4},
    {"destination-ip", OPTION_DESTINATION_IP, "IP", 0, "IPv4 destination (default: 10.0.0.2)", 4},
    {"nak", OPTION_NAK, NULL, 0, "ack: a PSN sequence error instead", 4},
    {NULL, 0, NULL, 0, "lldp:", 5},
    {"ttl", OPTION_TTL, "SECONDS", 0, "Time to live (default: 120; 0: shutdown)", 5},
    {"willing", OPTION_WILLING, NULL, 0, "Take the peer's PFC and ETS settings", 5},
    {"pfc", OPTION_PFC_TLV, "CLASS,...", 0, "PFC TLV: priorities with PFC", 5},
    {"ets", OPTION_ETS_TLV, "CLASS:PERCENT,...", 0, "ETS TLV: shares of traffic classes", 5},
    {"class-of", OPTION_CLASS_OF, "PRIORITY:CLASS,...", 0, "ETS TLV: classes of priorities", 5},
    {"app", OPTION_APP_TLV, "PRIORITY:SELECTOR:PROTOCOL", 0, "Application TLV; may be repeated", 5},
    {"cn", OPTION_CN_TLV, "CLASS,...", 0, "Congestion notification TLV: its priorities", 5},
    {NULL, 0, NULL, 0, "cc-update and ctlos:", 6},
    {"consumed", OPTION_CONSUMED, "N,...", 0, "Up to 16 counters of consumed credits", 6},
    {"upper", OPTION_UPPER, NULL, 0, "Counters of channels 16 to 31 (default: 0 to 15)", 6},
    {"type", OPTION_TYPE, "TYPE", 0, "ack, nack, init, init-echo or update", 6},
    {"sequence", OPTION_SEQUENCE, "N", 0, "LLR sequence number, 20 bits", 6},
    {"credit", OPTION_CREDIT, "CHANNEL:FREED,...", 0, "Up to two entries of an update", 6},
    {0},
};

static const char *const kind_names[] = {
#define X(kind, name, about) [ENCODE_##kind] = name,
    ENCODE_MAP(X)
#undef X
};

struct encode_state {
    struct encode_arguments a;
    struct argp_state *argp;
    const char *option, *value; /* being parsed */
    const char *pcap;
    bool has_fcs, has_destination;
    uint64_t count;
    xoff_time interval;
    uint8_t n_consumed, n_credits;
};

__attribute__((noreturn)) static void refuse(const struct encode_state *s, const char *accepted)
{
    argp_error(s->argp, "--%s %s: give %s", s->option, s->value, accepted);
    exit(EXIT_BAD_INPUT);
}

/* Reads a number of either base at *text up to `end`, which is passed over unless it ends the
 * text. */
static uint64_t number(const struct encode_state *s, const char **text, char end, uint64_t max,
                       const char *accepted)
{
    char *behind;
    errno = 0;
    const uint64_t n = strtoull(*text, &behind, 0);
    if (behind == *text || !strchr("0123456789", **text) || errno || n > max ||
        (*behind && *behind != end))
        refuse(s, accepted);
    *text = *behind ? behind + 1 : behind;
    return n;
}

static uint64_t whole(const struct encode_state *s, uint64_t max, const char *accepted)
{
    const char *text = s->value;
    return number(s, &text, 0, max, accepted);
}

static int16_t units(const struct encode_state *s)
{
    char *behind;
    errno = 0;
    const long n = strtol(s->value, &behind, 0);
    if (behind == s->value || *behind || errno || n < INT16_MIN || n > INT16_MAX)
        refuse(s, "a number from -32768 to 32767");
    return (int16_t)n;
}

static void address(const struct encode_state *s, uint8_t mac[6])
{
    static const char accepted[] = "an address such as 02-00-00-00-00-01";
    char end;
    unsigned octets[6];
    int n = sscanf(s->value, "%2x-%2x-%2x-%2x-%2x-%2x%c", &octets[0], &octets[1], &octets[2],
                   &octets[3], &octets[4], &octets[5], &end);
    if (n != 6)
        n = sscanf(s->value, "%2x:%2x:%2x:%2x:%2x:%2x%c", &octets[0], &octets[1], &octets[2],
                   &octets[3], &octets[4], &octets[5], &end);
    if (n != 6)
        refuse(s, accepted);
    for (int i = 0; i < 6; i++)
        mac[i] = (uint8_t)octets[i];
}

static uint32_t ip_address(const struct encode_state *s)
{
    static const char accepted[] = "an address such as 10.0.0.1";
    const char *text = s->value;
    uint32_t ip = 0;
    for (int i = 0; i < 4; i++)
        ip = ip << 8 | (uint32_t)number(s, &text, i < 3 ? '.' : 0, 255, accepted);
    return ip;
}

static uint8_t classes(const struct encode_state *s)
{
    uint8_t bits = 0;
    for (const char *text = s->value; *text;)
        bits |= (uint8_t)(1u << number(s, &text, ',', 7, "priorities from 0 to 7, such as 3,4"));
    return bits;
}

static void pause_classes(struct encode_state *s)
{
    static const char accepted[] = "a priority from 0 to 7 and quanta from 0 to 65535: 3:65535";
    for (const char *text = s->value; *text;) {
        const uint64_t class = number(s, &text, ':', 7, accepted);
        if (!*text)
            refuse(s, accepted);
        s->a.pause.quanta[class] = (uint16_t)number(s, &text, ',', UINT16_MAX, accepted);
        s->a.pause.classes |= (uint8_t)(1u << class);
    }
}

/* Pairs of numbers below 8 and up to `max`, into `values`. */
static void pairs(struct encode_state *s, uint8_t values[8], uint64_t max, const char *accepted)
{
    for (const char *text = s->value; *text;) {
        const uint64_t index = number(s, &text, ':', 7, accepted);
        if (!*text)
            refuse(s, accepted);
        values[index] = (uint8_t)number(s, &text, ',', max, accepted);
    }
}

static void ets_classes(struct encode_state *s)
{
    static const char accepted[] = "a class from 0 to 7 and a percentage: 0:60,1:40";
    uint8_t percent[8];
    memset(percent, 255, sizeof percent);
    pairs(s, percent, 100, accepted);
    for (int i = 0; i < 8; i++)
        if (percent[i] <= 100) {
            s->a.pdu.ets.percent[i] = percent[i];
            s->a.pdu.ets.tsa[i] = XOFF_TSA_ETS;
        }
    s->a.pdu.has |= 1u << XOFF_DCBX_ETS_CONFIGURATION;
}

static void application(struct encode_state *s)
{
    static const char accepted[] = "a priority, a selector and a protocol: 3:1:0x8906";
    struct xoff_dcbx_apps *apps = &s->a.pdu.apps;
    const char *text = s->value;
    if (apps->n == XOFF_DCBX_MAX_APPS)
        refuse(s, "less: a TLV has room for 168");
    struct xoff_dcbx_app *app = &apps->app[apps->n++];
    app->priority = (uint8_t)number(s, &text, ':', 7, accepted);
    app->selector = (uint8_t)number(s, &text, ':', 7, accepted);
    app->protocol = (uint16_t)number(s, &text, 0, UINT16_MAX, accepted);
    s->a.pdu.has |= 1u << XOFF_DCBX_APPLICATIONS;
}

static void msdu(struct encode_state *s)
{
    static const char accepted[] = "up to 64 octets as pairs of hex digits";
    const size_t n = strlen(s->value);
    if (n % 2 || n > 2 * XOFF_CNM_MAX_MSDU || strspn(s->value, "0123456789abcdefABCDEF") != n)
        refuse(s, accepted);
    for (size_t i = 0; i < n / 2; i++) {
        unsigned octet;
        XOFF_ASSERT(sscanf(s->value + 2 * i, "%2x", &octet) == 1);
        s->a.cnm.msdu[i] = (uint8_t)octet;
    }
    s->a.cnm.msdu_octets = (uint8_t)(n / 2);
}

static void consumed(struct encode_state *s)
{
    for (const char *text = s->value; *text;) {
        if (s->n_consumed == XOFF_CC_UPDATE_CHANNELS)
            refuse(s, "at most 16 counters");
        s->a.cc_update.consumed[s->n_consumed++] =
            (uint32_t)number(s, &text, ',', 0xfffff, "counters from 0 to 1048575");
    }
}

static void credits(struct encode_state *s)
{
    static const char accepted[] = "up to two channels below 32 and counts below 32768: 3:100,4:7";
    for (const char *text = s->value; *text;) {
        if (s->n_credits == 2)
            refuse(s, accepted);
        struct xoff_ctlos_credit *credit = &s->a.ctlos.credit[s->n_credits++];
        credit->channel = (uint8_t)number(s, &text, ':', 31, accepted);
        if (!*text)
            refuse(s, accepted);
        credit->freed = (uint16_t)number(s, &text, ',', 0x7fff, accepted);
    }
}

static void ctlos_type(struct encode_state *s)
{
    static const struct {
        const char *name;
        enum xoff_ctlos_type type;
    } types[] = {{"ack", XOFF_CTLOS_LLR_ACK},
                 {"nack", XOFF_CTLOS_LLR_NACK},
                 {"init", XOFF_CTLOS_LLR_INIT},
                 {"init-echo", XOFF_CTLOS_LLR_INIT_ECHO},
                 {"update", XOFF_CTLOS_CF_UPDATE}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(s->value, types[i].name)) {
            s->a.ctlos.type = (uint8_t)types[i].type;
            return;
        }
    refuse(s, "ack, nack, init, init-echo or update");
}

static struct xoff_vlan_tag *vlan_tag(struct encode_state *s)
{
    s->a.eth.n_tags = 1;
    s->a.eth.tags[0].type = XOFF_ETHERTYPE_VLAN;
    return &s->a.eth.tags[0];
}

static void parse_any(struct encode_state *s, int key)
{
    switch (key) {
    case OPTION_SOURCE:
        address(s, s->a.eth.source);
        return;
    case OPTION_DESTINATION:
        address(s, s->a.eth.destination);
        s->has_destination = true;
        return;
    case OPTION_PRIORITY:
        vlan_tag(s)->priority = (uint8_t)whole(s, 7, "a number from 0 to 7");
        return;
    case OPTION_VLAN:
        vlan_tag(s)->vlan = (uint16_t)whole(s, 4095, "a number from 0 to 4095");
        return;
    case OPTION_FCS:
        s->has_fcs = true;
        return;
    case OPTION_COUNT:
        s->count = whole(s, UINT32_MAX, "a number");
        return;
    case OPTION_INTERVAL:
        if (xoff_parse_time(s->value, &s->interval) || s->interval < 0)
            refuse(s, "a time such as 1us");
        return;
    default:
        s->pcap = s->value;
    }
}

static void parse_point(struct encode_state *s, int key)
{
    struct encode_arguments *a = &s->a;
    switch (key) {
    case OPTION_FLOW:
        a->bcn.flow = a->rate_tag.flow = (uint32_t)whole(
            s, a->kind == ENCODE_CNM ? UINT16_MAX : UINT32_MAX,
            a->kind == ENCODE_CNM ? "a number below 65536" : "a number below 4294967296");
        if (a->kind == ENCODE_CNM)
            a->cn_tag.flow = (uint16_t)a->bcn.flow;
        return;
    case OPTION_FEEDBACK:
        a->cnm.feedback = (uint8_t)whole(s, 63, "a number from 0 to 63");
        return;
    case OPTION_CP:
        a->cnm.cp_id = a->bcn.cp_id = whole(s, UINT64_MAX, "a number");
        return;
    case OPTION_OFFSET:
        a->cnm.queue_offset = a->bcn.queue_offset = units(s);
        return;
    case OPTION_DELTA:
        a->cnm.queue_delta = a->bcn.queue_delta = units(s);
        return;
    case OPTION_ABOUT_PRIORITY:
        a->cnm.about_priority = (uint8_t)whole(s, 7, "a number from 0 to 7");
        return;
    case OPTION_ABOUT_DESTINATION:
        address(s, a->cnm.about_destination);
        memcpy(a->bcn.about_destination, a->cnm.about_destination, 6);
        return;
    case OPTION_MSDU:
        msdu(s);
        return;
    default:
        a->bcn.is_stop = true;
    }
}

static void parse_data(struct encode_state *s, int key)
{
    struct encode_arguments *a = &s->a;
    switch (key) {
    case OPTION_RATE:
        a->has_rate_tag = true;
        if (strcmp(s->value, "none") && xoff_parse_rate(s->value, &a->rate_tag.rate_bps))
            refuse(s, "a rate such as 10Gbps, or none");
        return;
    case OPTION_BACK:
        a->rate_tag.is_back = true;
        return;
    case OPTION_CN_TAG:
        a->has_cn_tag = true;
        a->cn_tag.flow = (uint16_t)whole(s, UINT16_MAX, "a number below 65536");
        return;
    case OPTION_LIMITED_BY:
        a->has_rrt = a->rrt.is_limited = true;
        a->rrt.cp_id = whole(s, UINT64_MAX, "a number");
        return;
    case OPTION_PAYLOAD:
        a->payload_octets = (uint32_t)whole(s, ENCODE_MAX_PAYLOAD, "a number up to 9216");
        return;
    case OPTION_QP:
        a->bth.queue_pair = (uint32_t)whole(s, 0xffffff, "a number below 16777216");
        return;
    case OPTION_PSN:
        a->bth.psn = (uint32_t)whole(s, 0xffffff, "a number below 16777216");
        return;
    case OPTION_DSCP:
        a->ip.dscp = (uint8_t)whole(s, 63, "a number from 0 to 63");
        return;
    case OPTION_ECN:
        a->ip.ecn = (uint8_t)whole(s, 3, "a number from 0 to 3");
        return;
    case OPTION_SOURCE_IP:
        a->ip.source = ip_address(s);
        return;
    case OPTION_DESTINATION_IP:
        a->ip.destination = ip_address(s);
        return;
    default:
        a->aeth.syndrome = AETH_PSN_ERROR;
    }
}

static void parse_link(struct encode_state *s, int key)
{
    struct encode_arguments *a = &s->a;
    switch (key) {
    case OPTION_CONSUMED:
        consumed(s);
        return;
    case OPTION_UPPER:
        a->cc_update.first_channel = XOFF_CC_UPDATE_CHANNELS;
        return;
    case OPTION_TYPE:
        ctlos_type(s);
        return;
    case OPTION_SEQUENCE:
        a->ctlos.sequence = (uint32_t)whole(s, 0xfffff, "a number from 0 to 1048575");
        return;
    case OPTION_CREDIT:
        credits(s);
        return;
    case OPTION_TTL:
        a->lldp.ttl_s = (uint16_t)whole(s, UINT16_MAX, "seconds below 65536");
        return;
    case OPTION_WILLING:
        a->pdu.ets.is_willing = a->pdu.pfc.is_willing = true;
        return;
    case OPTION_PFC_TLV:
        a->pdu.pfc.enabled = classes(s);
        a->pdu.has |= 1u << XOFF_DCBX_PFC;
        return;
    case OPTION_ETS_TLV:
        ets_classes(s);
        return;
    case OPTION_CLASS_OF:
        pairs(s, a->pdu.ets.class_of, 7, "a priority and a class, both from 0 to 7: 3:1,4:1");
        a->pdu.has |= 1u << XOFF_DCBX_ETS_CONFIGURATION;
        return;
    case OPTION_APP_TLV:
        application(s);
        return;
    default:
        a->pdu.cn.priorities = classes(s);
        a->pdu.has |= 1u << XOFF_DCBX_CONGESTION_NOTIFICATION;
    }
}

static void parse_kind(struct encode_state *s, const char *name)
{
    if (s->a.kind != N_ENCODE_KINDS)
        argp_error(s->argp, "%s: one kind is enough", name);
    for (int kind = 0; kind < N_ENCODE_KINDS; kind++)
        if (!strcmp(name, kind_names[kind])) {
            s->a.kind = (enum encode_kind)kind;
            return;
        }
    argp_error(s->argp, "no kind %s; --help lists them", name);
}

static const char *option_name(int key)
{
    for (const struct argp_option *o = options; o->name || o->doc; o++)
        if (o->key == key && o->name)
            return o->name;
    return "";
}

static void parse_option(struct encode_state *s, int key)
{
    s->option = option_name(key);
    if (key < FIRST_OF_KINDS) {
        parse_any(s, key);
        return;
    }
    if (s->a.kind == N_ENCODE_KINDS)
        argp_error(s->argp, "give the kind first, such as: pfc --%s", s->option);
    if (!(kinds_of[key - FIRST_OF_KINDS] >> s->a.kind & 1))
        argp_error(s->argp, "--%s is not for %s; see --help", s->option, kind_names[s->a.kind]);
    if (key == OPTION_PAUSE)
        pause_classes(s);
    else if (key == OPTION_RESUME)
        s->a.pause.classes |= classes(s);
    else if (key == OPTION_QUANTA)
        s->a.pause.quanta[0] = (uint16_t)whole(s, UINT16_MAX, "a number from 0 to 65535");
    else if (key <= OPTION_STOP)
        parse_point(s, key);
    else if (key <= OPTION_NAK)
        parse_data(s, key);
    else
        parse_link(s, key);
}

static bool is_mac_control(enum encode_kind kind)
{
    return kind == ENCODE_PAUSE || kind == ENCODE_PFC || kind == ENCODE_CC_UPDATE;
}

/* What does not fit together. */
static void check(const struct encode_state *s)
{
    const enum encode_kind kind = s->a.kind;
    if (kind == N_ENCODE_KINDS)
        argp_error(s->argp, "give a kind, such as: pfc --pause 3:65535");
    if (s->a.eth.n_tags && (is_mac_control(kind) || kind == ENCODE_CTLOS))
        argp_error(s->argp, "%s has no VLAN tag: leave out --priority and --vlan",
                   kind_names[kind]);
    if (s->has_destination && (is_mac_control(kind) || kind == ENCODE_LLDP))
        argp_error(s->argp, "%s has a destination of its own: leave out --destination",
                   kind_names[kind]);
    if (kind == ENCODE_CTLOS && (s->has_fcs || s->pcap))
        argp_error(s->argp, "an ordered set is no frame: leave out --fcs and --pcap");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct encode_state *s = state->input;
    s->argp = state;
    s->value = arg ? arg : "";
    if (key == ARGP_KEY_ARG)
        parse_kind(s, arg);
    else if (key == ARGP_KEY_END)
        check(s);
    else if (key >= OPTION_SOURCE && key < OPTIONS_END)
        parse_option(s, key);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static void print_hex(const struct encode_state *s, const uint8_t *octets, uint32_t n)
{
    static char line[2 * ENCODE_MAX_OCTETS + 1];
    for (uint32_t i = 0; i < n; i++)
        snprintf(line + 2 * i, 3, "%02x", octets[i]);
    for (uint64_t i = 0; i < s->count && !ferror(stdout); i++)
        puts(line);
}

int cmd_encode(int argc, char **argv)
{
    static const char doc[] = "Encodes a frame and prints it as hex digits.\v"
#define X(kind, name, about) "  " name ": " about "\n"
        ENCODE_MAP(X)
#undef X
            "Formats and their sources are in docs/wire.md.\n"
            "Exit status: 0 fine, 1 the capture could not be written, 2 bad input.\n"
            "Example: xoff encode pfc --pause 3:65535 --resume 4 | xoff decode\n"
            "Example: xoff encode cnm --priority 7 --flow 5 --feedback 33 --pcap cnm.pcapng\n"
            "Example: xoff encode data --cn-tag 5 --payload 1000 --count 100 --pcap data.pcap\n"
            "Example: xoff encode lldp --pfc 3,4 --ets 0:60,1:40 --class-of 3:1 --willing";
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "KIND", .doc = doc};
    static uint8_t octets[ENCODE_MAX_OCTETS];
    static struct encode_state s = {.count = 1, .interval = XOFF_US};
    static struct crc32 crc32;
    encode_defaults(&s.a);
    cli_parse(&argp, argc, argv, ARGP_IN_ORDER, &s);
    xoff_crc32_init(&crc32);
    const uint32_t n = encode_frame(&s.a, s.has_fcs, &crc32, octets);
    if (s.pcap)
        return encode_write_capture(s.pcap, &(struct encode_capture){.octets = octets,
                                                                     .n = n,
                                                                     .has_fcs = s.has_fcs,
                                                                     .count = s.count,
                                                                     .interval = s.interval});
    print_hex(&s, octets, n);
    return EXIT_FINE;
}
