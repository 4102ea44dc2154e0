#!/usr/bin/env python3
"""Checks that nothing on the site leads nowhere, and that nothing on it needs a network.

usage: check_site.py SITE

Every link to a page, a place in a page, a picture, a script or a style must be there, in the pages,
in Doxygen's menus, and in the pages that the tutorials wrote; a resource of another machine is an
error, a link to one is not. Every tutorial has its page, which leads to each page to step through
that the tutorial wrote or to one at least, and no two tutorials write a file of the same name.
Prints one line for each fault; ends with 1 if there is any.
"""
import html.parser
import os
import re
import sys
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What a browser fetches by itself, and what it fetches when somebody clicks.
RESOURCES = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("object", "data"),
             ("embed", "src"), ("source", "src"), ("image", "href"), ("image", "xlink:href"),
             ("use", "href"), ("use", "xlink:href"), ("audio", "src"), ("video", "src"),
             ("video", "poster"), ("track", "src"), ("input", "src")}
LINKS = {("a", "href"), ("a", "xlink:href"), ("area", "href")}


class Page(html.parser.HTMLParser):
    """The places of a page, and where it leads: (kind, address)."""

    def __init__(self, text):
        super().__init__()
        self.places, self.targets, self.images_without_words = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.places.update(values[key] for key in ("id", "name") if values.get(key))
        for key, value in attributes:
            if (tag, key) in RESOURCES:
                self.targets.append(("resource", value or ""))
            elif (tag, key) in LINKS:
                self.targets.append(("link", value or ""))
            elif key == "srcset":  # "small.png 1x, large.png 2x"
                self.targets += [("resource", part.split()[0]) for part in (value or "").split(",") if part.strip()]
            elif key == "style":
                self.targets += styled(value or "")
        if tag == "img" and not values.get("alt"):
            self.images_without_words.append(values.get("src"))

    handle_startendtag = handle_starttag

    def handle_data(self, text):
        if self.cdata_elem == "style":
            self.targets += styled(text)


def styled(css):
    addresses = re.findall(r"url\(\s*['\"]?([^'\")]+)", css) + re.findall(r"@import\s+['\"]([^'\"]+)", css)
    return [("resource", address) for address in addresses]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Site:
    def __init__(self, folder):
        self.folder, self.faults, self.count = folder, [], 0
        self.pages = {}
        for path in self.files(".html", ".svg"):
            self.pages[path] = Page(read(os.path.join(folder, path)))

    def files(self, *ends):
        for here, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name != "mathjax"]
            for name in sorted(names):
                if name.endswith(ends):
                    yield os.path.relpath(os.path.join(here, name), self.folder)

    def fault(self, where, what):
        self.faults.append(f"{where}: {what}")

    def check_target(self, where, kind, address):
        self.count += 1
        parts = urllib.parse.urlsplit(address)
        if parts.scheme == "data" or address in ("", "#") or address.startswith("javascript:"):
            return
        if parts.scheme or parts.netloc:
            if kind == "resource" or parts.scheme not in ("http", "https", "mailto"):
                self.fault(where, f"needs another machine: {address}")
            return
        name = urllib.parse.unquote(parts.path)
        target = os.path.normpath(os.path.join(os.path.dirname(where), name)) if name else where
        if not os.path.isfile(os.path.join(self.folder, target)) or target.startswith(".."):
            self.fault(where, f"leads nowhere: {address}")
        elif parts.fragment and target in self.pages and target.endswith(".html"):
            if urllib.parse.unquote(parts.fragment) not in self.pages[target].places:
                self.fault(where, f"there is no such place: {address}")

    def check_pages(self):
        for path, page in self.pages.items():
            for kind, address in page.targets:
                self.check_target(path, kind, address)
            for image in page.images_without_words:
                self.fault(path, f"an image without alt: {image}")

    def check_styles_and_menus(self):
        for path in self.files(".css"):
            for kind, address in styled(read(os.path.join(self.folder, path))):
                self.check_target(path, kind, address)
        # Doxygen's menus: ["Title", "page.html#place", ..] and url:"page.html".
        for path in self.files(".js"):
            for address in re.findall(r'"((?:\.\./)?[\w-]+\.html(?:#[\w-]+)?)"', read(os.path.join(self.folder, path))):
                self.check_target(path, "link", address)

    def check_tutorials(self):
        for name in sorted(os.listdir(os.path.join(ROOT, "tutorials"))):
            if not re.fullmatch(r"\d\d_\w+\.cpp", name):
                continue
            name = name[:-4]
            page = self.pages.get(f"course_{name}.html")
            if not page:
                self.fault(f"docs/course/{name}.md", f"tutorials/{name}.cpp has no page {{#course_{name}}}")
                continue
            players = [path for path in self.pages if path.startswith(name + "/") and path.endswith(".html")]
            linked = {address.split("#")[0] for _, address in page.targets}
            if players and not linked & set(players):
                self.fault(f"docs/course/{name}.md", f"leads to no page to step through: {', '.join(players)}")

    def check_names_of_pictures(self):
        # With one --out for all tutorials, none may write over what another wrote.
        writers = {}
        for tutorial in sorted(name for name in os.listdir(self.folder) if re.fullmatch(r"\d\d_\w+", name)):
            for name in sorted(os.listdir(os.path.join(self.folder, tutorial))):
                writer = writers.setdefault(name, tutorial)
                if writer != tutorial:
                    self.fault(f"tutorials/{tutorial}.cpp", f"writes {name}, as tutorials/{writer}.cpp does")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    site = Site(sys.argv[1])
    if not site.pages:
        sys.exit(f"check_site.py: there is no page in {sys.argv[1]}")
    site.check_pages()
    site.check_styles_and_menus()
    site.check_tutorials()
    site.check_names_of_pictures()
    for fault in site.faults:
        print(fault, file=sys.stderr)
    if site.faults:
        sys.exit(f"check_site.py: {len(site.faults)} faults")
    print(f"{site.count} links and resources of {len(site.pages)} pages and pictures are there.")


if __name__ == "__main__":
    main()
