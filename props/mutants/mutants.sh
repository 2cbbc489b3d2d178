#!/bin/sh
# Mutants: one deliberate mistake each, to see what catches it.
#
#   mutants.sh try PATCH OUT     build and try one mutant; OUT gets its row
#   mutants.sh explored PATCH DIR  build DIR/kernels.o, the mutant's core with the
#                                kernels over it, and DIR/explore, which is
#                                `profsim explore` with it
#   mutants.sh compiled PATCH DIR  compile what it changes, with $MUTANT_CC;
#                                prints the names of the objects
#   mutants.sh report DIR ROW... the matrix and the score, into DIR/mutants.md
#                                and DIR/mutants.csv; exit 1 if one survives
#
# A patch begins with a header, then comes a unified diff against this tree:
#   title: what is wrong, one line
#   issue: the real bugs it makes again      (optional; 30 at least in all)
#   caught-by: who must catch it; every word must
#       H1 ...        this property, when it alone is asked for
#       crash         the run ends its process
#       mark:ID       a campaign never reaches this mark
#       test_NAME     the test program test_NAME.c of props/test/ fails;
#                     test_scripts is the test of props/*/*.sh and mutants.awk
#       kernel:NAME   every ordering of this kernel over the core is tried
#                     (props/kernels/), and one of them fails
#       run:NAME      the test that makes NAME.ok fails, with the mutant in
#                     profsim, libprofsim-record.so and libprof-malloc.so;
#       run:NAME/TEST one of its tests, if it knows TEST_FILTER
#       nobody        it is not wrong: everything must hold
#   survives: why nothing catches it yet      (optional; then it counts against
#                                             the score and does not fail)
#   rules: what the library follows           (optional; exact)
#   runs: at most so many                     (optional; 20000)
#
# Sources that the patch touches are compiled again with the patched tree in
# front, and linked in place of their objects of out/gcc. A touched header is
# seen by the sources of its own folder only. Sources of cli/ and embed/ are
# compiled and linked by the commands of build.ninja.
set -eu

o=${O:-out/gcc}

die() {
    echo "mutants: $*" >&2
    exit 1
}

field() { # PATCH NAME DEFAULT
    sed -n "/^--- /q; s/^$2: *//p" "$1" | grep . || echo "$3"
}

# ---------------------------------------------------------------- one mutant

patched_files() {
    sed -n 's,^+++ b/\([^ 	]*\).*,\1,p' "$1"
}

make_tree() { # PATCH DIR
    rm -rf "$2"
    mkdir -p "$2/tree"
    for folder in prof sim model subjects props embed cli; do
        mkdir -p "$2/tree/$folder"
        cp -R $folder/. "$2/tree/$folder/"
    done
    [ -n "$(patched_files "$1")" ] || return 0
    patch -s -p1 -F2 -d "$2/tree" <"$1" >"$2/patch.log" 2>&1 ||
        die "$1 no longer applies: $(head -n1 "$2/patch.log")"
}

sources_to_compile() { # PATCH
    patched_files "$1" | while read -r file; do
        case $file in
        *.c) echo "$file" ;;
        prof/*.h) ls prof/core/*.c prof/trace/*.c prof/pprof/*.c ;;
        *.h | *.def) ls "${file%/*}"/*.c ;;
        esac
    done | sort -u
}

rooms() { # FOLDER
    find "$1" -type d ! -path "$1/include*" -printf '-iquote %p '
}

includes() { # TREE FOLDER
    case $2 in
    prof) rooms "$1/prof" ;;
    sim) echo "$(rooms "$1/sim") -I$1/prof/include" ;;
    model) echo "$(rooms "$1/model") -iquote $1/sim/truth" ;;
    embed) echo "-iquote $1/embed" ;;
    subjects) echo "-iquote $1/subjects" ;;
    props) echo "$(rooms "$1/props") $(rooms "$1/sim") $(rooms "$1/model")" ;;
    esac
}

command_of() { # TARGET
    ninja -t commands -s "$1"
}

# By the command of build.ninja, in the patched tree.
compile_as_built() { # TREE SOURCE OBJECT
    command=$(command_of "$o/${2%.c}.o" |
        sed "s, -MMD -MF [^ ]*,,; s, -Werror , -w ,; s, -o [^ ]*$,,")
    out=$(realpath "$3")
    (cd "$1" && eval "$command -o '$out'")
}

compile() { # DIR SOURCE
    t=$1/tree
    object=$1/$(echo "$2" | tr / _ | sed 's/c$/o/')
    case $2 in
    cli/* | embed/*)
        compile_as_built "$t" "$2" "$object" 2>"$object.log" ||
            die "$t/$2 does not compile: $(grep -m1 error "$object.log")"
        echo "$object"
        return
        ;;
    esac
    ${MUTANT_CC:-gcc -O1 -g} -std=c11 -D_GNU_SOURCE -w \
        -Werror=implicit-function-declaration \
        -I"$t/prof/include" $(includes "$t" "${2%%/*}") \
        -c "$t/$2" -o "$object" 2>"$object.log" ||
        die "$t/$2 does not compile: $(grep -m1 error "$object.log")"
    echo "$object"
}

# What a fragment links a test program with, but for the objects that the mutant
# replaces; and its libraries.
inputs_of() { # PROGRAM OBJECT...
    program=$1
    shift
    awk -v program="$program" -v o="$o" -v replaced=" $(basename -a "$@" |
        tr '\n' ' ')" '
        function look(    i, n, word, name) {
            if (line ~ /^libs = /)
                of_file[FILENAME] = substr(line, 8)
            else if (line ~ /^build /)
                found = 0
            else if (found && line ~ /^  libs = /)
                libs = substr(line, 10)
            if (index(line, "build $o/props/" program ": link") != 1)
                return
            found = 1
            libs = of_file[FILENAME]
            n = split(line, word, " +")
            for (i = 4; i <= n && word[i] != "|"; i++) {
                name = word[i]
                sub(/^\$o\//, "", name)
                gsub("/", "_", name)
                sub(/^\$o/, o, word[i])
                if (index(replaced, " " name " ") == 0)
                    inputs = inputs " " word[i]
            }
        }
        { gsub(/\$by/, "gcc"); line = line $0 } # of props/test/explore/textbook.ninja
        sub(/\$$/, "", line) { next }
        { look(); line = "" }
        END { print inputs, libs }' $(find props -name '*.ninja')
}

link() { # OUT OBJECT...
    target=$1
    shift
    case ${target##*/} in
    trial) more="$o/libprops.a $o/libsim.a
        $o/libmodel_life.a $o/libmodel_trace.a $o/libmodel.a
        $o/libprof_port.a $o/libprof.a" ;;
    test_harness) more="$(inputs_of test_harness "$@") $(cat props/test/harness/liar.wrap)" ;;
    *) more=$(inputs_of "${target##*/}" "$@") ;;
    esac
    gcc -o "$target" "$@" $more -lcmocka -lm 2>"$target.log" ||
        die "$target does not link: $(head -n1 "$target.log")"
}

# ------------------------------------------------------------------ explored

# As the rule cc_explored of build.ninja.
compile_explored() { # TREE SOURCE OBJECT
    gcc -std=c11 -D_GNU_SOURCE -fno-omit-frame-pointer -ffp-contract=off -O2 \
        -g -fno-builtin -fsanitize=thread -include sim/explore/spin.h -w \
        -I"$1/prof/include" $(includes "$1" prof) -c "$1/$2" -o "$3" \
        2>"$3.log" || die "$1/$2 does not compile: $(grep -m1 error "$3.log")"
    objcopy --redefine-sym memcpy=__tsan_memcpy \
        --redefine-sym memset=__tsan_memset \
        --redefine-sym memmove=__tsan_memmove \
        --redefine-sym memcmp=__tsan_memcmp "$3"
}

# The core with this mutant, and the kernels over it (rule explored_group).
explored() { # PATCH DIR
    mkdir -p "$2/explored"
    for source in $(sources_to_compile "$1"); do
        name=$(basename "$source" .c).o
        [ ! -e "$o/explored/$name" ] ||
            compile_explored "$2/tree" "$source" "$2/explored/$name"
    done
    parts="$(ls $o/kernels/*.o) $o/explore/port.o"
    for object in "$o"/explored/*.o; do
        mutant=$2/explored/${object##*/}
        [ -e "$mutant" ] && object=$mutant
        parts="$parts $object"
    done
    gcc -r -nostdlib -o "$2/kernels.o" $parts
    objcopy --keep-global-symbol=props_kernels "$2/kernels.o"
    # As props/explore_all is linked.
    gcc -o "$2/explore" $o/props/test/explore/explore_all.o "$2/kernels.o" \
        $o/libcli_explore.a $o/libcli_words.a $o/libexplore.a \
        $o/libprof_pprof.a $o/libprof.a $o/libprof_port.a $o/sim/choice/choice.o \
        $o/sim/choice/shrink.o $o/sim/choice/shrink_fewest.o $o/libsim.a -ldw
}

# Try every ordering of a kernel; say how many runs it took to fail, and how.
try_kernel() { # PATCH DIR NAME
    [ -e "$2/explore" ] || explored "$1" "$2"
    status=0
    timeout 100 "$2/explore" "$3" >"$2/$3.out" 2>&1 || status=$?
    [ $status -ne 124 ] || echo "unfinished kernel $3"
    [ $status -eq 0 ] || awk -v name="$3" '$1 == name && $3 == "runs" {
        runs = $2
        sub(/.* s  /, "")
        print "kernel", name, runs, $0
    }' "$2/$3.out"
}

# -------------------------------------------------------------------- trials

# The scripts of the tree, against programs that fail.
try_scripts() { # DIR
    status=0
    timeout 100 sh "$1/tree/props/test/harness/test_scripts.sh" "$1/tree/props" \
        >"$1/scripts.out" 2>&1 || status=$?
    [ $status -ne 0 ] || return 0
    [ $status -ne 124 ] || { echo "unfinished test_scripts" && return 0; }
    echo "test test_scripts $(sed -n 's/^FAILED: \([^:]*:[^:]*\):.*/\1/p' \
        "$1/scripts.out" | head -n1 | tr ' ' _)"
}

# Run a test program; say which of its tests failed.
try_test() { # DIR NAME OBJECT...
    dir=$1
    name=$2
    shift 2
    link "$dir/$name" "$@"
    status=0
    timeout 60 "$dir/$name" >"$dir/$name.out" 2>&1 || status=$?
    [ $status -ne 0 ] || return 0
    # A test that is slow, on a slow machine, has noticed nothing.
    [ $status -ne 124 ] || { echo "unfinished $name" && return 0; }
    failed=$(sed -n 's/^\[  FAILED  \] \([a-z_A-Z0-9]*\)$/\1/p' \
        "$dir/$name.out" | head -n1)
    # A test that asks all properties says which one it was.
    property=$(sed -n 's/^ERROR: [a-z0-9.-]*, \([A-Z][0-9]*\): .*/\1/p' \
        "$dir/$name.out" | head -n1)
    echo "test $name ${failed:-crashed}${property:+ ($property)}"
}

# Those of the objects that are linked into it.
parts_of() { # TARGET OBJECT...
    target=$1
    shift
    ninja -t inputs "$target" | tr / _ >"$(dirname "$1")/inputs"
    for object in "$@"; do
        grep -qx "$(echo "$o/" | tr / _)${object##*/}" \
            "$(dirname "$1")/inputs" && echo "$object"
    done
}

# A program or library by the command of build.ninja, with the objects of the
# mutant before the others; or a copy. Without `whole`, which takes long.
link_as_built() { # TARGET OUT OBJECT...
    target=$1
    out=$2
    shift 2
    parts=$(parts_of "$target" "$@" | tr '\n' ' ')
    if [ -z "$parts" ]; then
        cp "$target" "$out"
        return
    fi
    command=$(command_of "$target" | awk -v target="$target" -v o="$o" \
        -v with="-o $out $parts" -v replaced=" $(basename -a $parts |
            tr '\n' ' ')" '{
            for (i = 1; i <= NF; i++) {
                name = substr($i, length(o) + 2)
                gsub("/", "_", name)
                if ($i == "-o" && $(i + 1) == target) {
                    line = line " " with
                    i++
                } else if ($i !~ /\.c$|^-flto/ && !(index($i, o "/") == 1 &&
                    index(replaced, " " name " ")))
                    line = line " " $i
            }
            print line
        }')
    eval "$command" 2>"$out.log" ||
        die "$out does not link: $(head -n1 "$out.log")"
}

# Run what makes NAME.ok with what the mutant is linked into.
try_run() { # DIR NAME OBJECT...
    dir=$1
    name=${2%%/*}
    filter=${2#"$name"}
    shift 2
    edge=$(ninja -t targets all | sed -n "s,^\($o/.*/$name\.ok\): test$,\1,p
        s,^\(out/$name\.ok\): test$,\1,p")
    [ -n "$edge" ] || die "no test makes $name.ok"
    mkdir -p "$dir/bin"
    for product in profsim libprofsim-record.so libprof-malloc.so; do
        [ -e "$dir/bin/$product" ] ||
            link_as_built "$o/$product" "$dir/bin/$product" "$@"
    done
    command=$(command_of "$edge" | sed "s,^{ *,,; s, > $edge.*,,
        s,timeout 600,timeout 100,
        s,\($o\|out\)/\(profsim\|libprofsim-record.so\|libprof-malloc.so\)\>,$dir/bin/\2,g")
    case $command in
    *" ${edge%.ok}"*)
        link_as_built "${edge%.ok}" "$dir/$name" "$@"
        command=$(echo "$command" | sed "s, ${edge%.ok}\>, $dir/$name,")
        ;;
    esac
    status=0
    TEST_FILTER=${filter#/}
    [ -z "$filter" ] || export TEST_FILTER
    eval "$command" >"$dir/$name.out" 2>&1 </dev/null || status=$?
    [ $status -ne 0 ] || return 0
    [ $status -ne 124 ] || { echo "unfinished run:$name$filter" && return 0; }
    failed=$(sed -n 's/^\[  FAILED  \] \([a-z_A-Z0-9]*\)$/\1/p
        s/^FAILED: //p' "$dir/$name.out" | head -n1 | tr ' ' _)
    echo "test run:$name$filter ${failed:-crashed}"
}

try_campaign() { # DIR PATCH OBJECT...
    dir=$1
    words=$(field "$2" caught-by nobody)
    rules=$(field "$2" rules exact)
    runs=$(field "$2" runs 20000)
    shift 2
    link "$dir/trial" $o/props/mutants/mutant_trial.o "$@"
    timeout 100 "$dir/trial" "$dir" "$rules" "$runs" $words \
        2>"$dir/trial.log" || echo "unfinished $?"
}

# Everything that is to be known of a mutant, one fact a line.
facts() { # PATCH DIR
    objects=
    for source in $(sources_to_compile "$1"); do
        objects="$objects $(compile "$2" "$source")"
    done
    campaign=
    for word in $(field "$1" caught-by nobody); do
        case $word in
        test_scripts) try_scripts "$2" ;;
        test_*) try_test "$2" "$word" $objects ;;
        kernel:*) try_kernel "$1" "$2" "${word#kernel:}" ;;
        run:*) try_run "$2" "${word#run:}" $objects ;;
        *) campaign=yes ;;
        esac
    done
    [ -z "$campaign" ] || try_campaign "$2" "$1" $objects
}

try() { # PATCH OUT
    dir=${2%.row}
    make_tree "$1" "$dir"
    {
        echo "name $(basename "$1" .patch)"
        echo "title $(field "$1" title '')"
        echo "issue $(field "$1" issue '')"
        echo "where $(patched_files "$1" | tr '\n' ' ')"
        echo "rules $(field "$1" rules exact)"
        echo "caught-by $(field "$1" caught-by nobody)"
        echo "survives $(field "$1" survives '')"
        facts "$1" "$dir"
    } >"$dir/row"
    rm -rf "$dir/tree" "$dir/bin"
    mv "$dir/row" "$2"
}

# ---------------------------------------------------------------- the report

report() { # DIR ROW...
    to=$1
    shift
    for patch in fixtures/mutants/*.patch; do
        case " $* " in
        *"/$(basename "$patch" .patch).row "*) ;;
        *) die "$patch is not listed in props/mutants/mutants.ninja" ;;
        esac
    done
    bugs=$(sed -n 's/^issue: *//p' fixtures/mutants/*.patch |
        tr ' ' '\n' | sort -u | grep -c .)
    [ "$bugs" -ge 30 ] || die "only $bugs real bugs are made again, not 30"
    status=0
    awk -v csv="$to/mutants.csv.part" -v md="$to/mutants.md.part" \
        -f props/mutants/mutants.awk "$@" || status=$?
    mv "$to/mutants.csv.part" "$to/mutants.csv"
    mv "$to/mutants.md.part" "$to/mutants.md"
    return $status
}

command=${1:-}
[ $# -gt 0 ] && shift
case $command in
try) try "$@" ;;
compiled)
    make_tree "$@"
    for source in $(sources_to_compile "$1"); do
        compile "$2" "$source"
    done
    ;;
explored)
    make_tree "$@"
    explored "$@"
    ;;
report) report "$@" ;;
*) die "usage: mutants.sh try PATCH OUT | explored PATCH DIR | compiled PATCH DIR |
    report DIR ROW..." ;;
esac
