# Sourced by tutorials/start.sh and tests/run.sh: sees what this machine lacks and installs it with
# apt (Debian, Ubuntu, also under WSL) or Homebrew (macOS). Asks nothing of the network, nor for a
# password, if everything is there.

say() { printf '\n== %s\n' "$*"; }

# Runs a command in silence; prints what it said if it fails.
quietly() {
  local log
  log=$(mktemp)
  if "$@" >"$log" 2>&1; then
    rm -f "$log"
  else
    local status=$?
    cat "$log" >&2
    rm -f "$log"
    echo "failed: $*" >&2
    return "$status"
  fi
}

has() { command -v "$1" >/dev/null 2>&1; }

# Whether the compiler finds a header. What that header includes may need more -I than are given here.
has_header() {
  local homebrew=/usr/local
  if [ -d /opt/homebrew ]; then homebrew=/opt/homebrew; fi
  has c++ && printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$1" |
    c++ -I"$homebrew/include" -I"$homebrew/opt/openblas/include" -x c++ -E - >/dev/null 2>&1
}

# Prints the missing packages, by the names that apt ($1 = 1) or Homebrew ($1 = 2) gives them.
# The check, then what it needs; a ~ before the name: MicroTape works without it, so it is installed
# only together with something that is needed.
missing_packages() {
  local check argument apt brew
  while read -r check argument apt brew; do
    if ! "$check" "$argument"; then
      if [ "$1" = 1 ]; then echo "$apt"; else echo "$brew"; fi
    fi
  done <<'TABLE'
has c++ g++ gcc
has cmake cmake cmake
has ninja ninja-build ninja
has_header nlohmann/json.hpp nlohmann-json3-dev nlohmann-json
has_header CLI/CLI.hpp libcli11-dev cli11
has_header cblas.h libopenblas-dev openblas
has_header catch2/catch_test_macros.hpp ~catch2 ~catch2
has dot ~graphviz ~graphviz
TABLE
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    DEBIAN_FRONTEND=noninteractive "$@"
  elif has sudo; then
    sudo DEBIAN_FRONTEND=noninteractive "$@"
  else
    echo "please have an administrator run: $*" >&2
    return 1
  fi
}

# Installs what is missing; "$@" names further apt packages that are taken if Debian has them.
install_packages() {
  local names
  names=$(missing_packages 1)
  if has_header catch2/catch.hpp; then names=${names//\~catch2/}; fi  # the older of the two versions
  if ! grep -q '^[^~]' <<<"$names" && [ $# -eq 0 ]; then return 0; fi
  if has apt-get; then
    say "Installing" ${names//\~/} "$@"
    quietly as_root apt-get update || echo "(no package lists from the network; trying without)" >&2
    local name found=()
    for name in ${names//\~/} "$@"; do
      if apt-cache show "$name" >/dev/null 2>&1; then found+=("$name"); fi
    done
    if [ ${#found[@]} -gt 0 ]; then
      quietly as_root apt-get install -y --no-install-recommends "${found[@]}" || true
    fi
  elif has brew; then
    names=$(missing_packages 2)
    say "Installing" ${names//\~/}
    quietly brew install ${names//\~/} || true
  fi

  # What is missing now stays missing.
  names=$(missing_packages 1 | grep -v '^~' || true)
  if [ -n "$names" ]; then
    echo "These packages (by their names in Debian) are still missing:" $names >&2
    return 1
  fi
}
