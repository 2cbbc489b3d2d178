/* recfile_exact.c -- see recfile_exact.h, docs/recording.md. */
#include "recfile_exact.h"

#include <string.h>

#include "recfile.h"
#include "refused_memory.h"
#include "rng.h"
#include "unit_test.h"

enum { BYTES = 1 << 17, BLOCKS = 1 << 13, HEAD = 9, DEPTH = 6 };

static uint8_t bytes[BYTES];
static size_t count;
static size_t blocks[BLOCKS]; /* where they begin */
static size_t blocks_count;
static size_t block_bytes;

static void
put(uint64_t value)
{
    assert_true(count + 10 < BYTES);
    for (; value > 127; value /= 128)
        bytes[count++] = (uint8_t)(value % 128 + 128);
    bytes[count++] = (uint8_t)value;
}

/* A block that has grown to its length is not continued. */
static void
begin(char kind)
{
    const size_t last = blocks_count > 0 ? blocks[blocks_count - 1] : 0;

    if (blocks_count > 0 && bytes[last] == (uint8_t)kind &&
        count - last < block_bytes)
        return;
    assert_true(blocks_count < BLOCKS);
    blocks[blocks_count++] = count;
    memset(&bytes[count], 0, HEAD);
    bytes[count] = (uint8_t)kind;
    count += HEAD;
}

static void
seal(void)
{
    for (size_t i = 0; i < blocks_count; i++) {
        const size_t end = i + 1 < blocks_count ? blocks[i + 1] : count;
        size_t payload = end - blocks[i] - HEAD;

        for (int k = 1; k < 5; k++, payload /= 256)
            bytes[blocks[i] + (size_t)k] = (uint8_t)(payload % 256);
    }
}

/* ---- records ---- */

static void
write_stack(struct cli_recfile *file, struct sim_rng *rng)
{
    static uint32_t before[DEPTH];
    static uint32_t before_depth;
    const uint32_t depth = sim_rng_below(rng, DEPTH + 1);
    uint32_t frames[DEPTH];
    uint32_t keep = 0;

    if (file->bytes_count == 12)
        before_depth = 0;
    for (uint32_t i = 0; i < depth; i++)
        frames[i] = sim_rng_below(rng, 2);
    while (keep < depth && keep < before_depth &&
           frames[depth - 1 - keep] == before[before_depth - 1 - keep])
        keep++;
    begin('K');
    put(keep);
    put(depth - keep);
    for (uint32_t i = 0; i < depth - keep; i++)
        put(frames[i]);
    memcpy(before, frames, sizeof *frames * depth);
    before_depth = depth;
    cli_recfile_stack(file, frames, depth);
}

/* The usable bytes follow if they are known and hold what was asked for. */
static void
put_sizes(uint64_t size, uint64_t usable, bool aligned, uint64_t alignment)
{
    put(size);
    if (aligned)
        put(alignment);
    if (usable > 0 && usable >= size)
        put(usable - size);
}

static void
put_head(uint32_t tag, uint32_t thread, uint32_t *thread_before, uint64_t ticks)
{
    begin('E');
    bytes[count++] = (uint8_t)(tag + (thread != *thread_before ? 16u : 0u));
    if (thread != *thread_before)
        put(thread);
    put(ticks);
    *thread_before = thread;
}

static void
write_event(struct cli_recfile *file, struct sim_rng *rng)
{
    static uint32_t last;
    static uint64_t ticks;
    const uint32_t thread = sim_rng_below(rng, 2) * 200;
    const uint64_t passed = sim_rng_below(rng, 300);
    const uint64_t size = sim_rng_below(rng, 4);
    const uint64_t usable = sim_rng_below(rng, 5);
    const uint32_t lock = sim_rng_below(rng, 5);
    const bool flag = sim_rng_below(rng, 2) == 0;
    const bool other = sim_rng_below(rng, 2) == 0;
    const uint32_t has_usable = usable > 0 && usable >= size ? 128 : 0;
    const struct cli_recfile_request request = {flag, other, lock, usable};

    if (file->ticks == 0 && file->allocs == 0) {
        last = 0;
        ticks = 0;
    }
    ticks += passed;
    switch (file->allocs == 0 ? 0 : sim_rng_below(rng, 6)) {
    case 0:
        put_head(1 + (flag ? 32u : 0) + (other ? 64u : 0) + has_usable, thread,
                 &last, passed);
        put_sizes(size, usable, other, lock);
        cli_recfile_alloc_as(file, thread, ticks, size, &request, 9);
        break;
    case 1:
        put_head(5, thread, &last, passed);
        put(file->allocs);
        put(size);
        cli_recfile_resize(file, thread, ticks, 0, size, 9);
        break;
    case 2:
        put_head(5 + has_usable, thread, &last, passed);
        put(1);
        put_sizes(size, usable, false, 0);
        cli_recfile_resize_usable(file, thread, ticks, file->allocs - 1, size,
                                  usable, 9);
        break;
    case 3:
        put_head((lock == 4 ? 6 : 3 + 32 * lock) + (flag ? 128u : 0), thread,
                 &last, passed);
        put(300);
        put(size);
        cli_recfile_wait(file, thread, ticks, lock, flag, 300, size, 9);
        break;
    case 4:
        put_head(4 + (flag ? 32u : 0), thread, &last, passed);
        put(size);
        cli_recfile_release_of(file, thread, ticks, flag, size, 9);
        break;
    default:
        put_head(1, thread, &last, passed);
        put(1000);
        cli_recfile_alloc(file, thread, ticks, 1000, 9);
        break;
    }
    put(9);
}

static void
expect_same(size_t length, uint32_t records)
{
    static const uint64_t none[CLI_RECFILE_CAUSES];
    struct sim_rng rng = {.state = sim_mix64(length)};
    struct cli_recfile file;

    memcpy(bytes, "PROFREC\n\2\0\0\0", 12);
    count = 12;
    blocks_count = 0;
    block_bytes = length == 0 ? 65536 : length;
    cli_recfile_init(&file, length);
    for (uint32_t i = 0; i < records; i++)
        write_stack(&file, &rng);
    for (uint32_t i = 0; i < records; i++)
        write_event(&file, &rng);
    begin('Z');
    put(file.allocs);
    put(file.frees);
    put(file.waits);
    put(file.releases);
    put(file.resizes);
    put(file.allocs - file.frees);
    put(CLI_RECFILE_CAUSES);
    for (uint32_t i = 0; i < CLI_RECFILE_CAUSES; i++)
        put(0);
    seal();
    cli_recfile_end(&file, none);
    assert_false(file.failed);
    assert_int_equal(file.bytes_count, count);
    for (size_t i = 0; i < blocks_count; i++)
        memset(file.bytes + blocks[i] + 5, 0, 4);
    assert_memory_equal(file.bytes, bytes, count);
    cli_recfile_release(&file);
    assert_null(file.bytes);
    assert_int_equal(file.bytes_count, 0);
}

void
recfile_check_bytes(void)
{
    expect_same(0, 3000);
    for (size_t length = 1; length < 40; length++)
        expect_same(length, 60);
}

void
recfile_check_refused(void)
{
    for (uint32_t request = 1; request < 4; request++) {
        const uint64_t none[CLI_RECFILE_CAUSES] = {0};
        struct cli_recfile file;
        size_t written = 0;

        refused_memory_at = request;
        cli_recfile_init(&file, 0);
        for (uint32_t i = 0; i < 20000; i++) {
            cli_recfile_alloc(&file, 0, i, UINT64_MAX, 0);
            if (file.failed && written == 0)
                written = file.bytes_count + 1;
        }
        cli_recfile_end(&file, none);
        assert_int_equal(refused_memory_at, 0);
        assert_true(file.failed);
        assert_int_equal(file.bytes_count + 1, written);
        cli_recfile_release(&file);
    }
}
