# count.sh -- counts the checks of a shell test. Sourced from the project's
# folder; $dir is the test's own folder, and $shown names the files in it that a
# failure prints.
passed=0
failed=0

# count NAME STATUS: one check; 0 is a pass
count() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        return
    fi
    failed=$((failed + 1))
    echo "FAILED: $1"
    for file in $shown; do
        [ ! -s "$dir/$file" ] || sed "s/^/    $file: /" "$dir/$file" | head -20
    done
}

# finish TEST: print the last line. returns: 0 if there were checks and all
# passed
finish() {
    echo "$1: $passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
