#pragma once
// The method of euler.hpp in the catalogue.

#include <fmt/format.h>

#include "rattleback/catalogue/settings.hpp"

#include "euler.hpp"

RB_NAMESPACE_BEGIN

namespace methods {

struct TestEulerSettings {
  int parts = 1;
  double damping = 0.25;
  enum class Retraction { cay, exp } retraction = Retraction::exp;
  bool normalise = false;
  std::vector<double> push;
};

inline constexpr const char* test_retractions[] = {"cay", "exp"};
inline constexpr const char* test_retraction_types[] = {"Cay", "Exp"};
inline constexpr double test_push[] = {0.0};
inline constexpr OptionInfo test_euler_options[] = {
    option<&TestEulerSettings::parts>({.name = "parts", .text = "", .minimum = 1, .maximum = 2, .compiled = true}),
    option<&TestEulerSettings::damping>({.name = "damping", .text = "", .minimum = 0}),
    option<&TestEulerSettings::retraction>({.name = "retraction",
                                            .text = "",
                                            .choices = test_retractions,
                                            .types = test_retraction_types,
                                            .compiled = true,
                                            .scope = OptionScope::groups_matter}),
    option<&TestEulerSettings::normalise>({.name = "normalise", .text = "", .scope = OptionScope::groups_only}),
    option<&TestEulerSettings::push>(
        {.name = "push", .text = "", .minimum = -1, .maximum = 1, .standard_numbers = test_push})};

inline Settlement settle_test_euler(const TestEulerSettings& settings, const SystemEntry& system) {
  const std::vector<double>& push = settings.push;
  if (push.size() > static_cast<std::size_t>(system.n))
    return Settlement::refused(fmt::format("method.push has {} numbers (the dimension is {}); leave the last ones out",
                                           push.size(), system.n));
  TestEulerNumbers numbers{settings.damping, settings.normalise ? 1.0 : 0.0, static_cast<double>(push.size())};
  std::ranges::copy(push, numbers.push);
  Settlement settlement = Settlement::of(numbers);
  if (settings.damping > 1.0) {
    settlement.verdict = Settled::doubtful;
    settlement.message = fmt::format("method.damping = {:g} is strong", settings.damping);
  }
  return settlement;
}

inline constexpr MethodEntry test_euler{.name = "test-euler",
                                        .summary = "symplectic Euler",
                                        .source = "tests/user/euler.hpp",
                                        .order = "1",
                                        .constraints = ConstraintKind::none,
                                        .options = test_euler_options,
                                        .carries_multiplier = false,
                                        .settle = by_settings<test_euler_options, settle_test_euler>,
                                        .header = RATTLEBACK_USER "/euler.hpp",
                                        .step = "TestEuler<T, System, {parts}, {retraction}>"};

}  // namespace methods

RB_NAMESPACE_END
