/*
 * json_check.h -- is this text JSON? A reader for tests, written apart from the
 * writers that it judges.
 */
#ifndef PROPS_JSON_CHECK_H
#define PROPS_JSON_CHECK_H

#include <stdbool.h>

/* in: text, ending in NUL. returns: is it one valid JSON value? */
bool props_json_is_valid(const char *text);

#endif
