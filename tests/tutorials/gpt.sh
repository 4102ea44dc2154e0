#!/bin/sh
# Tests of tutorials/14_gpt.cpp: a brief run, the same run cut in two, Ctrl-C, and what it refuses.
#
# usage: gpt.sh PROGRAM FOLDER CASE     (FOLDER is emptied)
set -eu
program=$1
reference=$(cd "$(dirname "$0")/../reference" && pwd)
folder=$2/$3
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

fail() {
  echo "gpt.sh: $1" >&2
  exit 1
}

# A brief run with further options; what it prints goes into run.txt.
brief() {
  "$program" --brief "$@" > run.txt || fail "ended with $?: $(cat run.txt)"
}

case $3 in
  brief)
    brief --out "$folder"
    grep -q '^step 20/20 ' run.txt || fail "no line for the last step"
    grep -q 'All .* checks hold' run.txt || fail "no verdict"
    grep -q 'bigram entropy' loss_curve.svg || fail "no curve"
    grep -q 'dW_E = ' gpt.equations.txt || fail "no derivation"
    test -s gpt.html || fail "no page to step through"
    test -s gpt.safetensors || fail "no checkpoint"
    if grep -q "$(printf '\r')" run.txt; then fail "a carriage return in a file"; fi
    ;;
  resume)
    # 7 is between two validations; so the cut is nowhere convenient.
    brief --steps 14 --checkpoint whole
    brief --steps 7 --checkpoint half
    brief --steps 14 --checkpoint rest --resume half --seed 9
    cmp whole rest || fail "a run in two halves differs from the whole"
    if cmp -s whole half; then fail "the second half changed nothing"; fi
    brief --steps 14 --checkpoint other --seed 9
    if cmp -s whole other; then fail "another seed changed nothing"; fi
    ;;
  interrupt)
    # In the background of a script SIGINT is ignored, until the program asks for it.
    "$program" --brief --steps 100000000 --checkpoint gpt.safetensors > run.txt &
    trap 'kill -KILL $! 2> error.txt || true' EXIT
    while ! grep -q '^step' run.txt; do sleep 0.1; done
    kill -INT $!
    wait $! || fail "Ctrl-C ended it with $?"
    grep -q 'Interrupted. To go on: --resume' run.txt || fail "it does not say how to go on"
    brief --resume gpt.safetensors --steps 0 --checkpoint gpt.safetensors
    grep -q 'Going on after step [1-9]' run.txt || fail "the checkpoint does not load"
    ;;
  refuse)
    refuse() {
      if "$program" --brief --checkpoint refused "$@" > run.txt 2> error.txt; then
        fail "accepted: $*"
      fi
      grep -q "$expected" error.txt || fail "another text: $(cat error.txt)"
    }
    expected='no such token' refuse --prompt '~'
    expected='the prompt is empty' refuse --prompt ''
    expected='cannot read' refuse --text missing.txt
    expected='does not exist' refuse --resume missing.safetensors
    expected='not a checkpoint' refuse --resume "$reference/chain.safetensors"
    ;;
  *) fail "no such case: $3" ;;
esac
