#include "rattleback/parts/cut.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "rattleback/base/message.hpp"
#include "rattleback/loop/lanes.hpp"
#include "rattleback/study/ensemble.hpp"

namespace rattleback {
namespace {

/// A part that is larger than this begins at a multiple of more than one chunk.
constexpr std::uint64_t fine_chunks = 64;
/// Every part is a file in one folder, and each look at the folder is at all of them.
constexpr std::uint64_t most_files = 1'000'000;

}  // namespace

Cut::Cut(std::uint64_t trajectories, std::uint64_t parts)
    : trajectories_(trajectories),
      parts_(parts),
      chunks_(trajectories / chunk_size + (trajectories % chunk_size != 0)) {
  if (parts == 0 || parts > chunks_)
    input_error("--parts", fmt::format("{} parts are not possible (the ensemble has {} trajectories, and a part has at "
                                       "least {} of them); give 1 to {}",
                                       parts, trajectories, chunk_size, most_parts(trajectories)));
  if (parts > most_files)
    input_error("--parts", fmt::format("{} parts are too many files for one folder; give 1 to {}", parts, most_files));
  multiple_ = std::bit_floor(std::max<std::uint64_t>(1, chunks_ / parts_ / fine_chunks));
}

Range Cut::range(std::uint64_t number) const {
  const auto begin = [this](std::uint64_t n) {
    if (n == parts_) return trajectories_;
    const auto chunk = static_cast<std::uint64_t>(static_cast<unsigned __int128>(chunks_) * n / parts_);
    return chunk / multiple_ * multiple_ * chunk_size;
  };
  return {begin(number - 1), begin(number)};
}

std::string Cut::name(std::uint64_t number) const {
  const std::size_t digits = std::max<std::size_t>(3, std::to_string(parts_).size());
  return fmt::format("{:0{}}-of-{:0{}}", number, digits, parts_, digits);
}

std::uint64_t trajectories_of(const Problem& problem) { return Ensemble(problem, {0, 0}).size(); }

std::uint64_t most_parts(std::uint64_t trajectories) {
  return std::min(trajectories / chunk_size + (trajectories % chunk_size != 0), most_files);
}

}  // namespace rattleback
