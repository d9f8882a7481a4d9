/* IPv4, UDP and TCP headers: octets <-> struct. The conventions of decoders and encoders are in
 * eth.h; `length` is where the header before says that its content ends. */
#ifndef WIRE_IP_H
#define WIRE_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xoff/err.h>

#define IPV4_MIN_OCTETS 20
#define UDP_OCTETS 8
#define TCP_MIN_OCTETS 20
#define IP_MAX_OPTIONS 40 /* octets, of IPv4 and TCP alike */
#define TCP_MAX_SACKS 4

enum ip_protocol { IP_PROTOCOL_TCP = 6, IP_PROTOCOL_UDP = 17 };
enum ip_ecn { IP_NOT_ECT = 0, IP_ECT1 = 1, IP_ECT0 = 2, IP_CE = 3 };
enum tcp_bit {
    TCP_FIN = 1,
    TCP_SYN = 2,
    TCP_RST = 4,
    TCP_PSH = 8,
    TCP_ACK = 16,
    TCP_URG = 32,
    TCP_ECE = 64,
    TCP_CWR = 128
};

struct ipv4 {
    uint8_t dscp, ecn;
    uint16_t length; /* octets of the packet, header included */
    uint16_t identification;
    uint8_t bits;           /* 3 bits: reserved, do not fragment, more fragments */
    uint16_t fragment_unit; /* offset of the fragment in units of 8 octets */
    uint8_t ttl, protocol;
    uint16_t checksum;
    uint32_t source, destination;
    uint8_t option_octets; /* a multiple of 4 */
    uint8_t options[IP_MAX_OPTIONS];
};
#define IPV4_DO_NOT_FRAGMENT 2

struct udp {
    uint16_t source, destination, length, checksum;
};

struct tcp {
    uint16_t source, destination;
    uint32_t sequence, acknowledged;
    uint8_t reserved; /* 4 bits */
    uint8_t bits;     /* enum tcp_bit */
    uint16_t window, checksum, urgent;
    uint8_t option_octets; /* a multiple of 4 */
    uint8_t options[IP_MAX_OPTIONS];
};

/* The options that data centres use; others are passed over. */
struct tcp_options {
    bool has_stamps;
    uint32_t stamp, echoed_stamp;
    uint8_t n_sacks;
    uint32_t sack_from[TCP_MAX_SACKS], sack_to[TCP_MAX_SACKS];
};

/* Refused: cut off, a version other than 4, a header of less than 20 octets, a length below the
 * header's. Whether the length fits the frame, and the checksum, are the caller's to look at. */
int xoff_ipv4_decode(const uint8_t *frame, size_t length, size_t at, struct ipv4 *ip,
                     struct xoff_err *err);
size_t xoff_ipv4_encode(const struct ipv4 *ip, uint8_t *buf, size_t capacity);

/* Refused: cut off, a length below 8. */
int xoff_udp_decode(const uint8_t *frame, size_t length, size_t at, struct udp *udp,
                    struct xoff_err *err);
size_t xoff_udp_encode(const struct udp *udp, uint8_t *buf, size_t capacity);

/* Refused: cut off, a header of less than 20 octets. */
int xoff_tcp_decode(const uint8_t *frame, size_t length, size_t at, struct tcp *tcp,
                    struct xoff_err *err);
size_t xoff_tcp_encode(const struct tcp *tcp, uint8_t *buf, size_t capacity);

/* Reads the options of a header; false when a length among them lies. */
bool xoff_tcp_get_options(const struct tcp *tcp, struct tcp_options *options);
/* Writes them, each behind two fillers, as most senders do. At most three SACK blocks fit beside
 * stamps. */
void xoff_tcp_set_options(struct tcp *tcp, const struct tcp_options *options);

/* Ones' complement sum of RFC 1071: adds octets to `sum`, an odd one as if a zero followed. */
uint32_t xoff_ip_sum(const uint8_t *octets, size_t n, uint32_t sum);
/* The checksum field for that sum: 0 where the sum already contains a good checksum. */
uint16_t xoff_ip_checksum(uint32_t sum);
/* Sum over the pseudo header of a payload of `n` octets. */
uint32_t xoff_ip_pseudo_sum(const struct ipv4 *ip, size_t n);

#endif
