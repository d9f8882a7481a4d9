/* A device behind a pair of files: one line for each call, in text. With pipes (mkfifo) this puts a
 * program in any language under the station, at exact times.
 *
 *   station                                  device
 *   reset KEY=VALUE ...                      ok, or: error TEXT
 *   give AT PORT OCTETS [bad-fcs]
 *   take UNTIL                               frame AT PORT OCTETS, or: none
 *
 * Times are picoseconds from the last reset, octets are hexadecimal.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conform/devices.h"
#include "conform/station.h"

#define MAX_FRAME 16384

struct files {
    struct xoff_device device;
    FILE *to, *from;
    char *line; /* the last one read */
    size_t line_size;
    uint8_t octets[MAX_FRAME];
    bool has_ended;
};

static int cannot(struct xoff_err *err, const char *name)
{
    return xoff_err_set(err, XOFF_E_IO, "device", name, strerror(errno));
}

/* Opens "FIRST,SECOND", the first to write, in that order. */
static int open_pair(const char *spec, bool writes_first, FILE *pair[2], struct xoff_err *err)
{
    char names[2][1024] = {"", ""};
    const char *comma = strchr(spec, ',');
    if (!comma || sscanf(spec, "%1023[^,],%1023[^,]", names[0], names[1]) != 2)
        return xoff_err_set(err, XOFF_E_SYNTAX, "device", spec, "two files: files:TO,FROM");
    for (uint32_t i = 0; i < 2; i++) {
        pair[i] = fopen(names[i], writes_first == !i ? "w" : "r");
        if (!pair[i]) {
            const int code = cannot(err, names[i]);
            if (i)
                fclose(pair[0]);
            return code;
        }
    }
    return 0;
}

static bool next_line(struct files *f)
{
    const ssize_t n = getline(&f->line, &f->line_size, f->from);
    if (n <= 0) {
        f->has_ended = true;
        return false;
    }
    if (f->line[n - 1] == '\n')
        f->line[n - 1] = '\0';
    return true;
}

static void put_frame(FILE *to, const char *word, const struct xoff_device_frame *frame)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * MAX_FRAME];
    uint32_t n = 0;
    for (uint32_t i = 0; i < frame->length && i < MAX_FRAME; i++) {
        text[n++] = digits[frame->octets[i] >> 4];
        text[n++] = digits[frame->octets[i] & 15];
    }
    fprintf(to, "%s %" PRId64 " %u %.*s%s\n", word, frame->at, frame->port, (int)n, text,
            frame->has_bad_fcs ? " bad-fcs" : "");
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads "AT PORT OCTETS [bad-fcs]". */
static bool get_frame(const char *text, uint8_t *octets, struct xoff_device_frame *frame)
{
    int n = 0;
    unsigned port;
    *frame = (struct xoff_device_frame){.octets = octets};
    if (sscanf(text, "%" SCNd64 " %u %n", &frame->at, &port, &n) != 2 || !n ||
        port >= XOFF_CONFORM_MAX_PORTS || frame->at < 0)
        return false;
    frame->port = (uint16_t)port;
    for (text += n; digit(text[0]) >= 0 && digit(text[1]) >= 0 && frame->length < MAX_FRAME;
         text += 2)
        octets[frame->length++] = (uint8_t)(digit(text[0]) << 4 | digit(text[1]));
    frame->has_bad_fcs = !strcmp(text, " bad-fcs");
    return frame->length && (!*text || frame->has_bad_fcs);
}

/* The station's end */

static int reset(void *state, const struct xoff_device_setup *setup, struct xoff_err *err)
{
    struct files *f = state;
    char text[1024];
    fprintf(f->to, "reset %s\n", setup_format(setup, text, sizeof text));
    fflush(f->to);
    if (!next_line(f))
        return xoff_err_set(err, XOFF_E_IO, "reset", NULL, "the device has ended");
    if (!strcmp(f->line, "ok"))
        return 0;
    return xoff_err_set(err, XOFF_E_CONFLICT, "reset", NULL,
                        !strncmp(f->line, "error ", 6) ? f->line + 6 : "the answer is not ok");
}

static void give(void *state, const struct xoff_device_frame *frame)
{
    struct files *f = state;
    put_frame(f->to, "give", frame);
}

static bool take(void *state, xoff_time until, struct xoff_device_frame *frame)
{
    struct files *f = state;
    if (f->has_ended)
        return false;
    fprintf(f->to, "take %" PRId64 "\n", until);
    fflush(f->to);
    return next_line(f) && !strncmp(f->line, "frame ", 6) &&
           get_frame(f->line + 6, f->octets, frame) && frame->at <= until;
}

static void destroy(void *state)
{
    struct files *f = state;
    fclose(f->to);
    fclose(f->from);
    free(f->line);
    free(f);
}

static const struct xoff_device_ops files_ops = {.name = "files",
                                                 .summary = "a program behind two files",
                                                 .reset = reset,
                                                 .give = give,
                                                 .take = take,
                                                 .destroy = destroy};

struct xoff_device *files_create(const char *spec, struct xoff_err *err)
{
    FILE *pair[2] = {NULL, NULL};
    if (open_pair(spec, true, pair, err))
        return NULL;
    struct files *f = calloc(1, sizeof *f);
    XOFF_ASSERT(f);
    f->to = pair[0];
    f->from = pair[1];
    f->device = (struct xoff_device){.ops = &files_ops, .state = f};
    return &f->device;
}

/* The device's end */

static int answer(struct files *f, const struct xoff_device *model, struct xoff_err *err)
{
    struct xoff_device_frame frame;
    struct xoff_device_setup setup;
    xoff_time until;
    if (!strncmp(f->line, "reset ", 6)) {
        if (setup_parse(f->line + 6, &setup, err) || model->ops->reset(model->state, &setup, err))
            fprintf(f->to, "error %s %s\n", err->subject, err->message);
        else
            fprintf(f->to, "ok\n");
    } else if (!strncmp(f->line, "give ", 5) && get_frame(f->line + 5, f->octets, &frame)) {
        model->ops->give(model->state, &frame);
    } else if (sscanf(f->line, "take %" SCNd64, &until) == 1) {
        if (model->ops->take(model->state, until, &frame))
            put_frame(f->to, "frame", &frame);
        else
            fprintf(f->to, "none\n");
    } else {
        return xoff_err_set(err, XOFF_E_SYNTAX, "line", f->line, "reset, give or take are known");
    }
    fflush(f->to);
    return 0;
}

int files_serve(const char *spec, const struct xoff_device *model, struct xoff_err *err)
{
    FILE *pair[2] = {NULL, NULL};
    int code = open_pair(spec, false, pair, err);
    if (code)
        return code;
    struct files *f = calloc(1, sizeof *f);
    XOFF_ASSERT(f);
    f->from = pair[0];
    f->to = pair[1];
    while (!code && next_line(f))
        code = answer(f, model, err);
    destroy(f);
    return code;
}
