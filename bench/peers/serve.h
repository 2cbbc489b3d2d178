/*
 * serve.h -- the main loop of a peer's process: each line of input has a verb
 * and an argument, each line of output a number. The other end is in peers.h.
 */
#ifndef BENCH_PEERS_SERVE_H
#define BENCH_PEERS_SERVE_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct serve_verb {
    const char *name;
    double (*answer)(const char *argument); /* < 0: no measure */
};

/* Answer until the input ends. returns: the process's exit code */
static inline int
serve(const struct serve_verb *verbs, size_t count)
{
    char line[128], name[32], argument[96];

    while (fgets(line, sizeof line, stdin) != NULL) {
        double answer = -1;

        argument[0] = '\0';
        if (sscanf(line, "%31s %95s", name, argument) < 1)
            name[0] = '\0';
        for (size_t i = 0; i < count; i++) {
            if (strcmp(verbs[i].name, name) == 0)
                answer = verbs[i].answer(argument);
        }
        printf("%.6f\n", answer);
        if (fflush(stdout) != 0)
            return 1;
    }
    return 0;
}

#endif
