/*
 * test_recorder_safety.c -- the recorder does no harm: guarded_program runs
 * under it as it does alone, whatever it does and whichever resource is
 * exhausted.
 *
 * usage: [TEST_FILTER=TEST] test_recorder_safety PROFSIM RECORDER PROGRAM
 * ROUNDS
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "recording.h"
#include "unit_test.h"

enum {
    ARGUMENTS_MAX = 12,
    MORE_STACK_BYTES = 2048, /* stack bytes that the recorder may use */
    RECORDER_FAILED = 125,
    NO_DISK = 77, /* exit code if this container may not mount */
};

static char spools[64]; /* $TMPDIR of the recorder: empty after each test */
static char output[64];
static const char *profsim;
static const char *program;

/* ---- commands ---- */

static pid_t
start(char *const *argv)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        char log[64];

        folder_path(log, sizeof log, "log");
        dup2(open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600), 2);
        setenv("TMPDIR", spools, 1);
        execv(argv[0], argv);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

static void
show_log(void)
{
    char line[256];
    char log[64];
    FILE *file;

    folder_path(log, sizeof log, "log");
    file = fopen(log, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        print_error("%s", line);
    if (file != NULL)
        fclose(file);
}

/* returns: the exit code, or minus the signal */
static int
end_of(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static pid_t
start_recording(va_list list)
{
    char record[] = "record";
    char to[] = "-o";
    char limit[] = "--limit=16777216";
    char *argv[ARGUMENTS_MAX + 6] = {(char *)(uintptr_t)profsim, record, to,
                                     output, limit};
    int argc = 5;

    while (argc < ARGUMENTS_MAX + 5 &&
           (argv[argc] = va_arg(list, char *)) != NULL)
        argc++;
    unlink(output);
    return start(argv);
}

static int
record(const char *first, ...)
{
    va_list list;
    int status;

    (void)first;
    va_start(list, first);
    status = end_of(start_recording(list));
    va_end(list);
    return status;
}

static pid_t
record_beside(const char *first, ...)
{
    va_list list;
    pid_t child;

    (void)first;
    va_start(list, first);
    child = start_recording(list);
    va_end(list);
    return child;
}

static int
run_alone(const char *mode, const char *argument)
{
    char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)mode,
                    (char *)(uintptr_t)argument, NULL};

    return end_of(start(argv));
}

static void
expect_good(int status)
{
    if (status == 0)
        return;
    show_log();
    fail_msg("ended with %d", status);
}

static struct sim_recording *
open_recording(const char *suffix)
{
    struct sim_recording_error error;
    struct sim_recording *recording;
    char path[80];
    char line[200];

    snprintf(path, sizeof path, "%s%s", output, suffix);
    if (sim_recording_open(&recording, path, &error)) {
        unlink(path);
        return recording;
    }
    sim_recording_explain(&error, path, line, sizeof line);
    show_log();
    fail_msg("%s", line);
    return NULL;
}

/* Count the allocations of a recording. */
static uint64_t
recorded_allocs(void)
{
    struct sim_recording *const recording = open_recording("");
    const uint64_t allocs = sim_recording_totals(recording)->allocs;

    sim_recording_close(recording);
    return allocs;
}

/* Find the name of the only entry in the spools' folder; fail if there are
 * more. */
static bool
find_spool_folder(char *path, size_t bytes)
{
    DIR *const listing = opendir(spools);
    struct dirent *entry;
    int count = 0;

    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL)
        if (entry->d_name[0] != '.') {
            snprintf(path, bytes, "%s/%s", spools, entry->d_name);
            count++;
        }
    closedir(listing);
    assert_true(count <= 1);
    return count == 1;
}

static void
expect_no_leftovers(void)
{
    char path[400];

    if (find_spool_folder(path, sizeof path))
        fail_msg("%s is left behind", path);
}

/* ---- tests ---- */

TEST(descriptors_are_the_programs)
{
    expect_good(run_alone("descriptors", NULL));
    expect_good(record("", program, "descriptors", NULL));
    assert_true(recorded_allocs() > 4 * 5000);
    expect_no_leftovers();
}

struct use {
    char where[16];
    size_t bytes;
};

static int
read_uses(const char *path, struct use *uses, int room)
{
    FILE *const file = fopen(path, "r");
    int count = 0;

    assert_non_null(file);
    while (count < room &&
           fscanf(file, "%15s %zu", uses[count].where, &uses[count].bytes) == 2)
        count++;
    fclose(file);
    unlink(path);
    return count;
}

TEST(a_small_stack_is_enough)
{
    struct use alone[8];
    struct use recorded[8];
    char path[64];

    folder_path(path, sizeof path, "stacks");
    expect_good(run_alone("stacks", path));
    assert_int_equal(read_uses(path, alone, 8), 4);
    expect_good(record("", program, "stacks", path, NULL));
    assert_int_equal(read_uses(path, recorded, 8), 4);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(alone[i].where, recorded[i].where);
        print_message("%s: %zu bytes of stack, alone %zu\n", alone[i].where,
                      recorded[i].bytes, alone[i].bytes);
        assert_true(recorded[i].bytes <= alone[i].bytes + MORE_STACK_BYTES);
    }
    expect_no_leftovers();
}

TEST(forks_in_handlers_neither_die_nor_hang)
{
    static const char *const modes[][2] = {
        {"fork", "0"}, {"_Fork", "0"}, {"fork", "2"}, {"_Fork", "2"}};

    for (size_t i = 0; i < 4; i++) {
        expect_good(record("", "--images=1", "--limit=1048576", program,
                           modes[i][0], modes[i][1], NULL));
        assert_true(recorded_allocs() > 100);
        expect_no_leftovers();
    }
}

/* However many libraries are preloaded, the recorder comes before them and
 * keeps them. */
TEST(what_else_is_preloaded_stays)
{
    char others[20000];
    size_t bytes = 0;

    while (bytes + 200 < sizeof others)
        bytes += (size_t)snprintf(&others[bytes], sizeof others - bytes,
                                  "/nowhere/%0150zu.so:", bytes);
    setenv("OTHERS", others, 1);
    setenv("LD_PRELOAD", others, 1);
    expect_good(record("", "sh", "-c",
                       "case $LD_PRELOAD in *:\"$OTHERS\") ;; *) false ;; esac",
                       NULL));
    unsetenv("LD_PRELOAD");
    expect_no_leftovers();
}

TEST(errno_is_the_programs)
{
    expect_good(run_alone("errno", NULL));
    expect_good(record("", program, "errno", NULL));
    assert_in_range(recorded_allocs(), 4, 10);
}

/* returns: the number in the log's line with the text, 0 if there is no such
 * line */
static long
number_in_log(const char *format)
{
    char line[512];
    char log[64];
    long number = 0;
    FILE *file;

    folder_path(log, sizeof log, "log");
    file = fopen(log, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, format, &number) == 1)
            break;
    fclose(file);
    return number;
}

/* From the fork on each child has a log of its own, and it is complete. */
TEST(a_fork_at_any_instruction_is_survived)
{
    struct sim_recording *recording;

    expect_good(run_alone("fork-everywhere", NULL));
    expect_good(record("", "--images=3", "--limit=1048576", program,
                       "fork-everywhere", NULL));
    assert_true(number_in_log("guarded_program: forked: %ld") > 200);
    assert_int_equal(number_in_log("guarded_program: forked: %ld") + 1,
                     number_in_log("profsim record: %ld process images") + 3);
    for (int i = 1; i <= 3; i++) {
        static const char *const files[] = {"", ".2", ".3"};

        recording = open_recording(files[i - 1]);
        assert_in_range(sim_recording_totals(recording)->allocs,
                        i == 1 ? 202 : 100, 204);
        assert_int_equal(
            sim_recording_totals(recording)->dropped[SIM_RECORDED_LIMIT], 0);
        sim_recording_close(recording);
    }
    expect_no_leftovers();
}

TEST(a_limit_of_files_ends_the_log_alone)
{
    struct sim_recording *recording;

    expect_good(record("", program, "file-limit", "0", NULL));
    expect_no_leftovers();
    expect_good(record("", program, "file-limit", "262144", NULL));
    recording = open_recording("");
    assert_true(sim_recording_totals(recording)->allocs > 1000);
    assert_true(sim_recording_totals(recording)->dropped[SIM_RECORDED_LIMIT] >
                0);
    sim_recording_close(recording);
    expect_no_leftovers();
    expect_good(record("", program, "lowered-file-limit", NULL));
    assert_true(recorded_allocs() > 1000);
    expect_no_leftovers();
}

TEST(a_limit_of_memory_is_the_programs)
{
    static const uint64_t limits[] = {48 << 20, 300 << 20, 1024 << 20};
    char text[32];
    char path[64];

    folder_path(path, sizeof path, "log");
    for (size_t i = 0; i < 3; i++) {
        const int out = dup(1);
        long alone = 0;
        long recorded = 0;
        char found[64];
        FILE *file;

        snprintf(text, sizeof text, "%llu", (unsigned long long)limits[i]);
        folder_path(found, sizeof found, "memory");
        fflush(NULL);
        dup2(open(found, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600), 1);
        expect_good(run_alone("memory-limit", text));
        expect_good(record("", program, "memory-limit", text, NULL));
        dup2(out, 1);
        close(out);
        file = fopen(found, "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "%ld %ld", &alone, &recorded), 2);
        fclose(file);
        print_message("of %s bytes the program has %ld MiB, alone %ld\n", text,
                      recorded, alone);
        assert_true(alone > 30);
        assert_true(recorded >= alone - 1 - (long)(limits[i] >> 24));
        expect_no_leftovers();
    }
}

/* Run `body` in a private mount namespace, with the spools on a small disk. */
static void
on_small_disk(const char *options, void (*body)(void))
{
    int status;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        if ((unshare(CLONE_NEWNS) != 0 &&
             unshare(CLONE_NEWNS | CLONE_NEWUSER) != 0) ||
            mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
            mount("tmpfs", spools, "tmpfs", 0, options) != 0) {
            fprintf(stderr, "no private disk can be had here: %s\n",
                    strerror(errno));
            _exit(NO_DISK);
        }
        body();
        fflush(NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_DISK)
        skip();
    if (status != 0)
        show_log();
    assert_int_equal(status, 0);
}

static void
check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static bool
is_empty(void)
{
    char path[400];

    return !find_spool_folder(path, sizeof path);
}

static void
fill_small_disk(void)
{
    struct sim_recording_error error;
    struct sim_recording *recording;
    char path[80];

    check(record("", program, "fill", NULL) == 0, "the program");
    check(sim_recording_open(&recording, output, &error), "the recording");
    check(sim_recording_totals(recording)->allocs > 1000, "its beginning");
    check(sim_recording_totals(recording)->dropped[SIM_RECORDED_DISK] > 0,
          "what is missing");
    sim_recording_close(recording);
    check(is_empty(), "leftovers");

    snprintf(path, sizeof path, "%s/fill", spools);
    check(record("", program, "full-disk", path, NULL) == 0,
          "a disk that fills");
    check(sim_recording_open(&recording, output, &error), "the recording");
    check(sim_recording_totals(recording)->dropped[SIM_RECORDED_DISK] > 0,
          "what is missing of it");
    sim_recording_close(recording);
    check(is_empty(), "leftovers");
}

/* Nothing is recorded, but the program runs on as usual. */
static void
run_without_disk(void)
{
    char path[64];

    folder_path(path, sizeof path, "stacks");
    check(record("", program, "stacks", path, NULL) == RECORDER_FAILED,
          "no recording, and said so");
    check(access(path, F_OK) == 0, "the program");
    check(is_empty(), "leftovers");
}

TEST(a_full_disk_ends_the_log_alone)
{
    on_small_disk("size=6m", fill_small_disk);
    on_small_disk("size=4k", run_without_disk);
}

TEST(a_folder_of_the_same_name_is_not_written_to)
{
    expect_good(record("", program, "replaced", NULL));
    expect_no_leftovers();
    expect_good(record("", program, "linked", NULL));
    expect_no_leftovers();
}

/* Wait, at most 20 s, until a program has written its process id to a file. */
static pid_t
wait_for_word(const char *path)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    int number = 0;

    for (int i = 0; i < 10000 && number == 0; i++) {
        FILE *const file = fopen(path, "r");

        if (file != NULL) {
            if (fscanf(file, "%d\n", &number) != 1)
                number = 0;
            fclose(file);
        }
        nanosleep(&pause, NULL);
    }
    assert_true(number > 0);
    return (pid_t)number;
}

/* Wait, at most 20 s, until a process that is not our child has ended. */
static void
wait_until_gone(pid_t process)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    char path[64];
    char state = 'R';

    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    for (int i = 0; i < 10000 && state != 'Z'; i++) {
        FILE *const file = fopen(path, "r");

        if (file == NULL)
            return;
        if (fscanf(file, "%*d %*s %c", &state) != 1)
            state = 'Z';
        fclose(file);
        nanosleep(&pause, NULL);
    }
    assert_int_equal(state, 'Z');
}

static int
convert_spools_to(char *file, char *images)
{
    char convert[] = "recover";
    char to[] = "-o";
    char found[400];
    char *argv[] = {
        (char *)(uintptr_t)profsim, convert, to, file, images, found, NULL};

    assert_true(find_spool_folder(found, sizeof found));
    return end_of(start(argv));
}

static int
convert_spools(void)
{
    char images[] = "--images=32";

    return convert_spools_to(output, images);
}

TEST(what_was_logged_outlives_the_one_who_asked)
{
    char word[64];
    pid_t recorder;
    pid_t process;

    folder_path(word, sizeof word, "word");
    recorder = record_beside("", program, "hold", word, NULL);
    process = wait_for_word(word);
    kill(recorder, SIGKILL);
    assert_int_equal(end_of(recorder), -SIGKILL);
    unlink(word);
    wait_until_gone(process);
    expect_good(convert_spools());
    assert_in_range(recorded_allocs(), 1000, 1020);
    expect_no_leftovers();
}

/* Not even a spool that would have been dropped, had the recording been
 * saved. */
TEST(a_save_that_fails_removes_nothing)
{
    char full[] = "/dev/full";
    char one[] = "--images=1";
    char second[80];
    char word[64];
    pid_t recorder;
    pid_t process;

    snprintf(second, sizeof second, "%s.2", output);
    (void)unlink(second);
    folder_path(word, sizeof word, "word");
    recorder =
        record_beside("", "sh", "-c", "\"$0\" some; exec \"$0\" hold \"$1\"",
                      program, word, NULL);
    process = wait_for_word(word);
    kill(recorder, SIGKILL);
    assert_int_equal(end_of(recorder), -SIGKILL);
    unlink(word);
    wait_until_gone(process);
    assert_int_equal(convert_spools_to(full, one), 1);
    expect_good(convert_spools());
    assert_int_equal(access(second, R_OK), 0);
    expect_no_leftovers();
}

TEST(a_daemon_is_saved_while_it_runs_and_after)
{
    char word[64];
    pid_t process;

    folder_path(word, sizeof word, "word");
    /* The shell allocates each time it sleeps: few times, or it would ask for
     * more bytes than the daemon, and be the recording. */
    expect_good(record("", "--images=9", "sh", "-c",
                       "\"$0\" daemon \"$1\"; "
                       "while ! [ -s \"$1\" ]; do sleep 0.3; done",
                       program, word, NULL));
    process = wait_for_word(word);
    assert_in_range(recorded_allocs(), 500, 520);
    unlink(word);
    wait_until_gone(process);
    expect_good(convert_spools());
    assert_in_range(recorded_allocs(), 1000, 1020);
    expect_no_leftovers();
}

static void
expect_command(const char *word)
{
    struct sim_recording *const recording = open_recording("");
    const char *const command = sim_recording_argument(recording, 0);
    const size_t length = strlen(command);

    if (length < strlen(word) ||
        strcmp(command + length - strlen(word), word) != 0)
        fail_msg("%s instead of %s", command, word);
    sim_recording_close(recording);
}

/* Of all images that a command starts, the recording is of the one that
 * allocated most. */
TEST(the_program_behind_a_starter_is_recorded)
{
    char source[64];
    FILE *file;

    expect_good(record("", "env", "A=1", program, "some", NULL));
    expect_command("guarded_program");
    expect_good(record("", "sh", "-c", "\"$0\" some; true", program, NULL));
    expect_command("guarded_program");
    if (geteuid() == 0) {
        expect_good(record("", "chroot", "/", program, "some", NULL));
        expect_command("guarded_program");
    }
    folder_path(source, sizeof source, "x.c");
    file = fopen(source, "w");
    assert_non_null(file);
    for (int i = 0; i < 400; i++)
        fprintf(file, "int f%d(int a) { return a + %d; }\n", i, i);
    assert_int_equal(fclose(file), 0);
    expect_good(
        record("", "gcc", "-c", "-O1", "-o", "/dev/null", source, NULL));
    expect_command("cc1");
    expect_no_leftovers();
}

/* The first image executes the second, and both allocate equally much: the
 * recording is of the second. */
TEST(of_equal_images_the_last_is_the_recording)
{
    struct sim_recording *recording;

    expect_good(record("", program, "again", NULL));
    recording = open_recording("");
    assert_int_equal(sim_recording_totals(recording)->arguments, 2);
    assert_string_equal(sim_recording_argument(recording, 1), "some");
    sim_recording_close(recording);
    recording = open_recording(".2");
    assert_string_equal(sim_recording_argument(recording, 1), "again");
    sim_recording_close(recording);
    expect_no_leftovers();
}

static bool
log_says(const char *text)
{
    char line[512];
    char log[64];
    bool found = false;
    FILE *file;

    folder_path(log, sizeof log, "log");
    file = fopen(log, "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = strstr(line, text) != NULL;
    fclose(file);
    return found;
}

/* An image started with a cleared environment, by exec or posix_spawn, is named
 * as not recorded; one that keeps the environment is not. */
TEST(an_image_that_lost_the_recorder_is_named)
{
    static const char spawn[] =
        "import os, sys\n"
        "words = [sys.argv[1], 'some']\n"
        "os.waitpid(os.posix_spawn(words[0], words, {}), 0)";
    static const char spawn_alike[] =
        "import os, sys\n"
        "words = [sys.argv[1], 'some']\n"
        "os.waitpid(os.posix_spawn(words[0], words, os.environ), 0)";

    expect_good(
        record("", "sh", "-c", "env -i \"$0\" some; true", program, NULL));
    assert_true(log_says("not recorded: process"));
    assert_true(log_says("1 executed program ran without the recorder"));
    expect_good(record("", "python3", "-S", "-c", spawn, program, NULL));
    assert_true(log_says("1 executed program ran without the recorder"));
    /* Neither a program that is not found nor one that keeps the environment,
     * by exec or posix_spawn, is named. */
    expect_good(record("", "sh", "-c",
                       "env nowhere 2>/dev/null; env \"$0\" some; true",
                       program, NULL));
    assert_false(log_says("not recorded"));
    expect_good(record("", "python3", "-S", "-c", spawn_alike, program, NULL));
    assert_false(log_says("not recorded"));
    expect_no_leftovers();
}

/* Calls whose arguments are a list execute the program with these arguments. */
TEST(lists_of_arguments_are_executed)
{
    static const char *const calls[] = {"execl", "execlp", "execle"};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        expect_good(record("", program, calls[i], NULL));
        assert_true(log_says("1 executed program ran without the recorder"));
    }
    expect_no_leftovers();
}

/* ---- set-up ---- */

static int
make_directory(void **state)
{
    if (folder_make(state) != 0)
        return -1;
    folder_path(output, sizeof output, "x.rec");
    folder_path(spools, sizeof spools, "spools");
    return mkdir(spools, 0700);
}

int
main(int argc, char **argv)
{
    char *recorder;

    if (argc != 5)
        return 1;
    setenv("GUARDED_ROUNDS", argv[4], 1); /* for the forks in handlers */
    profsim = realpath(argv[1], NULL);
    recorder = realpath(argv[2], NULL);
    program = realpath(argv[3], NULL);
    if (profsim == NULL || recorder == NULL || program == NULL)
        return 1;
    setenv("PROFSIM_RECORDER", recorder, 1);
    alarm(500);
    return tests_run(make_directory, folder_clear);
}
