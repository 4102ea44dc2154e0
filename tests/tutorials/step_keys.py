#!/usr/bin/env python3
"""Plays with the stepper at a terminal: arrow keys, Enter, a corrected line, colours, Ctrl-C.

usage: step_keys.py PROGRAM
"""
import os
import pty
import subprocess
import sys
import termios


def dialogue(keys, **environment):
    """What the program prints when the keys are pressed; it must end by itself."""
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    child = subprocess.Popen([sys.argv[1], "attention"], stdin=theirs, stdout=theirs, stderr=theirs,
                             env={**os.environ, "TERM": "xterm", **environment})
    out = b""
    while b"> " not in out:  # wait for the prompt: before it, the terminal takes whole lines
        out += os.read(ours, 65536)
    os.write(ours, keys)
    status = child.wait(timeout=20)
    assert termios.tcgetattr(theirs) == before, "the terminal is not as it was"
    os.set_blocking(ours, False)
    while True:
        try:
            out += os.read(ours, 65536)
        except (BlockingIOError, OSError):
            break
    assert status == 0, status
    return out.decode()


def check(condition, out):
    if not condition:
        sys.exit(f"step at a terminal printed\n{out}")


out = dialogue(b"\x1b[C\n\x1b[D\x1b[F\x1b[H\x1b[3~quit\n", NO_COLOR="1")
steps = [line.split(",")[0] for line in out.splitlines() if line.startswith("Step ")]
check(steps == ["Step 1 of 9", "Step 2 of 9", "Step 1 of 9", "Step 9 of 9"], out)
check(out.count("6 steps forward, 3 back.") == 2 and "\x1b[1m" not in out, out)

out = dialogue("print ı\x7fQ\nnrx\x7f\x7f 4\nquit\n".encode())
check("Q is computed in step 1." in out and "\x1b[1mStep 4 of 9" in out, out)

check("6 steps forward" in dialogue(b"\x03"), "Ctrl-C does not end it")
check("6 steps forward" in dialogue(b"\x04"), "Ctrl-D does not end it")
check("\x1b[1m" not in dialogue(b"\x1b[C\x03", TERM="dumb"), "colours on a dumb terminal")
