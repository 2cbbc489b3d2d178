/*
 * registry.c -- kernels: several threads open and close profiles by name.
 */
#include "prof/registry.h"

#include <stdalign.h>
#include <string.h>

#include "props/kernels/kernels.h"
#include "props/kernels/explained.h"
#include "prof/pprof.h"

enum { ADD, REMOVE, COUNT, LISTED_MAX = 8 };

static alignas(PROF_BLOCK_ALIGN) unsigned char block[1 << 13];
static struct prof_registry *registry;
static struct prof_profile *profile;
static struct sim_history history;

static void
setup(void *context)
{
    const struct prof_registry_config config = {
        .profiles_max = 2, .entries_max = 2, .depth_max = 1};

    (void)context;
    memset(block, 0, sizeof block);
    sim_history_init(&history);
    if (prof_registry_init(&registry, &config, block, sizeof block) !=
            PROF_OK ||
        prof_registry_new(registry, "own", &profile) != PROF_OK)
        sim_explore_fail("the registry does not fit its block");
}

/* ---- opening and closing entries is linearizable ---- */

/* The state of a sequential registry: is this key open? */
struct sequential {
    uint32_t open[2];
};

static bool
step(void *state, const struct sim_operation *operation)
{
    uint32_t *open = &((struct sequential *)state)->open[operation->argument];
    const enum prof_status add = *open ? PROF_ERR_KEY_TAKEN : PROF_OK;

    switch (operation->kind) {
    case ADD:
        *open = 1;
        return operation->result == add;
    case REMOVE:
        *open = 0;
        return operation->result == PROF_OK;
    default:
        open = ((struct sequential *)state)->open;
        return operation->result == open[0] + open[1];
    }
}

static void
finish(void *context)
{
    static const struct sim_linear_model model = {
        .state_bytes = sizeof(struct sequential), .step = step};

    (void)context;
    kernel_explained(&model, &history);
}

static void
add(unsigned char key)
{
    const uint32_t call = sim_history_call(&history, ADD, 0, key);
    const uintptr_t stack = 0x1000;

    sim_history_return(&history, call,
                       prof_profile_add(profile, &key, 1, &stack, 1));
}

static void
remove_key(unsigned char key)
{
    const uint32_t call = sim_history_call(&history, REMOVE, 0, key);

    sim_history_return(&history, call, prof_profile_remove(profile, &key, 1));
}

static void
open_and_close(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    add(0);
    remove_key(0);
}

static void
open_both(void *context, uint32_t thread)
{
    (void)context;
    (void)thread;
    add(0);
    add(1);
}

const struct sim_kernel props_kernel_registry = {
    .name = "registry",
    .about = "opening and closing are linearizable",
    .setup = setup,
    .finish = finish,
    .threads = {{"first", open_and_close, NULL}, {"second", open_both, NULL}},
    .threads_count = 2,
};

/* ---- a list of names is made outside the lock ---- */

static void
make_profile(void *context, uint32_t thread)
{
    struct prof_profile *made;

    (void)context;
    (void)thread;
    sim_explore_check(prof_registry_new(registry, "new", &made) == PROF_OK,
                      "there is room for a profile");
}

static void
list(void *context, uint32_t thread)
{
    struct prof_profile *profiles[LISTED_MAX];
    size_t count = 0;

    (void)context;
    (void)thread;
    sim_explore_check(
        prof_registry_list(registry, profiles, LISTED_MAX, &count) == PROF_OK &&
            (count == 7 || count == 8),
        "a profile is missing");
    for (size_t i = 1; i < count; i++)
        sim_explore_check(strcmp(prof_profile_name(profiles[i - 1]),
                                 prof_profile_name(profiles[i])) < 0,
                          "profiles are listed out of order");
}

const struct sim_kernel props_kernel_registry_list = {
    .name = "registry-list",
    .about = "a list of profiles taken while one is created shows no half-made "
             "profile",
    .setup = setup,
    .finish = NULL,
    .threads = {{"maker", make_profile, NULL}, {"reader", list, NULL}},
    .threads_count = 2,
};

/* ---- a profile is written while entries are opened and closed ---- */

enum { SCRATCH_BYTES = 1 << 17, TEXT_BYTES_MAX = 1024 };

static void
write_text(void *context, uint32_t thread)
{
    static alignas(PROF_BLOCK_ALIGN) unsigned char scratch[SCRATCH_BYTES];
    static char text[TEXT_BYTES_MAX];
    struct prof_memory memory = {.bytes = (unsigned char *)text,
                                 .bytes_max = sizeof text - 1};
    const struct prof_output output = {.sink = prof_memory_sink(&memory),
                                       .scratch = scratch,
                                       .scratch_bytes = sizeof scratch};

    (void)context;
    (void)thread;
    sim_explore_check(prof_profile_write(profile, &output, 1) == PROF_OK,
                      "the profile is not written");
    text[memory.bytes_count] = '\0';
    sim_explore_check(strncmp(text, "own profile: total 0\n", 21) == 0 ||
                          (strncmp(text, "own profile: total 1\n", 21) == 0 &&
                           strstr(text, "\n1 @ 0x") != NULL),
                      "the text shows an entry that was never there");
}

const struct sim_kernel props_kernel_registry_write = {
    .name = "registry-write",
    .about = "a profile that is written shows no half-made entry",
    .setup = setup,
    .finish = NULL,
    .threads = {{"program", open_and_close, NULL},
                {"writer", write_text, NULL}},
    .threads_count = 2,
};
