#!/usr/bin/env bash
# Makes the site of the course, to be read without a network: ./docs/build.sh [--build DIR] [--out DIR]
# DIR of --build is where the tutorials are built (build/release, unless told otherwise), DIR of --out
# where the site goes (build/site; begin at its index.html). Installs what is missing, builds and runs
# the tutorials, lets Doxygen write the pages, and checks them (docs/check_*.py): what is
# undocumented, not there to be quoted, or leads nowhere, is an error.
set -euo pipefail

called_from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
source cmake/setup.sh
shopt -s nullglob

usage() { echo "Usage: docs/build.sh [--build DIR] [--out DIR]" >&2; exit 2; }
fail() { echo "docs/build.sh: $1" >&2; exit 1; }
from_caller() { case $1 in /*) echo "$1" ;; *) echo "$called_from/$1" ;; esac; }

build=$root/build/release out=$root/build/site
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) sed -n '2,6s/^# //p' docs/build.sh; exit 0 ;;
    --build) build=$(from_caller "${2:-}"); shift 2 || usage ;;
    --out) out=$(from_caller "${2:-}"); shift 2 || usage ;;
    *) usage ;;
  esac
done
# The folder is emptied, so it must be ours, or new.
if [ -e "$out" ] && [ ! -e "$out/doxygen.css" ] && [ -n "$(ls -A "$out")" ]; then
  fail "$out holds something else than a site; give --out a new folder"
fi

# Install what only the site needs.
style=/usr/share/doxygen-awesome-css mathjax=/usr/share/javascript/mathjax
extras=()
for name in doxygen python3; do
  if ! has $name; then extras+=($name); fi
done
if ! has dot; then extras+=(graphviz); fi
if [ ! -e $style ]; then extras+=(doxygen-awesome-css); fi
if [ ! -e $mathjax ]; then extras+=(libjs-mathjax); fi
install_packages ${extras[@]+"${extras[@]}"}
for name in doxygen dot python3; do
  has $name || fail "$name is missing"
done
for folder in $style $mathjax; do
  if [ ! -e $folder ]; then fail "$folder is missing"; fi
done

# Build the tutorials, and the program that writes the table of ops.
if [ ! -e "$build/CMakeCache.txt" ]; then
  quietly cmake -G Ninja -S . -B "$build" -D CMAKE_BUILD_TYPE=Release
elif ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
  fail "$build was configured for the sources of another folder; give --build one for $root"
fi
quietly cmake --build "$build" --target microtape_tutorials op_page

# Run each tutorial for its pictures and its pages to step through.
scratch=$build/docs
pictures=$scratch/pictures
rm -rf "$scratch/html" "$pictures" "$scratch/include"
mkdir -p "$scratch/html" "$scratch/include"
options_14_gpt="--steps 400"  # a quarter of a minute: enough to get below the bigram entropy
for source in tutorials/[0-9][0-9]_*.cpp tutorials/how_it_works.cpp; do
  name=$(basename "$source" .cpp)
  program=$build/tutorials/$name
  options=options_$name
  mkdir -p "$pictures/$name"
  quietly "$program" --out "$pictures/$name" ${!options-}
done
if [ -e docs/tr/10_attention.md ]; then
  quietly "$build/tutorials/10_attention" --out "$pictures/tr_10_attention" "küçük kedi ağaçta uyudu"
fi

# Let Doxygen write the pages. It sees the headers where a user's program sees them.
quietly "$build/docs/op_page" "$scratch/ops.md"
ln -s "$root" "$scratch/include/microtape"
headers=$(sed -n "s|^  \([a-z_/]*\.hpp\).*|\"$scratch/include/microtape/\1\"|p" cmake/public_headers.cmake)
written=(docs/*.md docs/course/*.md docs/tr/*.md)
pages=$(printf '"%s" ' "${written[@]}" docs/*.dox "$scratch/ops.md")
status=0
python3 docs/check_quotes.py "${written[@]}" || status=1
doxygen - >"$scratch/doxygen.log" 2>&1 <<END || status=1
@INCLUDE_PATH = "$root/docs"
@INCLUDE = Doxyfile
PROJECT_NUMBER = $(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
INPUT = $(echo $pages $headers)
OUTPUT_DIRECTORY = "$scratch/html"
STRIP_FROM_PATH = "$scratch/include" "$scratch" "$root"
STRIP_FROM_INC_PATH = "$scratch/include"
HTML_EXTRA_STYLESHEET = $style/doxygen-awesome.css docs/site.css
END
sed -e "s|$scratch/include/microtape/||" -e "s|$root/||" "$scratch/doxygen.log" >&2

# Put what the pages need beside them, so that no page asks a network.
for file in MathJax.js extensions jax/element jax/input/TeX jax/output/SVG/{config.js,jax.js,autoload} \
  jax/output/SVG/fonts/TeX; do
  mkdir -p "$scratch/html/mathjax/$(dirname $file)"
  cp -RL $mathjax/$file "$scratch/html/mathjax/$file"
done
cp -R "$pictures"/* docs/images "$scratch/html"

python3 docs/mend_pages.py "$scratch/html"
python3 docs/check_site.py "$scratch/html" || status=1
rm -rf "$out"
mkdir -p "$(dirname "$out")"
mv "$scratch/html" "$out"
if [ $status != 0 ]; then fail "the site in $out has the faults above"; fi
echo "The site: $out/index.html"
