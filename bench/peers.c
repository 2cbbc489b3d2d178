/* peers.c -- processes that answer a line with a line. */
#include "bench/peers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* The longest answer, ten million insertions, takes seconds. */
enum { ANSWER_MAX_MS = 120000 };

bool
bench_peer_start(struct bench_peer *peer, const char *name, const char *path)
{
    int to[2], from[2];

    *peer = (struct bench_peer){.name = name};
    if (path == NULL || access(path, X_OK) != 0)
        return false;
    /* Other peers must not inherit our ends: that would keep this one alive. */
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return false;
    fflush(NULL);
    peer->process = fork();
    if (peer->process < 0)
        return false;
    if (peer->process == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    peer->to = fdopen(to[1], "w");
    peer->from = fdopen(from[0], "r");
    return peer->to != NULL && peer->from != NULL;
}

void
bench_peer_stop(struct bench_peer *peer)
{
    if (peer->to == NULL)
        return;
    fclose(peer->to); /* the peer reads the end of its input and exits */
    fclose(peer->from);
    waitpid(peer->process, NULL, 0);
    peer->to = NULL;
}

/* Wait for an answer. A peer that does not answer in time is stopped. */
static bool
read_answer(struct bench_peer *peer, char *line, int line_bytes)
{
    struct pollfd answer = {.fd = fileno(peer->from), .events = POLLIN};

    if (poll(&answer, 1, ANSWER_MAX_MS) != 1) {
        kill(peer->process, SIGKILL);
        bench_peer_stop(peer);
        return false;
    }
    return fgets(line, line_bytes, peer->from) != NULL;
}

double
bench_peer_ask(struct bench_peer *peer, const char *format, ...)
{
    char line[64];
    va_list args;

    if (peer->to == NULL)
        return -1;
    va_start(args, format);
    vfprintf(peer->to, format, args);
    va_end(args);
    fputc('\n', peer->to);
    if (fflush(peer->to) != 0 || !read_answer(peer, line, sizeof line))
        return -1;
    return strtod(line, NULL);
}

double
bench_peer_once(void *context, uint32_t round)
{
    const struct bench_command *command = context;

    return bench_peer_ask(command->peer, "%s %u", command->verb, round);
}

bool
bench_go_start(struct bench_peer *peer)
{
    const char *path = getenv("BENCH_GO");

    return bench_peer_start(peer, "go1.19",
                            path != NULL ? path : "out/bench/peers/go");
}
