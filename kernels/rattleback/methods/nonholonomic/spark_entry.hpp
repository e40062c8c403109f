#pragma once
// SPARK in the catalogue.

#include "rattleback/catalogue/common_options.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

struct SparkSettings {
  int stages = 2;
};

inline constexpr OptionInfo spark_options[] = {stages_option<&SparkSettings::stages>()};

inline constexpr MissingOption spark_without[] = {
    {"composition",
     "the stages set the order, 2s-2; set stages = 3 for order 4, 4 for order 6. The methods nonholonomic-leapfrog, "
     "nonholonomic-dla and nonholonomic-energy have compositions"},
    {"retraction", "it is a method on R^n, where all retractions are the same; leave the option out"}};

inline constexpr MethodEntry nonholonomic_spark{
    .name = "nonholonomic-spark",
    .summary =
        "Lobatto SPARK with the constraint on moments of the stage velocities; constraint exact at the nodes, "
        "symmetric, no "
        "multiplier carried: also for motions that contract",
    .source =
        "L. O. Jay, Solution of index 2 implicit differential-algebraic equations by Lobatto Runge-Kutta methods; "
        "Lagrange-d'Alembert SPARK integrators for nonholonomic Lagrangian systems",
    .order = "q, p: 2s-2",
    .constraints = ConstraintKind::velocity,
    .takes = needs::affine_on_rn,
    .options = spark_options,
    .carries_multiplier = false,
    .missing = spark_without,
    .needs = "configuration space R^n, with a constraint affine in v",
    .driven = true,
    .symmetric = always_symmetric,
    .header = "rattleback/methods/nonholonomic/spark.hpp",
    .step = "SparkStep<T, System, {stages}>"};

}  // namespace methods

RB_NAMESPACE_END
