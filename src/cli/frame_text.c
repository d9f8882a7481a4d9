/* The headers of decoded frames, as text or JSON. */
#include "cli/frame_text.h"

#include <string.h>

static void tell_eth(struct values *f, const struct xoff_eth *eth)
{
    values_mac(f, "destination", eth->destination);
    values_mac(f, "source", eth->source);
    for (int i = 0; i < eth->n_tags; i++) {
        const struct xoff_vlan_tag *tag = &eth->tags[i];
        const bool is_outer = eth->n_tags == 2 && i == 0;
        values_unsigned(f, is_outer ? "outer_vlan" : "vlan", tag->vlan);
        values_unsigned(f, is_outer ? "outer_priority" : "priority", tag->priority);
        values_is(f, is_outer ? "outer_drop_eligible" : "drop_eligible", tag->drop_eligible);
        if (tag->type == XOFF_ETHERTYPE_SERVICE_VLAN)
            values_is(f, is_outer ? "outer_service_tag" : "service_tag", true);
    }
    if (eth->type <= XOFF_ETH_MAX_LENGTH)
        values_unsigned(f, "length", eth->type);
    else
        values_hex(f, "type", eth->type, 4);
}

/* Text: "XOFF 3 for 65535 quanta, XON 7", what a person wants to know of the eight times. */
static void tell_pfc(struct values *f, const struct xoff_pause_frame *pause)
{
    uint32_t quanta[8];
    for (int i = 0; i < 8; i++)
        quanta[i] = pause->quanta[i];
    if (f->is_json) {
        values_bits(f, "classes", pause->classes);
        values_numbers(f, "quanta", quanta, 8);
        return;
    }
    for (int i = 0; i < 8; i++)
        if (pause->classes >> i & 1) {
            char text[32];
            snprintf(text, sizeof text, quanta[i] ? "%d for %u quanta" : "%d", i, quanta[i]);
            values_text(f, quanta[i] ? "XOFF" : "XON", text);
        }
    if (!pause->classes)
        values_text(f, "classes", "none");
}

static void tell_cc_update(struct values *f, const struct xoff_cc_update *update)
{
    values_unsigned(f, "first_channel", update->first_channel);
    values_numbers(f, "consumed", update->consumed, XOFF_CC_UPDATE_CHANNELS);
}

static void tell_mac_control(struct values *f, const struct mac_control *control)
{
    static const char *const names[] = {[2] = "MPCP gate",
                                        [3] = "MPCP report",
                                        [4] = "MPCP register request",
                                        [5] = "MPCP register",
                                        [6] = "MPCP register acknowledgement"};
    values_hex(f, "opcode", control->opcode, 4);
    if (control->opcode == XOFF_OPCODE_EXTENSION) {
        values_text(f, "name", "extension");
        values_hex(f, "company", control->company, 6);
    } else {
        const bool is_known = control->opcode >= 2 && control->opcode <= 6;
        values_text(f, "name", is_known ? names[control->opcode] : "unknown");
    }
}

static void tell_cnm(struct values *f, const struct xoff_cnm *cnm)
{
    values_unsigned(f, "feedback", cnm->feedback);
    values_hex(f, "cp_id", cnm->cp_id, 16);
    values_int(f, "queue_offset", cnm->queue_offset);
    values_int(f, "queue_delta", cnm->queue_delta);
    values_unsigned(f, "about_priority", cnm->about_priority);
    values_mac(f, "about_destination", cnm->about_destination);
    values_unsigned(f, "msdu_octets", cnm->msdu_octets);
    if (cnm->msdu_octets)
        values_octets(f, "msdu", cnm->msdu, cnm->msdu_octets);
    if (cnm->reserved)
        values_hex(f, "reserved", cnm->reserved, 2);
    if (cnm->about_reserved)
        values_hex(f, "about_reserved", cnm->about_reserved, 4);
}

static void tell_bcn(struct values *f, const struct xoff_bcn *bcn)
{
    values_is(f, "stop", bcn->is_stop);
    values_hex(f, "cp_id", bcn->cp_id, 16);
    values_int(f, "queue_offset", bcn->queue_offset);
    values_int(f, "queue_delta", bcn->queue_delta);
    values_mac(f, "about_destination", bcn->about_destination);
    values_unsigned(f, "flow", bcn->flow);
    if (bcn->reserved)
        values_hex(f, "reserved", bcn->reserved, 2);
}

static void tell_rate_tag(struct values *f, const struct xoff_rate_tag *tag)
{
    values_text(f, "direction", tag->is_back ? "back" : "forward");
    values_unsigned(f, "kind", tag->kind);
    values_unsigned(f, "flow", tag->flow);
    if (tag->rate_bps == XOFF_RATE_TAG_UNSET)
        values_text(f, "rate", "unset");
    else
        values_unsigned(f, "rate_bps", tag->rate_bps);
    if (tag->reserved)
        values_hex(f, "reserved", tag->reserved, 2);
}

static void tell_rrt(struct values *f, const struct xoff_rrt *rrt)
{
    values_is(f, "limited", rrt->is_limited);
    values_hex(f, "cp_id", rrt->cp_id, 16);
    if (rrt->reserved)
        values_hex(f, "reserved", rrt->reserved, 2);
}

static void tell_notice(struct values *f, const struct notice_frame *notice)
{
    values_unsigned(f, "kind", notice->kind);
    values_hex(f, "cp_id", notice->cp_id, 16);
    values_int(f, "feedback", notice->feedback);
    values_int(f, "queue_offset_bytes", notice->queue_offset_bytes);
    values_int(f, "queue_delta_bytes", notice->queue_delta_bytes);
    values_unsigned(f, "rate_bps", notice->rate_bps);
    values_unsigned(f, "flow", notice->flow);
}

static void tell_ipv4(struct values *f, const struct ipv4 *ip)
{
    static const char *const ecn[] = {"not-ECT", "ECT(1)", "ECT(0)", "CE"};
    values_ipv4(f, "source", ip->source);
    values_ipv4(f, "destination", ip->destination);
    values_unsigned(f, "protocol", ip->protocol);
    values_unsigned(f, "length", ip->length);
    values_unsigned(f, "dscp", ip->dscp);
    values_text(f, "ecn", ecn[ip->ecn]);
    values_unsigned(f, "ttl", ip->ttl);
    if (ip->identification)
        values_unsigned(f, "identification", ip->identification);
    if (ip->fragment_unit || ip->bits & 1) {
        values_unsigned(f, "fragment_offset", 8u * ip->fragment_unit);
        values_is(f, "more_fragments", ip->bits & 1);
    }
    if (ip->option_octets)
        values_octets(f, "options", ip->options, ip->option_octets);
}

static void tell_tcp(struct values *f, const struct tcp *tcp)
{
    static const char *const names[] = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
    char bits[40] = "";
    struct tcp_options options;
    for (int i = 0; i < 8; i++)
        if (tcp->bits >> i & 1) {
            strcat(bits, *bits ? " " : "");
            strcat(bits, names[i]);
        }
    values_unsigned(f, "source_port", tcp->source);
    values_unsigned(f, "destination_port", tcp->destination);
    values_unsigned(f, "sequence", tcp->sequence);
    values_unsigned(f, "acknowledged", tcp->acknowledged);
    values_text(f, "bits", bits);
    values_unsigned(f, "window", tcp->window);
    if (!xoff_tcp_get_options(tcp, &options))
        values_text(f, "options", "malformed");
    if (options.has_stamps) {
        values_unsigned(f, "stamp", options.stamp);
        values_unsigned(f, "echoed_stamp", options.echoed_stamp);
    }
    if (options.n_sacks) {
        values_numbers(f, "sack_from", options.sack_from, options.n_sacks);
        values_numbers(f, "sack_to", options.sack_to, options.n_sacks);
    }
}

/* InfiniBand 9.2.1, the operations of all transports. */
static const char *operation_of(uint8_t opcode)
{
    static const char *const names[] = {
        "SEND first",           "SEND middle",         "SEND last",
        "SEND last immediate",  "SEND only",           "SEND only immediate",
        "WRITE first",          "WRITE middle",        "WRITE last",
        "WRITE last immediate", "WRITE only",          "WRITE only immediate",
        "READ request",         "READ response first", "READ response middle",
        "READ response last",   "READ response only",  "ACK",
        "ATOMIC ACK",           "COMPARE SWAP",        "FETCH ADD"};
    const unsigned operation = opcode & 31;
    if (opcode == ROCE_CNP)
        return "CNP";
    return opcode >> 5 < 4 && operation < sizeof names / sizeof *names ? names[operation]
                                                                       : "unknown";
}

static void tell_roce(struct values *f, const struct bth *bth)
{
    static const char *const transports[] = {"RC", "UC", "RD", "UD"};
    char name[40];
    const bool has_transport = bth->opcode >> 5 < 4;
    snprintf(name, sizeof name, "%s%s%s", has_transport ? transports[bth->opcode >> 5] : "",
             has_transport ? " " : "", operation_of(bth->opcode));
    values_text(f, "operation", name);
    values_hex(f, "opcode", bth->opcode, 2);
    values_unsigned(f, "queue_pair", bth->queue_pair);
    values_unsigned(f, "psn", bth->psn);
    values_is(f, "asks", bth->asks);
    values_is(f, "fecn", bth->is_fecn);
    values_is(f, "becn", bth->is_becn);
    values_is(f, "solicited", bth->is_solicited);
    if (bth->pad_octets)
        values_unsigned(f, "pad_octets", bth->pad_octets);
    if (bth->partition != 0xffff)
        values_hex(f, "partition", bth->partition, 4);
    if (bth->reserved || bth->reserved_too)
        values_hex(f, "reserved", (uint64_t)bth->reserved << 7 | bth->reserved_too, 4);
}

static void tell_aeth(struct values *f, const struct aeth *aeth)
{
    static const char *const kinds[] = {"ACK", "RNR NAK", "reserved", "NAK"};
    values_text(f, "answer", kinds[aeth->syndrome >> 5 & 3]);
    values_hex(f, "syndrome", aeth->syndrome, 2);
    values_unsigned(f, "message", aeth->message);
}

static void tell_hpcc(struct values *f, const struct hpcc_header *header)
{
    uint32_t gbps[HPCC_MAX_HOPS], at_ns[HPCC_MAX_HOPS], tx[HPCC_MAX_HOPS], queue[HPCC_MAX_HOPS];
    for (int i = 0; i < header->n_hops; i++) {
        const struct hpcc_hop *hop = &header->hops[i];
        gbps[i] = (uint32_t)(xoff_hpcc_rate_of_code(hop->rate_code) / 1000000000);
        at_ns[i] = hop->at_ns;
        tx[i] = hop->tx_units * 128;
        queue[i] = hop->queue_units * 80u;
    }
    values_unsigned(f, "hops", header->n_hops);
    values_unsigned(f, "path", header->path);
    values_numbers(f, "rate_gbps", gbps, header->n_hops);
    values_numbers(f, "at_ns", at_ns, header->n_hops);
    values_numbers(f, "tx_bytes", tx, header->n_hops);
    values_numbers(f, "queue_bytes", queue, header->n_hops);
}

static void tell_cnp(struct values *f, const uint8_t *reserved)
{
    static const uint8_t zeros[ROCE_CNP_OCTETS];
    const bool is_empty = !memcmp(reserved, zeros, sizeof zeros);
    if (!is_empty)
        values_octets(f, "reserved", reserved, sizeof zeros);
    else
        values_text(f, "reserved", "zeros");
}

void frame_print_ctlos(struct values *f, const struct xoff_ctlos *ctlos)
{
    static const char *const names[] = {[XOFF_CTLOS_LLR_ACK] = "LLR_ACK",
                                        [XOFF_CTLOS_LLR_NACK] = "LLR_NACK",
                                        [XOFF_CTLOS_LLR_INIT] = "LLR_INIT",
                                        [XOFF_CTLOS_LLR_INIT_ECHO] = "LLR_INIT_ECHO",
                                        [XOFF_CTLOS_CF_UPDATE] = "CF_Update"};
    values_begin(f, "ctlos");
    values_text(f, "type", names[ctlos->type]);
    if (ctlos->type == XOFF_CTLOS_CF_UPDATE) {
        const uint32_t channels[] = {ctlos->credit[0].channel, ctlos->credit[1].channel};
        const uint32_t freed[] = {ctlos->credit[0].freed, ctlos->credit[1].freed};
        values_numbers(f, "channels", channels, 2);
        values_numbers(f, "freed", freed, 2);
    } else {
        values_unsigned(f, "sequence", ctlos->sequence);
    }
    if (ctlos->reserved)
        values_hex(f, "reserved", ctlos->reserved, 6);
    values_end(f);
}

static void tell_check(struct values *f, const char *name, enum layer_check check)
{
    if (check != CHECK_ABSENT)
        values_text(f, name, check == CHECK_GOOD ? "good" : "bad");
}

/* Headers up to IPv4. */
static void tell_link(struct values *f, const struct layers *layers, const struct layer *l)
{
    switch (l->kind) {
    case LAYER_ETH:
        tell_eth(f, &l->eth);
        tell_check(f, "fcs", layers->fcs);
        break;
    case LAYER_CN_TAG:
        values_unsigned(f, "flow", l->cn_tag.flow);
        break;
    case LAYER_RRT:
        tell_rrt(f, &l->rrt);
        break;
    case LAYER_RATE_TAG:
        tell_rate_tag(f, &l->rate_tag);
        break;
    case LAYER_PAUSE:
        values_unsigned(f, "quanta", l->pause.quanta[0]);
        break;
    case LAYER_PFC:
        tell_pfc(f, &l->pause);
        break;
    case LAYER_CC_UPDATE:
        tell_cc_update(f, &l->cc_update);
        break;
    case LAYER_MAC_CONTROL:
        tell_mac_control(f, &l->mac_control);
        break;
    case LAYER_CNM:
        tell_cnm(f, &l->cnm);
        break;
    case LAYER_BCN:
        tell_bcn(f, &l->bcn);
        break;
    default:
        tell_notice(f, &l->notice);
    }
}

static void tell_layer(struct values *f, const struct layers *layers, const struct layer *l)
{
    switch (l->kind) {
    case LAYER_IPV4:
        tell_ipv4(f, &l->ipv4);
        tell_check(f, "checksum", layers->ip_checksum);
        break;
    case LAYER_UDP:
        values_unsigned(f, "source_port", l->udp.source);
        values_unsigned(f, "destination_port", l->udp.destination);
        values_unsigned(f, "length", l->udp.length);
        tell_check(f, "checksum", layers->l4_checksum);
        break;
    case LAYER_TCP:
        tell_tcp(f, &l->tcp);
        tell_check(f, "checksum", layers->l4_checksum);
        break;
    case LAYER_ROCE:
        tell_roce(f, &l->roce);
        tell_check(f, "icrc", layers->icrc);
        break;
    case LAYER_AETH:
        tell_aeth(f, &l->aeth);
        break;
    case LAYER_HPCC:
        tell_hpcc(f, &l->hpcc);
        break;
    case LAYER_CNP:
        tell_cnp(f, l->cnp);
        break;
    default:
        tell_link(f, layers, l);
    }
}

/* What follows a message is padding, which should be zeros; elsewhere it is payload. */
static void print_rest(struct values *f, const struct layers *layers, const uint8_t *octets)
{
    static const uint32_t messages = 1u << LAYER_CNM | 1u << LAYER_BCN | 1u << LAYER_NOTICE |
                                     1u << LAYER_PAUSE | 1u << LAYER_PFC | 1u << LAYER_CC_UPDATE;
    const bool is_padding = layers->kinds & messages;
    bool is_zeros = true;
    for (uint32_t i = layers->payload_at; i < layers->payload_end && is_padding; i++)
        is_zeros &= !octets[i];
    if (layers->payload_end == layers->payload_at || (is_padding && is_zeros))
        return;
    values_begin(f, is_padding ? "padding" : "payload");
    values_unsigned(f, "octets", layers->payload_end - layers->payload_at);
    if (is_padding)
        values_is(f, "not_zeros", true);
    values_end(f);
}

void frame_print_layers(struct values *f, const struct layers *layers, const uint8_t *octets,
                        bool is_malformed)
{
    for (uint32_t i = 0; i < layers->n; i++) {
        const struct layer *l = &layers->layer[i];
        if (l->kind == LAYER_LLDP) {
            frame_print_lldp(f, octets, layers->payload_end);
            return;
        }
        values_begin(f, xoff_layer_name(l->kind));
        tell_layer(f, layers, l);
        values_end(f);
    }
    if (!is_malformed)
        print_rest(f, layers, octets);
    if (layers->is_snapped) {
        values_begin(f, "snapped");
        values_text(f, "why", "the capture kept no more of the frame");
        values_end(f);
    }
}

void frame_print_error(struct values *f, const struct xoff_err *err)
{
    values_begin(f, "malformed");
    values_text(f, "field", err->subject);
    values_text(f, "why", err->message);
    if (err->value[0])
        values_text(f, "given", err->value);
    values_end(f);
}
