/* A file that appears whole: the content, what stays when it cannot be written, links, pipes. */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "stats/whole.h"

static char folder[] = "/tmp/xoff-whole-XXXXXX";

static const char *path(const char *name)
{
    static char paths[4][128];
    static uint32_t next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", folder, name);
    return p;
}

static void put(FILE *out, const void *text)
{
    fputs(text, out);
}

static const char *contents(const char *name)
{
    static char text[64];
    FILE *in = fopen(path(name), "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    fclose(in);
    return text;
}

/* Nothing is left beside the file. */
static void check_no_rest(void)
{
    glob_t found;
    assert_int_equal(glob(path(".xoff-*"), 0, NULL, &found), GLOB_NOMATCH);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void writes(void **state)
{
    (void)state;
    struct stat status;
    const mode_t mask = umask(027);
    assert_int_equal(whole_write(path("a"), put, "one"), 0);
    umask(mask);
    assert_string_equal(contents("a"), "one");
    assert_int_equal(stat(path("a"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(whole_write(path("a"), put, "two"), 0);
    assert_string_equal(contents("a"), "two");
    assert_int_equal(whole_write(path("no/a"), put, "x"), ENOENT);
    assert_int_equal(whole_write(folder, put, "x"), EISDIR);
    assert_int_equal(whole_write("/dev/full", put, "x"), ENOSPC);
    check_no_rest();
}

/* The earlier file stays when the new one cannot be completed: by one byte, and by none. */
static void keeps(void **state)
{
    (void)state;
    assert_int_equal(whole_write(path("k"), put, "old"), 0);
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    limit = before;
    limit.rlim_cur = 4;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_equal(whole_write(path("k"), put, "newer"), EFBIG);
    assert_string_equal(contents("k"), "old");
    assert_int_equal(whole_write(path("k"), put, "next"), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_string_equal(contents("k"), "next");
    check_no_rest();
}

static void links_and_pipes(void **state)
{
    (void)state;
    struct stat status;
    assert_int_equal(whole_write(path("target"), put, "old"), 0);
    assert_int_equal(symlink("target", path("link")), 0);
    assert_int_equal(whole_write(path("link"), put, "new"), 0);
    assert_int_equal(lstat(path("link"), &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_string_equal(contents("target"), "new");

    assert_int_equal(mkfifo(path("pipe"), 0600), 0);
    const int reader = open(path("pipe"), O_RDONLY | O_NONBLOCK);
    char text[8] = "";
    assert_true(reader >= 0);
    assert_int_equal(whole_write(path("pipe"), put, "piped"), 0);
    assert_int_equal(read(reader, text, sizeof text), 5);
    assert_string_equal(text, "piped");
    close(reader);
    assert_int_equal(lstat(path("pipe"), &status), 0);
    assert_true(S_ISFIFO(status.st_mode));
    check_no_rest();
}

/* What a killed process has named is removed with the next file; a living one has a lock on its
 * own. */
static void stale(void **state)
{
    (void)state;
    assert_int_equal(whole_write(path("s"), put, "old"), 0);
    const int killed = open(path(".xoff-killed"), O_CREAT | O_WRONLY, 0600);
    const int living = open(path(".xoff-living"), O_CREAT | O_WRONLY, 0600);
    assert_true(killed >= 0 && living >= 0);
    assert_int_equal(flock(living, LOCK_EX), 0);
    assert_int_equal(whole_write(path("s"), put, "new"), 0);
    assert_string_equal(contents("s"), "new");
    assert_int_equal(access(path(".xoff-killed"), F_OK), -1);
    assert_int_equal(access(path(".xoff-living"), F_OK), 0);
    close(killed);
    close(living);
    assert_int_equal(whole_write(path("s"), put, "newer"), 0);
    check_no_rest();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes),
        cmocka_unit_test(keeps),
        cmocka_unit_test(links_and_pipes),
        cmocka_unit_test(stale),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
