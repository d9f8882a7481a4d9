/* The page as tools/embed made it from web/: text with gaps to fill. Only report/ includes this. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>

#include "report/report.h"

/* Upper bound on the size of a page, however long the run. */
#define PAGE_MOST_BYTES 5000000

enum page_slot { SLOT_NONE, SLOT_PAGE, SLOT_TITLE, SLOT_DATA };

/* A piece of text, and what to write after it. */
struct page_piece {
    const char *text;
    size_t size;
    enum page_slot slot;
};
extern const struct page_piece page_pieces[];
extern const size_t n_page_pieces;

/* Returns the bytes of a page without its data. */
size_t page_size(const char *title);
/* Returns the bytes of the JSON as escaped in the page. */
size_t page_data_size(const char *json);

#endif
