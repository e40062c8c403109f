// The CUDA kernels that tests/spill_test.sh watches: sweeps on SO(3) and SO(3) x R^2 for up to three stages, of the Lobatto
// methods and of the variational Runge-Kutta-Munthe-Kaas and Crouch-Grossman methods, and nothing else,
// for the units of the catalogue take minutes to compile.

#define RATTLEBACK_ISA cuda
#include "rattleback/loop/instantiate.cuh"
#include "rattleback/methods/lie/vcg.hpp"
#include "rattleback/methods/lobatto/lobatto.hpp"
#include "rattleback/systems/nonholonomic/suslov.hpp"
#include "rattleback/systems/nonholonomic/turntable_ball.hpp"
#include "rattleback/systems/unconstrained/dipole_on_a_stick.hpp"
#include "rattleback/systems/unconstrained/heavy_top.hpp"

namespace rattleback {
inline namespace cuda {

template <class T>
using Ball = TurntableBall<T, TurntableVariant::space>;

template <class Tau, int S>
struct Lobatto {
  template <class T, class System>
  using of = LobattoStep<T, System, Tau, S>;
};

template <int S>
struct Vrkmk {
  template <class T, class System>
  using of = VrkmkStep<T, System, S>;
};
struct Vcg {
  template <class T, class System>
  using of = VcgStep<T, System>;
};

// the report names a kernel after its Step_
#define KERNEL(System, Tau, S)                             \
  struct Step_##System##_##S##_##Tau : Lobatto<Tau, S> {}; \
  template __global__ void fast_kernel<System, Step_##System##_##S##_##Tau>(const __grid_constant__ KernelArguments);
#define KERNELS(System)  \
  KERNEL(System, Cay, 2) \
  KERNEL(System, Exp, 2) \
  KERNEL(System, Cay, 3) \
  KERNEL(System, Exp, 3)
KERNELS(Ball)
KERNELS(HeavyTop)
KERNELS(HeavyTopCone)
KERNELS(Suslov)

#define DIPOLE(name, Method)             \
  struct Step_Dipole_##name : Method {}; \
  template __global__ void fast_kernel<DipoleOnAStick, Step_Dipole_##name>(const __grid_constant__ KernelArguments);
DIPOLE(1_Vrkmk, Vrkmk<1>)
DIPOLE(2_Vrkmk, Vrkmk<2>)
DIPOLE(3_Vrkmk, Vrkmk<3>)
DIPOLE(Vcg, Vcg)

}  // namespace cuda
}  // namespace rattleback
