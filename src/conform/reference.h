/* The reference device: a bridge or an end station made of libxoff's mechanisms, octet for octet.
 *
 * It is what a switch would make of the library: frames come in as octets and are decoded; gate,
 * signal, buffer, pause policy, scheduler and congestion point are the objects that the simulator
 * runs, found in the registry. Ports follow the rules of the simulator's ports (net/port.h): a
 * pause frame goes before all data and after the frame that is being sent, a frame that has begun
 * is finished, and arrivals come before timers, and timers before transmissions.
 *
 * Faults are put between the octets and the mechanisms, or into their configuration. The
 * mechanisms themselves are never changed.
 */
#ifndef CONFORM_REFERENCE_H
#define CONFORM_REFERENCE_H

#include <xoff/conform.h>
#include <xoff/dcbx.h>
#include <xoff/gate.h>
#include <xoff/registry.h>
#include <xoff/rng.h>
#include <xoff/signal.h>
#include <xoff/units.h>

/* One thing each that is wrong with a device, in the order of xoff_conform_models. */
enum fault {
    FAULT_NONE,
    FAULT_TWO_CLASSES,
    FAULT_SMALL_BUFFER,
    FAULT_MULTIPLE_PEERS,
    FAULT_TIE_BREAK,
    FAULT_MALFORMED_TLV,
    FAULT_TWO_QUEUES,
    FAULT_FORWARDS_CONTROL,
    FAULT_IGNORES_VECTOR,
    FAULT_QUANTA_PLUS,
    FAULT_QUANTA_MINUS,
    FAULT_ADDS_QUANTA,
    FAULT_SLOW_RESPONSE,
    FAULT_PAUSES_CONTROL,
    FAULT_MALFORMED_PFC,
    FAULT_NO_REFRESH,
    FAULT_PAUSES_ALL,
    FAULT_EQUAL_SHARES,
    FAULT_HARD_SHARES,
    FAULT_STRICT_LAST,
    FAULT_CNM_VERSION,
    FAULT_CNM_SIGN,
    FAULT_CNM_ADDRESS,
    FAULT_STRIPS_TAGS,
    FAULT_KEEPS_TAGS,
    FAULT_NO_OVERRIDE,
    FAULT_IGNORES_CNM,
    FAULT_READS_VERSIONS,
    FAULT_TAG_FIRST,
    FAULT_IGNORES_WILLING,
    FAULT_NEVER_LAPSES,
    FAULT_REFUSES_RESERVED,
};

/* A frame in the device. */
struct held {
    struct held *next;
    xoff_time at; /* when it arrived, was queued, or will have been sent */
    uint16_t port, in_port;
    uint8_t priority, pool;
    bool has_bad_fcs;
    bool is_data;   /* no notification or LLDP frame of the device's own */
    uint32_t bytes; /* with FCS */
    uint32_t length;
    uint8_t octets[];
};

struct held_list {
    struct held *head, *tail;
};

struct reference_port {
    struct xoff_gate gate;
    struct xoff_gate_cfg gate_cfg;
    struct xoff_signal signal;
    struct xoff_signal_cfg signal_cfg;
    struct xoff_wire_clock clock;
    xoff_time free_at;
    struct held_list local; /* frames of the device's own that are no data: LLDP */
    struct held_list queues[XOFF_N_PRIORITIES];
    int64_t queue_bytes[XOFF_N_PRIORITIES];
    uint8_t backlog;
    uint64_t sent_bytes[XOFF_N_PRIORITIES];
    xoff_time runs_out_at[XOFF_N_PRIORITIES]; /* of FAULT_ADDS_QUANTA */
    void *sched_state;
};

/* A source of the end station, for one priority. */
struct reference_flow {
    xoff_time next_at;
    uint32_t n_sent;
    struct xoff_rp_answer answer;
    void *rp_state;
};

#define REFERENCE_MAX_ADDRESSES 32
struct reference_address {
    uint8_t mac[6];
    uint16_t port;
};

struct reference {
    struct xoff_device device;
    enum fault fault;
    struct xoff_device_setup setup;
    xoff_time now;
    uint8_t lossless;
    struct xoff_mmu mmu;
    struct xoff_pause pause;
    struct xoff_sched sched;
    struct xoff_cp cps[XOFF_CONFORM_MAX_PORTS];
    void *cp_states[XOFF_CONFORM_MAX_PORTS][XOFF_N_PRIORITIES];
    struct xoff_rng rng;
    struct xoff_rp rp;
    struct reference_flow flows[XOFF_N_PRIORITIES];
    struct xoff_dcbx_cfg dcbx_cfg[XOFF_CONFORM_MAX_PORTS];
    struct xoff_dcbx *dcbx[XOFF_CONFORM_MAX_PORTS];
    struct xoff_mmu_port mmu_ports[XOFF_CONFORM_MAX_PORTS];
    void *memory[160]; /* cfg and state of the mechanisms */
    uint32_t n_memory;
    struct xoff_edges edges;
    struct reference_port ports[XOFF_CONFORM_MAX_PORTS];
    struct held_list arrivals, sent; /* both in order of time */
    struct held *taken;              /* the frame that take() gave last */
    struct reference_address addresses[REFERENCE_MAX_ADDRESSES];
    uint32_t n_addresses;
};

struct xoff_device *reference_create(enum fault fault);
void reference_port_mac(const struct reference *r, uint32_t port, uint8_t mac[6]);

/* The queue of a priority: its own, unless the device has two for all eight. */
static inline uint32_t reference_queue(const struct reference *r, uint32_t priority)
{
    return r->fault == FAULT_TWO_QUEUES ? priority & 4 : priority;
}

/* The frame's own copy. */
struct held *held_create(const uint8_t *octets, uint32_t length);
void held_append(struct held_list *list, struct held *frame);
struct held *held_first(struct held_list *list);

/* Memory that lives until the next reset. */
void *reference_keep(struct reference *r, size_t size);

/* Configures the mechanisms for the set-up. */
int reference_build(struct reference *r, struct xoff_err *err);
/* Frees what reference_build() made and all frames. */
void reference_clear(struct reference *r);

/* A frame has arrived by frame->port, whole and with a good FCS. The function owns it. */
void reference_bridge_receive(struct reference *r, struct held *frame);
/* A data frame has left. */
void reference_bridge_release(struct reference *r, uint16_t port, const struct held *frame);
/* The pause policy's time has come. */
void reference_bridge_expire(struct reference *r, xoff_time now);
/* Joins the egress queue of a port, or is lost. */
void reference_bridge_enqueue(struct reference *r, uint16_t port, struct held *frame);

/* The priorities of `enabled` that the device can hold lossless. */
uint8_t reference_lossless(const struct reference *r, uint8_t enabled);

/* DCBX at all ports. A frame that is received stays the caller's. */
int reference_agent_build(struct reference *r, struct xoff_err *err);
void reference_agent_receive(struct reference *r, const struct held *frame);
xoff_time reference_agent_deadline(const struct reference *r);
void reference_agent_expire(struct reference *r);

/* Congestion notification in a bridge: a frame that came in gets another priority at the edge of
 * the domain; one that joined a queue may be sampled; one that goes out may lose its tag. */
int reference_cn_build(struct reference *r, struct xoff_err *err);
void reference_cn_receive(struct reference *r, struct held *frame);
void reference_cn_sample(struct reference *r, uint16_t port, const struct held *frame);
void reference_cn_send(struct reference *r, uint16_t port, struct held *frame);

/* The end station. */
int reference_host_build(struct reference *r, struct xoff_err *err);
void reference_host_receive(struct reference *r, struct held *frame);
/* A frame of its source of that priority begins now. */
void reference_host_sent(struct reference *r, const struct held *frame);
xoff_time reference_host_deadline(const struct reference *r);
void reference_host_expire(struct reference *r);

#endif
