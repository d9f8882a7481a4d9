/* A device behind Ethernet interfaces of the machine, in real time: a TAP device with a program at
 * its other end, a veth pair, a network card.
 *
 * Frames go through packet sockets. The kernel takes the outer VLAN tag off before a socket sees
 * the frame and hands it over beside it; it is put back here. Times are those of a monotonic clock
 * when the frame is handed over, so the rate of the ports must be low enough for software to keep
 * up: 1 Mb/s leaves room for a busy machine.
 *
 * A set-up travels in a test frame of the station (EtherType 88b5) as text, and a model that serves
 * at the other end answers with another. Other devices ignore it and are configured by hand.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "conform/devices.h"
#include "conform/station.h"
#include "wire/octets.h"

#define MAX_FRAME 16384
#define ETHERTYPE_ALL 0x0003
#define SETUP_STREAM 0xfffffffdu  /* in the place of a test frame's stream */
#define ANSWER_STREAM 0xfffffffcu /* the number behind it says which set-up it answers */
#define LATE_STREAM 0xfffffffbu   /* asks, and tells, by how much frames were late */
#define SETUP_AT 22               /* octets before the text: header, stream, number */
#define UNSURE_QUANTA 40          /* 20 ms at 1 Mb/s; tests have margins of 150 */
#define POLL_FOR (200 * XOFF_US)  /* how often a model that serves looks at its clock */

struct tap {
    struct xoff_device device;
    struct xoff_device_ops ops;
    uint16_t n_ports;
    int sockets[XOFF_CONFORM_MAX_PORTS];
    xoff_time began_at; /* by the machine's clock */
    xoff_time late_for; /* at most, since then */
    bool by_hand;
    uint32_t n_setups; /* number of the last set-up */
    uint8_t octets[MAX_FRAME];
};

static xoff_time clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * XOFF_S + now.tv_nsec * XOFF_NS;
}

static int open_interface(const char *name, struct xoff_err *err)
{
    const unsigned index = if_nametoindex(name);
    const int fd =
        index ? socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETHERTYPE_ALL))
              : -1;
    const struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE_ALL), .sll_ifindex = (int)index};
    const struct packet_mreq promiscuous = {.mr_ifindex = (int)index, .mr_type = PACKET_MR_PROMISC};
    const int on = 1;
    if (fd >= 0 && !bind(fd, (const struct sockaddr *)&address, sizeof address) &&
        !setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous) &&
        !setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) &&
        !setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on))
        return fd;
    xoff_err_set(err, XOFF_E_IO, "device", name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static void close_all(struct tap *tap)
{
    for (uint32_t i = 0; i < tap->n_ports; i++)
        close(tap->sockets[i]);
}

static int open_all(struct tap *tap, const char *spec, struct xoff_err *err)
{
    char name[IF_NAMESIZE];
    int n = 0;
    for (; sscanf(spec, "%15[^,]%n", name, &n) == 1; spec += n + (spec[n] == ',')) {
        if (tap->n_ports == XOFF_CONFORM_MAX_PORTS)
            return xoff_err_set(err, XOFF_E_RANGE, "device", name, "nine interfaces at most");
        const int fd = open_interface(name, err);
        if (fd < 0)
            return -(int)err->code;
        tap->sockets[tap->n_ports++] = fd;
    }
    return tap->n_ports && !*spec ? 0
                                  : xoff_err_set(err, XOFF_E_SYNTAX, "device", spec,
                                                 "names of interfaces: tap:NAME,NAME...");
}

/* Reads a frame of a socket into tap->octets, its VLAN tag put back; 0: there is none. */
static uint32_t receive(struct tap *tap, uint32_t port)
{
    uint8_t *place = tap->octets + 4; /* room for a tag */
    char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    struct iovec vector = {.iov_base = place, .iov_len = MAX_FRAME - 4};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    const ssize_t n = recvmsg(tap->sockets[port], &message, 0);
    if (n < 12)
        return 0;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
        struct tpacket_auxdata about;
        if (c->cmsg_level != SOL_PACKET || c->cmsg_type != PACKET_AUXDATA)
            continue;
        memcpy(&about, CMSG_DATA(c), sizeof about);
        if (!(about.tp_status & TP_STATUS_VLAN_VALID))
            continue;
        const bool has_type = about.tp_status & TP_STATUS_VLAN_TPID_VALID;
        struct octets_out out = octets_out(tap->octets, MAX_FRAME);
        memmove(tap->octets, place, 12);
        out.at = 12;
        put16(&out, has_type ? about.tp_vlan_tpid : 0x8100);
        put16(&out, about.tp_vlan_tci);
        return (uint32_t)n + 4;
    }
    memmove(tap->octets, place, (size_t)n);
    return (uint32_t)n;
}

/* Waits until a frame is there or the machine's clock has reached `until`. Returns the length. */
static uint32_t wait_frame(struct tap *tap, xoff_time until, uint16_t *port)
{
    for (;;) {
        struct pollfd fds[XOFF_CONFORM_MAX_PORTS];
        for (uint32_t i = 0; i < tap->n_ports; i++)
            fds[i] = (struct pollfd){.fd = tap->sockets[i], .events = POLLIN};
        const xoff_time left = until - clock_now();
        const struct timespec timeout = {.tv_sec = left > 0 ? left / XOFF_S : 0,
                                         .tv_nsec = left > 0 ? left % XOFF_S / XOFF_NS : 0};
        const int n = ppoll(fds, tap->n_ports, &timeout, NULL);
        for (uint16_t i = 0; n > 0 && i < tap->n_ports; i++) {
            const uint32_t length = fds[i].revents ? receive(tap, i) : 0;
            *port = i;
            if (length)
                return length;
        }
        if (n <= 0 && clock_now() >= until)
            return 0;
        if (n < 0 && errno == EINTR)
            return 0;
    }
}

static void transmit(const struct tap *tap, const struct xoff_device_frame *frame)
{
    /* A frame that the interface cannot take is lost, as on a wire. */
    if (frame->port < tap->n_ports &&
        send(tap->sockets[frame->port], frame->octets, frame->length, 0) < 0)
        return;
}

/* The frame of a set-up or of the answer to it. */
static void send_words(const struct tap *tap, uint32_t stream, uint32_t number, const char *text)
{
    static const uint8_t everybody[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t octets[1500] = {0}, mac[6];
    struct octets_out out = octets_out(octets, sizeof octets);
    station_mac(0, mac);
    put_octets(&out, everybody, 6);
    put_octets(&out, mac, 6);
    put16(&out, STATION_ETHERTYPE);
    put32(&out, stream);
    put32(&out, number);
    put_octets(&out, text, strlen(text) + 1);
    const struct xoff_device_frame frame = {.octets = octets,
                                            .length = (uint32_t)(out.at < 60 ? 60 : out.at)};
    transmit(tap, &frame);
}

/* Whether the frame just received is one of these; its text is ended by a zero. */
static bool is_words(struct tap *tap, uint32_t length, uint32_t stream, uint32_t *number)
{
    struct octets_in in = octets_in(tap->octets, length);
    get_octets(&in, 12, "addresses");
    const bool is_ours = get16(&in, "type") == STATION_ETHERTYPE && get32(&in, "stream") == stream;
    *number = get32(&in, "number");
    tap->octets[length < MAX_FRAME ? length : MAX_FRAME - 1] = '\0';
    return is_ours && !in.cut_field;
}

static void note_lateness(struct tap *tap, xoff_time late)
{
    tap->late_for = late > tap->late_for ? late : tap->late_for;
}

/* The station's end */

static int reset(void *state, const struct xoff_device_setup *setup, struct xoff_err *err)
{
    struct tap *tap = state;
    char text[1024];
    uint16_t port;
    uint32_t number, length = 0;
    bool is_done = tap->by_hand;
    tap->n_setups++;
    tap->ops.uncertainty = xoff_quanta_time(UNSURE_QUANTA, setup->rate_bps);
    setup_format(setup, text, sizeof text);
    for (uint32_t i = 0; i < 10 && !is_done; i++) {
        send_words(tap, SETUP_STREAM, tap->n_setups, text);
        const xoff_time until = clock_now() + XOFF_S / 5;
        while (!is_done && (length = wait_frame(tap, until, &port)))
            is_done = is_words(tap, length, ANSWER_STREAM, &number) && number == tap->n_setups;
    }
    if (!is_done)
        return xoff_err_set(err, XOFF_E_IO, "set-up", NULL,
                            "is not answered; is a model served there, or is it --by-hand?");
    if (!tap->by_hand && length > SETUP_AT && tap->octets[SETUP_AT])
        return xoff_err_set(err, XOFF_E_CONFLICT, "set-up", NULL,
                            (const char *)tap->octets + SETUP_AT);
    while (wait_frame(tap, 0, &port)) /* what is left of the step before */
        continue;
    tap->began_at = clock_now();
    tap->late_for = 0;
    return 0;
}

/* The worse of both ends. Without an answer the other end is not ours, or is stuck. */
static xoff_time late_for(void *state)
{
    struct tap *tap = state;
    uint16_t port;
    uint32_t number, length;
    for (uint32_t i = 0; i < 10 && !tap->by_hand; i++) {
        send_words(tap, LATE_STREAM, tap->n_setups, "");
        const xoff_time until = clock_now() + XOFF_S / 5;
        while ((length = wait_frame(tap, until, &port))) {
            if (!is_words(tap, length, LATE_STREAM, &number) || length <= SETUP_AT)
                continue;
            note_lateness(tap, strtoll((const char *)tap->octets + SETUP_AT, NULL, 10));
            return tap->late_for;
        }
    }
    return tap->late_for;
}

static void give(void *state, const struct xoff_device_frame *frame)
{
    struct tap *tap = state;
    const xoff_time at = tap->began_at + frame->at;
    const struct timespec when = {.tv_sec = at / XOFF_S, .tv_nsec = at % XOFF_S / XOFF_NS};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
    note_lateness(tap, clock_now() - at);
    transmit(tap, frame);
}

static bool take(void *state, xoff_time until, struct xoff_device_frame *frame)
{
    struct tap *tap = state;
    uint16_t port = 0;
    const uint32_t length = wait_frame(tap, tap->began_at + until, &port);
    const xoff_time at = clock_now() - tap->began_at;
    note_lateness(tap, at - until);
    *frame = (struct xoff_device_frame){
        .at = at < until ? at : until, .port = port, .length = length, .octets = tap->octets};
    return length > 0;
}

static void destroy(void *state)
{
    struct tap *tap = state;
    close_all(tap);
    free(tap);
}

static struct tap *create(const char *spec, struct xoff_err *err)
{
    struct tap *tap = calloc(1, sizeof *tap);
    XOFF_ASSERT(tap);
    if (open_all(tap, spec, err)) {
        destroy(tap);
        return NULL;
    }
    tap->ops = (struct xoff_device_ops){.name = "tap",
                                        .summary = "a device behind interfaces of the machine",
                                        .reset = reset,
                                        .give = give,
                                        .take = take,
                                        .destroy = destroy,
                                        .late_for = late_for,
                                        .uncertainty = XOFF_MS, /* reset() knows better */
                                        .max_ports = tap->n_ports,
                                        .lacks_bad_fcs = true};
    tap->device = (struct xoff_device){.ops = &tap->ops, .state = tap};
    return tap;
}

struct xoff_device *tap_create(const char *spec, bool by_hand, struct xoff_err *err)
{
    struct tap *tap = create(spec, err);
    if (!tap)
        return NULL;
    tap->by_hand = by_hand;
    tap->n_setups = (uint32_t)(clock_now() / XOFF_NS); /* other than those of a station before */
    return &tap->device;
}

/* The device's end */

/* Answers a set-up or a question of the station's; false: the frame is for the model. */
static bool take_words(struct tap *tap, const struct xoff_device *model, uint32_t length)
{
    struct xoff_device_setup setup;
    struct xoff_err err = {0};
    char answer[768] = "";
    uint32_t number;
    if (is_words(tap, length, LATE_STREAM, &number)) {
        snprintf(answer, sizeof answer, "%lld", (long long)tap->late_for);
        send_words(tap, LATE_STREAM, number, answer);
        return true;
    }
    if (!is_words(tap, length, SETUP_STREAM, &number) || length <= SETUP_AT)
        return false;
    if (number != tap->n_setups || !number) { /* one that is repeated is only answered again */
        if (setup_parse((const char *)tap->octets + SETUP_AT, &setup, &err) ||
            model->ops->reset(model->state, &setup, &err))
            snprintf(answer, sizeof answer, "%s %s", err.subject, err.message);
        tap->n_setups = number;
        tap->began_at = clock_now();
        tap->late_for = 0;
    }
    send_words(tap, ANSWER_STREAM, number, answer);
    return true;
}

int tap_serve(const char *spec, const struct xoff_device *model, const volatile bool *stop,
              struct xoff_err *err)
{
    struct tap *tap = create(spec, err);
    if (!tap)
        return -(int)err->code;
    while (!*stop) {
        uint16_t port = 0;
        struct xoff_device_frame frame;
        const uint32_t length = wait_frame(tap, clock_now() + POLL_FOR, &port);
        if (length && take_words(tap, model, length))
            continue;
        if (!tap->began_at)
            continue;
        const xoff_time now = clock_now() - tap->began_at;
        while (model->ops->take(model->state, now, &frame)) {
            note_lateness(tap, now - frame.at);
            transmit(tap, &frame);
        }
        if (!length)
            continue;
        frame = (struct xoff_device_frame){
            .at = now, .port = port, .length = length, .octets = tap->octets};
        model->ops->give(model->state, &frame);
    }
    destroy(tap);
    return 0;
}
