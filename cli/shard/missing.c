/* missing.c -- see missing.h. */
#include "missing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "quote.h"

uint32_t
cli_missing_tell(bool (*is_missing)(const void *context, uint32_t shard),
                 const void *context, uint32_t count, const char *asked,
                 const char *folder)
{
    uint32_t missing = 0;

    for (uint32_t i = 0; i < count; i++)
        missing += is_missing(context, i);
    if (missing == 0)
        return 0;
    printf("missing, in whole or in part: %" PRIu32 " of %" PRIu32 " shards: ",
           missing, count);
    for (int for_shell = 0; for_shell < 2; for_shell++) {
        const char *before = "";

        if (for_shell)
            fputs("\nrun them: for i in ", stdout);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t last = i;

            if (!is_missing(context, i))
                continue;
            while (last + 1 < count && is_missing(context, last + 1))
                last++;
            if (i == last)
                printf("%s%" PRIu32, before, i + 1);
            else
                printf(for_shell ? "%s$(seq %" PRIu32 " %" PRIu32 ")"
                                 : "%s%" PRIu32 "-%" PRIu32,
                       before, i + 1, last + 1);
            before = for_shell ? " " : ",";
            i = last;
        }
    }
    printf(strncmp(asked, "make ", 5) == 0
               ? "; do %s SHARD=$i/%" PRIu32 " RESULT="
               : "; do profsim %s --shard $i/%" PRIu32 " --result ",
           asked, count);
    cli_quote_path(stdout, folder);
    puts("/; done");
    return missing;
}
