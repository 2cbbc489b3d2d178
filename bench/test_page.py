#!/usr/bin/python3
# build: args=''
"""Tests the page and the JSON of a run, on rows that are written here.

usage: test_page.py
"""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import page  # noqa: E402

ROWS = """# made by: say "x"
# commit c
# machine m
# caches L2 2048 KB, L3 266240 KB, TLB 2048 pages
noun,operation,depth,n,order,threads,entrant,unit,median,spread,ratio,rounds,\
state,goal,goal_value
table,hit,16,100,zipf,1,profsim,ns,20,0.01,1,7,ok,,0
table,hit,16,100,zipf,1,boost,ns,19,0.01,0.95,7,ok,,0
table,hit,16,100,zipf,1,<peer>,ns,60,0.01,3,7,ok,met,2
table,hit,16,1000000,zipf,1,profsim,ns,200,0.01,1,7,ok,,0
table,hit,16,1000000,zipf,1,<peer>,ns,250,0.01,1.25,7,ok,missed,2
table,hit,16,1000000,zipf,1,absl,ns,,0.01,,7,noisy,,
"""
passed = failed = 0


def check(name, good):
    global passed, failed
    passed += bool(good)
    failed += not good
    if not good:
        print("page:", name)


with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    file.write(ROWS)
    file.flush()
    run = page.Run(file.name)

cards, missed = page.goals(run)
check("met, missed and noisy numbers are counted wrongly",
      [card[0] for card in cards] == [1, 1, "1 of 6"])
check("the missed goal is not told with what was reached",
      missed["rows"] == [["table: hit d=16 n=1000000 zipf", "<peer>", "1.25",
                          "2", "200 ns"]])
check("the caches are not those of the header",
      run.cache_bytes() == {"L2": 2 << 20, "L3": 260 << 20, "TLB": 8 << 20})
rows = json.loads(page.as_json(run))
check("the JSON does not say how it was made", rows["command"] == 'say "x"')
check("the JSON has other rows than the run",
      [row["median"] for row in rows["rows"]] == [20, 19, 60, 200, 250, None] and
      rows["rows"][4]["goal"] == "missed")
check("one size is no plot",
      page.plot(run, "one", "table|hit|16|*|zipf|1", [100], ["profsim"], 16) is None)
plots = [s["plot"] for s in page.sections(run) if "plot" in s]
# 2 MiB and 8 MiB over 12 + 16 + 8 * 16 + 64 bytes of a bucket.
check("caches that fill between 100 and a million are not L2 and the TLB",
      plots[0]["marks"] == [[9532, "L2"], [38130, "TLB"]])
check("the plot has other lines than its entrants",
      [line["name"] for line in plots[0]["series"]] ==
      ["profsim", "boost"] and
      plots[0]["series"][0]["points"] == [(100, 20.0), (1000000, 200.0)])
whole = page.page(run)
check("the same rows give another page", whole == page.page(run))
data = whole[whole.index('id="data">') + 10:]
data = data[:data.index("</script>")]
check("a name goes into the page as it is", "<" not in data and
      ["table: hit d=16 n=1000000 zipf", "<peer>"] ==
      json.loads(data)["sections"][0]["rows"][0][:2])
check("the page loads something", not re.search(r'(src|href)="?https?:', whole))
print("page: %d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
