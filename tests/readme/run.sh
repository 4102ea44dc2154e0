#!/usr/bin/env bash
# Every program in README.md compiles and runs, and the op that it shows is the one in the source.
# usage: run.sh BUILD_FOLDER
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Cut the blocks out: block 1 into 1.cpp, and so on.
awk -v dir="$scratch" '
  /^```cpp$/ { n++; inside = 1; next }
  /^```$/ { inside = 0 }
  inside { print > (dir "/" n ".cpp") }' "$root/README.md"

programs=0
for block in "$scratch"/*.cpp; do
  if grep -q 'int main' "$block"; then
    MICROTAPE_BUILD=$1 "$root/tutorials/run.sh" "$block" > "$scratch/output"
    [ -s "$scratch/output" ] || { echo "README.md: a program prints nothing"; exit 1; }
    programs=$((programs + 1))
  else
    python3 - "$block" "$root"/tape/ops/*.cpp <<'PY'
import sys
block = open(sys.argv[1]).read()
if not any(block in open(source).read() for source in sys.argv[2:]):
    sys.exit("README.md shows an op that stands nowhere in tape/ops:\n" + block)
PY
  fi
done
[ "$programs" -eq 3 ] || { echo "README.md: expected 3 programs, found $programs"; exit 1; }
echo "README.md: $programs programs run, and the op is the one in the source"
