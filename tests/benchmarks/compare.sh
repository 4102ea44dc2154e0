#!/usr/bin/env bash
# MicroTape beside PyTorch, in one run on one machine.
set -euo pipefail
case ${1:-} in
  "") ;;
  --help | -h)
    cat <<TEXT
Usage: tests/benchmarks/compare.sh [ROUNDS]

Installs LibTorch, PyTorch and Google Benchmark if they are missing, builds the benchmarks into
build/benchmarks, runs ours and theirs in turn, ROUNDS times (default 5), and prints a table of ratios:
our time / their time. The tables go into docs/performance.md too, between its two markers. Keep the
machine idle meanwhile: the line below the tables tells whether it was.
TEXT
    exit 0 ;;
  *[!0-9]*) echo "compare.sh: ROUNDS is a number: $1; --help tells more" >&2; exit 2 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source cmake/setup.sh

extras=()
if ! has python3; then extras+=(python3); fi
if ! has_header benchmark/benchmark.h; then extras+=(libbenchmark-dev); fi
if ! has_header torch/csrc/api/include/torch/torch.h; then extras+=(libtorch-dev); fi
# Debian's PyTorch is for Debian's Python, which may not be the first one.
torch_python() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import torch' 2>/dev/null; then echo "$python"; return; fi
  done
}
if [ -z "$(torch_python)" ]; then extras+=(python3-torch); fi
if ! ls /usr/lib/*/openblas-openmp/libopenblas.so.0 >/dev/null 2>&1; then
  extras+=(libopenblas0-openmp)
fi
install_packages ${extras[@]+"${extras[@]}"}

say "Building"
quietly cmake --preset release -B build/benchmarks -D MICROTAPE_PEERS=ON -D MICROTAPE_TUTORIALS=OFF
quietly cmake --build build/benchmarks --target microtape_benchmarks --parallel 2
exec "$(torch_python)" tests/benchmarks/compare.py build/benchmarks/tests/benchmarks "${1:-5}"
