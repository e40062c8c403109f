#include "rattleback/statistics.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include <unistd.h>

#include "rattleback/error.hpp"

namespace rattleback {

double statistic_of(const Moments& m, const std::string& name) {
  if (m.count == 0.0) return std::numeric_limits<double>::quiet_NaN();
  if (name == "mean") return m.mean;
  if (name == "std") return std::sqrt(m.squares / m.count);
  if (name == "mse") return m.error_squares / m.count;
  if (name == "rms") return std::sqrt(m.error_squares / m.count);
  if (name == "min") return m.minimum;
  if (name == "max") return m.maximum;
  return m.error_maximum;  // maxabs
}

void ChunkTree::push(const Moments& chunk) {
  Moments node = chunk;
  // bit l of the count says that a finished subtree of 2^l chunks waits
  for (std::uint64_t bits = pushed_; bits & 1; bits >>= 1) {
    node = combine(waiting_.back(), node);
    waiting_.pop_back();
  }
  waiting_.push_back(node);
  ++pushed_;
}

Moments ChunkTree::result() const {
  Moments node = waiting_.back();
  for (std::size_t i = waiting_.size() - 1; i-- > 0;) node = combine(waiting_[i], node);
  return node;
}

ValueStore::ValueStore(std::uint64_t series, std::uint64_t trajectories) : trajectories_(trajectories) {
  const std::uint64_t bytes = series * trajectories * sizeof(double);
  if (bytes <= (std::uint64_t{1} << 28)) {
    memory_.resize(series * trajectories);
    return;
  }
  std::string name = (std::filesystem::temp_directory_path() / "rattleback-XXXXXX").string();
  file_ = mkstemp(name.data());
  if (file_ >= 0) unlink(name.c_str());
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes)) != 0)
    throw Error(Error::Kind::runtime, "cannot make a temporary file for quantiles (" +
                                          std::string(std::strerror(errno)) + "); point TMPDIR to a larger disk");
}

ValueStore::~ValueStore() {
  if (file_ >= 0) close(file_);
}

void ValueStore::write(std::uint64_t series, std::uint64_t first, const double* values, std::uint64_t count) {
  const std::uint64_t position = series * trajectories_ + first;
  if (file_ < 0) {
    std::copy_n(values, count, memory_.begin() + static_cast<std::ptrdiff_t>(position));
    return;
  }
  const auto bytes = static_cast<ssize_t>(count * sizeof(double));
  if (pwrite(file_, values, static_cast<std::size_t>(bytes), static_cast<off_t>(position * sizeof(double))) != bytes)
    throw Error(Error::Kind::runtime, "cannot write the temporary file of the quantiles (" +
                                          std::string(std::strerror(errno)) + "); point TMPDIR to a larger disk");
}

std::vector<double> ValueStore::quantiles(std::uint64_t series, const std::vector<double>& levels) const {
  std::vector<double> x(trajectories_);
  if (file_ < 0) {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(series * trajectories_), trajectories_, x.begin());
  } else {
    const auto bytes = static_cast<ssize_t>(trajectories_ * sizeof(double));
    if (pread(file_, x.data(), static_cast<std::size_t>(bytes),
              static_cast<off_t>(series * trajectories_ * sizeof(double))) != bytes)
      throw Error(Error::Kind::runtime, "cannot read back the temporary file of the quantiles");
  }
  std::erase_if(x, [](double value) { return std::isnan(value); });
  std::vector<double> result;
  for (const double level : levels) {
    if (x.empty()) {
      result.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const double position = level * static_cast<double>(x.size() - 1);
    const auto below = static_cast<std::ptrdiff_t>(position);
    std::nth_element(x.begin(), x.begin() + below, x.end());
    const double lower = x[static_cast<std::size_t>(below)];
    const double fraction = position - static_cast<double>(below);
    const double upper = fraction > 0.0 ? *std::min_element(x.begin() + below + 1, x.end()) : lower;
    result.push_back(lower + fraction * (upper - lower));
  }
  return result;
}

}  // namespace rattleback
