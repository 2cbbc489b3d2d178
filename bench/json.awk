# json.awk -- the rows of a run as JSON. usage: see bench/run

function quoted(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}

function number(text) {
    return text == "" ? "null" : text + 0
}

BEGIN {
    printf "{\"command\": %s, \"commit\": %s, \"machine\": %s, ", \
        quoted(command), quoted(commit), quoted(machine)
    printf "\"compiler\": %s, \"rows\": [", quoted(compiler)
}

{
    printf "%s\n  {\"noun\": %s, \"operation\": %s, \"depth\": %d, \"n\": %d, ", \
        (NR > 1 ? "," : ""), quoted($1), quoted($2), $3, $4
    printf "\"order\": %s, \"threads\": %d, \"entrant\": %s, \"unit\": %s, ", \
        quoted($5), $6, quoted($7), quoted($8)
    printf "\"median\": %s, \"spread\": %s, \"ratio\": %s, \"rounds\": %d, ", \
        number($9), number($10), number($11), $12
    printf "\"state\": %s, \"goal\": %s, \"goal_value\": %s}", quoted($13), \
        $14 == "" ? "null" : quoted($14), number($15)
}

END {
    print "\n]}"
}
