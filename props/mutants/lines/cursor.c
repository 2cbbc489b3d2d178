/* cursor.c -- the range of source text that a cursor of libclang covers. */
#include <clang-c/Index.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/walk.h"

static enum CXChildVisitResult
collect(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct children *children = data;

    (void)parent;
    if (children->count == CHILDREN_MAX)
        return CXChildVisit_Break;
    children->list[children->count++] = cursor;
    return CXChildVisit_Continue;
}

struct children *
find_children_of(CXCursor cursor)
{
    struct children *children = calloc(1, sizeof *children);

    if (children == NULL)
        abort();
    clang_visitChildren(cursor, collect, children);
    return children;
}

/*
 * Is the text a complete expression? If a macro is an argument of a macro,
 * libclang may report a wrong end.
 */
static bool
is_whole(const char *text, size_t begin, size_t end)
{
    const char last = text[end - 1];
    int depth = 0;

    for (size_t i = begin; i < end; i++)
        depth += (text[i] == '(') - (text[i] == ')');
    if ((last == '+' || last == '-') && end - begin > 2)
        return depth == 0 && text[end - 2] == last;
    return depth == 0 && strchr("~&|+-*/%<>=!,?:^", last) == NULL;
}

/* Is it a source whose lines are mutated? Public headers have no code. */
static bool
is_tried(const char *path)
{
    static const char *const rooms[] = {"prof/", "model/", "sim/explore/",
                                        "embed/", "cli/"};

    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        if (strncmp(path, rooms[i], strlen(rooms[i])) == 0)
            return strncmp(path, "prof/include/", 13) != 0;
    }
    return false;
}

struct range
find_range_of(struct walk *walk, CXCursor cursor)
{
    const CXSourceRange extent = clang_getCursorExtent(cursor);
    struct range range = {0};
    CXFile file;
    CXString name;
    const char *path;
    unsigned begin;
    unsigned end;

    clang_getFileLocation(clang_getRangeStart(extent), &file, NULL, NULL,
                          &begin);
    clang_getFileLocation(clang_getRangeEnd(extent), NULL, NULL, NULL, &end);
    name = clang_getFileName(file);
    path = clang_getCString(name);
    if (path != NULL && is_tried(path) && begin < end)
        range = (struct range){site_source(walk->sites, path), begin, end};
    if (range.source != NULL && !is_whole(range.source->text, begin, end))
        range.source = NULL;
    clang_disposeString(name);
    return range;
}

static bool
is_named(CXCursor cursor, const char *const *names, size_t count)
{
    const CXString name = clang_getCursorSpelling(cursor);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        found = found || strcmp(clang_getCString(name), names[i]) == 0;
    clang_disposeString(name);
    return found;
}

bool
find_is_quiet(const struct walk *walk, const struct range *range)
{
    for (size_t i = 0; i < walk->quiet_count; i++) {
        if (walk->quiet[i].source == range->source &&
            walk->quiet[i].begin <= range->begin &&
            range->end <= walk->quiet[i].end)
            return true;
    }
    return false;
}

bool
find_is_hint(CXCursor cursor)
{
    static const char *const names[] = {
        "PROF_ASSERT",
        "MODEL_ASSERT",
        "PROF_UNREACHABLE",
        "prof_port_panic",
        "__builtin_prefetch",
        "__builtin_return_address",
        "ATOMICS",
        "PLAIN", /* functions: sim/explore/tsan.c */
        "prof_table_fetch",
        "prof_port_spin_pause",
        "signal_fence",
        "LOCK",
        "SEM_WAIT",
        "LIST", /* statements: embed/locks.c, exec.c */
    };

    return is_named(cursor, names, sizeof names / sizeof *names);
}

char *
find_text_of(const struct range *range)
{
    return site_text("%.*s", (int)(range->end - range->begin),
                     &range->source->text[range->begin]);
}

struct spot *
find_spot_of(struct walk *walk, const struct range *range)
{
    return site_spot(walk->sites, range->source, walk->function, range->begin,
                     range->end);
}
