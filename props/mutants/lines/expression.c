/*
 * expression.c -- the mutants of an expression.
 *
 * libclang gives the range and the type of each operand; the operator between
 * two operands is read from the text. A macro or an enumerator with a constant
 * value is treated as a constant.
 */
#include <clang-c/Index.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines/walk.h"

static enum CXTypeKind
type_of(CXCursor cursor)
{
    return clang_getCanonicalType(clang_getCursorType(cursor)).kind;
}

static bool
is_pointer(CXCursor cursor)
{
    const enum CXTypeKind kind = type_of(cursor);

    return kind == CXType_Pointer || kind == CXType_ConstantArray ||
           kind == CXType_IncompleteArray || kind == CXType_VariableArray;
}

static const struct operators {
    const char *text;
    const char *instead[3];
    const char *kind;
} binary[] = {
    {"<", {"<=", ">"}, "relational"}, {"<=", {"<", ">="}, "relational"},
    {">", {">=", "<"}, "relational"}, {">=", {">", "<="}, "relational"},
    {"==", {"!="}, "relational"},     {"!=", {"=="}, "relational"},
    {"+", {"-"}, "arithmetic"},       {"-", {"+"}, "arithmetic"},
    {"*", {"/"}, "arithmetic"},       {"/", {"*"}, "arithmetic"},
    {"%", {"*"}, "arithmetic"},       {"&", {"|"}, "bitwise"},
    {"|", {"&"}, "bitwise"},          {"^", {"&"}, "bitwise"},
    {"<<", {">>"}, "bitwise"},        {">>", {"<<"}, "bitwise"},
    {"&&", {"||"}, "logical"},        {"||", {"&&"}, "logical"},
    {"+=", {"-="}, "arithmetic"},     {"-=", {"+="}, "arithmetic"},
    {"*=", {"/="}, "arithmetic"},     {"/=", {"*="}, "arithmetic"},
    {"%=", {"*="}, "arithmetic"},     {"&=", {"|="}, "bitwise"},
    {"|=", {"&="}, "bitwise"},        {"^=", {"&="}, "bitwise"},
    {"<<=", {">>="}, "bitwise"},      {">>=", {"<<="}, "bitwise"},
};

/* Read the operator between two operands; "" if other text is there. */
static void
operator_between(const struct range *left, const struct range *right,
                 char operator_text[8])
{
    const char *text = left->source->text;
    size_t used = 0;

    operator_text[0] = '\0';
    if (left->source != right->source || left->end >= right->begin)
        return;
    for (size_t i = left->end; i < right->begin; i++) {
        if (text[i] == '/' && text[i + 1] == '*') {
            i = (size_t)(strstr(&text[i + 2], "*/") - text) + 1;
            continue;
        }
        if (isspace((unsigned char)text[i]))
            continue;
        if (used == 3)
            used = 0;
        operator_text[used++] = text[i];
    }
    operator_text[used] = '\0';
}

static bool
is_word(const char *text)
{
    for (; *text != '\0'; text++) {
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    }
    return true;
}

static void
change_constant(struct walk *walk, const struct range *range, const char *text)
{
    struct spot *spot = find_spot_of(walk, range);
    char *end;
    const unsigned long long value = strtoull(text, &end, 0);
    const bool number = isdigit((unsigned char)text[0]);
    const bool nul = strcmp(text, "'\\0'") == 0;

    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        const char *other = text[0] == 't' ? "false" : "true";

        site_change(spot, "constant", site_text("%s", other), other);
        return;
    }
    find_other_limit(walk, range, text);
    site_change(spot, "constant", site_text("(%s) + 1", text), "+ 1");
    if (!nul && (!number || value > 0))
        site_change(spot, "constant", site_text("(%s) - 1", text), "- 1");
    if (number && value > 1)
        site_change(spot, "constant", site_text("(%s) * 0", text), "0");
}

bool
find_is_enumerator(CXCursor cursor)
{
    return clang_getCursorKind(clang_getCursorReferenced(cursor)) ==
           CXCursor_EnumConstantDecl;
}

/* Mutate an enumerator that is compared or calculated with. */
static void
visit_bound(struct walk *walk, CXCursor cursor)
{
    const struct range range = find_range_of(walk, cursor);
    char *text = find_text_of(&range);

    if (find_is_enumerator(cursor) && is_word(text))
        change_constant(walk, &range, text);
    free(text);
}

static void
visit_binary(struct walk *walk, CXCursor cursor,
             const struct children *children)
{
    const struct range range = find_range_of(walk, cursor);
    const struct range left = find_range_of(walk, children->list[0]);
    const struct range right = find_range_of(walk, children->list[1]);
    char between[8];

    if (left.source == NULL || right.source == NULL)
        return;
    operator_between(&left, &right, between);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
        if (strcmp(between, binary[i].text) != 0)
            continue;
        if (binary[i].kind[0] == 'a' && is_pointer(children->list[1]))
            break;
        for (size_t k = 0; binary[i].instead[k] != NULL; k++) {
            char *a = find_text_of(&left);
            char *b = find_text_of(&right);

            site_change(find_spot_of(walk, &range), binary[i].kind,
                        site_text("%s %s %s", a, binary[i].instead[k], b),
                        binary[i].instead[k]);
            free(a);
            free(b);
        }
    }
    if (strcmp(between, "=") == 0)
        find_narrow(walk, children->list[1]);
    if (strpbrk(between, "<>+-*/%") != NULL) {
        visit_bound(walk, children->list[0]);
        visit_bound(walk, children->list[1]);
    }
}

/* Negate a condition, or a result of true or false. */
void
find_negate(struct walk *walk, CXCursor cursor, const char *kind)
{
    const struct range range = find_range_of(walk, cursor);
    char *text;

    if (range.source == NULL || find_is_quiet(walk, &range))
        return;
    text = find_text_of(&range);
    /* These have another mutant with the same effect. */
    if (clang_getCursorKind(cursor) == CXCursor_BinaryOperator) {
        struct children *children = find_children_of(cursor);
        const struct range left = find_range_of(walk, children->list[0]);
        const struct range right = find_range_of(walk, children->list[1]);
        char between[8] = "";

        if (left.source != NULL && right.source != NULL)
            operator_between(&left, &right, between);
        free(children);
        if (strcmp(between, "==") == 0 || strcmp(between, "!=") == 0) {
            free(text);
            return;
        }
    }
    if (text[0] != '!' && strcmp(text, "true") != 0 &&
        strcmp(text, "false") != 0)
        site_change(find_spot_of(walk, &range), kind, site_text("!(%s)", text),
                    "!(...)");
    free(text);
}

static void
visit_unary(struct walk *walk, CXCursor cursor, const struct children *children)
{
    static const struct {
        const char *sign;
        const char *instead;
        const char *shown;
        const char *kind;
    } unary[] = {
        {"++", "--", "--", "arithmetic"},
        {"--", "++", "++", "arithmetic"},
        {"!", "!!", "without !", "condition"},
        {"-", "+", "without -", "arithmetic"},
        {"~", "+", "without ~", "bitwise"},
    };
    const struct range range = find_range_of(walk, cursor);
    const struct range inner = find_range_of(walk, children->list[0]);
    const char *text = range.source->text;
    const bool postfix = inner.end < range.end;
    const size_t sign = postfix ? inner.end : range.begin;

    if (inner.source == NULL)
        return;
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
        char *operand;

        if (strncmp(&text[sign], unary[i].sign, strlen(unary[i].sign)) != 0)
            continue;
        operand = find_text_of(&inner);
        site_change(find_spot_of(walk, &range), unary[i].kind,
                    postfix ? site_text("(%s)%s", operand, unary[i].instead)
                            : site_text("%s(%s)", unary[i].instead, operand),
                    unary[i].shown);
        free(operand);
        return;
    }
}

/* Is it an index before `] =` in an initialiser? */
static bool
is_designator(const struct range *range)
{
    const char *text = range->source->text;
    size_t at = range->end;

    if (range->begin == 0 || text[range->begin - 1] != '[' || text[at] != ']')
        return false;
    for (at++; isspace((unsigned char)text[at]); at++)
        ;
    return text[at] == '=' && text[at + 1] != '=';
}

static void
visit_literal(struct walk *walk, CXCursor cursor)
{
    const struct range range = find_range_of(walk, cursor);
    char *text = find_text_of(&range);

    if (!is_designator(&range) && strcmp(text, "NULL") != 0 &&
        (is_word(text) || strncmp(text, "UINT64_C(", 9) == 0 ||
         text[0] == '\''))
        change_constant(walk, &range, text);
    free(text);
}

/* Mutate a macro with a constant value. returns: is it one? */
static bool
visit_constant_name(struct walk *walk, CXCursor cursor)
{
    const struct range range = find_range_of(walk, cursor);
    char *text = find_text_of(&range);
    bool is_name = isupper((unsigned char)text[0]) && is_word(text) &&
                   strcmp(text, "NULL") != 0;

    for (const char *c = text; *c != '\0'; c++)
        is_name = is_name && !islower((unsigned char)*c);
    if (is_name && !is_designator(&range) && !is_pointer(cursor))
        change_constant(walk, &range, text);
    free(text);
    return is_name;
}

static void
visit_children(struct walk *walk, const struct children *children)
{
    for (size_t i = 0; i < children->count; i++)
        find_visit(walk, children->list[i]);
}

static void
visit_initialiser(struct walk *walk, CXCursor cursor,
                  const struct children *children)
{
    const struct range range = find_range_of(walk, cursor);
    char *text = find_text_of(&range);

    if (strcmp(text, "{0}") != 0)
        visit_children(walk, children);
    free(text);
}

/*
 * `a < b ? a : b`: with <= the value is the same, so the only mutant of the
 * comparison is the opposite one. returns: true for such an expression
 */
static bool
visit_extreme(struct walk *walk, const struct children *children)
{
    struct children *sides;
    char *text[4] = {NULL};
    bool extreme = false;
    struct range range = find_range_of(walk, children->list[0]);

    if (children->count != 3 || range.source == NULL ||
        clang_getCursorKind(children->list[0]) != CXCursor_BinaryOperator)
        return false;
    sides = find_children_of(children->list[0]);
    for (size_t i = 0; i < 4; i++) {
        const CXCursor side = i < 2 ? sides->list[i] : children->list[i - 1];
        const struct range part = find_range_of(walk, side);

        text[i] =
            part.source != NULL ? find_text_of(&part) : site_text("%s", "");
    }
    extreme =
        (strcmp(text[0], text[2]) == 0 && strcmp(text[1], text[3]) == 0) ||
        (strcmp(text[0], text[3]) == 0 && strcmp(text[1], text[2]) == 0);
    for (size_t i = 0; i < 4; i++)
        free(text[i]);
    if (extreme) {
        find_negate(walk, children->list[0], "condition");
        find_visit(walk, sides->list[0]);
        find_visit(walk, sides->list[1]);
    }
    free(sides);
    return extreme;
}

/* Mutate an expression, or a declaration with one. */
static void
visit_kind(struct walk *walk, CXCursor cursor, const struct children *children)
{
    switch ((int)clang_getCursorKind(cursor)) {
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        visit_binary(walk, cursor, children);
        break;
    case CXCursor_UnaryOperator:
        visit_unary(walk, cursor, children);
        break;
    case CXCursor_ConditionalOperator:
        if (visit_extreme(walk, children))
            return;
        find_negate(walk, children->list[0], "condition");
        break;
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
        visit_literal(walk, cursor);
        return;
    case CXCursor_InitListExpr:
        visit_initialiser(walk, cursor, children);
        return;
    case CXCursor_DeclRefExpr:
        find_load_again(walk, cursor);
        return;
    case CXCursor_UnaryExpr: /* sizeof */
    case CXCursor_StringLiteral:
    case CXCursor_TypeRef:
    case CXCursor_EnumDecl:
    case CXCursor_StructDecl:
        return;
    default:
        break;
    }
    visit_children(walk, children);
}

void
find_visit(struct walk *walk, CXCursor cursor)
{
    const struct range range = find_range_of(walk, cursor);
    struct children *children;

    if (range.source == NULL || find_is_quiet(walk, &range))
        return;
    if (clang_getCursorKind(cursor) == CXCursor_CallExpr &&
        find_is_hint(cursor))
        return;
    if (clang_isExpression(clang_getCursorKind(cursor)) &&
        clang_getCursorKind(cursor) != CXCursor_DeclRefExpr &&
        !find_is_enumerator(cursor) && visit_constant_name(walk, cursor))
        return;
    children = find_children_of(cursor);
    visit_kind(walk, cursor, children);
    free(children);
}
