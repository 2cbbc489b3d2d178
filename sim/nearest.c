/* nearest.c -- see nearest.h. */
#include "nearest.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_BYTES_MAX = 32 }; /* longer words are near to none */

static bool
same(char a, char b)
{
    if (a >= 'A' && a <= 'Z')
        a = (char)(a - 'A' + 'a');
    if (b >= 'A' && b <= 'Z')
        b = (char)(b - 'A' + 'a');
    return a == b;
}

/* Edits that turn one into the other; a swap of neighbours is one. */
static uint32_t
edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    uint32_t rows[3][WORD_BYTES_MAX + 1] = {{0}};

    for (uint32_t j = 0; j <= b_bytes; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_bytes; i++) {
        uint32_t *now = rows[i % 3];
        const uint32_t *above = rows[(i + 2) % 3];
        const uint32_t *above2 = rows[(i + 1) % 3];

        now[0] = i;
        for (uint32_t j = 1; j <= b_bytes; j++) {
            uint32_t least = above[j - 1] + !same(a[i - 1], b[j - 1]);

            if (above[j] + 1 < least)
                least = above[j] + 1;
            if (now[j - 1] + 1 < least)
                least = now[j - 1] + 1;
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) &&
                same(a[i - 2], b[j - 1]) && above2[j - 2] + 1 < least)
                least = above2[j - 2] + 1;
            now[j] = least;
        }
    }
    return rows[a_bytes % 3][b_bytes];
}

void
sim_nearest_try(struct sim_nearest *nearest, const char *known)
{
    const size_t bytes = strlen(known);
    uint32_t distance;

    if (bytes > WORD_BYTES_MAX || nearest->wrong_bytes > WORD_BYTES_MAX)
        return;
    distance =
        edit_distance(nearest->wrong, nearest->wrong_bytes, known, bytes);
    /* A third of the letters may be wrong, and of short words one. */
    if (distance > (bytes < 6 ? 1 : bytes / 3))
        return;
    if (nearest->best == NULL || distance < nearest->distance) {
        nearest->best = known;
        nearest->distance = distance;
    }
}
