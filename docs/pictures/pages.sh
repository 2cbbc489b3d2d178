#!/bin/sh
# Pictures of the pages in docs/pages.md, by a headless Chromium: a failure with
# the heap that a snapshot should have shown, a recorded run, and a campaign.
# usage: docs/pictures/pages.sh PROFSIM failure|run|campaign OUT.png
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $2 in
failure)
    height=640
    "$1" check H2 --rules go1.6-late --seeds 67..67 --save "$work/profsim-failures" \
        >"$work/said" 2>"$work/progress" || [ $? -eq 2 ]
    (cd "$work" && mv profsim-failures/*.html page.html)
    # Leave out the path of the temporary folder.
    sed -i "s|$work/||g" "$work/page.html"
    ;;
run)
    height=800
    "$1" show fixtures/recordings/python-index.rec --html "$work/page.html" \
        >"$work/said"
    ;;
campaign)
    height=640
    profsim=$(realpath "$1")
    (cd "$work" && "$profsim" check --rules go1.6-late --seeds 1..1000 \
        --html page.html) >"$work/said" 2>"$work/progress" || [ $? -eq 2 ]
    ;;
esac
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/profile" --window-size=1280,$height \
    --screenshot="$work/page.png" "file://$work/page.html" \
    >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
cp "$work/page.png" "$3"
