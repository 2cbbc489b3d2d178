/* map_model.c -- see map_model.h. */
#include "map_model.h"

#include "map.h"
#include "refused_memory.h"
#include "rng.h"
#include "unit_test.h"

enum { KEYS_MAX = 600 };

/* What the map has room for: cli/record/map.c says how full it may be. */
struct model {
    uint64_t keys[KEYS_MAX]; /* removed ones included */
    uint64_t values[KEYS_MAX];
    size_t count;
    size_t room;
};

static size_t
find(const struct model *model, uint64_t key)
{
    size_t i = 0;

    while (i < model->count && model->keys[i] != key)
        i++;
    return i;
}

static void
grow(struct model *model)
{
    size_t live = 0;

    for (size_t i = 0; i < model->count; i++) {
        if (model->values[i] == CLI_MAP_NONE)
            continue;
        model->keys[live] = model->keys[i];
        model->values[live++] = model->values[i];
    }
    model->count = live;
    model->room = 64;
    while (model->room < live * 4)
        model->room *= 2;
}

static void
put(struct model *model, uint64_t key, uint64_t value)
{
    size_t at;

    if ((model->count + 1) * 4 > model->room * 3)
        grow(model);
    at = find(model, key);
    if (at == model->count)
        model->count++;
    assert_true(model->count < KEYS_MAX);
    model->keys[at] = key;
    model->values[at] = value;
}

static void
expect(const struct cli_map *map, const struct model *model)
{
    assert_int_equal(map->used, model->count);
    assert_int_equal(map->room, model->room);
    for (size_t i = 0; i < model->count; i++)
        assert_int_equal(cli_map_get(map, model->keys[i]), model->values[i]);
    assert_int_equal(cli_map_get(map, 0), CLI_MAP_NONE);
    assert_int_equal(cli_map_get(map, 1000), CLI_MAP_NONE);
}

void
map_check_random(void)
{
    static struct model model;
    struct cli_map map = {0};
    struct sim_rng rng = {0};

    assert_int_equal(cli_map_get(&map, 1), CLI_MAP_NONE);
    for (int i = 0; i < 1500; i++) {
        const uint64_t drawn = sim_rng_next(&rng);
        const uint64_t key = 1 + drawn % 300;
        const uint64_t value = drawn % 8 < 3 ? CLI_MAP_NONE : drawn >> 40;

        put(&model, key, value);
        assert_true(cli_map_put(&map, key, value));
        if (i % 16 == 0 || i < 200)
            expect(&map, &model);
    }
    expect(&map, &model);
    assert_int_equal(model.room, 512); /* three quarters of it hold 300 keys */
    cli_map_release(&map);
    assert_int_equal(cli_map_get(&map, 1), CLI_MAP_NONE);
    assert_true(cli_map_put(&map, 1, 2)); /* it is an empty one again */
    assert_int_equal(cli_map_get(&map, 1), 2);
    cli_map_release(&map);
}

void
map_check_few_live(void)
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

void
map_check_spread(void)
{
    static const uint64_t steps[] = {1, 8, 16, 4096, 65536};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct cli_map map = {0};
        size_t longest = 0;
        size_t run = 0;

        for (uint64_t n = 1; n <= 1600; n++)
            assert_true(cli_map_put(&map, 0x7f0000000000 + n * steps[i], n));
        for (size_t slot = 0; slot < map.room; slot++) {
            run = map.keys[slot] != 0 ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
        if (longest > 64)
            fail_msg("step %d: a run of %zu of %zu", (int)steps[i], longest,
                     map.room);
        cli_map_release(&map);
    }
}

void
map_check_refused(void)
{
    for (uint32_t request = 1; request <= 2; request++) {
        struct cli_map map = {0};
        uint64_t key = 1;

        refused_memory_at = request;
        assert_false(cli_map_put(&map, key, 7));
        assert_int_equal(cli_map_get(&map, key), CLI_MAP_NONE);
        while (key <= 48) {
            assert_true(cli_map_put(&map, key, key));
            key++;
        }
        refused_memory_at = request;
        assert_false(cli_map_put(&map, key, key));
        assert_int_equal(cli_map_get(&map, key), CLI_MAP_NONE);
        assert_true(cli_map_put(&map, key, key));
        for (; key > 0; key--)
            assert_int_equal(cli_map_get(&map, key), key);
        refused_memory_at = 0;
        cli_map_release(&map);
    }
}
