#!/usr/bin/env python3
"""Plants one fault of each kind in a small site, and sees that docs/check_site.py names it, and no other.

usage: check_site_test.py
"""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs"))
import check_site

GOOD = """<h1 id="top">A page</h1><a href="#top">up</a> <a href="https://example.org">away</a>
<img src="there.png" alt="a picture" srcset="there.png 1x, there.png 2x"><style>p { color: red }</style>"""

# What stands on the page, and the fault that it is; the page itself has none.
PAGES = [
    ("", None),
    ('<a href="missing.html">', "leads nowhere: missing.html"),
    ('<a href="../outside.html">', "leads nowhere: ../outside.html"),
    ('<a href="#nowhere">', "there is no such place: #nowhere"),
    ('<img src="there.png">', "an image without alt: there.png"),
    ('<img alt="x" src="https://example.org/x.png">', "needs another machine: https://example.org/x.png"),
    ('<img alt="x" src="there.png" srcset="there.png 1x, missing.png 2x">', "leads nowhere: missing.png"),
    ('<script src="//example.org/x.js"></script>', "needs another machine: //example.org/x.js"),
    ('<p style="background: url(missing.png)">', "leads nowhere: missing.png"),
    ('<style>@import "https://example.org/x.css";</style>', "needs another machine: https://example.org/x.css"),
    ('<style>p { background: url("missing.png") }</style>', "leads nowhere: missing.png"),
    ('<video src="there.png" poster="missing.png"></video>', "leads nowhere: missing.png"),
]


def faults_of(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        site = check_site.Site(folder)
        site.check_pages()
        site.check_styles_and_menus()
        site.check_names_of_pictures()
        return site.faults


def expect(files, fault):
    found = faults_of({"there.png": "", **files})
    if found != ([fault] if fault else []):
        sys.exit(f"check_site_test.py: {files}: expected {fault}, found {found}")


def main():
    for text, fault in PAGES:
        expect({"index.html": GOOD + text}, fault and f"index.html: {fault}")
    expect({"a.css": "@import 'missing.css';"}, "a.css: leads nowhere: missing.css")
    expect({"menu.js": '["Title", "missing.html#a"]'}, "menu.js: leads nowhere: missing.html#a")
    expect({"01_a/x.svg": "", "02_b/y.svg": ""}, None)
    expect({"01_a/x.svg": "", "02_b/x.svg": ""}, "tutorials/02_b.cpp: writes x.svg, as tutorials/01_a.cpp does")


if __name__ == "__main__":
    main()
