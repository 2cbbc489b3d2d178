/*
 * generate.c -- write copies of source files that have all their mutants.
 *
 * usage: mutate_generate EVERY OUT ARGUMENT... -- FILE.c...
 *            [-- ARGUMENT... -- FILE.c...]...
 *        mutate_generate --alone OUT ARGUMENT... -- FILE.c... <NUMBERS
 *
 * The copies are OUT/prof/x.c, OUT/prof/x.h and so on; OUT/mutants.tsv names
 * the mutants. If EVERY is not 1, the copies have only the mutants of a sample
 * (name.h), with the same numbers. With --alone, OUT/NUMBER.c is the source
 * with that single mutant; its number and the file's path are printed.
 *
 * An expression e with the mutants e17 and e18, numbers 17 and 18, becomes
 *     (MUTANT_MET(17), MUTANT_IS(17U) ? e17 : MUTANT_IS(18U) ? e18 : e)
 * The e at the end may contain further mutants; e17 and e18 contain none, so
 * the text grows only linearly with the depth of nesting. If two mutants are on
 * and one contains the other, the outer one counts. A statement is skipped when
 * its mutant is on. If two statements change places, the second is copied in
 * front of the first.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/find.h"
#include "lines/name.h"

static struct sites sites;

struct writer {
    FILE *file;
    uint32_t only; /* the only mutant; 0: all */
    size_t next;   /* the next spot to write */
};

static void write_range(struct writer *writer, const struct source *source,
                        size_t begin, size_t end);

/* Written on one line, so that line numbers stay the same. */
static void
write_flat(FILE *file, const char *code)
{
    for (; *code != '\0'; code++)
        fputc(*code == '\n' ? ' ' : *code, file);
}

static const struct change *
order_of(const struct spot *spot)
{
    for (uint32_t i = 0; spot != NULL && i < spot->changes_count; i++) {
        if (strcmp(spot->changes[i].kind, "order") == 0 ||
            strcmp(spot->changes[i].kind, "moved") == 0 ||
            strcmp(spot->changes[i].kind, "late") == 0)
            return &spot->changes[i];
    }
    return NULL;
}

static void
write_statement(struct writer *writer, const struct spot *spot)
{
    const struct change *order = order_of(spot);
    const struct change *before = order_of(spot->previous);

    if (order != NULL && order->left_out)
        order = NULL;
    if (before != NULL && before->left_out)
        before = NULL;
    fprintf(writer->file, "{MUTANT_MET(%uU);", spot->changes[0].id);
    if (order != NULL) {
        fprintf(writer->file, "if (MUTANT_IS(%uU)) {", order->id);
        write_flat(writer->file, order->code);
        fputs("}", writer->file);
    }
    fprintf(writer->file, "if (!MUTANT_IS(%uU)", spot->changes[0].id);
    if (before != NULL)
        fprintf(writer->file, " && !MUTANT_IS(%uU)", before->id);
    fputs(") {", writer->file);
    write_range(writer, spot->source, spot->begin, spot->end);
    fputs("}}", writer->file);
}

static void
write_expression(struct writer *writer, const struct spot *spot)
{
    fprintf(writer->file, "(MUTANT_MET(%uU), ", spot->changes[0].id);
    for (uint32_t i = 0; i < spot->changes_count; i++) {
        if (spot->changes[i].left_out)
            continue;
        fprintf(writer->file, "MUTANT_IS(%uU) ? (", spot->changes[i].id);
        write_flat(writer->file, spot->changes[i].code);
        fputs(") : ", writer->file);
    }
    fputs("(", writer->file);
    write_range(writer, spot->source, spot->begin, spot->end);
    fputs("))", writer->file);
}

/* Write the line ends of a text that is left out, so that line numbers stay the
 * same. */
static void
write_lines(FILE *file, const struct spot *spot)
{
    for (size_t i = spot->begin; i < spot->end; i++) {
        if (spot->source->text[i] == '\n')
            fputc('\n', file);
    }
}

/* Write the text of a single mutant. */
static void
write_one(struct writer *writer, const struct spot *spot,
          const struct change *change)
{
    const bool order = change == order_of(spot);

    if (!spot->is_statement)
        fputs("(", writer->file);
    if (change->code == NULL)
        fputs("{;}", writer->file);
    else
        write_flat(writer->file, change->code);
    if (!spot->is_statement)
        fputs(")", writer->file);
    if (order)
        fwrite(&spot->source->text[spot->begin], 1, spot->end - spot->begin,
               writer->file);
    else
        write_lines(writer->file, spot);
}

static const struct change *
change_of(const struct spot *spot, uint32_t id)
{
    for (uint32_t i = 0; i < spot->changes_count; i++) {
        if (spot->changes[i].id == id)
            return &spot->changes[i];
    }
    return NULL;
}

/* Is a mutant of the spot in the sample? */
static bool
is_sampled(const struct spot *spot)
{
    const struct change *before = order_of(spot->previous);
    bool sampled = before != NULL && !before->left_out;

    for (uint32_t i = 0; i < spot->changes_count; i++)
        sampled |= !spot->changes[i].left_out;
    return sampled;
}

static void
write_spot(struct writer *writer, const struct spot *spot)
{
    const struct change *before = order_of(spot->previous);

    if (writer->only == 0 && !is_sampled(spot))
        write_range(writer, spot->source, spot->begin, spot->end);
    else if (writer->only == 0 && spot->is_statement)
        write_statement(writer, spot);
    else if (writer->only == 0)
        write_expression(writer, spot);
    else if (change_of(spot, writer->only) != NULL)
        write_one(writer, spot, change_of(spot, writer->only));
    else if (before != NULL && before->id == writer->only)
        write_lines(writer->file, spot);
    else
        write_range(writer, spot->source, spot->begin, spot->end);
}

static void
write_range(struct writer *writer, const struct source *source, size_t begin,
            size_t end)
{
    size_t at = begin;

    while (writer->next < sites.spots_count) {
        const struct spot *spot = sites.spots[writer->next];

        if (spot->source != source || spot->begin >= end)
            break;
        writer->next++;
        if (spot->begin < at)
            continue;
        fwrite(&source->text[at], 1, spot->begin - at, writer->file);
        write_spot(writer, spot);
        at = spot->end;
    }
    fwrite(&source->text[at], 1, end - at, writer->file);
}

/* ---- the files ---- */

static FILE *
create(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        fprintf(stderr, "mutate: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return file;
}

static void
finish(FILE *file, const char *path)
{
    const bool failed = ferror(file) != 0;

    if (fclose(file) != 0 || failed) {
        fprintf(stderr, "mutate: %s: cannot be written\n", path);
        exit(1);
    }
}

static void
write_source(FILE *file, const struct source *source, uint32_t only)
{
    struct writer writer = {.file = file, .only = only};

    while (writer.next < sites.spots_count &&
           sites.spots[writer.next]->source != source)
        writer.next++;
    fprintf(file, "#line 1 \"%s\"\n", source->path);
    write_range(&writer, source, 0, source->bytes);
}

static void
write_copies(const char *folder)
{
    for (size_t i = 0; i < sites.sources_count; i++) {
        char *path = site_text("%s/%s", folder, sites.sources[i].path);
        FILE *file = create(path);

        write_source(file, &sites.sources[i], 0);
        finish(file, path);
        free(path);
    }
}

/* Write the table: number, lowest number of the spot, file, function, line,
 * kind, text, replacement, ordinal. */
static void
write_names(const char *folder)
{
    char *path = site_text("%s/mutants.tsv", folder);
    FILE *file = create(path);

    for (size_t i = 0; i < sites.spots_count; i++) {
        const struct spot *spot = sites.spots[i];
        char shown[SITE_SHOWN_MAX];
        unsigned line = 1;

        for (size_t at = 0; at < spot->begin; at++)
            line += spot->source->text[at] == '\n';
        site_show(spot, shown);
        for (uint32_t k = 0; k < spot->changes_count; k++)
            fprintf(file, "%u\t%u\t%s\t%s\t%u\t%s\t%s\t%s\t%u\n",
                    spot->changes[k].id, spot->changes[0].id,
                    spot->source->path, spot->function, line,
                    spot->changes[k].kind, shown, spot->changes[k].shown,
                    spot->changes[k].ordinal);
    }
    finish(file, path);
    free(path);
}

static void
write_alone(const char *folder, uint32_t id)
{
    for (size_t i = 0; i < sites.spots_count; i++) {
        char *path;
        FILE *file;

        if (change_of(sites.spots[i], id) == NULL)
            continue;
        path = site_text("%s/%u.c", folder, id);
        file = create(path);
        write_source(file, sites.spots[i]->source, id);
        finish(file, path);
        free(path);
        printf("%u %s\n", id, sites.spots[i]->source->path);
    }
}

static void
leave_out(uint64_t every)
{
    for (size_t i = 0; i < sites.spots_count; i++) {
        struct spot *spot = sites.spots[i];
        char shown[SITE_SHOWN_MAX];

        site_show(spot, shown);
        for (uint32_t k = 0; k < spot->changes_count; k++) {
            struct change *change = &spot->changes[k];
            char *name = name_of_mutant(spot->source->path, spot->function,
                                        shown, change->shown, change->ordinal);

            change->left_out = !name_is_sampled(name, every);
            free(name);
        }
    }
}

/* Parse the files behind "--" with the arguments before it. Groups of arguments
 * and files are separated by "--", too. returns: did all files compile? */
static bool
find_all(int argc, char **argv, int at)
{
    while (at < argc) {
        const int arguments = at;
        int files;

        while (at < argc && strcmp(argv[at], "--") != 0)
            at++;
        files = ++at;
        for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
            site_source(&sites, argv[at]);
            if (!find_spots(&sites, argv[at],
                            (const char *const *)&argv[arguments],
                            files - 1 - arguments)) {
                fprintf(stderr, "mutate: %s: does not compile\n", argv[at]);
                return false;
            }
        }
        at++;
    }
    return true;
}

int
main(int argc, char **argv)
{
    const bool alone = argc > 2 && strcmp(argv[1], "--alone") == 0;
    const uint64_t every = argc > 1 && !alone ? strtoull(argv[1], NULL, 10) : 1;
    unsigned id;

    if (argc < 5 || every == 0 || strcmp(argv[argc - 1], "--") == 0) {
        fputs("usage: mutate_generate EVERY OUT ARGUMENT... -- FILE.c...\n"
              "                       [-- ARGUMENT... -- FILE.c...]...\n",
              stderr);
        return 1;
    }
    if (!find_all(argc, argv, 3))
        return 1;
    site_number(&sites);
    while (alone && scanf("%u", &id) == 1)
        write_alone(argv[2], id);
    if (alone)
        return 0;
    leave_out(every);
    write_copies(argv[2]);
    write_names(argv[2]);
    return 0;
}
