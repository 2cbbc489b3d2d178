/*
 * otf2.c -- OTF2, the trace format of high-performance computing, as a peer:
 * events with one number, into the memory chunks of a writer that never writes
 * a file. The caller passes the time: here from the processor's counter, or
 * from a plain counter.
 */
#include <otf2/otf2.h>
#include <otf2/OTF2_Pthread_Locks.h>

#include "bench/bench.h"
#include "bench/pair.h"
#include "bench/peers/serve.h"

enum { EVENTS = 200000, ROUNDS = 1000, CHUNK_BYTES = 4 << 20 };

/* The state of a writer. Time continues from one repetition to the next. */
static struct tracer {
    OTF2_EvtWriter *writer;
    uint64_t counted_ticks;
} tracers[BENCH_PAIR + 1]; /* the last has a clock that only counts */

static inline uint64_t
clock_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static void
emit(struct tracer *tracer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        OTF2_EvtWriter_ParameterUnsignedInt(tracer->writer, NULL, clock_ticks(),
                                            0, i + (1 << 20));
}

static double
one_thread(const char *argument)
{
    const uint64_t begun = bench_cpu_ns();

    (void)argument;
    emit(&tracers[0], EVENTS);
    return (double)(bench_cpu_ns() - begun) / EVENTS;
}

static double
counted(const char *argument)
{
    struct tracer *tracer = &tracers[BENCH_PAIR];
    const uint64_t begun = bench_cpu_ns();

    (void)argument;
    for (uint32_t i = 0; i < EVENTS; i++)
        OTF2_EvtWriter_ParameterUnsignedInt(tracer->writer, NULL,
                                            tracer->counted_ticks += 100, 0,
                                            i + (1 << 20));
    return (double)(bench_cpu_ns() - begun) / EVENTS;
}

static void
emit_round(void *context, uint32_t thread, uint32_t round)
{
    (void)context;
    (void)round;
    emit(&tracers[thread], EVENTS / ROUNDS);
}

static double
two_threads(const char *argument)
{
    const struct bench_pair pair = {
        .once = emit_round, .rounds = ROUNDS, .warm = ROUNDS / 10};

    (void)argument;
    return bench_pair_run(&pair) * bench_ns_a_tick() /
           (BENCH_PAIR * (EVENTS / ROUNDS));
}

static OTF2_FlushType
before_flush(void *context, OTF2_FileType type, OTF2_LocationRef location,
             void *caller, bool final)
{
    (void)context;
    (void)type;
    (void)location;
    (void)caller;
    (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp
after_flush(void *context, OTF2_FileType type, OTF2_LocationRef location)
{
    (void)context;
    (void)type;
    (void)location;
    return clock_ticks();
}

int
main(void)
{
    static const struct serve_verb verbs[] = {{"trace1", one_thread},
                                              {"trace12", two_threads},
                                              {"tracecounted", counted}};
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush,
                                              .otf2_post_flush = after_flush};
    OTF2_Archive *archive;

    bench_pin(0);
    archive = OTF2_Archive_Open("/dev/null", "bench", OTF2_FILEMODE_WRITE,
                                CHUNK_BYTES, CHUNK_BYTES, OTF2_SUBSTRATE_NONE,
                                OTF2_COMPRESSION_NONE);
    if (archive == NULL)
        return 1;
    OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Pthread_Archive_SetLockingCallbacks(archive, NULL);
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint32_t i = 0; i <= BENCH_PAIR; i++)
        tracers[i].writer = OTF2_Archive_GetEvtWriter(archive, i);
    return serve(verbs, sizeof verbs / sizeof *verbs);
}
