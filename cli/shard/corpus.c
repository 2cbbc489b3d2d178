/* corpus.c -- see corpus.h. */
#include "corpus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "complaint.h"
#include "options.h"
#include "prof/file.h"

enum { DIGITS = 32, NAME_BYTES = 256 };

struct folder {
    const char *path;
    DIR *list;
    int fd;                    /* of the list */
    char (*names)[NAME_BYTES]; /* in order */
    uint32_t count;
};

struct exchange {
    const char *suffix;
    struct folder shared;
    struct folder local;
    char (*known)[DIGITS + 1]; /* hashes of what is local, in order */
    uint32_t known_count;
    uint64_t taken_bytes;
    char *bytes; /* of one file: held[0] or [1] */
    size_t bytes_count;
    int error; /* why it could not be read; 0: it is none to be exchanged */
    struct cli_corpus_counts *counts;
};

/* A file, and that of its name in the shared folder. */
static char held[2][CLI_CORPUS_BYTES + 1]; /* one more: it is too large */

/* ---- Folders ---- */

static int
by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Read the names that end in the suffix and are not hidden. */
static bool
read_names(struct folder *folder, const char *suffix)
{
    struct dirent *entry;

    folder->names = malloc(CLI_CORPUS_FILES * sizeof *folder->names);
    if (folder->names == NULL)
        return cli_complain("not enough memory");
    while (folder->count < CLI_CORPUS_FILES &&
           (entry = readdir(folder->list)) != NULL) {
        const char *name = entry->d_name;
        const size_t bytes = strlen(name);
        const size_t end = strlen(suffix);

        _Static_assert(sizeof entry->d_name <= NAME_BYTES, "a name fits");
        if (name[0] != '.' && bytes > end &&
            strcmp(&name[bytes - end], suffix) == 0)
            strcpy(folder->names[folder->count++], name);
    }
    qsort(folder->names, folder->count, sizeof *folder->names, by_text);
    return true;
}

static bool
open_folder(struct folder *folder, const char *path, const char *suffix)
{
    struct prof_file made;

    folder->path = path;
    if (prof_file_folder(&made, path) != PROF_OK)
        return cli_complain("%s: %s", path, prof_file_reason(&made));
    folder->list = opendir(path);
    if (folder->list == NULL)
        return cli_complain("%s: %s", path, strerror(errno));
    folder->fd = dirfd(folder->list);
    return read_names(folder, suffix);
}

static void
close_folder(struct folder *folder)
{
    free(folder->names);
    if (folder->list != NULL)
        closedir(folder->list);
}

/* ---- One file ---- */

/* Is it a link, a socket, or removed since the folder was read? */
static bool
is_left_out(int error)
{
    return error == ENOENT || error == ELOOP || error == ENXIO;
}

/* out: x->bytes. returns: false, with x->error, if it cannot be read, or is not
 * a file that may be exchanged */
static bool
read_file(struct exchange *x, const struct folder *folder, const char *name)
{
    const int fd = openat(folder->fd, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    struct stat like;
    ssize_t count = -1;

    x->bytes_count = 0;
    x->error = fd < 0 && !is_left_out(errno) ? errno : 0;
    if (fd < 0)
        return false;
    if (fstat(fd, &like) == 0 && S_ISREG(like.st_mode)) {
        while ((count = read(fd, x->bytes + x->bytes_count,
                             sizeof held[0] - x->bytes_count)) > 0)
            x->bytes_count += (size_t)count;
        x->error = count < 0 ? errno : 0;
    }
    close(fd);
    return count == 0 && x->bytes_count <= CLI_CORPUS_BYTES;
}

static void
hash_of(const struct exchange *x, char digits[DIGITS + 1])
{
    const XXH128_hash_t hash = XXH3_128bits(x->bytes, x->bytes_count);

    snprintf(digits, DIGITS + 1, "%016" PRIx64 "%016" PRIx64, hash.high64,
             hash.low64);
}

static bool
write_bytes(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);

        if (written < 0)
            return false;
        bytes += written;
        count -= (size_t)written;
    }
    return fsync(fd) == 0;
}

/* Write x->bytes to a new file, and rename it to `name`, replacing any file
 * of that name. */
static bool
write_file(const struct exchange *x, const struct folder *folder,
           const char *name)
{
    char temporary[32];
    uint64_t number = 0;
    bool good;
    int fd;

    (void)!getrandom(&number, sizeof number, 0);
    snprintf(temporary, sizeof temporary, ".part-%016" PRIx64, number);
    fd = openat(folder->fd, temporary, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0)
        return cli_complain("%s/%s: %s", folder->path, name, strerror(errno));
    good = write_bytes(fd, x->bytes, x->bytes_count) &&
           renameat(folder->fd, temporary, folder->fd, name) == 0;
    good = good && (fsync(folder->fd) == 0 || errno == EINVAL);
    close(fd);
    if (good)
        return true;
    cli_complain("%s/%s: %s", folder->path, name, strerror(errno));
    unlinkat(folder->fd, temporary, 0); /* unless it was renamed */
    return false;
}

/* ---- Both ways ---- */

/* Send a local file: x->bytes holds it, `digits` is its hash. */
static bool
send_file(struct exchange *x, const char *digits)
{
    char name[NAME_BYTES];
    char found[DIGITS + 1];
    const size_t mine_count = x->bytes_count;
    bool there;

    snprintf(name, sizeof name, "%s%s", digits, x->suffix);
    x->bytes = held[1];
    there = read_file(x, &x->shared, name);
    if (there)
        hash_of(x, found);
    x->bytes = held[0];
    x->bytes_count = mine_count;
    if (there && strcmp(found, digits) == 0)
        return true;
    if (!write_file(x, &x->shared, name))
        return false;
    x->counts->sent++;
    return true;
}

static bool
send_all(struct exchange *x)
{
    x->known = malloc(x->local.count * sizeof *x->known);
    if (x->known == NULL)
        return cli_complain("not enough memory");
    for (uint32_t i = 0; i < x->local.count; i++) {
        char *digits = x->known[x->known_count];

        if (!read_file(x, &x->local, x->local.names[i])) {
            if (x->error != 0)
                return cli_complain("%s/%s: %s", x->local.path,
                                    x->local.names[i], strerror(x->error));
            continue; /* removed, or not to be exchanged */
        }
        hash_of(x, digits);
        x->known_count++;
        if (!send_file(x, digits))
            return false;
    }
    qsort(x->known, x->known_count, sizeof *x->known, by_text);
    return true;
}

/* Take a file of the shared folder, if its name is the hash of its content. */
static bool
take_file(struct exchange *x, const char *name)
{
    const size_t bytes = strlen(name);
    char digits[DIGITS + 1];
    char found[DIGITS + 1];
    bool there;

    if (bytes != DIGITS + strlen(x->suffix)) {
        x->counts->ignored++;
        return true;
    }
    snprintf(digits, sizeof digits, "%s", name);
    if (bsearch(digits, x->known, x->known_count, sizeof *x->known, by_text) !=
        NULL)
        return true;
    there = read_file(x, &x->shared, name);
    if (there)
        hash_of(x, found);
    else if (x->error != 0 && x->error != EACCES) /* closed to us: ignored */
        return cli_complain("%s/%s: %s", x->shared.path, name,
                            strerror(x->error));
    if (!there || strcmp(found, digits) != 0 ||
        x->taken_bytes + x->bytes_count > CLI_CORPUS_TAKEN_BYTES) {
        x->counts->ignored++;
        return true;
    }
    if (!write_file(x, &x->local, name))
        return false;
    x->taken_bytes += x->bytes_count;
    x->counts->taken++;
    return true;
}

bool
cli_corpus_exchange(const char *shared, const char *local, const char *suffix,
                    struct cli_corpus_counts *counts)
{
    struct exchange x = {.suffix = suffix, .bytes = held[0], .counts = counts};
    bool good;

    *counts = (struct cli_corpus_counts){0, 0, 0};
    good = open_folder(&x.shared, shared, suffix) &&
           open_folder(&x.local, local, suffix) && send_all(&x);
    for (uint32_t i = 0; good && i < x.shared.count; i++)
        good = take_file(&x, x.shared.names[i]);
    close_folder(&x.shared);
    close_folder(&x.local);
    free(x.known);
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
