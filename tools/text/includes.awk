# includes.awk -- which folder may include which (ARCHITECTURE.md).
#
# An include in quotes must be found in the file's own folder or in a folder
# that the table below allows; the core includes no system header but these.
# usage: awk -f includes.awk FILE...   (all sources and headers)

BEGIN {
    may["prof/core"] = "prof/include"
    may["prof/trace"] = "prof/core prof/include"
    may["prof/pprof"] = "prof/core prof/include"
    may["prof/port"] = "prof/include"
    may["prof/include/prof"] = "prof/include"
    may["model"] = "model"
    may["model/heap"] = "model sim/truth"
    may["model/trace"] = "model sim/truth"
    may["model/pprof"] = "model"
    may["common"] = ""
    may["common"] = "prof/include sim/scenario"
    may["sim/world"] = "prof/include sim common subjects"
    may["sim/instruments"] = "prof/include sim common sim/world subjects"
    may["sim/generate"] = "prof/include sim common sim/instruments subjects " \
                          "sim/world"
    may["sim/scenario"] = "prof/include sim common common " \
                          "sim/instruments sim/world"
    may["common/recording"] = "prof/include sim common sim/world"
    may["sim/truth"] = "sim common"
    may["explore/engine"] = "prof/include common explore/search common"
    may["explore/search"] = "prof/include common explore/engine"
    may["explore/report"] = "common explore/engine explore/search common"
    may["explore/runtime"] = "explore/engine explore/search common"
    may["embed"] = "prof/include"
    may["record/sampler"] = "embed prof/include"
    may["subjects"] = "subjects/rules"
    may["subjects/rules"] = "subjects"
    may["subjects/live"] = ""
    may["subjects/conform"] = "props/sampling" # thresholds
    may["subjects/catalogue"] = ""
    may["subjects/catalogue/bugs"] = "subjects/catalogue"
    may["subjects/catalogue/process"] = ""
    may["subjects/catalogue/worlds"] = "subjects"
    may["docs"] = "prof/include"
    may["docs/pictures"] = "prof/core prof/include"
    may["docs/example"] = "docs/example" # else as people use it: <prof/...>
    any["cli"] = any["props"] = any["bench"] = any["fixtures"] = any["cluster"] = 1
    split("limits.h stdalign.h stdatomic.h stdbool.h stddef.h stdint.h " \
          "string.h xxhash.h", names, " ")
    for (i in names)
        core[names[i]] = 1
    # A header is known by its path; a .def file is included like one.
    for (i = 1; i < ARGC; i++)
        known[ARGV[i]] = 1
}

function folder_of(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}

FNR == 1 {
    folder = folder_of(FILENAME)
    top = folder
    sub(/\/.*/, "", top)
}

/^#include </ && top == "prof" && folder != "prof/port" {
    name = $2
    gsub(/[<>]/, "", name)
    if (!(name in core))
        complain("the core does not use <" name ">")
}

/^#include "/ && !(top in any) {
    name = $2
    gsub(/"/, "", name)
    if (!(folder in may))
        complain("no rule says what " folder " may include")
    else if (name ~ /\.\./)
        complain("\"" name "\" leaves the folder")
    else if (!found(name))
        complain("\"" name "\" is not in " folder " nor in what it may " \
                 "include (" may[folder] ")")
}

function found(name,    n, i, folders) {
    if ((folder "/" name) in known)
        return 1
    n = split(may[folder], folders, " ")
    for (i = 1; i <= n; i++)
        if ((folders[i] "/" name) in known)
            return 1
    return 0
}

function complain(text) {
    print FILENAME ":" FNR ": " text
    bad++
}

END {
    printf "includes: %d passed, %d failed\n", !bad, bad
    exit bad > 0 || NR == 0
}
