/*
 * checkpoint.c -- saves a search in a file, and resumes it.
 *
 *      header | result | sites of wait loops | frontier | graphs | states | sum
 *
 * A file is valid only for the same program, kernel and options; the header has
 * a hash of the program's code. The file is written under another name and then
 * renamed, so it is always whole. Its last word is a hash of everything before.
 */
#include "explore/search/search_control.h"
#include "explore/engine/engine.h"
#include "explore/search/futile.h"
#include "explore/engine/need.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "profsim checkpoint 1\n"

struct header {
    char magic[24];
    char kernel[64];
    uint64_t code;    /* hash of this program's */
    uint64_t options; /* ... and of what the search depends on */
    uint64_t elapsed_us;
    uint64_t sample_at;
    uint64_t sample_seed;
    uint64_t counts[7];
    uint16_t reduced;
    uint16_t whole; /* not split among shards */
    uint32_t sites;
    uint32_t threads;
    uint32_t cleared_bytes; /* of each stack, before a run */
};

struct file {
    FILE *file;
    uint64_t sum;
    bool failed;
};

/* ---- The program and options that it belongs to ---- */

struct code {
    uintptr_t base;
    uint64_t hash;
};

static uint64_t
hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ at[i]) * 0x100000001b3U;
    return sim_mix64(hash);
}

/* The first object is the program itself; its code has no addresses in it. */
static int
hash_code(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct code *code = context;

    (void)bytes;
    code->base = info->dlpi_addr;
    for (uint32_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) != 0)
            code->hash = hash_bytes(
                code->hash, (const void *)(info->dlpi_addr + p->p_vaddr),
                p->p_memsz);
    }
    return 1;
}

static struct code
code_of_program(void)
{
    struct code code = {0, 1};

    dl_iterate_phdr(hash_code, &code);
    return code;
}

static int
compare(const void *a, const void *b)
{
    const uint64_t *left = a;
    const uint64_t *right = b;

    return (*left > *right) - (*left < *right);
}

uint32_t
sim_explore_loops(uint64_t offsets[SIM_LOOPS_MAX])
{
    struct engine *e = &sim_engine;
    const uintptr_t base = code_of_program().base;
    const uintptr_t *sites;
    const uint32_t count = sim_wait_sites(e, &sites);

    for (uint32_t i = 0; i < count; i++)
        offsets[i] = sites[i] - base;
    qsort(offsets, count, sizeof *offsets, compare);
    return count;
}

void
sim_explore_learn_loop(uint64_t offset)
{
    struct engine *e = &sim_engine;

    sim_wait_learn(e, code_of_program().base + (uintptr_t)offset);
    e->learned = false;
}

static uint64_t
hash_options(const struct sim_exhaust_options *o)
{
    const struct sim_run_options *r = &o->run;
    const uint64_t words[] = {
        r->preemptions_max, r->bounded,    r->spurious_max,
        r->steps_max,       r->lazy_start, r->silent_ms,
        r->unroll,          o->no_pruning, o->by_schedules,
        o->keep_going,      o->portfolio,  o->portfolio ? o->seed : 0,
        o->shard,           o->shards,
    };

    return hash_bytes(1, words, sizeof words);
}

static struct header
header_of(struct engine *e, const struct sim_control *c)
{
    const struct sim_exhaust_result *r = c->result;
    const uintptr_t *sites;
    struct header h;

    memset(&h, 0, sizeof h);
    memcpy(h.magic, MAGIC, sizeof MAGIC - 1);
    snprintf(h.kernel, sizeof h.kernel, "%s", c->search->kernel->name);
    h.code = code_of_program().hash;
    h.options = hash_options(c->options);
    h.elapsed_us = c->elapsed_us + sim_control_now_us() - c->begun_us;
    h.sample_at = c->search->sample_at;
    h.sample_seed = c->search->sample_seed;
    h.reduced = c->search->reduced;
    h.whole = c->search->shard.whole;
    h.sites = sim_wait_sites(e, &sites);
    h.threads = e->threads_known;
    h.cleared_bytes = e->cleared_bytes;
    h.counts[0] = r->runs;
    h.counts[1] = r->graphs;
    h.counts[2] = r->graphs_sum;
    h.counts[3] = r->blocked;
    h.counts[4] = r->bounded;
    h.counts[5] = r->rechecked;
    h.counts[6] = r->sampled;
    return h;
}

/* ---- Writing ---- */

static bool
put(void *context, const void *data, size_t bytes)
{
    struct file *f = context;

    f->sum = hash_bytes(f->sum, data, bytes);
    f->failed |= bytes > 0 && fwrite(data, bytes, 1, f->file) != 1;
    return !f->failed;
}

static void
put_key(void *context, const uint64_t key[2])
{
    put(context, key, 2 * sizeof *key);
}

static void
put_set(struct file *f, const struct sim_visited *set)
{
    const uint64_t count = sim_visited_count(set);

    put(f, &count, sizeof count);
    sim_visited_each(set, put_key, f);
}

static void
put_all(struct engine *e, struct file *f, const struct sim_control *c,
        const struct sim_frontier *frontier)
{
    const struct header h = header_of(e, c);
    const uintptr_t base = code_of_program().base;
    const uintptr_t *sites;
    uint64_t sum;

    put(f, &h, sizeof h);
    sim_wait_sites(e, &sites);
    for (uint32_t i = 0; i < h.sites; i++) {
        const uint64_t offset = sites[i] - base;

        put(f, &offset, sizeof offset);
    }
    sim_frontier_write(frontier, put, f);
    put_set(f, &c->search->graphs);
    put_set(f, &c->search->visited);
    sum = f->sum;
    put(f, &sum, sizeof sum);
}

static bool
trouble(const struct sim_control *c, const char *what)
{
    snprintf(c->result->trouble, sizeof c->result->trouble, "%s: %s",
             c->options->checkpoint, what);
    return false;
}

bool
sim_checkpoint_save(struct engine *e, struct sim_control *c,
                    const struct sim_frontier *frontier)
{
    const size_t bytes = strlen(c->options->checkpoint) + 8;
    char *path = sim_need(malloc(bytes));
    struct file f = {.sum = 1};

    snprintf(path, bytes, "%s.new", c->options->checkpoint);
    f.file = fopen(path, "wbx");
    if (f.file == NULL && errno == EEXIST && remove(path) == 0)
        f.file = fopen(path, "wbx");
    if (f.file == NULL) {
        free(path);
        return trouble(c, strerror(errno));
    }
    put_all(e, &f, c, frontier);
    f.failed |= fflush(f.file) != 0 || fsync(fileno(f.file)) != 0;
    f.failed |= fclose(f.file) != 0;
    f.failed = f.failed || rename(path, c->options->checkpoint) != 0;
    if (f.failed) {
        trouble(c, strerror(errno));
        remove(path);
    }
    free(path);
    return !f.failed;
}

/* ---- Reading ---- */

static bool
get(void *context, void *data, size_t bytes)
{
    struct file *f = context;

    if (bytes > 0 && fread(data, bytes, 1, f->file) != 1)
        return false;
    f->sum = hash_bytes(f->sum, data, bytes);
    return true;
}

static bool
get_set(struct file *f, struct sim_visited *set)
{
    uint64_t count;
    uint64_t key[2];

    if (!get(f, &count, sizeof count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!get(f, key, sizeof key))
            return false;
        sim_visited_insert(set, key);
    }
    return true;
}

static void
take_header(struct engine *e, struct sim_control *c, const struct header *h)
{
    struct sim_exhaust_result *r = c->result;

    c->elapsed_us = h->elapsed_us;
    c->search->reduced = h->reduced;
    c->search->shard.whole = h->whole;
    e->threads_known = h->threads;
    if (e->cleared_bytes < h->cleared_bytes)
        e->cleared_bytes = h->cleared_bytes;
    c->search->rechecks = false; /* cut runs may be explored only later */
    c->search->sample_at = h->sample_at;
    c->search->sample_seed = h->sample_seed;
    r->runs = h->counts[0];
    r->graphs = h->counts[1];
    r->graphs_sum = h->counts[2];
    r->blocked = h->counts[3];
    r->bounded = h->counts[4];
    r->rechecked = h->counts[5];
    r->sampled = h->counts[6];
}

/* returns: what is wrong with the file, or NULL */
static const char *
get_all(struct engine *e, struct file *f, struct sim_control *c)
{
    static const char cut[] = "this checkpoint is damaged";
    const struct header mine = header_of(e, c);
    const uintptr_t base = code_of_program().base;
    struct header h;
    uint64_t sum;
    uint64_t found;

    if (!get(f, &h, sizeof h) || memcmp(h.magic, mine.magic, sizeof h.magic))
        return "this is no checkpoint of this version";
    if (memcmp(h.kernel, mine.kernel, sizeof h.kernel) != 0)
        return "this checkpoint is another kernel's";
    if (h.code != mine.code)
        return "this checkpoint is of another program, or another build of it";
    if (h.options != mine.options)
        return "this checkpoint was made with other options";
    if (h.threads > SIM_THREADS_MAX || h.cleared_bytes > SIM_FIBER_STACK_BYTES)
        return cut;
    for (uint32_t i = 0; i < h.sites; i++) {
        uint64_t offset;

        if (!get(f, &offset, sizeof offset))
            return cut;
        sim_wait_learn(e, base + offset);
    }
    sim_frontier_free(&c->frontier);
    if (!sim_frontier_read(&c->frontier, get, f) ||
        !get_set(f, &c->search->graphs) || !get_set(f, &c->search->visited))
        return cut;
    sum = f->sum;
    if (!get(f, &found, sizeof found) || found != sum)
        return cut;
    take_header(e, c, &h);
    return NULL;
}

bool
sim_checkpoint_load(struct engine *e, struct sim_control *c)
{
    struct file f = {.sum = 1};
    const char *wrong;
    struct stat like;
    int descriptor;

    if (c->options->checkpoint == NULL)
        return true;
    descriptor =
        open(c->options->checkpoint, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return errno == ENOENT || trouble(c, strerror(errno));
    if (fstat(descriptor, &like) != 0 || !S_ISREG(like.st_mode)) {
        close(descriptor);
        return trouble(c, "not a regular file");
    }
    f.file = fdopen(descriptor, "rb");
    if (f.file == NULL) {
        close(descriptor);
        return trouble(c, strerror(errno));
    }
    wrong = get_all(e, &f, c);
    fclose(f.file);
    e->learned = false;
    c->result->resumed = wrong == NULL;
    return wrong == NULL || trouble(c, wrong);
}
