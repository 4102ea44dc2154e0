# Sourced by the tests that need a browser: finds Chromium (in $CHROMIUM) and installs, with npm, what
# drives it. In CI nothing may be missing; elsewhere the test says what is, and ends with 77.

first_of() {
  local name
  for name in "$@"; do
    if command -v "$name"; then return; fi
  done
}

# prepare_browser SCRATCH: SCRATCH/node_modules holds what tests/player/package-lock.json names.
prepare_browser() {
  local scratch=$1 packages name
  packages=$(cd "$(dirname "${BASH_SOURCE[0]}")/player" && pwd)
  skip() {
    echo "skipped: tests in a browser need $1"
    if [ -n "${CI:-}" ]; then exit 1; fi
    exit 77
  }
  CHROMIUM=${CHROMIUM:-$(first_of chromium chromium-browser google-chrome || true)}
  if [ -z "$CHROMIUM" ]; then skip "Chromium, which is not installed"; fi
  for name in node npm; do
    if [ -z "$(first_of "$name" || true)" ]; then skip "$name, which is not installed"; fi
  done
  mkdir -p "$scratch"
  if ! cmp -s "$packages/package-lock.json" "$scratch/installed-lock.json"; then
    cp "$packages/package.json" "$packages/package-lock.json" "$scratch"
    (cd "$scratch" && npm ci --no-audit --no-fund --ignore-scripts) ||
      skip "packages that npm could not download"
    cp "$packages/package-lock.json" "$scratch/installed-lock.json"
  fi
  export CHROMIUM
}
