/*
 * agent_client.h -- sends a request to a process that runs under `profsim
 * profile`.
 */
#ifndef RECORD_COMMAND_AGENT_CLIENT_H
#define RECORD_COMMAND_AGENT_CLIENT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Send a request to the agent of a process.
 *
 * out:     *bytes, the reply, followed by a zero byte; the caller frees it
 * in:      request, "heap" and the like, or "status"
 * returns: NULL, or why there is no reply; valid until the next call
 */
const char *cli_agent_ask(uint64_t process, const char *request,
                          uint8_t **bytes, size_t *bytes_count);

#endif
