/*
 * scale.c -- simulates how many events per second many processors would record,
 * because a machine of the benchmark may have only two.
 *
 * The simulated processors are those of cores.h: each works for a while, draws
 * one of 10,000 stacks by Zipf's law and adds to its counter. As in the
 * library, rows are in order of their first event, with eight counters in a
 * cache line. The time of work and of a near hand-over are those that `make
 * bench` measures on this machine (heap, sharing); that of a far hand-over is a
 * parameter. With a column for each processor, the columns must be added up
 * when the cycle advances; that cost is left out.
 *
 * usage: scale            rows of the benchmark
 *        scale csv|svg    the committed report, the same everywhere
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "choice.h"
#include "cores.h"

enum {
    ROWS = 10000,
    COUNTER_LINE = 8,
    ADDITIONS = 200000,
    STEPS = 9,       /* 1, 2, 4, .. 128 and 192 processors */
    WORK_PS = 36000, /* with 6 ns for an addition to a line it already has */
    NEAR_PS = 16000,
    FAR_PS = 150000
};

static const struct machine {
    const char *name;
    uint32_t cores_of_die;
} machines[] = {{"one die", SIM_CORES_MAX}, {"dies of 8", 8}};
enum { MACHINES = sizeof machines / sizeof *machines };

static const char *const layouts[SIM_CORES_LAYOUTS] = {
    "one column", "a line a counter", "a column a processor"};

static uint32_t ends[ROWS]; /* by row; see cores.h */
static double rates[MACHINES][SIM_CORES_LAYOUTS][STEPS];  /* events a us */
static double shares[MACHINES][SIM_CORES_LAYOUTS][STEPS]; /* handed over */

static uint32_t
cores_of(uint32_t step)
{
    return step == STEPS - 1 ? 192 : 1U << step;
}

/* Weights by rank; 0.99 as in load.c. */
static double
weight_of(uint32_t rank)
{
    return pow(rank + 1, -0.99);
}

/*
 * Rows are numbered in the order in which their stacks are first drawn, so hot
 * rows are neighbours. To get that order, give each stack an exponential
 * waiting time (its rate is the stack's weight), and sort by these times.
 */
static int
compare_births(const void *a, const void *b)
{
    const double *const *x = a;
    const double *const *y = b;

    return (**x > **y) - (**x < **y);
}

static void
make_ends(void)
{
    static double births[ROWS];
    static const double *order[ROWS];
    struct sim_rng rng = {1};
    double total = 0;
    double sum = 0;

    for (uint32_t rank = 0; rank < ROWS; rank++) {
        const double number =
            ((double)(sim_rng_next(&rng) >> 11) + 0.5) * 0x1p-53;

        births[rank] = -log(number) / weight_of(rank);
        order[rank] = &births[rank];
        total += weight_of(rank);
    }
    qsort(order, ROWS, sizeof *order, compare_births);
    for (uint32_t row = 0; row < ROWS; row++) {
        sum += weight_of((uint32_t)(order[row] - births));
        ends[row] = (uint32_t)(sum / total * UINT32_MAX);
    }
}

/* The share of the events that go to the hottest cache line. */
static double
hottest(enum sim_cores_layout layout)
{
    const uint32_t rows = layout == SIM_CORES_SHARED ? COUNTER_LINE : 1;
    double most = 0;

    for (uint32_t row = 0; row < ROWS; row += rows) {
        const uint32_t begin = row == 0 ? 0 : ends[row - 1];
        const uint32_t last = row + rows - 1 < ROWS ? row + rows - 1 : ROWS - 1;
        const double part = (double)(ends[last] - begin) / UINT32_MAX;

        most = part > most ? part : most;
    }
    return most;
}

/* The most events per us: 1 / (p h) (cores.c), or the processors' own work. */
static double
bound_of(const struct machine *machine, enum sim_cores_layout layout,
         uint32_t cores)
{
    const double work = cores / (WORK_PS * 1e-6);
    const double near = machine->cores_of_die;
    /* The average over the places where the line may have been before. */
    const double far_share =
        cores <= near ? 0 : (cores - near) / (double)(cores - 1);
    const double handover_us =
        (NEAR_PS + far_share * (FAR_PS - NEAR_PS)) * 1e-6;
    const double line = 1 / (hottest(layout) * handover_us);

    if (layout == SIM_CORES_OWN || cores == 1)
        return work;
    return line < work ? line : work;
}

static struct sim_cores_result
run(const struct machine *machine, enum sim_cores_layout layout, uint32_t cores)
{
    const struct sim_cores_config config = {
        .cores = cores,
        .cores_of_die = machine->cores_of_die,
        .work_ps = WORK_PS,
        .near_ps = NEAR_PS,
        .far_ps = FAR_PS,
        .row_ends = ends,
        .rows = ROWS,
        .layout = layout,
        .spread = SIM_CORES_UNIFORM,
        .seed = 1,
    };
    struct sim_cores_result result;

    if (!sim_cores_run(&result, &config, ADDITIONS))
        exit(1);
    return result;
}

static double
rate_of(const struct sim_cores_result *result)
{
    return (double)result->additions * 1e6 / (double)result->span_ps;
}

/* ---- the report ---- */

static void
simulate(void)
{
    for (uint32_t m = 0; m < MACHINES; m++) {
        for (int l = 0; l < SIM_CORES_LAYOUTS; l++) {
            for (uint32_t s = 0; s < STEPS; s++) {
                const struct sim_cores_result result =
                    run(&machines[m], (enum sim_cores_layout)l, cores_of(s));

                rates[m][l][s] = rate_of(&result);
                shares[m][l][s] =
                    (double)result.handovers / (double)result.additions;
            }
        }
    }
}

static void
print_csv(void)
{
    puts("machine,counters,processors,events_per_us,bound_per_us,"
         "handed_over_percent,hottest_line_percent");
    for (uint32_t m = 0; m < MACHINES; m++)
        for (int l = 0; l < SIM_CORES_LAYOUTS; l++)
            for (uint32_t s = 0; s < STEPS; s++)
                printf("%s,%s,%" PRIu32 ",%.1f,%.1f,%.1f,%.1f\n",
                       machines[m].name, layouts[l], cores_of(s),
                       rates[m][l][s],
                       bound_of(&machines[m], (enum sim_cores_layout)l,
                                cores_of(s)),
                       100 * shares[m][l][s],
                       100 * hottest((enum sim_cores_layout)l));
}

/* ---- the plot ---- */

enum { LEFT = 60, TOP = 40, WIDTH = 280, HEIGHT = 300, GAP = 70 };

static double
x_of(uint32_t machine, double cores)
{
    return LEFT + machine * (WIDTH + GAP) + WIDTH * log2(cores) / log2(192);
}

/* From 10 to 10,000 events a microsecond. */
static double
y_of(double rate)
{
    return TOP + HEIGHT * (1 - log10(rate / 10) / 3);
}

static void
print_axes(uint32_t m)
{
    printf("<text x=\"%.0f\" y=\"%d\">%s</text>\n", x_of(m, 1), TOP - 14,
           machines[m].name);
    for (uint32_t s = 0; s < STEPS; s++)
        printf("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
               "stroke=\"#ddd\"/>\n<text x=\"%.1f\" y=\"%d\" "
               "font-size=\"10\" text-anchor=\"middle\">%" PRIu32 "</text>\n",
               x_of(m, cores_of(s)), TOP, x_of(m, cores_of(s)), TOP + HEIGHT,
               x_of(m, cores_of(s)), TOP + HEIGHT + 16, cores_of(s));
    for (int rate = 10; rate <= 10000; rate *= 10)
        printf("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
               "stroke=\"#ddd\"/>\n<text x=\"%.1f\" y=\"%.1f\" "
               "text-anchor=\"end\">%d</text>\n",
               x_of(m, 1), y_of(rate), x_of(m, 192), y_of(rate), x_of(m, 1) - 6,
               y_of(rate) + 4, rate);
}

static void
print_line(uint32_t m, int l, bool bound)
{
    static const char *const colours[SIM_CORES_LAYOUTS] = {"#c0392b", "#e08e0b",
                                                           "#2471a3"};

    printf("<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" "
           "points=\"",
           colours[l], bound ? "1\" stroke-dasharray=\"3 3" : "2");
    for (uint32_t s = 0; s < STEPS; s++)
        printf("%.1f,%.1f ", x_of(m, cores_of(s)),
               y_of(bound ? bound_of(&machines[m], (enum sim_cores_layout)l,
                                     cores_of(s))
                          : rates[m][l][s]));
    puts("\"/>");
    if (m == 0 && !bound)
        printf("<text x=\"%.1f\" y=\"%d\" fill=\"%s\">%s</text>\n",
               x_of(0, 1) + 8, TOP + 18 + 16 * l, colours[l], layouts[l]);
}

static void
print_svg(void)
{
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
           "height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n"
           "<title>Events recorded a microsecond by so many processors, "
           "simulated; dashed: the bound</title>\n",
           LEFT + 2 * WIDTH + GAP + 20, TOP + HEIGHT + 50);
    for (uint32_t m = 0; m < MACHINES; m++) {
        print_axes(m);
        for (int l = 0; l < SIM_CORES_LAYOUTS; l++) {
            print_line(m, l, true);
            print_line(m, l, false);
        }
    }
    printf("<text x=\"%d\" y=\"%d\">processors; events a microsecond, all "
           "together; dashed: the bound</text>\n</svg>\n",
           LEFT, TOP + HEIGHT + 38);
}

/* ---- the benchmark ---- */

struct entrant {
    const struct machine *machine;
    enum sim_cores_layout layout;
    uint32_t cores;
};

static double
run_once(void *context, uint32_t round)
{
    const struct entrant *entrant = context;
    const struct sim_cores_result result =
        run(entrant->machine, entrant->layout, entrant->cores);

    (void)round;
    return rate_of(&result);
}

static int
run_rows(void)
{
    static const uint32_t cores[] = {2, 16, 64, 192};
    enum { COUNT = sizeof cores / sizeof *cores };
    struct bench bench;

    bench_begin(&bench, "scale", COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        struct entrant die = {&machines[0], SIM_CORES_SHARED, cores[i]};
        struct entrant dies = {&machines[1], SIM_CORES_SHARED, cores[i]};
        struct entrant own = {&machines[1], SIM_CORES_OWN, cores[i]};
        const struct bench_entrant entrants[] = {
            {"shared one die", run_once, &die},
            {"shared dies of 8", run_once, &dies},
            {"columns of each", run_once, &own}};
        const struct bench_row row = {.operation = "events",
                                      .order = "zipf",
                                      .unit = "M/s",
                                      .n = ROWS,
                                      .threads = cores[i],
                                      .more_is_better = true,
                                      .exact = true};

        bench_compare(&bench, &row, entrants,
                      sizeof entrants / sizeof *entrants);
    }
    return bench_end(&bench);
}

int
main(int argc, char **argv)
{
    make_ends();
    if (argc == 1)
        return run_rows();
    if (argc != 2 ||
        (strcmp(argv[1], "csv") != 0 && strcmp(argv[1], "svg") != 0)) {
        fputs("usage: scale [csv|svg]\n", stderr);
        return 1;
    }
    simulate();
    if (strcmp(argv[1], "csv") == 0)
        print_csv();
    else
        print_svg();
    return fflush(stdout) == 0 ? 0 : 1;
}
