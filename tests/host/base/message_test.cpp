// Texts of users and files in messages and on terminals.

#include "rattleback/base/message.hpp"

#include <gtest/gtest.h>

namespace rattleback {
namespace {

TEST(Message, ShowsNoControlCharacter) {
  EXPECT_EQ(printable("plain \\ \"text\""), "plain \\ \"text\"");
  EXPECT_EQ(printable("\x1b[31m\n\t\x7f\xff θ"), "\\x1b[31m\\n\\t\\x7f\\xff θ");
  EXPECT_EQ(printable_lines("a\x1b\n\n\xff\n"), "a\\x1b\n\n\\xff\n");
  EXPECT_EQ(printable_lines(printable_lines("\x9b\n")), printable_lines("\x9b\n"));
}

TEST(Message, EscapesCharactersByTheirCode) {
  const auto code = [](char32_t c) { return "<" + std::to_string(static_cast<unsigned>(c)) + ">"; };
  EXPECT_EQ(escape_unprintable("aθ\x1b\u0085\u202e\U000e0001", code), "aθ<27><133><8238><917505>");
  EXPECT_EQ(escape_unprintable("\xff\xc3", code), "\xff\xc3");
  EXPECT_EQ(escape_unprintable("\xe2\x80", code), "\xe2\x80");
}

}  // namespace
}  // namespace rattleback
