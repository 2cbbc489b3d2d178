/*
 * json_check.h -- is this text JSON? A reader for tests, written apart from the
 * writers that it judges.
 */
#ifndef PROPS_JSON_CHECK_H
#define PROPS_JSON_CHECK_H

#include <stdbool.h>

/* in: text, ended by a zero. returns: whether it is one JSON value */
bool props_json_is_valid(const char *text);

#endif
