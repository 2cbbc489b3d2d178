/* Allocates in functions of every kind; compiled in many ways by test_names.py.
 */
#include <cstdlib>

void *volatile kept;

static inline __attribute__((always_inline)) void
innermost(int size)
{
    kept = malloc(size);
}

namespace outer
{
template <typename T>
static inline __attribute__((always_inline)) void
between(T size)
{
    innermost(size);
    innermost(size + 1);
}
} // namespace outer

extern "C" __attribute__((noinline)) void
exported(int size)
{
    outer::between(size);
    kept = malloc(9);
}

/* Behind an exported function, and not exported. */
static __attribute__((noinline)) void
internal(int size)
{
    innermost(size);
    kept = nullptr;
}

struct thing {
    int size;
    __attribute__((noinline)) thing &operator+=(long more)
    {
        size += (int)more;
        innermost(size);
        return *this;
    }
};

int
main()
{
    thing one = {1};

    exported(100);
    internal(200);
    one += 5;
    [&one]() __attribute__((noinline))
    {
        innermost(one.size);
        kept = &one;
    }
    ();
    return 0;
}
