/*
 * test_pprof_sink.c -- every writer of a profile where its memory or its output
 * ends: a scratch of any size, a sink that fails at any byte (P4;
 * golang/go#73107 loses such an error). And two sinks that
 * others read: profile.proto by protoc, compressed profiles by gzip(1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/test/aligned_block.h"
#include "prof/test/pprof/pprof_case.h"
#include "prof/test/pprof/pprof_writers.h"
#include "prof/gzip.h"
#include "prof/text.h"
#include "common/test/unit_test.h"

static struct case_run run;

/* Write a profile with all the scratch. returns: its length */
static size_t
length_of(size_t writer)
{
    case_begin(&run);
    assert_int_equal(pprof_writers[writer].write(&run.output), PROF_OK);
    return run.memory.bytes_count;
}

/* ---- memory ---- */

/*
 * Every size of scratch from 0, in steps of the smallest allocation: too little
 * is refused, nothing behind the scratch is touched, and enough gives the same
 * output as the largest size.
 */
TEST(scratch_that_is_too_small_is_refused_at_any_size)
{
    static unsigned char want[1 << 14];
    static unsigned char behind[1 << 8];

    memset(behind, 0xa5, sizeof behind);
    for (size_t writer = 0; writer < pprof_writers_count; writer++) {
        const struct pprof_writer *one = &pprof_writers[writer];
        const size_t length = length_of(writer);
        enum prof_status status = PROF_ERR_MEMORY;

        assert_true(length <= sizeof want);
        memcpy(want, run.bytes, length);
        case_begin(&run);
        for (size_t bytes = 0; status != PROF_OK; bytes += 8) {
            assert_true(bytes < CASE_SCRATCH_BYTES - sizeof behind);
            run.output.scratch_bytes = bytes;
            run.memory.bytes_count = 0;
            status = one->write(&run.output);
            if (status != PROF_OK &&
                (status != PROF_ERR_MEMORY || run.memory.bytes_count != 0))
                fail_msg("%s, %zu bytes: %s, %zu written", one->what, bytes,
                         prof_status_text(status), run.memory.bytes_count);
            assert_memory_equal(&run.scratch[bytes], behind, sizeof behind);
        }
        /* A dump prints into its scratch and is cut where that ends. */
        if (strcmp(one->what, "dump") != 0) {
            assert_int_equal(run.memory.bytes_count, length);
            assert_memory_equal(run.bytes, want, length);
        }
    }
}

TEST(more_records_than_can_be_numbered_are_refused)
{
    const struct prof_heap_record record = {AT(CASE_WORK)};

    case_begin(&run);
    assert_int_equal(prof_text_heap(&run.output, &record, UINT32_MAX, 1, NULL),
                     PROF_ERR_MEMORY);
    assert_int_equal(run.memory.bytes_count, 0);
}

/* ---- output ---- */

/* A sink that takes bytes up to a limit, and counts calls after its refusal. */
struct failing {
    size_t limit;
    size_t taken;
    size_t refused;
    size_t calls_after;
};

static enum prof_status
take_until(void *context, const void *bytes, size_t bytes_count)
{
    struct failing *failing = context;

    (void)bytes;
    if (failing->refused > 0) {
        failing->calls_after++;
        return PROF_ERR_SINK;
    }
    if (bytes_count > failing->limit - failing->taken) {
        failing->refused++;
        return PROF_ERR_SINK;
    }
    failing->taken += bytes_count;
    return PROF_OK;
}

TEST(a_sink_that_fails_at_any_byte_is_reported)
{
    for (size_t writer = 0; writer < pprof_writers_count; writer++) {
        const size_t length = length_of(writer);

        assert_true(length > 20);
        for (size_t limit = 0; limit <= length; limit++) {
            struct failing failing = {.limit = limit};
            enum prof_status status;

            case_begin(&run);
            run.output.sink =
                (struct prof_sink){.write = take_until, .context = &failing};
            status = pprof_writers[writer].write(&run.output);
            if (status != (limit < length ? PROF_ERR_SINK : PROF_OK) ||
                failing.calls_after != 0)
                fail_msg("%s, %zu of %zu bytes: %s, %zu calls after",
                         pprof_writers[writer].what, limit, length,
                         prof_status_text(status), failing.calls_after);
        }
    }
}

enum { RECORDS = 20000, FILE_BYTES = 8 << 20 };

static char names[RECORDS][8];

/* Give every address a function of its own. */
static void
name_each(void *context, uintptr_t pc, struct prof_symbol *symbol)
{
    const size_t number = (pc - CASE_UNKNOWN) % RECORDS;

    (void)context;
    snprintf(names[number], sizeof names[number], "f%zu", number);
    symbol->function = names[number];
    symbol->entry = pc;
}

/* 20,000 locations: numbers beyond 2^14 take three bytes, functions collide in
 * the table, and each sample still names its own function. */
TEST(many_addresses_keep_their_names)
{
    static struct prof_heap_record records[RECORDS];
    static uintptr_t stacks[RECORDS];
    const size_t bytes = prof_pprof_scratch_bytes(RECORDS, RECORDS);
    struct prof_memory memory = {.bytes = malloc(FILE_BYTES),
                                 .bytes_max = FILE_BYTES};

    assert_non_null(memory.bytes);
    for (size_t i = 0; i < RECORDS; i++) {
        stacks[i] = CASE_UNKNOWN + i;
        records[i] = (struct prof_heap_record){
            .allocs = 1, .size_bytes = 8, .stack = &stacks[i], .depth = 1};
    }
    case_begin(&run);
    run.output.sink = prof_memory_sink(&memory);
    run.output.symbols = (struct prof_symbols){.find = name_each};
    run.output.scratch = props_block(bytes, 0);
    run.output.scratch_bytes = bytes;
    assert_int_equal(
        prof_pprof_heap(&run.output, records, RECORDS, 0, PROF_VIEW_INUSE),
        PROF_OK);
    if (!model_pprof_read(&run.profile, memory.bytes, memory.bytes_count))
        fail_msg("%s", run.profile.reason);
    for (size_t i = 0; i < RECORDS; i++)
        assert_string_equal(
            case_function(&run, run.profile.samples[i].locations[0]), names[i]);
    case_end(&run);
    free(memory.bytes);
    free(run.output.scratch);
}

/* ---- readers ---- */

/* Give bytes to a command. returns: what it prints, and how much in *count */
static unsigned char *
filter(const char *command, const void *bytes, size_t bytes_count,
       size_t *count)
{
    static unsigned char printed[1 << 20];
    char path[] = "/tmp/profsim-filter-XXXXXX";
    char whole[256];
    const int descriptor = mkstemp(path);
    FILE *pipe;

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, bytes_count), bytes_count);
    close(descriptor);
    snprintf(whole, sizeof whole, "%s <%s", command, path);
    pipe = popen(whole, "r");
    assert_non_null(pipe);
    *count = fread(printed, 1, sizeof printed - 1, pipe);
    assert_int_equal(pclose(pipe), 0);
    printed[*count] = '\0';
    unlink(path);
    return printed;
}

static size_t
lines_with(const char *text, const char *what)
{
    size_t lines = 0;

    for (; (text = strstr(text, what)) != NULL; text++)
        lines++;
    return lines;
}

TEST(protoc_reads_what_the_model_reads)
{
    for (size_t writer = 0; writer < 4; writer++) {
        const size_t length = length_of(writer);
        const char *text;
        size_t count;

        case_read(&run, PROF_OK);
        text = (char *)filter("protoc --decode=profile "
                              "-Ifixtures/pprof profile.proto",
                              run.bytes, length, &count);
        assert_int_equal(lines_with(text, "\nsample {"),
                         run.profile.samples_count);
        assert_int_equal(lines_with(text, "\nlocation {"),
                         run.profile.locations_count);
        assert_int_equal(lines_with(text, "\nfunction {"),
                         run.profile.functions_count);
        assert_int_equal(lines_with(text, "\nstring_table: "),
                         run.profile.strings_count);
        assert_non_null(strstr(text, "\nstring_table: \"main.work\"\n"));
        for (size_t i = 0; text[0] != '\0' && text[i] != '\0'; i++)
            assert_false(text[i] == '\n' && text[i + 1] >= '0' &&
                         text[i + 1] <= '9'); /* a field it does not know */
        case_end(&run);
    }
}

/* ---- compression ---- */

enum { BYTES = 600000 };

static unsigned char given[BYTES];

static uint64_t
next_word(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 33;
}

/* Noise, runs and repetitions in turn, so that both kinds of blocks occur. */
static void
draw_bytes(void)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < BYTES; i++) {
        if (i / 50000 % 3 == 0)
            given[i] = (unsigned char)next_word(&seed);
        else if (i / 50000 % 3 == 1)
            given[i] = (unsigned char)(i / 1000);
        else
            given[i] = given[i - 31000 - next_word(&seed) % 3];
    }
}

/* Compress the first `bytes_count` bytes in pieces of at most `piece_max`. */
static enum prof_status
pack(void *memory, const struct prof_sink *to, size_t bytes_count,
     size_t piece_max)
{
    enum prof_status status = PROF_OK;
    uint64_t seed = piece_max;
    struct prof_gzip gzip;
    struct prof_sink sink;

    prof_gzip_begin(&gzip, to, memory, prof_gzip_bytes());
    sink = prof_gzip_sink(&gzip);
    for (size_t at = 0; at < bytes_count && status == PROF_OK;) {
        size_t piece = 1 + next_word(&seed) % piece_max;

        piece = piece < bytes_count - at ? piece : bytes_count - at;
        status = sink.write(sink.context, &given[at], piece);
        at += piece;
    }
    return prof_gzip_end(&gzip, status);
}

/* The memory may begin at any address; bytes around it stay as they were. The
 * header is Go's: no name, no time, fastest, unknown system. */
TEST(what_is_compressed_is_restored_by_gzip)
{
    static const struct {
        size_t bytes;
        size_t piece_max;
    } rows[] = {{BYTES, 1},     {BYTES, 100}, {BYTES, 65536},
                {BYTES, BYTES}, {0, 1},       {17, 3}};
    static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0,
                                           0,    0,    0, 4, 0xff};
    const size_t bytes = prof_gzip_bytes();
    unsigned char *const around = malloc(bytes + 64);

    assert_non_null(around);
    draw_bytes();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct prof_sink to = prof_memory_sink(&run.memory);
        const unsigned char *got;
        size_t count;

        case_begin(&run);
        memset(around, 0x3c, bytes + 64);
        assert_int_equal(
            pack(&around[7 * i], &to, rows[i].bytes, rows[i].piece_max),
            PROF_OK);
        for (size_t j = 0; j < 64; j++)
            assert_int_equal(around[j < 7 * i ? j : j + bytes], 0x3c);
        assert_memory_equal(run.bytes, header, sizeof header);
        got = filter("gzip -dc", run.bytes, run.memory.bytes_count, &count);
        assert_int_equal(count, rows[i].bytes);
        assert_memory_equal(got, given, count);
    }
    free(around);
}

/* igzip hashes its own address (gzip.c); at about one address in 80 that once
 * changed the output. The input has few values, and so many repetitions. */
TEST(the_same_input_gives_the_same_bytes_at_any_address)
{
    enum { STEP = 1 << 16, STEPS = 1000, INPUT_BYTES = 800 };
    unsigned char *const memory = malloc(prof_gzip_bytes() + STEP * STEPS);
    static unsigned char first[BYTES];
    const struct prof_sink to = prof_memory_sink(&run.memory);
    size_t length = 0;
    uint64_t seed = 1;

    assert_non_null(memory);
    for (size_t i = 0; i < INPUT_BYTES; i++)
        given[i] = (unsigned char)(next_word(&seed) % 7);
    case_begin(&run);
    for (size_t step = 0; step <= STEPS; step++) {
        run.memory.bytes_count = 0;
        assert_int_equal(pack(&memory[step * STEP], &to, INPUT_BYTES, BYTES),
                         PROF_OK);
        if (step == 0) {
            length = run.memory.bytes_count;
            memcpy(first, run.bytes, length);
        }
        assert_int_equal(run.memory.bytes_count, length);
        assert_memory_equal(run.bytes, first, length);
    }
    free(memory);
}

TEST(a_compressor_reports_its_sink_its_memory_and_its_input)
{
    unsigned char *const memory = malloc(prof_gzip_bytes());
    struct failing failing = {.limit = BYTES};
    const struct prof_sink to = {.write = take_until, .context = &failing};
    size_t length;
    struct prof_gzip gzip;
    struct prof_sink sink;

    assert_non_null(memory);
    draw_bytes();
    assert_int_equal(pack(memory, &to, BYTES, 65536), PROF_OK);
    length = failing.taken;
    for (size_t limit = 0; limit < length; limit += 30000) {
        failing = (struct failing){.limit = limit};
        assert_int_equal(pack(memory, &to, BYTES, 65536), PROF_ERR_SINK);
        assert_int_equal(failing.calls_after, 0);
    }
    /* A profile that failed gets no end. */
    failing = (struct failing){.limit = BYTES};
    prof_gzip_begin(&gzip, &to, memory, prof_gzip_bytes());
    assert_int_equal(prof_gzip_end(&gzip, PROF_ERR_SHORT), PROF_ERR_SHORT);
    prof_gzip_begin(&gzip, &to, memory, prof_gzip_bytes() - 1);
    sink = prof_gzip_sink(&gzip);
    assert_int_equal(sink.write(sink.context, given, 1), PROF_ERR_MEMORY);
    assert_int_equal(prof_gzip_end(&gzip, PROF_OK), PROF_ERR_MEMORY);
    assert_int_equal(failing.taken, 0);
    free(memory);
}
