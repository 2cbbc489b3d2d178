# counts.awk -- instructions of callgrind dumps that the library's functions
# took: those of the program's own object file, less the driver's. What the C
# library does inside memcmp and the like depends on the processor, so it does
# not count.
# usage: awk -f counts.awk DRIVER.c DUMP...   in the order they were made;
# prints: name<TAB>instructions
#
# The format: "fl=(id) name" is the file of the function that begins, "ob=" its
# object; the first mention of an id, also that of a callee ("cob="), has the
# name. A line of costs begins with a position; the one after "calls=" is the
# callee's.

function named(text,    id) {
    id = text
    sub(/\).*/, ")", id)
    if (text ~ /\) /) {
        sub(/^\([0-9]+\) /, "", text)
        names[id] = text
    }
    return names[id]
}

BEGIN {
    driver = ARGV[1]
    ARGV[1] = ""
    sub(/.*\//, "", driver)
}

FNR == 1 { total = 0 }
/^desc: Trigger: Client Request: / {
    name = $0
    sub(/.*Client Request: /, "", name)
}
/^ob=/ { object = named(substr($0, 4)) }
/^cob=/ { named(substr($0, 5)) }
/^fl=/ { sub(/^fl=/, ""); own = file_of($0) }
/^(fi|fe)=/ { file_of(substr($0, 4)) }
/^cfi=|^cfl=/ { file_of(substr($0, 5)) }
/^calls=/ { skip = 1; next }
/^[0-9+*-]/ {
    if (skip)
        skip = 0
    else if (object ~ /paths$/ && own !~ driver)
        total += $2
}
/^totals: / { if (name != "") printf "%s\t%d\n", name, total; name = "" }

function file_of(text,    id) {
    id = text
    sub(/\).*/, ")", id)
    if (text ~ /\) /) {
        sub(/^\([0-9]+\) /, "", text)
        files[id] = text
    }
    return files[id]
}
