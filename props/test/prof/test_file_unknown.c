/*
 * test_file_unknown.c -- files whose type the system cannot tell: fstat()
 * fails, as on a network file system that is gone.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file_stubs.h"
#include "unit_test.h"

/* Begin a file while the call of fstat() after `after` others fails. That must
 * be the reason of a failure, and no descriptor may stay open. */
static enum prof_status
begin_unanswered(const char *name, int after)
{
    const int before = stubs.descriptors;
    enum prof_status status;

    refuse(CALL_FSTAT, EIO, 1);
    stubs.refused_after = after;
    status = prof_file_begin(&file, name);
    if (strncmp(name, "/dev/", 5) == 0)
        stubs.descriptors = before; /* the copy is not counted */
    else
        assert_int_equal(stubs.descriptors == before, status != PROF_OK);
    return status;
}

static enum prof_status
check_unanswered(const char *name, int after)
{
    const int before = stubs.descriptors;
    enum prof_status status;

    refuse(CALL_FSTAT, EIO, 1);
    stubs.refused_after = after;
    status = prof_file_check(&file, name);
    assert_int_equal(stubs.descriptors, before);
    return status;
}

TEST_WITH(begin, end, what_the_system_cannot_tell_is_the_reason)
{
    const int reader = make_pipe();
    char own[32];
    const char *const names[] = {in_folder("link"), path, in_folder("new"),
                                 own};

    snprintf(own, sizeof own, "/dev/fd/%d", reader);
    assert_int_equal(symlink("new", in_folder("link")), 0);
    for (size_t n = 0; n < 2 * sizeof names / sizeof *names; n++) {
        const char *const name = names[n / 2];
        enum prof_status status = PROF_ERR_SINK;
        int asked = 0;

        for (; status != PROF_OK && asked < 50; asked++) {
            status = n % 2 == 0 ? begin_unanswered(name, asked)
                                : check_unanswered(name, asked);
            if (stubs.refused_times > 0)
                continue;
            assert_int_equal(status, PROF_ERR_SINK);
            assert_int_equal(file.error, EIO);
            assert_string_equal(prof_file_reason(&file), strerror(EIO));
        }
        assert_int_equal(status, PROF_OK);
        refuse(NO_CALL, 0, 0);
        if (n % 2 != 0)
            continue;
        assert_int_equal(prof_file_end(&file, PROF_ERR_SINK), PROF_ERR_SINK);
        stubs.descriptors += name == own;
    }
    assert_int_equal(unlink(in_folder("link")), 0);
    assert_int_equal(close(reader), 0);
}

/* fstat() fails for the old file or for the new one: then nobody may open the
 * new file who could not in any case. */
TEST_WITH(begin, end, what_is_not_known_at_the_end_keeps_others_out)
{
    static const mode_t modes[] = {0666, 0640};
    static const mode_t want[] = {0644, 0600};
    const mode_t before = umask(022);

    for (int after = 0; after < 2; after++) {
        make_text(path, "old");
        assert_int_equal(chmod(path, modes[after]), 0);
        assert_int_equal(prof_file_begin(&file, path), PROF_OK);
        refuse(CALL_FSTAT, EIO, 1);
        stubs.refused_after = after;
        assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
        assert_int_equal(stubs.refused_times, 0);
        refuse(NO_CALL, 0, 0);
        assert_int_equal(like(path).st_mode & 0777, want[after]);
    }
    assert_int_equal(prof_file_begin(&file, path), PROF_OK);
    refuse(CALL_FSTATAT, EIO, 1);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_int_equal(file.error, EIO);
    umask(before);
}

int
main(void)
{
    return tests_run(make_folder, remove_folder);
}
