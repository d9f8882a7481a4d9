/* The file of a checkpoint: a head, then sections, each with its length and a check value.
 *
 *   head       "xoff checkpoint", version of this form, number of sections
 *   program    version, and digest of the program's bytes: states are those of its structs
 *   command    folder, arguments
 *   scenario   its text
 *   plan       number, digest of all that the run depends on (many/cache.h)
 *   progress   struct checkpoint_state
 *   ranks      how many ran it, with the bytes of each; of several, the rank of each node
 *   state      the image of the network; of several ranks, their images one behind the other
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xoff/units.h>

#include "base/digest.h"
#include "cli/checkpoint.h"
#include "dist/dist.h"
#include "many/cache.h"
#include "stats/whole.h"

#define MAGIC "xoff checkpoint"
#define FORM 2

enum { PROGRAM, COMMAND, SCENARIO, PLAN, PROGRESS, RANKS, STATE, N_SECTIONS };
static const char *const section_names[] = {"program",  "command", "scenario", "plan",
                                            "progress", "ranks",   "state"};

struct head {
    char magic[sizeof MAGIC];
    uint32_t form, n_sections;
};

struct section_head {
    uint64_t n, check; /* the digest of the bytes */
};

struct program {
    char version[32];
    uint64_t digest;
};

struct plan_id {
    uint32_t index, n_plans;
    char key[CACHE_KEY + 7];
};

/* A file; sections that are read point into `text`, which is mapped. */
struct file {
    char *path, *text;
    size_t size;
    struct image sections[N_SECTIONS];
};

static char *path_of(const char *dir, uint32_t index)
{
    char *path;
    XOFF_ASSERT(asprintf(&path, "%s/checkpoint-%u.xoff", dir, index) >= 0);
    return path;
}

static uint64_t check_of(const void *bytes, size_t n)
{
    struct digest d;
    digest_init(&d);
    digest_bytes(&d, bytes, n);
    return d.state;
}

static struct program this_program(void)
{
    static struct program program; /* zeros behind the version, too */
    if (!*program.version) {
        snprintf(program.version, sizeof program.version, "%s", XOFF_VERSION);
        program.digest = cache_binary("/proc/self/exe");
    }
    return program;
}

static struct plan_id id_of(const struct checkpoint *c, uint32_t index)
{
    const struct scenario *s = c->scenario;
    const struct cache_subject subject = {.file = s->file,
                                          .text = s->text,
                                          .size = strlen(s->text),
                                          .settings = c->options->settings,
                                          .n_settings = c->options->n_settings,
                                          .seed = s->plans[index]->net.seed,
                                          .variant = s->plans[index]->variant,
                                          .by = c->options->is_ns3 ? "run ns3" : "run"};
    struct plan_id id = {.index = index, .n_plans = s->n_plans};
    cache_key(&subject, id.key);
    return id;
}

/* ------------------------------------------------------------------------------ writing */

static void put_text(struct image *section, const char *text)
{
    image_bytes(section, (void *)text, strlen(text) + 1);
}

static void write_sections(FILE *out, const void *context)
{
    const struct file *file = context;
    const struct head head = {.magic = MAGIC, .form = FORM, .n_sections = N_SECTIONS};
    fwrite(&head, sizeof head, 1, out);
    for (uint32_t i = 0; i < N_SECTIONS; i++) {
        const struct image *section = &file->sections[i];
        const struct section_head of = {section->n, check_of(section->bytes, section->n)};
        fwrite(&of, sizeof of, 1, out);
        fwrite(section->bytes, 1, section->n, out);
    }
}

/* Fills in the sections that ranks make together. Returns whether this one writes the file. */
static bool gather_state(struct net *net, struct file *file)
{
    const struct sim_ranks *ranks = cli_ranks();
    struct image own = {0}, *to = &file->sections[RANKS];
    uint32_t n_parts, n = ranks ? ranks->n : 1;
    const uint32_t *part_of = net_parts(net, &n_parts);
    net_image(net, &own);
    size_t *sizes = calloc(n, sizeof *sizes);
    XOFF_ASSERT(sizes);
    sizes[0] = own.n;
    if (ranks) {
        void *all;
        ranks->gather(ranks->context, own.bytes, own.n, false, &all, sizes);
        image_fini(&own);
        own.bytes = all;
    }
    file->sections[STATE] = own;
    image_bytes(to, &n, sizeof n);
    image_bytes(to, &n_parts, sizeof n_parts);
    for (uint32_t r = 0; r < n; r++) {
        uint64_t size = sizes[r];
        image_bytes(to, &size, sizeof size);
        file->sections[STATE].n = (r ? file->sections[STATE].n : 0) + sizes[r];
    }
    image_bytes(to, (void *)part_of, sizeof *part_of * n_parts);
    free(sizes);
    return cli_is_first();
}

/* Waits for the rank that writes, which may take its time. Returns its code. */
static int hear_of_writing(int code)
{
    const struct sim_ranks *ranks = cli_ranks();
    if (!ranks)
        return code;
    size_t *sizes = calloc(ranks->n, sizeof *sizes);
    void *all;
    XOFF_ASSERT(sizes);
    ranks->gather(ranks->context, &code, ranks->rank ? 0 : sizeof code, true, &all, sizes);
    memcpy(&code, all, sizeof code);
    free(all), free(sizes);
    return code;
}

int checkpoint_write(const struct checkpoint *c, uint32_t index, struct net *net,
                     const struct checkpoint_state *state, struct xoff_err *err)
{
    struct file file = {.path = path_of(c->dir, index)};
    struct program program = this_program();
    struct plan_id id = id_of(c, index);
    struct checkpoint_state copy;
    memset(&copy, 0, sizeof copy); /* its padding, too: equal states are equal files */
    copy.now = state->now;
    copy.wall_s = state->wall_s;
    copy.is_over = state->is_over;
    char *folder = getcwd(NULL, 0);
    image_bytes(&file.sections[PROGRAM], &program, sizeof program);
    put_text(&file.sections[COMMAND], folder ? folder : ".");
    for (char **word = c->words; *word; word++)
        put_text(&file.sections[COMMAND], *word);
    put_text(&file.sections[SCENARIO], c->scenario->text);
    image_bytes(&file.sections[PLAN], &id, sizeof id);
    image_bytes(&file.sections[PROGRESS], &copy, sizeof copy);
    const bool writes = gather_state(net, &file);
    const int reason = writes ? whole_write(file.path, write_sections, &file) : 0;
    int code = reason ? cli_cannot_write(file.path, reason, err) : 0;
    bool is_left = writes && !code; /* by an earlier run: variants that follow have not begun */
    for (uint32_t i = index + 1; is_left; i++) {
        char *path = path_of(c->dir, i);
        is_left = !unlink(path);
        free(path);
    }
    for (uint32_t i = 0; i < N_SECTIONS; i++)
        image_fini(&file.sections[i]);
    free(folder);
    free(file.path);
    return hear_of_writing(code);
}

/* ------------------------------------------------------------------------------ reading */

static void file_fini(struct file *file)
{
    free(file->path);
    if (file->text)
        munmap(file->text, file->size);
}

__attribute__((format(printf, 3, 4))) static int
refuse(const struct file *file, struct xoff_err *err, const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    const int code = xoff_err_set(err, XOFF_E_CONFLICT, "checkpoint", NULL, message);
    snprintf(err->file, sizeof err->file, "%s", file->path);
    return code;
}

static int find_sections(struct file *file, struct xoff_err *err)
{
    const size_t size = file->size;
    struct head head;
    size_t at = sizeof head;
    if (size < sizeof head || memcmp(file->text, MAGIC, sizeof MAGIC))
        return refuse(file, err, "is no checkpoint of xoff");
    memcpy(&head, file->text, sizeof head);
    if (head.form != FORM || head.n_sections != N_SECTIONS)
        return refuse(file, err,
                      "its form is number %u, this program reads number %u; resume with the xoff "
                      "that wrote it",
                      head.form, FORM);
    for (uint32_t i = 0; i < N_SECTIONS; i++) {
        struct section_head of = {0};
        if (size - at >= sizeof of)
            memcpy(&of, file->text + at, sizeof of);
        if (size - at < sizeof of || size - at - sizeof of < of.n)
            return refuse(file, err, "is cut off after %zu bytes, in its part '%s'", size,
                          section_names[i]);
        at += sizeof of;
        file->sections[i] = (struct image){
            .bytes = (unsigned char *)file->text + at, .n = (size_t)of.n, .is_loading = true};
        at += of.n;
        if (check_of(file->sections[i].bytes, of.n) != of.check)
            return refuse(file, err, "is damaged: its part '%s' does not have its check value",
                          section_names[i]);
    }
    return at == size ? 0 : refuse(file, err, "is damaged: %zu bytes too long", size - at);
}

static int check_program(const struct file *file, struct xoff_err *err)
{
    struct image section = file->sections[PROGRAM];
    struct program theirs = {0};
    const struct program own = this_program();
    image_bytes(&section, &theirs, sizeof theirs);
    theirs.version[sizeof theirs.version - 1] = '\0';
    if (strcmp(theirs.version, own.version))
        return refuse(file, err, "was written by xoff %s, and this is %s; resume with that one",
                      theirs.version, own.version);
    if (theirs.digest != own.digest)
        return refuse(file, err,
                      "was written by another build of xoff %s; resume with the one that wrote it",
                      own.version);
    return 0;
}

static int read_file(const char *dir, uint32_t index, struct file *file, struct xoff_err *err)
{
    struct stat status;
    *file = (struct file){.path = path_of(dir, index)};
    const int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status)) {
        const int reason = errno;
        if (fd >= 0)
            close(fd);
        return refuse(file, err, "cannot be read: %s", strerror(reason));
    }
    file->size = (size_t)status.st_size;
    if (file->size)
        file->text = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
    const int reason = errno;
    close(fd);
    if (file->text == MAP_FAILED) {
        file->text = NULL;
        return refuse(file, err, "cannot be read: %s", strerror(reason));
    }
    const int code = find_sections(file, err);
    return code ? code : check_program(file, err);
}

static bool is_there(const char *dir, uint32_t index)
{
    char *path = path_of(dir, index);
    const bool is = !access(path, F_OK) || errno != ENOENT;
    free(path);
    return is;
}

static int check_ranks(const struct file *file, uint32_t n_own, struct xoff_err *err)
{
    struct image section = file->sections[RANKS];
    uint32_t n = 0;
    image_bytes(&section, &n, sizeof n);
    if (n == n_own)
        return 0;
    if (!n)
        return refuse(file, err, "is damaged: its part 'ranks' is of none");
    return n > 1 ? refuse(file, err, "is of a run over %u ranks: resume it by mpirun -n %u", n, n)
                 : refuse(file, err, "is of a run of one process: resume it without mpirun");
}

/* Finds this rank's part of the state, and who runs which node: n_parts numbers at *part_of. */
static int find_rank(struct file *file, struct image *state, const void **part_of,
                     uint32_t *n_parts, struct xoff_err *err)
{
    const struct sim_ranks *ranks = cli_ranks();
    const uint32_t own = ranks ? ranks->rank : 0;
    struct image *section = &file->sections[RANKS];
    const struct image *all = &file->sections[STATE];
    uint32_t n = 0;
    uint64_t before = 0, size = 0, sum = 0;
    const int code = check_ranks(file, ranks ? ranks->n : 1, err);
    if (code)
        return code;
    *n_parts = 0;
    image_bytes(section, &n, sizeof n);
    image_bytes(section, n_parts, sizeof *n_parts);
    for (uint32_t r = 0; r < n; r++) {
        uint64_t each = 0;
        image_bytes(section, &each, sizeof each);
        if (each > all->n - sum)
            break;
        if (r == own) {
            before = sum;
            size = each;
        }
        sum += each;
    }
    if (section->misfit || sum != all->n ||
        section->n - section->at != sizeof(uint32_t) * (uint64_t)*n_parts)
        return refuse(file, err, "is damaged: its part 'ranks' does not fit the state");
    *part_of = section->bytes + section->at;
    *state = (struct image){.bytes = all->bytes + before, .n = size, .is_loading = true};
    return 0;
}

static int check_plan(const struct checkpoint *c, uint32_t index, struct file *file,
                      struct xoff_err *err)
{
    struct plan_id own = id_of(c, index), theirs = {0};
    struct image section = file->sections[PLAN];
    image_bytes(&section, &theirs, sizeof theirs);
    return memcmp(&own, &theirs, sizeof own)
               ? refuse(file, err,
                        "is of another scenario: a file that it names, a setting or the list of "
                        "variants has changed since")
               : 0;
}

int checkpoint_read_parts(const struct checkpoint *c, uint32_t index, uint32_t **parts, uint32_t *n,
                          struct xoff_err *err)
{
    struct file file;
    struct image state;
    const void *part_of;
    const bool is = is_there(c->dir, index), is_anywhere = cli_any(is);
    *parts = NULL;
    if (!is && is_anywhere)
        return xoff_err_set(err, XOFF_E_IO, "checkpoint", c->dir,
                            "a rank does not see the checkpoint that others see");
    if (!is)
        return 0;
    int code = read_file(c->dir, index, &file, err);
    if (!code)
        code = check_plan(c, index, &file, err);
    if (!code)
        code = find_rank(&file, &state, &part_of, n, err);
    if (!code && *n) {
        *parts = malloc(sizeof **parts * *n);
        XOFF_ASSERT(*parts);
        memcpy(*parts, part_of, sizeof **parts * *n);
    }
    file_fini(&file);
    return code;
}

int checkpoint_load(const struct checkpoint *c, uint32_t index, struct net *net,
                    struct checkpoint_state *state, struct xoff_err *err)
{
    struct file file;
    struct image image = {0};
    const void *part_of;
    uint32_t n_parts;
    if (!is_there(c->dir, index))
        return 0;
    int code = read_file(c->dir, index, &file, err);
    if (!code)
        code = check_plan(c, index, &file, err);
    if (!code)
        code = find_rank(&file, &image, &part_of, &n_parts, err);
    if (!code) {
        image_bytes(&file.sections[PROGRESS], state, sizeof *state);
        net_image(net, &image);
        if (image.misfit || image.at != image.n)
            code = refuse(&file, err, "does not fit the network: %s",
                          image.misfit ? image.misfit : "its end");
    }
    file_fini(&file);
    return code;
}

static char *copy_of(const void *bytes, size_t n)
{
    char *copy = malloc(n + 1);
    XOFF_ASSERT(copy);
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    return copy;
}

/* The first variant of a run has a checkpoint if any has. */
int checkpoint_read_command(const char *dir, struct checkpoint_command *command,
                            struct xoff_err *err)
{
    struct file file;
    *command = (struct checkpoint_command){0};
    if (access(dir, F_OK))
        return xoff_err_set(err, XOFF_E_IO, "resume", dir, strerror(errno));
    if (!checkpoint_is_in(dir))
        return xoff_err_set(err, XOFF_E_IO, "resume", dir,
                            "there is no checkpoint; a run with --checkpoint leaves one in its "
                            "folder of results until it has ended");
    int code = read_file(dir, 0, &file, err);
    uint32_t rank;
    const uint32_t n_ranks = dist_environment(&rank);
    if (!code)
        code = check_ranks(&file, n_ranks ? n_ranks : 1, err);
    if (!code) {
        const struct image *words = &file.sections[COMMAND], *text = &file.sections[SCENARIO];
        uint32_t n = 0;
        for (size_t at = 0; at < words->n; n++) {
            char *word =
                copy_of(words->bytes + at, strnlen((char *)words->bytes + at, words->n - at));
            at += strlen(word) + 1;
            command->words = realloc(command->words, sizeof *command->words * (n + 2));
            XOFF_ASSERT(command->words);
            command->words[n] = word;
            command->words[n + 1] = NULL;
        }
        command->folder = n ? command->words[0] : copy_of(".", 1);
        if (n)
            memmove(command->words, command->words + 1, sizeof *command->words * n);
        command->scenario = copy_of(text->bytes, text->n);
    }
    file_fini(&file);
    return code;
}

void checkpoint_command_fini(struct checkpoint_command *command)
{
    for (char **word = command->words; word && *word; word++)
        free(*word);
    free(command->words);
    free(command->folder);
    free(command->scenario);
}

bool checkpoint_is_in(const char *dir)
{
    char *path = path_of(dir, 0);
    const bool is = !access(path, F_OK);
    free(path);
    return is;
}

/* ------------------------------------------------------------------------------ options */

enum { OPTION_EVERY = 1024, OPTION_AT };

static const struct argp_option options[] = {
    {"checkpoint", OPTION_EVERY, "TIME", 0,
     "Write the state of the run to the folder of results each time so long has passed, such as 5m "
     "or 30s; xoff resume goes on from there after a kill. An interrupt then writes it, too, in "
     "place of results",
     0},
    {"checkpoint-at", OPTION_AT, "TIME", 0,
     "Write the state at this simulated time, such as 3ms, and end; xoff resume goes on", 0},
    {0},
};

/* Wall time: s, m, h, and what simulated times have. */
static bool read_wall(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    const double value = strtod(text, &end);
    xoff_time t;
    for (uint32_t i = 0; i < sizeof units / sizeof *units && end > text; i++)
        if (!strcmp(end, units[i].unit)) {
            *seconds = value * units[i].seconds;
            return *seconds > 0 && *seconds < 1e9;
        }
    if (xoff_parse_time(text, &t) || t <= 0)
        return false;
    *seconds = (double)t / (double)XOFF_S;
    return true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct checkpoint *c = state->input;
    switch (key) {
    case OPTION_EVERY:
        if (!read_wall(arg, &c->every_s))
            argp_error(state, "--checkpoint %s: give a time above 0, such as 5m, 30s or 1h", arg);
        return 0;
    case OPTION_AT:
        if (xoff_parse_time(arg, &c->at) || c->at <= 0)
            argp_error(state, "--checkpoint-at %s: give a simulated time above 0, such as 3ms",
                       arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp checkpoint_argp = {.options = options, .parser = parse};
