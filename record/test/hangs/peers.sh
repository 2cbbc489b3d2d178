#!/bin/sh
# Run a program under another profiler; its files go to the working directory.
# usage: peers.sh SIDE PROGRAM ARG...
set -eu

libraries=/usr/lib/$(gcc -dumpmachine)
side=$1
shift
case $side in
jemalloc)
    export LD_PRELOAD="$libraries/libjemalloc.so.2" \
        MALLOC_CONF=prof:true,lg_prof_sample:6,prof_final:true
    ;;
gperftools)
    export LD_PRELOAD="$libraries/libtcmalloc.so.4" HEAPPROFILE=heap
    ;;
gperftools-cpu)
    export LD_PRELOAD="$libraries/libtcmalloc_and_profiler.so.4" \
        CPUPROFILE=cpu CPUPROFILE_FREQUENCY=1000
    ;;
heaptrack)
    exec heaptrack -r -o heaptrack "$@"
    ;;
massif)
    exec valgrind --tool=massif --massif-out-file=/dev/null "$@"
    ;;
*)
    echo "peers.sh: unknown side '$side'" >&2
    exit 126
    ;;
esac
exec "$@"
