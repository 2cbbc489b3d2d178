/* refused_text.c -- see refused_text.h. */
#include "refused_text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

int refused_text_at;

static bool
is_refused(void)
{
    return refused_text_at > 0 && --refused_text_at == 0;
}

void *__real_calloc(size_t count, size_t each_bytes);
void *__wrap_calloc(size_t count, size_t each_bytes);
void *
__wrap_calloc(size_t count, size_t each_bytes)
{
    return is_refused() ? NULL : __real_calloc(count, each_bytes);
}

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *
__wrap_realloc(void *old, size_t bytes)
{
    return is_refused() ? NULL : __real_realloc(old, bytes);
}

FILE *__real_open_memstream(char **text, size_t *bytes);
FILE *__wrap_open_memstream(char **text, size_t *bytes);
FILE *
__wrap_open_memstream(char **text, size_t *bytes)
{
    return is_refused() ? NULL : __real_open_memstream(text, bytes);
}

int __real_vasprintf(char **text, const char *format, va_list arguments);
int __wrap_vasprintf(char **text, const char *format, va_list arguments);
int
__wrap_vasprintf(char **text, const char *format, va_list arguments)
{
    *text = (char *)(uintptr_t)1; /* it may be anything */
    return is_refused() ? -1 : __real_vasprintf(text, format, arguments);
}
