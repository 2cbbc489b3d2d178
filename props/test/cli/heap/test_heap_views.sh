#!/bin/sh
# The views of a recorded heap agree with each other: the summary, collapsed
# stacks, speedscope and flame graphs have the same sums and are well formed;
# `diff` of two runs adds up to the difference of their sums, with signs.
#
# usage: props/test/cli/heap/test_heap_views.sh PROFSIM
set -u
profsim=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
recording=fixtures/recordings/python-index.rec
other=fixtures/recordings/waits.rec
passed=0
failed=0

# same NAME GOT WANT: one check
same() {
    if [ -n "$2" ] && [ "$2" = "$3" ]; then
        passed=$((passed + 1))
        echo "ok: $1"
    else
        failed=$((failed + 1))
        echo "FAILED: $1: '$2' instead of '$3'"
    fi
}

# sum NAME: prints the bytes in that line of the summary
sum() {
    sed -n "s/^$1 *\([0-9]*\) bytes.*/\1/p" "$folder/summary"
}

"$profsim" show "$recording" --out "$folder/out" >"$folder/summary" || exit 1
for what in "peak peak" "exit at exit" "allocs allocated"; do
    measure=${what%% *}
    want=$(sum "${what#* }")
    same "collapsed stacks, $measure" \
        "$("$profsim" show --folded --by "$measure" "$recording" |
            awk '{ bytes += $NF } END { print bytes }')" "$want"
    same "speedscope and flames, $measure" \
        "$(python3 - "$folder/out" "$measure" <<'END'
import json, re, sys, xml.etree.ElementTree as tree
folder, measure = sys.argv[1:]
with open(folder + "/heap.speedscope.json", encoding="utf-8") as file:
    scope = json.load(file)
# The properties that https://www.speedscope.app/file-format-schema.json
# requires.
assert scope["$schema"].startswith("https://www.speedscope.app/")
frames = scope["shared"]["frames"]
assert all(isinstance(frame["name"], str) for frame in frames)
assert len({frame["name"] for frame in frames}) == len(frames)
profile, = [p for p in scope["profiles"] if p["name"] == measure]
assert profile["type"] == "sampled" and profile["unit"] == "bytes"
assert profile["startValue"] == 0
assert len(profile["samples"]) == len(profile["weights"])
assert all(sample and all(0 <= frame < len(frames) for frame in sample)
           for sample in profile["samples"])
assert profile["endValue"] == sum(profile["weights"])
# The boxes of a row lie side by side, within the box above them.
svg = tree.parse(folder + "/" + measure + ".svg").getroot()
rows, space = {}, "{http://www.w3.org/2000/svg}"
for group in svg.iter(space + "g"):
    box = group.find(space + "rect")
    left, width = float(box.get("x")), float(box.get("width"))
    rows.setdefault(float(box.get("y")), []).append((left, left + width))
    title = group.find(space + "title").text
    if len(rows) == 1:
        flames = int(re.search(r"^(\d+) bytes", title, re.M).group(1))
for y in sorted(rows):
    boxes = sorted(rows[y])
    assert all(a[1] <= b[0] + 0.01 for a, b in zip(boxes, boxes[1:]))
    assert all(any(p[0] - 0.01 <= b[0] and b[1] <= p[1] + 0.01
                   for p in rows[y - 17]) for b in boxes if y - 17 in rows)
assert len(rows) > 5
assert flames == profile["endValue"]
print(flames)
END
)" "$want"
done

# The rows of a diff of two runs add up to the difference of the runs.
for by in peak exit allocs; do
    "$profsim" diff --by $by --top 100000 "$other" "$recording" >"$folder/diff"
    same "rows of diff, $by" \
        "$(awk '/^ +[+-][0-9]+ / { if ($0 ~ /  in all$/) all = $1 + 0
            else rows += $1 } END { print all - rows }' "$folder/diff")" 0
    "$profsim" show "$other" >"$folder/summary"
    old=$(sum "$([ $by = peak ] && echo peak || { [ $by = exit ] &&
        echo "at exit" || echo allocated; })")
    same "before, $by" \
        "$(awk '/  in all$/ { print $3 }' "$folder/diff")" "$old"
done
same "growth comes first" \
    "$(awk '/^ +[+-][0-9]+ / && !/in all$/ { if (n++ && $1 + 0 > last) bad = 1
        last = $1 + 0 } END { print bad + 0, (n > 100) }' "$folder/diff")" "0 1"
same "a run does not differ from itself" \
    "$("$profsim" diff "$recording" "$recording" | tail -n 1)" \
    "no site changed"

# FILE ALLOCATION... (SITE:SIZE): write a recording as docs/recording.md
# describes, with three sites and every kind of loss
write() { # FILE ALLOCATION... (SITE:SIZE)
    python3 - "$@" <<'END'
import sys, zlib
def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])
def text(word):
    return number(len(word)) + word.encode()
def block(kind, payload):
    global crc
    head = kind.encode() + len(payload).to_bytes(4, "little")
    crc = zlib.crc32(payload, zlib.crc32(head, crc))
    return head + crc.to_bytes(4, "little") + payload
crc = 0
sites = ["alpha", "beta", "gamma"]
allocs = [word.split(":") for word in sys.argv[2:]]
events = b"".join(b"\1" + number(1000) + number(int(size)) + number(sites.index(site))
                  for site, size in allocs)
file = b"PROFREC\n\2\0\0\0"
file += block("A", b"".join(map(number, [1000000000, 0, 7, 1, 0, 8, 1])) + text("x"))
file += block("S", b"".join(map(text, sites)))
file += block("F", b"".join(number(32) + number(0) + number(i + 1) + number(0) * 3
                            for i in range(3)))
file += block("K", b"".join(number(0) + number(1) + number(i) for i in range(3)))
file += block("T", number(7) + text("x"))
file += block("E", events)
file += block("Z", number(len(allocs)) + number(0) * 4 + number(len(allocs)) +
              number(7) + b"".join(number(11 + i) for i in range(7)))
open(sys.argv[1], "wb").write(file)
END
}
write "$folder/one.rec" alpha:64 beta:8 gamma:300 alpha:17
write "$folder/two.rec" alpha:32 alpha:32 beta:8 gamma:300 alpha:17
"$profsim" show "$folder/one.rec" >"$folder/summary"
same "each loss is told" \
    "$(sed -n 's/^not recorded *\([0-9]*\) .*/\1/p' "$folder/summary" | tr '\n' ' ')" \
    "11 12 13 14 15 16 17 "
same "sites from the largest" \
    "$(awk '/^never freed/ { on = 1 } /^$/ { on = 0 } on && /%/ { printf "%s %s;", $1, $5 }' \
        "$folder/summary")" "300 gamma;81 alpha;8 beta;"
same "classes of sizes" \
    "$(awk '/^by size/ { on = 1; next } on { gsub("-", " "); $1 = $1 }
        on && /^[0-9]/ { printf "%s-%s:%s ", $1, $2, $6 }' "$folder/summary")" \
    "8-15:1 16-31:1 64-127:1 256-511:1 "
same "time to the end" \
    "$(awk '/^over time/ { on = 1 } /^$/ { on = 0 } on && /^ *[0-9.]+ / { end = $3 }
        END { print end }' "$folder/summary")" 389
same "objects that differ at the same bytes" \
    "$("$profsim" diff --by allocs "$folder/one.rec" "$folder/two.rec" 2>"$folder/lacks" |
        awk '/alpha/ { print $1, $2, $3, $4, $5 }')" "+0 +1 81 81 alpha"
same "a diff says what each file lacks" \
    "$(sed -n 's/^profsim diff: .*\/\(.*\): not recorded \([0-9]*\) .*/\1 \2/p' "$folder/lacks" |
        tr '\n' ' ')" \
    "$(for file in one two; do printf "$file.rec %d " 11 12 13 14 17; done)"
for wrong in "diff" "diff $recording" "diff a b c" "diff $recording x.rec" \
    "diff --by x $recording $recording" "run --by x $recording"; do
    "$profsim" $wrong >"$folder/words" 2>"$folder/errors"
    same "refused: $wrong" "$? $(wc -l <"$folder/errors")" "1 1"
done
echo "heap views: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
