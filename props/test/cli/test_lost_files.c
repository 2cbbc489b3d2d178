/* test_lost_files.c -- the files in which processes report lost events are
 * shown, and kept until they are saved; and what a process answers when it is
 * asked for a profile.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/agent_client.h"
#include "profile/lost_files.h"
#include "profile/profile_env.h"
#include "refused_memory.h"
#include "unit_test.h"

static char folder[] = "/tmp/test_lost-XXXXXX";

static const char *
path_of(const char *name)
{
    static char path[64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void
put(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static bool
is_there(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* returns: the number of lines in the file */
static int
lines_of(const char *name)
{
    FILE *file = fopen(path_of(name), "r");
    char line[256];
    int count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        count += strncmp(line, "not in the profiles: ", 21) == 0;
    fclose(file);
    return count;
}

static const char *
text_of(const char *name)
{
    static char text[1024];
    FILE *file = fopen(path_of(name), "r");

    assert_non_null(file);
    fflush(stderr);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    return text;
}

/* Another user's file may be endless. */
TEST(a_file_of_many_lines_is_read_in_part)
{
    char junk[1100];

    memset(junk, 'x', sizeof junk);
    for (size_t i = 9; i < 1000; i += 10)
        junk[i] = '\n';
    strcpy(junk + 1000, "early 3\n");
    put("7.lost", junk);
    cli_lost_files(folder);
    assert_true(is_there("7.lost"));
    assert_int_equal(unlink(path_of("7.lost")), 0);
    strcpy(junk + 990, "early 3\n");
    put("7.lost", junk);
    cli_lost_files(folder);
    assert_int_equal(lines_of("7.lost.txt"), 1);
    fflush(stderr);
    assert_int_equal(truncate(path_of("said"), 0), 0);
    assert_int_equal(unlink(path_of("7.lost.txt")), 0);
}

TEST(each_loss_is_a_sentence)
{
    put("7.lost", "early 3\nuntracked 0\nnonsense 4\nunseen_frees 2\n");
    cli_lost_files(folder);
    assert_false(is_there("7.lost"));
    assert_int_equal(lines_of("7.lost.txt"), 2);
}

TEST(each_known_loss_is_told_with_its_count_or_without)
{
    static const char *const names[] = {
        "dropped_no_bucket", "dropped_no_frames", "early",       "untracked",
        "unseen_frees",      "uncharged_waits",   "timer_taken", "confined"};
    char line[64];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(line, sizeof line, "%s 77\n", names[i]);
        put("7.lost", line);
        cli_lost_files(folder);
        assert_int_equal(lines_of("7.lost.txt"), 1);
        assert_int_equal(strstr(text_of("7.lost.txt"), " 77 ") != NULL, i < 6);
    }
    fflush(stderr);
    assert_int_equal(truncate(path_of("said"), 0), 0);
    put("7.lost", "timer_taken 1\nunseen_frees 1\n");
    cli_lost_files(folder);
    assert_string_equal(
        text_of("said"),
        "profsim profile: process 7: not in its profiles: ticks of the "
        "CPU profile: the program took SIGPROF or ITIMER_PROF for "
        "itself\n"
        "profsim profile: process 7: not in its profiles: 1 frees "
        "behind the profiler's back\n");
    assert_string_equal(
        text_of("7.lost.txt"),
        "not in the profiles: ticks of the CPU profile: the program "
        "took SIGPROF or ITIMER_PROF for itself\n"
        "not in the profiles: 1 frees behind the profiler's back\n");
}

/* The folder is the program's: it may have put anything there. */
TEST(a_link_is_not_followed_and_a_pipe_does_not_block)
{
    put("early", "early 3\n");
    assert_int_equal(symlink("early", path_of("7.lost")), 0);
    assert_int_equal(mkfifo(path_of("8.lost"), 0600), 0);
    (void)unlink(path_of("7.lost.txt"));
    (void)unlink(path_of("8.lost.txt"));
    cli_lost_files(folder);
    assert_false(is_there("7.lost.txt"));
    assert_false(is_there("8.lost.txt"));
    assert_int_equal(unlink(path_of("early")), 0);
    assert_int_equal(unlink(path_of("7.lost")), 0);
    assert_int_equal(unlink(path_of("8.lost")), 0);
}

TEST(a_large_number_is_told_whole)
{
    char line[256] = "";
    FILE *file;

    put("7.lost", "early 4294967298\n");
    cli_lost_files(folder);
    file = fopen(path_of("7.lost.txt"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(line, "not in the profiles: 4294967298 allocations "
                              "before the profiler was up\n");
}

TEST(a_list_that_cannot_be_saved_stays)
{
    put("8.lost", "early 3\n");
    put("9.lost", "early 4\n");
    assert_int_equal(mkdir(path_of("8.lost.txt"), 0700), 0);
    cli_lost_files(folder);
    assert_true(is_there("8.lost"));
    assert_false(is_there("9.lost"));
    assert_int_equal(rmdir(path_of("8.lost.txt")), 0);
    cli_lost_files(folder);
    assert_false(is_there("8.lost"));
    assert_int_equal(lines_of("8.lost.txt"), 1);
}

TEST(what_is_no_list_is_left)
{
    put("a.lost", "of another program\n");
    cli_lost_files(folder);
    assert_true(is_there("a.lost"));
    assert_false(is_there("a.lost.txt"));
}

/* ---- an agent that is asked ---- */

enum { ANSWER_BYTES = 300000 };

struct answer {
    const char *head;
    size_t bytes;       /* behind the head */
    size_t piece;       /* how many are sent at once */
    bool breaks_off;    /* it does not read the request */
    bool takes_another; /* it has the name of the test's process */
    bool is_refused;    /* the client sends nothing */
    bool is_others;     /* it is another user's, if that can be */
    bool hangs_up;      /* when it is asked */
    bool is_left;       /* the client reads only the beginning */
};

enum { OTHER = 65534 };

static uint8_t body[ANSWER_BYTES];
static bool is_agent;
static pid_t agent;
static bool waits_for_agent;
static uid_t shown_user;

uid_t __wrap_geteuid(void);
ssize_t __wrap_recv(int from, void *bytes, size_t count, int flags);
ssize_t __real_recv(int from, void *bytes, size_t count, int flags);

/* The client asks for its user between its connection and its request. */
uid_t
__wrap_geteuid(void)
{
    siginfo_t ended;

    if (waits_for_agent)
        assert_int_equal(waitid(P_PID, (id_t)agent, &ended, WEXITED | WNOWAIT),
                         0);
    return shown_user;
}

static void
expect_patience(int socket, int option)
{
    struct timeval patience;
    socklen_t bytes = sizeof patience;

    assert_int_equal(getsockopt(socket, SOL_SOCKET, option, &patience, &bytes),
                     0);
    assert_int_equal(patience.tv_sec, 10);
}

/* A stop signal interrupts a call that has a time limit. */
ssize_t
__wrap_recv(int from, void *bytes, size_t count, int flags)
{
    static bool is_interrupted;

    if (is_agent)
        return __real_recv(from, bytes, count, flags);
    expect_patience(from, SO_RCVTIMEO);
    expect_patience(from, SO_SNDTIMEO);
    is_interrupted = !is_interrupted;
    if (!is_interrupted)
        return __real_recv(from, bytes, count, flags);
    errno = EINTR;
    return -1;
}

/* Answer one request, which must be `want`. in: ready, told when it listens */
static void
be_agent(const struct answer *answer, const char *want, int ready)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int length = snprintf(
        &address.sun_path[1], sizeof address.sun_path - 1,
        PROFILE_SOCKET_NAME "%d", answer->takes_another ? getppid() : getpid());
    const bool is_other = answer->is_others && getuid() == 0;
    const int listener =
        !is_other || setuid(OTHER) == 0 ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
    char line[64] = "";
    size_t got = 0;
    int to;

    is_agent = true;
    alarm(30);
    if (bind(listener, (const struct sockaddr *)(const void *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                         (size_t)length)) != 0 ||
        listen(listener, 1) != 0 || write(ready, "", 1) != 1)
        _exit(1);
    to = accept(listener, NULL, NULL);
    if (answer->hangs_up)
        _exit(0);
    while (!answer->breaks_off && strchr(line, '\n') == NULL) {
        const ssize_t more = read(to, line + got, sizeof line - 1 - got);

        if (more <= 0)
            _exit(answer->takes_another || answer->is_refused ? 0 : 1);
        got += (size_t)more;
    }
    if (answer->breaks_off)
        (void)recv(to, line, 1, MSG_PEEK); /* it is left there */
    else if (strncmp(line, want, strlen(want)) != 0 ||
             strcmp(line + strlen(want), "\n") != 0)
        _exit(1);
    /* Less than a body waits in the socket, whatever the system's limit is. */
    (void)setsockopt(to, SOL_SOCKET, SO_SNDBUF, &(int){65536}, sizeof(int));
    if (send(to, answer->head, strlen(answer->head), MSG_NOSIGNAL) < 0)
        _exit(1);
    for (size_t sent = 0; sent < answer->bytes;) {
        const size_t left = answer->bytes - sent;
        const ssize_t more =
            send(to, body + sent, left < answer->piece ? left : answer->piece,
                 MSG_NOSIGNAL);

        if (more <= 0)
            _exit(answer->is_left ? 0 : 1);
        sent += (size_t)more;
    }
    _exit(answer->is_left ? 1 : 0);
}

static int
next_descriptor(void)
{
    const int next = dup(0);

    assert_int_equal(close(next), 0);
    return next;
}

/* Ask, and expect a reason, or the bytes behind "OK" if that is NULL. */
static void
expect_answer(const struct answer *answer, const char *want)
{
    const int descriptor = next_descriptor();
    const char *reason;
    size_t count = 7;
    uint8_t *bytes;
    int ready[2];
    char byte;
    pid_t child;
    int status;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0)
        be_agent(answer, "heap", ready[1]);
    assert_true(child > 0);
    agent = child;
    waits_for_agent = answer->hangs_up;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    reason = cli_agent_ask((uint64_t)(answer->takes_another ? getpid() : child),
                           "heap", &bytes, &count);
    refused_memory_at = 0;
    assert_int_equal(next_descriptor(), descriptor);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    if (want != NULL) {
        assert_non_null(reason);
        assert_string_equal(reason, want);
        assert_null(bytes);
        return;
    }
    assert_null(reason);
    assert_int_equal(count, answer->bytes);
    assert_memory_equal(bytes, body, count);
    assert_int_equal(bytes[count], 0);
    free(bytes);
}

TEST(an_answer_of_any_length_is_whole)
{
    static const size_t sizes[] = {1,      2,      100,         65532,
                                   65533,  65534,  65536,       65537,
                                   131069, 131070, ANSWER_BYTES};

    for (size_t i = 0; i < ANSWER_BYTES; i++)
        body[i] = (uint8_t)(i * 7 ^ i >> 8);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t piece = 1000; piece < 1000000; piece *= 99)
            expect_answer(&(struct answer){.head = "OK\n",
                                           .bytes = sizes[i],
                                           .piece = piece},
                          NULL);
}

TEST(only_root_asks_processes_of_other_users)
{
    static const struct answer own = {.head = "OK\n", .bytes = 5, .piece = 5};
    static const struct answer others = {
        .head = "OK\n", .bytes = 5, .piece = 5, .is_others = true};

    expect_answer(&own, NULL);
    shown_user = 0;
    expect_answer(&own, NULL);
    expect_answer(&others, NULL);
    shown_user = getuid() + 1;
    expect_answer(&(struct answer){.head = "", .is_refused = true},
                  "it is another user's");
    shown_user = getuid();
}

TEST(an_answer_that_is_no_profile_has_a_reason)
{
    static const char other[] = "it answers something else";
    char head[300];
    char want[128];

    memset(head, 'x', sizeof head);
    memcpy(head, "ERROR ", 6);
    head[sizeof head - 1] = '\0';
    memset(want, 'x', sizeof want);
    want[sizeof want - 1] = '\0';
    expect_answer(&(struct answer){.head = "OK\n"},
                  "the profile could not be written");
    expect_answer(&(struct answer){.head = "OK"}, other);
    expect_answer(&(struct answer){.head = "OK "}, other);
    expect_answer(&(struct answer){.head = "ERROR:x"}, other);
    expect_answer(&(struct answer){.head = "", .hangs_up = true},
                  "it does not listen");
    refused_memory_at = 1;
    expect_answer(&(struct answer){.head = "OK\n",
                                   .bytes = ANSWER_BYTES,
                                   .piece = ANSWER_BYTES,
                                   .is_left = true},
                  "its answer does not fit into memory");
    expect_answer(&(struct answer){.head = ""}, other);
    expect_answer(&(struct answer){.head = "ok\nhello"}, other);
    expect_answer(&(struct answer){.head = "ERROR "}, other);
    expect_answer(&(struct answer){.head = "ERROR x"}, "x");
    expect_answer(&(struct answer){.head = "ERROR no room\nat all"}, "no room");
    expect_answer(&(struct answer){.head = head}, want);
    expect_answer(&(struct answer){.head = "OK\nbytes", .breaks_off = true},
                  "it does not answer");
    expect_answer(&(struct answer){.head = "OK\nbytes", .takes_another = true},
                  "another process has taken its name");
}

TEST(a_process_without_an_agent_is_not_asked)
{
    uint8_t *bytes = body;
    size_t count;

    assert_string_equal(
        cli_agent_ask((uint64_t)getpid(), "heap", &bytes, &count),
        "no such process runs under 'profsim profile'");
    assert_null(bytes);
}

/* ---- the folder ---- */

static int
make_folder(void **state)
{
    (void)state;
    shown_user = getuid();
    return mkdtemp(folder) == NULL ||
           freopen(path_of("said"), "a", stderr) == NULL;
}

static int
remove_folder(void **state)
{
    static const char *const names[] = {"7.lost.txt", "8.lost.txt",
                                        "9.lost.txt", "a.lost", "said"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        (void)unlink(path_of(names[i]));
    return rmdir(folder);
}

int
main(void)
{
    return tests_run(make_folder, remove_folder);
}
