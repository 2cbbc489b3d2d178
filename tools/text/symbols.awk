# symbols.awk -- symbols that the library needs from outside are listed in
# prof/symbols.allow, and those that it exports begin with prof_. But for the signal
# handler's it has no variables of its own, which two calls at once would share.
# usage: nm libprof.a | awk -f symbols.awk prof/symbols.allow -

FNR == NR {
    if ($0 !~ /^#/) {
        allowed[$1, $2] = 1
        own[$1] = 1 # an object with a list of its own
    }
    next
}

/\.o:$/ {
    object = substr($1, 1, length($1) - 1)
    objects++
}

$1 == "U" {
    needed[object in own ? object : "core", $2] = object
}

NF == 3 && $2 ~ /[bBC]/ && object != "process.o" {
    complain(object ": " $3 " is a variable that all calls share")
}

NF == 3 && $2 ~ /[A-Z]/ {
    defined[$3] = 1
    if ($3 !~ /^prof_/)
        complain(object ": " $3 " shows, but has no prefix")
}

function complain(text) {
    print text
    bad++
}

END {
    for (pair in needed) {
        split(pair, part, SUBSEP)
        if (!(part[2] in defined) && !(pair in allowed))
            complain(needed[pair] ": needs " part[2] \
                     ", which prof/symbols.allow does not list")
    }
    printf "symbols: %d passed, %d failed\n", !bad, bad
    exit bad > 0 || objects == 0
}
