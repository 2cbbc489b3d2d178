# mutants.awk -- rows of mutants.sh to a matrix and a score.
#
# in:  rows, one fact a line; variables csv and md, files to write
# out: the csv, the md, the matrix and the score on standard output, a line for
#      each mutant that is not caught as its header demands; then exit 1

function fail(text) {
    print "mutants: " name ": " text > "/dev/stderr"
    bad = 1
}

# Does the row show that `word` of its header has caught the mutant?
function is_caught(word) {
    if (word == "crash")
        return first_what == "crash"
    if (word ~ /^(test_|run:)/)
        return word in tests
    if (word ~ /^mark:/)
        return substr(word, 6) in missed
    if (word ~ /^kernel:/)
        return substr(word, 8) in kernels
    return word in alone
}

function judge(    i, n, words, ok) {
    n = split(demand, words, " ")
    if (demand == "nobody") {
        if (first_what != "" || unfinished != "")
            fail("was to hold, but " (first_what first_seed == "" ? "did " \
                "not finish" : "breaks " first_what " at seed " first_seed))
        return "holds"
    }
    ok = 1
    for (i = 1; i <= n; i++)
        if (!is_caught(words[i]))
            ok = 0
    if (survives != "") {
        if (ok)
            fail("is caught now; take `survives` out of its header")
        return "survives"
    }
    if (!ok) {
        if (unfinished != "")
            fail("did not finish (" unfinished ")")
        else
            fail("survives: wanted " demand ", found" all_found())
        return "SURVIVES"
    }
    return "caught"
}

function all_found(    text, i) {
    text = first_what == "" ? "" : " " first_what
    for (i = 1; i <= alone_count; i++)
        text = text " " alone_ids[i] ":" alone[alone_ids[i]]
    return text == "" ? " nothing" : text
}

# Runs until the demanded property was broken, asked for alone; the latest of
# several. Of a mutant that a test or a mark catches: none.
function detection(    i, n, words, latest) {
    n = split(demand, words, " ")
    latest = ""
    for (i = 1; i <= n; i++) {
        if (words[i] in alone && alone[words[i]] + 0 > latest + 0)
            latest = alone[words[i]]
        if (substr(words[i], 8) in kernels &&
            kernels[substr(words[i], 8)] + 0 > latest + 0)
            latest = kernels[substr(words[i], 8)]
    }
    if (latest == "" && first_what == "crash")
        latest = first_seed
    return latest
}

function by_whom(    i, n, words, text) {
    n = split(demand, words, " ")
    text = ""
    for (i = 1; i <= n; i++)
        text = text (i > 1 ? ", " : "") \
            (words[i] in tests ? words[i] ": " tests[words[i]] : words[i]) \
            (substr(words[i], 8) in how ? " (" how[substr(words[i], 8)] ")" \
            : "")
    return text
}

# The real bugs that a mutant makes again.
function note_issues(verdict,    i, n, words) {
    n = split(issue, words, " ")
    for (i = 1; i <= n; i++) {
        if (!(words[i] in made_by))
            issues[++issues_count] = words[i]
        made_by[words[i]] = made_by[words[i]] \
            (made_by[words[i]] == "" ? "" : "; ") name " (" \
            (verdict == "caught" ? by_whom() : verdict) ")"
    }
}

# By project, then by number.
function sort_issues(    i, j, t) {
    for (i = 2; i <= issues_count; i++) {
        t = issues[i]
        for (j = i - 1; j > 0 && after(issues[j], t); j--)
            issues[j + 1] = issues[j]
        issues[j + 1] = t
    }
}

function after(a, b,    x, y) {
    split(a, x, "#")
    split(b, y, "#")
    return x[1] != y[1] ? x[1] > y[1] : x[2] + 0 > y[2] + 0
}

function finish_row(    verdict, i, runs) {
    if (name == "")
        return
    verdict = judge()
    count[verdict]++
    runs = verdict == "caught" ? detection() : ""
    if (runs != "")
        times[++times_count] = runs + 0
    note_issues(verdict)
    printf "%s,%s,\"%s\",%s,%s,%s", name, verdict, by_whom(), runs,
        first_what, events > csv
    for (i = 1; i <= columns_count; i++)
        printf ",%s", alone[columns[i]] > csv
    printf ",%s,\"%s\"\n", issue, title > csv
    lines[++lines_count] = sprintf("| %s | %s | %s | %s | %s | %s |", name,
        verdict == "caught" ? by_whom() : "**" verdict "**", runs,
        first_what, events, title (issue == "" ? "" : " (" issue ")") \
        (survives == "" ? "" : "; survives: " survives))
    shown[lines_count] = sprintf("%-35s %s", name, \
        verdict == "caught" ? by_whom() : verdict)
    for (i = 1; i <= alone_count; i++)
        shown[lines_count] = shown[lines_count] (i == 1 ? "; " : " ") \
            alone_ids[i] ":" alone[alone_ids[i]]
    matrix_line = "| " name
    for (i = 1; i <= columns_count; i++)
        matrix_line = matrix_line " | " alone[columns[i]]
    matrix[lines_count] = matrix_line " |"
    for (i = 1; i <= columns_count; i++)
        if (alone[columns[i]] != "")
            kills[columns[i]]++
}

function start_row() {
    finish_row()
    split("", alone)
    split("", tests)
    split("", missed)
    split("", kernels)
    split("", how)
    split("", alone_ids)
    alone_count = 0
    name = title = issue = demand = survives = unfinished = ""
    first_seed = first_what = events = ""
}

function rest() {
    return substr($0, length($1) + 2)
}

BEGIN {
    while ((getline line < "props/property.def") > 0)
        if (line ~ /^X\([BCDHLT]/) { # as mutant_trial.c
            split(substr(line, 3), part, ",")
            columns[++columns_count] = part[1]
        }
    printf "mutant,verdict,caught by,runs,named by,events" > csv
    for (i = 1; i <= columns_count; i++)
        printf ",%s", columns[i] > csv
    print ",issue,title" > csv
}

$1 == "name" { start_row(); name = $2 }
$1 == "title" { title = rest() }
$1 == "issue" { issue = rest() }
$1 == "caught-by" { demand = rest() }
$1 == "survives" { survives = rest() }
$1 == "first" { first_seed = $2; first_what = $3; events = $4 }
$1 == "alone" { alone[$2] = $3; alone_ids[++alone_count] = $2 }
$1 == "missed" { missed[$2] = 1 }
$1 == "test" { tests[$2] = $3 ($4 == "" ? "" : " " $4) }
$1 == "kernel" {
    kernels[$2] = $3
    how[$2] = $4
    for (i = 5; i <= NF; i++)
        how[$2] = how[$2] " " $i
}
$1 == "unfinished" { unfinished = "exit " $2 }

function median(    i, j, t) {
    for (i = 2; i <= times_count; i++) {
        t = times[i]
        for (j = i - 1; j > 0 && times[j] > t; j--)
            times[j + 1] = times[j]
        times[j + 1] = t
    }
    return times_count == 0 ? 0 : times[int((times_count + 1) / 2)]
}

function say(text) {
    print text > md
}

END {
    finish_row()
    all = count["caught"] + count["survives"] + count["SURVIVES"]
    score = sprintf("%d of %d mutants caught (%.1f %%)", count["caught"], all,
        all == 0 ? 0 : 100 * count["caught"] / all)
    say("<!-- made by: make mutants -->")
    say("# Mutants\n")
    say("Each is one mistake in the library or in the harness, a patch in")
    say("fixtures/mutants/, and must be caught by what its header names: a")
    say("property, when no other is asked for; a mark that a campaign then")
    say("misses; a test; or a kernel that the explorer runs. The seeds of a")
    say("campaign are 1, 2, 3, ..., so the numbers are runs to detection; those")
    say("of a kernel are orderings tried. `holds` is a change that is not wrong.\n")
    say(score "; " count["holds"] + 0 " hold.")
    middle = median() # sorts
    say("Median runs to detection: " middle ", most: " \
        times[times_count] + 0 ".\n")
    say("| mutant | caught by | runs | named by | events, shrunk | what is wrong |")
    say("|---|---|---|---|---|---|")
    for (i = 1; i <= lines_count; i++)
        say(lines[i])
    sort_issues()
    say("\n## Real bugs\n")
    say(issues_count " reports of bugs that Go and others had, and what makes")
    say("the same mistake here.\n")
    say("| bug | mutant (caught by) |")
    say("|---|---|")
    for (i = 1; i <= issues_count; i++)
        say("| " issues[i] " | " made_by[issues[i]] " |")
    say("\n## Mutant and property\n")
    say("The first seed at which a property, asked for alone, is broken. Those")
    say("that a header names had all its runs, the others a twentieth.\n")
    head = "| mutant"
    rule = "|---"
    sums = "| mutants it catches"
    for (i = 1; i <= columns_count; i++) {
        head = head " | " columns[i]
        rule = rule "|---"
        sums = sums " | " kills[columns[i]] + 0
    }
    say(head " |")
    say(rule "|")
    for (i = 1; i <= lines_count; i++)
        if (matrix[i] ~ /[0-9] \|/)
            say(matrix[i])
    say(sums " |")
    print "mutant, who was to catch it; property:runs, each asked for alone"
    for (i = 1; i <= lines_count; i++)
        print shown[i]
    print score "; median runs to detection " middle "; " issues_count + 0 " real bugs"
    exit bad
}
