#!/usr/bin/env python3
"""Pages in a real browser: they open from disk without an error or a request,
the slider and the keys move the profile, search and measures work, and the
structure is what docs/pages.md says.

usage: pages_browser.py PROFSIM
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

profsim = sys.argv[1]
passed = failed = 0
work = tempfile.mkdtemp()

# Steps are put into the page, each an expression that it evaluates.
HARNESS = """
<script>
(function () {
  const said = [];
  const key = (k) => document.dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}));
  const all = (s) => [...document.querySelectorAll(s)];
  const slide = (v) => { const s = document.getElementById("slider"); s.value = v; s.dispatchEvent(new Event("input")); };
  const type = (t) => { const s = document.getElementById("search"); s.value = t; s.dispatchEvent(new Event("input")); };
  for (const step of STEPS) { try { said.push(step()); } catch (e) { said.push("threw " + e); } }
  document.documentElement.append(Object.assign(document.createElement("pre"), {id: "said", textContent: JSON.stringify(said)}));
})();
</script>
"""


def check(what, good, shown=""):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print("not ok:", what, str(shown)[:1500])


def run(*words, folder=None):
    subprocess.run([os.path.abspath(profsim), *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)


def browse(page, steps, change=lambda text: text):
    """Open a page, changed by `change`; returns what the steps returned."""
    with open(page, encoding="utf-8") as file:
        text = change(file.read())
    tried = os.path.join(work, "tried.html")
    with open(tried, "w", encoding="utf-8") as file:
        file.write(text.replace("</body>", HARNESS.replace("STEPS", "[%s]" % ",\n".join("() => (%s)" % step for step in steps)) + "</body>"))
    ended = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--user-data-dir=" + os.path.join(work, "profile"), "--window-size=1400,900",
         "--dump-dom", "file://" + tried],
        capture_output=True, text=True, timeout=300, check=False)
    console = [l for l in ended.stderr.splitlines() if "CONSOLE" in l]
    check(page + ": no console message", not console, console)
    found = re.search(r'<pre id="said">(.*?)</pre>', ended.stdout, re.S)
    check(page + ": its script ran to the end", 'data-ready="yes"' in ended.stdout and found, ended.stdout[-500:])
    text = found.group(1) if found else "[]"
    for escaped, plain in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        text = text.replace(escaped, plain)
    return json.loads(text)


def same(what, got, want):
    check(what, got == want, "%r, not %r" % (got, want))


def test_heap():
    run("check", "H2", "--rules", "go1.6-late", "--save", os.path.join(work, "saved"))
    got = browse(os.path.join(work, "saved", "H2-go1.6-late-67.html"), [
        "document.documentElement.dataset.event",
        "all('.verdict')[0].textContent",
        "all('#timeline tr[data-n]').length",
        "all('#timeline tr.broken td.n')[0].textContent",
        "all('#state .wrong').length > 0",
        "key('Home'), document.documentElement.dataset.event",
        "all('#state .wrong').length",
        "all('#state .ring tbody td').map((c) => c.textContent).join('|')",
        "key('ArrowDown'), key('j'), document.documentElement.dataset.event",
        "all('#timeline td.marking').length",
        "slide(3), document.documentElement.dataset.event",
        "all('#timeline tr[data-n]')[1].click(), document.documentElement.dataset.event",
        "key('b'), document.documentElement.dataset.event",
        "key('p'), document.documentElement.dataset.event",
        "key('End'), key('ArrowDown'), document.documentElement.dataset.event",
        "key('Home'), key('d'), document.documentElement.dataset.event",
    ])
    # After event 1 the allocation is in the recent stage, where it must be.
    same("heap page", got, ["7", "\u2717 H2 broken", 7, "\u2717 7", True, "1", 0, "s1, 16 B|+1||0 / 0|\u2713",
                            "3", 1, "4", "2", "7", "6", "7", "6"])


def test_threads():
    run("explore", "explore/examples/peterson_broken.c", "--html", os.path.join(work, "threads.html"))
    got = browse(os.path.join(work, "threads.html"), [
        "all('#timeline th').length",
        "all('#timeline svg path[marker-end]').length",
        "all('#timeline tr.choice').length",
        "all('#state').map((s) => s.textContent.includes('returned an old value'))[0]",
        "key('ArrowUp'), all('#state .changed').length",
    ])
    same("threads page", got, [3, 1, 1, True, 2])


def test_tasks():
    run("replay", "fixtures/scenarios/every-event.sim", "--html", os.path.join(work, "tasks.html"))
    got = browse(os.path.join(work, "tasks.html"), [
        "all('#timeline th').map((c) => c.textContent).join()",
        "slide(25), all('#state .procs td').map((c) => c.textContent).join()",
    ])
    same("tasks page", got, ["#,tick,collection,p0,p1,p2", "p0,t1,p1,t4,p2,t2"])


def test_trace():
    """A trace in which a return comes too late, and a stack is another one."""
    def spoil(text):
        at = text.index('id="data">') + len('id="data">')
        end = text.index("</script>", at)
        data = json.loads(text[at:end])
        found = data["traces"][1]["found"]
        found[12:14] = [found[13], found[12]]
        found[15][7] = "main"
        data["broken"] = {"property": "T9", "sentence": "every return is told", "text": "session 2"}
        return text[:at] + json.dumps(data) + text[end:]

    run("replay", "fixtures/scenarios/late-return-across-sessions.sim", "--html", os.path.join(work, "trace.html"))
    steps = [
        "document.documentElement.dataset.event",
        "all('#state h3').filter((h) => h.textContent.startsWith('The trace')).length",
        "all('.trace tr.differs').map((r) => r.cells[0].textContent + r.cells[1].textContent + ' ' + r.cells[3].textContent).join()",
        "all('.trace b.wrong').map((b) => b.textContent.trim()).join()",
        "all('.trace tr.here').length",
        "all('.trace tr.differs')[0].click(), document.documentElement.dataset.event",
    ]
    same("trace page", browse(os.path.join(work, "trace.html"), steps[:3]), ["1", 2, ""])
    same("trace page, spoilt", browse(os.path.join(work, "trace.html"), steps, spoil), [
        "19", 2, "\u221219 GoSysExit,+ GoSysExit,\u221222 GoPreempt,+22 GoPreempt", "comes 2 lines later,belongs 2 lines earlier", 1, "19"])


def test_run():
    run("show", "fixtures/recordings/waits.rec", "--html", os.path.join(work, "run.html"))
    got = browse(os.path.join(work, "run.html"), [
        "all('#chart path[data-site]').length === data.sites.length + 1",
        "all('#flame div').length > 1",
        "type('main'), all('#flame div.found').length > 0 && all('#flame div.faded').length > 0",
        "type(''), all('#flame div.found').length",
        "data.locks.length > 0 && all('details').length === data.locks.length",
        "all('.key button')[0].click(), all('#site h2').length",
        "all('.tabs button')[2].click(), all('.tabs button')[2].getAttribute('aria-pressed')",
    ])
    same("run page", got, [True, True, True, 0, True, 1, "true"])


def test_campaign():
    # The command runs in one folder, and writes its page to another one.
    os.makedirs(os.path.join(work, "run", "#1"))
    os.makedirs(os.path.join(work, "pages"))
    run("check", "H2", "--rules", "go1.6-late", "--save", "#1/saved", "--html", "../pages/campaign.html",
        folder=os.path.join(work, "run"))
    got = browse(os.path.join(work, "pages", "campaign.html"), [
        "all('h1')[0].textContent",
        "all('.why').length",
        "all('a')[0].getAttribute('href')",
        "all('td.verdict.bad').length",
    ])
    same("campaign page", got, ["\u2717 1 failure", 1, "../run/%231/saved/H2-go1.6-late-67.html", 1])
    check("the page it links to is there", os.path.exists(os.path.join(work, "run/#1/saved/H2-go1.6-late-67.html")))


def main():
    try:
        for test in (test_heap, test_threads, test_tasks, test_trace, test_run, test_campaign):
            test()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print("pages-browser: %d passed, %d failed" % (passed, failed))
    return failed > 0


sys.exit(main())
