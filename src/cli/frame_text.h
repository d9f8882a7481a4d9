/* Decoded frames for people or as JSON. */
#ifndef CLI_FRAME_TEXT_H
#define CLI_FRAME_TEXT_H

#include "cli/values.h"
#include "wire/layers.h"

/* Prints the headers of a frame, each as a group, and what is behind them: of a malformed frame
 * nobody knows. */
void frame_print_layers(struct values *f, const struct layers *layers, const uint8_t *octets,
                        bool is_malformed);
void frame_print_ctlos(struct values *f, const struct xoff_ctlos *ctlos);
/* Prints an LLDP frame of `length` octets, FCS not included, behind its Ethernet header: as far as
 * it is well formed, and without a word on what is not. */
void frame_print_lldp(struct values *f, const uint8_t *frame, size_t length);
/* A refusal, as a group of its own. */
void frame_print_error(struct values *f, const struct xoff_err *err);

#endif
