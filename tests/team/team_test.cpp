// A team's lanes run as threads under the thread sanitizer, which ends the program with an error where two of them meet without
// a sync() between; their results are those of one thread, to the last bit.

#include <cstring>

#include <gtest/gtest.h>

#include "cases.hpp"
#include "crew.hpp"

namespace {

class Teams : public testing::TestWithParam<std::size_t> {};

TEST_P(Teams, ComputeWhatOneThreadComputes) {
  TeamCase alone = cases_for_one_thread()[GetParam()], crew = cases_for_a_crew()[GetParam()];
  ASSERT_GT(crew.lanes, 1);
  ASSERT_EQ(alone.chunk, crew.chunk);
  const auto row = [&](int r) { return &alone.chunk[static_cast<std::size_t>(r) * rattleback::row_size]; };
  const rattleback::ChunkLayout& rows = alone.arguments.layout;
  const double *steps = row(rows.steps), *status = row(rows.status), *crossings = row(rows.crossings);
  for (const std::int64_t target : {2, 5}) {
    alone.arguments.target = crew.arguments.target = target;
    alone.advance(alone.arguments, alone.chunk.data());
    team_crew::Crew(crew.lanes).run([&] { crew.advance(crew.arguments, crew.chunk.data()); });
    EXPECT_EQ(std::memcmp(alone.chunk.data(), crew.chunk.data(), alone.chunk.size() * sizeof(double)), 0) << target;
  }
  EXPECT_EQ(*status, 0.0);
  EXPECT_EQ(*crossings, 1.0);
  EXPECT_EQ(*steps, 5.0);
}

INSTANTIATE_TEST_SUITE_P(, Teams, testing::Range(std::size_t{0}, cases_for_one_thread().size()),
                         [](const auto& test) { return cases_for_one_thread()[test.param].name; });

}  // namespace
