#!/usr/bin/env bash
# The stages of bench/gpu on an emulated GPU: all of them run, none has a fault.  bench_gpu.sh RUN BUILD RESULTS
set -euo pipefail
run=$1 build=$2 results=$3
rm -rf "$results"
stages=(tests selftest compare sanitize suite tiles launch crossover peers targets)
for variant in tiles-32:four_particle:four_particle__ggl_vi_a:-DRATTLEBACK_TILE_LANES=32 \
  "launch-32x8:henon_heiles:henon_heiles__lobatto:-DRATTLEBACK_BLOCK_THREADS=32 -DRATTLEBACK_BLOCKS=8"; do
  IFS=: read -r name system kernel flags <<< "$variant"
  cmake -S "$(dirname "$run")/../.." -B "$build-$name" -G Ninja -DCMAKE_BUILD_TYPE=Release -DRATTLEBACK_CUDA=ON \
    -DRATTLEBACK_EMULATED=ON -DRATTLEBACK_CUDA_QUICK=ON -DRATTLEBACK_TESTS=OFF -DRATTLEBACK_BENCHMARKS=OFF -DRATTLEBACK_ISAS=scalar \
    "-DRATTLEBACK_SYSTEMS=$system" "-DRATTLEBACK_KERNELS=$kernel" "-DCMAKE_CUDA_FLAGS=$flags" > /dev/null
  cmake --build "$build-$name" > /dev/null
done
"$run" "${stages[@]}" --tiny --build "$build" --results "$results" --jobs 2 --python /usr/bin/python3
for stage in "${stages[@]}"; do
  grep -q '"status": "done"' "$results/$stage.json" || { echo "$stage did not run to its end"; exit 1; }
done
"$run" tests --tiny --build "$build" --results "$results" --jobs 2  # keeps what was there
[[ -f $results/tests.json && -f $results/tests.1.json ]]
if "$run" no-such-stage 2> /dev/null; then exit 1; fi
