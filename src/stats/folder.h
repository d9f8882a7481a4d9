/* A folder of results: one command at a time writes to it, and its files appear together.
 *
 * Files are written to a folder aside, inside the one they are for, and take their places in
 * folder_publish(). A folder that holds nothing but files of `names` is exchanged for the new one
 * in one step: after a kill, a full disk or a loss of power it has all old files or all new ones. A
 * folder that holds anything else, is the current one, a mount point, or lies in a folder that
 * cannot be written, stays where it is, and complete files are moved into it one by one; a kill
 * between two moves leaves the rest in .xoff-moving-in, and the next command that opens the folder
 * moves it. Files that do not match `names` are never touched.
 *
 * The lock is that of the kernel on .xoff-lock in the folder: it ends with the process, so that the
 * file a killed one leaves is no obstacle. Where the file system knows no locks, there is none.
 */
#ifndef STATS_FOLDER_H
#define STATS_FOLDER_H

#include <stdbool.h>

#include <xoff/err.h>

#define FOLDER_ASIDE ".xoff-" /* prefix of all names that this module makes */

struct folder;

/* Makes `dir`, and the folders above it, if missing, locks it, and repairs what a killed command
 * left. `names` are patterns as in fnmatch(3), up to a NULL, of the files that such a command
 * makes: those that it does not make anew are removed when it publishes. -XOFF_E_CONFLICT: another
 * process has the lock, err says which; -XOFF_E_IO: any other reason. */
int folder_open(const char *dir, const char *const *names, struct folder **out,
                struct xoff_err *err);
/* The folder to write to; no folders may be made inside it. */
const char *folder_aside(const struct folder *folder);
/* Puts all files in their places, on the disk. On failure nothing has changed, unless err names a
 * file that could not be moved. */
int folder_publish(struct folder *folder, struct xoff_err *err);
bool folder_is_published(const struct folder *folder);
/* Unlocks the folder. Without folder_publish(), everything that was written or made is removed.
 * NULL is legal. */
void folder_close(struct folder *folder);
/* Removes what this process has aside in all open folders, before it ends for want of memory; they
 * may be in any state, and are not to be used again. */
void folder_abandon(void);
/* Replaces names of files aside in the texts of `err` by the names of their final places. */
void folder_explain(const struct folder *folder, struct xoff_err *err);

#endif
