// What the program knows of a system of formulas without compiling it is what the concepts find in its header: its form, and the methods
// that take it. The headers are printed in the build.

#include <string_view>

#include <gtest/gtest.h>

#include "printed_forms.hpp"
#include "rattleback/lie/lie.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/system.hpp"
#include "takes.hpp"

namespace {

using namespace rattleback;

template <class System>
void expect_form(std::string_view name, const SystemForm& printed) {
  constexpr SystemForm compiled = form_of<System>();
  EXPECT_EQ(printed.constraint, compiled.constraint) << name;
  EXPECT_EQ(printed.on_group, compiled.on_group) << name;
  EXPECT_EQ(printed.driven, compiled.driven) << name;
  EXPECT_EQ(printed.hamiltonian_alone, compiled.hamiltonian_alone) << name;
  EXPECT_EQ(printed.of_momentum, compiled.of_momentum) << name;
  EXPECT_EQ(printed.separable, compiled.separable) << name;
  EXPECT_EQ(printed.separable_form, compiled.separable_form) << name;
  EXPECT_EQ(printed.affine, compiled.affine) << name;
  EXPECT_EQ(printed.offset, compiled.offset) << name;
  EXPECT_EQ(printed.explicit_velocity, compiled.explicit_velocity) << name;
  EXPECT_EQ(printed.lagrange_top, compiled.lagrange_top) << name;
  EXPECT_EQ(printed.conserves_energy, compiled.conserves_energy) << name;
  const std::uint64_t taking = methods_that_take<System>();
  for (std::size_t i = 0; i < std::size(builtin_methods); ++i)
    EXPECT_EQ(builtin_methods[i]->take(printed), (taking >> i & 1) != 0) << name << ' ' << builtin_methods[i]->name;
}

TEST(PrintedSystems, HaveTheFormThatTheConceptsFind) {
  using T = double;
#define RB_EXPECT(type, ...) expect_form<InTime<type>>(#type, SystemForm __VA_ARGS__);
  RB_PRINTED(RB_EXPECT)
}

}  // namespace
