#!/bin/sh
# Pictures of the pages in docs/pages.md, by a headless Chromium: a failure with
# the heap that a snapshot should have shown, and a recorded run.
# usage: docs/pictures/pages.sh PROFSIM failure|run OUT.png
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $2 in
failure)
    height=640
    "$1" check H2 --rules go1.6-late --seeds 67..67 --save "$work/profsim-failures" \
        >"$work/said" 2>"$work/progress" || [ $? -eq 2 ]
    (cd "$work" && mv profsim-failures/*.html page.html)
    # The path of a folder that is no more is nobody's business.
    sed -i "s|$work/||g" "$work/page.html"
    ;;
run)
    height=800
    "$1" run fixtures/recordings/python-index.rec --html "$work/page.html" \
        >"$work/said"
    ;;
esac
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/profile" --window-size=1280,$height \
    --screenshot="$work/page.png" "file://$work/page.html" \
    >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
cp "$work/page.png" "$3"
