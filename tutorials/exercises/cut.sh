#!/usr/bin/env bash
# Cuts one part out of the source of an exercise: cut.sh skeleton|solution|sample source/NAME.cpp
#
# Between SOLUTION-BEGIN and SOLUTION-END stands the solution; lines that begin with // INSTEAD are
# what the skeleton has in its place. Between SAMPLE-BEGIN and SAMPLE-END stands what the checker
# compares with.
set -euo pipefail
awk -v part="$1" '
  function keep(line) { if (line == "") { blank = blank "\n" } else { print blank line; blank = "" } }
  { marker = $1 == "//" ? $2 : "" }
  marker == "SOLUTION-BEGIN" { solution = 1; next }
  marker == "SOLUTION-END" { solution = 0; next }
  marker == "SAMPLE-BEGIN" { sample = 1; next }
  marker == "SAMPLE-END" { sample = 0; next }
  sample || part == "sample" { if (sample && part == "sample") keep($0); next }
  marker == "INSTEAD" { if (part == "skeleton") { sub(/\/\/ INSTEAD /, ""); keep($0) }; next }
  solution && part == "skeleton" { next }
  { keep($0) }' "$2"
