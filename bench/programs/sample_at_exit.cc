// sample_at_exit.cc -- ask gperftools' sampler for its sample when the program
// ends, into $SAMPLE_AT_EXIT and the process: it writes nothing by itself.
// Preloaded behind libtcmalloc.
#include <cstdlib>
#include <string>
#include <unistd.h>

extern "C" void audit_dump(const char *path); // subjects/live/gperftools.cc

namespace {

struct AtExit {
    ~AtExit()
    {
        if (const char *const path = std::getenv("SAMPLE_AT_EXIT"))
            audit_dump((path + std::to_string(getpid())).c_str());
    }
} at_exit;

}
