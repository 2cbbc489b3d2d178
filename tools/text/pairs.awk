# pairs.awk -- each ordered access of the core names its partner.
#
#     /* Release [pair: slot]: entry first, then the way to it (I1). */
#     if (cas_release_acquire(&table->slots[index], ...
#
# Both sides of a tag exist; within 5 lines of "Release" an access has release
# in its name, likewise acquire; no ordered access goes without a comment; and
# memory_order is named in atomic.h alone.
# usage: awk -f pairs.awk FILE...   (the core, without its port)

FNR == 1 {
    settle()
    covered = 0
}

FILENAME !~ /atomic\.h$/ && /memory_order/ {
    complain(FILENAME ":" FNR ": memory_order outside atomic.h")
}

match($0, /(Release|Acquire) \[pair: [a-z-]+\]/) && FILENAME !~ /atomic\.h$/ {
    settle()
    side = tolower(substr($0, RSTART, 7))
    tag = substr($0, RSTART + 15, RLENGTH - 16)
    sides[side, tag]++
    tags[tag] = FILENAME ":" FNR
    wanted = side
    place = FILENAME ":" FNR
    covered = FNR + 5
}

FILENAME !~ /atomic\.h$/ && /[a-z]_(release|acquire)[a-z_]*\(/ &&
!/prof_port_lock_release\(/ {
    if (FNR > covered)
        complain(FILENAME ":" FNR ": an ordered access without [pair: tag]")
    if (wanted != "" && FNR <= covered &&
        $0 ~ ("_" wanted "[a-z_]*\\("))
        wanted = ""
}

function settle() {
    if (wanted != "")
        complain(place ": no access with " wanted " in its name follows")
    wanted = ""
}

function complain(text) {
    print text
    bad++
}

END {
    settle()
    for (tag in tags) {
        count++
        if (!(("release", tag) in sides))
            complain(tags[tag] ": [pair: " tag "] has no release side")
        if (!(("acquire", tag) in sides))
            complain(tags[tag] ": [pair: " tag "] has no acquire side")
    }
    printf "pairs: %d passed, %d failed\n", bad ? 0 : count, bad
    exit bad > 0 || count == 0
}
