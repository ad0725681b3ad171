#!/bin/sh
# Checks Ringside on this machine's GPUs. Finds a Python from 3.8 on and runs gpu_check.py beside this file, whose first lines say
# what it does and which options it has.
# usage: gpu_check.sh [options of gpu_check.py]
# Exit code 4: no such Python; else that of gpu_check.py.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
for python in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 python3.8; do
  if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
    exec "$python" -B "$here/gpu_check.py" "$@"
  fi
done
echo "gpu_check.sh: no Python from 3.8 on is in PATH; install python3" >&2
exit 4
