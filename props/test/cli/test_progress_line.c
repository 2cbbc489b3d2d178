/* test_progress_line.c -- progress in a log, and on a terminal. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "progress_line.h"

static int said;         /* the old standard error */
static int read_from;    /* reads what is written to the new one */
static char text[65536]; /* read so far */

static void
put_aside(int to)
{
    fflush(stderr);
    said = dup(STDERR_FILENO);
    assert_true(dup2(to, STDERR_FILENO) == STDERR_FILENO);
}

/* Check that `want` was written. A terminal passes text on in pieces, so read
 * until all has come. */
static void
expect_text(const char *want)
{
    size_t used = 0;
    ssize_t bytes = 1;

    assert_true(dup2(said, STDERR_FILENO) == STDERR_FILENO);
    close(said);
    while (used < strlen(want) && bytes > 0) {
        bytes = read(read_from, text + used, sizeof text - 1 - used);
        used += bytes > 0 ? (size_t)bytes : 0;
    }
    text[used] = '\0';
    assert_string_equal(text, want);
}

static void
a_log_gets_a_line_a_minute(void **state)
{
    static const uint64_t took_ms[] = {1,      59999,  60000,  60001,
                                       119999, 185000, 239999, 240000};
    struct props_progress_line line = {0};
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    read_from = ends[0];
    put_aside(ends[1]);
    for (size_t i = 0; i < sizeof took_ms / sizeof *took_ms; i++) {
        if (props_progress_line_due(&line, took_ms[i]))
            props_progress_line_show(&line, "at %d", (int)took_ms[i]);
    }
    props_progress_line_hide(&line);
    close(ends[1]);
    expect_text("at 60000\nat 185000\nat 240000\n");
    close(ends[0]);
}

static void
a_terminal_has_one_line_that_goes(void **state)
{
    struct props_progress_line line = {0};
    char want[256];
    int terminal;

    (void)state;
    read_from = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(read_from >= 0 && grantpt(read_from) == 0 &&
                unlockpt(read_from) == 0);
    terminal = open(ptsname(read_from), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    put_aside(terminal);
    for (uint64_t ms = 0; ms < 2; ms++) {
        assert_true(props_progress_line_due(&line, ms));
        props_progress_line_show(&line, "at %d", (int)ms);
    }
    props_progress_line_hide(&line);
    snprintf(want, sizeof want, "\r%-79s\r%-79s\r%79s\r", "at 0", "at 1", "");
    expect_text(want);
    close(terminal);
    close(read_from);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_gets_a_line_a_minute),
        cmocka_unit_test(a_terminal_has_one_line_that_goes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
