/* corpus.c -- see corpus.h. */
#include "props/command/corpus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/command/complaint.h"
#include "common/command/options.h"
#include "prof/file.h"

enum { DIGITS = 32 };

struct folder {
    const char *path;
    int fd;
    struct dirent **files;
    int count;
};

/* A file that may be exchanged. */
struct content {
    char bytes[CLI_CORPUS_BYTES + 1]; /* one more: it is too large */
    size_t count;
    char hash[DIGITS + 1];
};

static struct content content;
static struct content sent_before;
static const char *suffix; /* of the names that are exchanged */

/* ---- Folders ---- */

static int
is_intended(const struct dirent *entry)
{
    const size_t bytes = strlen(entry->d_name);
    const size_t end = strlen(suffix);

    return entry->d_name[0] != '.' && bytes > end &&
           strcmp(&entry->d_name[bytes - end], suffix) == 0;
}

static bool
open_folder(struct folder *folder, const char *path)
{
    struct prof_file made;

    *folder = (struct folder){.path = path, .fd = -1};
    if (prof_file_folder(&made, path) != PROF_OK)
        return cli_complain("%s: %s", path, prof_file_reason(&made));
    folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder->count = scandir(path, &folder->files, is_intended, alphasort);
    return (folder->fd >= 0 && folder->count >= 0) ||
           cli_complain("%s: %s", path, strerror(errno));
}

static void
close_folder(struct folder *folder)
{
    for (int i = 0; i < folder->count; i++)
        free(folder->files[i]);
    free(folder->files);
    if (folder->fd >= 0)
        close(folder->fd);
}

/* ---- One file ---- */

/* returns: 1 if it is a file that may be exchanged; 0 if not; -1 if it cannot
 * be read */
static int
read_file(struct content *to, const struct folder *folder, const char *name)
{
    const int fd = openat(folder->fd, name,
                          O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat like;
    XXH128_hash_t hash;
    ssize_t bytes = -1;

    if (fd < 0)
        return errno == ENOENT || errno == ELOOP || errno == ENXIO ? 0 : -1;
    to->count = 0;
    if (fstat(fd, &like) != 0 || !S_ISREG(like.st_mode)) {
        close(fd);
        return 0;
    }
    while ((bytes = read(fd, to->bytes + to->count,
                         sizeof to->bytes - to->count)) > 0)
        to->count += (size_t)bytes;
    close(fd);
    hash = XXH3_128bits(to->bytes, to->count);
    snprintf(to->hash, sizeof to->hash, "%016" PRIx64 "%016" PRIx64,
             hash.high64, hash.low64);
    return bytes < 0 ? -1 : to->count <= CLI_CORPUS_BYTES;
}

/* Write the content to a new file, and rename it, in the place of anything of
 * that name. */
static bool
write_file(const struct folder *folder, const char *name)
{
    char part[32];
    uint64_t number = 0;
    FILE *file;
    bool good;
    int fd;

    (void)!getrandom(&number, sizeof number, 0);
    snprintf(part, sizeof part, ".part-%016" PRIx64, number);
    fd =
        openat(folder->fd, part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    good = file != NULL &&
           fwrite(content.bytes, 1, content.count, file) == content.count &&
           fflush(file) == 0 && fsync(fd) == 0 &&
           renameat(folder->fd, part, folder->fd, name) == 0 &&
           (fsync(folder->fd) == 0 || errno == EINVAL);
    if (!good)
        cli_complain("%s/%s: %s", folder->path, name, strerror(errno));
    if (file != NULL)
        (void)fclose(file);
    if (!good)
        unlinkat(folder->fd, part, 0); /* unless it was renamed */
    return good;
}

/* ---- Both ways ---- */

/* Send the local files, and list their hashes, in order. */
static bool
send_all(const struct folder *local, const struct folder *shared,
         char (*known)[DIGITS + 1], struct cli_corpus_counts *counts)
{
    for (int i = 0; i < local->count; i++) {
        const char *name = local->files[i]->d_name;
        const int read = read_file(&content, local, name);
        char sent[PATH_MAX];

        if (read < 0)
            return cli_complain("%s/%s: %s", local->path, name,
                                strerror(errno));
        if (read == 0)
            continue;
        snprintf(sent, sizeof sent, "%s%s", content.hash, suffix);
        strcpy(known[counts->known++], content.hash);
        if (read_file(&sent_before, shared, sent) == 1 &&
            strcmp(sent_before.hash, content.hash) == 0)
            continue;
        if (!write_file(shared, sent))
            return false;
        counts->sent++;
    }
    qsort(known, counts->known, sizeof *known,
          (int (*)(const void *, const void *))strcmp);
    return true;
}

/* Take what is new: files whose name is the hash of their content. */
static bool
take_all(const struct folder *shared, const struct folder *local,
         char (*known)[DIGITS + 1], struct cli_corpus_counts *counts)
{
    size_t taken_bytes = 0;

    for (int i = 0; i < shared->count; i++) {
        const char *name = shared->files[i]->d_name;
        char hash[DIGITS + 1];
        int read;

        snprintf(hash, sizeof hash, "%.*s", DIGITS, name);
        if (bsearch(hash, known, counts->known, sizeof *known,
                    (int (*)(const void *, const void *))strcmp) != NULL)
            continue;
        read = strlen(name) == DIGITS + strlen(suffix)
                   ? read_file(&content, shared, name)
                   : 0;
        if (read < 0 && errno != EACCES) /* closed to us: ignored */
            return cli_complain("%s/%s: %s", shared->path, name,
                                strerror(errno));
        if (read != 1 || strcmp(content.hash, hash) != 0 ||
            taken_bytes + content.count > CLI_CORPUS_TAKEN_BYTES) {
            counts->ignored++;
            continue;
        }
        if (!write_file(local, name))
            return false;
        taken_bytes += content.count;
        counts->taken++;
    }
    return true;
}

bool
cli_corpus_exchange(const char *shared, const char *local, const char *end,
                    struct cli_corpus_counts *counts)
{
    struct folder there = {.fd = -1};
    struct folder here = {.fd = -1};
    char(*known)[DIGITS + 1] = NULL;
    bool good;

    suffix = end;
    *counts = (struct cli_corpus_counts){0};
    good = open_folder(&there, shared) && open_folder(&here, local);
    if (good) {
        known = cli_need(calloc((size_t)here.count + 1, sizeof *known));
        good = send_all(&here, &there, known, counts) &&
               take_all(&there, &here, known, counts);
    }
    close_folder(&there);
    close_folder(&here);
    free(known);
    return good;
}

/* ---- The command ---- */

static const struct cli_syntax syntax = {
    .command = "corpus",
    .words = "SHARED LOCAL",
    .about = "Exchange inputs with fuzzers on other machines: send the files "
             "of the folder\nLOCAL to SHARED, each named by its content, and "
             "take those that LOCAL lacks\n(docs/scale.md). A folder that is "
             "not there is made.\n",
};

enum cli_exit
cli_corpus(int argc, char **argv)
{
    struct cli_corpus_counts counts;
    struct cli_options options;
    int words;

    cli_options_begin(&options, &syntax, argc, argv);
    if (!cli_options_words(&options, &words))
        return options.exit_code;
    if (words != 2)
        return cli_options_missing(&options, "SHARED and LOCAL");
    if (!cli_corpus_exchange(argv[1], argv[2], "", &counts))
        return CLI_USAGE;
    printf("%" PRIu32 " sent, %" PRIu32 " taken, %" PRIu32 " ignored\n",
           counts.sent, counts.taken, counts.ignored);
    return CLI_OK;
}
