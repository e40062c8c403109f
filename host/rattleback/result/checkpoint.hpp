#pragma once
// Checkpoints: what a run needs to go on, in a file beside its unfinished result.

#include <filesystem>
#include <string>
#include <vector>

#include "rattleback/result/result_file.hpp"
#include "rattleback/result/run_files.hpp"

namespace rattleback {

/// Writes a checkpoint of a run under a temporary name and renames it, with a checksum over all that it holds.
class CheckpointWriter {
 public:
  CheckpointWriter(const std::filesystem::path& file, const std::string& run) : sink_(file, run) {}

  void put(const std::string& path, const std::vector<double>& values);
  void put(const std::string& path, const std::vector<std::uint64_t>& values);
  void put(const PartContents& contents);
  void text(const std::string& name, const std::string& value);
  void commit();

 private:
  void put(const std::string& path, ResultSink::Type type, std::uint64_t size, const void* data);

  FileSink sink_;
  std::uint64_t checksum_ = 0;
};

/// Reads one back. Throws Error(input) when it is not there, not a checkpoint, of another version, or damaged.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::filesystem::path& file);

  [[nodiscard]] bool has(const std::string& path) const { return file_.datasets().contains(path); }
  [[nodiscard]] std::vector<double> numbers(const std::string& path) const;
  [[nodiscard]] std::vector<std::uint64_t> counts(const std::string& path) const;
  [[nodiscard]] std::string text(const std::string& name) const;
  /// The run that the checkpoint belongs to.
  [[nodiscard]] std::string run() const { return text("run"); }
  /// What the unfinished result held.
  [[nodiscard]] PartContents part() const;

 private:
  [[noreturn]] void damaged() const;
  template <class T>
  std::vector<T> get(const std::string& path) const;

  ResultFile file_;
  std::map<std::string, Attribute> attributes_;
};

/// Where the data of an unfinished result are.
struct Leftover {
  std::filesystem::path file;
  bool whole;  ///< it can be gone on with; otherwise a new part is made from its data
};
/// Compares what an interrupted run has left with its checkpoint. Throws Error(input) where a file is missing, another run's,
/// or changed; changes nothing itself.
[[nodiscard]] Leftover check_leftovers(const RunFiles& files, const CheckpointReader& checkpoint);

/// Fnv1a of the bytes of a file.
[[nodiscard]] std::uint64_t hash_file(const std::filesystem::path& file);

}  // namespace rattleback
