/* Set-ups as words: "kind=bridge ports=3 rate=10000000000 pfc=8 ...". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/devices.h"

enum { SETUP_MAX_VALUES = XOFF_CONFORM_MAX_PORTS };

/* A field of the struct: `n` numbers of `size` bytes each, separated by commas. */
static const struct {
    const char *key;
    size_t offset, size, n;
} fields[] = {
#define ONE(key, field)                                       \
    {                                                         \
        key, offsetof(struct xoff_device_setup, field),       \
            sizeof(((struct xoff_device_setup *)0)->field), 1 \
    }
#define MANY(key, field)                                          \
    {                                                             \
        key, offsetof(struct xoff_device_setup, field),           \
            sizeof(((struct xoff_device_setup *)0)->field[0]),    \
            sizeof(((struct xoff_device_setup *)0)->field) /      \
                sizeof(((struct xoff_device_setup *)0)->field[0]) \
    }
    ONE("kind", kind),
    ONE("ports", n_ports),
    ONE("rate", rate_bps),
    ONE("delay", delay),
    ONE("max_frame", max_frame_bytes),
    ONE("pfc", pfc),
    ONE("strict", strict),
    MANY("percent", percent),
    ONE("cn", cn),
    MANY("defence", defence),
    ONE("cn_alternate", cn_alternate),
    ONE("cn_min_header", cn_min_header),
    ONE("dcbx", has_dcbx),
    ONE("pfc_willing", pfc_willing),
    ONE("ets_willing", ets_willing),
    ONE("fcoe", fcoe_priority),
    MANY("mac", dcbx_mac),
    ONE("sources", sources),
    ONE("source_bytes", source_bytes),
    MANY("station_mac", station_mac),
};
#define N_FIELDS (sizeof fields / sizeof fields[0])

static long long read_value(const void *from, size_t size)
{
    int8_t one;
    uint16_t two;
    uint32_t four;
    int64_t eight;
    switch (size) {
    case 1:
        memcpy(&one, from, 1);
        return one < 0 && one != -1 ? (uint8_t)one : one;
    case 2:
        memcpy(&two, from, 2);
        return two;
    case 4:
        memcpy(&four, from, 4);
        return four;
    default:
        memcpy(&eight, from, 8);
        return eight;
    }
}

static void write_value(void *to, size_t size, long long value)
{
    const int8_t one = (int8_t)value;
    const uint16_t two = (uint16_t)value;
    const uint32_t four = (uint32_t)value;
    const int64_t eight = value;
    memcpy(to,
           size == 1   ? (const void *)&one
           : size == 2 ? (const void *)&two
           : size == 4 ? (const void *)&four
                       : (const void *)&eight,
           size);
}

char *setup_format(const struct xoff_device_setup *setup, char *buf, size_t size)
{
    size_t at = 0;
    for (uint32_t i = 0; i < N_FIELDS; i++)
        for (size_t k = 0; k < fields[i].n && at < size; k++) {
            const char *place = (const char *)setup + fields[i].offset + k * fields[i].size;
            const long long value = read_value(place, fields[i].size);
            at += (size_t)snprintf(buf + at, size - at, "%s%s%s%lld", i && !k ? " " : "",
                                   k ? "," : fields[i].key, k ? "" : "=", value);
        }
    return buf;
}

static int refuse(struct xoff_err *err, const char *word, const char *message)
{
    return xoff_err_set(err, XOFF_E_SYNTAX, "set-up", word, message);
}

static int parse_word(const char *word, struct xoff_device_setup *setup, struct xoff_err *err)
{
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    for (uint32_t i = 0; i < N_FIELDS && equals; i++) {
        if (strlen(fields[i].key) != length || strncmp(fields[i].key, word, length))
            continue;
        const char *at = equals;
        for (size_t k = 0; k < fields[i].n; k++) {
            char *end;
            const long long value = strtoll(at + 1, &end, 10);
            if (end == at + 1 || (*end && *end != ','))
                return refuse(err, word, "is not a list of numbers");
            write_value((char *)setup + fields[i].offset + k * fields[i].size, fields[i].size,
                        value);
            at = end;
            if (!*at && k + 1 < fields[i].n)
                return refuse(err, word, "has too few numbers");
        }
        return *at ? refuse(err, word, "has too many numbers") : 0;
    }
    return refuse(err, word, "is no key=value that is known");
}

int setup_parse(const char *text, struct xoff_device_setup *setup, struct xoff_err *err)
{
    char word[128];
    int n = 0, code = 0;
    *setup = (struct xoff_device_setup){0};
    for (; !code && sscanf(text, " %127s%n", word, &n) == 1; text += n)
        code = parse_word(word, setup, err);
    if (!code && (setup->n_ports < 1 || setup->n_ports > XOFF_CONFORM_MAX_PORTS ||
                  setup->rate_bps < 1 || setup->max_frame_bytes < XOFF_MIN_FRAME_BYTES ||
                  setup->max_frame_bytes > 16000 || setup->cn_alternate > 7))
        return refuse(err, NULL, "ports, rate, max_frame or cn_alternate is out of range");
    return code;
}
