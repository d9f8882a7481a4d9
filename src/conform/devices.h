/* Devices outside the process: behind a pair of files, or behind interfaces of the machine. Either
 * end can be ours: the station talks to a device, or a model serves as the device of a station
 * elsewhere. */
#ifndef CONFORM_DEVICES_H
#define CONFORM_DEVICES_H

#include <xoff/conform.h>

/* A set-up as words "key=value", in the order of the struct; `size` 1024 suffices. */
char *setup_format(const struct xoff_device_setup *setup, char *buf, size_t size);
/* Reads such words; keys that are missing stay 0. Returns 0 or a negative code. */
int setup_parse(const char *text, struct xoff_device_setup *setup, struct xoff_err *err);

/* A device behind "TO,FROM", two files or pipes with a line for each call (docs/conform.md). */
struct xoff_device *files_create(const char *spec, struct xoff_err *err);
/* Answers the lines of a station until it ends; spec is "FROM,TO". */
int files_serve(const char *spec, const struct xoff_device *model, struct xoff_err *err);

/* A device behind Ethernet interfaces "NAME,NAME...", port 0 first, in real time. `by_hand`: it
 * has been configured, and gets no set-ups. */
struct xoff_device *tap_create(const char *spec, bool by_hand, struct xoff_err *err);
/* Serves until `*stop`. */
int tap_serve(const char *spec, const struct xoff_device *model, const volatile bool *stop,
              struct xoff_err *err);

#endif
