#!/usr/bin/env python3
"""Mends what Doxygen 1.9.4 gets wrong: mend_pages.py SITE

Its menus look for a function of a namespace on the page of the header, and for a friend on the page of
the class, where no such place is: they are led to the page that has it, or to the page as a whole.
A class whose nested classes are all private has a link to a list of none: it goes. Graphs stand in frames,
which neither grow nor shrink and which a screen reader passes by: they become a part of the page. Only
what Doxygen named is touched; what a person wrote is left to check_site.py.
"""
import pathlib
import re
import sys

PLACE = re.compile(r'([\w-]+\.html)#(a[0-9a-f]{32,}|nested-classes)"')
site = pathlib.Path(sys.argv[1])
texts = {path: path.read_text("utf-8") for path in sorted(site.glob("*.html")) + sorted(site.glob("*.js"))}
places = {path.name: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in texts.items()}
homes = {}
for page, found in places.items():
    for place in found:
        homes.setdefault(place, page)


def mended(match):
    page, place = match.groups()
    if place in places.get(page, ()):
        return match.group()
    return f'{homes[place]}#{place}"' if place in homes else f'{page}"'


def graph(match):
    svg = (site / match.group(1)).read_text("utf-8")
    return svg[svg.index("<svg"):]


for path, text in texts.items():
    new = PLACE.sub(mended, text)
    if "nested-classes" not in places[path.name]:
        new = re.sub(r'<a href="#nested-classes">.*?</a>( &#124;)?\s*', "", new)
    new = re.sub(r'<iframe [^>]*src="(dot_\w+\.svg)".*?</iframe>', graph, new, flags=re.DOTALL)
    if new != text:
        path.write_text(new, "utf-8")
