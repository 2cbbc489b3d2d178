#!/bin/sh
# Pages in a browser: command/test/pages_browser.py, where Chromium is
# installed; with --required it must be.
# usage: test_pages_browser.sh PROFSIM [--required]
# build: as=test_pages_browser
# build: as=pages_required args='out/gcc/profsim --required' when=check-pages
set -u
if chromium --version >/dev/null 2>&1; then
    exec python3 command/test/pages_browser.py "$1"
fi
echo "skipped: Chromium is not installed, so pages are not opened (make check-pages)"
[ "${2:-}" != --required ]
