/* A single file that appears complete or not at all.
 *
 * The content goes to a new file in the same folder, without a name where the file system has such
 * files, which is flushed to the disk. Then it gets its name; where that is taken, it is first
 * named .xoff-XXXXXX and then renamed. That name is nobody else's, so that no link is followed and
 * no other process disturbed. A file that a process killed between these two steps leaves is
 * removed when the next file is written in that folder. On file systems where all files have names,
 * one that a killed process leaves in a folder of results is removed by the next command there.
 */
#ifndef STATS_WHOLE_H
#define STATS_WHOLE_H

#include <stdio.h>

/* Writes the content; errors of the stream are found by the caller. */
typedef void whole_writer(FILE *out, const void *context);
/* Returns 0 or the reason (errno). A link at `path` is followed to what it names; what is no
 * regular file, such as a pipe, is written to directly. */
int whole_write(const char *path, whole_writer *write, const void *context);

#endif
