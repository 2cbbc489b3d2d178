"""A page of measurements in the template of all pages: tables, plots and bars
from the JSON that docs/pages.md describes ("profsim measurements")."""
import json
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))


def template(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()


def page(title, about, sections, cards=()):
    """The page. in: cards, of value and text; sections, as docs/pages.md has
    them"""
    data = json.dumps({"format": "profsim measurements", "version": 1,
                       "title": title, "about": about, "cards": cards,
                       "sections": sections},
                      ensure_ascii=False, separators=(",", ":"))
    whole = template("page.html")
    for line, text in (
            ("@STYLE", template("page.css")),
            ("@DATA", data.replace("<", "\\u003c") + "\n"),
            ("@SCRIPT", template("page.js") + template("measurements.js"))):
        whole = whole.replace(line + "\n", text, 1)
    return whole
