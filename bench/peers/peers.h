/*
 * peers.h -- peers in processes of their own, which take part in our rounds:
 * each reads a command line from standard input and writes a number.
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

/* returns: false if the peer is not there; it is not an error */
bool bench_peer_start(struct bench_peer *peer, const char *name,
                      const char *path);
void bench_peer_stop(struct bench_peer *peer);

/* returns: what it replied, < 0 if it did not */
double bench_peer_ask(struct bench_peer *peer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* An entrant's repetition; context is a struct bench_command. */
double bench_peer_once(void *command, uint32_t round);

/*
 * The Go runtime, where `make bench-peers` built it: BENCH_GO names the
 * program.
 */
bool bench_go_start(struct bench_peer *peer);

#endif
