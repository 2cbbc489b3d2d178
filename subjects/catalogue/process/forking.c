/* forking.c -- a program of two processes; each prints its number. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(void)
{
    const pid_t child = fork();

    if (child < 0)
        return 1;
    if (child > 0 && waitpid(child, NULL, 0) != child)
        return 1;
    (void)printf("%d\n", (int)getpid());
    exit(fflush(stdout) != 0);
}
