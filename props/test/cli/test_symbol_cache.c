/*
 * test_symbol_cache.c -- the cache of function names across images never
 * returns the name of another file or address.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "map.h"
#include "refused_memory.h"
#include "symbol_cache.h"
#include "unit_test.h"

static const uint8_t first_id[] = {1, 2, 3};
static const uint8_t second_id[] = {1, 2, 4};

/* Make a name from the file and the address. */
static void
keep(struct cli_symbol_cache *cache, uint32_t file, uint64_t offset)
{
    char function[32];
    struct cli_symbol found[2] = {
        {.function = "inlined", .file = "x.h", .line = 7},
        {.function = function, .function_offset = offset, .file = ""}};

    snprintf(function, sizeof function, "%u/%llx", file,
             (unsigned long long)offset);
    cli_symbol_cache_put(cache, file, offset, found, 2);
    memset(function, 'x', sizeof function - 1); /* the cache has copied it */
}

static void
expect(struct cli_symbol_cache *cache, uint32_t file, uint64_t offset)
{
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    char function[32];

    snprintf(function, sizeof function, "%u/%llx", file,
             (unsigned long long)offset);
    assert_int_equal(cli_symbol_cache_get(cache, file, offset, found), 2);
    assert_string_equal(found[0].function, "inlined");
    assert_string_equal(found[0].file, "x.h");
    assert_int_equal(found[0].line, 7);
    assert_string_equal(found[1].function, function);
    assert_int_equal(found[1].function_offset, offset);
    assert_string_equal(found[1].file, "");
}

TEST(a_name_is_that_of_its_file_and_address)
{
    struct cli_symbol_cache *const cache = cli_symbol_cache_open();
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    const uint32_t files[] = {
        cli_symbol_cache_file(cache, "/a", first_id, 3),
        cli_symbol_cache_file(cache, "/a", second_id, 3),
        cli_symbol_cache_file(cache, "/a", first_id, 2),
        cli_symbol_cache_file(cache, "/b", first_id, 3),
    };

    for (uint32_t i = 0; i < 4; i++)
        for (uint64_t offset = 0; offset < 3000; offset++)
            keep(cache, files[i], offset * 16);
    assert_int_equal(cli_symbol_cache_file(cache, "/a", second_id, 3),
                     files[1]);
    for (uint32_t i = 0; i < 4; i++)
        for (uint64_t offset = 0; offset < 3000; offset++)
            expect(cache, files[i], offset * 16);
    assert_int_equal(cli_symbol_cache_get(cache, files[0], 8, found), 0);
    cli_symbol_cache_close(cache);
}

/* A file without a build id may have been replaced since. */
TEST(what_cannot_be_told_apart_is_not_kept)
{
    struct cli_symbol_cache *const cache = cli_symbol_cache_open();
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    const uint32_t file = cli_symbol_cache_file(cache, "/a", first_id, 3);

    assert_int_equal(cli_symbol_cache_file(cache, "/a", NULL, 0), 0);
    assert_int_equal(cli_symbol_cache_file(NULL, "/a", first_id, 3), 0);
    keep(cache, 0, 64);
    assert_int_equal(cli_symbol_cache_get(cache, 0, 64, found), 0);
    keep(cache, file, UINT64_C(1) << 48 | 64);
    assert_int_equal(
        cli_symbol_cache_get(cache, file, UINT64_C(1) << 48 | 64, found), 0);
    assert_int_equal(cli_symbol_cache_get(cache, file, 64, found), 0);
    cli_symbol_cache_close(cache);
}

/* ---- no memory ---- */

/* Let one request for memory fail, and those after it succeed. */
static void
keep_without(uint32_t request)
{
    enum { NAMES = 1100 }; /* the list must grow for these */
    struct cli_symbol found[CLI_SYMBOLS_MAX];
    struct cli_symbol_cache *const cache = cli_symbol_cache_open();
    uint32_t missing = 0;
    uint32_t file;

    refused_memory_at = request;
    file = cli_symbol_cache_file(cache, "/a", first_id, 3);
    if (file == 0)
        file = cli_symbol_cache_file(cache, "/a", first_id, 3);
    assert_int_equal(file, 1);
    for (uint64_t i = 0; i < NAMES; i++)
        keep(cache, file, i * 16);
    refused_memory_at = 0;
    for (uint64_t i = 0; i < NAMES; i++)
        if (cli_symbol_cache_get(cache, file, i * 16, found) == 0)
            missing++;
        else
            expect(cache, file, i * 16);
    assert_true(missing <= 1);
    cli_symbol_cache_close(cache);
}

/* Each name takes about one request for memory, and a list that grows a few
 * more. */
TEST(a_name_that_found_no_memory_is_none)
{
    for (uint32_t i = 1; i < 12; i++)
        keep_without(i);
    for (uint32_t i = 1020; i < 1060; i++)
        keep_without(i);
}

/* ---- the map below ---- */

/* Keys come and go like the addresses of a program. A map with few live keys is
 * rebuilt only once in many calls, and never loses a key. */
TEST(a_map_of_keys_that_come_and_go_stays_small)
{
    enum { KEYS = 20000, LIVE = 12 };
    struct cli_map map = {0};

    refused_memory_callocs = 0;
    for (uint64_t key = 1; key <= KEYS; key++) {
        assert_true(cli_map_put(&map, key, key * 3));
        if (key > LIVE)
            assert_true(cli_map_put(&map, key - LIVE, CLI_MAP_NONE));
        for (uint64_t k = key > LIVE ? key - LIVE + 1 : 1; k <= key; k++)
            assert_int_equal(cli_map_get(&map, k), k * 3);
        if (key > LIVE)
            assert_int_equal(cli_map_get(&map, key - LIVE), CLI_MAP_NONE);
    }
    assert_true(map.room <= 128);
    /* Each rebuilding gets room for at least 16 more keys, in two arrays. */
    assert_true(refused_memory_callocs <= 2 * KEYS / 16);
    cli_map_release(&map);
}

int
main(void)
{
    return tests_run(NULL, NULL);
}
