/*
 * agent_client.c -- see agent_client.h; record/sampler/agent.c is the other
 * end.
 *
 * Any process may take an unused name of an abstract socket, so the client
 * checks which process is at the other end.
 */
#include "record/command/agent_client.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "record/sampler/profile_env.h"
#include "common/proto.h"

enum { PATIENCE_S = 10, ANSWER_MAX = 256 << 20 };

static const char *
fail(int socket, const char *reason)
{
    close(socket);
    return reason;
}

static int
connect_to(uint64_t process)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    const int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length =
        snprintf(&address.sun_path[1], sizeof address.sun_path - 1,
                 PROFILE_SOCKET_NAME "%llu", (unsigned long long)process);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                                  (size_t)length);

    (void)setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(to, (const struct sockaddr *)(const void *)&address, bytes) ==
        0)
        return to;
    close(to);
    return -1;
}

/* out: answer, followed by a zero byte */
static const char *
read_all(int from, struct cli_proto *answer)
{
    uint8_t block[65536];
    ssize_t got;

    do {
        got = recv(from, block, sizeof block, 0);
        if (got > 0)
            cli_proto_put(answer, block, (size_t)got);
    } while ((got > 0 && answer->count < ANSWER_MAX) ||
             (got < 0 && errno == EINTR));
    if (got < 0)
        return "it does not answer";
    cli_proto_put(answer, "", 1);
    return got > 0 ? "its answer does not fit into memory" : NULL;
}

/* Remove the first line, which says whether the request succeeded. */
static const char *
check_answer(struct cli_proto *answer)
{
    static char reason[128];
    char *const text = (char *)answer->at;

    if (strncmp(text, "OK\n", 3) == 0) {
        answer->count -= 4; /* and the zero byte */
        memmove(text, text + 3, answer->count + 1);
        return answer->count > 0 ? NULL : "the profile could not be written";
    }
    if (strncmp(text, "ERROR ", 6) != 0 || text[6] == '\0')
        return "it answers something else";
    snprintf(reason, sizeof reason, "%.*s", (int)strcspn(text + 6, "\n"),
             text + 6);
    return reason;
}

const char *
cli_agent_ask(uint64_t process, const char *request, uint8_t **bytes,
              size_t *bytes_count)
{
    const int to = connect_to(process);
    struct ucred who;
    socklen_t who_bytes = sizeof who;
    char line[32];
    const char *reason;
    int length;
    struct cli_proto answer = {.count = 0};

    *bytes = NULL;
    if (to < 0)
        return "no such process runs under 'profsim profile'";
    if (getsockopt(to, SOL_SOCKET, SO_PEERCRED, &who, &who_bytes) != 0 ||
        (uint64_t)who.pid != process)
        return fail(to, "another process has taken its name");
    if (geteuid() != 0 && who.uid != geteuid())
        return fail(to, "it is another user's");
    length = snprintf(line, sizeof line, "%s\n", request);
    if (send(to, line, (size_t)length, MSG_NOSIGNAL) != length)
        return fail(to, "it does not listen");
    reason = read_all(to, &answer);
    close(to);
    if (reason == NULL)
        reason = check_answer(&answer);
    if (reason != NULL) {
        free(answer.at);
        return reason;
    }
    *bytes = answer.at;
    *bytes_count = answer.count;
    return NULL;
}
