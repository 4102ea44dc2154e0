#!/usr/bin/env python3
"""Checks that what the pages quote from transcripts and sources is there: check_quotes.py PAGE..

Doxygen says nothing if a file does not have the text of a \\skip, \\skipline or \\until: the page then
shows nothing, or the rest of the file. Prints one line for each such text; ends with 1 if there is any.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMAND = re.compile(r"^\s*\\(dontinclude|skip|skipline|until) +(.*?)\s*$")


def faults(page):
    rest, source = [], "no file"
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        match = COMMAND.match(line)
        if not match:
            continue
        command, text = match.groups()
        if command == "dontinclude":
            source, path = text, os.path.join(ROOT, text)
            rest = open(path, encoding="utf-8").readlines() if os.path.isfile(path) else []
            continue
        # Each looks on where the one before ended; only \skip leaves its line to the next.
        found = next((i for i, quoted in enumerate(rest) if text in quoted), None)
        if found is None:
            yield f"{page}:{number}: \\{command} {text}: there is no such text in {source}, or in what is left of it"
        else:
            rest = rest[found if command == "skip" else found + 1 :]


found = [fault for page in sys.argv[1:] for fault in faults(page)]
for fault in found:
    print(fault, file=sys.stderr)
sys.exit(1 if found else 0)
