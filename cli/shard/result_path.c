/* result_path.c -- see result_path.h. */
#include "result_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "complaint.h"
#include "prof/file.h"

bool
cli_result_take(const char **asked, const char *value)
{
    *asked = value;
    return *value != '\0' || cli_complain("--result needs the name of a file");
}

bool
cli_result_path(const char *asked, struct cli_shard shard, char *path,
                size_t room)
{
    struct prof_file folder;
    struct stat like;
    int bytes;

    if (shard.count == 0)
        shard = (struct cli_shard){1, 1};
    if (asked[strlen(asked) - 1] == '/' ||
        (stat(asked, &like) == 0 && S_ISDIR(like.st_mode))) {
        if (prof_file_folder(&folder, asked) != PROF_OK)
            return cli_complain("%s: %s", asked, prof_file_reason(&folder));
        bytes =
            snprintf(path, room, "%s/shard-%" PRIu32 "-of-%" PRIu32 ".result",
                     asked, shard.index, shard.count);
    } else {
        bytes = snprintf(path, room, "%s", asked);
    }
    return (size_t)bytes < room ||
           cli_complain("%s: the name is too long", asked);
}
