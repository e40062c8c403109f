// The methods that take a system of the catalogue are those whose step takes its type.

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "rattleback/builtin/systems.hpp"
#include "rattleback/lie/lie.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/mechanics/system.hpp"
#include "rattleback/study/catalogue.hpp"
#include "takes.hpp"

namespace rattleback {
namespace {

template <class System>
void expect_same(std::string_view type) {
  const auto systems = Catalogue::instance().systems();
  const auto found =
      std::ranges::find_if(systems, [&](const SystemEntry* entry) { return entry->source_text.type == type; });
  ASSERT_NE(found, systems.end()) << type;
  const std::uint64_t taking = methods_that_take<System>();
  EXPECT_NE(taking, 0u) << type;
  for (std::size_t i = 0; i < std::size(builtin_methods); ++i)
    EXPECT_EQ(builtin_methods[i]->take(**found), (taking >> i & 1) != 0) << type << ' ' << builtin_methods[i]->name;
}

TEST(Catalogue, MethodsTakeTheSystemsThatTheirStepsTake) {
  using T = double;
#define RB_EXPECT(id, header, ...) expect_same<__VA_ARGS__>(#__VA_ARGS__);
  RB_SYSTEMS(RB_EXPECT)
#undef RB_EXPECT
}

}  // namespace
}  // namespace rattleback
