# page.awk -- a page of a run's rows: for each peer how much longer it takes than
# the library, as bars on a logarithmic scale, with the goal as a line.
# usage: awk -f page.awk bench.csv > bench.html

function text(s) {
    gsub(/&/, "\\&amp;", s)
    gsub(/</, "\\&lt;", s)
    return s
}

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

BEGIN {
    FS = ","
    LEFT = 330
    WIDTH = 520
    BAR = 15
    print "<!doctype html><meta charset='utf-8'><title>profsim: speed</title>"
    print "<style>body{font:14px sans-serif;max-width:64em;margin:2em auto}"
    print "text{font-family:sans-serif}td,th{padding:0 .7em;text-align:right}"
    print "td:first-child,th:first-child{text-align:left}</style>"
    print "<h1>Speed, side by side</h1><p>"
}

/^#/ {
    line = $0
    sub(/^# /, "", line)
    print text(line) "<br>"
    next
}
/^noun,/ {
    print "</p><p>Bars: the peer's time over ours in the same round, median. Right"
    print "of 1x we are faster. Red line: the goal. Rows whose rounds disagree"
    print "are not shown.</p>"
    next
}

{
    place = $2 (($3 + $4) > 0 ? " d=" $3 " n=" $4 : "") ($5 != "" ? " " $5 : "") \
        ($6 > 1 ? " T=" $6 : "")
    if (!($1 in seen)) {
        seen[$1] = 1
        nouns[++nouns_count] = $1
    }
    if ($13 == "ok" && $11 != 1) {
        k = ++bars[$1]
        name[$1, k] = place ": " $7
        ratio[$1, k] = $11
        goal[$1, k] = $15 + 0
    }
    k = ++rows[$1]
    cells[$1, k] = "<td>" text(place) "</td><td>" text($7) "</td><td>" \
        ($13 == "ok" ? sprintf("%.2f", $9) " " $8 : "noisy") "</td><td>" \
        ($13 == "ok" ? sprintf("%.2f", $11) : "") "</td><td>" $14 " " \
        ($14 != "" ? $15 : "") "</td>"
}

END {
    for (i = 1; i <= nouns_count; i++) {
        noun = nouns[i]
        height = BAR * bars[noun] + 20
        print "<h2>" noun "</h2>"
        if (bars[noun] > 0) {
            printf "<svg width='%d' height='%d'>\n", LEFT + WIDTH + 10, height
            grid(height)
            for (k = 1; k <= bars[noun]; k++) {
                y = BAR * (k - 1)
                r = ratio[noun, k]
                a = x_of(1)
                b = x_of(r)
                printf "<text x='0' y='%d' font-size='11'>%s</text>", y + 11, \
                    text(name[noun, k])
                printf "<rect x='%.1f' y='%d' width='%.1f' height='%d' fill='%s'/>", \
                    r < 1 ? b : a, y + 2, r < 1 ? a - b : b - a, BAR - 4, \
                    name[noun, k] ~ /go1/ ? "#27a" : "#8ab"
                if (goal[noun, k] > 0)
                    printf "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='red'/>", \
                        x_of(goal[noun, k]), x_of(goal[noun, k]), y, y + BAR
                print ""
            }
            print "</svg>"
        }
        print "<details><summary>numbers</summary><table><tr><th>row</th>"
        print "<th>entrant</th><th>median</th><th>ratio</th><th>goal</th></tr>"
        for (k = 1; k <= rows[noun]; k++)
            print "<tr>" cells[noun, k] "</tr>"
        print "</table></details>"
    }
}
