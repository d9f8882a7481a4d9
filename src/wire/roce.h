/* Headers of RoCEv2 and HPCC's telemetry: octets <-> struct. The conventions of decoders and
 * encoders are in eth.h. */
#ifndef WIRE_ROCE_H
#define WIRE_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#include "wire/crc32.h"

#define ROCE_PORT 4791     /* of UDP */
#define ROCE_CNP_OCTETS 16 /* reserved, behind the BTH of a CNP */
#define ROCE_ICRC_OCTETS 4
#define BTH_OCTETS 12
#define AETH_OCTETS 4
#define HPCC_MAX_HOPS 5
#define HPCC_OCTETS 42

/* The upper three bits name the transport: 0 RC, 1 UC, 2 RD, 3 UD, 4 CNP. */
enum roce_opcode {
    ROCE_SEND_FIRST = 0,
    ROCE_SEND_MIDDLE = 1,
    ROCE_SEND_LAST = 2,
    ROCE_SEND_ONLY = 4,
    ROCE_ACKNOWLEDGE = 0x11,
    ROCE_UC = 0x20,
    ROCE_CNP = 0x81,
};

struct bth {
    uint8_t opcode;
    bool is_solicited, is_migrated;
    uint8_t pad_octets; /* 0 .. 3, behind the payload */
    uint16_t partition;
    bool is_fecn, is_becn; /* congestion seen on the way, and on the way back */
    uint8_t reserved;      /* 6 bits, sent as 0 */
    uint32_t queue_pair;   /* 24 bits */
    bool asks;             /* wants an ACK */
    uint8_t reserved_too;  /* 7 bits, sent as 0 */
    uint32_t psn;          /* 24 bits */
};

enum aeth_syndrome {
    AETH_ACK = 0x1f, /* credits not used */
    AETH_RNR_NAK = 0x20,
    AETH_PSN_ERROR = 0x60,
};

/* Behind the BTH of an acknowledgement. */
struct aeth {
    uint8_t syndrome;
    uint32_t message; /* 24 bits */
};

/* What one switch wrote, in units of the wire. */
struct hpcc_hop {
    uint8_t rate_code;    /* 4 bits: index of a rate, see hpcc_code_of_rate() */
    uint32_t at_ns;       /* 24 bits */
    uint32_t tx_units;    /* 20 bits, 128 B each */
    uint16_t queue_units; /* 80 B each */
};

struct hpcc_header {
    uint8_t n_hops; /* 0 .. 5 are in use */
    uint16_t path;  /* 12 bits */
    struct hpcc_hop hops[HPCC_MAX_HOPS];
};

/* Refused: cut off, a transport version other than 0. */
int xoff_bth_decode(const uint8_t *frame, size_t length, size_t at, struct bth *bth,
                    struct xoff_err *err);
size_t xoff_bth_encode(const struct bth *bth, uint8_t *buf, size_t capacity);
int xoff_aeth_decode(const uint8_t *frame, size_t length, size_t at, struct aeth *aeth,
                     struct xoff_err *err);
size_t xoff_aeth_encode(const struct aeth *aeth, uint8_t *buf, size_t capacity);
/* Whether an AETH stands behind a BTH of that opcode. */
bool xoff_roce_has_aeth(uint8_t opcode);

/* Refused: cut off, more than five hops. */
int xoff_hpcc_decode(const uint8_t *frame, size_t length, size_t at, struct hpcc_header *header,
                     struct xoff_err *err);
size_t xoff_hpcc_encode(const struct hpcc_header *header, uint8_t *buf, size_t capacity);
/* 15: a rate that has no code. A code without a rate gives 0. */
uint8_t xoff_hpcc_code_of_rate(uint64_t rate_bps);
uint64_t xoff_hpcc_rate_of_code(uint8_t code);

/* The register of the invariant CRC behind the headers of a frame: from IPv4 at `at_ip` with the
 * BTH at `at_bth` up to `end`, with ones for all that changes on the way. The payload follows. */
uint32_t xoff_roce_icrc(const struct crc32 *crc32, const uint8_t *frame, size_t at_ip,
                        size_t at_bth, size_t end);

#endif
