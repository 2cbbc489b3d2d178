"""Checks that the two files of a report have the right formats, and agree.

Only the keywords that our schema uses are implemented; any other keyword is an error.
JUnit is checked for what Jenkins' xunit plug-in and GitLab require: elements, their
order, the attributes they need, and totals that equal the sums.
usage: check_report.py SCHEMA JSON JUNIT EXIT_CODE
"""
import collections
import json
import sys
import xml.etree.ElementTree as tree

TYPES = {"object": dict, "array": list, "string": str, "integer": int}
KNOWN = {"$schema", "title", "type", "required", "additionalProperties",
         "properties", "items", "const", "enum", "minimum", "maximum"}


def fail(what):
    sys.exit("check_report: " + what)


def apply(schema, value, path):
    for keyword in schema:
        if keyword not in KNOWN:
            fail("the schema's '%s' is not known here" % keyword)
    if "const" in schema and value != schema["const"]:
        fail("%s: %r is not %r" % (path, value, schema["const"]))
    if "enum" in schema and value not in schema["enum"]:
        fail("%s: %r is none of the words" % (path, value))
    if "type" in schema and (not isinstance(value, TYPES[schema["type"]])
                             or isinstance(value, bool)):
        fail("%s: %r is not of type %s" % (path, value, schema["type"]))
    if "minimum" in schema and value < schema["minimum"] or \
            "maximum" in schema and value > schema["maximum"]:
        fail("%s: %r is out of range" % (path, value))
    for name in schema.get("required", []):
        if name not in value:
            fail("%s: no '%s'" % (path, name))
    if isinstance(value, dict):
        for name, member in value.items():
            more = schema.get("additionalProperties", True)
            inner = schema.get("properties", {}).get(name, more)
            if inner is False:
                fail("%s: '%s' is not in the schema" % (path, name))
            apply({} if inner is True else inner, member, path + "." + name)
    if isinstance(value, list):
        for i, item in enumerate(value):
            apply(schema.get("items", {}), item, "%s[%d]" % (path, i))


def no_duplicates(pairs):
    names = [name for name, value in pairs]
    if len(set(names)) != len(names):
        fail("a member stands twice: %s" % names)
    return dict(pairs)


def check_json(schema, report, exit_code):
    apply(schema, report, "report")
    if report["exit"] != exit_code:
        fail("exit is %d, the command's was %d" % (report["exit"], exit_code))
    met = collections.Counter(r["verdict"] for r in report["results"])
    words = schema["properties"]["results"]["items"]["properties"]["verdict"]
    if set(report["counts"]) != set(words["enum"]):
        fail("counts has other words than the verdicts")
    for word, count in report["counts"].items():
        if met[word] != count:
            fail("%d results are '%s', not %d" % (met[word], word, count))
    names = [(r["subject"], r["name"]) for r in report["results"]]
    if len(set(names)) != len(names):
        fail("a result stands twice: %s" % names)


CODES = {"broken": 2, "survives": 2, "crashed": 3, "no-end": 4,
         "nondeterministic": 5, "incomplete": 6, "wrong-input": 1}


def check_exit(report):
    """Checks that the exit code shows what failed, and nothing else."""
    bad = {CODES[r["verdict"]] for r in report["results"]
           if r["verdict"] in CODES}
    if report["exit"] not in bad | (set() if bad else {0}):
        fail("exit %d, but the results say %s" % (report["exit"], bad or 0))


def whole(element, name):
    text = element.get(name, "")
    if not text.isdigit():
        fail("<%s>: %s is '%s'" % (element.tag, name, text))
    return int(text)


def check_totals(element, cases):
    told = [c.find("./failure") is not None for c in cases].count(True), \
        [c.find("./error") is not None for c in cases].count(True), \
        [c.find("./skipped") is not None for c in cases].count(True)
    said = tuple(whole(element, n) for n in ("failures", "errors", "skipped"))
    if whole(element, "tests") != len(cases) or told != said:
        fail("<%s>: totals %s, not %s of %d" % (element.tag, said, told,
                                                len(cases)))


def check_case(case):
    if set(case.attrib) != {"classname", "name"}:
        fail("<testcase> has %s" % set(case.attrib))
    inner = [child.tag for child in case]
    if inner[-1:] == ["system-out"]:
        inner.pop()
    if inner not in ([], ["failure"], ["error"], ["skipped"]):
        fail("<testcase> holds %s" % inner)
    for child in case:
        if child.tag in ("failure", "error") and not (
                child.get("type") and child.get("message") and child.text):
            fail("<%s> needs a type, a message and a text" % child.tag)
        if child.tag == "skipped" and not child.get("message"):
            fail("<skipped> does not say why")


def check_junit(root):
    if root.tag != "testsuites" or any(s.tag != "testsuite" for s in root):
        fail("not <testsuite> in <testsuites>")
    seen = set()
    for suite in root:
        if not suite.get("name"):
            fail("<testsuite> without a name")
        if suite[0].tag != "properties" or \
                any(c.tag != "testcase" for c in suite[1:]):
            fail("<testsuite> holds %s" % [c.tag for c in suite])
        cases = suite.findall("testcase")
        check_totals(suite, cases)
        counted = sum(int(p.get("value")) for p in suite[0])
        if counted != len(cases):
            fail("%d verdicts are counted, of %d" % (counted, len(cases)))
        for case in cases:
            check_case(case)
            key = case.get("classname"), case.get("name")
            if key in seen:
                fail("%s stands twice" % (key,))
            seen.add(key)
    check_totals(root, root.findall("./testsuite/testcase"))


PASSED = {"holds", "bounded", "sampled", "caught"}
SKIPPED = {"not-tried", "not-applicable", "stopped", "unnoticed"}


def kind_of(case):
    for kind in ("failure", "error", "skipped"):
        if case.find(kind) is not None:
            return kind
    return "passed"


def kind_of_verdict(verdict):
    if verdict in PASSED:
        return "passed"
    if verdict in SKIPPED:
        return "skipped"
    return "error" if verdict in ("crashed", "incomplete", "wrong-input") \
        else "failure"


def check_same(report, root):
    cases = root.findall("./testsuite/testcase")
    told = collections.Counter(
        (s.get("name"), c.get("name").partition(" (")[0], kind_of(c))
        for s in root for c in s.findall("testcase"))
    want = collections.Counter(
        (r["subject"], r["name"].partition(" (")[0],
         kind_of_verdict(r["verdict"])) for r in report["results"])
    if told != want:
        fail("JUnit and JSON differ: %s" % ((told - want) + (want - told)))
    for verdict in ("bounded", "sampled"):
        if report["counts"][verdict] != \
                sum(" (%s" % verdict in c.get("name") for c in cases):
            fail("'%s' does not stand in its name" % verdict)
    texts = [e.text for c in cases
             for e in c.findall("failure") + c.findall("error")]
    for result in report["results"]:
        if kind_of_verdict(result["verdict"]) in ("failure", "error") and \
                "replay" in result and not any(
                    "replay: " + result["replay"] in t for t in texts):
            fail("'%s' is not told" % result["replay"])


def check(schema, report, junit, exit_code):
    """Exits with what is wrong of the files of these names."""
    with open(schema, encoding="utf-8") as file:
        schema = json.load(file)
    with open(report, encoding="utf-8") as file:
        report = json.load(file, object_pairs_hook=no_duplicates)
    root = tree.parse(junit).getroot()
    check_json(schema, report, exit_code)
    check_exit(report)
    check_junit(root)
    check_same(report, root)


if __name__ == "__main__":
    check(*sys.argv[1:4], int(sys.argv[4]))
