/* The Baseline TLV of DCBX (CEE, version 1.01), the vendors' protocol before 802.1Qaz: OUI
 * 00-1B-21, subtype 2. The two protocols do not understand each other; this one is read and written
 * so that a device that speaks it can be recognised, shown and simulated. */
#ifndef XOFF_CEE_TLV_H
#define XOFF_CEE_TLV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    XOFF_CEE_OUI = 0x001b21,
    XOFF_CEE_SUBTYPE = 2,
    XOFF_CEE_MAX_APPS = 83, /* 6 octets each, in the 505 that are left at most */
    XOFF_CEE_STRICT_GROUP = 15,
};

/* What every sub-TLV but the control one begins with. */
struct xoff_cee_head {
    bool is_there;
    uint8_t oper_version, max_version;
    bool is_enabled, is_willing, has_error;
    uint8_t subtype;
};

struct xoff_cee_control {
    uint8_t oper_version, max_version;
    uint32_t seq, ack;
};

struct xoff_cee_groups {
    struct xoff_cee_head head;
    uint8_t group_of[8]; /* of each priority: 0 to 7, 15: strict */
    uint8_t percent[8];  /* of each group */
    uint8_t n_classes;   /* traffic classes that the sender has */
};

struct xoff_cee_pfc {
    struct xoff_cee_head head;
    uint8_t enabled; /* bit n: priority n */
    uint8_t n_classes;
};

struct xoff_cee_app {
    uint16_t protocol;  /* EtherType or port */
    uint8_t selector;   /* 0: EtherType, 1: TCP or UDP port */
    uint32_t oui;       /* the two lowest bits of its first octet do not travel */
    uint8_t priorities; /* bit n: priority n */
};

struct xoff_cee_apps {
    struct xoff_cee_head head;
    uint8_t n;
    struct xoff_cee_app app[XOFF_CEE_MAX_APPS];
};

struct xoff_cee {
    struct xoff_cee_control control;
    struct xoff_cee_groups groups;
    struct xoff_cee_pfc pfc;
    struct xoff_cee_apps apps;
    uint8_t n_unknown; /* sub-TLVs of other types, skipped */
    bool has_reserved; /* reserved bits were set, and ignored */
};

/* Writes the TLV with its header, and those sub-TLVs whose head is there. Returns its length, 0
 * where `capacity` or a TLV's 511 octets are too few. */
size_t xoff_cee_tlv_encode(const struct xoff_cee *cee, uint8_t *buf, size_t capacity);

/* Reads the TLV whose value is the `length` octets at `at` of `frame`. Returns 0, or a negative
 * code with field and offset: a sub-TLV that leads out of the TLV, has a wrong length or comes
 * twice, or no control sub-TLV. `cee` then has what was good before it. */
int xoff_cee_tlv_decode(const uint8_t *frame, size_t at, size_t length, struct xoff_cee *cee,
                        struct xoff_err *err);

#ifdef __cplusplus
}
#endif

#endif
