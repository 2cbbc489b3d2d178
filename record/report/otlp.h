/*
 * otlp.h -- a named profile as the OpenTelemetry profiles signal (protobuf,
 * profiles v1development; docs/profiling.md, "OpenTelemetry").
 */
#ifndef RECORD_REPORT_OTLP_H
#define RECORD_REPORT_OTLP_H

#include "record/report/named_profile.h"

/*
 * Write it as ProfilesData, as a file that appears whole or not at all.
 *
 * returns: NULL, or why it was not written
 */
const char *cli_otlp_save(const struct cli_named_profile *named,
                          const char *path);

#endif
