/* Shared by claims.c, figures.c, paper.c and readings.c, which read claims.yaml. No other file
 * includes this. */
#ifndef REPRODUCE_CLAIMS_PARTS_H
#define REPRODUCE_CLAIMS_PARTS_H

#include "reproduce/claims.h"
#include "scenario/fields.h"

/* State of the reader. */
struct claims_reader {
    struct fields_reader fields;
    struct paper *paper;
};

/* Fails unless all keys of the mapping are among `keys`. */
int claims_check_keys(struct claims_reader *r, const struct yaml_node *node,
                      const char *const *keys);
int claims_fail_missing(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                        const char *message);
/* Reads the text of a key. An absent key gives NULL if `what` is NULL; otherwise it is an error
 * that says `what` to give. */
int claims_take_text(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     const char *what, const char **out);
/* Accepts a plain signed decimal number, without unit or percent sign. */
bool claims_is_number(const char *text, double *out);
int claims_take_number(struct claims_reader *r, const struct yaml_node *node, double *out);
/* Checks an id, which is part of a selection PAPER/ID and of a page's address. */
int claims_check_id(struct claims_reader *r, const struct yaml_node *mapping, const char *id);
int claims_take_expression(struct claims_reader *r, const struct yaml_node *mapping,
                           const char *key, const char *what, bool is_comparison,
                           struct expression *out);
/* Reads scenario:, quick: and seeds:. */
int claims_read_experiment(struct claims_reader *r, const struct yaml_node *mapping,
                           bool is_required, struct experiment *e);
/* These read verdict: with why:, and average:. A why that is there stays where none is given and
 * the verdict is the same, and so does average. */
int claims_read_verdict(struct claims_reader *r, const struct yaml_node *mapping,
                        struct claim *claim);
int claims_read_average(struct claims_reader *r, const struct yaml_node *mapping,
                        struct claim *claim);
/* Checks that everything is given that judging the claim needs. `mapping` has the claim's published
 * number; errors are placed at `at`. */
int claims_check_testable(struct claims_reader *r, const struct yaml_node *mapping,
                          const struct yaml_node *at, const struct claim *claim);
/* Reads one of a few words. Where the key is absent, *out stays as it is. */
int claims_take_word(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     const char *const *words, uint32_t n, uint32_t *out);
/* Finds a list in `mapping`; NULL where it is absent and not required. */
int claims_open_list(struct claims_reader *r, const struct yaml_node *mapping, const char *key,
                     bool is_required, const struct yaml_node **list);

int claims_read_figure(struct claims_reader *r, const struct yaml_node *node,
                       struct figure *figure);

/* Reads what is said of the paper as a whole. */
int claims_read_paper(struct claims_reader *r, const struct yaml_node *root);
/* Reads the readings that a paper declares; the plain one is there in any case. */
int claims_declare_readings(struct claims_reader *r, const struct yaml_node *root);
/* Reads kind, strength, chapter and quote, after the published number. */
int claims_read_worth(struct claims_reader *r, const struct yaml_node *node, struct claim *claim);
/* Reads the claim under other readings, after everything else of the claim. */
int claims_read_readings(struct claims_reader *r, const struct yaml_node *node,
                         struct claim *claim);
void claims_free_readings(struct claim *claim);

#endif
