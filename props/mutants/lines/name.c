/* name.c -- see name.h. */
#include "lines/name.h"

#include <stdio.h>
#include <stdlib.h>

char *
name_of_mutant(const char *file, const char *function, const char *text,
               const char *instead, uint32_t ordinal)
{
    char *name = NULL;
    int bytes;

    if (ordinal == 1)
        bytes =
            asprintf(&name, "%s %s: %s -> %s", file, function, text, instead);
    else
        bytes = asprintf(&name, "%s %s: %s -> %s #%u", file, function, text,
                         instead, ordinal);
    if (bytes < 0)
        abort();
    return name;
}

/* By the name's hash (FNV-1a). */
bool
name_is_sampled(const char *name, uint64_t every)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return (hash ^ hash >> 32) % every == 0;
}
