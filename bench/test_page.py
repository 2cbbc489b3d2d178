#!/usr/bin/python3
"""The page and the JSON of a run, made of rows that are written here.

usage: test_page.py [plots]   with plots: also those, which need matplotlib
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
table,hit,16,100,zipf,1,(lower bound),ns,19,0.01,0.95,7,ok,,0
table,hit,16,100,zipf,1,<peer>,ns,60,0.01,3,7,ok,met,2
table,hit,16,1000000,zipf,1,profsim,ns,200,0.01,1,7,ok,,0
table,hit,16,1000000,zipf,1,<peer>,ns,250,0.01,1.25,7,ok,missed,2
table,hit,16,1000000,zipf,1,uthash,ns,,0.01,,7,noisy,,
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

goals = "\n".join(page.goals(run))
check("met, missed and noisy numbers are counted wrongly",
      "1 met, 1 missed; 1 of 6 numbers" in goals)
check("the missed goal is not told with what was reached",
      re.search("n=1000000.*<td>1.25</td><td>2</td><td>200 ns</td>", goals))
check("a name goes into the page as it is",
      "&lt;peer&gt;" in goals and "<peer>" not in goals)
check("the caches are not those of the header",
      run.cache_bytes() == {"L2": 2 << 20, "L3": 260 << 20, "TLB": 8 << 20})
rows = json.loads(page.as_json(run))
check("the JSON does not say how it was made", rows["command"] == 'say "x"')
check("the JSON has other rows than the run",
      [row["median"] for row in rows["rows"]] == [20, 19, 60, 200, 250, None] and
      rows["rows"][4]["goal"] == "missed")
check("one size is no plot",
      page.plot(run, "one", "table|hit|16|*|zipf|1", [100], ["profsim"], 16) == "")
if sys.argv[1:] == ["plots"]:
    whole = "\n".join(page.page(run))
    check("the same rows give another page", whole == "\n".join(page.page(run)))
    check("caches that fill between 100 and a million are not L2 and the TLB",
          sorted(re.findall('id="full-([A-Z0-9]*)"', whole)) == ["L2", "TLB"])
    check("the plot has other lines than its entrants",
          re.findall(r'id="(profsim|uthash|\(lower bound\))"', whole) ==
          ["profsim", "(lower bound)"])
    check("a name goes into a plot as it is", "<peer>" not in whole)
print("page: %d passed, %d failed" % (passed, failed))
sys.exit(failed > 0)
