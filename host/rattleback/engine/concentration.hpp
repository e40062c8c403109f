#pragma once
// Which share of a sum of squares few trajectories carry.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rattleback {

class StateReader;
class StateWriter;

/// Counts of numbers by their size, for several series of numbers, from which follows how much of the sum of their squares the largest
/// carry. Numbers of a class differ by an eighth at most, and counts do not depend on an order. Of a share of a half the error is below
/// 0.01.
class Concentration {
 public:
  explicit Concentration(std::size_t series) : series_(series) {}

  /// Adds numbers to a series; those that are not finite are left out. Threads may add to different series.
  void add(std::size_t series, const double* numbers, std::size_t count);
  /// Returns the count of numbers in a series.
  [[nodiscard]] std::uint64_t count(std::size_t series) const;
  /// Returns the share of the sum of squares that the `part` of the numbers with the largest squares carries; NaN where all are 0 or
  /// there are none.
  [[nodiscard]] double share(std::size_t series, double part) const;

  void save(StateWriter& out, const std::string& group) const;
  void restore(const StateReader& in, const std::string& group);
  /// Adds the numbers of a part. Throws std::out_of_range when it has other series.
  void append(const StateReader& in, const std::string& group);

 private:
  /// The counts of the classes from `first` on.
  struct Counts {
    std::uint64_t first = 0;
    std::vector<std::uint64_t> of;
    void add(std::uint64_t place, std::uint64_t count);
  };
  std::vector<Counts> series_;
};

}  // namespace rattleback
