#pragma once
// A study as text, and what becomes of it: what the tests of studies share.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rattleback/study/study.hpp"

namespace rattleback::tests {

inline const std::string base = R"toml([system]
name = "chaotic"
[method]
name = "nonholonomic-lobatto"
[time]
step = 0.1
end = 10.0
[ensemble]
axes = [{ name = "theta", from = 0, to = "pi/2", count = 3 }]
[ensemble.initial]
q = [0, "cos(theta)", 0, 0, 0, 0, 0]
v = [0, 0, 0, 0, 0, 0, 0]
[[observable]]
name = "energy"
[output]
trajectories = [0]
)toml";

/// `base` with one piece of text replaced.
inline std::string with(const std::string& from, const std::string& to, std::string text = base) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

inline std::string message_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    (void)Study::parse(text, "s.toml", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), Error::Kind::input);
    return error.what();
  }
  return "accepted";
}

/// `expected` may hold one "..." for a list that depends on the catalogue.
inline void expect_message(const std::string& message, const std::string& expected) {
  const auto gap = expected.find("...");
  if (gap == std::string::npos) {
    EXPECT_EQ(message, expected);
    return;
  }
  EXPECT_TRUE(message.starts_with(expected.substr(0, gap))) << message << "\nexpected\n" << expected;
  EXPECT_TRUE(message.ends_with(expected.substr(gap + 3))) << message << "\nexpected\n" << expected;
}

}  // namespace rattleback::tests
