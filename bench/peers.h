/*
 * peers.h -- peers that run as separate processes and take part in our rounds:
 * for each line with a command on standard input, a peer writes a number.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bench_peer {
    const char *name;
    FILE *to;
    FILE *from;
    int process;
};

/* A command of a peer, as an entrant's context; round is appended. */
struct bench_command {
    struct bench_peer *peer;
    const char *verb;
};

/* returns: false if the peer was not built, which is not an error */
bool bench_peer_start(struct bench_peer *peer, const char *name,
                      const char *path);
void bench_peer_stop(struct bench_peer *peer);

/* returns: the number that the peer replied; < 0 if it did not reply */
double bench_peer_ask(struct bench_peer *peer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An entrant's repetition; context is a struct bench_command. */
double bench_peer_once(void *command, uint32_t round);

/*
 * Start the Go runtime as a peer; BENCH_GO is the path of the program that
 * `make bench-peers` built.
 */
bool bench_go_start(struct bench_peer *peer);

#endif
