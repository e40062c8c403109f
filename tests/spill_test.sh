#!/usr/bin/env bash
# Kernels without spills to local memory: those of the main study (n = 7) for up to 4 stages, and those of SO(3) and SO(3) x R^2 for
# up to 3; of the variational methods those of SO(3) for up to 3; and lane tiles: four particles (16 unknowns), the top in directors
# (18 and 30). Kernels with a tangent vector need not.
#   tests/spill_test.sh BUILD_DIRECTORY
set -euo pipefail
check() {  # units (file, or build directory and pattern), pattern of kernels, how many there are, the end of their rows (stack, spills)
  local report kernels spilled
  report=$("$here/../bench/ptxas" sm_90 $1)
  echo "$report"
  kernels=$(grep -cE "$2" <<< "$report" || true)
  spilled=$(grep -E "$2" <<< "$report" | grep -vcE "${4:-\| 0 \| 0 \| 0 \|}$" || true)
  echo "$kernels kernels, $spilled with spills"
  ((kernels == $3 && spilled == 0))
}
here=$(cd "$(dirname "$0")" && pwd)
check "$1 chaotic_*_3__nonholonomic_lobatto__cuda" 'advance_kernel [a-z_]*lobatto_[234]_Cay \|' 6
check "$here/sweep_kernels.cu" 'fast_kernel (Suslov|HeavyTop|HeavyTopCone|Ball)_[23]_(Cay|Exp) |Dipole_([123]_Vrkmk|Vcg) ' 20
check "$1 heavy_top_directors__ggl_vi_[abs]__cuda" 'section_kernel' 3 '\| 0 \| 0 \|'
check "$1 heavy_top_directors__energy_momentum__cuda" 'section_kernel' 1 '\| 0 \| 0 \|'
check "$1 four_particle__energy_momentum__cuda" 'section_kernel' 1 '\| 0 \| 0 \|'
