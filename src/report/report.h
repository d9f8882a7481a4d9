/* Pages that people open: one HTML file each, with everything inside, that needs no network.
 *
 * The page is markup, style and script made at build time from web/ (Apache ECharts and our own),
 * and a JSON document that the script draws. The data of a run's page are read from run.sqlite, so
 * the page can be made at any time.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include <stdint.h>

#include <xoff/err.h>

enum report_page { REPORT_RUN, REPORT_REPRODUCE, REPORT_SWEEP };

/* Writes the page with that JSON in it to a temporary file, which is then renamed. */
int report_write_page(const char *path, enum report_page page, const char *title, const char *json,
                      struct xoff_err *err);

/* Writes the page of one or more results (folders, or run.sqlite files) to `path`, all their
 * variants side by side. Broken results and those of another version are reported as errors; an
 * interrupted run is shown and marked. */
int report_create(const char *const *results, uint32_t n_results, const char *path,
                  struct xoff_err *err);

#endif
