# page.awk -- a page of a run's rows: which goals are missed, what a lookup costs
# against the number of buckets, frames and threads, and for each row how much
# longer a peer takes than the library.
# usage: awk -f page.awk -f plot.awk bench.csv > bench.html

function text(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    return s
}

# ---------------------------------------------------------------------- bars

function x_of(ratio) {
    ratio = ratio < 0.25 ? 0.25 : ratio > 64 ? 64 : ratio
    return LEFT + WIDTH * log(ratio / 0.25) / log(256)
}

function grid(height,    i) {
    for (i = 0.25; i <= 64; i *= 2) {
        printf "<line x1='%.1f' x2='%.1f' y1='0' y2='%d' stroke='%s'/>", \
            x_of(i), x_of(i), height, i == 1 ? "#888" : "#ddd"
        printf "<text x='%.1f' y='%d' font-size='10'>%sx</text>\n", \
            x_of(i) + 2, height - 2, i
    }
}

function bar(noun, k,    y, r, a, b) {
    y = BAR * (k - 1)
    r = ratio[noun, k]
    a = x_of(1)
    b = x_of(r)
    printf "<text x='0' y='%d' font-size='11'>%s</text>", y + 11, \
        text(name[noun, k])
    printf "<rect x='%.1f' y='%d' width='%.1f' height='%d' fill='%s'/>", \
        r < 1 ? b : a, y + 2, r < 1 ? a - b : b - a, BAR - 4, \
        colour_of(peer[noun, k])
    if (goal[noun, k] > 0)
        printf "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='red'/>", \
            x_of(goal[noun, k]), x_of(goal[noun, k]), y, y + BAR
    print ""
}

# ------------------------------------------------------------------- reading

BEGIN {
    FS = ","
    LEFT = 330
    WIDTH = 520
    BAR = 15
    print "<!doctype html><meta charset='utf-8'><title>profsim: speed</title>"
    print "<style>body{font:14px sans-serif;max-width:64em;margin:2em auto}"
    print "text{font-family:sans-serif}td,th{padding:0 .7em;text-align:right}"
    print "td:first-child,th:first-child{text-align:left}"
    print "svg{margin:0 1em 1em 0}</style>"
    print "<h1>Speed, side by side</h1><p>"
}

/^#/ {
    line = $0
    sub(/^# /, "", line)
    if (line ~ /^caches/)
        read_caches(line)
    print text(line) "<br>"
    next
}
/^noun,/ { next }

{
    place = $2 (($3 + $4) > 0 ? " d=" $3 " n=" $4 : "") ($5 != "" ? " " $5 : "") \
        ($6 > 1 ? " T=" $6 : "")
    row = $1 ": " place
    if (!($1 in seen)) {
        seen[$1] = 1
        nouns[++nouns_count] = $1
    }
    numbers++
    is_ours = !(row in ours) # the first of a row
    if (is_ours) {
        ours[row] = $9
        unit[row] = $8
    }
    if ($13 == "ok") {
        measured[$1, $2, $3, $4, $5, $6, $7] = $9
        two_threads += $6 == 2 && ($1 == "table" || $1 == "heap")
        if ($7 ~ /^\(/)
            floors[row] = floors[row] sprintf("%s %.3g; ", $7, $9)
    } else
        noisy++
    if ($14 == "met")
        met++
    if ($14 == "missed") {
        k = ++missed
        missed_row[k] = row
        missed_peer[k] = is_ours ? "" : $7
        missed_got[k] = is_ours ? $9 " " $8 : sprintf("%.2f", $11)
        missed_goal[k] = $15
    }
    if ($13 == "ok" && !is_ours) {
        k = ++bars[$1]
        name[$1, k] = place ": " $7
        peer[$1, k] = $7
        ratio[$1, k] = $11
        goal[$1, k] = $15 + 0
    }
    k = ++rows[$1]
    cells[$1, k] = "<td>" text(place) "</td><td>" text($7) "</td><td>" \
        ($13 == "ok" ? sprintf("%.2f", $9) " " $8 : "noisy") "</td><td>" \
        ($13 == "ok" ? sprintf("%.2f", $11) : "") "</td><td>" $14 " " \
        ($14 != "" ? $15 : "") "</td>"
}

# ------------------------------------------------------------------- writing

function say_goals(    k) {
    printf "</p><h2>Goals</h2><p>%d met, %d missed; %d of %d numbers were too ", \
        met, missed, noisy, numbers
    print "noisy to report. Goals are ratios that were measured on another"
    print "machine; <code>docs/speed.md</code> says for each that is missed why"
    print "this one does not allow it. A floor, in parentheses, does the least"
    print "that the machine asks for.</p>"
    if (missed == 0)
        return
    print "<table><tr><th>missed</th><th>against</th><th>reached</th>"
    print "<th>goal</th><th>ours</th><th>floors</th></tr>"
    for (k = 1; k <= missed; k++) {
        row = missed_row[k]
        printf "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td>", text(row), \
            text(missed_peer[k]), missed_got[k], missed_goal[k]
        printf "<td>%.3g %s</td><td>%s</td></tr>\n", ours[row], unit[row], \
            text(floors[row])
    }
    print "</table>"
}

function say_noun(noun,    k, height) {
    height = BAR * bars[noun] + 20
    print "<h3>" noun "</h3>"
    if (bars[noun] > 0) {
        printf "<svg width='%d' height='%d'>\n", LEFT + WIDTH + 10, height
        grid(height)
        for (k = 1; k <= bars[noun]; k++)
            bar(noun, k)
        print "</svg>"
    }
    print "<details><summary>numbers</summary><table><tr><th>row</th>"
    print "<th>entrant</th><th>median</th><th>ratio</th><th>goal</th></tr>"
    for (k = 1; k <= rows[noun]; k++)
        print "<tr>" cells[noun, k] "</tr>"
    print "</table></details>"
}

END {
    say_goals()
    say_plots()
    print "<h2>Row by row</h2><p>Bars: the peer's time over ours in the same"
    print "round, median. Right of 1x we are faster. Red line: the goal. Rows"
    print "whose rounds disagree are not shown.</p>"
    for (i = 1; i <= nouns_count; i++)
        say_noun(nouns[i])
}
