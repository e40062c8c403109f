#include "rattleback/engine/concentration.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "rattleback/results/checkpoint.hpp"

namespace rattleback {
namespace {

/// A class of numbers has the same exponent and the same leading bits of the mantissa: eight classes to a factor of 2.
constexpr int shift = 52 - 3;
/// The numbers of the class 0 count as 0.
std::uint64_t class_of(double number) { return std::bit_cast<std::uint64_t>(std::abs(number)) >> shift; }
double lower_end(std::uint64_t place) { return std::bit_cast<double>(place << shift); }

}  // namespace

void Concentration::Counts::add(std::uint64_t place, std::uint64_t count) {
  if (of.empty()) first = place;
  if (place < first) {
    of.insert(of.begin(), first - place, 0);
    first = place;
  }
  if (place - first >= of.size()) of.resize(place - first + 1);
  of[place - first] += count;
}

void Concentration::add(std::size_t series, const double* numbers, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (std::isfinite(numbers[i])) series_[series].add(class_of(numbers[i]), 1);
}

std::uint64_t Concentration::count(std::size_t series) const {
  const std::vector<std::uint64_t>& of = series_[series].of;
  return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
}

double Concentration::share(std::size_t series, double part) const {
  const auto& [first, of] = series_[series];
  double left = part * static_cast<double>(count(series)), carried = 0.0, sum = 0.0;
  if (of.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double unit = lower_end(first + of.size() - 1);  // squares relative to the largest neither overflow nor vanish
  for (std::size_t i = of.size(); i-- > 0;) {
    if (of[i] == 0 || first + i == 0) continue;
    const double a = lower_end(first + i) / unit, b = lower_end(first + i + 1) / unit,
                 square = (a * a + a * b + b * b) / 3.0,  // the mean over the class
        count = static_cast<double>(of[i]);
    sum += count * square;
    carried += std::min(left, count) * square;
    left -= std::min(left, count);
  }
  return carried / sum;
}

void Concentration::save(StateWriter& out, const std::string& group) const {
  std::vector<std::uint64_t> sizes, counts;
  for (const auto& [first, of] : series_) {
    sizes.insert(sizes.end(), {first, of.size()});
    counts.insert(counts.end(), of.begin(), of.end());
  }
  out.put(group + "/classes", sizes);
  out.put(group + "/counts", counts);
}

void Concentration::restore(const StateReader& in, const std::string& group) {
  series_.assign(series_.size(), {});
  append(in, group);
}

void Concentration::append(const StateReader& in, const std::string& group) {
  const std::vector<std::uint64_t> sizes = in.counts(group + "/classes"), counts = in.counts(group + "/counts");
  if (sizes.size() != 2 * series_.size()) throw std::out_of_range("other series");
  for (std::size_t i = 0, next = 0; i < series_.size(); ++i)
    for (std::uint64_t k = 0; k < sizes[2 * i + 1]; ++k) series_[i].add(sizes[2 * i] + k, counts.at(next++));
}

}  // namespace rattleback
