# programs.sh -- whole programs that judge mutants of the explorer: those of
# fixtures/explore/user/, linked with the mutated explorer. To be included;
# $from is the build's folder, $to the mutants'.

# Link the objects that `profsim explore prog.c` links, with the mutants'
# switch.
link_runtime() {
    mkdir -p $to/explored $to/commands $to/user
    sh -c "$(ninja -t commands -s $from/explored/runtime.o | sed \
        -e "s, $from/libexplore.a, $to/libexplore.a,g" \
        -e "s,$from/explored/,$to/explored/,g" \
        -e "s, $from/program/, $to/program/,g" \
        -e "s, $to/program/real.o, $from/program/real.o,g" \
        -e "s, -u __tsan_init , out/mutate/switch.o&,")"
}

# FILE PROGRAM FLAG...: build a program as cli/explore/build_program.c does.
build_program() { # FILE PROGRAM FLAG...
    file=$1
    program=$2
    shift 2
    case $file in
    *.cc) compiler=g++ ;;
    *) compiler=gcc ;;
    esac
    $compiler -g -O1 -pthread -fno-omit-frame-pointer -fno-builtin -w \
        -U_FORTIFY_SOURCE -fno-lto -fsanitize=thread "$@" -c "$PWD/$file" \
        -o "$program.o"
    $compiler "$program.o" -o "$program" -Wl,--wrap=main,-z,now \
        $to/explored/runtime.o -l:libdw.so.1
}

# Write the script that compares a program's verdict, and print its name.
judge_program() { # PROGRAM WANT WITH [NAME]
    judge=$to/commands/user-${4:-$(basename "$1")}
    verdict=${2%, graphs *}
    graphs=
    [ "$verdict" = "$2" ] || graphs=" ${2##* } graph"
    cat >"$judge" <<END
#!/bin/sh
ulimit -t 3
case "\$($1 --runs 2000000 $3 2>&1 | head -n 1)" in
*"$graphs"*" s  $verdict") exit 0 ;;
esac
exit 1
END
    chmod +x "$judge"
    echo "$judge"
}

# Write the script that compares a report, and print its name.
judge_report() { # PROGRAM TEXT
    judge=$to/commands/report-$(basename "$1")
    cat >"$judge" <<END
#!/bin/sh
ulimit -t 3
$1 --runs 2000000 2>&1 | sed -n -f props/test/lib/report_head.sed |
    cmp -s - $2
END
    chmod +x "$judge"
    echo "$judge"
}

# PROGRAM STEP: write a script that searches in processes of STEP runs each, and
# compares the graphs with those of a single process; print its name.
judge_resumed() { # PROGRAM STEP
    judge=$to/commands/resumed-$(basename "$1")
    graphs=$("$1" --runs 2000000 |
        sed -n 's,.* runs* *\([0-9]*\) graphs*.*,\1,p')
    cat >"$judge" <<END
#!/bin/sh
ulimit -t 3
file=$to/commands/\$\$.file
runs=0
while runs=\$((runs + $2)) && [ \$runs -lt $((50 * $2)) ]; do
    line=\$($1 --runs \$runs --checkpoint \$file 2>&1 | head -n 1)
    case "\$line" in
    *"not finished") ;;
    *" $graphs graphs"*" s  holds") exit 0 ;;
    *) break ;;
    esac
done
rm -f \$file
exit 1
END
    chmod +x "$judge"
    echo "$judge"
}

# FILE...: read the first lines of each program, as test_explore.sh does, and
# write its judges.
judge_programs() { # FILE...
    for file; do
        word() {
            sed -n "1,4s,^.*$1: \([^.*]*\)\..*,\1,p" "$file"
        }
        want=$(word expect)
        broken=$(word BROKEN)
        with=$(sed -n "1,4s,^.*with: \([^*]*\).*,\1,p" "$file")
        name=$to/user/$(basename "${file%.*}")
        [ -z "$want" ] || {
            build_program "$file" "$name"
            judge_program "$name" "$want" "$with"
            [ "$name" != $to/user/condvar ] ||
                judge_program "$name" 'no failure in this shard, graphs 0' \
                    '--shard 2/3' shard
            case $(basename "$name") in
            ticket | mcs | snapshot) judge_resumed "$name" 5 ;;
            casrot) judge_resumed "$name" 700 ;;
            esac
            [ ! -f "${file%.c}.txt" ] || judge_report "$name" "${file%.c}.txt"
        }
        [ -z "$broken" ] || {
            build_program "$file" "$name-broken" -DBROKEN
            judge_program "$name-broken" "$broken" "$with"
        }
    done
}

# COUNT: write the script that tries random programs, as the test of the build
# does (explore-random), and print its name.
judge_random() { # COUNT
    judge=$to/commands/random
    cat >"$judge" <<END
#!/bin/sh
ulimit -t 60
exec sh props/test/cli/explore/test_explore_random.sh $to/profsim $1
END
    chmod +x "$judge"
    rm -f $to/libprofsim-explore.a
    ar rc $to/libprofsim-explore.a $to/explored/runtime.o
    echo "$judge"
}
