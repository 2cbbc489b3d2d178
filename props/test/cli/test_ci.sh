#!/bin/sh
# test_ci.sh -- the sample CI workflows of docs/ci/: all shell steps of a file run
# unchanged, one after the other, in one folder; then the files that the workflow
# keeps must exist, and the reports must have the right formats.
# usage: props/test/cli/test_ci.sh PROFSIM RECORDER
set -u
profsim=$(realpath "$1")
recorder=$(realpath "$2")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
. props/test/lib/count.sh
shown=log
root=$PWD

# Print the steps of a file, one a line.
gitlab() {
    awk '/^  script:/ { on = 1; next }
        on && /^    - / { sub(/^    - /, ""); print; next }
        on { exit }' "$1"
}
github() {
    sed -n 's/^      - run: //p' "$1"
}

: >"$dir/log"
gitlab docs/ci/gitlab.yml >"$dir/gitlab.steps"
github docs/ci/github.yml >"$dir/github.steps"
[ -s "$dir/gitlab.steps" ] && cmp "$dir/gitlab.steps" "$dir/github.steps"
count "both files have the same steps" $?
[ "$(grep -c 'profsim ' "$dir/gitlab.steps")" -eq \
    "$(grep -c 'profsim [a-z]* \|profsim [a-z]*$' docs/ci/gitlab.yml)" ]
count "no step is overlooked" $?
! grep -nE '[a-z0-9-]+\.(com|org|io|net|dev)' docs/ci/*.yml >"$dir/log"
count "no host is named" $?

# The machine on which the steps run has profsim, a program, and the variables.
mkdir -p "$dir/work" "$dir/bin"
ln -s "$profsim" "$dir/bin/profsim"
cp "$(command -v sort)" "$dir/work/program"
for file in gitlab github; do
    sed -n 's/^ *SEEDS: /export SEEDS=/p' docs/ci/$file.yml >"$dir/$file.env"
    grep -q . "$dir/$file.env"
    count "$file: SEEDS has a value" $?
    rm -rf "$dir/run" && cp -R "$dir/work" "$dir/run"
    number=0
    while IFS= read -r step; do
        number=$((number + 1))
        (
            . "$dir/$file.env"
            cd "$dir/run" && PATH=$dir/bin:$PATH PROFSIM_RECORDER=$recorder \
                timeout 300 sh -ec "$step"
        ) >"$dir/log" 2>&1 </dev/null
        count "$file, step $number: $step" $?
    done <"$dir/$file.steps"
    for report in check explore program; do
        python3 cli/report/check_report.py docs/ci/report.schema.json \
            "$dir/run/$report.json" "$dir/run/$report.xml" 0 >"$dir/log" 2>&1
        count "$file: $report.json, $report.xml" $?
    done
    [ -s "$dir/run/program.rec" ]
    count "$file: program.rec" $?
done

# A failure makes the step fail, and the files that are kept show it again.
(cd "$dir/run" && sed -n '1s/--seeds/--rules go1.6-late --seeds/p' \
    "$dir/gitlab.steps" >"$dir/step" && . "$dir/gitlab.env" &&
    PATH=$dir/bin:$PATH sh -ec "$(cat "$dir/step")") >"$dir/log" 2>&1 </dev/null
[ $? -eq 2 ] && python3 "$root/cli/report/check_report.py" \
    docs/ci/report.schema.json "$dir/run/check.json" "$dir/run/check.xml" 2 \
    >>"$dir/log" 2>&1
count "a broken property fails the step" $?
(cd "$dir/run" && "$profsim" replay profsim-failures/*.sim) >"$dir/log" 2>&1
[ $? -eq 2 ]
count "what the workflow keeps shows it again" $?

finish ci
