/*
 * mutants.c -- `profsim mutants`: the table that `make mutants FULL=1` has
 * written, as a matrix of files and of who caught their mutants.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complaint.h"
#include "mutants.h"

enum { ROWS_MAX = 128, NAME_MAX_BYTES = 40 };

struct row {
    char name[NAME_MAX_BYTES];
    uint32_t mutants;
    uint32_t caught;
    uint32_t no_mistake;
};

struct table {
    struct row rows[ROWS_MAX];
    size_t count;
};

struct one {
    char file[NAME_MAX_BYTES];
    char by[NAME_MAX_BYTES]; /* a property, or a program */
    bool caught;
    bool no_mistake;
};

static struct row *
row_of(struct table *table, const char *name)
{
    static struct row spare; /* of what is too much for a table */

    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    }
    if (table->count == ROWS_MAX)
        return &spare;
    snprintf(table->rows[table->count].name, NAME_MAX_BYTES, "%s", name);
    return &table->rows[table->count++];
}

/* Take a field, which quotation marks may enclose, off the front of a line. */
static char *
take_field(char **line)
{
    char *const field = *line + (**line == '"');
    char *to = field;
    char *from = field;

    if (**line != '"') {
        from = field + strcspn(field, ",\n");
        to = from;
    } else {
        for (; *from != '\0' && (*from != '"' || from[1] == '"'); from++) {
            *to++ = *from;
            from += *from == '"';
        }
        from += *from == '"';
    }
    *line = from + (*from == ',');
    *to = '\0';
    return field;
}

/* Name, kind, verdict, by; then runs, which only the page shows. */
static void
read_row(char *line, struct one *one)
{
    const char *name = take_field(&line);
    const char *verdict;
    const char *by;

    snprintf(one->file, sizeof one->file, "%.*s", (int)strcspn(name, " "),
             name);
    (void)take_field(&line);
    verdict = take_field(&line);
    one->caught = strcmp(verdict, "failed") == 0 ||
                  strcmp(verdict, "crashed") == 0 ||
                  strcmp(verdict, "hangs") == 0;
    one->no_mistake = strcmp(verdict, "equivalent") == 0 ||
                      strcmp(verdict, "same object code") == 0;
    by = take_field(&line);
    snprintf(one->by, sizeof one->by, "%.*s", (int)strcspn(by, " "), by);
}

static void
add(struct table *table, const char *name, const struct one *one)
{
    struct row *row = row_of(table, name);

    row->mutants++;
    row->caught += one->caught;
    row->no_mistake += one->no_mistake;
}

static int
by_name(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static void
print_table(struct table *table, const char *title)
{
    qsort(table->rows, table->count, sizeof *table->rows, by_name);
    printf("%-24s mutants  caught  no mistake  survive   score\n", title);
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        const uint32_t wrong = row->mutants - row->no_mistake;

        printf("%-24s %7" PRIu32 " %7" PRIu32 " %11" PRIu32 " %8" PRIu32,
               row->name, row->mutants, row->caught, row->no_mistake,
               wrong - row->caught);
        if (wrong > 0)
            printf(" %6" PRIu32 ".%" PRIu32, row->caught * 100 / wrong,
                   row->caught * 1000 / wrong % 10);
        printf("\n");
    }
    printf("\n");
}

static void
print_judges(struct table *judges)
{
    qsort(judges->rows, judges->count, sizeof *judges->rows, by_name);
    printf("%-24s  caught\n", "first to notice");
    for (size_t i = 0; i < judges->count; i++)
        printf("%-24s %7" PRIu32 "\n", judges->rows[i].name,
               judges->rows[i].caught);
}

enum cli_exit
cli_mutants_of_lines(const char *path)
{
    static struct table files;
    static struct table judges;
    struct table all = {.count = 0};
    char line[1024];
    FILE *file = fopen(path, "r");

    if (file == NULL)
        return cli_usage("%s: %s", path, strerror(errno));
    if (fgets(line, sizeof line, file) == NULL ||
        strncmp(line, "name,kind,verdict,by,runs", 25) != 0) {
        fclose(file);
        return cli_usage("%s: this is no table of mutants", path);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        struct one one;

        read_row(line, &one);
        add(&files, one.file, &one);
        add(&all, "all", &one);
        if (one.caught)
            add(&judges, one.by, &one);
    }
    fclose(file);
    print_table(&files, "file");
    print_table(&all, "");
    print_judges(&judges);
    return CLI_OK;
}
