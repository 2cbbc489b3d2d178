#!/bin/sh
# test_shared.sh -- every output of profsim in a shared folder (mode 1777, as
# /tmp) where another user has planted traps: symbolic links, hard links to the
# victim's files and links, pipes, folders, files of his own, links under names
# that a temporary file could have.
#
# The victim of each trap is a user, then root; the kernel's protections
# (fs.protected_*) are all off, then all on. These settings belong to the machine,
# so they change for a few seconds only, and a process that outlives this one
# restores them whatever happens. Where they cannot be changed (in a container),
# they stay as they are.
#
# Without root the test uses user namespaces (uidmap). If there are none either,
# nothing is tested, and that counts as a failure.
# usage: props/test/cli/shard/test_shared.sh PROFSIM RECORDER
set -u
if [ "$(id -u)" -ne 0 ]; then
    unshare --user --map-root-user --map-auto true 2>/dev/null &&
        exec unshare --user --map-root-user --map-auto sh "$0" "$@"
    echo "FAILED: needs root, or a user namespace with other users in it"
    echo "shared: 0 passed, 1 failed"
    exit 1
fi
profsim=$1
recorder=$2
thief=54322
flags="symlinks hardlinks regular fifos"
. props/test/lib/count.sh
shown="out err"
settings=
dir=$(mktemp -d) || exit 1
chmod 755 "$dir"
shared=$dir/shared
home=$dir/home

flag() { # NAME
    echo "/proc/sys/fs/protected_$1"
}

set_flags() { # VALUE...: of each flag
    for flag in $flags; do
        echo "$1" >"$(flag "$flag")" || return 1
        shift
    done 2>/dev/null
}

# Only one such test may run at a time: a second one would take the changed
# settings for the original ones.
exec 8<"$(flag symlinks)"
flock 8
old=$(for flag in $flags; do cat "$(flag "$flag")"; done)
mkfifo "$dir/life"
(
    trap '' HUP INT TERM
    cat "$dir/life" >/dev/null
    set_flags $old
    rm -rf "$dir"
) 8>&- </dev/null >/dev/null 2>&1 &
restorer=$!
exec 7>"$dir/life"
end() {
    trap - EXIT
    exec 7>&-
    wait "$restorer"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

as() { # USER COMMAND...
    user=$1
    shift
    setpriv --reuid "$user" --regid "$user" --clear-groups "$@" 7>&- 8>&-
}

# ------------------------------------------------------------ what is written
mkdir "$dir/in"
cp "$profsim" "$dir/in/profsim"
cp "$recorder" "$dir/in/libprofsim-record.so"
cp "${recorder%/*}/libprof-malloc.so" "$dir/in/"
cp fixtures/scenarios/birth-during-mark.sim "$dir/in/a.sim"
cp fixtures/scenarios/wrap.sim "$dir/in/b.sim"
cp fixtures/scenarios/late-return-across-sessions.sim "$dir/in/t.sim"
cp fixtures/recordings/waits.rec "$dir/in/w.rec"
printf 'ls / >/dev/null\ntrue\n' >"$dir/in/two.sh" # two images
"$profsim" run --out "$dir/in" "$dir/in/t.sim" >/dev/null || exit 1
TMPDIR=$dir/in "$dir/in/profsim" record sh -c 'kill -9 $PPID' >/dev/null 2>&1
mv "$dir"/in/profsim-?????? "$dir/in/spools" || exit 1
chmod -R a+rX "$dir/in"

# Each output: its name in the shared folder, and the command that writes it.
files="record all convert chrome perfetto scenario recording text traces failure"
folders="inside each failures profiles"
name_of() { # OUTPUT
    case $1 in
    record | convert | chrome | perfetto) echo x ;;
    all) echo x.2 ;;
    scenario) echo heap.pb.gz ;;
    recording) echo mutex.pb.gz ;;
    text) echo heap.symbolized ;;
    traces) echo trace.out ;;
    failure) echo H2-go1.6-late-67.sim ;;
    inside) echo new ;;
    each) echo a.sim ;;
    failures) echo profsim-failures ;;
    profiles) echo profsim-profile ;;
    esac
}
command_of() { # OUTPUT
    in=$dir/in
    case $1 in
    record) echo "record -o $shared/x true" ;;
    all) echo "record -o $shared/x sh $in/two.sh" ;;
    convert) echo "convert -o $shared/x $dir/spools" ;;
    chrome | perfetto)
        echo "trace convert --to $1 $in/trace.out -o $shared/x" ;;
    scenario | text) echo "run --out $shared $in/a.sim" ;;
    recording) echo "run --out $shared $in/w.rec" ;;
    traces) echo "run --out $shared $in/t.sim" ;;
    failure) echo "check H2 --rules go1.6-late --seeds 67..67 --save $shared" ;;
    inside) echo "run --out $shared/new $in/a.sim" ;;
    each) echo "run --out $shared $in/a.sim $in/b.sim" ;;
    failures) echo "check H2 --rules go1.6-late --seeds 67..67" ;;
    profiles) echo "profile --heap 1 sh $in/two.sh" ;;
    esac
}

# ------------------------------------------------------------ what is planted
# The outcomes: `refused`; `written`: the victim has a file of its own there;
# `by-root`: only root may replace what is there.
plants="link dangling second second-link pipe folder file guessed"
outcome_of() { # PLANT
    case $1 in
    second | guessed) echo written ;;
    file) echo by-root ;;
    *) echo refused ;;
    esac
}
plant() { # PLANT PATH
    case $1 in
    link) as $thief ln -s "$home/precious" "$2" ;;
    dangling) as $thief ln -s "$home/absent" "$2" ;;
    second) as $thief ln "$home/open" "$2" ;;
    second-link) as $thief ln -P "$home/link" "$2" ;;
    pipe)
        as $thief mkfifo -m 666 "$2"
        as $thief timeout 20 cat "$2" >"$dir/stolen" &
        reader=$!
        ;;
    folder) as $thief mkdir -m 777 "$2" ;;
    file) as $thief sh -c "echo theirs >'$2' && chmod 666 '$2'" ;;
    folder-link) as $thief ln -s "$home" "$2" ;;
    folder-of-links)
        as $thief mkdir -m 777 "$2"
        for name in heap.pb.gz H2-go1.6-late-67.sim; do
            as $thief ln -s "$home/precious" "$2/$name"
        done
        ;;
    esac
}

# Print the state of all that could be changed elsewhere.
look() {
    find "$home" -printf '%p %y %m %s %U %i %T@\n' | sort
    cat "$home/precious" "$home/open"
}

# VICTIM PLANT COMMAND...: run the command as the victim; links are planted
# under the temporary names PATH.PID.part that were used before
run() { # VICTIM PLANT COMMAND...
    runs_as=$1
    links=$2
    shift 2
    (
        cd "$shared" || exit 9
        exec timeout -k 5 30 sh -c '
            [ "$1" != guessed ] || setpriv --reuid '$thief' --clear-groups \
                perl -e "symlink \$ARGV[0], \"\$ARGV[1].\$_.part\"
                    for \$\$ - 5 .. \$\$ + 200" "$2/precious" "$3"
            shift 3
            exec setpriv --reuid '"$runs_as"' --regid '"$runs_as"' \
                --clear-groups "$@"' sh "$links" "$home" "$path" \
            env HOME="$home" TMPDIR="$shared" "$dir/in/profsim" "$@"
    ) 7>&- 8>&- >"$dir/out" 2>"$dir/err" </dev/null
    code=$?
    case $code in
    2) code=$(grep -c '^not saved: ' "$dir/out") ;; # a failure that was found
    125) code=1 ;; # of `record` itself
    esac
}

# VICTIM: begin with new folders
begin() { # VICTIM
    rm -rf "$shared" "$home" "$dir/spools"
    cp -R "$dir/in/spools" "$dir/spools" # what is saved is removed
    chown -R "$1:$1" "$dir/spools"
    mkdir -m 1777 "$shared"
    mkdir "$home"
    echo precious >"$home/precious"
    echo open >"$home/open"
    chmod 666 "$home/open" # a file that any kernel lets a thief link to
    ln -s "$home/precious" "$home/link"
    chown -hR "$1:$1" "$home"
    : >"$dir/stolen"
    reader=
}

is_written() { # VICTIM
    [ "$code" -eq 0 ] && [ -s "$path" ] &&
        [ "$(stat -c '%F %u %h' "$path")" = "regular file $1 1" ] &&
        [ $((0$(stat -c %a "$path") & 022)) -eq 0 ]
}

is_refused() {
    [ "$code" -eq 1 ] &&
        cat "$dir/err" "$dir/out" |
            grep -q "^\(profsim\|not saved\).*${path##*/}[^ ]*: "
}

try() { # VICTIM OUTPUT PLANT OUTCOME
    begin "$1"
    path=$shared/$(name_of "$2")
    outcome=$4
    if ! plant "$3" "$path" 2>"$dir/err"; then
        [ -e "$path" ] && return 1
        outcome=written # the kernel did not let the thief
    fi
    look >"$dir/before"
    run "$1" "$3" $(command_of "$2")
    [ -z "$reader" ] || { kill "$reader" && wait "$reader"; } 2>/dev/null
    look | cmp -s "$dir/before" - || return 1
    [ ! -s "$dir/stolen" ] || return 1
    [ -z "$(find "$shared" -name '.prof*')" ] || return 1
    case $outcome in
    written) is_written "$1" ;;
    by-root) if [ "$1" -eq 0 ]; then is_written "$1"; else is_refused; fi ;;
    refused) is_refused ;;
    esac
}

try_all() { # VICTIM PLANT...
    victim=$1
    shift
    for output in $files; do
        for plant in "$@"; do
            [ "$output" != failure ] || [ "$plant" = link ] ||
                [ "$plant" = pipe ] || continue # each takes half a second
            try "$victim" "$output" "$plant" "$(outcome_of "$plant")"
            count "$output over $plant, user $victim, $setting" $?
        done
    done
    for output in $folders; do
        for plant in folder-link folder-of-links file; do
            # A process's number is not known before it runs, so its file's name
            # cannot be planted.
            [ $output-$plant != profiles-folder-of-links ] || continue
            try "$victim" "$output" "$plant" refused
            count "$output in $plant, user $victim, $setting" $?
        done
    done
}

for setting in off on as-it-is; do
    case $setting in
    off) set_flags 0 0 0 0 || continue ;;
    on) set_flags 1 1 2 2 || continue ;;
    as-it-is) [ $((passed + failed)) -eq 0 ] || continue ;;
    esac
    # Without the kernel's protections each output is tried with each plant.
    case $setting in
    off | as-it-is) try_all 54321 $plants ;;
    on) try_all 54321 link second pipe file ;;
    esac
    try_all 0 link second pipe file
    settings="$settings $setting"
done
echo "fs.protected_*:$settings"
finish shared
