# report.awk -- makes a page, a table and a score of the results of mutate_run.
#
# in:  reports/memory-order.csv; props/mutants/lines/equivalent.txt; the numbers that
#      same.sh found; mutants.tsv of generate.c; results (see main.c);
#      variables md, csv (files to write), sample ("" or what was tried), bar
#      (per cent), higher (how many were tried of those that change more than an
#      operator, which are reported apart)
# out: the score; a line for each explanation that is wrong, and exit 1 for
#      those or a score below the bar

BEGIN {
    FS = "\t"
    print "name,kind,verdict,by,runs" > csv
    higher_text["pair"] = "two operators of one function"
    higher_text["moved"] = "a statement across a lock, or what others see"
    higher_text["late"] = "a way out, one statement late"
    higher_text["again"] = "a value loaded once more"
    higher_text["cut"] = "64 bits cut to 32"
    higher_text["limit"] = "another limit"
}

function fail(text) {
    print "mutants: " text > "/dev/stderr"
    bad = 1
}

function quoted(text) {
    gsub(/"/, "\"\"", text)
    return "\"" text "\""
}

# A reason has one or more lines; the mutants it explains follow, indented.
FILENAME ~ /equivalent\.txt$/ {
    if ($0 ~ /^#/ || $0 ~ /^$/) {
        unfinished = 0
        next
    }
    if ($0 !~ /^ /) {
        reason = unfinished ? reason " " $0 : $0
        unfinished = 1
        next
    }
    unfinished = 0
    sub(/^ +/, "")
    if ($0 in reason_of)
        fail("explained twice: " $0)
    if ($0 ~ /\*$/)
        family[substr($0, 1, length($0) - 1)] = reason
    else
        reason_of[$0] = reason
    next
}
FILENAME ~ /memory-order\.csv$/ {
    if ($0 ~ /^"prof\//) {
        orders++
        orders_noticed += $0 !~ /,SURVIVES,/
    }
    next
}
FILENAME ~ /same\.txt$/ { same[$1] = 1; next }
FILENAME ~ /mutants\.tsv$/ {
    name = $3 " " $4 ": " $7 " -> " $8 ($9 > 1 ? " #" $9 : "")
    exists[name] = 1
    for (f in family)
        if (substr(name, 1, length(f)) == f) {
            reason_of[name] = family[f]
            used[f] = 1
        }
    next
}

function who(by, property) {
    if (property != "")
        return property
    if (by ~ /^explore /)
        return "explorer"
    if (by ~ /^heaps|^traces/)
        return "worlds"
    sub(/ .*/, "", by)
    return by
}

{
    file = $2
    kind = $5
    name = $6
    verdict = $7
    # An explained mutant that hangs: its judge was only slow.
    caught = verdict ~ /failed|crashed/ ||
        verdict == "hangs" && !(name in reason_of)
    if (!caught && kind != "pair" && $1 in same)
        verdict = "same object code"
    else if (!caught && name in reason_of)
        verdict = "equivalent"
    if (caught && name in reason_of)
        fail("explained, but caught (" verdict " by " $8 "): " name)
    if (kind in higher_text) {
        higher_total[kind]++
        if (caught)
            higher_hits[kind]++
        else if (verdict == "same object code" || verdict == "equivalent")
            higher_equal[kind]++
        else
            higher_open[++higher_open_count] = name " (" kind ", " verdict ")"
        next
    }
    files[file] = 1
    kinds[kind] = 1
    total[file]++; of_kind[kind]++; all++
    if (caught) {
        hits[file]++; hit_kind[kind]++; hit_all++
        w = who($8, $9)
        catcher[w]++
        cell[file, w]++
        if ($10 > 0)
            runs[w, ++runs_count[w]] = $10
        how[verdict]++
    } else if (verdict == "same object code" || verdict == "equivalent") {
        equal[file]++; equal_kind[kind]++; equal_all++
        if (verdict == "equivalent")
            listed[++listed_count] = name
        else
            same_count++
    } else {
        open_names[++open_count] = name " (" verdict ")"
        if (sample != "")
            print "survives: " name
    }
    print quoted(name) "," kind "," verdict "," \
        quoted($9 != "" ? $9 : $8) "," ($10 > 0 ? $10 : "") > csv
}

function percent(caught, total, equal) {
    return total - equal == 0 ? "-" : \
        sprintf("%.1f", int(1000 * caught / (total - equal)) / 10)
}

function sorted(set, list,    n, x, i) {
    n = 0
    for (x in set) {
        for (i = n; i > 0 && list[i] > x; i--)
            list[i + 1] = list[i]
        list[i + 1] = x
        n++
    }
    return n
}

function median(w,    n, i, k, x) {
    n = runs_count[w]
    if (n == 0)
        return ""
    for (i = 2; i <= n; i++) {
        x = runs[w, i]
        for (k = i - 1; k > 0 && runs[w, k] + 0 > x + 0; k--)
            runs[w, k + 1] = runs[w, k]
        runs[w, k + 1] = x
    }
    return runs[w, int((n + 1) / 2)]
}

function higher_page(    i, n, list, all, hits, equal) {
    print "\n## More than an operator\n" > md
    print "Sampled: " higher ". Two of one function at a time, or" > md
    print "what props/mutants/lines/higher.c makes; not in the score above.\n" > md
    print "| change | mutants | caught | no mistake | survive | score |" > md
    print "|---|---|---|---|---|---|" > md
    n = sorted(higher_text, list)
    for (i = 1; i <= n; i++) {
        all += higher_total[list[i]]
        hits += higher_hits[list[i]]
        equal += higher_equal[list[i]]
        print "| " list[i] ": " higher_text[list[i]] " | " \
            higher_total[list[i]] + 0 " | " higher_hits[list[i]] + 0 " | " \
            higher_equal[list[i]] + 0 " | " higher_total[list[i]] - \
            higher_hits[list[i]] - higher_equal[list[i]] " | " \
            percent(higher_hits[list[i]], higher_total[list[i]], \
            higher_equal[list[i]]) " |" > md
    }
    print "\n" hits + 0 " of " all + 0 " caught, " equal + 0 \
        " are no mistake: " percent(hits, all, equal) " %. What is left:\n" > md
    for (i = 1; i <= higher_open_count; i++)
        print "    " higher_open[i] > md
    print "more than an operator: " hits + 0 " of " all + 0 " caught, " \
        equal + 0 " are no mistake: " percent(hits, all, equal) " % (" higher ")"
}

function page(    i, n, k, list, w) {
    print "<!-- made by: make mutants" (sample == "" ? " FULL=1" : \
        "; tried: " sample) " -->" > md
    print "# Mutants of every line\n" > md
    print "Each operator, constant, condition, status and statement of prof/ is" > md
    print "changed, one at a time (props/mutants/lines/). Judges run from the cheapest" > md
    print "on, and the first that notices is counted: a property of random" > md
    print "worlds, a test, or a kernel of the explorer. What survives is listed" > md
    print "below. The table beside this page has a row a mutant; mistakes made" > md
    print "by hand are in mutants.md, weaker memory orders in memory-order.md.\n" > md
    print score "\n" > md
    print "Of " orders " weaker memory orders in prof/ " orders_noticed \
        " are noticed; memory-order.md says why the\nothers are not.\n" > md
    print "| file | mutants | caught | no mistake | survive | score |" > md
    print "|---|---|---|---|---|---|" > md
    n = sorted(files, list)
    for (i = 1; i <= n; i++)
        print "| " list[i] " | " total[list[i]] " | " hits[list[i]] + 0 " | " \
            equal[list[i]] + 0 " | " total[list[i]] - hits[list[i]] - \
            equal[list[i]] " | " percent(hits[list[i]], total[list[i]], \
            equal[list[i]]) " |" > md
    print "\n| change | mutants | caught | no mistake | score |" > md
    print "|---|---|---|---|---|" > md
    n = sorted(kinds, list)
    for (i = 1; i <= n; i++)
        print "| " list[i] " | " of_kind[list[i]] " | " hit_kind[list[i]] + 0 \
            " | " equal_kind[list[i]] + 0 " | " percent(hit_kind[list[i]], \
            of_kind[list[i]], equal_kind[list[i]]) " |" > md
    if (higher != "")
        higher_page()
    print "\n## Who catches, and how soon\n" > md
    print "Runs are worlds until the first that broke the property, the median" > md
    print "of the mutants that it caught first.\n" > md
    print "| first to notice | mutants | runs |\n|---|---|---|" > md
    n = sorted(catcher, list)
    for (i = 1; i <= n; i++)
        print "| " list[i] " | " catcher[list[i]] " | " median(list[i]) " |" > md
    print "\n" how["failed"] + 0 " were noticed by a check, " \
        how["crashed"] + 0 " crashed, " how["hangs"] + 0 " hung." > md
    print "\n## File by first to notice\n" > md
    for (i = 1; i <= sorted(files, list); i++) {
        w = ""
        k = sorted(catcher, names_list)
        for (k0 = 1; k0 <= k; k0++)
            if (cell[list[i], names_list[k0]] > 0)
                w = w " " names_list[k0] " " cell[list[i], names_list[k0]] ","
        print "- " list[i] ":" w > md
    }
    print "\n## No mistake\n" > md
    print same_count + 0 " have the object code of the original." > md
    for (i = 1; i <= listed_count; i++) {
        if (reason_of[listed[i]] != last)
            print "\n" reason_of[listed[i]] "\n" > md
        last = reason_of[listed[i]]
        print "    " listed[i] > md
    }
    print "\n## What survives\n" > md
    for (i = 1; i <= open_count; i++)
        print "    " open_names[i] > md
}

END {
    for (f in family)
        if (!(f in used))
            fail("explained, but there is no such mutant: " f "*")
    for (name in reason_of)
        if (!(name in exists))
            fail("explained, but there is no such mutant: " name)
    score = sprintf("%d of %d mutants caught, %d are no mistake: %s %%%s", \
        hit_all, all, equal_all, percent(hit_all, all, equal_all), \
        sample == "" ? "" : " (" sample ")")
    print score
    page()
    if (percent(hit_all, all, equal_all) + 0 < bar + 0)
        fail("the score is below " bar " %")
    exit bad
}
