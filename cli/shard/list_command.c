/* list_command.c -- see list_command.h. */
#include "list_command.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "complaint.h"
#include "escape.h"
#include "options.h"
#include "result_path.h"
#include "rows.h"

enum { ASKED = 1, SHARD, RESULT };
enum { ITEM_BYTES = 256, WORDS_MAX = 16 };

static const struct cli_option table[] = {
    {ASKED, 0, "asked", "WORDS",
     "the command that this list belongs to, such as 'make\nmutants', for the "
     "messages of merge"},
    {SHARD, 0, "shard", CLI_SHARD_WORDS, CLI_SHARD_HELP},
    {RESULT, 0, "result", "FILE", CLI_ROWS_HELP},
    {0},
};

static const struct cli_syntax syntax = {
    .command = "shard",
    .words = "--asked WORDS --result FILE [OPTION...] COMMAND [WORD...]",
    .about = "Run one shard of a list. The lines of standard input are its "
             "items; COMMAND runs\nonce for each item of the shard, with the "
             "item as its last word. 'make mutants',\n'make fuzz' and 'make "
             "soak' use it if SHARD and RESULT are set.\n",
    .options = table,
    .exits = CLI_EXIT_HELP,
    .ends_at_word = true,
};

struct list {
    char (*names)[ITEM_BYTES];
    uint32_t count;
};

static volatile sig_atomic_t stopped;

static void
note_signal(int number)
{
    stopped = number;
}

/* Handle signals without SA_RESTART, so that a signal interrupts the wait for a
 * command. */
static void
take_signals(void)
{
    const struct sigaction action = {.sa_handler = note_signal};

    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* returns: false, and a complaint */
static bool
read_list(struct list *list)
{
    char line[ITEM_BYTES + 1];

    list->names = malloc(CLI_ROWS_MAX * sizeof *list->names);
    if (list->names == NULL)
        return cli_complain("not enough memory");
    while (fgets(line, sizeof line, stdin) != NULL) {
        const size_t bytes = strcspn(line, "\n");

        if (line[bytes] != '\n' || bytes == 0)
            return cli_complain("line %u: an item has 1 to %d bytes",
                                list->count + 1, ITEM_BYTES - 1);
        if (list->count == CLI_ROWS_MAX)
            return cli_complain("a list has at most %d items", CLI_ROWS_MAX);
        line[bytes] = '\0';
        strcpy(list->names[list->count++], line);
    }
    return !ferror(stdin) || cli_complain("the list: %s", strerror(errno));
}

/* ---- One command ---- */

/* Start a command in a process group of its own, so that all its processes can
 * be killed. */
static pid_t
start(char *const *command, const char *item, int output)
{
    char *words[WORDS_MAX + 2];
    int count = 0;
    const pid_t child = fork();

    if (child >= 0)
        setpgid(child, 0); /* in both: the first to get here does it */
    if (child != 0)
        return child;
    for (; command[count] != NULL; count++)
        words[count] = command[count];
    words[count] = strdup(item);
    words[count + 1] = NULL;
    if (dup2(output, STDOUT_FILENO) >= 0) {
        (void)!freopen("/dev/null", "r", stdin);
        execvp(words[0], words);
        fprintf(stderr, "profsim: %s: %s\n", words[0], strerror(errno));
    }
    _exit(CLI_NOT_FOUND);
}

/* Keep the end of what the command prints, because the verdict is there. */
static void
collect(int input, char *text, size_t room)
{
    size_t used = 0;

    while (stopped == 0) {
        const ssize_t count = read(input, text + used, room - 1 - used);

        if (count <= 0)
            break;
        used += (size_t)count;
        if (used == room - 1) {
            memmove(text, text + room / 2, used - room / 2);
            used -= room / 2;
        }
    }
    for (size_t i = 0; i < used; i++)
        text[i] = text[i] != '\0' ? text[i] : ' ';
    text[used] = '\0';
}

/* Run a command to its end, or until a signal comes. returns: false, and a
 * complaint, if it cannot be started */
static bool
run(char *const *command, const char *item, char *text, size_t room,
    int *status)
{
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0)
        return cli_complain("%s: %s", command[0], strerror(errno));
    child = start(command, item, ends[1]);
    close(ends[1]);
    if (child > 0)
        collect(ends[0], text, room);
    close(ends[0]);
    if (child < 0)
        return cli_complain("%s: %s", command[0], strerror(errno));
    do {
        if (stopped != 0)
            kill(-child, SIGTERM);
    } while (waitpid(child, status, 0) < 0 && errno == EINTR);
    return true;
}

static enum cli_exit
exit_of(int status, const char *command, const char *item)
{
    if (WIFSIGNALED(status))
        return CLI_CRASH;
    if (WEXITSTATUS(status) >= CLI_RECORD)
        return cli_usage("%s: exit code %d at item '%s'", command,
                         WEXITSTATUS(status), item);
    return WEXITSTATUS(status) == 0 ? CLI_OK : CLI_BROKEN;
}

/* ---- The shard ---- */

static enum cli_exit
run_all(struct cli_rows *rows, const struct list *list, char *const *command)
{
    static char text[4 * CLI_ROW_BYTES];

    for (uint32_t i = 0; i < list->count; i++) {
        const char *item = list->names[i];
        enum cli_exit exit_code;
        int status;
        bool ran;

        if (!cli_rows_wants(rows, i))
            continue;
        ran = run(command, item, text, sizeof text, &status);
        if (stopped != 0)
            break;
        exit_code = ran ? exit_of(status, command[0], item) : CLI_USAGE;
        if (exit_code == CLI_USAGE)
            return cli_exit_worse(exit_code, cli_rows_end(rows));
        if (!cli_rows_add(rows, i, exit_code, text))
            return CLI_USAGE;
        fputs(rows->rows[i].text, stdout);
        fflush(stdout);
    }
    return cli_rows_end(rows);
}

static enum cli_exit
run_shard(const char *asked, struct cli_shard shard, const char *result,
          char *const *command)
{
    static char path[PATH_MAX];
    struct list list = {0};
    struct cli_rows rows;
    uint64_t hash = 0;
    enum cli_exit exit_code = CLI_USAGE;

    if (read_list(&list)) {
        for (uint32_t i = 0; i < list.count; i++)
            cli_rows_name(&hash, list.names[i]);
        take_signals();
        if (cli_result_path(result, shard, path, sizeof path) &&
            cli_rows_begin(&rows, asked, shard, path, hash, list.count)) {
            exit_code = run_all(&rows, &list, command);
            cli_rows_free(&rows);
        }
    }
    free(list.names);
    return exit_code;
}

enum cli_exit
cli_list_shard(int argc, char **argv)
{
    struct cli_shard shard = {0, 0};
    struct cli_options words;
    const char *asked = NULL;
    const char *result = NULL;
    char *const *command;
    int id;

    cli_options_begin(&words, &syntax, argc, argv);
    while ((id = cli_options_next(&words)) != CLI_OPTIONS_END) {
        if (id == ASKED)
            asked = words.value;
        else if (id == RESULT)
            result = words.value;
        else if (!cli_shard_parse(&shard, words.value))
            return CLI_USAGE;
    }
    if (words.ended)
        return words.exit_code;
    command = &argv[words.index];
    if (words.index == argc)
        return cli_options_missing(&words, "a COMMAND");
    if (asked == NULL || result == NULL || *result == '\0')
        return cli_options_missing(&words, "--asked and --result");
    if (argc - words.index > WORDS_MAX)
        return cli_usage("shard: COMMAND has at most %d words", WORDS_MAX);
    return run_shard(asked, shard, result, command);
}
