/* names_case.h -- names of addresses in files that are made by hand. */
#ifndef PROPS_NAMES_CASE_H
#define PROPS_NAMES_CASE_H

/* in: path, of a file that may be written, then removed */

/* The address is in a file if an executable segment of it is mapped there. */
void names_check_segments(const char *path);

/* A file that is none of code, or not there, names nothing. */
void names_check_other_files(const char *path);

/* A file is closed once; it may have the number of the standard input. */
void names_check_descriptors(const char *path);

/* Names are the same again, and without memory right or none. */
void names_check_again(void);

#endif
