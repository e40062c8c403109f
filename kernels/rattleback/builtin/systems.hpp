#pragma once
// The systems of the catalogue. A list calls X(identifier, header in systems/, type over T) for each instance. The first
// instance of a system name is the default of the name.

#include "rattleback/systems/holonomic/cylindrical_pendulum.hpp"
#include "rattleback/systems/holonomic/double_spherical_pendulum.hpp"
#include "rattleback/systems/holonomic/four_particle.hpp"
#include "rattleback/systems/holonomic/heavy_top_directors.hpp"
#include "rattleback/systems/holonomic/modified_pendulum.hpp"
#include "rattleback/systems/holonomic/pendulum.hpp"
#include "rattleback/systems/holonomic/rigid_body_matrix.hpp"
#include "rattleback/systems/holonomic/tethered_satellites.hpp"
#include "rattleback/systems/holonomic/torus_particle.hpp"
#include "rattleback/systems/holonomic/variable_mass_pendulum.hpp"
#include "rattleback/systems/nonholonomic/chaotic.hpp"
#include "rattleback/systems/nonholonomic/chaplygin_sleigh.hpp"
#include "rattleback/systems/nonholonomic/isokinetic_particle.hpp"
#include "rattleback/systems/nonholonomic/nonholonomic_particle.hpp"
#include "rattleback/systems/nonholonomic/pendulum_cvt.hpp"
#include "rattleback/systems/nonholonomic/rattleback.hpp"
#include "rattleback/systems/nonholonomic/suslov.hpp"
#include "rattleback/systems/nonholonomic/turntable_ball.hpp"
#include "rattleback/systems/nonholonomic/vertical_disc.hpp"
#include "rattleback/systems/unconstrained/angle_pendulum.hpp"
#include "rattleback/systems/unconstrained/dipole_on_a_stick.hpp"
#include "rattleback/systems/unconstrained/heavy_top.hpp"
#include "rattleback/systems/unconstrained/henon_heiles.hpp"
#include "rattleback/systems/unconstrained/kepler.hpp"
#include "rattleback/systems/unconstrained/magnetic_polar.hpp"
#include "rattleback/systems/unconstrained/order_barrier.hpp"
#include "rattleback/systems/unconstrained/rigid_body_spring.hpp"

#define RB_CHAOTIC_SYSTEMS(X)                                                                \
  X(chaotic_printed_3, "nonholonomic/chaotic.hpp", Chaotic<T, 3, ChaoticVariant::printed>)   \
  X(chaotic_printed_2, "nonholonomic/chaotic.hpp", Chaotic<T, 2, ChaoticVariant::printed>)   \
  X(chaotic_printed_4, "nonholonomic/chaotic.hpp", Chaotic<T, 4, ChaoticVariant::printed>)   \
  X(chaotic_printed_5, "nonholonomic/chaotic.hpp", Chaotic<T, 5, ChaoticVariant::printed>)   \
  X(chaotic_printed_6, "nonholonomic/chaotic.hpp", Chaotic<T, 6, ChaoticVariant::printed>)   \
  X(chaotic_printed_7, "nonholonomic/chaotic.hpp", Chaotic<T, 7, ChaoticVariant::printed>)   \
  X(chaotic_printed_8, "nonholonomic/chaotic.hpp", Chaotic<T, 8, ChaoticVariant::printed>)   \
  X(chaotic_printed_9, "nonholonomic/chaotic.hpp", Chaotic<T, 9, ChaoticVariant::printed>)   \
  X(chaotic_printed_10, "nonholonomic/chaotic.hpp", Chaotic<T, 10, ChaoticVariant::printed>) \
  X(chaotic_printed_11, "nonholonomic/chaotic.hpp", Chaotic<T, 11, ChaoticVariant::printed>) \
  X(chaotic_printed_12, "nonholonomic/chaotic.hpp", Chaotic<T, 12, ChaoticVariant::printed>) \
  X(chaotic_contact_3, "nonholonomic/chaotic.hpp", Chaotic<T, 3, ChaoticVariant::contact>)   \
  X(chaotic_contact_2, "nonholonomic/chaotic.hpp", Chaotic<T, 2, ChaoticVariant::contact>)   \
  X(chaotic_contact_4, "nonholonomic/chaotic.hpp", Chaotic<T, 4, ChaoticVariant::contact>)   \
  X(chaotic_contact_5, "nonholonomic/chaotic.hpp", Chaotic<T, 5, ChaoticVariant::contact>)   \
  X(chaotic_contact_6, "nonholonomic/chaotic.hpp", Chaotic<T, 6, ChaoticVariant::contact>)   \
  X(chaotic_contact_7, "nonholonomic/chaotic.hpp", Chaotic<T, 7, ChaoticVariant::contact>)   \
  X(chaotic_contact_8, "nonholonomic/chaotic.hpp", Chaotic<T, 8, ChaoticVariant::contact>)   \
  X(chaotic_contact_9, "nonholonomic/chaotic.hpp", Chaotic<T, 9, ChaoticVariant::contact>)   \
  X(chaotic_contact_10, "nonholonomic/chaotic.hpp", Chaotic<T, 10, ChaoticVariant::contact>) \
  X(chaotic_contact_11, "nonholonomic/chaotic.hpp", Chaotic<T, 11, ChaoticVariant::contact>) \
  X(chaotic_contact_12, "nonholonomic/chaotic.hpp", Chaotic<T, 12, ChaoticVariant::contact>)

#define RB_NONHOLONOMIC_SYSTEMS(X)                                                                      \
  X(nonholonomic_particle, "nonholonomic/nonholonomic_particle.hpp", NonholonomicParticle<T>)           \
  X(pendulum_cvt, "nonholonomic/pendulum_cvt.hpp", PendulumCvt<T>)                                      \
  X(chaplygin_sleigh, "nonholonomic/chaplygin_sleigh.hpp", ChaplyginSleigh<T>)                          \
  X(isokinetic_particle, "nonholonomic/isokinetic_particle.hpp", IsokineticParticle<T>)                 \
  X(vertical_disc, "nonholonomic/vertical_disc.hpp", VerticalDisc<T>)                                   \
  X(turntable_ball_space, "nonholonomic/turntable_ball.hpp", TurntableBall<T, TurntableVariant::space>) \
  X(turntable_ball_body, "nonholonomic/turntable_ball.hpp", TurntableBall<T, TurntableVariant::body>)   \
  X(rattleback, "nonholonomic/rattleback.hpp", Rattleback<T>)                                           \
  X(suslov, "nonholonomic/suslov.hpp", Suslov<T>)

#define RB_HOLONOMIC_SYSTEMS(X)                                                                       \
  X(planar_pendulum, "holonomic/pendulum.hpp", Pendulum<T, 2>)                                        \
  X(spherical_pendulum, "holonomic/pendulum.hpp", Pendulum<T, 3>)                                     \
  X(planar_pendulum_magnetic, "holonomic/pendulum.hpp", MagneticPendulum<T, 2>)                       \
  X(spherical_pendulum_magnetic, "holonomic/pendulum.hpp", MagneticPendulum<T, 3>)                    \
  X(modified_pendulum, "holonomic/modified_pendulum.hpp", ModifiedPendulum<T>)                        \
  X(tethered_satellites, "holonomic/tethered_satellites.hpp", TetheredSatellites<T>)                  \
  X(variable_mass_pendulum, "holonomic/variable_mass_pendulum.hpp", VariableMassPendulum<T>)          \
  X(double_spherical_pendulum, "holonomic/double_spherical_pendulum.hpp", DoubleSphericalPendulum<T>) \
  X(torus_particle, "holonomic/torus_particle.hpp", TorusParticle<T>)                                 \
  X(cylindrical_pendulum, "holonomic/cylindrical_pendulum.hpp", CylindricalPendulum<T>)               \
  X(four_particle, "holonomic/four_particle.hpp", FourParticle<T>)                                    \
  X(heavy_top_directors, "holonomic/heavy_top_directors.hpp", HeavyTopDirectors<T>)                   \
  X(rigid_body_matrix, "holonomic/rigid_body_matrix.hpp", RigidBodyMatrix<T>)

#define RB_UNCONSTRAINED_SYSTEMS(X)                                               \
  X(henon_heiles, "unconstrained/henon_heiles.hpp", HenonHeiles<T>)               \
  X(kepler, "unconstrained/kepler.hpp", Kepler<T>)                                \
  X(magnetic_polar, "unconstrained/magnetic_polar.hpp", MagneticPolar<T>)         \
  X(angle_pendulum, "unconstrained/angle_pendulum.hpp", AnglePendulum<T>)         \
  X(dipole_on_a_stick, "unconstrained/dipole_on_a_stick.hpp", DipoleOnAStick<T>)  \
  X(rigid_body_spring, "unconstrained/rigid_body_spring.hpp", RigidBodySpring<T>) \
  X(order_barrier, "unconstrained/order_barrier.hpp", OrderBarrier<T>)            \
  X(heavy_top, "unconstrained/heavy_top.hpp", HeavyTop<T>)                        \
  X(heavy_top_cone, "unconstrained/heavy_top.hpp", HeavyTopCone<T>)

#define RB_SYSTEMS(X)        \
  RB_CHAOTIC_SYSTEMS(X)      \
  RB_NONHOLONOMIC_SYSTEMS(X) \
  RB_HOLONOMIC_SYSTEMS(X)    \
  RB_UNCONSTRAINED_SYSTEMS(X)
