#pragma once
// Checkpoints: what a run needs to go on, in a file beside its unfinished result.

#include <filesystem>
#include <string>
#include <vector>

#include "rattleback/result_file.hpp"

namespace rattleback {

/// The files of a run into RESULT while it is under way.
struct RunFiles {
  std::filesystem::path result, part, checkpoint, values, crossings;

  explicit RunFiles(const std::filesystem::path& result);
  /// An interrupted run waits there.
  [[nodiscard]] bool interrupted() const;
  /// Removes what only a run under way needs.
  void remove_scratch() const;
};

/// Writes a checkpoint under a temporary name and renames it, with a checksum over its arrays.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(const std::filesystem::path& file) : sink_(file) {}

  void put(const std::string& path, const std::vector<double>& values);
  void put(const std::string& path, const std::vector<std::uint64_t>& values);
  void attribute(const std::string& name, const Attribute& value);
  void commit();

 private:
  void put(const std::string& path, ResultSink::Type type, std::uint64_t size, const void* data);

  FileSink sink_;
  std::uint64_t checksum_ = 0;
};

/// Reads one back. Throws Error(input) when it is not there, not a checkpoint, or damaged.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::filesystem::path& file);

  [[nodiscard]] std::vector<double> numbers(const std::string& path) const;
  [[nodiscard]] std::vector<std::uint64_t> counts(const std::string& path) const;
  [[nodiscard]] std::string text(const std::string& name) const;

 private:
  [[noreturn]] void damaged() const;
  template <class T>
  std::vector<T> get(const std::string& path) const;

  ResultFile file_;
  std::map<std::string, Attribute> attributes_;
};

/// FNV-1a over 64-bit words, and over the bytes of a text or file.
[[nodiscard]] std::uint64_t hash_words(const void* data, std::uint64_t words);
[[nodiscard]] std::uint64_t hash_file(const std::filesystem::path& file);

}  // namespace rattleback
