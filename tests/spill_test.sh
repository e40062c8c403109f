#!/usr/bin/env bash
# Kernels that keep a trajectory on chip, without spills to local memory: those of the main study (n = 7) for up to 4 stages, and
# those of SO(3) for up to 3, the ball's with part of it in shared memory. Kernels with a tangent vector need not.
#   tests/spill_test.sh BUILD_DIRECTORY
set -euo pipefail
check() {  # pattern of units, pattern of kernels, how many there are
  local report kernels spilled
  report=$("$(dirname "$0")/../bench/ptxas" sm_90 "$build" "$1")
  echo "$report"
  kernels=$(grep -cE "$2" <<< "$report" || true)
  spilled=$(grep -E "$2" <<< "$report" | grep -vc '| 0 | 0 | 0 |$' || true)
  echo "$kernels kernels, $spilled with spills"
  ((kernels == $3 && spilled == 0))
}
build=$1
check 'chaotic_*_3__nonholonomic_lobatto__cuda' 'advance_kernel [a-z_]*lobatto_[234]_Cay \|' 6
check 'turntable_ball_space__nonholonomic_lobatto__cuda' 'trying_kernel [a-z_]*lobatto_[23]_(Cay|Exp) \|' 4
check 'heavy_top_cone__holonomic_lobatto__cuda' 'trying_kernel [a-z_]*lobatto_[23]_(Cay|Exp) \|' 4
