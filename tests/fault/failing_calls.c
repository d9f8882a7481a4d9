/* Lets the n-th call of a kind fail, in a program that it is preloaded into.
 *
 *   XOFF_FAULT=KIND:N:ERRNO    the N-th call (from 1) of that kind fails with the number ERRNO;
 *                              N 0: none does
 *   XOFF_FAULT_COUNTS=FILE     at the end, one line "KIND CALLS" for each kind
 *   XOFF_FAULT_CALLERS=FILE    the functions and libraries that led to the allocation that failed
 *
 * Allocations are replaced by functions of the same name. System calls are caught by a filter of
 * the kernel (seccomp), which sends SIGSYS instead of doing them, so that calls from within the C
 * library are seen, too; the handler does them in its place. Only what happens after the program
 * was loaded counts, in all its threads and forked processes together. */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "the registers of this machine are not known"
#endif

enum kind { ALLOC, MAP, OPEN, WRITE, SYNC, RENAME, REMOVE, MKDIR, TRUNCATE, CLOSE, N_KINDS };

static const char *const kind_names[N_KINDS] = {
    [ALLOC] = "alloc", [MAP] = "map",          [OPEN] = "open",     [WRITE] = "write",
    [SYNC] = "sync",   [RENAME] = "rename",    [REMOVE] = "remove", [MKDIR] = "mkdir",
    [CLOSE] = "close", [TRUNCATE] = "truncate"};

static const struct {
    int number;
    enum kind kind;
} calls[] = {
    {SYS_mmap, MAP},           {SYS_mremap, MAP},      {SYS_openat, OPEN},
    {SYS_write, WRITE},        {SYS_pwrite64, WRITE},  {SYS_writev, WRITE},
    {SYS_fsync, SYNC},         {SYS_fdatasync, SYNC},  {SYS_renameat, RENAME},
    {SYS_renameat2, RENAME},   {SYS_unlinkat, REMOVE}, {SYS_mkdirat, MKDIR},
    {SYS_ftruncate, TRUNCATE}, {SYS_close, CLOSE},
#ifdef SYS_open
    {SYS_open, OPEN},          {SYS_rename, RENAME},   {SYS_unlink, REMOVE},
    {SYS_rmdir, REMOVE},       {SYS_mkdir, MKDIR},
#endif
};
#define N_CALLS (sizeof calls / sizeof *calls)

/* Shared with forked processes. */
static _Atomic uint64_t *counts;
static enum kind bad_kind = N_KINDS;
static uint64_t bad_nth;
static int bad_errno;
static pid_t first_process;

static bool fails(enum kind kind)
{
    return counts && atomic_fetch_add(&counts[kind], 1) + 1 == bad_nth && kind == bad_kind;
}

/* Does a system call from the one place that the filter lets pass, which ends at `passed`. */
long fault_pass(long number, long a, long b, long c, long d, long e, long f);
extern const char fault_passed[];

/* ------------------------------------------------------------------------------- allocations */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* Notes the calls that lead to this one, as a core dump would. */
static void note_callers(void)
{
    void *callers[16];
    const char *path = getenv("XOFF_FAULT_CALLERS");
    const long fd = path ? fault_pass(SYS_openat, AT_FDCWD, (long)(intptr_t)path,
                                      O_WRONLY | O_CREAT | O_TRUNC, 0600, 0, 0)
                         : -1;
    if (fd >= 0)
        backtrace_symbols_fd(callers, backtrace(callers, 16), (int)fd);
    fault_pass(SYS_close, fd, 0, 0, 0, 0, 0);
}

static bool alloc_fails(void)
{
    if (!fails(ALLOC))
        return false;
    note_callers();
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return alloc_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return alloc_fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
    return alloc_fails() ? NULL : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size)
{
    return alloc_fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/* ------------------------------------------------------------------------------ system calls */

#if defined __x86_64__
__asm__(".text\n"
        ".global fault_pass\n.hidden fault_pass\n.type fault_pass, @function\n"
        "fault_pass:\n"
        "  mov %rdi, %rax\n  mov %rsi, %rdi\n  mov %rdx, %rsi\n  mov %rcx, %rdx\n"
        "  mov %r8, %r10\n  mov %r9, %r8\n  mov 8(%rsp), %r9\n"
        "  syscall\n"
        ".global fault_passed\n.hidden fault_passed\n"
        "fault_passed:\n"
        "  ret\n"
        ".size fault_pass, . - fault_pass\n");
#define RESULT_OF(context) ((context)->uc_mcontext.gregs[REG_RAX])
#define ARGUMENTS_OF(context)                                                             \
    {                                                                                     \
        (context)->uc_mcontext.gregs[REG_RDI], (context)->uc_mcontext.gregs[REG_RSI],     \
            (context)->uc_mcontext.gregs[REG_RDX], (context)->uc_mcontext.gregs[REG_R10], \
            (context)->uc_mcontext.gregs[REG_R8], (context)->uc_mcontext.gregs[REG_R9]    \
    }
#else
__asm__(".text\n"
        ".global fault_pass\n.hidden fault_pass\n.type fault_pass, %function\n"
        "fault_pass:\n"
        "  mov x8, x0\n  mov x0, x1\n  mov x1, x2\n  mov x2, x3\n"
        "  mov x3, x4\n  mov x4, x5\n  mov x5, x6\n"
        "  svc #0\n"
        ".global fault_passed\n.hidden fault_passed\n"
        "fault_passed:\n"
        "  ret\n"
        ".size fault_pass, . - fault_pass\n");
#define RESULT_OF(context) ((context)->uc_mcontext.regs[0])
#define ARGUMENTS_OF(context)                                                           \
    {                                                                                   \
        (long)(context)->uc_mcontext.regs[0], (long)(context)->uc_mcontext.regs[1],     \
            (long)(context)->uc_mcontext.regs[2], (long)(context)->uc_mcontext.regs[3], \
            (long)(context)->uc_mcontext.regs[4], (long)(context)->uc_mcontext.regs[5]  \
    }
#endif

static void on_call(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    ucontext_t *at = context;
    const long a[] = ARGUMENTS_OF(at);
    enum kind kind = N_KINDS;
    for (size_t i = 0; i < N_CALLS; i++)
        if (calls[i].number == info->si_syscall)
            kind = calls[i].kind;
    const bool is_bad = fails(kind);
    long result = -bad_errno;
    if (!is_bad || kind == CLOSE) /* what fails to be closed is closed, as in Linux */
        result = fault_pass(info->si_syscall, a[0], a[1], a[2], a[3], a[4], a[5]);
    RESULT_OF(at) = is_bad ? -bad_errno : result;
}

static void add(struct sock_fprog *program, struct sock_filter step)
{
    program->filter[program->len++] = step;
}

#define LOAD(field)      \
    (struct sock_filter) \
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, field))
#define IF(value, then, otherwise) \
    (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), then, otherwise)
#define GIVE(answer) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, answer)

static bool catch_calls(void)
{
    struct sock_filter steps[N_CALLS + 16];
    struct sock_fprog program = {.filter = steps};
    const uint64_t passed = (uint64_t)(uintptr_t)fault_passed;
    add(&program, LOAD(arch));
    add(&program, IF(ARCH, 1, 0));
    add(&program, GIVE(SECCOMP_RET_ALLOW));
    /* instruction_pointer is behind the call; both halves, the lower one first in memory. */
    add(&program, LOAD(instruction_pointer));
    add(&program, IF(passed & UINT32_MAX, 0, 3));
    add(&program, (struct sock_filter)BPF_STMT(
                      BPF_LD | BPF_W | BPF_ABS,
                      (uint32_t)offsetof(struct seccomp_data, instruction_pointer) + 4));
    add(&program, IF(passed >> 32, 0, 1));
    add(&program, GIVE(SECCOMP_RET_ALLOW));
    add(&program, LOAD(nr));
    for (size_t i = 0; i < N_CALLS; i++)
        add(&program, IF(calls[i].number, (uint8_t)(N_CALLS - i), 0));
    add(&program, GIVE(SECCOMP_RET_ALLOW));
    add(&program, GIVE(SECCOMP_RET_TRAP));
    struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
    return sigaction(SIGSYS, &action, NULL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ------------------------------------------------------------------------------ start and end */

static void read_fault(const char *text)
{
    char name[16];
    if (!text || sscanf(text, "%15[^:]:%lu:%d", name, &bad_nth, &bad_errno) != 3)
        return;
    for (enum kind k = 0; k < N_KINDS; k++)
        if (!strcmp(name, kind_names[k]))
            bad_kind = k;
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("XOFF_FAULT");
    if (!text)
        return;
    read_fault(text);
    void *memory = mmap(NULL, sizeof *counts * (N_KINDS + 1), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bad_kind == N_KINDS || memory == MAP_FAILED || !catch_calls())
        _exit(77);
    void *callers[1];
    backtrace(callers, 1); /* it loads a library the first time */
    first_process = getpid();
    counts = memory;
}

__attribute__((destructor)) static void end(void)
{
    const char *name = getenv("XOFF_FAULT_COUNTS");
    if (!counts || !name || getpid() != first_process)
        return;
    uint64_t found[N_KINDS];
    for (enum kind k = 0; k < N_KINDS; k++)
        found[k] = counts[k];
    FILE *out = fopen(name, "w");
    for (enum kind k = 0; out && k < N_KINDS; k++)
        fprintf(out, "%s %lu\n", kind_names[k], found[k]);
    if (out)
        fclose(out);
}
