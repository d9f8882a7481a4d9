/* A NIC that obeys PFC: octets of a frame come in, a gate says which priorities may send, and when
 * that changes next.
 *
 *   cc nic.c $(pkg-config --cflags --libs xoff) -o nic && ./nic
 */
#include <stdio.h>
#include <stdlib.h>

#include <xoff/xoff.h>

enum { STORAGE = 3, LAN = 0 };

void xoff_assert_fail(const char *expression, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expression);
    abort();
}

static void say(const struct xoff_gate *gate, xoff_time now)
{
    printf("%9.3f us: storage %s, LAN %s\n", (double)now / XOFF_US,
           gate->open >> STORAGE & 1 ? "may send" : "waits",
           gate->open >> LAN & 1 ? "may send" : "waits");
}

/* Takes the octets of a received frame, without FCS. Frames that are no valid PFC pause nobody. */
static void receive(const struct xoff_gate_cfg *cfg, struct xoff_gate *gate, const uint8_t *octets,
                    size_t length, xoff_time now)
{
    struct xoff_pause_frame frame;
    struct xoff_err err;
    if (xoff_pause_frame_decode(octets, length, &frame, &err))
        printf("%9.3f us: ignored: %s: %s\n", (double)now / XOFF_US, err.subject, err.message);
    else
        xoff_gate_on_frame(cfg, gate, &frame, now);
}

int main(void)
{
    static const uint8_t mac[6] = {0x02, 0, 0, 0, 0, 1};
    struct xoff_gate_cfg cfg;
    struct xoff_gate gate;
    struct xoff_pause_frame pause;
    uint8_t octets[60];
    cfg.wire = XOFF_WIRE_PFC;
    cfg.obeys = 1 << STORAGE;
    cfg.rate_bps = 100 * XOFF_GBPS;
    cfg.response_for = xoff_quanta_time(xoff_response_quanta(cfg.rate_bps), cfg.rate_bps);
    xoff_gate_init(&gate);
    say(&gate, 0);

    /* The switch stops storage, and the LAN, too, which has no PFC here. */
    memset(&pause, 0, sizeof pause);
    pause.opcode = XOFF_OPCODE_PFC;
    pause.classes = 1 << STORAGE | 1 << LAN;
    pause.quanta[STORAGE] = pause.quanta[LAN] = 1000; /* of 512 bit times each */
    xoff_pause_frame_encode(&pause, mac, octets);
    receive(&cfg, &gate, octets, sizeof octets, XOFF_US);
    octets[12] = 0; /* no longer MAC control */
    receive(&cfg, &gate, octets, sizeof octets, 2 * XOFF_US);

    /* The caller keeps one timer, for gate.next_at, and asks again after every call. */
    while (gate.next_at != XOFF_NEVER) {
        const xoff_time now = gate.next_at;
        if (xoff_gate_expire(&cfg, &gate, now))
            say(&gate, now);
    }
    return 0;
}
