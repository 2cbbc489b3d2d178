/* nearest.c -- see nearest.h. */
#include "common/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { WORD_BYTES_MAX = 32 }; /* longer words are never considered near */

static bool
same(char a, char b)
{
    if (a >= 'A' && a <= 'Z')
        a = (char)(a - 'A' + 'a');
    if (b >= 'A' && b <= 'Z')
        b = (char)(b - 'A' + 'a');
    return a == b;
}

/*
 * Count the edits that turn one word into the other; a swap of neighbours is
 * one edit.
 *
 * returns: the count; any number above `most` if it is larger
 */
static uint32_t
edit_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes,
              uint32_t most)
{
    uint32_t rows[3][WORD_BYTES_MAX + 1];
    uint32_t least_above = 0;

    for (uint32_t j = 0; j <= b_bytes; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_bytes; i++) {
        uint32_t *now = rows[i % 3];
        const uint32_t *above = rows[(i + 2) % 3];
        const uint32_t *above2 = rows[(i + 1) % 3];
        uint32_t least_now = i;

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
            if (least < least_now)
                least_now = least;
        }
        /* No later cell is less than the least of the last two rows. */
        if (least_now > most && least_above > most)
            return most + 1;
        least_above = least_now;
    }
    return rows[a_bytes % 3][b_bytes];
}

void
sim_nearest_try(struct sim_nearest *nearest, const char *known)
{
    const size_t bytes = strlen(known);
    const size_t wrong_bytes = nearest->wrong_bytes;
    /* A third of the letters may be wrong; in a short word, one. */
    uint32_t most = bytes < 6 ? 1 : (uint32_t)(bytes / 3);
    uint32_t distance;

    if (bytes > WORD_BYTES_MAX || wrong_bytes > WORD_BYTES_MAX)
        return;
    if (nearest->best != NULL && nearest->distance <= most) {
        if (nearest->distance == 0)
            return;
        most = nearest->distance - 1;
    }
    /* Each letter of difference in length is an edit. */
    if (bytes > wrong_bytes + most || wrong_bytes > bytes + most)
        return;
    distance = edit_distance(nearest->wrong, wrong_bytes, known, bytes, most);
    if (distance > most)
        return;
    nearest->best = known;
    nearest->distance = distance;
}
