/* spool_case.c -- see spool_case.h. */
#include "spool_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit_test.h"

static char directory[64];
uint8_t spool[SPOOL_BYTES];

struct embed_spool_header *
spool_header(void)
{
    return (struct embed_spool_header *)(void *)spool;
}

const char *
spool_path_of(const char *name)
{
    static char path[2][96];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
    return path[turn];
}

/* Append a record. returns: its offset */
uint64_t
spool_append(enum embed_kind kind, uint8_t detail, uint32_t number,
             const uint64_t *words, uint32_t words_count)
{
    uint64_t offset = atomic_load(&spool_header()->used_bytes);
    struct embed_record record = {(uint8_t)kind, detail,
                                  (uint16_t)(words_count + 1), number};

    assert_true(offset + 8 * (words_count + 1) <= SPOOL_BYTES);
    memcpy(spool + offset, &record, sizeof record);
    memcpy(spool + offset + 8, words, 8 * (size_t)words_count);
    atomic_store(&spool_header()->used_bytes, offset + 8 * (words_count + 1));
    return offset;
}

void
spool_begin(void)
{
    static const uint64_t thread[] = {77};

    memset(spool, 0, sizeof spool);
    spool_header()->magic = EMBED_SPOOL_MAGIC;
    spool_header()->version = EMBED_SPOOL_VERSION;
    spool_header()->depth_max = 8;
    spool_header()->process = 42;
    spool_header()->start_ticks = START;
    spool_header()->command_bytes = 7;
    memcpy(spool_header()->command, "run\0it", 7);
    atomic_store(&spool_header()->used_bytes, EMBED_SPOOL_FIRST);
    spool_append(EMBED_THREAD, 0, 0, thread, 1);
}

uint64_t
spool_append_stack(uint64_t first_pc, uint32_t depth)
{
    uint64_t words[9] = {first_pc};
    uint32_t i;

    for (i = 0; i < depth; i++)
        words[1 + i] = first_pc + 16 * i;
    return spool_append(EMBED_STACK, 0, depth, words, 1 + depth);
}

void
spool_append_alloc(uint64_t ticks, uint64_t address, uint64_t bytes,
                   uint64_t stack)
{
    uint64_t words[4] = {START + ticks, address, bytes, stack};

    spool_append(EMBED_ALLOC, 0, 0, words, 4);
}

uint64_t
spool_append_free(enum embed_kind kind, uint64_t ticks, uint64_t address)
{
    uint64_t words[2] = {START + ticks, address};

    return spool_append(kind, 0, 0, words, 2);
}

void
spool_append_resized(uint64_t ticks, uint64_t address, uint64_t bytes,
                     uint64_t begun, uint64_t stack)
{
    uint64_t words[5] = {START + ticks, address, bytes, begun, stack};

    spool_append(EMBED_RESIZED, 0, 0, words, 5);
}

void
spool_append_module_of(const char *path)
{
    const size_t bytes = strlen(path);
    uint64_t words[40] = {0x5000, 0x5000, 0x6000, 0x200,
                          4 | (uint64_t)bytes << 32};

    assert_true(bytes < 200);
    memcpy(&words[5], "\1\2\3\4", 4);
    memcpy((char *)&words[5] + 4, path, bytes);
    spool_append(EMBED_MODULE, 0, 0, words, (uint32_t)(5 + (bytes + 11) / 8));
}

void
spool_append_module(void)
{
    spool_append_module_of("/no/file");
}

bool
spool_convert(struct cli_converted *what, char *error, size_t error_bytes)
{
    FILE *file = fopen(spool_path_of("spool"), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(spool, 1, sizeof spool, file), sizeof spool);
    assert_int_equal(fclose(file), 0);
    unlink(spool_path_of("x.rec"));
    return cli_convert(spool_path_of("spool"), spool_path_of("x.rec"), NULL,
                       what, error, error_bytes);
}

uint64_t
spool_lost(const struct cli_converted *what)
{
    uint64_t lost = 0;

    for (int i = 0; i < EMBED_DROP_COUNT; i++)
        lost += i == EMBED_DROP_MISSED ? 0 : what->dropped[i];
    return lost;
}

struct sim_recording *
spool_open_result(void)
{
    struct sim_recording *recording;
    struct sim_recording_error error;
    char line[200];

    if (sim_recording_open(&recording, spool_path_of("x.rec"), &error))
        return recording;
    sim_recording_explain(&error, "x.rec", line, sizeof line);
    fail_msg("%s", line);
    return NULL;
}

int
spool_make_folder(void **state)
{
    /* The files are written and synced thousands of times, so they should be in
     * memory. */
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    (void)state;
    snprintf(directory, sizeof directory, "%s/test_convert-XXXXXX", base);
    return mkdtemp(directory) != NULL ? 0 : -1;
}

int
spool_remove_folder(void **state)
{
    (void)state;
    unlink(spool_path_of("spool"));
    unlink(spool_path_of("x.rec"));
    return rmdir(directory);
}
