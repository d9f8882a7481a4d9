/* xoff conform --pcap, and how results of tests are shown. */
#ifndef CLI_CONFORM_CAPTURE_H
#define CLI_CONFORM_CAPTURE_H

#include <jansson.h>

#include <xoff/conform.h>

/* Prints the line of a test, and below it what was seen unless it passed and nobody asked. */
void cli_print_conform(const struct xoff_conform_result *result, bool is_verbose);
json_t *cli_conform_json(const struct xoff_conform_result *result);

/* Checks a capture. Returns an exit status. */
int cli_conform_capture(const char *path, xoff_rate rate_bps, bool json, bool is_verbose);

#endif
