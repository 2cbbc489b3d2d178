/*
 * gdb.c -- see gdb.h.
 *
 * The threads of an explored program take turns on one thread of the system, so
 * gdb sees only one. The script finds the stacks of the others through
 * sim_trace_view (trace.c): the registers of a thread that does not run are on
 * top of its stack, where fiber.c pushed them. To show a stack, the script
 * temporarily sets gdb's registers to them.
 */
#include "explore/command/gdb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/command/complaint.h"

static const char script[] =
    "set confirm off\n"
    "set pagination off\n"
    "set debuginfod enabled off\n"
    "set print thread-events off\n"
    "handle SIGVTALRM nostop noprint pass\n"
    "set $profsim_away = 0\n"

    "define profsim-word\n"
    "  set $profsim_word = ((unsigned long *)&sim_trace_view)[$arg0]\n"
    "end\n"

    /* Go back to the thread that runs. */
    "define profsim-back\n"
    "  if $profsim_away\n"
    "    select-frame 0\n"
    "    set $rsp = $profsim_rsp\n"
    "    set $rip = $profsim_rip\n"
    "    set $rbp = $profsim_rbp\n"
    "    set $rbx = $profsim_rbx\n"
    "    set $r12 = $profsim_r12\n"
    "    set $r13 = $profsim_r13\n"
    "    set $r14 = $profsim_r14\n"
    "    set $r15 = $profsim_r15\n"
    "    set $profsim_away = 0\n"
    "  end\n"
    "end\n"

    "define profsim-row\n"
    "  set $profsim_row = 3 + 4 * $arg0\n"
    "  profsim-word $profsim_row\n"
    "  set $profsim_stack = (unsigned long *)$profsim_word\n"
    "  profsim-word $profsim_row+1\n"
    "  set $profsim_low = $profsim_word\n"
    "  profsim-word $profsim_row+2\n"
    "  set $profsim_high = $profsim_word\n"
    "  profsim-word $profsim_row+3\n"
    "  set $profsim_ended = $profsim_word\n"
    "  set $profsim_runs = (unsigned long)$rsp >= $profsim_low && "
    "(unsigned long)$rsp < $profsim_high\n"
    "end\n"

    "define profsim-go\n"
    "  profsim-back\n"
    "  profsim-row $arg0\n"
    "  if !$profsim_runs && !$profsim_ended\n"
    "    select-frame 0\n"
    "    set $profsim_rsp = $rsp\n"
    "    set $profsim_rip = $rip\n"
    "    set $profsim_rbp = $rbp\n"
    "    set $profsim_rbx = $rbx\n"
    "    set $profsim_r12 = $r12\n"
    "    set $profsim_r13 = $r13\n"
    "    set $profsim_r14 = $r14\n"
    "    set $profsim_r15 = $r15\n"
    "    set $profsim_away = 1\n"
    "    set $r15 = $profsim_stack[0]\n"
    "    set $r14 = $profsim_stack[1]\n"
    "    set $r13 = $profsim_stack[2]\n"
    "    set $r12 = $profsim_stack[3]\n"
    "    set $rbx = $profsim_stack[4]\n"
    "    set $rbp = $profsim_stack[5]\n"
    "    set $rip = $profsim_stack[6]\n"
    "    set $rsp = (unsigned long)($profsim_stack + 7)\n"
    "  end\n"
    "end\n"

    "define profsim-thread\n"
    "  profsim-go $arg0\n"
    "  if $profsim_ended\n"
    "    printf \"thread %d has ended\\n\", $arg0\n"
    "  else\n"
    "    backtrace\n"
    "  end\n"
    "end\n"
    "document profsim-thread\n"
    "profsim-thread N: show thread N's stack, and look around there (frame, "
    "up,\n"
    "print). It goes back by itself before the program goes on.\n"
    "end\n"

    "define profsim-threads\n"
    "  set $profsim_i = 0\n"
    "  profsim-word 1\n"
    "  set $profsim_count = $profsim_word\n"
    "  while $profsim_i < $profsim_count\n"
    "    profsim-back\n"
    "    profsim-row $profsim_i\n"
    "    if $profsim_runs\n"
    "      printf \"\\nthread %d, which runs:\\n\", $profsim_i\n"
    "    else\n"
    "      printf \"\\nthread %d:\\n\", $profsim_i\n"
    "    end\n"
    "    profsim-thread $profsim_i\n"
    "    set $profsim_i = $profsim_i + 1\n"
    "  end\n"
    "  profsim-back\n"
    "end\n"
    "document profsim-threads\n"
    "Show the stack of every thread of the explored program.\n"
    "end\n"

    "define hook-continue\n  profsim-back\nend\n"
    "define hook-step\n  profsim-back\nend\n"
    "define hook-next\n  profsim-back\nend\n"
    "define hook-stepi\n  profsim-back\nend\n"
    "define hook-nexti\n  profsim-back\nend\n"
    "define hook-finish\n  profsim-back\nend\n"
    "define hook-until\n  profsim-back\nend\n"

    "break sim_trace_stopped\n"
    "run\n"
    "if $_isvoid($_exitcode)\n"
    "  profsim-word 0\n"
    "  printf \"\\nIt stops before event %d.\\n\", $profsim_word\n"
    "  profsim-threads\n"
    "  printf \"\\nprofsim-thread N looks around in thread N; \"\n"
    "  printf \"profsim-threads shows all.\\n\"\n"
    "else\n"
    "  printf \"The run ends before that event, and does not fail.\\n\"\n"
    "end\n";

bool
cli_gdb_write(const char *path)
{
    FILE *file = fopen(path, "we");
    bool ok;

    if (file == NULL)
        return cli_complain("%s: %s", path, strerror(errno));
    ok = fputs(script, file) >= 0;
    ok = fclose(file) == 0 && ok;
    return ok || cli_complain("%s: cannot be written", path);
}
