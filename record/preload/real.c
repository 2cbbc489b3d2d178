/* real.c -- finds the functions that the hooks stand for. */
#include "record/preload/hooks.h"

#include <dlfcn.h>
#include <string.h>

void
embed_resolve(void *function, const char *name, const char *version)
{
    void *found = NULL;

    if (version != NULL)
        found = dlvsym(RTLD_NEXT, name, version);
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}
