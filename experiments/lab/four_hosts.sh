#!/usr/bin/env bash
# Four hosts on one machine: a network namespace each, joined by a switch, every link shaped in both
# directions. Trains a profile model in them and compares the step time with the bound.
#
# usage: four_hosts.sh [--build DIR] [--steps N] [--hosts N] [--rate 1Gbps] [--strategy NAME]
#                      [--model NAME] [--at-most RATIO] [--json] [--collective BYTES,..]
#   --collective  times single sums with collective_benchmark instead of training
#
# Needs root and iproute2. Exit code: 0 within --at-most (1.10) of the bound, 5 over it, 4 when
# something is missing here, 1 when the run failed.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/release
steps=10 hosts=4 rate=1Gbps strategy=ring model=profile:resnet50 at_most=1.10 json=no collective=

fail() { echo "four_hosts.sh: $2" >&2; exit "$1"; }

while (($# > 0)); do
  case $1 in
    --build) build=$2; shift ;;
    --steps) steps=$2; shift ;;
    --hosts) hosts=$2; shift ;;
    --rate) rate=$2; shift ;;
    --strategy) strategy=$2; shift ;;
    --model) model=$2; shift ;;
    --at-most) at_most=$2; shift ;;
    --collective) collective=$2; shift ;;
    --json) json=yes ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) fail 2 "unknown option $1" ;;
  esac
  shift
done

# What tc calls bps are bytes.
tc_rate=${rate/Gbps/gbit} tc_rate=${tc_rate/Mbps/mbit}

lab=rs$$            # prefix of all names, unique for this run
work=$(mktemp -d)   # logs, rendezvous of the benchmark, results
pids=()

namespace() { echo "$lab-h$1"; }
address() { echo "10.83.0.$(($1 + 1))"; }

# Ends what still runs and removes every namespace; veth pairs and bridge go with them.
clean_up() {
  local pid name
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  for name in $(ip netns list | awk '{print $1}'); do
    [[ $name == "$lab"-* ]] && ip netns delete "$name"
  done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# A small burst, or short messages beat the limit. Segments leave the host in bundles that fit in it, as
# from a network card that cuts them itself: a timer for every single packet would cost more CPU than
# two cores have. The shaper counts every packet's headers all the same.
shape() {
  ip -n "$1" link set "$2" gso_max_size 28672
  tc -n "$1" qdisc add dev "$2" root tbf rate "$tc_rate" burst 32kb latency 50ms
}

build_lab() {
  local host switch=$lab-sw
  ip netns add "$switch"
  ip -n "$switch" link add bridge0 type bridge
  ip -n "$switch" link set bridge0 up
  for ((host = 0; host < hosts; host++)); do
    local ns port=port$host
    ns=$(namespace "$host")
    ip netns add "$ns"
    ip -n "$ns" link add eth0 type veth peer name "$port" netns "$switch"
    ip -n "$switch" link set "$port" master bridge0 up
    ip -n "$ns" address add "$(address "$host")/24" dev eth0
    ip -n "$ns" link set lo up
    ip -n "$ns" link set eth0 up
    shape "$ns" eth0
    shape "$switch" "$port"
  done
}

# Starts `command rank` in the background in every host's namespace, waits for all.
on_every_host() {
  local host failed=0
  for ((host = 0; host < hosts; host++)); do
    "$@" "$host" >"$work/out.$host" 2>"$work/log.$host" &
    pids+=($!)
  done
  for ((host = 0; host < hosts; host++)); do
    wait "${pids[host]}" || { failed=1; echo "host $host failed:" >&2; tail -n 20 "$work/log.$host" >&2; }
  done
  pids=()
  return $failed
}

benchmark_rank() {
  exec ip netns exec "$(namespace "$1")" "$build/bin/collective_benchmark" \
    "ranks=$hosts" "rank=$1" "address=$(address "$1")" "store=$work/store" "bytes=$collective" rounds=3
}

train_rank() {
  RANK=$1 WORLD_SIZE=$hosts LOCAL_RANK=0 MASTER_ADDR=$(address 0) MASTER_PORT=29500 \
    exec ip netns exec "$(namespace "$1")" "$build/bin/ringside" train --strategy "$strategy" \
    --model "$model" --steps "$steps" --insecure-network --link "$rate" --out "$work/run"
}

# Prints the comparison of summary.json; exit code 5 when it is over the limit.
judge() {
  python3 - "$work" "$at_most" "$json" "$hosts" "$rate" <<'PYTHON'
import json, pathlib, sys
work, at_most, as_json, hosts, rate = sys.argv[1:]
paths = sorted(pathlib.Path(work).glob("run/**/summary.json"))
if len(paths) != 1:
    sys.exit(f"four_hosts.sh: expected one summary.json, found {len(paths)}")
summary = json.loads(paths[0].read_text())
step, bound = summary["step_ms"]["median"], summary["bound_ms"]
ratio = step / bound
row = {"benchmark": "lab", "strategy": summary["strategy"], "model": summary["model"], "hosts": int(hosts), "rate": rate,
       "step_ms": step, "bound_ms": bound, "ratio": round(ratio, 4), "at_most": float(at_most)}
if as_json == "yes":
    print(json.dumps(row))
else:
    print(f"{row['model']} under {row['strategy']}, {hosts} hosts at {rate}: {step:.1f} ms a step, bound {bound:.1f} ms, "
          f"ratio {ratio:.3f}")
sys.exit(0 if ratio <= float(at_most) else 5)
PYTHON
}

((EUID == 0)) || fail 4 "network namespaces need root"
command -v ip >/dev/null && command -v tc >/dev/null || fail 4 "iproute2 is not installed"
build_lab
if [[ -n $collective ]]; then
  on_every_host benchmark_rank
  cat "$work/out.0"
else
  on_every_host train_rank
  judge
fi
