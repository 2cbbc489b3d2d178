/*
 * output.c -- a program's output: shown when a failure is replayed for a
 * report, dropped in all other runs. Reading the arguments always counts as
 * access.
 */
#include "explore/runtime/program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "explore/runtime/explored.h"

static bool
shown(struct engine *e)
{
    return !sim_program_runs(e) || e->trace != NULL;
}

/* ---- Arguments ---- */

static void
read_string(struct engine *e, const char *s, int most, uintptr_t site)
{
    if (s != NULL)
        sim_program_reads_string(e, s, most >= 0 ? (size_t)most : SIZE_MAX,
                                 site);
}

/* Read one conversion, after its '%', and its arguments. Any integer is passed
 * as a pointer is. returns: its end */
static const char *
conversion(struct engine *e, const char *f, va_list *arguments, uintptr_t site)
{
    int precision = -1;
    bool is_long = false;

    for (; *f != '\0' && strchr("-+ #0'123456789.*hljztL", *f) != NULL; f++) {
        if (*f == '.')
            precision = 0;
        else if (*f == '*' && precision == 0)
            precision = va_arg(*arguments, int);
        else if (*f == '*')
            (void)va_arg(*arguments, int);
        else if (precision >= 0 && *f >= '0' && *f <= '9')
            precision = precision * 10 + *f - '0';
        is_long |= *f == 'L';
    }
    if (*f == '\0')
        return f;
    if (*f == 's')
        read_string(e, va_arg(*arguments, const char *), precision, site);
    else if (strchr("aAeEfFgG", *f) != NULL && is_long)
        (void)va_arg(*arguments, long double);
    else if (strchr("aAeEfFgG", *f) != NULL)
        (void)va_arg(*arguments, double);
    else if (*f != '%' && *f != 'm')
        (void)va_arg(*arguments, void *);
    return f + 1;
}

static void
read_arguments(struct engine *e, const char *format, va_list given,
               uintptr_t site)
{
    va_list arguments;

    if (!sim_program_runs(e))
        return;
    va_copy(arguments, given);
    read_string(e, format, -1, site);
    for (const char *f = strchr(format, '%'); f != NULL && *f != '\0';
         f = strchr(f, '%'))
        f = conversion(e, f + 1, &arguments, site);
    va_end(arguments);
}

/* ---- To files ---- */

static int
print(struct engine *e, FILE *file, const char *format, va_list arguments,
      uintptr_t site)
{
    read_arguments(e, format, arguments, site);
    if (shown(e))
        return vfprintf(file, format, arguments);
    return vsnprintf(NULL, 0, format, arguments);
}

int
explored_vfprintf(FILE *file, const char *format, va_list arguments)
{
    struct engine *e = &sim_engine;

    return print(e, file, format, arguments, HERE);
}

int
explored_vprintf(const char *format, va_list arguments)
{
    struct engine *e = &sim_engine;

    return print(e, stdout, format, arguments, HERE);
}

int
explored_printf(const char *format, ...)
{
    struct engine *e = &sim_engine;
    va_list arguments;
    int printed;

    va_start(arguments, format);
    printed = print(e, stdout, format, arguments, HERE);
    va_end(arguments);
    return printed;
}

int
explored_fprintf(FILE *file, const char *format, ...)
{
    struct engine *e = &sim_engine;
    va_list arguments;
    int printed;

    va_start(arguments, format);
    printed = print(e, file, format, arguments, HERE);
    va_end(arguments);
    return printed;
}

int
explored_puts(const char *s)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        read_string(e, s, -1, HERE);
    return shown(e) ? puts(s) : 1;
}

int
explored_fputs(const char *s, FILE *file)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        read_string(e, s, -1, HERE);
    return shown(e) ? fputs(s, file) : 1;
}

int
explored_putchar(int c)
{
    struct engine *e = &sim_engine;

    return shown(e) ? putchar(c) : c;
}

int
explored_fputc(int c, FILE *file)
{
    struct engine *e = &sim_engine;

    return shown(e) ? fputc(c, file) : c;
}

int
explored_putc(int c, FILE *file)
{
    struct engine *e = &sim_engine;

    return shown(e) ? fputc(c, file) : c;
}

size_t
explored_fwrite(const void *p, size_t bytes, size_t count, FILE *file)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_program_reads(e, p, bytes * count, HERE);
    return shown(e) ? fwrite(p, bytes, count, file) : count;
}

int
explored_fflush(FILE *file)
{
    struct engine *e = &sim_engine;

    return shown(e) ? fflush(file) : 0;
}

void
explored_perror(const char *s)
{
    struct engine *e = &sim_engine;

    if (shown(e))
        perror(s);
}

ssize_t
explored_write(int file, const void *p, size_t bytes)
{
    struct engine *e = &sim_engine;

    if (sim_program_runs(e))
        sim_program_reads(e, p, bytes, HERE);
    return shown(e) ? write(file, p, bytes) : (ssize_t)bytes;
}

/* ---- To memory ---- */

static int
print_to(struct engine *e, char *to, size_t room, const char *format,
         va_list arguments, uintptr_t site)
{
    va_list again;
    int length;

    read_arguments(e, format, arguments, site);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (sim_program_runs(e) && length >= 0 && room > 0)
        sim_program_writes(
            e, to, (size_t)length < room ? (size_t)length + 1 : room, site);
    return vsnprintf(to, room, format, arguments);
}

int
explored_vsnprintf(char *to, size_t room, const char *format, va_list arguments)
{
    struct engine *e = &sim_engine;

    return print_to(e, to, room, format, arguments, HERE);
}

int
explored_vsprintf(char *to, const char *format, va_list arguments)
{
    struct engine *e = &sim_engine;

    return print_to(e, to, INT32_MAX, format, arguments, HERE);
}

int
explored_snprintf(char *to, size_t room, const char *format, ...)
{
    struct engine *e = &sim_engine;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = print_to(e, to, room, format, arguments, HERE);
    va_end(arguments);
    return length;
}

int
explored_sprintf(char *to, const char *format, ...)
{
    struct engine *e = &sim_engine;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = print_to(e, to, INT32_MAX, format, arguments, HERE);
    va_end(arguments);
    return length;
}
