#!/usr/bin/env bash
# Kernels that keep a trajectory on chip, without spills to local memory: those of the main study (n = 7) for up to 4 stages, and
# those of SO(3) for up to 3, the ball's (n = 5) for 2; of the variational methods those of SO(3) for up to 3; of the energy-momentum
# scheme that of four particles (18 unknowns), whose Jacobian is in local memory. Kernels with a tangent vector need not.
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
check "$here/sweep_kernels.cu" 'trying_kernel ((Suslov|HeavyTop|HeavyTopCone)_[23]|Ball_2)_(Cay|Exp) |Dipole_([123]_Vrkmk|Vcg) ' 18
check "$1 four_particle__energy_momentum__cuda" 'advance_kernel energy_momentum \|' 1 '\| 0 \| 0 \|'
