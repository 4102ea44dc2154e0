#!/usr/bin/env bash
# The first five minutes: installs what is missing, builds MicroTape into build/release, and runs
# tutorials/10_attention.cpp. Running it again is quick.
set -euo pipefail
case ${1:-} in
  --help | -h)
    echo "Usage: tutorials/start.sh [ARGUMENTS...]"
    echo "Installs what is missing, builds MicroTape, and runs tutorial 10_attention with ARGUMENTS."
    exit 0 ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/setup.sh

say "1/3  Looking for a compiler, CMake and the libraries"
install_packages
say "2/3  Building MicroTape (two or three minutes the first time)"
quietly cmake --preset release
cmake --build build/release --target microtape_tutorials microtape_playground
say "3/3  Running tutorials/10_attention.cpp"
build/release/tutorials/10_attention "$@"

say "Done. Write a program of your own and run it:  ./tutorials/run.sh my.cpp"
