#!/usr/bin/env bash
# Makes a Python environment with the real tensorboard package and prints the path of its python. A test reads our event
# files with it. Later calls are fast. Installs nothing outside ${XDG_CACHE_HOME:-~/.cache}/ringside.
# usage: scripts/tensorboard-venv.sh      exit code 4 when the package cannot be installed
set -euo pipefail

version=2.20.0
home=${XDG_CACHE_HOME:-$HOME/.cache}/ringside
venv=$home/tensorboard-$version
mkdir -p "$home"
exec 9>"$home/tensorboard.lock"
flock 9
if [ ! -e "$venv/complete" ]; then
  echo "tensorboard: installing tensorboard==$version with what it needs into $venv" >&2
  rm -rf "$venv"
  # Uses Debian's python, whose venv works when python3-venv is installed.
  python=/usr/bin/python3
  [ -x "$python" ] || python=$(command -v python3)
  "$python" -m venv "$venv" >&2 || { rm -rf "$venv"; echo "python3-venv is missing: run scripts/install-dependencies.sh --tests" >&2; exit 4; }
  "$venv/bin/pip" install --quiet --disable-pip-version-check --timeout 60 "tensorboard==$version" >&2 ||
    { rm -rf "$venv"; echo "pip could not install tensorboard==$version: the test that reads event files back needs it" >&2; exit 4; }
  touch "$venv/complete"
fi
echo "$venv/bin/python"
