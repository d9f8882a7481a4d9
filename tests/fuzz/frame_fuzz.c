/* libFuzzer target for the headers of a frame, from Ethernet to RoCE: every codec that
 * xoff_layers_decode() goes through. A header that is accepted is written as the same octets again,
 * the whole frame keeps its headers through encode and decode and gets right lengths and checksums,
 * and a frame that had these is written as it was. What is refused names a field.
 *
 * The first octet of an input says how the frame was captured; the frame follows.
 */
#include "target.h"
#include "wire/layers.h"

enum { MAX_FRAME = 4096 };
enum { HAS_TELEMETRY = 4, IS_SNAPPED = 8, IS_ORDERED_SET = 16 };

static void require_error(int code, const struct xoff_err *err)
{
    require(code == -(int)err->code);
    require(err->subject[0] != '\0' && err->message[0] != '\0');
}

static int has(const struct layers *layers, enum layer_kind kind)
{
    return layers->kinds >> kind & 1;
}

/* The codec of PAUSE and PFC writes whole frames, and pfc_frame_fuzz is about it. */
static void check_header(const struct layer *layer, const uint8_t *frame, struct crc32 *crc32)
{
    uint8_t buf[LAYERS_MORE_OCTETS];
    struct layers alone = {.n = 1, .layer = {*layer}};
    if (layer->kind == LAYER_PAUSE || layer->kind == LAYER_PFC)
        return;
    const uint32_t n = xoff_layers_encode(&alone, &(struct layers_out){0}, crc32, buf);
    require(n == layer->end - layer->at);
    require(memcmp(buf, frame + layer->at, n) == 0);
}

/* In ones' complement 0xffff is 0 as well; an encoder writes 0. */
static int has_other_zero(const struct layer *layer)
{
    return (layer->kind == LAYER_IPV4 && layer->ipv4.checksum == 0xffff) ||
           (layer->kind == LAYER_TCP && layer->tcp.checksum == 0xffff);
}

/* Whether all of the frame is in its headers and payload, as an encoder would write it. */
static int is_canonical(const struct layers *layers, uint32_t length)
{
    const uint32_t behind = has(layers, LAYER_ROCE) ? ROCE_ICRC_OCTETS : 0;
    for (uint32_t i = 0; i < layers->n; i++)
        if (has_other_zero(&layers->layer[i]))
            return 0;
    return layers->payload_end + behind == length && layers->ip_checksum != CHECK_BAD &&
           layers->l4_checksum != CHECK_BAD && layers->icrc != CHECK_BAD &&
           !has(layers, LAYER_PAUSE) && !has(layers, LAYER_PFC) && !has(layers, LAYER_CC_UPDATE);
}

static uint32_t encode(const struct layers *layers, const uint8_t *frame, struct crc32 *crc32,
                       uint8_t *buf)
{
    const struct layers_out out = {.payload = frame + layers->payload_at,
                                   .payload_octets = layers->payload_end - layers->payload_at};
    return xoff_layers_encode(layers, &out, crc32, buf);
}

static void check_frame(const struct layers_in *in, const struct layers *layers,
                        struct crc32 *crc32)
{
    static uint8_t first[MAX_FRAME + LAYERS_MORE_OCTETS], second[MAX_FRAME + LAYERS_MORE_OCTETS];
    const uint32_t n = encode(layers, in->octets, crc32, first);
    if (is_canonical(layers, in->captured))
        require(n == in->captured && memcmp(first, in->octets, n) == 0);
    struct layers again;
    struct xoff_err err = {0};
    const struct layers_in written = {.octets = first,
                                      .captured = n,
                                      .original = n,
                                      .has_telemetry = in->has_telemetry,
                                      .crc32 = crc32};
    require(xoff_layers_decode(&written, &again, &err) == 0 && !again.is_snapped);
    require(again.n == layers->n && again.kinds == layers->kinds);
    require(!has(&again, LAYER_IPV4) || again.ip_checksum == CHECK_GOOD);
    require(!has(&again, LAYER_TCP) || again.l4_checksum == CHECK_GOOD);
    require(!has(&again, LAYER_ROCE) || again.icrc == CHECK_GOOD);
    require(encode(&again, first, crc32, second) == n && memcmp(first, second, n) == 0);
}

/* Eight octets that stand in no frame. */
static void check_ordered_set(const uint8_t *data, size_t size)
{
    struct xoff_ctlos ctlos;
    struct xoff_err err = {0};
    uint8_t buf[8];
    const int code = xoff_ctlos_decode(data, size, &ctlos, &err);
    if (code < 0) {
        require_error(code, &err);
        return;
    }
    require(xoff_ctlos_encode(&ctlos, buf, sizeof buf) == sizeof buf);
    require(memcmp(buf, data, sizeof buf) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int8_t fcs_octets[] = {0, XOFF_ETH_FCS_OCTETS, LAYERS_FIND_FCS, 0};
    static struct crc32 crc32;
    if (!crc32.octet[0][1])
        xoff_crc32_init(&crc32);
    if (size < 1 || size > MAX_FRAME)
        return 0;
    const uint8_t options = *data++;
    size--;
    if (options & IS_ORDERED_SET) {
        check_ordered_set(data, size);
        return 0;
    }
    const struct layers_in in = {.octets = data,
                                 .captured = (uint32_t)size,
                                 .original = (uint32_t)size + (options & IS_SNAPPED ? 1000 : 0),
                                 .fcs_octets = fcs_octets[options & 3],
                                 .has_telemetry = options & HAS_TELEMETRY,
                                 .crc32 = &crc32};
    struct layers layers;
    struct xoff_err err = {0};
    const int code = xoff_layers_decode(&in, &layers, &err);
    if (code)
        require_error(code, &err);
    require(layers.n <= LAYERS_MAX && layers.payload_at <= layers.payload_end);
    require(layers.payload_end <= size);
    for (uint32_t i = 0; i < layers.n; i++) {
        const struct layer *l = &layers.layer[i];
        require(l->at == (i ? layers.layer[i - 1].end : 0) && l->at <= l->end && l->end <= size);
        require(*xoff_layer_name(l->kind) != '\0');
        check_header(l, data, &crc32);
    }
    if (!code && in.captured == in.original)
        check_frame(&in, &layers, &crc32);
    return 0;
}
