#!/usr/bin/env bash
# Tests what goes through tutorials/exercises/run.sh: ./run.sh CASE BUILD, a built build folder.
# ./run.sh update BUILD writes the .out files of holes/.
set -euo pipefail

case=$1
export MICROTAPE_BUILD=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
exercises=$root/tutorials/exercises
scratch="$(mktemp -d)/with a space"
trap 'rm -rf "$(dirname "$scratch")"' EXIT
mkdir "$scratch"
cd "$scratch"
failed=0

complain() {
  printf '%s\n' "$*" >&2
  failed=1
}

# expect STATUS TEXT ARGUMENT..: $run with the arguments ends with STATUS and prints TEXT, in at
# most six lines if it checked an exercise.
run=$exercises/run.sh
expect() {
  local status=0 output
  output=$("$run" "${@:3}" 2>&1) || status=$?
  if [ "$status" != "$1" ] || [[ "$output" != *"$2"* ]] ||
    { [ "$status" = 1 ] && [ "$(wc -l <<<"$output")" -gt 6 ]; }; then
    complain "run.sh ${*:3}: expected status $1 and \"$2\", got status $status and:" "$output"
  fi
}

# The skeleton of softmax_vjp with the hole filled by a file.
filled() { sed -e "/{\"x\".*not_written_yet/{r $1" -e 'd}' "$exercises/softmax_vjp.cpp"; }

test_skeletons() {
  for source in "$exercises"/source/*.cpp; do
    name=$(basename "$source" .cpp)
    "$exercises/cut.sh" skeleton "$source" | diff - "$exercises/$name.cpp" ||
      complain "$name.cpp is not what cut.sh skeleton gives"
    "$exercises/cut.sh" solution "$source" >solution.cpp
    expect 1 "not written yet" "tutorials/exercises/$name.cpp"
    expect 0 "$name: right, 100 of 100 points" "$name" solution.cpp
  done
  expect 0 "Usage:" --help
  expect 2 "Usage:" --json
  expect 2 "Usage:"
  expect 2 "Usage:" --jsn result.json softmax_vjp
  expect 2 "Usage:" --json
  expect 2 "there is no exercise sofmax; there are: linear_vjp " sofmax
  expect 2 "there is no file mine.cpp" softmax_vjp mine.cpp
  for seed in x 07 18446744073709551616; do # JSON knows no 07
    MICROTAPE_EXERCISE_SEED=$seed expect 2 "MICROTAPE_EXERCISE_SEED is $seed" softmax_vjp
  done
  expect 2 "cannot write nowhere/a.json" --json nowhere/a.json softmax_vjp
  TMPDIR=$PWD/nowhere expect 2 "is TMPDIR a folder?" softmax_vjp

  # A part whose end nobody can tell is not given out.
  run=$exercises/cut.sh
  sed 's/SOLUTION-BEGIN/SOLUTION_BEGIN/' "$exercises/source/softmax_vjp.cpp" >misspelt.cpp
  expect 2 "misspelt.cpp: has the markers SOLUTION-END SAMPLE-BEGIN SAMPLE-END; it needs" \
    skeleton misspelt.cpp
  expect 2 "Usage:" skelton "$exercises/source/softmax_vjp.cpp"
}

# Files as they come back from students.
test_files() {
  local source=$exercises/source/softmax_vjp.cpp
  "$exercises/cut.sh" solution "$source" >solution.cpp
  printf '\xef\xbb\xbf' | cat - solution.cpp | sed 's/$/\r/' >windows.cpp
  expect 0 "softmax_vjp: right" softmax_vjp windows.cpp

  # As a browser calls the second one of a name; and a path alone.
  sed 's/return y \*/return z *  \/\/ \xfc/' solution.cpp >"softmax_vjp (1).cpp"
  expect 1 "line 28: 'z' was not declared" --json said.json softmax_vjp "softmax_vjp (1).cpp"
  python3 -m json.tool said.json >/dev/null || complain "a letter that is not UTF-8 spoils the JSON"
  cp solution.cpp -- -w.cpp
  expect 0 "softmax_vjp: right" softmax_vjp -w.cpp
  mkdir ada
  cp solution.cpp ada/softmax_vjp.cpp
  expect 0 "softmax_vjp: right" ada/softmax_vjp.cpp
  cp solution.cpp solution.txt
  expect 2 "solution.txt must be called .cpp" softmax_vjp solution.txt

  # A warning is no error: it stands before it, and in another line.
  sed 's/return y \*/return z */; s/^using.*/&\n\nint two(int unused) { return 2; }/' solution.cpp >warned.cpp
  expect 1 "line 30: 'z' was not declared" softmax_vjp warned.cpp

  # What happens before main(), and what does not link.
  { cat solution.cpp; echo 'const int never = [] { volatile int n = 0; while (n == 0) {} return n; }();'; } >loop.cpp
  expect 1 "did not end in time" softmax_vjp loop.cpp
  { cat solution.cpp; echo 'int main() {}'; } >main.cpp
  expect 1 "multiple definition of \`main': the checker has one" softmax_vjp main.cpp
}

test_holes() {
  for hole in "$here"/holes/*.hole; do
    filled "$hole" >softmax_vjp.cpp
    "$run" softmax_vjp softmax_vjp.cpp >told 2>&1 || true
    if [ "$case" = update ]; then cp told "${hole%.hole}.out"; fi
    diff "${hole%.hole}.out" told || complain "$(basename "$hole") is told something else"
    [ "$(wc -l <told)" -le 6 ] || complain "$(basename "$hole") is told more than six lines"
  done
}

test_grades() {
  # JSON knows no \001 either.
  printf '%b\n' '{"x", x, "@g", [](const Var& g, const Var& y) { return "no " + z; }}, /*\001*/' >hole
  filled hole >broken.cpp
  sed 's/return "no " + z/return g * y/' broken.cpp >wrong.cpp
  "$exercises/cut.sh" solution "$exercises/source/softmax_vjp.cpp" >right.cpp
  for solution in broken wrong right; do
    MICROTAPE_EXERCISE_SEED=7 "$run" --json $solution.json softmax_vjp $solution.cpp >/dev/null || true
  done
  "$run" --json wrong_1.json softmax_vjp wrong.cpp >/dev/null || true
  python3 - <<'PY' || failed=1
import json
broken, wrong, right, wrong_1 = (
    json.load(open(name + ".json")) for name in ("broken", "wrong", "right", "wrong_1"))
assert [r["points"] for r in (broken, wrong, right)] == [0, 0, 100]
assert all(r["exercise"] == "softmax_vjp" and r["of"] == 100 for r in (broken, wrong, right))
assert right["rules"] == [{"input": "x", "state": "right", "derivative": True, "second": True,
                           "formula": True}], right
assert (wrong["seed"], wrong_1["seed"]) == (7, 1)
assert any("is missing" in line for line in wrong["said"]), wrong
assert wrong["said"][1] != wrong_1["said"][1], "another seed has the same numbers"
assert any('return "no "' in line for line in broken["said"]), broken
PY
}

# Runs docs/teaching.md from top to bottom, in a copy of what it needs of the repository; then looks
# at the students' folder that it has written to home/exercises.
test_teaching() {
  mkdir -p repository/build home/submissions
  cp -r "$root/core" "$root/tape" "$root/tutorials" "$root/docs" repository
  ln -s "$MICROTAPE_BUILD" repository/build/release
  filled "$here/holes/captures_by_reference.hole" >home/submissions/ada.cpp
  (
    cd repository
    awk '
      /^```sh$/ { out = "commands"; print "cd \"$REPOSITORY\"" > out; next }
      /^```cpp$/ { out = "tutorials/exercises/source/sigmoid_vjp.cpp"; next }
      /^```text$/ { out = "answer" ++answers; next }
      /^```$/ { out = ""; next }
      out == "commands" && /run\.sh|ctest/ { $0 = $0 " || true" }  # not all are right
      out { print > out }' docs/teaching.md
    env -u MICROTAPE_BUILD REPOSITORY="$PWD" HOME="$scratch/home" bash -eu commands
  ) >said 2>&1 || complain "docs/teaching.md: a command fails:" "$(cat said)"

  # It does what it says.
  for line in "softmax_vjp: 0 of 100 points: dx not written yet" "this rule captures by reference" \
    "- softmax_vjp (Failed)" "sigmoid_vjp: right, 100 of 100 points" "dx = g * y * (1 - y)" \
    "sigmoid_vjp: 0 of 100 points: dx not written yet"; do
    grep -qF -e "$line" said || complain "docs/teaching.md: nothing said \"$line\":" "$(cat said)"
  done
  grep -q '"seed": 2718' home/submissions/ada.json || complain "ada.json has another seed"
  for answer in repository/answer*; do
    python3 - "$answer" "$here/softmax_rules.out" <<'PY' || complain "nobody is told $answer"
import sys
answer, told = (open(path).read() for path in sys.argv[1:])
sys.exit(answer not in told)
PY
  done

  # The folder holds no line of a solution, and one that is there is not written over.
  for source in "$exercises"/source/*.cpp; do
    sed -n '/SOLUTION-BEGIN/,/SOLUTION-END/{/SOLUTION-/d;/INSTEAD/d;s/^ *//;p}' "$source" >solution
    [ -s solution ] || complain "$source has no solution"
    if grep -rF -f solution home/exercises; then complain "this is a line of the solution"; fi
  done
  if "$exercises/release.sh" home/exercises 2>/dev/null; then complain "release.sh writes over a folder"; fi

  # In it a solution is right, for ctest too.
  unset MICROTAPE_BUILD
  run=home/exercises/run.sh
  "$exercises/cut.sh" solution "$exercises/source/softmax_vjp.cpp" >home/exercises/softmax_vjp.cpp
  expect 0 "softmax_vjp: right, 100 of 100 points" softmax_vjp
  ctest --test-dir home/exercises/build -R softmax --output-junit results.xml >said 2>&1 ||
    complain "ctest says:" "$(cat said)"
  grep -q 'failures="0"' home/exercises/build/results.xml || complain "results.xml counts a failure"
  grep -q '"points": 100' home/exercises/build/softmax_vjp.json || complain "softmax_vjp.json has no points"

  # Students may build at the same time; nobody takes what another has half written.
  rm -rf home/exercises/build
  export CMAKE_PREFIX_PATH=$scratch/home/microtape
  for i in 1 2 3; do
    "$run" softmax_vjp >said$i 2>&1 &
    sleep 4
  done
  wait
  for i in 1 2 3; do
    grep -q "softmax_vjp: right" said$i || complain "one of three at once is told:" "$(cat said$i)"
  done

  # What was changed is named; a folder of the student's own is no change.
  mkdir home/exercises/source
  sed -i.old 's/seed + 1/seed/' home/exercises/checker/softmax_vjp.cpp
  rm home/exercises/CMakeLists.txt
  expect 1 "not checked: these files were changed: CMakeLists.txt checker/softmax_vjp.cpp" softmax_vjp
  rm home/exercises/checker/checksums
  expect 1 "not checked: these files were changed: checker/checksums" softmax_vjp
}

case $case in
  skeletons | files | holes | grades | teaching) "test_$case" ;;
  update) test_holes ;;
  *) echo "there is no case $case" >&2; exit 2 ;;
esac
exit "$failed"
