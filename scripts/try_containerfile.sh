#!/usr/bin/env bash
# Builds the image of scripts/Containerfile, and uses it as a pod does. It needs no registry: the base image is made here, a Debian 12
# of debootstrap's "minbase".
# usage: scripts/try_containerfile.sh [--certificate FILE] BUILD
#   BUILD         a Release build, such as build/release
#   --certificate a certificate of a proxy, which the base image shall trust
# Needs root, buildah and mmdebstrap. Nothing is left behind.
set -euo pipefail

usage() { sed -n '/^# usage/,/^# Needs/p;/^# Needs/q' "$0" | cut -c3- >&2; exit 2; }

certificates=()
while [[ "${1:-}" == --* ]]; do
  case "$1" in
    --certificate) [ $# -ge 2 ] || usage; certificates+=("$(realpath "$2")"); shift 2 ;;
    *) usage ;;
  esac
done
[ $# -eq 1 ] || usage
[ -e "$1/CPackConfig.cmake" ] || { echo "$1 is no build of Ringside" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "making images here needs root" >&2; exit 4; }
for program in buildah mmdebstrap; do
  command -v "$program" >/dev/null || { echo "$program is missing: apt-get install $program" >&2; exit 4; }
done
build=$(realpath "$1")
repository=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/containerfile.XXXXXX")
# vfs and chroot need neither an overlay file system nor a container runtime.
buildah=(buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs)
clean_up() {
  "${buildah[@]}" rm --all >/dev/null 2>&1 || true  # the folder goes, too
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT

# usage: quietly COMMAND...     what it says is shown if it fails
quietly() {
  local status=0
  "$@" >"$work/log" 2>&1 || status=$?
  [ "$status" -eq 0 ] || { cat "$work/log" >&2; return "$status"; }
}

echo "try_containerfile: making the base image"
quietly mmdebstrap --variant=minbase --include=ca-certificates bookworm "$work/base.tar"
base=$("${buildah[@]}" from scratch)
quietly "${buildah[@]}" add "$base" "$work/base.tar" /
for certificate in "${certificates[@]}"; do
  name=$(basename "${certificate%.*}").crt  # others are not read
  quietly "${buildah[@]}" copy "$base" "$certificate" "/usr/local/share/ca-certificates/$name"
done
quietly "${buildah[@]}" run --isolation chroot "$base" update-ca-certificates
quietly "${buildah[@]}" commit "$base" docker.io/library/debian:12-slim
rm "$work/base.tar"

echo "try_containerfile: making the package"
quietly cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/pack"

echo "try_containerfile: building the image"
quietly "${buildah[@]}" build --isolation chroot --pull-never --file "$repository/scripts/Containerfile" --tag ringside "$work/pack"

pod=$("${buildah[@]}" from --pull-never localhost/ringside)
in_the_pod() { "${buildah[@]}" run --isolation chroot "$pod" -- "$@"; }
echo "try_containerfile: running it"
in_the_pod ringside --version
for launcher in ringside mpirun; do
  for strategy in ring ps-sync mpi; do
    [ "$launcher $strategy" != "ringside mpi" ] || continue  # strategy mpi needs mpirun
    quietly in_the_pod ringside train --launcher "$launcher" --strategy "$strategy" --workers 2 --model profile:resnet50 \
      --compute-ms 5 --steps 3 --out "/tmp/$launcher-$strategy"
    echo "trained under $strategy by $launcher"
  done
done
# As in a pod of MPIJob: the key is an operator's, of another user, and root enters by it.
in_the_pod bash -euc '
  ssh-keygen -A >/dev/null
  mkdir -p /root/.ssh /etc/operator
  ssh-keygen -q -t ed25519 -N "" -f /etc/operator/id
  cp /etc/operator/id /root/.ssh/id_ed25519
  cp /etc/operator/id.pub /root/.ssh/authorized_keys
  chown 1000:1000 /root/.ssh/authorized_keys
  chmod 0644 /root/.ssh/authorized_keys
  /usr/sbin/sshd -D -p 2222 -o ListenAddress=127.0.0.1 &
  trap "kill $!" EXIT
  for _ in $(seq 50); do
    if ssh -p 2222 -o BatchMode=yes -o ConnectTimeout=5 127.0.0.1 ringside --version 2>/tmp/ssh.err; then exit 0; fi
    sleep 0.1
  done
  echo "sshd of the image lets nobody in: $(cat /tmp/ssh.err)" >&2
  exit 1
' | sed 's/^/over ssh: /'
echo "try_containerfile: the image works"
