#pragma once
// A checkpoint is a file beside the unfinished result, with all data that a run needs to continue.

#include <filesystem>
#include <string>
#include <vector>

#include "rattleback/results/result_file.hpp"
#include "rattleback/results/run_files.hpp"

namespace rattleback {

/// Receives the state of a reduction as named arrays.
class StateWriter {
 public:
  virtual ~StateWriter() = default;
  virtual void put(const std::string& path, const std::vector<double>& values) = 0;
  virtual void put(const std::string& path, const std::vector<std::uint64_t>& values) = 0;
};

/// Gives the state of a reduction back.
class StateReader {
 public:
  virtual ~StateReader() = default;
  [[nodiscard]] virtual std::vector<double> numbers(const std::string& path) const = 0;
  [[nodiscard]] virtual std::vector<std::uint64_t> counts(const std::string& path) const = 0;
};

/// Writes a checkpoint of a run with a checksum of the contents. The file has a temporary name until complete.
class CheckpointWriter final : public StateWriter {
 public:
  CheckpointWriter(const std::filesystem::path& file, const std::string& run) : sink_(file, run) {}

  void put(const std::string& path, const std::vector<double>& values) override;
  void put(const std::string& path, const std::vector<std::uint64_t>& values) override;
  void put(const PartContents& contents);
  void text(const std::string& name, const std::string& value);
  void commit();

 private:
  void put(const std::string& path, ResultSink::Type type, std::uint64_t size, const void* data);

  FileSink sink_;
  std::uint64_t checksum_ = 0;
};

/// Reads a checkpoint. Throws Error(input) when the file is missing, not a checkpoint, from another version, or
/// damaged.
class CheckpointReader final : public StateReader {
 public:
  explicit CheckpointReader(const std::filesystem::path& file);

  [[nodiscard]] bool has(const std::string& path) const { return file_.datasets().contains(path); }
  [[nodiscard]] std::vector<double> numbers(const std::string& path) const override;
  [[nodiscard]] std::vector<std::uint64_t> counts(const std::string& path) const override;
  [[nodiscard]] std::string text(const std::string& name) const;
  /// Returns the run of the checkpoint.
  [[nodiscard]] std::string run() const { return text("run"); }
  /// Returns the contents of the unfinished result.
  [[nodiscard]] PartContents part() const;

 private:
  [[noreturn]] void damaged() const;
  template <class T>
  std::vector<T> get(const std::string& path) const;

  ResultFile file_;
  std::map<std::string, Attribute> attributes_;
};

/// The file with the data of an unfinished result.
struct Leftover {
  std::filesystem::path file;
  bool whole;  ///< the run can continue with this file; otherwise a new part gets the data
};
/// Compares the files of an interrupted run with the checkpoint. Throws Error(input) when a file is missing, belongs to
/// another run, or has changed. Changes no file.
[[nodiscard]] Leftover check_leftovers(const RunFiles& files, const CheckpointReader& checkpoint);

}  // namespace rattleback
