#!/usr/bin/env bash
# Runs commands in a bare Debian 12, in which only the packages of debootstrap's "minbase" are installed, on a clean clone of the
# last commit. Shows what a new user gets: packages that a script forgets to install are missing there.
# usage: scripts/bare-debian.sh [--root DIRECTORY] [--certificate FILE] [--keep] COMMAND...
#   COMMAND       one shell command line each, run in this order in the clone; the first that fails ends the script
#   --root        where the system is made (default: a new directory below ${TMPDIR:-/tmp}); one that an earlier call has kept is
#                 used again, with what was built there: its clone gets the last commit
#   --certificate a certificate of a proxy, which the system shall trust
#   --keep        leaves the system for another call with --root; without it the directory of --root is removed, too
# Needs root and mmdebstrap. example: scripts/bare-debian.sh ./quickstart.sh ./test.sh
set -euo pipefail

usage() { sed -n '/^# usage/,/^# Needs/p;/^# Needs/q' "$0" | cut -c3- >&2; exit 2; }

root= certificates=() keep=no
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --root) root=${2:-}; shift 2 || usage ;;
    --certificate) certificates+=("${2:-}"); shift 2 || usage ;;
    --keep) keep=yes; shift ;;
    *) usage ;;
  esac
done
(($#)) || usage
[ "$(id -u)" -eq 0 ] || { echo "a change of the root directory needs root" >&2; exit 4; }
command -v mmdebstrap >/dev/null || { echo "mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 4; }

# Mounts of this script end with it, also when it is killed.
if [ -z "${BARE_DEBIAN_NAMESPACE:-}" ]; then
  repository=$(cd "$(dirname "$0")/.." && pwd)
  options=()
  [ "$keep" = no ] || options+=(--keep)
  for certificate in "${certificates[@]}"; do options+=(--certificate "$(realpath "$certificate")"); done
  if [ -n "$root" ] && [ -n "$(ls -A "$root" 2>/dev/null)" ] && [ ! -e "$root/root/ringside" ]; then
    echo "$root is not empty, and this script has not made it" >&2
    exit 2
  fi
  [ -n "$root" ] || root=$(mktemp -d "${TMPDIR:-/tmp}/bare-debian.XXXXXX")
  exec env BARE_DEBIAN_NAMESPACE=1 unshare --mount --pid --fork --kill-child --propagation private \
    "$repository/scripts/bare-debian.sh" --root "$(realpath -m "$root")" "${options[@]}" "$@"
fi

repository=$(cd "$(dirname "$0")/.." && pwd)
mounted=()
clean_up() {
  local at
  for ((at = ${#mounted[@]} - 1; at >= 0; --at)); do umount --recursive "${mounted[at]}"; done
  [ "$keep" = yes ] || rm -rf --one-file-system "$root"
}
trap clean_up EXIT

if [ ! -e "$root/etc/debian_version" ]; then
  echo "bare-debian: making Debian 12 in $root"
  # Without a mirror it takes Debian's own, with the updates and the security updates of the release.
  mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"
fi

# usage: mount_in OPTION... SOURCE PLACE
mount_in() {
  mkdir -p "${!#}"
  mount "$@"
  mounted+=("${!#}")
}
mount_in -t proc proc "$root/proc"
mount_in --rbind /sys "$root/sys"
mount_in --rbind /dev "$root/dev"
mount_in -t tmpfs tmpfs "$root/run"
cp /etc/resolv.conf "$root/etc/resolv.conf"

environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb)
if ((${#certificates[@]})); then
  for certificate in "${certificates[@]}"; do
    cp "$certificate" "$root/usr/local/share/ca-certificates/$(basename "${certificate%.*}").crt"
  done
  env -i "${environment[@]}" chroot "$root" update-ca-certificates >/dev/null
  environment+=(PIP_CERT=/etc/ssl/certs/ca-certificates.crt)
fi

# usage: in_the_system COMMAND...
# Its root is that of a mount namespace: what only chroot has moved gets no user namespaces from the kernel.
in_the_system() {
  env -i "${environment[@]}" unshare --mount --propagation private /bin/bash -c '
    mount --rbind "$0" "$0" && cd "$0" && mkdir -p .outside && pivot_root . .outside && umount --lazy /.outside && exec "$@"
  ' "$root" "$@"
}

commit=$(git -C "$repository" rev-parse --short=12 HEAD)
if [ -d "$root/root/ringside" ]; then
  git -C "$root/root/ringside" fetch --quiet "$repository" HEAD
  git -C "$root/root/ringside" reset --quiet --hard FETCH_HEAD
else
  git clone --quiet --no-hardlinks "$repository" "$root/root/ringside"
fi
echo "bare-debian: Debian $(cat "$root/etc/debian_version"), commit $commit, $(chroot "$root" dpkg-query -f '.\n' -W | wc -l) packages"
for command in "$@"; do
  echo "bare-debian: $command"
  begin=$SECONDS
  status=0
  in_the_system /bin/bash -c "cd /root/ringside && $command" || status=$?
  echo "bare-debian: exit code $status after $((SECONDS - begin)) s: $command"
  [ "$status" -eq 0 ] || exit "$status"
done
