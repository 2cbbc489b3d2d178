# sizes.awk -- files of at most 500 lines, functions of at most 60.
#
# Rows of a table inside a function do not count. Whatever is larger is listed
# with the reason in tools/text/sizes.allow; an entry that is not needed is
# reported.
# usage: awk -f sizes.awk sizes.allow FILE...

BEGIN {
    FILE_MAX = 500
    FUNCTION_MAX = 60
}

FNR == NR {
    if ($0 !~ /^#/ && NF > 0) {
        if (NF < 3)
            complain(FILENAME ":" FNR ": an exception needs a reason")
        allowed[$1] = 1 # path or path:function
    }
    next
}

FNR == 1 {
    close_file()
    path = FILENAME
}

# Definitions begin in the first column and their braces stand alone.
/^[a-z_][a-z_0-9]*\(/ { name = $0; sub(/\(.*/, "", name) }
/^TEST\(/ { name = $0; gsub(/^TEST\(|\).*/, "", name) }
/^\{/ { start = FNR; rows = table = 0 }
/^    static const .* = \{$/ { table = FNR }
/^    \};/ && table { rows += FNR - table; table = 0 }
/^\}/ && start {
    count = FNR - start + 1 - rows
    if (count > FUNCTION_MAX)
        too_long(path ":" name, count, FUNCTION_MAX)
    start = 0
}
/(^|[^A-Za-z])(TODO|FIXME)([^A-Za-z]|$)/ {
    complain(path ":" FNR ": an unfinished thing; write an issue instead")
}
{ lines = FNR }

function close_file() {
    if (path != "" && lines > FILE_MAX)
        too_long(path, lines, FILE_MAX)
    start = 0
    files += path != ""
}

function too_long(what, size, max) {
    if (what in allowed)
        used[what] = 1
    else
        complain(what ": " size " lines, at most " max)
}

function complain(text) {
    print text
    bad++
}

END {
    close_file()
    for (what in allowed)
        if (!(what in used))
            print "note: " what " is short enough, its line can go"
    printf "sizes: %d passed, %d failed\n", !bad, bad
    exit bad > 0 || files == 0
}
