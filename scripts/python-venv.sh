#!/usr/bin/env bash
# Makes a Python environment with packages from PyPI and prints the path of its python. Tests read our files with them. Later
# calls are fast. Installs nothing outside ${XDG_CACHE_HOME:-~/.cache}/ringside.
# usage: scripts/python-venv.sh [--system] PACKAGE==VERSION [PACKAGE...]      exit code 4 when a package cannot be installed
#   The first package names the environment.
#   --system   the environment also sees Debian's packages, PyTorch for instance
set -euo pipefail

options=()
if [ "${1:-}" = --system ]; then
  options=(--system-site-packages)
  shift
fi
(($#)) || { sed -n '4,6p' "$0" | cut -c3- >&2; exit 2; }
name=${1/==/-}${options:+-system}
home=${XDG_CACHE_HOME:-$HOME/.cache}/ringside
venv=$home/$name
mkdir -p "$home"
exec 9>"$home/$name.lock"
flock 9
if [ ! -e "$venv/complete" ]; then
  echo "$name: installing $* with what they need into $venv" >&2
  rm -rf "$venv"
  # Uses Debian's python, whose venv works when python3-venv is installed.
  python=/usr/bin/python3
  [ -x "$python" ] || python=$(command -v python3)
  "$python" -m venv "${options[@]}" "$venv" >&2 || { rm -rf "$venv"; echo "python3-venv is missing: run scripts/install-dependencies.sh --tests" >&2; exit 4; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check --timeout 60 "$@" >&2 ||
    { rm -rf "$venv"; echo "pip could not install $*: the test that reads our files with it needs it" >&2; exit 4; }
  touch "$venv/complete"
fi
echo "$venv/bin/python"
