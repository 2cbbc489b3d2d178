/* images.c -- see images.h. */
#include "record/symbols/images.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/convert/convert.h"
#include "common/escape.h"
#include "record/convert/losses.h"
#include "record/command/symbol_file.h"

/* A path that is longer than PATH_MAX is refused where it is opened. */
enum { LISTED_MAX = 20, ROOM = PATH_MAX + NAME_MAX + 2 };

static bool
complain(const struct cli_images *images, const char *what, const char *reason)
{
    sim_escape_line(stderr, "profsim %s: %s: %s", images->verb, what, reason);
    return false;
}

static void
join(char path[ROOM], const char *folder, const char *name)
{
    snprintf(path, ROOM, "%s/%s", folder, name);
}

/* ---- reading ---- */

/* Compare bytes, whatever the locale: then names sort by start time. */
static int
compare_names(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static void
take_image(struct cli_images *images, const char *name)
{
    struct cli_image *const image = &images->items[images->count];
    char path[ROOM];

    join(path, images->folder, name);
    snprintf(image->name, sizeof image->name, "%s", name);
    images->count += cli_convert_peek(path, image);
}

/* Does a line of a process's mappings name a spool? Marks it as in use. */
static void
mark_running(struct cli_images *images, const char *line)
{
    const char *at = strstr(line, images->folder);

    if (at == NULL)
        return;
    at += strlen(images->folder);
    for (size_t i = 0; i < images->count && *at == '/'; i++) {
        const char *const name = images->items[i].name;

        if (strncmp(at + 1, name, strlen(name)) == 0)
            images->items[i].is_running = true;
    }
}

/* A process keeps no descriptor of its spool open, but has it mapped. */
static void
find_running(struct cli_images *images)
{
    DIR *const processes = opendir("/proc");
    struct dirent *entry;
    char line[PATH_MAX + 128];

    while (processes != NULL && (entry = readdir(processes)) != NULL) {
        char path[300];
        FILE *maps;

        snprintf(path, sizeof path, "/proc/%s/maps", entry->d_name);
        maps = fopen(path, "r");
        while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
            mark_running(images, line);
        if (maps != NULL)
            fclose(maps);
    }
    if (processes != NULL)
        closedir(processes);
}

bool
cli_images_read(struct cli_images *images, const char *verb, const char *folder)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, NULL, compare_names);

    *images = (struct cli_images){.verb = verb, .folder = folder};
    if (count < 0)
        return complain(images, folder, strerror(errno));
    images->items = calloc((size_t)count, sizeof *images->items);
    for (int i = 0; i < count; i++) {
        if (images->items != NULL)
            take_image(images, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    if (images->items == NULL)
        return complain(images, folder, strerror(ENOMEM));
    find_running(images);
    return true;
}

void
cli_images_release(struct cli_images *images)
{
    free(images->items);
}

/* ---- saving ---- */

static void
name_of(char to[ROOM], const char *output, size_t number)
{
    if (number == 1)
        snprintf(to, ROOM, "%s", output);
    else
        snprintf(to, ROOM, "%s.%zu", output, number);
}

static bool
convert(const struct cli_images *images, const struct cli_image *image,
        const char *output, struct cli_symbol_files *files,
        struct cli_converted *what)
{
    char from[ROOM];
    char to[ROOM];
    char error[512];

    name_of(to, output, image->number);
    join(from, images->folder, image->name);
    if (!cli_convert(from, to, files, what, error, sizeof error))
        return complain(images, "saving failed", error);
    return true;
}

/*
 * A child process that saves images: if the symbol reader crashes on a damaged
 * file, or memory runs out, the other images must not be lost. For each image
 * the child writes what the recording lacks, and ends at the first that fails;
 * another child then saves the rest.
 */
struct saver {
    const struct cli_images *images;
    const char *output;
    pid_t child; /* 0: none */
    int results;
};

static void
save_from(const struct saver *saver, size_t first, int results)
{
    struct cli_symbol_files *const files = cli_symbol_files_open();

    for (size_t i = first; i < saver->images->count; i++) {
        const struct cli_image *const image = &saver->images->items[i];
        struct cli_converted what;

        if (!image->is_chosen)
            continue;
        if (!convert(saver->images, image, saver->output, files, &what) ||
            write(results, what.dropped, sizeof what.dropped) !=
                (ssize_t)sizeof what.dropped)
            break;
    }
    _exit(0);
}

static bool
begin_saver(struct saver *saver, size_t first)
{
    int ends[2];
    pid_t child;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return complain(saver->images, "saving failed", strerror(errno));
    fflush(NULL);
    child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL); /* ^C ends a long conversion */
        close(ends[0]);
        save_from(saver, first, ends[1]);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return complain(saver->images, "saving failed", strerror(errno));
    }
    saver->child = child;
    saver->results = ends[0];
    return true;
}

/* returns: false, reported, if it did not end by itself */
static bool
end_saver(struct saver *saver)
{
    int status = 0;

    if (saver->child == 0)
        return true;
    close(saver->results);
    waitpid(saver->child, &status, 0); /* no handler interrupts it */
    saver->child = 0;
    return !WIFSIGNALED(status) || complain(saver->images, "saving failed",
                                            strsignal(WTERMSIG(status)));
}

/* in: number, of an image that was chosen; in order */
static bool
save(struct saver *saver, size_t number)
{
    struct cli_image *const image = &saver->images->items[number];

    if (saver->child == 0 && !begin_saver(saver, number))
        return false;
    /* So few bytes are written and read in one piece. */
    if (read(saver->results, image->dropped, sizeof image->dropped) !=
        (ssize_t)sizeof image->dropped) {
        (void)end_saver(saver);
        return false;
    }
    image->is_saved = true;
    image->is_done = !image->is_running;
    return true;
}

/*
 * The image that allocated the most bytes comes first. The number of events is
 * not compared first, because a shell that starts the program makes many small
 * blocks. If bytes are equal (in a recording of locks only), the number of
 * events decides, then the later start: with `env prog`, prog comes first.
 */
static int
compare_sizes(const void *left, const void *right)
{
    const struct cli_image *const a = *(struct cli_image *const *)left;
    const struct cli_image *const b = *(struct cli_image *const *)right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->events != b->events)
        return a->events > b->events ? -1 : 1;
    return a > b ? -1 : a < b;
}

/*
 * Choose the images to keep, and number their files; 1 is the largest.
 *
 * returns: all images, largest first, to be freed; NULL if there is no memory
 */
static struct cli_image **
choose(struct cli_images *images, size_t most)
{
    struct cli_image **const order =
        calloc(images->count + 1, sizeof(struct cli_image *));
    size_t number = 1;

    if (order == NULL)
        return NULL;
    for (size_t i = 0; i < images->count; i++)
        order[i] = &images->items[i];
    qsort(order, images->count, sizeof(struct cli_image *), compare_sizes);
    for (size_t i = 0; i < images->count && i < most; i++)
        order[i]->is_chosen = i == 0 || order[i]->events > 0;
    order[0]->number = 1;
    for (size_t i = 0; i < images->count; i++)
        if (images->items[i].is_chosen && &images->items[i] != order[0])
            images->items[i].number = ++number;
    return order;
}

static void
report(const struct cli_images *images, const struct cli_image *image,
       const char *output)
{
    char to[ROOM];
    char who[32];

    name_of(to, output, image->number);
    snprintf(who, sizeof who, "profsim %s", images->verb);
    sim_escape_line(stderr,
                    "%s: %s: %" PRIu64 " bytes asked for, %" PRIu64
                    " event%s, process %" PRIu32 ": %s",
                    who, to, image->bytes, image->events,
                    image->events == 1 ? "" : "s", image->process,
                    image->command);
    cli_losses_report(who, to, image->dropped);
}

struct lost {
    const struct cli_images *images;
    size_t count;
};

/* Find out whether the process logged anything after it had executed a
 * program. */
static void
look_for_image(void *context, uint32_t process, uint64_t ticks,
               const char *path)
{
    struct lost *const lost = context;
    const struct cli_images *const images = lost->images;

    for (size_t i = 0; i < images->count; i++)
        if (images->items[i].process == process &&
            strtoull(images->items[i].name, NULL, 10) >= ticks)
            return;
    if (lost->count++ < LISTED_MAX)
        sim_escape_line(stderr,
                        "profsim %s: not recorded: process %" PRIu32 ", %s",
                        images->verb, process, path);
}

/* Report each executed program that logged nothing: it ran without the
 * recorder. */
static void
report_lost(const struct cli_images *images)
{
    struct lost lost = {.images = images};
    char path[ROOM];

    for (size_t i = 0; i < images->count; i++) {
        join(path, images->folder, images->items[i].name);
        cli_convert_executed(path, look_for_image, &lost);
    }
    if (lost.count > 0)
        fprintf(stderr,
                "profsim %s: %zu executed program%s ran without the recorder: "
                "linked statically, set-uid, as another user, in a cleared "
                "environment or in another root\n",
                images->verb, lost.count, lost.count == 1 ? "" : "s");
}

/* Print the recordings in the order of their sizes, and what was left out. */
static void
report_all(const struct cli_images *images, struct cli_image *const *order,
           const char *output)
{
    size_t saved = 0;
    size_t last = 0;    /* the highest number of a recording */
    size_t lacking = 0; /* of those that are not listed */
    size_t left = 0;

    for (size_t i = 0; i < images->count; i++) {
        if (!order[i]->is_chosen)
            left += order[i]->events > 0;
        if (!order[i]->is_saved)
            continue;
        if (order[i]->number > last)
            last = order[i]->number;
        if (saved++ < LISTED_MAX)
            report(images, order[i], output);
        else
            lacking += cli_losses_any(order[i]->dropped);
    }
    if (saved > LISTED_MAX)
        sim_escape_line(stderr, "profsim %s: and %zu smaller, up to %s.%zu",
                        images->verb, saved - LISTED_MAX, output, last);
    if (lacking > 0)
        fprintf(
            stderr,
            "profsim %s: %zu of these lack events, too; 'profsim show' says "
            "which\n",
            images->verb, lacking);
    if (left > 0)
        fprintf(stderr,
                "profsim %s: %zu smaller process image%s not kept; --images N "
                "keeps more\n",
                images->verb, left, left == 1 ? " was" : "s were");
}

bool
cli_images_save(struct cli_images *images, const char *output, size_t most)
{
    struct saver saver = {.images = images, .output = output};
    struct cli_image **order;
    bool good = true;

    if (images->count == 0)
        return complain(images, images->folder,
                        "no process logged anything there");
    order = choose(images, most);
    if (order == NULL)
        return complain(images, output, strerror(ENOMEM));
    for (size_t i = 0; i < images->count; i++)
        if (images->items[i].is_chosen)
            good = save(&saver, i) && good;
    (void)end_saver(&saver);
    /* If the output could not be written, keep the other spools, too. */
    for (size_t i = 0; i < images->count; i++)
        if (!images->items[i].is_chosen)
            images->items[i].is_done = good && !images->items[i].is_running;
    report_all(images, order, output);
    free(order);
    report_lost(images);
    return good;
}

void
cli_images_remove(const struct cli_images *images)
{
    char path[ROOM];
    size_t listed = 0;

    for (size_t i = 0; i < images->count; i++) {
        const struct cli_image *const image = &images->items[i];

        if (image->is_done) {
            join(path, images->folder, image->name);
            unlink(path);
            continue;
        }
        if (listed++ >= LISTED_MAX)
            continue;
        sim_escape_line(stderr, "profsim %s: %s: process %" PRIu32 ", %s",
                        images->verb,
                        image->is_running ? "still running" : "not saved",
                        image->process, image->command);
    }
    if (rmdir(images->folder) == 0 || listed == 0)
        return;
    sim_escape_line(stderr,
                    "profsim %s: the logs of %zu %s are kept; save them with: "
                    "profsim recover -o FILE %s",
                    images->verb, listed, listed == 1 ? "process" : "processes",
                    images->folder);
}
