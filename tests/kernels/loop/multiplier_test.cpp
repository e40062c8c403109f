// The multiplier that is shown where a method carries none.

#include "rattleback/loop/observe.hpp"
#include "testing.hpp"

namespace rattleback {
namespace {

template <class Entry>
class ShownMultiplier : public ::testing::Test {};
TYPED_TEST_SUITE(ShownMultiplier, CatalogueSystems, Names);

/// The observable lambda of a state whose row of multipliers was left alone is that of the continuous equations, to the last bit,
/// and so is what the host computes; a method that carries multipliers shows its own.
TYPED_TEST(ShownMultiplier, IsThatOfTheContinuousEquationsWhereNoneIsCarried) {
  using System = typename TypeParam::template of<double>;
  if constexpr (kind_of<System>() == ConstraintKind::velocity) {
    constexpr int n = System::n, m = System::m, N = element_size<System>;
    const auto system = make_default<System>();
    Random random(7);
    const auto state = random_start(system, random);
    KernelArguments arguments{};
    for (std::size_t i = 0; i < parameters_of<System>().size(); ++i) {
      arguments.parameters[i] = parameters_of<System>()[i].value;
      arguments.parameter_row[i] = -1;
    }
    ChunkLayout& rows = arguments.layout;
    rows.p = N;
    rows.lambda = N + n;
    rows.status = rows.lambda + m;
    rows.rows = rows.status + 1;
    constexpr double stale = -77.0;
    std::vector<double> chunk(static_cast<std::size_t>(rows.rows) * row_size);
    for (int i = 0; i < N; ++i) chunk[static_cast<std::size_t>(i) * row_size] = state.q[i];
    for (int i = 0; i < n; ++i) chunk[static_cast<std::size_t>(rows.p + i) * row_size] = state.p[i];
    for (int i = 0; i < m; ++i) chunk[static_cast<std::size_t>(rows.lambda + i) * row_size] = stale;
    const auto shown = [&](int i) {
      const ObservableCode code{ObservableCode::lambda, i};
      std::vector<double> value(chunk_size);
      observe_lanes<double, TypeParam::template of>(arguments, chunk.data(), 0, &code, 1, value.data());
      return value[0];
    };
    std::vector<double> parameters, by_host(m);
    for (const ParameterInfo& parameter : parameters_of<System>()) parameters.push_back(parameter.value);
    const Vector<double, n> v = velocity(system, state.q, state.p);
    EXPECT_TRUE(multiplier<TypeParam::template of>({parameters.data(), 0.0}, state.q.entry, v.entry, by_host.data()));
    for (int i = 0; i < m; ++i) {
      arguments.carries_multiplier = true;
      EXPECT_EQ(shown(i), stale);
      arguments.carries_multiplier = false;
      EXPECT_EQ(shown(i), by_host[static_cast<std::size_t>(i)]);
      EXPECT_NEAR(shown(i), state.lambda[i], 1e-11 * (1.0 + std::fabs(state.lambda[i])));
    }
  }
}

}  // namespace
}  // namespace rattleback
