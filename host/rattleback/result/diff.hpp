#pragma once
// Compares two results bit by bit.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "rattleback/result/result.hpp"

namespace rattleback {

/// The first pair of values, in row-major order, whose bits differ.
struct FirstDifference {
  Shape index;  ///< in the dataset
  /// What the index means, as far as the dataset tells: the sample and its time (by /time of the first result), the
  /// trajectory of the ensemble, the crossing of a section. All count from 0.
  std::optional<std::uint64_t> sample;
  std::optional<double> time;
  std::optional<std::uint64_t> trajectory;
  std::optional<std::uint64_t> crossing;
  std::variant<double, std::uint64_t> first, second;
};

/// One dataset of either result.
struct DatasetDiff {
  enum class Status {
    identical,    ///< same type, shape and bits
    values,       ///< some values differ
    shape,        ///< not compared: the shapes differ
    type,         ///< not compared: the types differ
    only_first,   ///< the second result has none
    only_second,  ///< the first result has none
  };

  std::string path;
  Status status = Status::identical;
  std::optional<ResultFile::Entry> first, second;  ///< what the results hold under this path

  std::uint64_t values = 0;     ///< compared
  std::uint64_t differing = 0;  ///< values whose bits differ; a NaN is equal to a NaN with the same bits only
  std::uint64_t nan = 0;        ///< of these, pairs with a NaN: they have no distance
  /// Largest distance of the others: in units in the last place, which are the steps from one float64 to the next (-0 and
  /// 0 are 0 apart), and as a difference. Of integers both are the difference.
  std::uint64_t ulps = 0;
  double absolute = 0.0;
  std::optional<FirstDifference> at;  ///< with Status::values
};

/// A key on which the studies of the results differ, with both values as TOML; nothing where the key is absent.
struct StudyDiff {
  std::string key;  ///< "time.step", "observable[0].statistics"
  std::optional<std::string> first, second;
};

struct DiffReport {
  std::vector<StudyDiff> study;       ///< does not count: results of different studies may be identical
  std::vector<DatasetDiff> datasets;  ///< of both results, ordered by path

  /// Datasets that are not identical.
  [[nodiscard]] std::uint64_t differing() const;
  /// Both results hold the same datasets with the same bits.
  [[nodiscard]] bool identical() const { return differing() == 0; }
};

/// Compares all datasets and the studies of two results, block by block: 16 MiB are in memory at a time, however large the
/// results are. Other attributes (backend, device, threads, wall_seconds, version, ...) tell how a result came about
/// and are not looked at. Throws Error(input) when a file turns out to be damaged, Error(runtime) after a requested stop.
DiffReport diff(const ResultFile& first, const ResultFile& second, const std::stop_token& stop = {});

}  // namespace rattleback
