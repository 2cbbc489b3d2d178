# folders.awk -- folders have at most 40 sources, except the catalogue's bugs:
# there each bug is a file, as in fixtures.
# usage: find ... | awk -f folders.awk

{
    sub(/\/[^\/]*$/, "")
    count[$0]++
}

END {
    delete count["subjects/catalogue/bugs"]
    for (folder in count) {
        total++
        if (count[folder] > 40) {
            printf "%s: %d sources; 40 at most\n", folder, count[folder]
            bad++
        }
    }
    printf "folders: %d passed, %d failed\n", total - bad, bad
    exit bad > 0 || total == 0
}
