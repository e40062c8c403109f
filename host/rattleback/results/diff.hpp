#pragma once
// Compares two results bit by bit.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "rattleback/results/result.hpp"

namespace rattleback {

/// The first pair of values, in row-major order, whose bits differ.
struct FirstDifference {
  Shape index;  ///< index in the dataset
  /// The meaning of the index, if the dataset has one: sample and time (from /time of the first result), trajectory of
  /// the ensemble, crossing of a section. All are counted from 0.
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
    only_first,   ///< the second result has no such dataset
    only_second,  ///< the first result has no such dataset
  };

  std::string path;
  Status status = Status::identical;
  std::optional<ResultFile::Entry> first, second;  ///< type and shape in each result; empty where absent

  std::uint64_t values = 0;     ///< number of compared values
  std::uint64_t differing = 0;  ///< values whose bits differ; a NaN equals only a NaN with the same bits
  std::uint64_t nan = 0;        ///< differing pairs with a NaN; such pairs have no distance
  /// Largest distance of the other pairs. `ulps` counts the steps from one float64 to the next (-0 and 0 are 0 apart),
  /// and `absolute` is the difference. For integers both are the difference.
  std::uint64_t ulps = 0;
  double absolute = 0.0;
  std::optional<FirstDifference> at;  ///< with Status::values
};

/// A key with different values in the studies of the results. The values are TOML; an absent key has no value.
struct StudyDiff {
  std::string key;  ///< "time.step", "observable[0].statistics"
  std::optional<std::string> first, second;
};

struct DiffReport {
  std::vector<StudyDiff> study;       ///< ignored by identical(): results of different studies may be identical
  std::vector<DatasetDiff> datasets;  ///< datasets of both results, ordered by path

  /// Returns the number of datasets that are not identical.
  [[nodiscard]] std::uint64_t differing() const;
  /// Returns whether both results have the same datasets with the same bits.
  [[nodiscard]] bool identical() const { return differing() == 0; }
};

/// Compares all datasets and the studies of two results, block by block. At most 16 MiB are in memory at a time. Other
/// attributes (backend, device, threads, wall_seconds, version, ...) describe the run and are not compared. Throws
/// Error(input) when a file is damaged, and Error(runtime) after a requested stop.
DiffReport diff(const ResultFile& first, const ResultFile& second, const std::stop_token& stop = {});

}  // namespace rattleback
