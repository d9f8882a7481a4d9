/* The page as tools/embed made it from web/: text with places left open. Only report/ includes
 * this. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>

#include "report/report.h"

/* No page is larger, however long the run. */
#define PAGE_MOST_BYTES 5000000

enum page_slot { SLOT_NONE, SLOT_PAGE, SLOT_TITLE, SLOT_DATA };

/* Text, then what belongs there. */
struct page_piece {
    const char *text;
    size_t size;
    enum page_slot slot;
};
extern const struct page_piece page_pieces[];
extern const size_t n_page_pieces;

/* Bytes of a page without its data. */
size_t page_size(const char *title);
/* Bytes of the JSON as it stands in the page. */
size_t page_data_size(const char *json);

#endif
