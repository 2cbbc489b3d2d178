#!/bin/sh
# Print a man page: the template, with its @WORDS@ replaced by the help of the
# program and by the headers.
# usage: install/man.sh TEMPLATE PROFSIM
set -eu
template=$1
profsim=$2
cd "${0%/*}/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Plain text as roff.
text() {
    sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\&&/" -e 's/  *$//'
}

literal() {
    echo '.Bd -literal'
    text
    echo '.Ed'
}

commands() {
    "$profsim" help | sed -n 's/^  \([a-z]*\) .*/\1/p' >"$work/commands"
    while read -r command; do
        echo ".Ss profsim $command"
        # The exit codes that several commands share have a section of their
        # own.
        "$profsim" "$command" --help | sed -e '/^exit code:$/,$d' \
            -e '/^  -h, --help /d' -e 's/^usage: //' \
            -e 's/^       profsim/profsim/' >"$work/help"
        # Remove empty lines at the end, and all but one of several in a row.
        awk '!NF { gap = 1; next }
            { if (gap) print ""; gap = 0; print }' "$work/help" | literal
    done <"$work/commands"
}

exits() {
    echo '.Bl -tag -width 4n'
    "$profsim" run --help | sed '1,/^exit code:$/d' | text |
        sed 's/^ *\([0-9]*\)  *\(.*\)/.It \1\n\2/'
    echo '.El'
}

headers() {
    echo '.Bl -tag -width 4n'
    for header in prof/include/prof/*.h; do
        echo ".It In prof/${header##*/}"
        sed -n 's/^ \* prof\/.*\.h -- //; t found; b
            :found
            p; n; /^ \*$/q; /^ \*\//q; s/^ \* //; b found' "$header" |
            sed 's/\. /.\n/g' | text
        gcc -std=c11 -Iprof/include -fsyntax-only -aux-info "$work/names" \
            "$header"
        sed -n "s,^/\* $header:[^(]*[ *]\(prof_[a-z0-9_]*\) (.*,.Fn \1,p" \
            "$work/names" | sed '1s/^/.Pp\n/; $!s/$/ ,/'
    done
    echo '.El'
}

statuses() {
    echo '.Bl -tag -width 4n'
    sed -n 's/^PROF_X(\([A-Z_]*\), "\(.*\)")/.It Dv \1\n\2/p' \
        prof/include/prof/status.def
    echo '.El'
}

while IFS= read -r line; do
    case $line in
    @COMMANDS@) commands ;;
    @EXITS@) exits ;;
    @HEADERS@) headers ;;
    @STATUSES@) statuses ;;
    @EXAMPLE@) sed -e 1d -e '/embedding.md:/d' docs/example.c | literal ;;
    *@*@*) printf '%s\n' "$line" | sed "s/@VERSION@/$(install/version)/" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$template"
