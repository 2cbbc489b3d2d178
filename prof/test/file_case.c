/* file_case.c -- see file_case.h. */
#include "prof/test/file_case.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/test/unit_test.h"

struct prof_file file;
char folder[32];
char path[64];
static int descriptors; /* open before the test */

/* returns: how many entries of a folder begin with `name` */
static int
entries(const char *of, const char *name)
{
    DIR *listing = opendir(of);
    const struct dirent *entry;
    int count = 0;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL)
        count += strncmp(entry->d_name, name, strlen(name)) == 0;
    closedir(listing);
    return count;
}

int
file_case_begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/profsim-file-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    memset(&file, 0xa5, sizeof file);
    descriptors = entries("/proc/self/fd", "");
    return 0;
}

int
file_case_end(void **state)
{
    char command[64];
    int left;

    (void)state;
    (void)chmod(folder, 0700);
    left = entries(folder, ".prof-");
    snprintf(command, sizeof command, "rm -rf -- %s", folder);
    if (system(command) != 0)
        return -1;
    return left + entries("/proc/self/fd", "") - descriptors;
}

const char *
in_folder(const char *name)
{
    static char names[4][512];
    static unsigned turn;
    char *to = names[turn++ % 4];

    snprintf(to, sizeof names[0], "%s/%s", folder, name);
    return to;
}

enum prof_status
put(const char *text)
{
    const struct prof_sink sink = prof_file_sink(&file);

    return sink.write(sink.context, text, strlen(text));
}

void
write_text(const char *name, const char *text)
{
    assert_int_equal(prof_file_begin(&file, name), PROF_OK);
    assert_int_equal(put(text), PROF_OK);
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_OK);
}

void
assert_holds(const char *name, const char *want)
{
    char text[64];
    FILE *stream = fopen(name, "r");
    size_t bytes;

    assert_non_null(stream);
    bytes = fread(text, 1, sizeof text - 1, stream);
    text[bytes] = '\0';
    fclose(stream);
    assert_string_equal(text, want);
}

void
make_text(const char *name, const char *text)
{
    FILE *stream = fopen(name, "w");

    assert_non_null(stream);
    assert_true(fputs(text, stream) >= 0);
    assert_int_equal(fclose(stream), 0);
}

struct stat
like(const char *name)
{
    struct stat info;

    assert_int_equal(lstat(name, &info), 0);
    return info;
}

mode_t
mode_of(const char *name)
{
    return like(name).st_mode & 07777;
}

void
assert_refused(const char *name, int error, const char *reason)
{
    assert_int_equal(prof_file_begin(&file, name), PROF_ERR_SINK);
    assert_int_equal(file.error, error);
    assert_non_null(strstr(prof_file_reason(&file), reason));
    assert_int_equal(prof_file_end(&file, PROF_OK), PROF_ERR_SINK);
    assert_int_equal(prof_file_check(&file, name), PROF_ERR_SINK);
    assert_int_equal(file.error, error);
}

void
assert_writes(const char *name, const char *place)
{
    assert_int_equal(prof_file_check(&file, name), PROF_OK);
    write_text(name, "new");
    assert_holds(place, "new");
    assert_true(S_ISREG(like(place).st_mode));
    assert_int_equal(unlink(place), 0);
}

int
make_pipe(void)
{
    int reader;

    assert_int_equal(mkfifo(path, 0600), 0);
    reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    return reader;
}
