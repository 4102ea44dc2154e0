#!/usr/bin/env bash
# Drives the player's page in Chromium: ./run.sh PAGES SCRATCH
# PAGES is the program player_pages, SCRATCH a folder for its pages, for what npm installs, and for
# pictures of them. Where node, npm or chromium is missing it says so and ends with 77.
set -euo pipefail

pages=$1
scratch=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

source "$here/../browser.sh"
prepare_browser "$scratch"

rm -rf "$scratch/pages" "$scratch/tests"
"$pages" "$scratch/pages"
# Node finds packages beside the tests.
mkdir -p "$scratch/tests" "$scratch/pictures"
cp "$here"/*.mjs "$scratch/tests"
cd "$scratch"
export PLAYER_PAGES="$scratch/pages" PLAYER_PICTURES="$scratch/pictures"
export PLAYER_SOURCE="$here/../../tape/view/player"
node --test tests/*.test.mjs
