/* watch.c -- see watch.h. */
#include "subjects/conform/watch.h"

#include <errno.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "subjects/notes.h"
#include "subjects/conform/operand.h"

enum { SITES_MAX = 64, ARGUMENTS_MAX = 3, BREAKPOINT = 0xcc };

struct site {
    uint8_t *nop;
    uint32_t nop_bytes;
    enum watch_kind kind;
    struct operand operands[ARGUMENTS_MAX];
};

static const struct {
    const char *name;
    uint32_t arguments;
} kinds[WATCH_KINDS] = {{"alloc", 3}, {"free", 1}};

static struct site sites[SITES_MAX];
static size_t sites_count;
static uint16_t *semaphores[SITES_MAX];
static size_t semaphores_count;
static void (*event_sink)(const struct watch_event *event);
static const char *wanted_provider;
static const char *failure;

/* ---- The sites ---- */

/* returns: the nop's length, 0 if there is none */
static uint32_t
nop_bytes_at(const uint8_t *at)
{
    static const uint8_t long_nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

    if (*at == 0x90)
        return 1;
    return memcmp(at, long_nop, sizeof long_nop) == 0 ? sizeof long_nop : 0;
}

static bool
put_breakpoint(uint8_t *at)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *const page = (void *)((uintptr_t)at / page_bytes * page_bytes);

    if (mprotect(page, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    *at = BREAKPOINT;
    return mprotect(page, page_bytes, PROT_READ | PROT_EXEC) == 0;
}

static void
add_semaphore(uint16_t *semaphore)
{
    for (size_t i = 0; i < semaphores_count; i++)
        if (semaphores[i] == semaphore)
            return;
    semaphores[semaphores_count++] = semaphore;
}

/* returns: NULL, or why the probe cannot be watched */
static const char *
add_place(const struct note *note, uintptr_t base, enum watch_kind kind)
{
    struct site *const site = &sites[sites_count];
    const char *text = note->arguments;

    if (sites_count == SITES_MAX)
        return "it has too many sites with a probe";
    site->kind = kind;
    site->nop = (uint8_t *)(base + note->address);
    site->nop_bytes = nop_bytes_at(site->nop);
    if (site->nop_bytes == 0)
        return "there is no nop where a probe should be";
    for (uint32_t i = 0; i < kinds[kind].arguments; i++) {
        text = operand_parse(text, &site->operands[i]);
        if (text == NULL)
            return "an argument of a probe is missing, or of an unknown form";
    }
    if (note->semaphore != 0)
        add_semaphore((uint16_t *)(base + note->semaphore));
    sites_count++;
    return put_breakpoint(site->nop) ? NULL : "a breakpoint cannot be written";
}

static int
look_at_module(struct dl_phdr_info *module, size_t bytes, void *context)
{
    static struct note notes[SITES_MAX];
    size_t count = 0;

    (void)bytes;
    (void)context;
    /* A module without a file (the vdso) has no probes. */
    (void)notes_read(module->dlpi_name[0] != '\0' ? module->dlpi_name
                                                  : "/proc/self/exe",
                     wanted_provider, notes, SITES_MAX, &count);
    for (size_t i = 0; i < count && failure == NULL; i++)
        for (int kind = 0; kind < WATCH_KINDS && failure == NULL; kind++)
            if (strcmp(notes[i].name, kinds[kind].name) == 0)
                failure = add_place(&notes[i], module->dlpi_addr,
                                    (enum watch_kind)kind);
    return failure != NULL;
}

/* ---- The events ---- */

static void
on_trap(int number, siginfo_t *info, void *context)
{
    ucontext_t *const at = context;
    greg_t *const rip = &at->uc_mcontext.gregs[REG_RIP];
    const uint8_t *const nop = (const uint8_t *)*rip - 1;
    const int error = errno;
    size_t i = 0;
    uint64_t values[ARGUMENTS_MAX] = {0};

    (void)info;
    while (i < sites_count && sites[i].nop != nop)
        i++;
    if (i == sites_count) { /* not our breakpoint: as without us */
        signal(number, SIG_DFL);
        return;
    }
    for (uint32_t j = 0; j < kinds[sites[i].kind].arguments; j++)
        values[j] = operand_value(&sites[i].operands[j], at);
    event_sink(&(struct watch_event){.kind = sites[i].kind,
                                     .address = values[0],
                                     .bytes = values[1],
                                     .weight_bytes = values[2]});
    *rip += sites[i].nop_bytes - 1;
    errno = error;
}

const char *
watch_begin(const char *provider, void (*sink)(const struct watch_event *event))
{
    struct sigaction action = {.sa_sigaction = on_trap,
                               .sa_flags = SA_SIGINFO | SA_NODEFER};

    wanted_provider = provider;
    event_sink = sink;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTRAP, &action, NULL) != 0)
        return "SIGTRAP cannot be handled";
    dl_iterate_phdr(look_at_module, NULL);
    return failure;
}

size_t
watch_sites(enum watch_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < sites_count; i++)
        count += sites[i].kind == kind;
    return count;
}

size_t
watch_semaphores(void)
{
    return semaphores_count;
}

void
watch_attach(void)
{
    for (size_t i = 0; i < semaphores_count; i++)
        __atomic_fetch_add(semaphores[i], 1, __ATOMIC_SEQ_CST);
}

void
watch_detach(void)
{
    for (size_t i = 0; i < semaphores_count; i++)
        __atomic_fetch_sub(semaphores[i], 1, __ATOMIC_SEQ_CST);
}
