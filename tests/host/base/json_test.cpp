// The one reader and the one writer of JSON.

#include "rattleback/base/json.hpp"

#include <gtest/gtest.h>

#include "rattleback/base/message.hpp"

namespace rattleback {
namespace {

TEST(Json, WritesAnyBytesAsTextThatCanBePrinted) {
  const Json json{{"name", "a\xff\x1b\u009b\u202e\U000e0001θ\n\x7f"}, {"x", 1.5}};
  const std::string text = json_text(json), lines = json_text(json, 2);
  EXPECT_TRUE(is_printable(text)) << text;
  EXPECT_EQ(printable_lines(lines), lines);
  const Json read = parse_json(text);
  EXPECT_EQ(read, parse_json(lines));
  EXPECT_EQ(read["name"], "a\ufffd\x1b\u009b\u202e\U000e0001θ\n\x7f");
  EXPECT_EQ(read["x"], 1.5);
  EXPECT_EQ(json_text({{"\xff", 1}}), "{\"\ufffd\":1}");
}

TEST(Json, ReadsWhatIsNoJsonAsNothing) {
  for (const std::string& text : {std::string(), std::string("{"), std::string("\xff"), std::string("[1,]")})
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(50)).is_array());
  EXPECT_TRUE(parse_json(nested(1'000'000)).is_discarded());
}

}  // namespace
}  // namespace rattleback
