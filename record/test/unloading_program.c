/*
 * unloading_program.c -- loads and unloads two libraries at the same address,
 * and loads one twice.
 *
 * usage: unloading_program FIRST.so SECOND.so
 * Exits with 0 if the second library was where the first had been.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Load a library, allocate in it, and unload it. returns: where it was */
static void *
use(const char *path, const char *name, size_t bytes)
{
    void *const library = dlopen(path, RTLD_NOW);
    void *(*allocate)(size_t);
    void *place;

    if (library == NULL)
        abort();
    place = dlsym(library, name);
    if (place == NULL)
        abort();
    memcpy(&allocate, &place, sizeof allocate);
    free(allocate(bytes));
    dlclose(library);
    return place;
}

static __attribute__((noinline)) void *
hand_out(size_t bytes)
{
    void *volatile block = malloc(bytes);

    return block;
}

/* Load one library twice, at two addresses: the second copy is in a namespace
 * with a libc of its own. */
static void
use_twice(const char *path)
{
    void *const libraries[] = {dlopen(path, RTLD_NOW),
                               dlmopen(LM_ID_NEWLM, path, RTLD_NOW)};

    for (int i = 0; i < 2; i++) {
        void *(*ask)(void *(*)(size_t), size_t);
        void *place;

        if (libraries[i] == NULL ||
            (place = dlsym(libraries[i], "first_asks")) == NULL)
            abort();
        memcpy(&ask, &place, sizeof ask);
        free(ask(hand_out, 3003));
    }
}

int
main(int argc, char **argv)
{
    int same = 0;

    if (argc != 3)
        return 2;
    for (int i = 0; i < 10; i++) {
        void *const first = use(argv[1], "first_allocates", 1001);

        same += use(argv[2], "second_allocates", 2002) == first;
    }
    use_twice(argv[1]);
    return same == 10 ? 0 : 1;
}
