/* record_case.c -- see record_case.h. */
#include "record_case.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "convert.h"
#include "images.h"
#include "in_child.h"
#include "preload.h"
#include "record.h"
#include "unit_test.h"

enum { SECONDS = 60 };

static const struct record_case *tried;

const char *
record_library(void)
{
    static char path[4096];
    char line[4352];
    FILE *const maps = fopen("/proc/self/maps", "r");

    assert_non_null(maps);
    while (path[0] == '\0' && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "libelf") != NULL)
            (void)sscanf(strchr(line, '/'), "%4095[^\n]", path);
    fclose(maps);
    assert_true(path[0] == '/');
    return path;
}

bool
record_left_folder(void)
{
    DIR *const files = opendir(spool_path_of("."));
    const struct dirent *entry;
    bool is_left = false;

    assert_non_null(files);
    while ((entry = readdir(files)) != NULL)
        is_left = is_left || strncmp(entry->d_name, "profsim-", 8) == 0;
    closedir(files);
    return is_left;
}

static enum cli_exit
record(int argc, char **argv)
{
    static const char *const names[] = {
        EMBED_ENV_SPOOL, EMBED_ENV_DEVICE, EMBED_ENV_INODE, EMBED_ENV_LIMIT,
        EMBED_ENV_DEPTH, EMBED_ENV_FRAMES, EMBED_ENV_USABLE};
    const struct rlimit limit = {tried->file_bytes, tried->file_bytes};

    if (tried->file_bytes > 0 && setrlimit(RLIMIT_FSIZE, &limit) != 0)
        abort();
    signal(SIGQUIT, SIG_DFL); /* the test may have been started without these */
    signal(SIGTERM, SIG_DFL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setenv(names[i], "of another recording", 1);
    setenv("TMPDIR", spool_path_of("."), 1);
    setenv("PROFSIM_RECORDER",
           tried->library != NULL ? tried->library : record_library(), 1);
    if (tried->preloaded != NULL)
        setenv("LD_PRELOAD", tried->preloaded, 1);
    return cli_record(argc, argv);
}

void
record_write_spool(const char *path)
{
    FILE *const file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(spool, 1, sizeof spool, file), sizeof spool);
    assert_int_equal(fclose(file), 0);
}

static void
write_one(const char *path)
{
    spool_begin();
    spool_append_alloc(1, 0xa000, 10, spool_append_stack(0x5010, 1));
    spool_header()->process = 77;
    atomic_store(&spool_header()->asked_bytes, 10);
    atomic_store(&spool_header()->events, 1);
    record_write_spool(path);
}

struct captured
record_run(const struct record_case *one)
{
    char *argv[RECORD_WORDS + 10] = {strdup("record"), strdup("-o"),
                                     strdup(spool_path_of("out"))};
    char *const path = strdup(spool_path_of("made"));
    struct captured said;
    int argc = 3;

    tried = one;
    write_one(path);
    for (int i = 0; i < RECORD_WORDS && one->options[i] != NULL; i++)
        argv[argc++] = strdup(one->options[i]);
    if (one->script != NULL) {
        argv[argc++] = strdup("--");
        argv[argc++] = strdup("sh");
        argv[argc++] = strdup("-c");
        argv[argc++] = strdup(one->script);
        argv[argc++] = strdup("sh");
        argv[argc++] = strdup(path);
    }
    assert_true(captured_run(&said, record, argv, -1, SECONDS));
    assert_int_equal(unlink(path), 0);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    free(path);
    return said;
}

void
record_expect(const struct record_case *one, int exit_code, int signal,
              bool is_there, const char *text)
{
    struct captured said = record_run(one);
    struct sim_recording_error error;
    struct sim_recording *recording;

    if (said.exit_code != exit_code || said.signal != signal ||
        strstr(said.text, text) == NULL)
        fail_msg("%d %d, not %d %d:\n%s\n%s", said.exit_code, said.signal,
                 exit_code, signal, text, said.text);
    captured_free(&said);
    assert_false(record_left_folder());
    assert_int_equal(access(spool_path_of("out"), F_OK) == 0, is_there);
    if (!is_there)
        return;
    assert_true(sim_recording_open(&recording, spool_path_of("out"), &error));
    assert_int_equal(sim_recording_totals(recording)->process, 77);
    sim_recording_close(recording);
    assert_int_equal(unlink(spool_path_of("out")), 0);
}

/* ---- damaged logs ---- */

static void
count_executed(void *context, uint32_t process, uint64_t ticks,
               const char *path)
{
    uint32_t *const executed = context;

    assert_int_equal(process, 1);
    assert_int_equal(ticks, 5000);
    assert_int_equal(strlen(path), 0);
    (*executed)++;
}

void
record_check_cut(void)
{
    uint64_t words[3] = {5000, 4, 0};
    char path[64];
    uint32_t executed = 0;

    snprintf(path, sizeof path, "%s", spool_path_of("log"));
    for (uint64_t i = 0; i <= 50; i++) {
        const uint64_t cut = i % 5 * 8;

        words[1] = i / 5; /* the bytes of the path; there is room for 8 */
        spool_begin();
        spool_append(EMBED_EXEC, 0, 1, words, 3);
        atomic_fetch_sub(&spool_header()->used_bytes, cut);
        atomic_store(&spool_header()->executed, 1);
        record_write_spool(path);
        executed = 0;
        cli_convert_executed(path, count_executed, &executed);
        assert_int_equal(executed, cut == 0 && words[1] <= 8);
    }
    assert_int_equal(unlink(path), 0);
}

/* ---- signals ---- */

static const int signals[] = {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP};
enum { SIGNALS = sizeof signals / sizeof *signals };

static void
nothing(void *context)
{
    (void)context;
}

static void
other(int number)
{
    (void)number;
}

/* The command waits until its parent is ready, and sends it all signals; the
 * last one is passed on. */
static void
check_signals(int number, const char *name)
{
    static const struct cli_preload preload = {.verb = "record",
                                               .set_environment = nothing};
    char *command[] = {
        strdup("sh"), strdup("-c"),
        strdup("n=0; while [ $n -lt 500 ]; do case $(grep "
               "^SigCgt /proc/$PPID/status) in *4??[19]) break;; "
               "esac; n=$((n + 1)); sleep 0.01; done; "
               "kill -INT $PPID; kill -QUIT $PPID; "
               "kill -PIPE $PPID; kill -$0 $PPID; exec sleep 20"),
        strdup(name), NULL};
    struct sigaction held;
    int status = 0;

    for (int i = 0; i < SIGNALS; i++)
        signal(signals[i], i % 2 == 0 ? SIG_DFL : other);
    CHECK(cli_preload_run(&preload, record_library(), command, &status) ==
          CLI_OK);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == number);
    for (int i = 0; i < SIGNALS; i++) {
        CHECK(sigaction(signals[i], NULL, &held) == 0);
        CHECK((held.sa_handler == SIG_IGN) == (i < 3));
    }
    CHECK(raise(SIGTERM) == 0 && raise(SIGHUP) == 0); /* to nobody any more */
    cli_preload_let_go();
    for (int i = 0; i < SIGNALS; i++) {
        CHECK(sigaction(signals[i], NULL, &held) == 0);
        CHECK(held.sa_handler == (i % 2 == 0 ? SIG_DFL : other));
    }
    for (int i = 0; i < 4; i++)
        free(command[i]);
}

void
record_check_signals(void)
{
    struct sigaction held;

    CHECK(setpgid(0, 0) == 0);
    signal(SIGINT, other);
    cli_preload_let_go(); /* nothing is held */
    CHECK(sigaction(SIGINT, NULL, &held) == 0 && held.sa_handler == other);
    check_signals(SIGTERM, "TERM");
    check_signals(SIGHUP, "HUP");
}

/* ---- logs that are left ---- */

enum { LOGS = 3 };

bool __real_cli_convert(const char *from, const char *to,
                        struct cli_symbol_cache *names,
                        struct cli_converted *what, char *error,
                        size_t error_bytes);
bool __wrap_cli_convert(const char *from, const char *to,
                        struct cli_symbol_cache *names,
                        struct cli_converted *what, char *error,
                        size_t error_bytes);

/* ^C, which the parent ignores, ends a conversion. */
bool
__wrap_cli_convert(const char *from, const char *to,
                   struct cli_symbol_cache *names, struct cli_converted *what,
                   char *error, size_t error_bytes)
{
    struct sigaction action;

    if (sigaction(SIGINT, NULL, &action) != 0 || action.sa_handler != SIG_DFL)
        abort();
    return __real_cli_convert(from, to, names, what, error, error_bytes);
}

static enum cli_exit
convert(int argc, char **argv)
{
    signal(SIGINT, SIG_IGN);
    return cli_recover(argc, argv);
}

static const char *
log_path(int number)
{
    char name[32];

    snprintf(name, sizeof name, "logs/%d", number);
    return spool_path_of(name);
}

void
record_check_running(uint32_t running)
{
    char *argv[] = {strdup("convert"),
                    strdup("--output"),
                    strdup(spool_path_of("out")),
                    strdup("--images"),
                    strdup("2"),
                    strdup(spool_path_of("logs")),
                    NULL};
    void *maps[LOGS] = {NULL};
    struct captured said;

    assert_int_equal(mkdir(argv[5], 0700), 0);
    for (int i = 0; i < LOGS; i++) {
        write_one(log_path(i));
        if (running >> i & 1) {
            FILE *const file = fopen(log_path(i), "r+b");

            assert_non_null(file);
            maps[i] = mmap(NULL, sizeof spool, PROT_READ, MAP_SHARED,
                           fileno(file), 0);
            assert_true(maps[i] != MAP_FAILED);
            fclose(file);
        }
    }
    assert_true(captured_run(&said, convert, argv, -1, SECONDS));
    assert_int_equal(said.exit_code, CLI_OK);
    assert_int_equal(strstr(said.text, "still running: process 77, run it\n") !=
                         NULL,
                     running != 0);
    assert_non_null(strstr(said.text, "1 smaller process image was not kept"));
    assert_int_equal(strstr(said.text, "the logs of 1 process are kept") !=
                         NULL,
                     running == 1 || running == 2 || running == 4);
    assert_null(strstr(said.text, "profsim record: "));
    assert_non_null(strstr(said.text, "profsim convert: "));
    captured_free(&said);
    for (int i = 0; i < LOGS; i++) {
        assert_int_equal(access(log_path(i), F_OK) == 0, running >> i & 1);
        (void)unlink(log_path(i));
        if (maps[i] != NULL)
            munmap(maps[i], sizeof spool);
    }
    assert_int_equal(rmdir(argv[5]) == 0, running != 0);
    assert_int_equal(unlink(spool_path_of("out")), 0);
    assert_int_equal(unlink(spool_path_of("out.2")), 0);
    assert_int_not_equal(access(spool_path_of("out.3"), F_OK), 0);
    for (int i = 0; i < 6; i++)
        free(argv[i]);
}
