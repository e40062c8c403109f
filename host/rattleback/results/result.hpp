#pragma once
// Results are in memory (Result) or streamed to an HDF5 file. docs/results.md describes the datasets.

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Core>

#include "rattleback/base/error.hpp"

namespace rattleback {

using Shape = std::vector<std::uint64_t>;

/// An array of a result, row-major.
struct Dataset {
  Shape shape;
  std::variant<std::vector<double>, std::vector<std::uint32_t>, std::vector<std::uint64_t>> values;
};

using Attribute = std::variant<std::string, double, std::uint64_t>;

/// Returns the bytes of a block in the definition of the fingerprint that is among the attributes of "/", or would be.
[[nodiscard]] std::uint64_t block_of_fingerprint(const std::map<std::string, Attribute>& attributes);

/// Receives the arrays of a run. A run creates each array once and then writes blocks.
class ResultSink {
 public:
  enum class Type { f64, u32, u64 };

  virtual ~ResultSink() = default;
  virtual void create(const std::string& path, Type type, const Shape& shape) = 0;
  /// Writes the block [offset, offset + count) of a dataset. `data` is row-major.
  virtual void write(const std::string& path, const Shape& offset, const Shape& count, const void* data) = 0;
  /// Sets an attribute of the root ("/") or of a dataset.
  virtual void attribute(const std::string& path, const std::string& name, const Attribute& value) = 0;
  /// Returns the fingerprint of all datasets after the last write (base/fingerprint.hpp); empty for a sink that does not
  /// keep them.
  [[nodiscard]] virtual std::string fingerprint() { return {}; }
  /// Ends the result after the last write.
  virtual void commit() = 0;
};

/// Seconds that a run takes for its parts. Tiles are prepared and written while others are integrated, and the sum may exceed the time of
/// the run.
struct Phases {
  double read = 0.0;       ///< to read and resolve the study
  double compile = 0.0;    ///< to load the kernels, and to compile the missing ones
  double prepare = 0.0;    ///< to check the initial states, and to fill tiles with them
  double integrate = 0.0;  ///< for steps and observables: Summary::wall_seconds
  double reduce = 0.0;     ///< for statistics, and for the states that are kept
  double write = 0.0;      ///< to write the result, and for its fingerprint
  double wait = 0.0;       ///< in which nothing is integrated, because tiles are not prepared or not written yet

  /// Names and seconds, in this order.
  static constexpr std::size_t count = 7;
  static const std::array<std::pair<const char*, double Phases::*>, count> all;
  /// Returns names and seconds in this order.
  [[nodiscard]] std::vector<std::pair<std::string, double>> listed() const;
  /// Returns them as one JSON object.
  [[nodiscard]] std::string text() const;
  Phases& operator+=(const Phases& other);
};

/// Facts about a run besides the arrays.
struct Summary {
  std::string backend, device;
  unsigned threads = 0;
  std::uint64_t trajectories = 0;
  std::uint64_t trajectory_steps = 0;
  std::uint64_t failed = 0;
  std::uint64_t left_out = 0;    ///< trajectories whose point does not satisfy the condition of the ensemble
  std::uint64_t iterations = 0;  ///< solver iterations in total
  double wall_seconds = 0.0;     ///< time of the integration, without start-up and output
  Phases phases;                 ///< of a result that is read: until its last attributes were written
  std::map<std::string, std::uint64_t> missing;  ///< per observable: values that were not finite; only counts above 0
  std::string fingerprint;                       ///< SHA-256 of the datasets; empty where it is not stored
};

/// A result in memory.
class Result {
 public:
  Summary summary;

  [[nodiscard]] bool has(const std::string& path) const { return datasets_.contains(path); }
  /// Returns the paths of all datasets in alphabetical order.
  [[nodiscard]] std::vector<std::string> paths() const;
  /// Throws Error(input) for an unknown path.
  [[nodiscard]] const Dataset& dataset(const std::string& path) const;

  /// Returns the sample times [K].
  [[nodiscard]] std::span<const double> time() const { return array("/time"); }
  /// Returns a statistic of an observable at the sample times [K].
  [[nodiscard]] std::span<const double> statistic(const std::string& observable, const std::string& statistic) const {
    return array("/observables/" + observable + "/" + statistic);
  }
  /// Returns all numbers of a float64 dataset, row-major.
  [[nodiscard]] std::span<const double> array(const std::string& path) const;
  /// Returns a float64 dataset of shape [N, .] as a matrix, for example "/final/q".
  using MatrixMap = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  [[nodiscard]] MatrixMap matrix(const std::string& path) const;
  /// Returns the status bits of each trajectory [N].
  [[nodiscard]] std::span<const std::uint32_t> status() const;

  /// Returns an attribute of the root ("/") or of a dataset; empty when absent.
  [[nodiscard]] std::optional<Attribute> attribute(const std::string& path, const std::string& name) const;

  /// Returns all attributes of the root ("/") or of a dataset.
  [[nodiscard]] std::map<std::string, Attribute> attributes(const std::string& path) const;
  /// Computes the fingerprint of the datasets as they are now, by the definition of the one that is stored. An unchanged result has
  /// summary.fingerprint.
  [[nodiscard]] std::string fingerprint() const;

  /// Writes the result file. The file has a temporary name until complete.
  void save(const std::filesystem::path& file) const;
  /// Reads a whole result file. Throws like ResultFile.
  static Result load(const std::filesystem::path& file);

 private:
  friend class MemorySink;
  std::map<std::string, Dataset> datasets_;
  std::map<std::string, std::map<std::string, Attribute>> attributes_;
};

/// Reads a result file block by block. Throws Error(input) when the file is missing, damaged, or not a result of
/// rattleback (a root without attribute "study").
class ResultFile {
 public:
  struct Entry {
    ResultSink::Type type;
    Shape shape;
  };

  /// With `checked` the caller has found the bytes of the file as they were written: no child process reads the file first.
  explicit ResultFile(const std::filesystem::path& file, bool checked = false);
  ~ResultFile();
  ResultFile(ResultFile&&) noexcept;

  [[nodiscard]] const std::filesystem::path& path() const;
  /// Returns all datasets by full path ("/final/q").
  [[nodiscard]] const std::map<std::string, Entry>& datasets() const;
  /// Returns the attributes of the root ("/") or of a dataset.
  [[nodiscard]] std::map<std::string, Attribute> attributes(const std::string& path) const;
  /// Returns a text that is an attribute of the root, such as the study; empty when absent.
  [[nodiscard]] std::string text(const std::string& name) const;
  /// Reads the block [offset, offset + count) of a dataset into `data`, row-major, in the dataset's own type.
  void read(const std::string& path, const Shape& offset, const Shape& count, void* data) const;
  /// Computes the fingerprint of the datasets, with blocks of so many bytes (base/fingerprint.hpp). Reads the whole file.
  [[nodiscard]] std::string fingerprint(std::uint64_t block) const;
  /// The same by the definition of the fingerprint that the file stores.
  [[nodiscard]] std::string fingerprint() const { return fingerprint(block_of_fingerprint(attributes("/"))); }
  /// Reads a whole dataset.
  [[nodiscard]] Dataset read(const std::string& path) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns what the attributes of a result file say.
[[nodiscard]] Summary summary_of(const ResultFile& file);
/// Returns how many trajectories have each bit of /final/status, by the name of the bit ("not-finite"); only counts above 0. A
/// trajectory may have several bits.
[[nodiscard]] std::map<std::string, std::uint64_t> failures_of(std::span<const std::uint32_t> status);
[[nodiscard]] std::map<std::string, std::uint64_t> failures_of(const ResultFile& file);
/// Returns what the attributes of a result say, and its counts of missing values.
[[nodiscard]] Summary summary_of(const Result& result);

/// Collects a result in memory.
class MemorySink final : public ResultSink {
 public:
  explicit MemorySink(Result& result) : result_(result) {}
  void create(const std::string& path, Type type, const Shape& shape) override;
  void write(const std::string& path, const Shape& offset, const Shape& count, const void* numbers) override;
  void attribute(const std::string& path, const std::string& name, const Attribute& value) override;
  std::string fingerprint() override { return result_.fingerprint(); }
  void commit() override {}

  [[nodiscard]] const Result& result() const { return result_; }
  /// The elements of a dataset that are written: first index to index after the last; disjoint, not adjacent.
  using Ranges = std::map<std::uint64_t, std::uint64_t>;
  [[nodiscard]] Ranges written(const std::string& path) const;

 private:
  Result& result_;
  std::map<std::string, Ranges> written_;
};

/// Makes a sink for an HDF5 file. The file gets its name at commit(). Before that, and after a failure, an old file of
/// this name stays unchanged. Throws Error(input) when the file cannot be created, and Error(runtime) when writing
/// fails.
std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& file);

}  // namespace rattleback
