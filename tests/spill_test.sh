#!/usr/bin/env bash
# The kernels of the main study (n = 7) keep a trajectory in registers for up to 4 stages: no spills. Those with a tangent
# vector need not.
#   tests/spill_test.sh BUILD_DIRECTORY
set -euo pipefail
report=$("$(dirname "$0")/../bench/ptxas" sm_90 "$1" 'chaotic_*_3__nonholonomic_lobatto__cuda')
echo "$report"
kernels=$(grep -c 'advance_kernel [a-z_]*lobatto_[234]_Cay |' <<< "$report")
spilled=$(grep 'advance_kernel [a-z_]*lobatto_[234]_Cay |' <<< "$report" | grep -vc '| 0 | 0 | 0 |' || true)
echo "$kernels kernels, $spilled with spills"
((kernels == 6 && spilled == 0))
