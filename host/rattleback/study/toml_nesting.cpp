#include "rattleback/study/toml_nesting.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"

namespace rattleback {
namespace {

constexpr std::size_t max_levels = 64;

class NestingScanner {
 public:
  NestingScanner(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  void operator()() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        skip_string(c);
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else {
        step(c);
        ++at_;
      }
    }
  }

 private:
  void step(char c) {
    if (c == '\n') {
      ++line_;
      if (header_) open_.clear();
      dots_ = 0;
      header_ = false;
      blank_ = true;
      return;
    }
    if (c == '[' || c == '{') {
      header_ = header_ || (blank_ && open_.empty());
      open_.push_back(level());
      dots_ = 0;
    } else if ((c == ']' || c == '}') && !open_.empty()) {
      open_.pop_back();
      dots_ = 0;
    } else if (c == ',') {
      dots_ = 0;
    } else if (c == '.') {
      ++dots_;
    }
    blank_ = blank_ && (c == ' ' || c == '\t' || c == '\r');
    if (level() > max_levels) fail();
  }

  /// Returns the level: open brackets plus dots in the keys before these brackets and in the present key.
  [[nodiscard]] std::size_t level() const { return (open_.empty() ? 0 : open_.back() + 1) + dots_; }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool multiline = text_.substr(at_, 3) == three;
    at_ += multiline ? 3 : 1;
    blank_ = false;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        at_ += 2;
        continue;
      }
      if (multiline ? text_.substr(at_, 3) == three : text_[at_] == quote) {
        at_ += multiline ? 3 : 1;
        return;
      }
      if (text_[at_] == '\n') {
        if (!multiline) return;  // invalid TOML; the parser reports the fault
        ++line_;
      }
      ++at_;
    }
  }

  [[noreturn]] void fail() const {
    const std::string where = origin_.starts_with("--") ? std::string(origin_) : fmt::format("{}:{}", origin_, line_);
    input_error(where, fmt::format("brackets and dotted keys are nested deeper than {} levels; no key of a study lies "
                                   "that deep, use fewer",
                                   max_levels));
  }

  std::string_view text_, origin_;
  std::size_t at_ = 0, line_ = 1, dots_ = 0;
  std::vector<std::size_t> open_;  ///< the level at each open bracket
  bool header_ = false;            ///< inside the brackets of [TABLE], which end with the line
  bool blank_ = true;              ///< the line has only blanks so far
};

}  // namespace

void check_nesting(std::string_view toml, std::string_view origin) { NestingScanner(toml, origin)(); }

}  // namespace rattleback
