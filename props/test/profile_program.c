/*
 * profile_program.c -- a program that profiles itself through the real port and
 * writes its profiles, with the times of its clocks. test_faketime.sh runs it
 * under libfaketime.
 *
 * usage: profile_program DIR
 */
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prof/file.h"
#include "prof/process.h"
#include "prof/registry.h"

enum { EVENTS = 2000, BLOCK_BYTES = 1 << 21, BURN = 2000000 };

static alignas(64) unsigned char prof_block[BLOCK_BYTES];
static alignas(64) unsigned char cpu_block[BLOCK_BYTES];
static alignas(64) unsigned char registry_block[BLOCK_BYTES];
static alignas(64) unsigned char scratch[BLOCK_BYTES];
static volatile uint64_t burned;

static void
must(enum prof_status status, const char *what)
{
    if (status == PROF_OK)
        return;
    fprintf(stderr, "profile_program: %s: %s\n", what,
            prof_status_text(status));
    exit(1);
}

/* Fixed addresses: those of a real process would differ from run to run. */
static void
find_name(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    static const char *const names[] = {"main.a", "main.b", "main.c", "main.d"};

    (void)context;
    symbol->function = names[pc / 256 % 4];
    symbol->file = "program.c";
    symbol->line = pc % 256;
    symbol->entry = pc / 256 * 256;
}

/* Record each wait with the length that the clock gives, negative if the clock
 * went backwards. */
static void
record_events(struct prof *prof)
{
    struct prof_proc *proc = prof_proc_at(prof, 0);

    prof_heap_rate_set(prof, 1);
    for (uint64_t i = 0; i < EVENTS; i++) {
        const uintptr_t stack[] = {1025 + i % 7, 1300 + i % 3, 1600};
        const int64_t before = prof_process_monotonic_ns();
        const prof_bucket bucket =
            prof_heap_alloc(proc, stack, 3, 16U << i % 6);

        if (i % 3 == 0)
            prof_heap_free_explicit(proc, bucket);
        prof_contention_event(proc, PROF_BLOCK, stack, 3,
                              prof_process_monotonic_ns() - before);
        prof_contention_event(proc, PROF_MUTEX, stack, 3, (int64_t)i);
    }
    must(prof_heap_next_cycle(prof), "next cycle");
    must(prof_heap_flush(prof), "flush");
}

/* Real timers run, but no tick is counted: its addresses would differ from run
 * to run. */
static void
take_cpu(struct prof_cpu *cpu, struct prof_cpu *real)
{
    struct prof_timer timer;

    must(prof_cpu_start(cpu, PROF_CPU_HZ), "start");
    must(prof_cpu_start(real, PROF_CPU_HZ), "start");
    must(prof_process_begin(real, NULL), "begin");
    must(prof_timer_open(&timer, PROF_CPU_HZ), "timer");
    for (uint64_t i = 0; i < BURN; i++)
        burned = burned + 1;
    for (uint64_t i = 0; i < 100; i++)
        prof_cpu_tick(cpu, (uintptr_t[]){1030 + i % 5, 1300}, 2, NULL);
    prof_timer_close(&timer);
    prof_process_end();
    for (int i = 0; i < 1000 && prof_cpu_stop(real) != PROF_OK; i++)
        continue;
    must(prof_cpu_stop(cpu), "stop");
}

/* Write a profile, or the CPU profile, to a file in a folder. */
static void
write_file(const char *folder, const char *name, struct prof_profile *profile,
           int debug, struct prof_cpu *cpu, int64_t began_ns)
{
    static struct prof_file file;
    char path[PROF_PATH_MAX];
    struct prof_output output = {
        .symbols = {.find = find_name},
        .time_ns = profile != NULL ? prof_process_time_ns() : began_ns,
        .lost = 1,
        .scratch = scratch,
        .scratch_bytes = sizeof scratch,
    };

    snprintf(path, sizeof path, "%s/%s.%s", folder, name,
             debug == 0 ? "pb" : "txt");
    must(prof_file_begin(&file, path), path);
    output.sink = prof_file_sink(&file);
    must(prof_file_end(&file,
                       profile != NULL
                           ? prof_profile_write(profile, &output, debug)
                           : prof_cpu_write(cpu, &output,
                                            prof_process_time_ns() - began_ns)),
         path);
}

int
main(int argc, char **argv)
{
    const struct prof_config prof_config = {.buckets_max = 512};
    const struct prof_cpu_config cpu_config = {.ticks_max = 256,
                                               .stacks_max = 64};
    struct prof_registry_config config = {.lost = 1};
    struct prof_profile *profiles[8];
    struct prof_registry *registry;
    struct prof_cpu *cpu;
    struct prof_cpu *real;
    struct prof *prof;
    int64_t began_ns;
    size_t count;

    if (argc != 2) {
        fprintf(stderr, "usage: profile_program DIR\n");
        return 1;
    }
    alarm(60);
    must(prof_init(&prof, &prof_config, prof_block, BLOCK_BYTES), "prof");
    must(prof_cpu_init(&cpu, &cpu_config, cpu_block, BLOCK_BYTES / 2), "cpu");
    must(prof_cpu_init(&real, &cpu_config, cpu_block + BLOCK_BYTES / 2,
                       BLOCK_BYTES / 2),
         "cpu");
    config.sources.prof = prof;
    must(prof_registry_init(&registry, &config, registry_block, BLOCK_BYTES),
         "registry");
    record_events(prof);
    began_ns = prof_process_time_ns();
    take_cpu(cpu, real);
    must(prof_registry_list(registry, profiles, 8, &count), "list");
    for (size_t i = 0; i < count; i++) {
        for (int debug = 0; debug < 2; debug++)
            write_file(argv[1], prof_profile_name(profiles[i]), profiles[i],
                       debug, NULL, 0);
    }
    write_file(argv[1], "cpu", NULL, 0, cpu, began_ns);
    return 0;
}
