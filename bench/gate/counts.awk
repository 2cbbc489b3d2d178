# counts.awk -- sums the instructions of the library's functions in callgrind
# dumps: those of the program's own object file, minus the driver's.
# Instructions inside memcmp and other functions of the C library are left out,
# because they depend on the processor.
# usage: awk -f counts.awk DRIVER.c DUMP...   in the order they were made;
# prints: name<TAB>instructions
#
# The format: "fl=(id) name" is the source file of the function that begins,
# "ob=" its object file. Only the first mention of an id, which may be a
# callee's ("cob="), has the name. A line of costs begins with a position; the
# line after "calls=" is the callee's cost.

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
