/* The TLVs of DCBX (802.1Qaz, and 802.1Qau for congestion notification) in LLDP frames: bytes <->
 * struct, one by one or a whole frame at once. */
#ifndef XOFF_DCBX_TLV_H
#define XOFF_DCBX_TLV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/cee_tlv.h>
#include <xoff/err.h>
#include <xoff/lldp.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    XOFF_DCBX_OUI = 0x0080c2,
    XOFF_DCBX_MAX_APPS = 168, /* 3 octets each; a TLV has 511 */
    XOFF_DCBX_MAX_TLV = 2 + XOFF_LLDP_MAX_VALUE,
};

enum xoff_dcbx_kind {
    XOFF_DCBX_ETS_CONFIGURATION,
    XOFF_DCBX_ETS_RECOMMENDATION,
    XOFF_DCBX_PFC,
    XOFF_DCBX_APPLICATIONS,
    XOFF_DCBX_CONGESTION_NOTIFICATION,
    XOFF_DCBX_CEE, /* the Baseline protocol, in one TLV */
    XOFF_DCBX_N_KINDS,
    XOFF_DCBX_OTHER = XOFF_DCBX_N_KINDS, /* no TLV of DCBX */
};

/* What a TLV says that is to be ignored or cannot be meant. None of these makes it malformed: it is
 * told, and the receiver decides what to make of it. */
#define XOFF_DCBX_REMARK_MAP(X)                                                          \
    X(RESERVED, "reserved bits are set; they are ignored")                               \
    X(CLASS, "a priority is in a traffic class above 7")                                 \
    X(BEYOND_MAX, "a priority is in a traffic class that the sender does not have")      \
    X(ALGORITHM, "a traffic class has a reserved selection algorithm")                   \
    X(SUM, "the bandwidths of the ETS classes do not add up to 100 %")                   \
    X(IDLE_SHARE, "a class that is not under ETS has a bandwidth; it is ignored")        \
    X(TOO_LOSSLESS, "PFC is enabled on more priorities than the sender has classes for") \
    X(SELECTOR, "an application has a reserved selector; it is ignored")                 \
    X(READY, "a priority is ready for congestion notification without being under it")   \
    X(UNKNOWN_PART, "a sub-TLV of CEE has an unknown type; it is ignored")

enum xoff_dcbx_remark {
#define X(name, text) XOFF_DCBX_REMARK_##name,
    XOFF_DCBX_REMARK_MAP(X)
#undef X
        XOFF_DCBX_N_REMARKS
};

/* Transmission selection algorithms of 802.1Q. */
enum xoff_tsa { XOFF_TSA_STRICT = 0, XOFF_TSA_CBS = 1, XOFF_TSA_ETS = 2, XOFF_TSA_VENDOR = 255 };

struct xoff_dcbx_ets {
    bool is_willing;     /* configuration only, as the next two */
    bool has_cbs;        /* the credit-based shaper is there */
    uint8_t max_classes; /* 1 to 8 */
    uint8_t class_of[8]; /* of each priority: 0 to 7; 4 bits on the wire */
    uint8_t percent[8];  /* of each traffic class */
    uint8_t tsa[8];      /* of each traffic class */
};

struct xoff_dcbx_pfc {
    bool is_willing;
    bool cannot_bypass;  /* MBC: cannot bypass MACsec */
    uint8_t max_classes; /* 0 to 15: classes that can be lossless at once; 0: none */
    uint8_t enabled;     /* bit n: priority n */
};

enum xoff_app_selector {
    XOFF_APP_ETHERTYPE = 1, /* protocol 0: the default priority */
    XOFF_APP_TCP = 2,       /* or SCTP */
    XOFF_APP_UDP = 3,       /* or DCCP */
    XOFF_APP_PORT = 4,      /* any of TCP, SCTP, UDP, DCCP */
    XOFF_APP_DSCP = 5,
};

enum { XOFF_APP_FCOE = 0x8906, XOFF_APP_FIP = 0x8914, XOFF_APP_ISCSI = 3260, XOFF_APP_ROCE = 4791 };

struct xoff_dcbx_app {
    uint8_t priority, selector;
    uint16_t protocol;
};

struct xoff_dcbx_apps {
    uint8_t n;
    struct xoff_dcbx_app app[XOFF_DCBX_MAX_APPS];
};

/* Bit n: priority n is a congestion notification priority, and the sender is ready for CN-TAGs. */
struct xoff_dcbx_cn {
    uint8_t priorities, ready;
};

struct xoff_dcbx_tlv {
    enum xoff_dcbx_kind kind;
    uint16_t remarks; /* bit n: enum xoff_dcbx_remark */
    union {
        struct xoff_dcbx_ets ets; /* configuration and recommendation */
        struct xoff_dcbx_pfc pfc;
        struct xoff_dcbx_apps apps;
        struct xoff_dcbx_cn cn;
        struct xoff_cee cee;
    } u;
};

/* What the TLVs of a frame say. A malformed TLV says nothing; of a kind that comes twice the first
 * one counts. */
struct xoff_dcbx_pdu {
    uint8_t has;       /* bit n: enum xoff_dcbx_kind, a good TLV was there */
    uint8_t malformed; /* bit n: one was there that is void */
    uint8_t repeated;  /* bit n: one came again and was ignored */
    uint16_t remarks[XOFF_DCBX_N_KINDS];
    struct xoff_dcbx_ets ets, recommendation;
    struct xoff_dcbx_pfc pfc;
    struct xoff_dcbx_apps apps;
    struct xoff_dcbx_cn cn;
    struct xoff_cee cee;
};

/* Which TLV of DCBX this is, by OUI and subtype alone. */
enum xoff_dcbx_kind xoff_dcbx_kind_of(const struct xoff_lldp_tlv *tlv);
/* "ETS configuration", "CEE (Baseline DCBX)". */
const char *xoff_dcbx_kind_text(enum xoff_dcbx_kind kind);
const char *xoff_dcbx_remark_text(enum xoff_dcbx_remark remark);

/* What can be said of tables before they are sent, as decoding would remark it. */
uint16_t xoff_dcbx_ets_remarks(const struct xoff_dcbx_ets *ets, bool is_recommendation);

/* Writes one TLV with its header. Returns its length, 0 where `capacity` is too small. Values that
 * have no place on the wire (max_classes of 9, a priority of 8) are an error of the caller. */
size_t xoff_dcbx_tlv_encode(const struct xoff_dcbx_tlv *tlv, uint8_t *buf, size_t capacity);

/* Reads a TLV of `frame` that xoff_lldp_next() found and xoff_dcbx_kind_of() knows. Returns 0, or a
 * negative code with field and offset: its length is wrong, or a sub-TLV of CEE is. */
int xoff_dcbx_tlv_decode(const uint8_t *frame, const struct xoff_lldp_tlv *found,
                         struct xoff_dcbx_tlv *tlv, struct xoff_err *err);

/* Reads all TLVs of a frame without FCS. Returns 0, or a negative code where the frame is void as a
 * whole. Where single TLVs are void or repeated, the answer is 0, the masks of `pdu` say so and
 * `err` is about the first of them; otherwise err->code is XOFF_E_OK. */
int xoff_dcbx_pdu_decode(const uint8_t *frame, size_t length, struct xoff_lldp *lldp,
                         struct xoff_dcbx_pdu *pdu, struct xoff_err *err);

/* Writes the TLVs that `pdu->has` names, one behind the other, as xoff_lldp_encode() takes them.
 * Returns their length, 0 where `capacity` is too small. */
size_t xoff_dcbx_pdu_encode(const struct xoff_dcbx_pdu *pdu, uint8_t *buf, size_t capacity);

#ifdef __cplusplus
}
#endif

#endif
