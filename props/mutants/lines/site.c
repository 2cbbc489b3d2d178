/* site.c -- the table of spots; see site.h. */
#include "lines/site.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
die(const char *what, const char *which)
{
    fprintf(stderr, "mutate: %s: %s\n", which, what);
    exit(1);
}

char *
site_text(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        die("not enough memory", "text");
    va_end(arguments);
    return text;
}

const struct source *
site_source(struct sites *sites, const char *path)
{
    struct source *source;
    FILE *file;

    for (size_t i = 0; i < sites->sources_count; i++) {
        if (strcmp(sites->sources[i].path, path) == 0)
            return &sites->sources[i];
    }
    if (sites->sources_count == SITE_SOURCES_MAX)
        die("too many files", path);
    source = &sites->sources[sites->sources_count++];
    source->path = site_text("%s", path);
    source->text = calloc(1, 1U << 20);
    file = fopen(path, "r");
    if (file == NULL || source->text == NULL)
        die("cannot be read", path);
    source->bytes = fread(source->text, 1, (1U << 20) - 1, file);
    fclose(file);
    return source;
}

struct spot *
site_spot(struct sites *sites, const struct source *source,
          const char *function, size_t begin, size_t end)
{
    struct spot *spot;

    for (size_t i = 0; i < sites->spots_count; i++) {
        spot = sites->spots[i];
        if (spot->source == source && spot->begin == begin && spot->end == end)
            return spot;
    }
    if (sites->spots_count == SITE_SPOTS_MAX)
        die("too many spots", source->path);
    spot = calloc(1, sizeof *spot);
    if (spot == NULL)
        die("not enough memory", source->path);
    spot->source = source;
    spot->begin = begin;
    spot->end = end;
    snprintf(spot->function, sizeof spot->function, "%s", function);
    sites->spots[sites->spots_count++] = spot;
    return spot;
}

void
site_change(struct spot *spot, const char *kind, char *code, const char *shown)
{
    struct change *change = &spot->changes[spot->changes_count];

    for (uint32_t i = 0; i < spot->changes_count; i++) {
        if (strcmp(spot->changes[i].shown, shown) == 0) {
            free(code);
            return;
        }
    }
    if (spot->changes_count == SITE_CHANGES_MAX)
        die("too many mutants of one spot", spot->source->path);
    change->kind = kind;
    change->code = code;
    snprintf(change->shown, sizeof change->shown, "%s", shown);
    spot->changes_count++;
}

void
site_show(const struct spot *spot, char shown[SITE_SHOWN_MAX])
{
    const char *text = spot->source->text;
    size_t used = 0;

    for (size_t i = spot->begin; i < spot->end; i++) {
        const bool blank = isspace((unsigned char)text[i]) != 0;

        if (used == SITE_SHOWN_MAX - 4) {
            strcpy(&shown[used], "...");
            return;
        }
        if (!blank)
            shown[used++] = text[i];
        else if (used > 0 && shown[used - 1] != ' ')
            shown[used++] = ' ';
    }
    shown[used] = '\0';
}

/* ---- numbering ---- */

static int
by_place(const void *left, const void *right)
{
    const struct spot *a = *(struct spot *const *)left;
    const struct spot *b = *(struct spot *const *)right;
    const int paths = strcmp(a->source->path, b->source->path);

    if (paths != 0)
        return paths;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end > b->end ? -1 : a->end < b->end;
}

/* Spots are sorted: one that begins inside another must end there. Drop
 * others. */
static void
drop_what_overlaps(struct sites *sites)
{
    const struct spot *open[256];
    size_t depth = 0;
    size_t kept = 0;

    for (size_t i = 0; i < sites->spots_count; i++) {
        struct spot *spot = sites->spots[i];

        while (depth > 0 && (open[depth - 1]->source != spot->source ||
                             open[depth - 1]->end <= spot->begin))
            depth--;
        if (depth > 0 && open[depth - 1]->end < spot->end) {
            fprintf(stderr, "mutate: %s: overlaps at byte %zu\n",
                    spot->source->path, spot->begin);
            continue;
        }
        sites->spots[kept++] = spot;
        if (depth < sizeof open / sizeof *open)
            open[depth++] = spot;
    }
    sites->spots_count = kept;
}

static uint32_t
ordinal_of(const struct sites *sites, size_t place, const char *shown,
           const struct change *change)
{
    uint32_t ordinal = 1;

    for (size_t i = place; i-- > 0;) {
        const struct spot *spot = sites->spots[i];
        char other[SITE_SHOWN_MAX];

        if (spot->source != sites->spots[place]->source ||
            strcmp(spot->function, sites->spots[place]->function) != 0)
            break;
        site_show(spot, other);
        for (uint32_t k = 0; k < spot->changes_count; k++)
            ordinal += strcmp(other, shown) == 0 &&
                       strcmp(spot->changes[k].shown, change->shown) == 0;
    }
    return ordinal;
}

void
site_number(struct sites *sites)
{
    uint32_t id = 0;

    qsort(sites->spots, sites->spots_count, sizeof *sites->spots, by_place);
    drop_what_overlaps(sites);
    for (size_t i = 0; i < sites->spots_count; i++) {
        struct spot *spot = sites->spots[i];
        char shown[SITE_SHOWN_MAX];

        site_show(spot, shown);
        for (uint32_t k = 0; k < spot->changes_count; k++) {
            spot->changes[k].id = ++id;
            spot->changes[k].ordinal =
                ordinal_of(sites, i, shown, &spot->changes[k]);
        }
    }
}
