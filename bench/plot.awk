# plot.awk -- the plots of page.awk: cost against buckets, frames and threads,
# on logarithmic axes, with lines where a cache or the TLB is full.

function colour_of(entrant) {
    if (entrant ~ /^profsim/)
        return "#c22"
    if (entrant ~ /^go/)
        return "#27a"
    if (entrant ~ /^\(/)
        return "#999"
    if (entrant in COLOURS)
        return COLOURS[entrant]
    return "#8ab"
}

# "caches L2 2048 KB, L3 266240 KB, TLB 2048 pages"
function read_caches(line,    words, count, i) {
    count = split(line, words, /[ ,]+/)
    for (i = 2; i + 1 <= count; i++) {
        if (words[i] == "L2" || words[i] == "L3")
            cache_bytes[words[i]] = words[i + 1] * 1024
        if (words[i] == "TLB")
            cache_bytes["TLB"] = words[i + 1] * 4096
    }
}

# What a bucket's lookup may touch: its slot, its entry, a line of counters.
function bytes_a_bucket(depth) {
    return 12 + 16 + 8 * depth + 64
}

function plot_x(x) {
    return PLOT_LEFT + PLOT_WIDTH * log(x / x_low) / log(x_high / x_low)
}

function plot_y(y) {
    return PLOT_TOP + PLOT_HEIGHT * (1 - log(y / y_low) / log(y_high / y_low))
}

function short(x) {
    return x >= 1e6 ? x / 1e6 "M" : x >= 1e3 ? x / 1e3 "k" : x ""
}

function grid_line(y) {
    if (y < y_low || y > y_high)
        return
    printf "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/>", \
        PLOT_LEFT, PLOT_LEFT + PLOT_WIDTH, plot_y(y), plot_y(y)
    printf "<text x='2' y='%.1f' font-size='10'>%s</text>\n", plot_y(y) + 3, \
        short(y)
}

function grid_lines(    i) {
    for (i = 0.01; i <= y_high; i *= 10) {
        grid_line(i)
        grid_line(2 * i)
        grid_line(5 * i)
    }
}

function full_lines(depth,    names, i, n) {
    split("L2 TLB L3", names, " ")
    for (i = 1; i <= 3; i++) {
        if (!(names[i] in cache_bytes))
            continue
        n = cache_bytes[names[i]] / bytes_a_bucket(depth)
        if (n <= x_low || n >= x_high)
            continue
        printf "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='#aaa' " \
            "stroke-dasharray='3 3'/><text x='%.1f' y='%d' font-size='10' " \
            "fill='#777'>%s</text>\n", plot_x(n), plot_x(n), PLOT_TOP, \
            PLOT_TOP + PLOT_HEIGHT, plot_x(n) + 2, PLOT_TOP + 10, names[i]
    }
}

function point(key, entrant, x) {
    return measured[key_of(key, x), entrant]
}

# A key is "noun|operation|depth|n|order|threads" with one "*": the x axis.
function key_of(key, x,    parts) {
    sub(/\*/, x, key)
    split(key, parts, /\|/)
    return parts[1] SUBSEP parts[2] SUBSEP parts[3] SUBSEP parts[4] SUBSEP \
        parts[5] SUBSEP parts[6]
}

function extent(key, xs, xs_count, entrants, entrants_count,    i, j, y) {
    x_low = y_low = 1e18
    x_high = y_high = 0
    for (i = 1; i <= xs_count; i++)
        for (j = 1; j <= entrants_count; j++) {
            y = point(key, entrants[j], xs[i])
            if (y <= 0)
                continue
            if (xs[i] < x_low) x_low = xs[i]
            if (xs[i] > x_high) x_high = xs[i]
            if (y < y_low) y_low = y
            if (y > y_high) y_high = y
        }
    y_low /= 1.3
    y_high *= 1.3
    return x_high > x_low
}

function series(key, entrant, xs, xs_count, k,    i, path, y) {
    path = ""
    for (i = 1; i <= xs_count; i++) {
        y = point(key, entrant, xs[i])
        if (y > 0)
            path = path sprintf("%s%.1f %.1f", path == "" ? "M" : "L", \
                plot_x(xs[i]), plot_y(y))
    }
    if (path == "")
        return k
    printf "<path d='%s' fill='none' stroke='%s' stroke-width='%s'%s/>", path, \
        colour_of(entrant), entrant == "profsim" ? 3 : 1.5, \
        entrant ~ /^\(/ ? " stroke-dasharray='5 3'" : ""
    printf "<text x='%d' y='%d' font-size='11' fill='%s'>%s</text>\n", \
        PLOT_LEFT + PLOT_WIDTH + 8, PLOT_TOP + 12 + 14 * k, colour_of(entrant), \
        text(entrant)
    return k + 1
}

# One plot; depth > 0: with lines where caches are full at that depth.
function plot(title, key, x_list, entrant_list, depth,    xs, n, names, m, i, k) {
    n = split(x_list, xs, " ")
    m = split(entrant_list, names, "/")
    if (!extent(key, xs, n, names, m))
        return
    printf "<svg width='%d' height='%d'>", PLOT_LEFT + PLOT_WIDTH + 110, \
        PLOT_TOP + PLOT_HEIGHT + 20
    printf "<text x='%d' y='12' font-size='12'>%s</text>\n", PLOT_LEFT, text(title)
    grid_lines()
    for (i = 1; i <= n; i++) {
        if (xs[i] < x_low || xs[i] > x_high)
            continue
        printf "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='#eee'/>", \
            plot_x(xs[i]), plot_x(xs[i]), PLOT_TOP, PLOT_TOP + PLOT_HEIGHT
        printf "<text x='%.1f' y='%d' font-size='10'>%s</text>\n", \
            plot_x(xs[i]) - 8, PLOT_TOP + PLOT_HEIGHT + 14, short(xs[i])
    }
    if (depth > 0)
        full_lines(depth)
    k = 0
    for (i = 1; i <= m; i++)
        k = series(key, names[i], xs, n, k)
    print "</svg>"
}

# Operations a microsecond of one thread and of two, and what two gained.
function threads(noun, operation, depth, n, order, entrant_list,    names, m, i,
                 one, two) {
    m = split(entrant_list, names, "/")
    for (i = 1; i <= m; i++) {
        one = measured[noun, operation, depth, n, order, 1, names[i]]
        two = measured[noun, operation, depth, n, order, 2, names[i]]
        if (one > 0 && two > 0)
            printf "<tr><td>%s %s, d=%d n=%s</td><td>%s</td><td>%.1f</td>" \
                "<td>%.1f</td><td>%.2f</td></tr>\n", noun, operation, depth, \
                short(n), text(names[i]), 1e3 / one, 1e3 / two, one / two
    }
}

function say_threads(    tables) {
    if (!two_threads)
        return
    tables = "profsim/go1.19/ck_hs/lfht/(lower bound)"
    print "<p>A second thread: million operations a second.</p>"
    print "<table><tr><th>row</th><th>entrant</th><th>one</th><th>two</th>"
    print "<th>gain</th></tr>"
    threads("table", "hit", 4, 10000, "zipf", tables)
    threads("table", "hit", 16, 100, "zipf", tables)
    threads("table", "hit", 16, 10000, "zipf", tables)
    threads("table", "hit", 128, 10000, "zipf", tables)
    threads("table", "hit", 16, 1000000, "uniform", tables)
    threads("heap", "alloc", 16, 10000, "zipf", "profsim/(lower bound)/go1.19")
    threads("heap", "free", 16, 10000, "zipf", "profsim/go1.19")
    print "</table>"
}

function say_plots(    tables, sizes) {
    PLOT_LEFT = 34
    PLOT_TOP = 20
    PLOT_WIDTH = 300
    PLOT_HEIGHT = 220
    COLOURS["columns of each"] = "#2a2"
    COLOURS["shared 16 ns"] = "#c22"
    COLOURS["shared 150 ns"] = "#27a"
    COLOURS["multilinear"] = "#c22"
    COLOURS["boost"] = "#2a2"
    COLOURS["absl"] = "#7b3"
    COLOURS["ck_hs"] = "#a6c"
    COLOURS["lfht"] = "#c8a"
    COLOURS["glib"] = "#ca5"
    COLOURS["uthash"] = "#a75"
    COLOURS["one-at-a-time"] = "#27a"
    tables = "profsim/go1.19/absl/boost/glib/ck_hs/lfht/uthash/(lower bound)/(one line)"
    sizes = "100 1000 10000 100000 1000000 10000000"
    print "<h2>Where it bends</h2><p>Nanoseconds an operation. Dashed uprights:"
    print "so many buckets fill the second-level cache, what the TLB covers with"
    print "pages of 4 KB, the third-level cache. A lookup waits for two lines of"
    print "memory that depend on each other, the slot's and the entry's; between"
    print "two uprights it costs what those lines cost there.</p>"
    plot("lookup, 16 frames, Zipf, by buckets", "table|hit|16|*|zipf|1", sizes, \
        tables, 16)
    plot("alloc, 16 frames, Zipf, by buckets", "heap|alloc|16|*|zipf|1", sizes, \
        "profsim/go1.19/(lower bound)", 16)
    plot("free, 16 frames, Zipf, by buckets", "heap|free|16|*|zipf|1", sizes, \
        "profsim/go1.19/(atomic add)", 16)
    plot("lookup, 10k buckets, Zipf, by frames", "table|hit|*|10000|zipf|1", \
        "4 16 32 128", tables, 0)
    plot("alloc, 10k buckets, Zipf, by frames", "heap|alloc|*|10000|zipf|1", \
        "4 16 32 128", "profsim/go1.19/(lower bound)", 0)
    plot("hash, by frames", "hash|hash|*|1000||1", "4 16 32 128", \
        "multilinear/XXH3/one-at-a-time", 0)
    plot("flush, ns a bucket, by buckets", "ring|flush|16|*||1", sizes, \
        "profsim/go1.19/(plain arrays)", 16)
    plot("snapshot, ns a bucket, by buckets", "ring|snapshot|16|*||1", sizes, \
        "profsim/go1.19/(plain records)", 16)
    plot("stack number in a trace, 16 frames", "table|stack-id|16|*|zipf|1", \
        sizes, tables, 16)
    plot("event queue, hold, by events", "queue|hold|0|*||1", \
        "2 8 64 1000 100000 1000000", "profsim/ns-3/(binary heap)", 0)
    plot("simulated: million events a second, by processors", \
        "scale|events|0|10000|zipf|*", "2 16 64 192", \
        "columns of each/shared one die/shared dies of 8", 0)
    say_threads()
}
