#!/usr/bin/env bash
# Drives the player's page in Chromium: ./run.sh PAGES SCRATCH
# PAGES is the program player_pages, SCRATCH a folder for its pages, for what npm installs, and for
# pictures of them. Where node, npm or chromium is missing it says so and ends with 77.
set -euo pipefail

pages=$1
scratch=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

first_of() {
  local name
  for name in "$@"; do
    if command -v "$name"; then return; fi
  done
}
# In CI nothing may be missing.
skip() {
  echo "skipped: the tests of the player need $1"
  if [ -n "${CI:-}" ]; then exit 1; fi
  exit 77
}

CHROMIUM=${CHROMIUM:-$(first_of chromium chromium-browser google-chrome || true)}
if [ -z "$CHROMIUM" ]; then skip "Chromium, which is not installed"; fi
for name in node npm; do
  if [ -z "$(first_of "$name" || true)" ]; then skip "$name, which is not installed"; fi
done

# Install what package-lock.json names, unless it is there.
mkdir -p "$scratch"
if ! cmp -s "$here/package-lock.json" "$scratch/installed-lock.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$scratch"
  (cd "$scratch" && npm ci --no-audit --no-fund --ignore-scripts) ||
    skip "packages that npm could not download"
  cp "$here/package-lock.json" "$scratch/installed-lock.json"
fi

rm -rf "$scratch/pages" "$scratch/tests"
"$pages" "$scratch/pages"
# Node finds packages beside the tests.
mkdir -p "$scratch/tests" "$scratch/pictures"
cp "$here"/*.mjs "$scratch/tests"
cd "$scratch"
export CHROMIUM PLAYER_PAGES="$scratch/pages" PLAYER_PICTURES="$scratch/pictures"
export PLAYER_SOURCE="$here/../../tape/view/player"
node --test tests/*.test.mjs
