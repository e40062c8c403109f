#include "rattleback/message.hpp"

#include <fmt/format.h>

#include "rattleback/catalogue.hpp"
#include "rattleback/error.hpp"

namespace rattleback {

void input_error(std::string_view where, std::string_view message) {
  throw Error(Error::Kind::input, where.empty() ? std::string(message) : fmt::format("{}: {}", where, message));
}

std::string did_you_mean(std::string_view word, std::span<const std::string> candidates, std::string_view otherwise) {
  const std::string best = nearest(word, candidates);
  return best.empty() ? std::string(otherwise) : fmt::format("; did you mean '{}'?", best);
}

std::string join(std::span<const std::string> words) { return fmt::format("{}", fmt::join(words, ", ")); }

}  // namespace rattleback
