/* profile_world.c -- see profile_world.h. */
#include "profile_world.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libelf.h>

#include "dump_case.h"
#include "named_profile.h"
#include "pprof.h"
#include "profile.h"
#include "profile/profile_env.h"
#include "profile_top.h"
#include "refused_memory.h"
#include "unit_test.h"

enum { SECONDS = 60, FILE_MAX = 1 << 16 };

struct profile_special profile_special;

ssize_t __real_read(int file, void *bytes, size_t count);
ssize_t __wrap_read(int file, void *bytes, size_t count);

ssize_t
__wrap_read(int file, void *bytes, size_t count)
{
    static uint32_t reads;

    struct stat status;

    if (profile_special.read_bytes == 0 || count < 100)
        return __real_read(file, bytes, count);
    /* It may have grown, but there is room for these. */
    if (fstat(file, &status) == 0 && status.st_size > 0 &&
        lseek(file, 0, SEEK_CUR) + (off_t)count > status.st_size)
        abort();
    if (profile_special.signal_at_read != 0)
        raise(profile_special.signal_at_read);
    if (profile_special.reads > 0 && reads++ == profile_special.reads) {
        errno = profile_special.read_end;
        return profile_special.read_end == 0 ? 0 : -1;
    }
    return __real_read(file, bytes,
                       count < profile_special.read_bytes
                           ? count
                           : profile_special.read_bytes);
}

/* Make a folder that is gone the current one. */
static void
leave(void)
{
    char gone[] = "/tmp/profsim-gone-XXXXXX";

    if (mkdtemp(gone) == NULL || chdir(gone) != 0 || rmdir(gone) != 0)
        abort();
}

static void
limit(void)
{
    const struct rlimit few = {12, 12};
    const struct rlimit small = {profile_special.file_bytes,
                                 profile_special.file_bytes};
    int ends[2];

    if (profile_special.is_another_user && geteuid() == 0 &&
        setresuid(65534, 65534, 65534) != 0)
        abort();
    if (profile_special.is_closed &&
        (close(0) != 0 || setrlimit(RLIMIT_NOFILE, &few) != 0))
        abort();
    if (profile_special.is_unread &&
        (pipe(ends) != 0 || close(ends[0]) != 0 || dup2(ends[1], 2) != 2 ||
         close(ends[1]) != 0 || signal(SIGPIPE, SIG_DFL) == SIG_ERR))
        abort();
    if (profile_special.file_bytes > 0 && setrlimit(RLIMIT_FSIZE, &small) != 0)
        abort();
    if (profile_special.output != NULL)
        leave();
    refused_memory_at = profile_special.refused;
}

static enum cli_exit
profile(int argc, char **argv)
{
    static const char *const names[] = {PROFILE_ENV_FOLDER,  PROFILE_ENV_HEAP,
                                        PROFILE_ENV_MUTEX,   PROFILE_ENV_BLOCK,
                                        PROFILE_ENV_CPU,     PROFILE_ENV_EVERY,
                                        PROFILE_ENV_NO_AGENT};
    Dl_info here;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], "of another profile", 1);
    if (dladdr((void *)(uintptr_t)elf_begin, &here) == 0)
        abort();
    setenv("PROFSIM_PROFILER",
           profile_special.library != NULL ? profile_special.library
                                           : here.dli_fname,
           1);
    limit();
    return cli_profile(argc, argv);
}

/* Run it with the folder `out`, in other words, unless another is
 * profile_special. */
struct captured
profile_run(const char *folder, const char *const *options, const char *script)
{
    char *argv[PROFILE_WORDS + 8] = {strdup("profile"), strdup("-o")};
    struct captured said;
    int argc = 3;

    assert_true(profile_special.output != NULL
                    ? (argv[2] = strdup(profile_special.output)) != NULL
                    : asprintf(&argv[2], "%s/./out", folder) > 0);
    for (; *options != NULL; options++)
        argv[argc++] = strdup(*options);
    if (script != NULL) {
        argv[argc++] = strdup("--");
        argv[argc++] = strdup("sh");
        argv[argc++] = strdup("-c");
        argv[argc++] = strdup(script);
    }
    assert_true(captured_run(&said, profile, argv, -1, SECONDS));
    while (argc > 0)
        free(argv[--argc]);
    return said;
}

void
profile_expect(struct captured said, int exit_code, int signal,
               const char *text)
{
    if (said.exit_code != exit_code || said.signal != signal ||
        strcmp(said.text, text) != 0)
        fail_msg("%d %d, not %d %d:\n%s\nnot\n%s", said.exit_code, said.signal,
                 exit_code, signal, said.text, text);
    captured_free(&said);
}

static struct dump_profile content;

void
profile_path(char *path, const char *folder, const char *name, const char *end)
{
    snprintf(path, PATH_MAX, "%s/out/%s%s", folder, name, end);
}

static void
write_file(const char *path, const void *bytes, size_t count, long past)
{
    FILE *const file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fseek(file, past, SEEK_SET), 0);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

void
profile_make(const char *folder, const struct profile_file *file)
{
    char path[PATH_MAX];

    profile_path(path, folder, file->name, "");
    dump_make(&content, file->seed, DUMP_HEAP);
    if (file->made == PROFILE)
        write_file(path, content.bytes, content.count, 0);
    else if (file->made == EMPTY)
        write_file(path, "\x32\0\x32\4long", 8, 0); /* two strings */
    else if (file->made == ONE)
        write_file(path, "\x12\0\x32", 4, 0); /* a sample of nothing */
    else if (file->made == DAMAGED)
        write_file(path, "\xff", 1, 0);
    else if (file->made == LARGE)
        write_file(path, "", 1, (256 << 20) - 1);
    else if (file->made == LINK)
        assert_int_equal(symlink("/dev/null", path), 0);
    else if (file->made == PIPE)
        assert_int_equal(mkfifo(path, 0600), 0);
    else
        assert_int_equal(mkdir(path, 0700), 0);
}

/* Read a file, and remove it. returns: what it says, as lines to be freed */
static char *
take_lines(const char *folder, const char *name, bool otlp, const char *shown)
{
    static uint8_t bytes[FILE_MAX];
    char path[PATH_MAX];
    char line[PATH_MAX + 16];
    struct model_pprof profile;
    size_t count;
    FILE *file;

    profile_path(path, folder, name, otlp ? "otlp" : "pb.gz");
    snprintf(line, sizeof line, "%s %s", otlp ? "cat" : "gzip -dc", path);
    file = popen(line, "r");
    assert_non_null(file);
    count = fread(bytes, 1, FILE_MAX, file);
    assert_int_equal(pclose(file), 0);
    assert_int_equal(unlink(path), 0);
    assert_in_range(count, 1, FILE_MAX - 1);
    if (otlp)
        return dump_lines_of_otlp(bytes, count);
    assert_true(model_pprof_read(&profile, bytes, count));
    assert_string_equal(profile.default_type, shown);
    model_pprof_release(&profile);
    return dump_lines_of_pprof(bytes, count);
}

/* Each of its files says what the process wrote. */
void
profile_expect_saved(const char *folder, const struct profile_file *file,
                     const char *name, bool otlp, const char *shown)
{
    char *wanted;

    dump_make(&content, file->seed, DUMP_HEAP);
    wanted = dump_lines_of_pprof(content.bytes, content.count);
    for (int o = 0; o <= otlp; o++) {
        char *const found = take_lines(folder, name, o == 1, shown);

        assert_string_equal(found, wanted);
        free(found);
    }
    free(wanted);
}

bool
profile_is_heap(const struct profile_file *file)
{
    return file->saved != NULL && strstr(file->saved, ".heap.") != NULL;
}

/* Print what the command says of the first of the largest heaps. */
void
profile_print_largest(FILE *to, const char *folder,
                      const struct profile_file *files, size_t count)
{
    struct cli_named_profile named = {.samples_count = 0};
    size_t largest = 0;
    size_t at = count;

    for (size_t i = 0; i < count; i++) {
        if (!profile_is_heap(&files[i]))
            continue;
        dump_make(&content, files[i].seed, DUMP_HEAP);
        assert_null(
            cli_named_profile_make(&named, content.bytes, content.count));
        if (named.proto.count > largest) {
            largest = named.proto.count;
            at = i;
        }
        cli_named_profile_release(&named);
    }
    assert_true(at < count);
    dump_make(&content, files[at].seed, DUMP_HEAP);
    assert_null(cli_named_profile_make(&named, content.bytes, content.count));
    fprintf(to, "profsim profile: %s/out/%spb.gz:\n", folder, files[at].saved);
    assert_true(cli_profile_top(&named, "alloc_space", 10, to));
    assert_true(cli_profile_top(&named, "inuse_space", 10, to));
    cli_named_profile_release(&named);
}

void
profile_make_folder(const char *folder)
{
    char path[PATH_MAX];

    profile_path(path, folder, "", "");
    assert_int_equal(mkdir(path, 0700), 0);
}

void
profile_remove(const char *folder, const char *name)
{
    char path[PATH_MAX];

    profile_path(path, folder, name, "");
    if (remove(path) != 0)
        fail_msg("%s is not there", path);
}
