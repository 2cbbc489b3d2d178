/* whole.h -- a file that appears whole or not at all. */
#ifndef CLI_WHOLE_H
#define CLI_WHOLE_H

#include <stddef.h>

/* returns: 0, or the errno that says why `path` is as it was before */
int cli_whole_write(const char *path, const void *bytes, size_t count);

#endif
