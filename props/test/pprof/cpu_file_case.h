/*
 * cpu_file_case.h -- shared by the tests that write a CPU profile to a file: a
 * folder, a stopped profile, and a reader of the file.
 */
#ifndef PROPS_CPU_FILE_CASE_H
#define PROPS_CPU_FILE_CASE_H

#include "pprof_case.h"
#include "prof/cpu_file.h"

/* State of the running test. */
struct cpu_file_case {
    struct prof_cpu_file file;
    struct prof_cpu *cpu;
    char folder[32];
    char path[64]; /* of a file in the folder */
    struct case_run run;
};

extern struct cpu_file_case cpu_file;

/* The set-up and teardown of each test. */
int case_folder_begin(void **state);
int case_folder_end(void **state);

/* Make a new cpu_file.cpu, in the memory of the last one. */
void case_new_cpu(void);

/* returns: settings for a profile without names, not compressed, written to
 * cpu_file.path */
struct prof_cpu_file_config case_config(void);
enum prof_status case_start(void);

/* returns: how many files are in the folder */
int case_files(void);

/* Use CPU time. */
void case_burn(double seconds);

/* Read a whole file. returns: its bytes */
size_t case_read_whole(const char *name, unsigned char *bytes, size_t room);

/*
 * Read the file, which must be a profile, packed or not; end with
 * case_end(&cpu_file.run).
 *
 * returns: its ticks
 */
uint64_t case_ticks(void);

#endif
