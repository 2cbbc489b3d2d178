# report.awk -- reads reasons, lines.lcov and branches.tsv; prints a page, and
# writes the numbers of each file to the file named `csv`. Exits 1 if something is not reached and has
# no reason, if a reason is not needed, or if a figure is below its bar.
#
# Not counted: lines that say PROF_UNREACHABLE, and the false side of
# PROF_ASSERT: they end the process when the core or its caller is wrong.
#
# A reason is "FILE <tab> SIDE <tab> SOURCE LINE <tab> WHY"; SIDE is line, true
# or false, and the line stands as in the source, without its indentation.
BEGIN {
    FS = "\t"
    LINES_BAR = 99.95 # chances below 2^-64 are not reached, and have reasons
    BRANCHES_BAR = 95
}

function trim(text) {
    sub(/^[ \t]+/, "", text)
    sub(/[ \t]+$/, "", text)
    return text
}

function load(file, n, text) {
    if (file in loaded)
        return
    loaded[file] = 1
    for (n = 1; (getline text < file) > 0; n++)
        source[file, n] = trim(text)
    close(file)
}

function relative(name) {
    return index(name, here) == 1 ? substr(name, length(here) + 1) : name
}

# Count something that may be reached: a line, or a side of a condition.
function count(kind, file, line, side, hits, place, text, statement) {
    load(file)
    text = source[file, line]
    total[kind, file]++
    if (hits > 0) {
        reached[kind, file]++
        return
    }
    if ((file, side, text) in why) {
        used[file, side, text] = 1
        explained[kind, file]++
        listed[++listed_count] = "| " file ":" line " | " side " | `" text \
            "` | " why[file, side, text] " |"
        gsub(/\|\|/, "\\|\\|", listed[listed_count])
        return
    }
    open[++open_count] = file ":" line ": " side ": " text
}

FILENAME ~ /reasons$/ {
    if ($0 ~ /^#/ || $0 == "")
        next
    why[$1, $2, $3] = $4
    reasons[++reasons_count] = $1 SUBSEP $2 SUBSEP $3
    next
}

FILENAME ~ /lcov$/ {
    if (sub(/^SF:/, ""))
        file = relative($0)
    else if (sub(/^DA:/, "")) {
        split($0, part, ",")
        if (!((file, part[1]) in line_hits)) {
            line_hits[file, part[1]] = 0
            line_file[++lines_count] = file
            line_number[lines_count] = part[1]
        }
        line_hits[file, part[1]] += part[2]
    }
    next
}

{
    name = relative($1) SUBSEP $2 SUBSEP $3
    if (!(name in true_hits)) {
        conditions[++conditions_count] = name
        true_hits[name] = false_hits[name] = 0
    }
    true_hits[name] += $4
    false_hits[name] += $5
}

# Is the line PROF_UNREACHABLE, or a case that leads there?
function is_unreachable(file, line, i) {
    if (source[file, line] ~ /PROF_UNREACHABLE/)
        return 1
    if (source[file, line] !~ /^(case .*:|break;)$/)
        return 0
    for (i = line + 1; i <= line + 3; i++) {
        if (source[file, i] ~ /PROF_UNREACHABLE/)
            return 1
        if (source[file, i] !~ /^(break;|})$/)
            return 0
    }
    return 0
}

# Insert a file into the list, which is sorted by name.
function insert(name, at) {
    for (at = ++files_count; at > 1 && files[at - 1] > name; at--)
        files[at] = files[at - 1]
    files[at] = name
}

function percent(part, whole) {
    return whole == 0 ? "-" : sprintf("%.1f", int(1000 * part / whole) / 10)
}

END {
    for (i = 1; i <= lines_count; i++) {
        load(line_file[i])
        text = source[line_file[i], line_number[i]]
        if (line_file[i] ~ /check\.h$/ || text ~ /^#/ ||
            is_unreachable(line_file[i], line_number[i]))
            continue
        # clang 14 reports no counts for a line or two behind an assertion.
        if (text ~ /PROF_ASSERT/ && line_hits[line_file[i], line_number[i]] > 0)
            asserted[line_file[i]] = line_number[i]
        if (line_number[i] - asserted[line_file[i]] <= 3 &&
            asserted[line_file[i]] > 0)
            line_hits[line_file[i], line_number[i]] = 1
        count("lines", line_file[i], line_number[i], "line",
            line_hits[line_file[i], line_number[i]])
    }
    for (i = 1; i <= conditions_count; i++) {
        split(conditions[i], part, SUBSEP)
        load(part[1])
        # All cases are listed (-Wswitch-enum), so a switch has no default path.
        if (source[part[1], part[2]] ~ /^switch \(/ ||
            is_unreachable(part[1], part[2]))
            continue
        count("branches", part[1], part[2], "true", true_hits[conditions[i]])
        if (source[part[1], part[2]] ~ /PROF_ASSERT/)
            continue
        count("branches", part[1], part[2], "false",
            false_hits[conditions[i]])
    }

    print "file,lines,lines_reached,branches,branches_reached" > csv
    print "# What of the core the tests reach\n"
    print "Made by `make coverage`. A branch is a side of a condition, as the"
    print "source has it; lines of `PROF_UNREACHABLE` and the failing side of"
    print "`PROF_ASSERT` are not counted.\n"
    body = "| file | lines | reached | % | branches | reached | % |\n"
    body = body "|---|--:|--:|--:|--:|--:|--:|\n"
    for (i = 1; i <= lines_count; i++) {
        if (!(line_file[i] in told))
            insert(line_file[i])
        told[line_file[i]] = 1
    }
    for (i = 1; i <= files_count; i++) {
        file = files[i]
        split("lines branches", kinds, " ")
        row = "| `" file "` |"
        record = file
        for (k = 1; k <= 2; k++) {
            t = total[kinds[k], file] + 0
            r = reached[kinds[k], file] + 0
            all[kinds[k]] += t
            got[kinds[k]] += r
            row = row " " t " | " r " | " percent(r, t) " |"
            record = record "," t "," r
        }
        body = body row "\n"
        print record > csv
    }
    lines = percent(got["lines"], all["lines"])
    branches = percent(got["branches"], all["branches"])
    printf "All: %d of %d lines (%s %%), %d of %d branches (%s %%), %d without a reason.\n\n", \
        got["lines"], all["lines"], lines, got["branches"], all["branches"], \
        branches, open_count
    print body
    print "## Not reached, and why\n"
    print "| place | side | source | why |"
    print "|---|---|---|---|"
    for (i = 1; i <= listed_count; i++)
        print listed[i]
    for (i = 1; i <= reasons_count; i++) {
        split(reasons[i], part, SUBSEP)
        if (!(reasons[i] in used))
            open[++open_count] = part[1] ": " part[2] ": " part[3] \
                " has a reason and is reached, or is gone"
    }
    if (open_count > 0) {
        print "\nNot reached, and no reason:\n"
        for (i = 1; i <= open_count; i++)
            print "    " open[i]
    }
    exit open_count > 0 ||
        100 * got["lines"] < LINES_BAR * all["lines"] ||
        100 * got["branches"] < BRANCHES_BAR * all["branches"] ||
        all["lines"] == 0 || all["branches"] == 0
}
