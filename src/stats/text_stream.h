/* The end of a text that is written to a stream in memory. */
#ifndef STATS_TEXT_STREAM_H
#define STATS_TEXT_STREAM_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include <xoff/err.h>

/* Closes a stream of open_memstream(&text, ...) and asserts that all of the text is there: such a
 * stream fails for want of memory only. Without memory to cut the text to its size the C library
 * leaves NULL and does not say so. */
static inline void text_stream_close(FILE *out, char *const *text)
{
    const bool is_short = ferror(out) != 0;
    const bool is_whole = fclose(out) == 0 && !is_short && *text;
    errno = is_whole ? errno : ENOMEM;
    XOFF_ASSERT(is_whole);
}

#endif
