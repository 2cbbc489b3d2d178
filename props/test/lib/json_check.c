/*
 * json_check.c -- see json_check.h. Grammar of RFC 8259, by recursive descent;
 * every function returns the text behind what it read, or NULL if that is not
 * valid.
 */
#include "json_check.h"

#include <stddef.h>
#include <string.h>

#define DEPTH_MAX 64

static const char *value(const char *at, unsigned depth);

static const char *
space(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

static const char *
string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    while (*at != '"') {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\' && strchr("\"\\/bfnrtu", at[1]) == NULL)
            return NULL;
        if (at[0] == '\\' && at[1] == 'u' &&
            strspn(at + 2, "0123456789abcdefABCDEF") < 4)
            return NULL;
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    }
    return at + 1;
}

static const char *
digits(const char *at)
{
    const size_t count = strspn(at, "0123456789");

    return count == 0 ? NULL : at + count;
}

static const char *
number(const char *at)
{
    at += *at == '-';
    const bool leads_with_zero = *at == '0';
    const char *end = digits(at);

    if (end == NULL || (leads_with_zero && end != at + 1))
        return NULL;
    if (*end == '.')
        end = digits(end + 1);
    if (end != NULL && (*end == 'e' || *end == 'E')) {
        end++;
        end += *end == '+' || *end == '-';
        end = digits(end);
    }
    return end;
}

static const char *
member(const char *at, unsigned depth)
{
    at = string(at);
    if (at == NULL)
        return NULL;
    at = space(at);
    return *at == ':' ? value(at + 1, depth) : NULL;
}

/* An object or an array: items between commas. */
static const char *
items(const char *at, unsigned depth)
{
    const bool is_object = *at == '{';
    const char close = is_object ? '}' : ']';

    at = space(at + 1);
    if (*at == close)
        return at + 1;
    for (;;) {
        at = is_object ? member(space(at), depth) : value(at, depth);
        if (at == NULL)
            return NULL;
        at = space(at);
        if (*at == close)
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static const char *
value(const char *at, unsigned depth)
{
    at = space(at);
    if (depth == DEPTH_MAX)
        return NULL;
    if (*at == '{' || *at == '[')
        return items(at, depth + 1);
    if (*at == '"')
        return string(at);
    if (strncmp(at, "true", 4) == 0 || strncmp(at, "null", 4) == 0)
        return at + 4;
    if (strncmp(at, "false", 5) == 0)
        return at + 5;
    return number(at);
}

bool
props_json_is_valid(const char *text)
{
    const char *end = value(text, 0);

    return end != NULL && *space(end) == '\0';
}
