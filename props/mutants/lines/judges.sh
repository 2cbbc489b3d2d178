# judges.sh -- the judges of a room's mutants: the build's own tests, linked with
# the mutants. To be included; $from is the build's folder, $to the mutants'.

# Print a line for each run of a test program: the program and its arguments.
judge_test() { # TEST
    ninja -t commands -s "$from/props/$1.ok" |
        sed -n "s,.*$from/props/$1 *\(.*\) > $from/props/$1.*,\1,p" |
        while read -r arguments; do
            echo "$to/props/$1" $arguments
        done
}

# OK SED: write a script that runs the command that makes OK, changed by SED,
# and print its name.
judge_script() { # OK SED
    judge=$(basename "${1%.ok}")
    judge=$to/commands/${judge#test_} # programs named test_ have cmocka's tests
    printf '#!/bin/sh\nexec %s\n' "$(ninja -t commands -s "$1" |
        sed -n "s,^{ *timeout [0-9]* \(.*\) > ${1%.ok}.*,\1,p" |
        sed "$2")" >"$judge"
    chmod +x "$judge"
    echo "$judge"
}

# SCRIPT...: print what these scripts need, apart from a run of them.
inputs_of() { # SCRIPT...
    ninja -t query $(printf '%s.ok ' "$@") |
        sed -n '/^  input/,/^  outputs/s/^    [| ]*//p' | sort -u
}

# TEST...: print those that `make check` or `make long` runs with sanitizers.
sanitized_of() { # TEST...
    ninja -t commands out/asan/check out/asan/check.rest |
        sed -n 's,.* > out/asan/props/\([^ ]*\)\.ok\.tmp 2.*,\1,p' | sort -u |
        grep -x -F "$(printf '%s\n' "$@")"
}

# Write a script that runs a test with sanitizers, which reserve much address space
# and say themselves when memory is out. Print its name.
judge_sanitized() { # TEST
    judge=$to/commands/sanitized_${1#test_}
    printf '#!/bin/sh\nulimit -S -v unlimited\n%s\nexec %s\n' \
        'export ASAN_OPTIONS=hard_rss_limit_mb=4096' \
        "$(judge_test $1 | sed "s, *$to/props/, $to/sanitized/,")" >"$judge"
    chmod +x "$judge"
    echo "$judge"
}
