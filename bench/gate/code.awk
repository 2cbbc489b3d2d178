# code.awk -- counts, in the object code of the hot functions: bytes, calls
# (including jumps to other functions), divisions, and locked instructions
# (including exchanges with memory, which are locked without a prefix).
# usage: objdump -d --no-show-raw-insn LIBRARY | awk -v functions="..." -f code.awk

BEGIN {
    split(functions, list, /[ \n]+/)
    for (i in list)
        wanted[list[i]] = 1
}

/^[0-9a-f]+ <.*>:$/ {
    name = $2
    gsub(/[<>:]/, "", name)
    base = name
    sub(/\..*/, "", base) # clones of a compiler: name.part.0, name.cold
    counting = base in wanted
    if (counting) {
        name = base
        seen[name] = 1
    }
    next
}

/^$/ { counting = 0 }

counting && /^ *[0-9a-f]+:/ {
    address = $1
    sub(/:/, "", address)
    last[name]++
    operation = $2
    if (operation == "lock" || (operation ~ /^xchg/ && /\(/))
        locks[name]++
    if (operation ~ /^i?div/)
        divisions[name]++
    if (operation ~ /^call/ ||
        (operation ~ /^j/ && match($0, /<[^>+]+/) &&
         substr($0, RSTART + 1, RLENGTH - 1) !~ "^" name))
        calls[name]++
}

END {
    for (i = 1; i in list; i++) {
        name = list[i]
        if (name == "")
            continue
        if (!(name in seen)) {
            print "bench-gate: there is no function " name > "/dev/stderr"
            exit 1
        }
        printf "code-instructions,%s,%d\n", name, last[name]
        printf "calls,%s,%d\n", name, calls[name]
        printf "divisions,%s,%d\n", name, divisions[name]
        printf "locked,%s,%d\n", name, locks[name]
    }
}
