// gperftools.cc -- writes the samples of gperftools' sampler. Preloaded
// together with it.
#include <gperftools/malloc_extension.h>

#include <cstdio>
#include <string>

extern "C" void audit_dump(const char *path);

extern "C" void audit_dump(const char *path)
{
    std::string text;

    MallocExtension::instance()->GetHeapSample(&text);
    if (std::FILE *file = std::fopen(path, "w")) {
        std::fwrite(text.data(), 1, text.size(), file);
        std::fclose(file);
    }
}
