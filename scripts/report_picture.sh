#!/usr/bin/env bash
# Takes the picture of a report's page for the README.
# usage: scripts/report_picture.sh RESULTS_DIR/report.html OUT.png [WIDTHxHEIGHT]      needs chromium, and Debian's python3-matplotlib for Pillow
set -euo pipefail

page=$(realpath "$1")
out=$(realpath -m "$2")
size=${3:-1100x1500}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
# The browser gets a temporary home, so none of its files stay.
HOME=$home XDG_CONFIG_HOME=$home XDG_CACHE_HOME=$home timeout 120 chromium --headless --no-sandbox --disable-gpu --no-first-run \
  --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars --user-data-dir="$home/profile" \
  --virtual-time-budget=10000 --window-size="${size/x/,}" --screenshot="$out" "file://$page" 2>"$home/log" ||
  { cat "$home/log" >&2; exit 1; }
# The page has few colours, so a palette of 64 keeps the picture in a third of the bytes.
/usr/bin/python3 - "$out" <<'PALETTE'
import sys
from PIL import Image
Image.open(sys.argv[1]).convert("RGB").quantize(64).save(sys.argv[1], optimize=True)
PALETTE
