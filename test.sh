#!/usr/bin/env bash
# Every test: installs missing packages, checks the format, builds, runs clang-tidy on the files that the last commit and the
# working tree change (for about a minute; scripts/lint.sh checks every file), runs the tests.
# usage: ./test.sh [--sanitizers | --ecosystem]
#   --sanitizers   then the same tests without libtorch, once under AddressSanitizer with UBSan and once under ThreadSanitizer:
#                  two more builds. The release tests then also build all of Ringside as a directory of another project
#                  (otherwise only a part of it)
#   --ecosystem    only the tests that need large packages from PyPI: JAX, Keras 3 on JAX and on TensorFlow, Spark, Flyte, in
#                  environments that scripts/python-venv.sh keeps
set -euo pipefail
cd "$(dirname "$0")"

presets=(release)
long=OFF
ecosystem=no
case "${1:-}" in
  "") ;;
  --sanitizers) presets=(release asan tsan); long=ON ;;
  --ecosystem) ecosystem=yes ;;
  *) echo "usage: ./test.sh [--sanitizers | --ecosystem]" >&2; exit 2 ;;
esac

more=()
[ "$ecosystem" = no ] || more=(--ecosystem)
scripts/install-dependencies.sh --tests "${more[@]}"
scripts/lint.sh --format
log=$(mktemp)
trap 'rm -f "$log"' EXIT
left_out=()
nanobind=$(scripts/python-venv.sh scikit-build-core==1.1.2 nanobind==3.1.0)
if [ "$ecosystem" = yes ]; then
  cmake --preset release -DRINGSIDE_PYTHON_PACKAGE=ON -DPython_EXECUTABLE="$nanobind" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  cmake --build build/release --target ringside ringside_python
  export RINGSIDE=$PWD/build/release/bin/ringside PYTHONPATH=$PWD/build/release/python
  jax=$(scripts/python-venv.sh jax==0.10.2 keras==3.15.1)
  tensorflow=$(scripts/python-venv.sh tensorflow-cpu==2.21.0 keras==3.15.1)
  "$jax" tests/python/ecosystem_test.py Jax Keras.test_on_jax Imports
  "$tensorflow" tests/python/ecosystem_test.py Keras.test_on_tensorflow Imports
  spark=$(scripts/python-venv.sh --system pyspark==4.0.5)
  flyte=$(scripts/python-venv.sh --system flytekit==1.16.31)
  OMP_NUM_THREADS=1 "$spark" tests/python/spark_test.py
  OMP_NUM_THREADS=1 "$flyte" tests/python/flyte_test.py
  echo "all tests passed: JAX, Keras on JAX, Keras on TensorFlow, Spark, Flyte"
  exit 0
fi
for preset in "${presets[@]}"; do
  # A module that a sanitizer instruments needs an interpreter that loads the sanitizer first.
  python=()
  [ "$preset" != release ] || python=(-DRINGSIDE_PYTHON_PACKAGE=ON -DPython_EXECUTABLE="$nanobind")
  echo "== $preset: build"
  cmake --preset "$preset" -DRINGSIDE_LONG_TESTS="$long" "${python[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
  cmake --build "build/$preset"
  if [ "$preset" = release ]; then
    echo "== clang-tidy on what changed"
    # A copy without a git history cannot show what changed.
    if base=$(git rev-parse --verify --quiet HEAD~1 || git rev-parse --verify --quiet HEAD); then
      scripts/tidy.py --changed "$base" --within 60 | tee "$log"
    else
      echo "LEFT OUT: clang-tidy, because git tells no commit here" | tee "$log"
    fi
    mapfile -t left_out < <(grep '^LEFT OUT' "$log" || true)
    grep -q '^NCCL_LIBRARY:.*=/' build/release/CMakeCache.txt ||
      left_out+=("LEFT OUT: the tests of strategy nccl and of cuda: models, because CUDA's toolkit or NCCL is not installed")
  fi
  echo "== $preset: test"
  ctest --preset "$preset"
done
[ ${#left_out[@]} -eq 0 ] || printf '%s\n' "${left_out[@]}"
echo "all tests passed: ${presets[*]}"
