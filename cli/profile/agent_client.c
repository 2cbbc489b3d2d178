/*
 * agent_client.c -- see agent_client.h; embed/profile/agent.c is the other end.
 *
 * Any process may take an unused name of an abstract socket, so the client
 * checks which process is at the other end.
 */
#include "agent_client.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "profile/profile_env.h"

enum { PATIENCE_S = 10, ANSWER_MAX = 256 << 20 };

static const char *
fail(int socket, const char *reason)
{
    if (socket >= 0)
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

    if (to < 0)
        return -1;
    (void)setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(to, (const struct sockaddr *)(const void *)&address, bytes) ==
        0)
        return to;
    close(to);
    return -1;
}

static const char *
read_all(int from, uint8_t **bytes, size_t *bytes_count)
{
    size_t room = 65536;
    size_t count = 0;
    uint8_t *text = malloc(room + 1);

    while (text != NULL) {
        const ssize_t got = recv(from, text + count, room - count, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            text[count] = '\0';
            *bytes = text;
            *bytes_count = count;
            return got == 0 ? NULL : "it does not answer";
        }
        count += (size_t)got;
        if (count == room) {
            uint8_t *const grown =
                room < ANSWER_MAX ? realloc(text, 2 * room + 1) : NULL;

            if (grown == NULL)
                break;
            text = grown;
            room *= 2;
        }
    }
    free(text);
    *bytes = NULL;
    return "its answer does not fit into memory";
}

/* Remove the first line, which says whether the request succeeded. */
static const char *
check_answer(uint8_t *bytes, size_t *bytes_count)
{
    static char reason[128];

    if (*bytes_count >= 3 && memcmp(bytes, "OK\n", 3) == 0) {
        *bytes_count -= 3;
        memmove(bytes, bytes + 3, *bytes_count + 1);
        return *bytes_count > 0 ? NULL : "the profile could not be written";
    }
    if (*bytes_count < 7 || memcmp(bytes, "ERROR ", 6) != 0)
        return "it answers something else";
    snprintf(reason, sizeof reason, "%.*s",
             (int)strcspn((const char *)bytes + 6, "\n"),
             (const char *)bytes + 6);
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
    reason = read_all(to, bytes, bytes_count);
    close(to);
    if (reason == NULL)
        reason = check_answer(*bytes, bytes_count);
    if (reason != NULL) {
        free(*bytes);
        *bytes = NULL;
    }
    return reason;
}
