/*
 * loops.c -- two programs that do little but allocate.
 *
 * usage: loops malloc | threads
 *   malloc   4 threads, each of which has 512 blocks and again and again
 *            replaces a random one
 *   threads  4,000 threads, four at a time, each of which makes 100 blocks
 *            and frees 99
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BLOCKS = 512, TURNS = 800000, SHORT = 4000, LIST = 100 };

static uint32_t
next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static char *
block(size_t bytes)
{
    char *const made = malloc(bytes);

    if (made == NULL) {
        fprintf(stderr, "loops: no memory\n");
        exit(1);
    }
    made[0] = (char)bytes;
    return made;
}

static void *
replace(void *context)
{
    uint32_t state = (uint32_t)(uintptr_t)context;
    char *blocks[BLOCKS] = {0};

    for (int i = 0; i < TURNS; i++) {
        const uint32_t draw = next(&state);
        char **const at = &blocks[draw % BLOCKS];

        free(*at);
        *at = block(16 + (draw >> 9) % (draw >> 24 == 0 ? 8192 : 256));
    }
    return blocks[0]; /* the other blocks are leaked on purpose */
}

static void *
make_list(void *context)
{
    char *blocks[LIST];

    for (int i = 0; i < LIST; i++)
        blocks[i] = block(24 + (size_t)i % 64);
    for (int i = 0; i < LIST - 1; i++)
        free(blocks[i]);
    (void)context;
    return blocks[LIST - 1];
}

static void
run_threads(void *(*work)(void *))
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)) != 0) {
            fprintf(stderr, "loops: no thread\n");
            exit(1);
        }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int
main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "malloc") == 0) {
        run_threads(replace);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "threads") == 0) {
        for (int i = 0; i < SHORT / THREADS; i++)
            run_threads(make_list);
        return 0;
    }
    fprintf(stderr, "usage: loops malloc | threads\n");
    return 2;
}
