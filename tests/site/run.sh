#!/usr/bin/env bash
# Opens the pages of the site in Chromium: ./run.sh SITE SCRATCH
# SITE is what docs/build.sh made, SCRATCH a folder for what npm installs (that of the tests of the
# player has the same) and for pictures. Where node, npm or chromium is missing it says so and ends
# with 77.
set -euo pipefail

site=$(cd "$1" && pwd)
scratch=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../browser.sh"
prepare_browser "$scratch"

# Node finds packages beside the tests.
rm -rf "$scratch/site_tests"
mkdir -p "$scratch/site_tests" "$scratch/site_pictures"
cp "$here"/*.mjs "$scratch/site_tests"
cd "$scratch"
export SITE="$site" SITE_PICTURES="$PWD/site_pictures"
node --test site_tests/*.test.mjs
