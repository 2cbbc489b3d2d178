/*
 * demangle.c -- see demangle.h. libiberty prints into a buffer of fixed size: a
 * few bytes of a forged name can expand to gigabytes.
 */
#include "common/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOL_MAX = 8192, NAME_MAX_BYTES = 4096 };

struct name {
    char text[NAME_MAX_BYTES];
    size_t length;
    jmp_buf full;
};

/* libiberty's callback forms own no memory, so they can be left at any time. */
static void
append(const char *text, size_t length, void *context)
{
    struct name *name = context;

    if (length >= sizeof name->text - name->length)
        longjmp(name->full, 1);
    memcpy(name->text + name->length, text, length);
    name->length += length;
}

char *
cli_demangle(const char *symbol)
{
    const int options = DMGL_PARAMS | DMGL_ANSI;
    struct name name;

    name.length = 0;
    if (symbol[0] != '_' || strnlen(symbol, SYMBOL_MAX) == SYMBOL_MAX)
        return NULL;
    if (setjmp(name.full) != 0)
        return NULL;
    /* Rust's older symbols are also C++ symbols, with a hash at the end. */
    if (rust_demangle_callback(symbol, options, append, &name) == 0) {
        name.length = 0;
        if (cplus_demangle_v3_callback(symbol, options, append, &name) == 0)
            return NULL;
    }
    return strndup(name.text, name.length);
}
