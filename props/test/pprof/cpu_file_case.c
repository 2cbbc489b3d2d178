/* cpu_file_case.c -- see cpu_file_case.h. */
#include "cpu_file_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dirent.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>

#include "unit_test.h"

enum { CPU_BYTES = 1 << 20 };

struct cpu_file_case cpu_file;

static alignas(PROF_BLOCK_ALIGN) unsigned char block[CPU_BYTES];

void
case_new_cpu(void)
{
    const struct prof_cpu_config config = {.ticks_max = 64, .stacks_max = 512};

    assert_int_equal(prof_cpu_init(&cpu_file.cpu, &config, block, sizeof block),
                     PROF_OK);
}

int
case_folder_begin(void **state)
{
    (void)state;
    strcpy(cpu_file.folder, "/tmp/test_cpu_file.XXXXXX");
    assert_non_null(mkdtemp(cpu_file.folder));
    snprintf(cpu_file.path, sizeof cpu_file.path, "%s/cpu.pb.gz",
             cpu_file.folder);
    memset(&cpu_file.file, 0, sizeof cpu_file.file);
    memset(block, 0, sizeof block);
    case_new_cpu();
    return 0;
}

int
case_folder_end(void **state)
{
    (void)state;
    (void)unlink(cpu_file.path);
    (void)rmdir(cpu_file.folder);
    return 0;
}

struct prof_cpu_file_config
case_config(void)
{
    case_begin(&cpu_file.run);
    cpu_file.run.output.symbols.find = NULL;
    return (struct prof_cpu_file_config){.cpu = cpu_file.cpu,
                                         .path = cpu_file.path,
                                         .output = cpu_file.run.output};
}

enum prof_status
case_start(void)
{
    const struct prof_cpu_file_config config = case_config();

    return prof_cpu_file_start(&cpu_file.file, &config);
}

/* returns: how many files are in the folder */
int
case_files(void)
{
    DIR *listing = opendir(cpu_file.folder);
    int count = -2; /* . and .. */

    assert_non_null(listing);
    while (readdir(listing) != NULL)
        count++;
    closedir(listing);
    return count;
}

void
case_burn(double seconds)
{
    const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    static volatile uint64_t sum;

    while (clock() < end) {
        for (int i = 0; i < 10000; i++)
            sum = sum * 3 + 1;
    }
}

size_t
case_read_whole(const char *name, unsigned char *bytes, size_t room)
{
    FILE *from = fopen(name, "rb");
    size_t count;

    assert_non_null(from);
    count = fread(bytes, 1, room, from);
    assert_true(feof(from) && count < room);
    fclose(from);
    return count;
}

/* in, out: the bytes of a gzip member. returns: how many they are, unpacked */
static size_t
unpack(unsigned char *bytes, size_t bytes_count, size_t room)
{
    struct inflate_state state;
    unsigned char *packed = malloc(bytes_count);

    assert_non_null(packed);
    memcpy(packed, bytes, bytes_count);
    isal_inflate_init(&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = packed;
    state.avail_in = (uint32_t)bytes_count;
    state.next_out = bytes;
    state.avail_out = (uint32_t)room;
    assert_int_equal(isal_inflate(&state), ISAL_DECOMP_OK);
    assert_int_equal(state.block_state, ISAL_BLOCK_FINISH);
    assert_int_equal(state.avail_in, 0);
    free(packed);
    return state.total_out;
}

uint64_t
case_ticks(void)
{
    struct prof_memory *const memory = &cpu_file.run.memory;
    uint64_t ticks = 0;

    case_begin(&cpu_file.run);
    memory->bytes_count = case_read_whole(cpu_file.path, cpu_file.run.bytes,
                                          sizeof cpu_file.run.bytes);
    if (memory->bytes_count > 2 && cpu_file.run.bytes[0] == 0x1f)
        memory->bytes_count = unpack(cpu_file.run.bytes, memory->bytes_count,
                                     sizeof cpu_file.run.bytes);
    case_read(&cpu_file.run, PROF_OK);
    for (size_t i = 0; i < cpu_file.run.profile.samples_count; i++) {
        const struct model_pprof_sample *sample =
            &cpu_file.run.profile.samples[i];

        ticks += (uint64_t)sample->values[0];
        assert_int_equal(sample->values[1],
                         sample->values[0] * cpu_file.run.profile.period);
    }
    return ticks;
}
