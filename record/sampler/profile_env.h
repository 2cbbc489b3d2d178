/*
 * profile_env.h -- what `profsim profile` tells the profiler, through the
 * program's environment.
 */
#ifndef RECORD_SAMPLER_PROFILE_ENV_H
#define RECORD_SAMPLER_PROFILE_ENV_H

#define PROFILE_ENV_FOLDER   "PROFSIM_PROFILE_FOLDER"
#define PROFILE_ENV_HEAP     "PROFSIM_PROFILE_HEAP_BYTES"
#define PROFILE_ENV_MUTEX    "PROFSIM_PROFILE_MUTEX_FRACTION"
#define PROFILE_ENV_BLOCK    "PROFSIM_PROFILE_BLOCK_NS"
#define PROFILE_ENV_CPU      "PROFSIM_PROFILE_CPU_HZ"
#define PROFILE_ENV_EVERY    "PROFSIM_PROFILE_EVERY_S"
#define PROFILE_ENV_NO_AGENT "PROFSIM_PROFILE_NO_AGENT"

/* FOLDER/PID.lost says what PID's profiles lack: on each line a cause and a
 * count. The file exists only if something is missing. */
#define PROFILE_LOST_END ".lost"

/* An agent listens at an abstract socket whose name is this text followed by
 * the process number. */
#define PROFILE_SOCKET_NAME "profsim-profile-"

enum { PROFILE_FOLDER_MAX = 400 }; /* bytes of the folder's path */

#endif
