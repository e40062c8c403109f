#!/usr/bin/env bash
# bench/gpu on an emulated GPU: the stages run to their end, and a stage that fails, lacks time or has no GPU says so.
#   bench_gpu.sh RUN PROGRAM TESTS RESULTS [BUILD]      with BUILD: all stages
set -euo pipefail
run=$1 program=$2 tests=$3 results=$4 build=${5:-}
rm -rf "$results"
few() { "$run" "$@" --tiny --program "$program" --tests "$tests" --results "$results" --jobs 2; }
is() {  # stage status
  grep -q "\"status\": \"$2\"" "$results/$1.json" || { echo "$1 is not $2:"; cat "$results/$1.md"; exit 1; }
}

if [[ -n $build ]]; then
  stages=(build tests selftest compare sanitize suite teams launch crossover peers targets)
  few "${stages[@]}" --build "$build" --python /usr/bin/python3
else
  stages=(selftest suite launch targets)
  few "${stages[@]}"
fi
for stage in "${stages[@]}"; do is "$stage" done; done
[[ -z $build ]] || grep -q '"lanes": 32' "$results/teams.json"  # RATTLEBACK_NVRTCFLAGS reaches the kernels
grep -q '"threads": 32' "$results/launch.json"

few suite --minutes 0.001  # no time for anything; what the first run left is kept
is suite unfinished
[[ -f $results/suite.1.json ]]
few suite  # goes on
is suite done
if PTXCPU_FAIL=launch:3 few suite > /dev/null; then exit 1; fi
is suite failed
PTXCPU_DEVICES=0 few suite > /dev/null
is suite absent
if "$run" no-such-stage 2> /dev/null; then exit 1; fi
