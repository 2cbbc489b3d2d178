/*
 * find.c -- find the mutants of a file by a walk through its syntax tree.
 *
 * Expansions of macros are not changed, but the arguments of their calls are.
 * Nothing is changed where C requires a constant (cases, sizes, static tables),
 * nor in assertions, compiler hints and panics.
 */
#include "lines/find.h"

#include <clang-c/Index.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/walk.h"

static void visit_statement(struct walk *walk, CXCursor cursor);

static bool
is_simple(CXCursor cursor)
{
    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_CallExpr:
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
    case CXCursor_UnaryOperator:
    case CXCursor_CStyleCastExpr:
    case CXCursor_ParenExpr:
    case CXCursor_StmtExpr:
    case CXCursor_UnexposedExpr:
    case CXCursor_BreakStmt:
    case CXCursor_ContinueStmt:
        return true;
    default:
        return false;
    }
}

static bool
is_jump(CXCursor cursor)
{
    const enum CXCursorKind kind = clang_getCursorKind(cursor);

    return kind == CXCursor_BreakStmt || kind == CXCursor_ContinueStmt;
}

static bool
ends_with_block(CXCursor cursor)
{
    struct children *children;
    bool block = false;

    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_CompoundStmt:
        return true;
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_SwitchStmt:
        children = find_children_of(cursor);
        block = ends_with_block(children->list[children->count - 1]);
        free(children);
        return block;
    default:
        return false;
    }
}

/* Return the range of a statement with its semicolon. */
static struct range
statement_range(struct walk *walk, CXCursor cursor)
{
    struct range range = find_range_of(walk, cursor);
    size_t at = range.end;

    if (range.source == NULL || range.source->text[at - 1] == ';' ||
        ends_with_block(cursor))
        return range;
    while (isspace((unsigned char)range.source->text[at]))
        at++;
    if (range.source->text[at] == ';')
        range.end = at + 1;
    else
        range.source = NULL;
    return range;
}

static enum CXChildVisitResult
find_call(CXCursor cursor, CXCursor parent, CXClientData data)
{
    bool *found = data;

    (void)parent;
    *found = clang_getCursorKind(cursor) == CXCursor_CallExpr;
    return *found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

/* Is it a call, or a shared access (atomic.h)? */
static bool
has_call(CXCursor cursor, const struct range *range)
{
    static const char *const shared[] = {"_relaxed(", "_acquire(", "_release("};
    char *text = find_text_of(range);
    bool found = clang_getCursorKind(cursor) == CXCursor_CallExpr;

    if (!found)
        clang_visitChildren(cursor, find_call, &found);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        found = found || strstr(text, shared[i]) != NULL;
    free(text);
    return found;
}

/* Add the mutant that deletes a statement. */
static struct spot *
removable(struct walk *walk, CXCursor cursor)
{
    const struct range inner = find_range_of(walk, cursor);
    const struct range range = statement_range(walk, cursor);
    struct spot *spot;

    if (range.source == NULL || find_is_quiet(walk, &inner) ||
        (clang_getCursorKind(cursor) == CXCursor_CallExpr &&
         find_is_hint(cursor)))
        return NULL;
    spot = find_spot_of(walk, &range);
    spot->is_statement = true;
    site_change(spot, "statement", NULL, "gone");
    return spot;
}

/* Does the text of a cursor contain one of the words? */
static bool
mentions(const struct range *range, const char *const *words, size_t count)
{
    char *text = find_text_of(range);
    bool found = false;

    for (size_t i = 0; i < count; i++)
        found = found || strstr(text, words[i]) != NULL;
    free(text);
    return found;
}

/* A statement that may be exchanged with the next one. */
struct moved {
    struct spot *spot; /* NULL: it is not exchanged */
    bool calls;
    bool shares; /* it takes a lock, or accesses shared memory */
    bool leaves; /* it may leave the function or the loop */
};

static struct moved
moved_of(CXCursor cursor, const struct range *range, struct spot *spot)
{
    static const char *const shared[] = {"_relaxed(", "_acquire(", "_release(",
                                         "lock_t", "lock_release("};
    static const char *const left[] = {"return", "break;", "continue;"};
    struct moved moved = {.spot = spot};

    if (spot == NULL)
        return moved;
    moved.calls = has_call(cursor, range);
    moved.shares = mentions(range, shared, sizeof shared / sizeof *shared);
    moved.leaves = clang_getCursorKind(cursor) == CXCursor_IfStmt &&
                   mentions(range, left, sizeof left / sizeof *left);
    return moved;
}

/* Returns the kind of mutant. An exchange of two calls counts as a simple one;
 * an exchange with a lock or a shared access, or with a conditional exit, is a
 * kind of its own. */
static const char *
kind_of_move(const struct moved *first, const struct moved *next)
{
    if (first->leaves)
        return "late";
    if (first->calls && next->calls)
        return "order";
    return first->shares || next->shares ? "moved" : NULL;
}

static bool
is_plain_if(CXCursor cursor)
{
    struct children *children = find_children_of(cursor);
    const bool plain =
        clang_getCursorKind(cursor) == CXCursor_IfStmt && children->count == 2;

    free(children);
    return plain;
}

static void
exchange(struct walk *walk, const struct moved *first, const struct moved *next,
         CXCursor cursor)
{
    const struct range range = statement_range(walk, cursor);
    char shown[SITE_SHOWN_MAX];
    const char *kind;

    if (first->spot == NULL || next->spot == NULL)
        return;
    kind = kind_of_move(first, next);
    if (kind == NULL)
        return;
    site_show(next->spot, shown);
    site_change(first->spot, kind, find_text_of(&range), shown);
    next->spot->previous = first->spot;
}

static void
visit_list(struct walk *walk, const struct children *children)
{
    struct moved before = {0};

    for (size_t i = 0; i < children->count; i++) {
        const CXCursor cursor = children->list[i];
        const struct range range = statement_range(walk, cursor);
        struct moved now = {0};

        if (is_simple(cursor)) {
            struct spot *spot = removable(walk, cursor);

            now = moved_of(cursor, &range, is_jump(cursor) ? NULL : spot);
            exchange(walk, &before, &now, cursor);
            find_visit(walk, cursor);
        } else {
            visit_statement(walk, cursor);
            if (is_plain_if(cursor) && range.source != NULL &&
                !find_is_quiet(walk, &range))
                now = moved_of(cursor, &range, find_spot_of(walk, &range));
            if (!now.leaves)
                now.spot = NULL;
        }
        before = now;
    }
}

static void
visit_branch(struct walk *walk, CXCursor cursor)
{
    struct children one = {.list = {cursor}, .count = 1};

    if (clang_getCursorKind(cursor) == CXCursor_CompoundStmt)
        visit_statement(walk, cursor);
    else
        visit_list(walk, &one);
}

static void
visit_return(struct walk *walk, CXCursor value)
{
    const struct range range = find_range_of(walk, value);
    const CXType type = clang_getCanonicalType(walk->result);
    const CXString name = clang_getTypeSpelling(type);
    char *text;

    if (range.source == NULL) {
        clang_disposeString(name);
        return;
    }
    text = find_text_of(&range);
    if (type.kind == CXType_Bool)
        find_negate(walk, value, "return");
    else if (strcmp(clang_getCString(name), "enum prof_status") == 0)
        site_change(find_spot_of(walk, &range), "return",
                    strcmp(text, "PROF_OK") == 0
                        ? site_text("PROF_ERR_BUSY")
                        : site_text("((void)(%s), PROF_OK)", text),
                    strcmp(text, "PROF_OK") == 0 ? "PROF_ERR_BUSY" : "PROF_OK");
    else if (type.kind == CXType_Pointer && strcmp(text, "NULL") != 0)
        site_change(find_spot_of(walk, &range), "return",
                    site_text("((void)(%s), (void *)0)", text), "NULL");
    else if (type.kind != CXType_Pointer && type.kind != CXType_Record &&
             type.kind != CXType_Enum && strcmp(text, "0") != 0)
        site_change(find_spot_of(walk, &range), "return",
                    site_text("((void)(%s), 0)", text), "0");
    free(text);
    clang_disposeString(name);
    if (!find_is_enumerator(value))
        find_visit(walk, value);
}

/* Parts of `for (a; b; c)` may be missing, so they are found by the
 * semicolons. */
static void
visit_for(struct walk *walk, CXCursor cursor, const struct children *children)
{
    const struct range range = find_range_of(walk, cursor);
    const char *text = range.source->text;
    size_t semicolons[2] = {0};
    size_t found = 0;
    int depth = 0;

    for (size_t i = range.begin; i < range.end && found < 2; i++) {
        depth += (text[i] == '(') - (text[i] == ')');
        if (text[i] == ';' && depth == 1)
            semicolons[found++] = i;
    }
    for (size_t i = 0; i + 1 < children->count; i++) {
        const struct range part = find_range_of(walk, children->list[i]);

        if (part.source != NULL && part.begin > semicolons[0] &&
            part.end <= semicolons[1])
            find_negate(walk, children->list[i], "condition");
        find_visit(walk, children->list[i]);
    }
    visit_branch(walk, children->list[children->count - 1]);
}

static void
visit_declaration(struct walk *walk, const struct children *children)
{
    for (size_t i = 0; i < children->count; i++) {
        const CXCursor variable = children->list[i];
        CXCursor value;

        if (clang_getCursorKind(variable) != CXCursor_VarDecl ||
            clang_Cursor_getStorageClass(variable) == CX_SC_Static)
            continue;
        value = clang_Cursor_getVarDeclInitializer(variable);
        if (clang_Cursor_isNull(value))
            continue;
        find_note_load(walk, variable, value);
        find_narrow(walk, value);
        find_visit(walk, value);
    }
}

static void
visit_statement_kind(struct walk *walk, CXCursor cursor,
                     const struct children *children)
{
    const size_t count = children->count;

    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_CompoundStmt:
        visit_list(walk, children);
        break;
    case CXCursor_IfStmt:
        if (count == 2)
            removable(walk, cursor);
        find_negate(walk, children->list[0], "condition");
        find_visit(walk, children->list[0]);
        for (size_t i = 1; i < count; i++)
            visit_branch(walk, children->list[i]);
        break;
    case CXCursor_WhileStmt:
        removable(walk, cursor);
        find_negate(walk, children->list[0], "condition");
        find_visit(walk, children->list[0]);
        visit_branch(walk, children->list[1]);
        break;
    case CXCursor_DoStmt:
        visit_branch(walk, children->list[0]);
        find_negate(walk, children->list[1], "condition");
        find_visit(walk, children->list[1]);
        break;
    case CXCursor_ForStmt:
        removable(walk, cursor);
        visit_for(walk, cursor, children);
        break;
    case CXCursor_SwitchStmt:
        find_visit(walk, children->list[0]);
        visit_branch(walk, children->list[1]);
        break;
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        visit_branch(walk, children->list[count - 1]);
        break;
    case CXCursor_ReturnStmt:
        if (count == 0)
            removable(walk, cursor);
        else
            visit_return(walk, children->list[0]);
        break;
    case CXCursor_DeclStmt:
        visit_declaration(walk, children);
        break;
    default:
        break;
    }
}

static void
visit_statement(struct walk *walk, CXCursor cursor)
{
    const struct range range = find_range_of(walk, cursor);
    struct children *children;

    if (range.source == NULL || find_is_quiet(walk, &range))
        return;
    children = find_children_of(cursor);
    visit_statement_kind(walk, cursor, children);
    free(children);
}

/* ---- the files ---- */

static enum CXChildVisitResult
visit_top(CXCursor cursor, CXCursor parent, CXClientData data)
{
    struct walk *walk = data;
    struct children *children;
    CXString name;

    (void)parent;
    if (clang_getCursorKind(cursor) == CXCursor_MacroExpansion &&
        find_is_hint(cursor) && walk->quiet_count < QUIET_MAX)
        walk->quiet[walk->quiet_count++] = find_range_of(walk, cursor);
    if (clang_getCursorKind(cursor) != CXCursor_FunctionDecl ||
        !clang_isCursorDefinition(cursor) ||
        find_range_of(walk, cursor).source == NULL || find_is_hint(cursor))
        return CXChildVisit_Continue;
    name = clang_getCursorSpelling(cursor);
    snprintf(walk->function, sizeof walk->function, "%s",
             clang_getCString(name));
    clang_disposeString(name);
    walk->result = clang_getResultType(clang_getCursorType(cursor));
    walk->loads_count = 0;
    children = find_children_of(cursor);
    visit_statement(walk, children->list[children->count - 1]);
    free(children);
    return CXChildVisit_Continue;
}

bool
find_spots(struct sites *sites, const char *path, const char *const *arguments,
           int arguments_count)
{
    CXIndex index = clang_createIndex(0, 1);
    struct walk walk = {.sites = sites};
    bool compiled;

    walk.unit = clang_parseTranslationUnit(
        index, path, arguments, arguments_count, NULL, 0,
        CXTranslationUnit_DetailedPreprocessingRecord);
    compiled = walk.unit != NULL && clang_getNumDiagnostics(walk.unit) == 0;
    if (compiled)
        clang_visitChildren(clang_getTranslationUnitCursor(walk.unit),
                            visit_top, &walk);
    if (walk.unit != NULL)
        clang_disposeTranslationUnit(walk.unit);
    clang_disposeIndex(index);
    return compiled;
}
