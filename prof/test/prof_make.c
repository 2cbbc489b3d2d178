/* prof_make.c -- instances for the tests of the core. */
#include <stdlib.h>
#include <string.h>

#include "common/test/aligned_block.h"
#include "prof/test/prof_make.h"
#include "common/test/unit_test.h"

struct prof *
props_prof_make(const struct prof_config *config)
{
    const size_t bytes = prof_bytes_needed(config);
    struct prof *prof = NULL;
    void *block;

    assert_true(bytes > 0);
    block = props_block(bytes, 0);
    assert_int_equal(prof_init(&prof, config, block, bytes), PROF_OK);
    assert_ptr_equal(prof, block); /* props_prof_drop() frees prof */
    return prof;
}

void
props_prof_drop(struct prof *prof)
{
    const char *broken = prof_check(prof);

    if (broken != NULL)
        fail_msg("%s is broken", broken);
    free(prof);
}
