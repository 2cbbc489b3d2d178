#!/bin/sh
# Run the programs of this folder under profilers, and count how they end: each
# must end by itself, with exit code 0.
#
# usage: test_hangs.sh [-p SCRIPT] BUILD ROUNDS SECONDS SIDE...
#   BUILD     folder of the build, such as out/gcc
#   SECONDS   that a round may take
#   SIDE      nothing, record, profile
#   -p        a script that runs other sides, such as peers.sh; a failure under
#             them is a result, and the exit code is 0
# build: as=hangs args='out/gcc 5 30 nothing record profile' needs=out/gcc/product
# build: as=hangs_all args='out/gcc 1000 20 nothing record profile' seconds=3600 needs=out/gcc/product when=check-hangs
# build: as=hangs_peers args='-p record/test/hangs/peers.sh out/gcc 100 20 jemalloc gperftools gperftools-cpu heaptrack massif' when=check-hangs-peers
set -u

script=
[ "$1" != -p ] || { script=$(realpath "$2") && shift 2; }
build=$(cd "$1" && pwd) || exit 1
rounds=$2
seconds=$3
shift 3

room=$(mktemp -d)
running=
trap 'rm -rf "$room"' EXIT
trap 'for pid in $running; do kill -9 "$pid"; done 2> "$room/none"; exit 1' \
    INT TERM

programs='atfork_order closed_descriptors constructor_thread
dump_while_allocating exit_in_dump first_allocation fork_in_handler
fork_while_allocating handler_allocates library_unloaded phdr_callback
small_stack thread_exit timer_in_allocator waited_signal'

# Execute the program, under SIDE. All output goes to files in the test's
# folder.
become() {
    side=$1
    shift
    cd "$room" || exit 1
    [ -z "$script" ] || exec "$script" "$side" "$@"
    case $side in
    nothing) exec "$@" ;;
    record)
        exec "$build/profsim" record --limit 4M -o "$room/hang.rec" -- "$@"
        ;;
    profile)
        mkdir -p "$room/profiles"
        export HANG_DUMPS_BY_SIGNAL=1 LD_PRELOAD="$build/libprof-malloc.so" \
            PROFSIM_PROFILE_FOLDER="$room/profiles" \
            PROFSIM_PROFILE_HEAP_BYTES=64 PROFSIM_PROFILE_MUTEX_FRACTION=1 \
            PROFSIM_PROFILE_BLOCK_NS=1 PROFSIM_PROFILE_CPU_HZ=1000 \
            PROFSIM_PROFILE_EVERY_S=1
        exec "$@"
        ;;
    *)
        echo "test_hangs.sh: unknown side '$side'" >&2
        exit 126
        ;;
    esac
}

# Request profiles through the socket, too, until the process has ended.
ask() {
    while kill -0 "$1"; do
        timeout 5 "$build/profsim" dump -o "$room/dumped.pb" "$1"
        sleep 0.02
    done > "$room/asked" 2>&1
}

# returns: the exit code, 99 for a program that had to be ended
play() {
    become "$1" "$build/record/test/hangs/$2" "$rounds" "$seconds" \
        > "$room/out" 2>&1 &
    pid=$!
    running=$pid
    asker=
    if [ "$1" = profile ]; then
        ask "$pid" &
        asker=$!
    fi
    # The program's own watchdog comes first, unless even that hangs.
    (
        left=$((seconds * 2 + rounds / 2 + 10))
        while kill -0 "$pid" && [ $left -gt 0 ]; do
            sleep 1
            left=$((left - 1))
        done
        [ $left -gt 0 ] || { kill -9 "$pid" && touch "$room/ended"; }
    ) > "$room/none" 2>&1 &
    guard=$!
    running="$pid $guard $asker"
    wait "$pid"
    code=$?
    kill "$guard" 2> "$room/none"
    wait "$guard" $asker
    running=
    [ ! -e "$room/ended" ] || code=99
    rm -rf "$room/ended" "$room/profiles"
    return $code
}

passed=0
failed=0
for side in "$@"; do
    for program in $programs; do
        play "$side" "$program" 2> "$room/shell"
        code=$?
        case $code in
        0) result="$rounds rounds" ;;
        99) result=hang ;;
        1[3-9][0-9]) result="killed by signal $((code - 128))" ;;
        *) result="exit $code" ;;
        esac
        if [ $code = 0 ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            detail=$(grep -a "^$program: " "$room/out" | tail -n 1)
            result="$result${detail:+ ($detail)}"
            [ -n "$script" ] || tail -n 20 "$room/out" >&2
        fi
        printf '%-15s %-22s %s\n' "$side" "$program" "$result"
    done
done
echo "hangs: $passed passed, $failed failed"
[ -n "$script" ] || [ $failed = 0 ]
