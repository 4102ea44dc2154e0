#!/usr/bin/env bash
# Cuts one part out of the source of an exercise: cut.sh skeleton|solution|sample source/NAME.cpp
# It prints nothing if a marker is missing: a solution might go out to students.
#
# Between SOLUTION-BEGIN and SOLUTION-END stands the solution; lines that begin with // INSTEAD are
# what the skeleton has in its place. Between SAMPLE-BEGIN and SAMPLE-END stands what the checker
# compares with.
set -euo pipefail
case "$# ${1:-}" in
  "2 skeleton" | "2 solution" | "2 sample") ;;
  *) echo "Usage: cut.sh skeleton|solution|sample source/NAME.cpp" >&2; exit 2 ;;
esac
awk -v part="$1" '
  function keep(line) { text = text line "\n"; if (line != "") { kept = text } }
  { marker = $1 == "//" ? $2 : "" }
  marker ~ /^(SOLUTION|SAMPLE)-(BEGIN|END)$/ { markers = markers " " marker }
  marker == "SOLUTION-BEGIN" { solution = 1; next }
  marker == "SOLUTION-END" { solution = 0; next }
  marker == "SAMPLE-BEGIN" { sample = 1; next }
  marker == "SAMPLE-END" { sample = 0; next }
  sample || part == "sample" { if (sample && part == "sample") keep($0); next }
  marker == "INSTEAD" { if (part == "skeleton") { sub(/\/\/ INSTEAD /, ""); keep($0) }; next }
  solution && part == "skeleton" { next }
  { keep($0) }
  END {
    if (markers !~ /^( SOLUTION-BEGIN SOLUTION-END)+ SAMPLE-BEGIN SAMPLE-END$/) {
      print "cut.sh: " FILENAME ": has the markers" markers "; it needs SOLUTION-BEGIN SOLUTION-END," \
        " once or more, then SAMPLE-BEGIN SAMPLE-END" >"/dev/stderr"
      exit 2
    }
    printf "%s", kept
  }' "$2"
