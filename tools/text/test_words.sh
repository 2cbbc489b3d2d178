#!/bin/sh
# test_words.sh -- the check of the words finds a retired word, and a path that
# does not exist.
# build: args='' when=long
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0
copy_sources() {
    cp -R tools prof docs README.md ARCHITECTURE.md CONTRIBUTING.md "$dir/"
    mkdir "$dir/sim" "$dir/sim/world" "$dir/props"
    cp sim/world/event.def "$dir/sim/world/"
}

# finds FILE LINE TEXT: with this line more, the check says so
finds() {
    cp "$dir/$1" "$dir/kept" 2>/dev/null || : >"$dir/kept"
    echo "$2" >>"$dir/$1"
    if (cd "$dir" && tools/text/words prof/core/heap.c) | grep -qF "$3"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: '$2' in $1 is not found"
    fi
    cp "$dir/kept" "$dir/$1"
}

copy_sources
finds props/a.c '/* a liar */' "'liar' is retired"
finds props/a.c 'int liar_tell(void);' "'liar' is retired"
finds props/a.c '/* the stack of now */' "'of now' is retired"
finds sim/world/event.def 'X(SIM_EV_NEW, "new-event", "", 0, new)' \
    "no row for the event 'new-event'"
finds docs/ci.md 'See `props/nowhere.c`.' 'there is no props/nowhere.c'
(cd "$dir" && tools/text/words prof/core/heap.c) | grep -q 'is retired' &&
    failed=$((failed + 1))
echo "words: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -eq 5 ]
