# compare.awk -- compares new numbers with the baseline; with a reason, prints
# the new baseline. A row is kind,name,value,reason.
# usage: see bench/gate/check

function allowed(kind, value) {
    return kind ~ /instructions/ ? value * 1.02 : value
}

BEGIN { FS = "," }

FILENAME == ARGV[1] && /^# compiler / {
    theirs = $0
    sub(/^# compiler /, "", theirs)
}
FILENAME == ARGV[1] && /^#|^kind,/ { next }
FILENAME == ARGV[1] {
    old[$1 "," $2] = $3
    why = $0
    sub(/^[^,]*,[^,]*,[^,]*,/, "", why)
    reasons[$1 "," $2] = why
    next
}

{
    key = $1 "," $2
    keys[++count] = key
    now[key] = $3
    if (!(key in old))
        added++
    else if ($1 == "instructions" && $3 == 0) {
        printf "bench-gate: nothing was counted for %s\n", key > "/dev/stderr"
        broken = 1
        exit
    } else if ($3 > allowed($1, old[key])) {
        grew[key] = 1
        worse++
    } else if (old[key] > allowed($1, $3))
        better++
}

END {
    if (broken)
        exit 1
    if (reason != "") {
        print "# made by: bench/gate/check PATHS LIBRARY REASON (see there)"
        print "# compiler " compiler
        print "kind,name,value,reason"
        for (i = 1; i <= count; i++) {
            key = keys[i]
            why = key in grew ? reason : reasons[key]
            print key "," now[key] "," why
        }
        exit 0
    }
    if (theirs != compiler) {
        printf "bench-gate: the baseline is of %s, this is %s\n", theirs, \
            compiler
        exit 1
    }
    for (i = 1; i <= count; i++) {
        key = keys[i]
        if (key in grew)
            printf "bench-gate: %s is %d, the baseline %d\n", key, now[key], \
                old[key]
        else if (!(key in old))
            printf "bench-gate: %s is not in the baseline\n", key
    }
    for (key in old)
        if (!(key in now)) {
            printf "bench-gate: %s is gone\n", key
            gone++
        }
    printf "bench-gate: %d passed, %d failed; %d are 2 %% better\n", \
        count - worse - added, worse + added + gone, better
    exit worse + added + gone > 0
}
