#!/usr/bin/env python3
"""Runs a program and compares what it prints with a file: the text exactly, numbers within tolerance.

usage: check_output.py [--update] [--dialogue] PROGRAM EXPECTED [ARGUMENT..]

--dialogue: types what stands behind each "> " in EXPECTED. --update: writes EXPECTED.

Runs of spaces count as one, since columns follow the width of numbers. On a line that says how far
something is off ("agrees", "[ok]") the numbers are rounding, different on each machine: there only
the text counts, and the program itself has judged the numbers.
"""
import re
import subprocess
import sys

NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)(?![\w])")
RTOL, ATOL = 2e-3, 1e-9


def is_near(a, b):
    a, b = float(a), float(b)
    return a == b or (a != a and b != b) or abs(a - b) <= RTOL * max(abs(a), abs(b)) + ATOL


def differs(printed, expected):
    text = [NUMBER.sub("#", " ".join(line.split())) for line in (printed, expected)]
    if text[0] != text[1]:
        return True
    if re.search(r"\bagrees\b|\[ok\]", printed):
        return False
    numbers = [NUMBER.findall(line) for line in (printed, expected)]
    return not all(is_near(a, b) for a, b in zip(*numbers))


def main():
    options = {word for word in sys.argv[1:3] if word.startswith("--")}
    program, path, *arguments = sys.argv[1 + len(options):]
    typed = None
    if "--dialogue" in options:
        lines = open(path, encoding="utf-8").read().splitlines(keepends=True)
        typed = "".join(line[2:] for line in lines if line.startswith("> "))
    run = subprocess.run([program, *arguments], input=typed, capture_output=True, text=True,
                         encoding="utf-8")
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}\n{run.stdout[-2000:]}{run.stderr}")
    if "--update" in options:
        open(path, "w", encoding="utf-8").write(run.stdout)
        return
    printed = run.stdout.splitlines()
    expected = open(path, encoding="utf-8").read().splitlines()
    for number, (a, b) in enumerate(zip(printed, expected), 1):
        if differs(a, b):
            sys.exit(f"{path}:{number}: printed something else\n  expected {b}\n  printed  {a}")
    if len(printed) != len(expected):
        sys.exit(f"{path}: expected {len(expected)} lines, printed {len(printed)}")


main()
