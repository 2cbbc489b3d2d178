/*
 * higher.c -- mutants that change more than an operator: load a variable again,
 * truncate an integer, use the limit of another field. Mutants that move
 * statements are in find.c.
 */
#include <clang-c/Index.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lines/walk.h"

/* ---- load a variable again ---- */

void
find_note_load(struct walk *walk, CXCursor variable, CXCursor value)
{
    const struct range range = find_range_of(walk, value);

    if (range.source == NULL || walk->loads_count == LOADS_MAX ||
        strncmp(&range.source->text[range.begin], "load_", 5) != 0)
        return;
    walk->loads[walk->loads_count++] = (struct load){variable, range};
}

/* Is the variable only read there, neither written nor pointed at? */
static bool
is_read(const struct range *range)
{
    const char *text = range->source->text;
    size_t before = range->begin;
    size_t after = range->end;

    while (before > 0 && isspace((unsigned char)text[before - 1]))
        before--;
    while (isspace((unsigned char)text[after]))
        after++;
    if (before > 0 && strchr("&+-", text[before - 1]) != NULL &&
        (before < 2 || text[before - 2] == text[before - 1] ||
         text[before - 1] == '&'))
        return false;
    if (text[after] == '=' && text[after + 1] != '=')
        return false;
    if (strncmp(&text[after], "++", 2) == 0 ||
        strncmp(&text[after], "--", 2) == 0)
        return false;
    return strchr("+-*/%&|^<>", text[after]) == NULL ||
           (text[after + 1] != '=' && strncmp(&text[after], ">>=", 3) != 0 &&
            strncmp(&text[after], "<<=", 3) != 0);
}

void
find_load_again(struct walk *walk, CXCursor reference)
{
    const struct range range = find_range_of(walk, reference);
    const CXCursor variable = clang_getCursorReferenced(reference);

    if (range.source == NULL || find_is_quiet(walk, &range) || !is_read(&range))
        return;
    for (size_t i = 0; i < walk->loads_count; i++) {
        if (clang_equalCursors(walk->loads[i].variable, variable))
            site_change(find_spot_of(walk, &range), "again",
                        find_text_of(&walk->loads[i].value), "loaded again");
    }
}

/* ---- truncate an integer ---- */

void
find_narrow(struct walk *walk, CXCursor value)
{
    const struct range range = find_range_of(walk, value);
    const CXType type = clang_getCanonicalType(clang_getCursorType(value));
    char *text;

    if (range.source == NULL || find_is_quiet(walk, &range) ||
        (type.kind != CXType_ULong && type.kind != CXType_ULongLong &&
         type.kind != CXType_Long && type.kind != CXType_LongLong) ||
        clang_getCursorKind(value) == CXCursor_IntegerLiteral)
        return;
    text = find_text_of(&range);
    site_change(find_spot_of(walk, &range), "cut",
                site_text("(__typeof__(%s))(uint32_t)(%s)", text, text),
                "of 32 bits");
    free(text);
}

/* ---- use another limit ---- */

static bool
is_name_character(char c)
{
    return isupper((unsigned char)c) || isdigit((unsigned char)c) || c == '_';
}

static bool
is_limit(const char *name, size_t bytes)
{
    return (bytes > 4 && strncmp(&name[bytes - 4], "_MAX", 4) == 0) ||
           (bytes > 6 && strncmp(&name[bytes - 6], "_LIMIT", 6) == 0);
}

/* Is it a local variable? */
static bool
is_local(const char *all, size_t begin, size_t end)
{
    char *line =
        site_text("\n    enum { %.*s ", (int)(end - begin), &all[begin]);
    const bool local = strstr(all, line) != NULL;

    free(line);
    return local;
}

/* Is it, by its name, a limit, and another one? */
static bool
is_other(const char *all, size_t begin, size_t end, const char *text)
{
    return is_limit(&all[begin], end - begin) && !is_local(all, begin, end) &&
           (begin == 0 || !islower((unsigned char)all[begin - 1])) &&
           (strlen(text) != end - begin ||
            strncmp(text, &all[begin], end - begin) != 0);
}

/* Take limits named before: they are declared, unless locally in a function. */
void
find_other_limit(struct walk *walk, const struct range *range, const char *text)
{
    const char *all = range->source->text;
    size_t end = range->begin;

    if (!is_limit(text, strlen(text)))
        return;
    while (end > 0) {
        size_t begin;

        while (end > 0 && !is_name_character(all[end - 1]))
            end--;
        begin = end;
        while (begin > 0 && is_name_character(all[begin - 1]))
            begin--;
        if (is_other(all, begin, end, text)) {
            site_change(find_spot_of(walk, range), "limit",
                        site_text("%.*s", (int)(end - begin), &all[begin]),
                        "another limit");
            return;
        }
        end = begin;
    }
}
