/*
 * shared_name.c -- K17, gperftools#1488: after a fork both processes write
 * their profile under one name. To be preloaded; writes the file
 * $PROFILE.NUMBER at exit, where NUMBER is the process number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned number;

static void __attribute__((destructor)) write_profile(void)
{
    const char *const prefix = getenv("PROFILE");
    char name[4096];
    FILE *file;

    if (prefix == NULL)
        return;
    number++;
#ifdef FIXED
    (void)snprintf(name, sizeof name, "%s.%d.%u", prefix, (int)getpid(),
                   number);
#else
    (void)snprintf(name, sizeof name, "%s.%u", prefix, number);
#endif
    file = fopen(name, "w");
    if (file == NULL)
        return;
    (void)fprintf(file, "process %d\n", (int)getpid());
    (void)fclose(file);
}
