# intercept.awk -- the new names of symbols, for objcopy --redefine-syms.
#
# explored_NAME becomes NAME, and calls of NAME become calls of libc's own.
# usage: awk -f intercept.awk intercept.def
match($0, /^(INTERCEPT|HEAP|ABI)\(/) {
    name = substr($0, RLENGTH + 1)
    sub(/\).*/, "", name)
    print "explored_" name, name
    if (/^INTERCEPT/)
        print name, "real_" name
    if (/^HEAP/)
        print name, "__libc_" name
}
