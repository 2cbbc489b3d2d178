/*
 * real.c -- libc's own functions, as real_NAME, for the explorer's use.
 *
 * When the archive is made, the explorer's calls of NAME are renamed to
 * real_NAME. Each real_NAME jumps through a pointer, which is looked up before
 * anything else in the process runs, even constructors of libraries.
 */
#include <dlfcn.h>
#include <stddef.h>

/* clang-format off */
#if defined(__x86_64__)
#define JUMP "    jmp *sim_real_"
#define JUMP_END "(%rip)\n"
#define TRAMPOLINE(name) JUMP #name JUMP_END
#else
#define TRAMPOLINE(name)                                                       \
    "    adrp x16, sim_real_" #name "\n"                                       \
    "    ldr x16, [x16, :lo12:sim_real_" #name "]\n"                           \
    "    br x16\n"
#endif

#define HEAP(name)
#define ABI(name)
#define INTERCEPT(name)                                                        \
    void *sim_real_##name;                                                     \
    __asm__(".text\n"                                                          \
            ".globl real_" #name "\n"                                          \
            ".type real_" #name ", @function\n"                                \
            "real_" #name ":\n" TRAMPOLINE(name)                               \
            ".size real_" #name ", .-real_" #name "\n");
/* clang-format on */

#include "explore/runtime/intercept.def"
#undef INTERCEPT

static void
look_up(void)
{
#define INTERCEPT(name) sim_real_##name = dlsym(RTLD_NEXT, #name);
#include "explore/runtime/intercept.def"
#undef INTERCEPT
}

static void (*const first)(void)
    __attribute__((section(".preinit_array"), used)) = look_up;
