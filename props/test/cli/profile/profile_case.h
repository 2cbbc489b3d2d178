/*
 * profile_case.h -- `profsim profile` around a shell script, without the
 * profiler: a library that changes nothing stands for it, and profiles made by
 * hand for what it writes.
 */
#ifndef PROPS_PROFILE_CASE_H
#define PROPS_PROFILE_CASE_H

/* All files are made in `folder`, and removed. */

/* The profiler is told what was asked for; what cannot be is refused. */
void profile_check_options(const char *folder);

/* Each file of a process becomes what it should, or a complaint. */
void profile_check_files(const char *folder);

/* The command ends as its command; without profiles it says why. */
void profile_check_ends(const char *folder);

#endif
