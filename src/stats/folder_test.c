/* Folders of results: one writer at a time, all files or none, and nothing lost that is not ours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stats/folder.h"

_Noreturn void xoff_assert_fail(const char *expression, const char *file, int line)
{
    mock_assert(0, expression, file, line);
    abort();
}

/* The calls that change a folder, counted. The one numbered kill_at ends the process before it is
 * made, that numbered fail_at fails. */
static uint32_t n_steps, kill_at, fail_at;

static bool step_fails(void)
{
    n_steps++;
    if (n_steps == kill_at)
        raise(SIGKILL);
    errno = EIO;
    return n_steps == fail_at;
}

int rename(const char *from, const char *to)
{
    return step_fails() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int how)
{
    return step_fails() ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, how);
}

int unlink(const char *name)
{
    return step_fails() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, name, 0);
}

int rmdir(const char *name)
{
    return step_fails() ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, name, AT_REMOVEDIR);
}

int fsync(int fd)
{
    return step_fails() ? -1 : (int)syscall(SYS_fsync, fd);
}

static const char *const names[] = {"a", "b", "d", "many-*", NULL};
static char base[64];

static const char *path(const char *name)
{
    static char text[8][512];
    static unsigned next;
    char *buf = text[next++ % 8];
    snprintf(buf, sizeof text[0], "%s/%s", base, name);
    return buf;
}

static int make_base(void **state)
{
    (void)state;
    strcpy(base, "/tmp/xoff-folder-XXXXXX");
    return mkdtemp(base) ? 0 : -1;
}

static int remove_base(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "chmod -R u+w '%s' && rm -rf '%s'", base, base);
    return system(command);
}

static void put(const char *file, const char *text)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

/* "a=1 b=2": names in order with the first word in them; folders as "c/". */
static const char *contents(const char *dir)
{
    static char text[4][1024];
    static unsigned next;
    char *buf = text[next++ % 4];
    struct dirent **found;
    const int n = scandir(dir, &found, NULL, alphasort);
    assert_true(n >= 2);
    buf[0] = '\0';
    for (int i = 0; i < n; i++) {
        char file[1024], word[64] = "";
        snprintf(file, sizeof file, "%s/%s", dir, found[i]->d_name);
        struct stat st;
        if (strcmp(found[i]->d_name, ".") && strcmp(found[i]->d_name, "..")) {
            FILE *in = fopen(file, "r");
            const bool is_folder = lstat(file, &st) == 0 && S_ISDIR(st.st_mode);
            if (in && !is_folder && fscanf(in, "%63s", word) != 1)
                word[0] = '\0';
            if (in)
                fclose(in);
            snprintf(buf + strlen(buf), 1024 - strlen(buf), "%s%s%s%s", *buf ? " " : "",
                     found[i]->d_name, is_folder ? "/" : "=", word);
        }
        free(found[i]);
    }
    free(found);
    return buf;
}

static struct folder *open_fine(const char *dir)
{
    struct folder *f;
    struct xoff_err err = {0};
    if (folder_open(dir, names, &f, &err))
        fail_msg("%s: %s", dir, err.message);
    return f;
}

static void put_aside(const struct folder *f, const char *name, const char *text)
{
    char file[600];
    snprintf(file, sizeof file, "%s/%s", folder_aside(f), name);
    put(file, text);
}

/* Publishes files called by the letters of `files`, each with `text` in it. */
static int publish(const char *dir, const char *files, const char *text, struct xoff_err *err)
{
    struct folder *f = open_fine(dir);
    for (; *files; files++)
        put_aside(f, (char[]){*files, 0}, text);
    const int status = folder_publish(f, err);
    assert_int_equal(folder_is_published(f), !status);
    folder_close(f);
    return status;
}

static void publish_fine(const char *dir, const char *files, const char *text)
{
    struct xoff_err err = {0};
    if (publish(dir, files, text, &err))
        fail_msg("%s: %s", dir, err.message);
}

static ino_t inode(const char *name)
{
    struct stat st;
    assert_int_equal(stat(name, &st), 0);
    return st.st_ino;
}

static void files_appear_together(void **state)
{
    (void)state;
    struct folder *f = open_fine(path("x/y//"));
    put_aside(f, "a", "1");
    assert_null(strstr(contents(path("x/y")), " a="));
    folder_close(f); /* without publishing: nothing, nor what was made on the way */
    assert_int_equal(access(path("x"), F_OK), -1);

    publish_fine(path("x/y"), "ab", "1");
    assert_string_equal(contents(path("x/y")), "a=1 b=1");
    const ino_t was = inode(path("x/y"));
    publish_fine(path("x/y"), "a", "2"); /* b has no successor */
    assert_string_equal(contents(path("x/y")), "a=2");
    assert_true(inode(path("x/y")) != was); /* exchanged as a whole */
    publish_fine(path("x/y"), "ac", "3");   /* c is in no pattern, but made here */
    publish_fine(path("x/y"), "ac", "4");
    assert_string_equal(contents(path("x/y")), "a=4 c=4");
    assert_string_equal(contents(path("x")), "y/"); /* nothing is left beside it */

    f = open_fine(path("x/y"));
    put_aside(f, "a", "5");
    folder_close(f);
    assert_string_equal(contents(path("x/y")), "a=4 c=4");
    folder_close(NULL);
}

/* The folder that is exchanged may be read and written by those who could before. */
static void mode_stays(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(mkdir(path("mode"), 0700), 0);
    assert_int_equal(chmod(path("mode"), 0750), 0);
    publish_fine(path("mode"), "a", "1");
    assert_int_equal(stat(path("mode"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
}

static void what_is_not_ours_stays(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path("mine"), 0777), 0);
    put(path("mine/notes"), "n");
    put(path("mine/b"), "0"); /* of an earlier command */
    assert_int_equal(mkdir(path("mine/many-folders"), 0777), 0);
    put(path("mine/many-folders/deep"), "d");
    const ino_t was = inode(path("mine"));
    publish_fine(path("mine"), "a", "1");
    assert_string_equal(contents(path("mine")), "a=1 many-folders/ notes=n");
    assert_string_equal(contents(path("mine/many-folders")), "deep=d");
    assert_true(inode(path("mine")) == was); /* the folder is the user's, and stays where it is */

    /* A folder in the place of a file: the others do not take theirs either. */
    struct xoff_err err = {0};
    assert_int_equal(mkdir(path("mine/b"), 0777), 0);
    assert_int_equal(publish(path("mine"), "ab", "2", &err), -XOFF_E_IO);
    assert_non_null(strstr(err.message, path("mine/b")));
    assert_non_null(strstr(err.message, strerror(EISDIR)));
    assert_string_equal(contents(path("mine")), "a=1 b/ many-folders/ notes=n");

    /* A link to a folder is followed, and stays a link. */
    assert_int_equal(symlink(path("real"), path("link")), 0);
    assert_int_equal(mkdir(path("real"), 0777), 0);
    publish_fine(path("link"), "a", "1");
    publish_fine(path("link"), "a", "2");
    assert_string_equal(contents(path("real")), "a=2");
    struct stat st;
    assert_int_equal(lstat(path("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

/* Where the folder cannot be exchanged its files are, one by one. */
static void folders_that_stay(void **state)
{
    (void)state;
    char here[512];
    assert_non_null(getcwd(here, sizeof here));
    publish_fine(path("current/below"), "a", "1");
    publish_fine(path("current"), "ab", "1");
    assert_int_equal(chdir(path("current/below")), 0);
    const ino_t was = inode(".");
    publish_fine(".", "b", "2");
    assert_string_equal(contents("."), "b=2");
    publish_fine("..", "b", "3");
    assert_string_equal(contents(path("current")), "b=3 below/");
    assert_true(inode(".") == was && inode(path("current/below")) == was);
    assert_int_equal(chdir(here), 0);

    /* A parent that cannot be written; root may write to any. */
    if (geteuid() == 0)
        return;
    publish_fine(path("closed/in"), "ab", "1");
    assert_int_equal(chmod(path("closed"), 0555), 0);
    publish_fine(path("closed/in"), "a", "2");
    assert_string_equal(contents(path("closed/in")), "a=2");
    struct folder *f;
    struct xoff_err err = {0};
    assert_int_equal(folder_open(path("closed/new"), names, &f, &err), -XOFF_E_IO);
    assert_non_null(strstr(err.message, strerror(EACCES)));
}

/* The message says since when, to the second; the lock is at most a few seconds old. */
static void check_since(const char *message)
{
    struct tm local = {.tm_isdst = -1};
    const char *since = strstr(message, ", since ");
    assert_non_null(since);
    assert_int_equal(sscanf(since, ", since %d-%d-%d %d:%d:%d", &local.tm_year, &local.tm_mon,
                            &local.tm_mday, &local.tm_hour, &local.tm_min, &local.tm_sec),
                     6);
    local.tm_year -= 1900;
    local.tm_mon--;
    const double age_s = difftime(time(NULL), mktime(&local));
    assert_true(age_s >= 0 && age_s < 300);
    assert_non_null(strstr(since, ", is writing results there"));
}

static void one_at_a_time(void **state)
{
    (void)state;
    struct folder *f = open_fine(path("busy")), *other = f;
    struct xoff_err err = {0};
    char owner[64];
    snprintf(owner, sizeof owner, "process %ld on ", (long)getpid());
    put_aside(f, "a", "1");
    for (int published = 0; published < 2; published++) {
        assert_int_equal(folder_open(path("busy"), names, &other, &err), -XOFF_E_CONFLICT);
        assert_null(other);
        assert_non_null(strstr(err.message, owner));
        check_since(err.message);
        assert_string_equal(err.value, path("busy"));
        if (!published)
            assert_int_equal(folder_publish(f, &err), 0);
    }
    folder_close(f);
    assert_string_equal(contents(path("busy")), "a=1");
    publish_fine(path("busy"), "a", "2");

    /* What a dead process left locks nothing; a lock without a name in it does. */
    put(path("busy/.xoff-lock"), "process 1 on earth\n");
    publish_fine(path("busy"), "a", "3");
    assert_string_equal(contents(path("busy")), "a=3");
    put(path("busy/.xoff-lock"), "");
    FILE *held = fopen(path("busy/.xoff-lock"), "r");
    assert_non_null(held);
    assert_int_equal(flock(fileno(held), LOCK_EX), 0);
    assert_int_equal(folder_open(path("busy"), names, &other, &err), -XOFF_E_CONFLICT);
    assert_non_null(strstr(err.message, "another process"));
    fclose(held);
    publish_fine(path("busy"), "a", "4");
}

/* The worker of a command that was killed has its lock for a moment longer. */
static void a_lock_without_its_process(void **state)
{
    (void)state;
    char owner[128], host[64] = "";
    gethostname(host, sizeof host - 1);
    const pid_t gone = fork();
    assert_true(gone >= 0);
    if (!gone)
        _exit(0);
    assert_int_equal(waitpid(gone, NULL, 0), gone);
    publish_fine(path("orphan"), "a", "1");
    snprintf(owner, sizeof owner, "process %ld on %s, since now,\n", (long)gone, host);
    put(path("orphan/.xoff-lock"), owner);
    const int fd = open(path("orphan/.xoff-lock"), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    const pid_t worker = fork();
    assert_true(worker >= 0);
    if (!worker) {
        usleep(100000);
        _exit(0);
    }
    close(fd);
    publish_fine(path("orphan"), "a", "2");
    assert_string_equal(contents(path("orphan")), "a=2");
    assert_int_equal(waitpid(worker, NULL, 0), worker);
}

/* States that a kill can leave, each as folder.c has them. */
static void what_killed_commands_left(void **state)
{
    (void)state;
    publish_fine(path("k/x"), "ab", "old");
    /* Writing aside. */
    assert_int_equal(mkdir(path("k/x/.xoff-abcdef"), 0777), 0);
    put(path("k/x/.xoff-abcdef/a"), "new");
    put(path("k/x/.xoff-ghijkl"), "half a page"); /* of whole.c */
    put(path("k/x/.xoff-lock"), "process 1 on earth\n");
    /* Before the exchange, or after it: then a and b here are the old ones. */
    assert_int_equal(mkdir(path("k/.x.xoff-123456"), 0777), 0);
    put(path("k/.x.xoff-123456/a"), "other");
    put(path("k/.x.xoff-123456/.xoff-lock"), "process 1 on earth\n");
    assert_int_equal(mkdir(path("k/.x.xoff-654321"), 0777), 0);
    put(path("k/.x.xoff-654321/notes"), "theirs");
    assert_int_equal(mkdir(path("k/.z.xoff-123456"), 0777), 0); /* another folder's */
    folder_close(open_fine(path("k/x")));
    assert_string_equal(contents(path("k/x")), "a=old b=old");
    assert_string_equal(contents(path("k")), ".x.xoff-654321/ .z.xoff-123456/ x/");
    assert_string_equal(contents(path("k/.x.xoff-654321")), "notes=theirs");

    /* All files complete, none moved: b is not of the new ones. */
    publish_fine(path("m"), "ab", "old");
    put(path("m/notes"), "n");
    assert_int_equal(mkdir(path("m/.xoff-complete"), 0777), 0);
    put(path("m/.xoff-complete/a"), "new");
    put(path("m/.xoff-complete/c"), "new");
    folder_close(open_fine(path("m")));
    assert_string_equal(contents(path("m")), "a=new c=new notes=n");
    /* One of them moved: those that were stay. */
    publish_fine(path("m"), "ab", "old");
    assert_int_equal(mkdir(path("m/.xoff-moving-in"), 0777), 0);
    put(path("m/.xoff-moving-in/b"), "new");
    put(path("m/a"), "new");
    folder_close(open_fine(path("m")));
    assert_string_equal(contents(path("m")), "a=new b=new c=new notes=n");
}

/* In a child: publishes a and d over a and b, with one step that kills or fails. Returns 0 when it
 * was published, 1 when not, 2 when killed; 3: there is no such step. */
static int publish_in_child(const char *dir, uint32_t kill_step, uint32_t fail_step)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        struct folder *f;
        struct xoff_err err = {0};
        n_steps = 0;
        kill_at = kill_step;
        fail_at = fail_step;
        int status = folder_open(dir, names, &f, &err);
        if (!status) {
            put_aside(f, "a", "new");
            put_aside(f, "d", "new");
            status = folder_publish(f, &err);
            folder_close(f);
        }
        _exit(n_steps < fail_step ? 3 : status ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return 2;
    }
    return kill_step && WEXITSTATUS(status) == 0 ? 3 : WEXITSTATUS(status);
}

/* The files that are ours and theirs, without what this module keeps for itself. */
static const char *visible(const char *dir)
{
    static char text[1024];
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", contents(dir));
    text[0] = '\0';
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        if (strncmp(word, FOLDER_ASIDE, strlen(FOLDER_ASIDE)))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "",
                     word);
    return text;
}

/* Every step of publishing is killed or fails once: all files are old, or all are new. */
static void every_step(bool kills, bool is_ours)
{
    const char *old = is_ours ? "a=old b=old" : "a=old b=old notes=n";
    const char *new = is_ours ? "a=new d=new" : "a=new d=new notes=n";
    uint32_t n_old = 0, n_new = 0;
    for (uint32_t i = 1;; i++) {
        char name[32], notes[40];
        snprintf(name, sizeof name, "step/%d%d/%u", kills, is_ours, i);
        publish_fine(path(name), "ab", "old");
        if (!is_ours)
            put(path(strcat(strcpy(notes, name), "/notes")), "n");
        const int ended = publish_in_child(path(name), kills ? i : 0, kills ? 0 : i);
        if (ended == 3)
            break;
        /* Files that are moved one by one may have to be mended first. */
        if (!is_ours)
            folder_close(open_fine(path(name)));
        const char *found = visible(path(name));
        const bool is_new = !strcmp(found, new);
        if (!is_new && strcmp(found, old))
            fail_msg("step %u: %s", i, found);
        if (is_ours && ended < 2 && is_new != !ended)
            fail_msg("step %u: %s, but it said otherwise", i, found);
        n_old += !is_new;
        n_new += is_new;
        publish_fine(path(name), "a", "next");
        assert_string_equal(contents(path(name)), is_ours ? "a=next" : "a=next notes=n");
    }
    assert_true(n_old >= 3 && n_new >= 3);
    char folder[32];
    snprintf(folder, sizeof folder, "step/%d%d", kills, is_ours);
    assert_null(strstr(contents(path(folder)), ".xoff"));
}

static void killed_at_every_step(void **state)
{
    (void)state;
    every_step(true, true);
    every_step(true, false);
}

static void failed_at_every_step(void **state)
{
    (void)state;
    every_step(false, true);
    every_step(false, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_appear_together),
        cmocka_unit_test(mode_stays),
        cmocka_unit_test(what_is_not_ours_stays),
        cmocka_unit_test(folders_that_stay),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(what_killed_commands_left),
        cmocka_unit_test(a_lock_without_its_process),
        cmocka_unit_test(killed_at_every_step),
        cmocka_unit_test(failed_at_every_step),
    };
    return cmocka_run_group_tests_name("folder", tests, make_base, remove_base);
}
