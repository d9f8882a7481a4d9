/* The tables of scenario files, and one view of the kinds of every role.
 *
 * Ranges keep all derived values representable: a run of 1000 s plus a delay of 1 s is far from the
 * 106 days that the clock holds. A rate of zero is refused here; a receiver that stops taking
 * frames is written in its schedule.
 */
#include "scenario/sections.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario/topology.h"

#define FIELD(type, field) .offset = offsetof(struct type, field)

static const char *const compats[] = {"none", "ns3", NULL};
static const char *const kept[] = {"full", "summary", NULL};

const struct xoff_param section_top[] = {
    {"title", XOFF_P_TEXT, FIELD(top_fields, title), .preset = "",
     .help = "One line that says what the scenario shows."},
    {"seed", XOFF_P_INT, FIELD(top_fields, seed), .preset = "1", .min = "0",
     .help = "Seed of every random stream; the same seed gives the same results."},
    {"stop", XOFF_P_TIME, FIELD(top_fields, stop), .preset = "10ms", .min = "1ps", .max = "1000s",
     .help = "Sources offer nothing new from here on."},
    {"drain", XOFF_P_TIME, FIELD(top_fields, drain), .preset = "100ms", .min = "0s", .max = "1000s",
     .help = "The run ends when all is delivered, at most this long after stop."},
    {"compat", XOFF_P_CHOICE, FIELD(top_fields, compat), .preset = "none", .choices = compats,
     .help = "ns3: frame sizes, whole nanoseconds and order of equal times as in the ns-3 RDMA "
             "family, see docs/import.md."},
    {"results", XOFF_P_CHOICE, FIELD(top_fields, results), .preset = "full", .choices = kept,
     .help = "full: every flow is kept; summary: of finished flows only counts, distributions and "
             "the slowest, so that millions of flows do not fill memory, see docs/results.md."},
    {"reroute_after", XOFF_P_TEXT, FIELD(top_fields, reroute_after), .preset = "1ms",
     .help = "Time from the failure or repair of a link to new shortest paths, or never."},
    {"hops", XOFF_P_INT, FIELD(top_fields, hops), .preset = "auto", .min = "1", .max = "254",
     .allows_auto = true,
     .help =
         "Switches that a frame may come to, before it is lost; auto: no limit, and routes that "
         "go in a circle are refused."},
    {0},
};

const struct xoff_param section_link[] = {
    {"rate", XOFF_P_RATE, FIELD(link_fields, rate_bps), .preset = "100Gbps", .min = "1kbps",
     .max = "10Tbps", .help = "Bit rate in each direction."},
    {"delay", XOFF_P_TIME, FIELD(link_fields, delay), .preset = "1us", .min = "0s", .max = "1s",
     .allows_auto = true, .help = "Propagation delay one way; auto: from the length."},
    {"length", XOFF_P_TEXT, FIELD(link_fields, length), .preset = "",
     .help = "Cable length such as 3m or 2km instead of a delay, at 5 ns per metre."},
    {"error", XOFF_P_REAL, FIELD(link_fields, error), .preset = "0", .min = "0", .max = "1",
     .help = "Probability that a frame is lost to corruption."},
    {0},
};

static const char *const points[] = {
    [NET_POINTS_OUTPUT] = "output", [NET_POINTS_INPUT] = "input", NULL};

const struct xoff_param section_switch[] = {
    {"buffer", XOFF_P_BYTES, FIELD(net_switch, buffer_bytes), .preset = "16MB", .min = "64B",
     .max = "4GB",
     .help = "Packet memory of a switch, or of each of its buffers where the fabric has several."},
    {"processing_delay", XOFF_P_TIME, FIELD(net_switch, processing_for), .preset = "0s",
     .min = "0s", .max = "1s",
     .help = "Time from the last bit of a frame in to its place in an egress queue."},
    {"congestion_points", XOFF_P_CHOICE, FIELD(net_switch, points_at), .preset = "output",
     .choices = points,
     .help = "The queues that marking looks at: the egress queues of a port, or all frames of a "
             "priority that came in by a port and lie in the switch."},
    {"notice_priority", XOFF_P_INT, FIELD(net_switch, notice_priority), .preset = "7", .min = "0",
     .max = "7", .allows_auto = true,
     .help = "Priority of notifications from congestion points; auto: that of the frame."},
    {0},
};

const struct xoff_param section_match[] = {
    {"match", XOFF_P_TEXT, FIELD(plan_switch, match), .preset = NULL,
     .help = "Switches that the entry is for: a name, a range such as leaf0..leaf3, a pattern with "
             "* and ?, all, or a list of these."},
    {0},
};

const struct xoff_param section_port[] = {
    {"response", XOFF_P_INT, FIELD(port_fields, response_quanta), .preset = "auto", .min = "0",
     .max = "65535", .allows_auto = true,
     .help = "Time from the reception of a pause to its effect, in quanta of 512 bit times; auto: "
             "the limit of 802.3 31B.3.7 for the link's rate."},
    {"headroom", XOFF_P_BYTES, FIELD(port_fields, headroom_bytes), .preset = "auto", .min = "0B",
     .max = "1000GB", .allows_auto = true,
     .help = "What may still arrive at a (port, priority) after XOFF; auto: the worst case for "
             "rate, delay, frame size and response."},
    {"max_frame", XOFF_P_BYTES, FIELD(port_fields, max_frame_bytes), .preset = "1518B",
     .min = "64B", .max = "16000B", .help = "Largest MAC frame, FCS included."},
    {0},
};

static const char *const rtts[] = {"path", "max", NULL};

const struct xoff_param section_transport[] = {
    {"reliability", XOFF_P_CHOICE, FIELD(plan_transport, reliability), .preset = "auto",
     .choices = xoff_rel_words, .help = "What is done about loss; auto: what the kind comes with."},
    {"window", XOFF_P_TEXT, FIELD(plan_transport, window), .preset = "none",
     .help = "Most that a flow may have outstanding, beside what the kind itself says: none, bdp "
             "(line rate times RTT), scaled (that by the flow's rate over the line rate), or a "
             "size such as 100KB."},
    {"base_rtt", XOFF_P_CHOICE, FIELD(plan_transport, net.has_common_rtt), .preset = "path",
     .choices = rtts,
     .help = "Base RTT that kinds and windows reckon with: of each flow's path, or the largest of "
             "the network."},
    {0},
};

const struct xoff_param section_host[] = {
    {"ack_priority", XOFF_P_INT, FIELD(net_spec, ack_priority), .preset = "auto", .min = "0",
     .max = "7", .allows_auto = true, .help = "Priority of ACK frames; auto: that of the data."},
    {"cnp_priority", XOFF_P_INT, FIELD(net_spec, cnp_priority), .preset = "auto", .min = "0",
     .max = "7", .allows_auto = true, .help = "Priority of CNP frames; auto: that of ACKs."},
    {"ack_every", XOFF_P_INT, FIELD(net_spec, ack_every), .preset = "1", .min = "1", .max = "255",
     .help = "Data frames per ACK; the last frame of a flow always gets one."},
    {"ack_delay", XOFF_P_TIME, FIELD(net_spec, ack_delay), .preset = "20us", .min = "1ps",
     .max = "1s", .help = "Longest time that an ACK waits for further frames (go-back-N)."},
    {"timeout", XOFF_P_TIME, FIELD(net_spec, timeout_for), .preset = "1ms", .min = "1us",
     .max = "100s", .help = "Time without an ACK after which go-back-N sends again."},
    {"shared_limit", XOFF_P_RATE, FIELD(net_spec, shared_bps), .preset = "auto", .min = "1kbps",
     .max = "100Tbps", .allows_auto = true,
     .help = "Rate of a bus or processor that frames sent and frames received pass, each host's "
             "own: receiving goes first, sending gets the rest; auto: no limit."},
    {0},
};

const struct xoff_param section_priority[] = {
    {"lossless", XOFF_P_BOOL, FIELD(priority_fields, lossless), .preset = "false",
     .help = "Pauses protect this priority; a drop for want of buffer fails the run."},
    {"weight", XOFF_P_INT, FIELD(priority_fields, weight), .preset = "1", .min = "1", .max = "1000",
     .help = "Share of a weighted scheduler relative to the other priorities."},
    {"strict", XOFF_P_BOOL, FIELD(priority_fields, strict), .preset = "false",
     .help = "With ets: served before all weighted priorities."},
    {0},
};

static const char *const node_kinds[] = {[TOPO_HOST] = "host", [TOPO_SWITCH] = "switch", NULL};

const struct xoff_param section_node[] = {
    {"name", XOFF_P_TEXT, FIELD(node_fields, name), .preset = "",
     .help = "Name of the node, where nodes are a list."},
    {"kind", XOFF_P_CHOICE, FIELD(node_fields, kind), .preset = NULL, .choices = node_kinds,
     .help = "What the node is; a host has exactly one link."},
    {0},
};

const struct xoff_param section_change[] = {
    {"link", XOFF_P_TEXT, FIELD(change_fields, link), .preset = NULL,
     .help = "The link by its ends, leaf0-spine1; leaf0-spine1#2 is the third between them."},
    {"at", XOFF_P_TIME, FIELD(change_fields, at), .preset = NULL, .min = "0s", .max = "1000s",
     .help = "When it changes."},
    {"rate", XOFF_P_RATE, FIELD(change_fields, rate_bps), .preset = "auto", .min = "1kbps",
     .max = "10Tbps", .allows_auto = true, .help = "New bit rate; auto: as before."},
    {"delay", XOFF_P_TIME, FIELD(change_fields, delay), .preset = "auto", .min = "0s", .max = "1s",
     .allows_auto = true, .help = "New propagation delay; auto: as before."},
    {"fail", XOFF_P_BOOL, FIELD(change_fields, fail), .preset = "false",
     .help = "The link goes down; frames on it are lost."},
    {"repair", XOFF_P_BOOL, FIELD(change_fields, repair), .preset = "false",
     .help = "The link comes up again."},
    {0},
};

const struct xoff_param section_route[] = {
    {"at", XOFF_P_TIME, FIELD(route_fields, at), .preset = "0s", .min = "0s", .max = "1000s",
     .help = "From when on."},
    {"on", XOFF_P_TEXT, FIELD(route_fields, on), .preset = NULL, .help = "The switch that sends."},
    {"to", XOFF_P_TEXT, FIELD(route_fields, to), .preset = NULL,
     .help = "Destination hosts, as a host set."},
    {"via", XOFF_P_TEXT, FIELD(route_fields, via), .preset = NULL,
     .help = "Neighbours to send to, up to 8; an empty list goes back to shortest paths."},
    {0},
};

const struct xoff_param section_receiver[] = {
    {"host", XOFF_P_TEXT, FIELD(plan_receiver, host), .preset = NULL,
     .help = "Hosts that receive slowly, as a host set."},
    {"rate", XOFF_P_TEXT, FIELD(plan_receiver, rate), .preset = NULL,
     .help = "Service rate such as 1Gbps, or a list: a rate, then TIME: RATE for each change; 0bps "
             "stops. With vms: of what no machine takes."},
    {"buffer", XOFF_P_BYTES, FIELD(plan_receiver, net.buffer_bytes), .preset = "1MB", .min = "64B",
     .max = "4GB", .help = "Receive buffer."},
    {"xoff", XOFF_P_BYTES, FIELD(plan_receiver, net.xoff_bytes), .preset = "auto", .min = "1B",
     .max = "1000GB", .allows_auto = true,
     .help = "Occupancy above which the host pauses its link; auto: half of what headroom leaves "
             "of the buffer (all of it without lossy priorities), in equal parts for the "
             "lossless ones."},
    {"xon", XOFF_P_BYTES, FIELD(plan_receiver, net.xon_bytes), .preset = "auto", .min = "0B",
     .max = "1000GB", .allows_auto = true,
     .help = "Occupancy at which it resumes; auto: two maximum frames below xoff."},
    {0},
};

const struct xoff_param section_vm[] = {
    {"traffic", XOFF_P_TEXT, FIELD(plan_vm, traffic), .preset = NULL,
     .help = "Names of the traffic entries whose data the machine takes."},
    {"rate", XOFF_P_TEXT, FIELD(plan_vm, rate), .preset = NULL,
     .help = "Rate at which it takes them, as that of the receiver."},
    {0},
};

static const char *const defences[] = {[NET_DEFENCE_DISABLED] = "disabled",
                                       [NET_DEFENCE_INTERIOR] = "interior",
                                       [NET_DEFENCE_INTERIOR_READY] = "interior-ready",
                                       [NET_DEFENCE_EDGE] = "edge",
                                       NULL};

const struct xoff_param section_defence[] = {
    {"at", XOFF_P_TEXT, FIELD(plan_defence, at), .preset = NULL,
     .help = "Ports of switches: NODE:PORT, NODE for all ports of a switch, or all."},
    {"priority", XOFF_P_INT, FIELD(plan_defence, priority), .preset = NULL, .min = "0", .max = "7",
     .help = "The priority that the mode is about."},
    {"mode", XOFF_P_CHOICE, FIELD(plan_defence, mode), .preset = NULL, .choices = defences,
     .help =
         "disabled: no congestion point; interior: CN-TAGs are removed from frames that go out; "
         "interior-ready: they stay; edge: removed, and frames that come in get the alternate "
         "priority."},
    {"alternate", XOFF_P_INT, FIELD(plan_defence, alternate), .preset = "0", .min = "0", .max = "7",
     .help = "Priority that mode: edge gives to frames that come in."},
    {0},
};

const struct xoff_param section_lldp[] = {
    {"second", XOFF_P_TIME, FIELD(plan_lldp, second), .preset = "1s", .min = "1ns", .max = "1s",
     .help = "How long a second of the timers below is: shorter in networks that are simulated for "
             "milliseconds."},
    {"interval", XOFF_P_INT, FIELD(plan_lldp, interval), .preset = "30", .min = "1", .max = "3600",
     .help = "Seconds between frames without news."},
    {"ttl", XOFF_P_INT, FIELD(plan_lldp, ttl), .preset = "120", .min = "1", .max = "65535",
     .help = "Seconds for which what was said holds."},
    {"fast", XOFF_P_INT, FIELD(plan_lldp, fast), .preset = "1", .min = "1", .max = "3600",
     .help = "Seconds between frames at the start and when a neighbour is new."},
    {"fast_frames", XOFF_P_INT, FIELD(plan_lldp, fast_frames), .preset = "4", .min = "1",
     .max = "8", .help = "How many of these frames there are."},
    {"tx_delay", XOFF_P_INT, FIELD(plan_lldp, tx_delay), .preset = "2", .min = "1", .max = "8192",
     .help = "Least seconds from a frame to the next one that a change causes."},
    {"reinit", XOFF_P_INT, FIELD(plan_lldp, reinit), .preset = "2", .min = "1", .max = "10",
     .help = "Seconds from a shutdown frame to the next start."},
    {"forward", XOFF_P_TEXT, FIELD(plan_lldp, forward), .preset = "",
     .help = "Switches that pass LLDP frames on to all other ports, which none should: names, a "
             "range, a pattern, all, or a list of these."},
    {0},
};

static const char *const versions[] = {
    [XOFF_DCBX_AUTO] = "auto", [XOFF_DCBX_IEEE] = "ieee", [XOFF_DCBX_BASELINE] = "baseline", NULL};
static const char *const ties[] = {
    [XOFF_DCBX_TIE_LOWER] = "lower", [XOFF_DCBX_TIE_HIGHER] = "higher", NULL};

const struct xoff_param section_dcbx[] = {
    {"at", XOFF_P_TEXT, FIELD(plan_dcbx, at), .preset = NULL,
     .help = "Ports: NODE:PORT, NODE for all ports of a node, a range of hosts such as h0..h3, "
             "hosts, switches, all, or a list of these."},
    {"from", XOFF_P_TIME, FIELD(plan_dcbx, from), .preset = "0s", .min = "0s", .max = "1000s",
     .help = "From when on the entry holds, in place of an earlier one for the same port."},
    {"pfc", XOFF_P_TEXT, FIELD(plan_dcbx, pfc), .preset = "lossless",
     .help = "Priorities with PFC, a list; lossless: those that are lossless under priorities."},
    {"pfc_classes", XOFF_P_INT, FIELD(plan_dcbx, pfc_classes), .preset = "8", .min = "0",
     .max = "8", .help = "Priorities that the port can hold lossless at once."},
    {"ets", XOFF_P_TEXT, FIELD(plan_dcbx, ets), .preset = "",
     .help = "Shares of priorities in per cent, such as [0: 40, 3: 60], adding up to 100; empty: "
             "ETS is not spoken of, and the weights under priorities hold."},
    {"strict", XOFF_P_TEXT, FIELD(plan_dcbx, strict), .preset = "",
     .help = "Strict priorities, a list; with ets."},
    {"recommend", XOFF_P_TEXT, FIELD(plan_dcbx, recommend), .preset = "",
     .help = "Shares that the peer is recommended: as ets, or same for these; empty: none."},
    {"apps", XOFF_P_TEXT, FIELD(plan_dcbx, apps), .preset = "",
     .help = "Priorities of applications, such as [fcoe: 3, iscsi: 4, udp 4791: 5]."},
    {"cn", XOFF_P_TEXT, FIELD(plan_dcbx, cn), .preset = "",
     .help = "Priorities under congestion notification, a list."},
    {"willing", XOFF_P_TEXT, FIELD(plan_dcbx, willing), .preset = "",
     .help = "What is taken from the peer: a list of pfc, ets and apps, or all."},
    {"tie", XOFF_P_CHOICE, FIELD(plan_dcbx, tie), .preset = "lower", .choices = ties,
     .help = "Whose PFC counts where both are willing: that of the lower or the higher MAC "
             "address."},
    {"version", XOFF_P_CHOICE, FIELD(plan_dcbx, version), .preset = "auto", .choices = versions,
     .help = "ieee: 802.1Qaz; baseline: the older CEE; auto: 802.1Qaz, and Baseline with a peer "
             "that speaks nothing else."},
    {"lldp", XOFF_P_BOOL, FIELD(plan_dcbx, lldp), .preset = "true",
     .help = "false: LLDP is off, after a shutdown frame."},
    {"push", XOFF_P_BOOL, FIELD(plan_dcbx, pushes), .preset = "false",
     .help = "What this port agrees on is administered to the other ports of its node."},
    {"needs_lossless", XOFF_P_TEXT, FIELD(plan_dcbx, needs_lossless), .preset = "",
     .help = "Priorities that are not sent while PFC is not in force for them, a list: what T11 "
             "asks of FCoE."},
    {"follows_last", XOFF_P_BOOL, FIELD(plan_dcbx, follows_last), .preset = "false",
     .help = "Of several neighbours the one heard last counts: a fault of some devices."},
    {0},
};

const char *const section_series[] = {"queue", "throughput", "pause", "buffer",
                                      "pools", "input",      "point", NULL};

const struct xoff_param section_measure[] = {
    {"every", XOFF_P_TIME, FIELD(measure_fields, every), .preset = "0s", .min = "0s",
     .max = "1000s", .help = "Sampling interval of the series; 0s: no series."},
    {"series", XOFF_P_TEXT, FIELD(measure_fields, series), .preset = "queue,throughput,pause",
     .help = "List of queue (bytes per egress queue), throughput (sent by each port), pause "
             "(fraction of time paused), buffer (bytes held by each switch), pools (the same by "
             "pool: reserved, shared, headroom, insurance), input (bytes in the buffer of an "
             "input, of frames that came in by each port; of a slow receiver, its receive queue) "
             "and point (of congestion points that compute a rate: advertised, load, control)."},
    {"at", XOFF_P_TEXT, FIELD(measure_fields, at), .preset = "all",
     .help = "Nodes to sample, or all."},
    {"from", XOFF_P_TIME, FIELD(measure_fields, from), .preset = "0s", .min = "0s", .max = "1000s",
     .help = "Throughput, utilisation and pause fractions are over the time from here, or from the "
             "start of the first flow, ..."},
    {"to", XOFF_P_TIME, FIELD(measure_fields, to), .preset = "auto", .min = "1ps", .max = "1000s",
     .allows_auto = true,
     .help = "... to here; auto: to stop, or to the end of the last flow before it."},
    {0},
};

/* In the order of enum result_metric. */
const char *const section_curve_words[] = {
    "queue", "throughput", "pause", "buffer",  "reserved", "shared",   "headroom", "insurance",
    "input", "advertised", "load",  "control", "jain",     "evenness", NULL};

const struct xoff_param section_curve[] = {
    {"of", XOFF_P_CHOICE, FIELD(plan_curve, of), .preset = NULL, .choices = section_curve_words,
     .help = "The series: of a port, of a switch (buffer, or one of its pools), of the "
             "congestion point of a port (advertised, load, control), or of the throughput of "
             "several hosts (jain, evenness)."},
    {"at", XOFF_P_TEXT, FIELD(plan_curve, at), .preset = NULL,
     .help = "NODE:PORT, or NODE for the one port of a host; NODE for what is of a switch; a set "
             "of hosts, such as h0..h9, for jain and evenness."},
    {"priority", XOFF_P_INT, FIELD(plan_curve, priority), .preset = "auto", .min = "0", .max = "7",
     .allows_auto = true,
     .help = "One priority of a switch's port; auto: all together, their sum, or the largest for "
             "pause and congestion points."},
    {"from", XOFF_P_TIME, FIELD(plan_curve, from), .preset = "0s", .min = "0s", .max = "1000s",
     .help = "Samples after this instant."},
    {"to", XOFF_P_TIME, FIELD(plan_curve, to), .preset = "auto", .min = "1ps", .max = "1000s",
     .allows_auto = true, .help = "Samples up to this instant; auto: to stop."},
    {"over", XOFF_P_TIME, FIELD(plan_curve, over), .preset = "auto", .min = "1ps", .max = "1000s",
     .allows_auto = true,
     .help = "A value is the mean of the samples of this time; auto: each sample is one."},
    {"level", XOFF_P_RATE, FIELD(plan_curve, level), .preset = "auto", .min = "1bps",
     .allows_auto = true,
     .help = "Level of throughput or advertised: figures say for how long, and until when, the "
             "curve lies below it; auto: none."},
    {"share", XOFF_P_RATE, FIELD(plan_curve, share), .preset = "auto", .min = "1bps",
     .allows_auto = true,
     .help = "Throughput that evenness wants of every host; auto: the mean of all hosts."},
    {"within", XOFF_P_REAL, FIELD(plan_curve, within), .preset = "auto", .min = "0.001",
     .max = "0.999", .allows_auto = true,
     .help = "Distance from the share, as a part of it: figures say for how long, and until when, "
             "some host is further away; auto: none."},
    {0},
};

const struct xoff_param section_deadlock[] = {
    {"after", XOFF_P_TIME, FIELD(net_spec, deadlock_after), .preset = "1ms", .min = "0s",
     .max = "1000s",
     .help = "A cycle of paused queues from which no frame left for so long is a deadlock; 0s: do "
             "not look."},
    {"stop", XOFF_P_BOOL, FIELD(net_spec, deadlock_stops), .preset = "false",
     .help = "End the run when a deadlock is found."},
    {0},
};

const struct section sections[] = {
    {"", section_top, "The run as a whole."},
    {"topology.host_link", section_link, "Links at hosts, and the default of every other link."},
    {"topology.fabric_link", section_link,
     "Links between switches; what is left out is as in "
     "host_link."},
    {"topology.nodes[]", section_node, "Nodes of a custom topology."},
    {"switch", section_switch, "Every switch."},
    {"switches[]", section_match, "Switches that differ from the others."},
    {"port", section_port, "Pause reception at every port of switches and hosts."},
    {"host", section_host, "Every host."},
    {"transport", section_transport, "How traffic is carried that does not say otherwise."},
    {"priorities.N", section_priority, "One of the eight priorities, N from 0 to 7."},
    {"links[]", section_change, "Changes of links in the course of the run."},
    {"routes[]", section_route, "Routes stated by hand."},
    {"receivers[]", section_receiver,
     "Hosts that take frames from the wire slower than they come."},
    {"receivers[].vms[]", section_vm, "Virtual machines that share a receive queue."},
    {"cn_ports[]", section_defence,
     "Ports of switches at the edge of a congestion notification domain."},
    {"lldp", section_lldp, "When ports send LLDP frames, and which switches pass them on."},
    {"dcbx[]", section_dcbx, "Ports that agree on PFC, ETS and applications with their peers."},
    {"measure", section_measure, "Series over time."},
    {"curves.NAME", section_curve, "A series at one place, kept by name with its figures."},
    {"deadlock", section_deadlock, "Detection of deadlocks while running."},
    {NULL, NULL, NULL},
};

const char *kinds_path(enum kinds_role role)
{
    static const char *const paths[N_KINDS_ROLES] = {
        [KINDS_TOPOLOGY] = "topology",
        [KINDS_FABRIC] = "switch.fabric",
        [KINDS_MMU] = "switch.mmu",
        [KINDS_PAUSE] = "switch.pause",
        [KINDS_SCHEDULER] = "switch.scheduler",
        [KINDS_MARKING] = "switch.marking",
        [KINDS_PATH] = "switch.path",
        [KINDS_ARBITER] = "switch.arbiter",
        [KINDS_TRANSPORT] = "transport",
        [KINDS_TRAFFIC] = "traffic[]",
    };
    return paths[role];
}

/* Every role's table begins with the same four members; only this macro relies on that. */
#define VIEW_OF(entry)                                                                           \
    ((struct kind){(entry)->name, (entry)->summary, (entry)->params, NULL, (entry)->params_size, \
                   (entry)})
#define ANSWER_FROM(list)                    \
    do {                                     \
        for (uint32_t k = 0; (list)[k]; k++) \
            if (k == i) {                    \
                *out = VIEW_OF((list)[k]);   \
                return true;                 \
            }                                \
        return false;                        \
    } while (0)

static bool kind_of(enum kinds_role role, uint32_t i, struct kind *out)
{
    switch (role) {
    case KINDS_TOPOLOGY:
        ANSWER_FROM(topology_kinds);
    case KINDS_FABRIC:
        ANSWER_FROM(fabrics);
    case KINDS_MMU:
        ANSWER_FROM(xoff_mmus);
    case KINDS_PAUSE:
        ANSWER_FROM(xoff_pauses);
    case KINDS_SCHEDULER:
        ANSWER_FROM(xoff_scheds);
    case KINDS_MARKING:
        ANSWER_FROM(xoff_cps);
    case KINDS_PATH:
        ANSWER_FROM(xoff_paths);
    case KINDS_ARBITER:
        ANSWER_FROM(xoff_arbs);
    case KINDS_TRANSPORT:
        ANSWER_FROM(xoff_rps);
    case KINDS_TRAFFIC:
        ANSWER_FROM(traffic_kinds);
    case N_KINDS_ROLES:
        break;
    }
    return false;
}

bool kinds_at(enum kinds_role role, uint32_t i, struct kind *out)
{
    if (!kind_of(role, i, out))
        return false;
    if (role == KINDS_TRANSPORT)
        out->np_params = xoff_np_find(((const struct xoff_rp_ops *)out->ops)->np)->params;
    return true;
}

bool kinds_find(enum kinds_role role, const char *name, struct kind *out)
{
    for (uint32_t i = 0; kinds_at(role, i, out); i++)
        if (strcmp(out->name, name) == 0)
            return true;
    return false;
}

#define ROLE(key, role, part, field)                         \
    {                                                        \
        key, role, part, offsetof(struct net_switch, field), \
            offsetof(struct net_switch, field##_params)      \
    }

const struct switch_role switch_roles[] = {
    ROLE("fabric", KINDS_FABRIC, NET_PART_FABRIC, fabric),
    ROLE("mmu", KINDS_MMU, NET_PART_MMU, mmu),
    ROLE("pause", KINDS_PAUSE, NET_PART_PAUSE, pause),
    ROLE("scheduler", KINDS_SCHEDULER, NET_PART_SCHED, sched),
    ROLE("marking", KINDS_MARKING, NET_PART_MARKING, marking),
    ROLE("path", KINDS_PATH, NET_PART_PATH, path),
    ROLE("arbiter", KINDS_ARBITER, NET_PART_ARB, arb),
    {0},
};

bool switch_uses(const struct net_switch *sw, const struct switch_role *role)
{
    return role->role != KINDS_ARBITER || sw->fabric->arbitrates;
}

struct kind switch_kind(const struct net_switch *sw, const struct switch_role *role)
{
    struct kind kind = {0};
    const void *ops;
    memcpy(&ops, (const char *)sw + role->ops_at, sizeof ops);
    for (uint32_t i = 0; kinds_at(role->role, i, &kind) && kind.ops != ops;)
        i++;
    return kind;
}

const void *switch_params(const struct net_switch *sw, const struct switch_role *role)
{
    const void *params;
    memcpy(&params, (const char *)sw + role->params_at, sizeof params);
    return params;
}

void switch_take(struct net_switch *sw, const struct switch_role *role, const void *ops,
                 const void *params)
{
    free((void *)switch_params(sw, role));
    memcpy((char *)sw + role->ops_at, &ops, sizeof ops);
    memcpy((char *)sw + role->params_at, &params, sizeof params);
}

void switch_forget(struct net_switch *sw, const struct switch_role *role)
{
    memset((char *)sw + role->params_at, 0, sizeof(void *));
}

#define LONGEST_WORD 32

/* Edit distance with transposition of neighbours (optimal string alignment); a long word counts as
 * far from every other. */
static uint32_t distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_WORD || m > LONGEST_WORD)
        return UINT32_MAX;
    uint32_t row[3][LONGEST_WORD + 1];
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (uint32_t)j;
    for (size_t i = 1; i <= n; i++) {
        uint32_t *now = row[i % 3];
        const uint32_t *before = row[(i + 2) % 3], *second = row[(i + 1) % 3];
        now[0] = (uint32_t)i;
        for (size_t j = 1; j <= m; j++) {
            uint32_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                second[j - 2] + 1 < best)
                best = second[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *nearest_word(const char *word, const char *(*next)(void *state), void *state)
{
    const char *best = NULL, *candidate;
    const uint32_t far = (uint32_t)strlen(word) / 3 + 1;
    uint32_t best_distance = far + 1;
    while ((candidate = next(state)) != NULL) {
        const uint32_t d = distance(word, candidate);
        if (d < best_distance) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}
