#!/usr/bin/env bash
# Kernels without spills to local memory: those of the main study (n = 7) with 4 stages, and those of SO(3) and SO(3) x R^2 with 3;
# of the variational methods those of SO(3) with 3; and teams of lanes: the top in directors (18 and 30 unknowns).
# Fewer stages need fewer registers. Kernels with a tangent vector may spill.
#   tests/spill_test.sh PROGRAM
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
check() {  # names of the catalogue, pattern of kernels, how many there are, the end of their rows (stack, spills)
  local report kernels spilled
  report=$("$here/../bench/ptxas" "$program" "$1")
  echo "$report"
  kernels=$(grep -cE "$2" <<< "$report" || true)
  spilled=$(grep -E "$2" <<< "$report" | grep -vcE "${4:-\| 0 \| 0 \| 0 \|}$" || true)
  echo "$kernels kernels, $spilled with spills"
  ((kernels == $3 && spilled == 0))
}
program=$1
check '^chaotic_(printed|contact)_m3_nonholonomic_lobatto_s4$' ': advance ' 2
check '^(suslov|heavy_top|turntable_ball_space)_.*lobatto_s3_(cay|exp)$' ': fast ' 8
check '^dipole_on_a_stick_.*(vrkmk_s3|vcg)$' ': fast ' 2
check '^heavy_top_directors__(ggl_vi_[abs]|energy_momentum)$' ': advance ' 4 '\| 0 \| 0 \|'
