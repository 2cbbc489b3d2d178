#!/bin/sh
# Build the library with its mutants, and the judges.
#
# usage: library.sh FROM TO EVERY     FROM: out/gcc, built; TO: has generate
#                                     EVERY: one mutant in EVERY; 1: all
# out: TO/mutants.tsv, arguments, libmutated.a, kernels.o, worlds, profsim, programs
set -eu

from=$1
to=$2
every=$3
plain="-std=c11 -D_GNU_SOURCE -fno-omit-frame-pointer -ffp-contract=off -w"
# Undefined behaviour ends the process, as in the variant with sanitizers.
checked="-fsanitize=undefined -fno-sanitize-recover=all"
sources=$(ls prof/[!i]*/*.c)
find_headers="-Iprof/include"
for room in core trace pprof; do
    find_headers="$find_headers -iquote $to/prof/$room -iquote prof/$room"
done

compile() {
    for source in $sources; do
        echo "gcc $plain -O1 -g $checked -include props/mutants/lines/switch.h $find_headers \
            -c $to/$source -o $to/${source%.c}.o"
    done
    # Compile as rule cc_explored does.
    for object in "$from"/explored/*.o; do
        name=$(basename "$object" .o)
        source=$(ls prof/[!ip]*/$name.c prof/pprof/$name.c 2>/dev/null || :)
        [ -n "$source" ] || continue # the runtime of `explore prog.c`
        echo "gcc $plain -O2 -g -fno-builtin -fsanitize=thread \
            -include sim/explore/spin.h -DMUTANT_BY_CALL \
            -include props/mutants/lines/switch.h $find_headers \
            -c $to/$source -o $to/explored/$name.o && \
            objcopy --redefine-sym memcpy=__tsan_memcpy \
            --redefine-sym memset=__tsan_memset \
            --redefine-sym memmove=__tsan_memmove \
            --redefine-sym memcmp=__tsan_memcmp $to/explored/$name.o"
    done
}

# Link with the build's own commands, except for the mutated objects.
relink() { # PROGRAM
    command=$(ninja -t commands -s "$1" | sed \
        -e "s, -o $from/, -o $to/,g" \
        -e "s, $from/libprof_port\.a,," \
        -e "s, $from/libprof_pprof\.a,," \
        -e "s, $from/libcli_explore\.a, $to/libcli_explore.a,g" \
        -e "s, $from/libprof\.a, $to/libmutated.a,g")
    case $command in
    *libmutated.a*) sh -c "$command -lubsan" || exit 1 ;;
    esac
}

# Print a test's program and its arguments, found by the edge that makes
# PROGRAM.ok. Two programs step through the library by single instructions, of
# which mutated code has more.
link_tests() {
    ninja -t targets rule link | grep -e "^$from/props/test_" \
        -e "^$from/props/stress_" | grep -v -e /test_signals -e /test_forks |
        LC_ALL=C sort |
        while read -r program; do
            rm -f "$to/${program#"$from"/}"
            relink "$program"
            [ -e "$to/${program#"$from"/}" ] || continue
            ninja -t commands -s "$program.ok" |
                sed -n "s,.*$program *\(.*\) > $program.*,\1,p" |
                while read -r arguments; do
                    echo "$to/${program#"$from"/}" $arguments
                done
        done
}

rm -rf "$to/prof" "$to/explored"
mkdir -p "$to/explored" "$to/props"
for room in core trace pprof port; do
    mkdir -p "$to/prof/$room" # those without mutants include the others
    cp $(find prof/$room -name '*.h') "$to/prof/$room/"
done
printf '%s\n' -std=c11 -D_GNU_SOURCE -Iprof/include -iquote prof/core \
    -iquote prof/trace -iquote prof/pprof -- $sources >"$to/arguments"
"$to/generate" "$every" "$to" $(cat "$to/arguments")
compile | tr -s ' ' | tr '\n' '\0' | xargs -0 -P 2 -n 1 sh -c

rm -f "$to/libmutated.a" "$to/libcli_explore.a"
ar crsD "$to/libmutated.a" "$to"/prof/*/*.o "$to/switch.o"
ninja -t commands -s "$from/kernels.o" | sed -e "s,$from/explored/,$to/explored/,g" \
    -e "s,$from/kernels\.o,$to/kernels.o,g" | sh
ninja -t commands -s "$from/libcli_explore.a" | sed \
    -e "s,$from/libcli_explore\.a,$to/libcli_explore.a,g" \
    -e "s,$from/kernels\.o,$to/kernels.o,g" | sh
relink "$from/profsim"
relink "$from/worlds"
link_tests >"$to/programs.part"
echo "$every" >"$to/every"
mv "$to/programs.part" "$to/programs"
