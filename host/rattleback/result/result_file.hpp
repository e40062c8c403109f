#pragma once
// The result file while it is being written.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "rattleback/files/hdf5.hpp"
#include "rattleback/files/ledger.hpp"
#include "rattleback/result/result.hpp"

namespace rattleback {

/// The type of a dataset's numbers in memory.
[[nodiscard]] hid_t memory_type(ResultSink::Type type);

/// What a checkpoint knows of an unfinished result: for each dataset its address, its size in bytes and the numbers of its
/// Ledger; under "" the digest of all bytes that belong to no dataset.
using PartContents = std::map<std::string, std::vector<std::uint64_t>>;

/// How a file compares with the contents that a checkpoint knows.
enum class PartState {
  other,  ///< another run's, or its data have changed, or it is not there
  data,   ///< it has the data, and around them it was being changed
  whole   ///< it is as it was
};
/// Reads bytes only, so a file that HDF5 could not stand is safe to ask about.
[[nodiscard]] PartState examine_part(const std::filesystem::path& part, const std::string& run,
                                     const PartContents& contents);

/// Writes FILE.part and renames it at commit(); until then a file of the final name stays as it was. Datasets are contiguous
/// and laid out when they are created, so that writing them changes nothing but their own bytes: a part that is cut off by
/// the death of the program is a valid file at all times, except while it is being finished. For that moment contents() says
/// where the datasets lie, and a part that was caught in it is made anew from their bytes.
class FileSink final : public ResultSink {
 public:
  /// Begins a file of a run. Throws Error(input) when the place cannot be written or another run is writing there.
  FileSink(const std::filesystem::path& file, const std::string& run);
  /// Goes on with the part of an interrupted run or, where it is not whole, with a copy of the data in `source`.
  FileSink(const std::filesystem::path& file, const std::string& run, PartContents contents,
           const std::filesystem::path& source);
  ~FileSink() override;

  void create(const std::string& path, Type type, const Shape& shape) override;
  void write(const std::string& path, const Shape& offset, const Shape& count, const void* numbers) override;
  void attribute(const std::string& path, const std::string& name, const Attribute& value) override;
  void commit() override;

  [[nodiscard]] const std::string& run() const { return run_; }
  /// Everything is written and closed, in place or, where that failed, in the part.
  [[nodiscard]] bool complete() const { return complete_; }
  /// Takes the disk space of all datasets created so far.
  void reserve();
  /// After this all that is written survives the death of the machine, and the part stays when this object goes.
  void sync();
  /// The part goes with this object after all.
  void discard() { keep_ = false; }
  /// For a checkpoint, after sync().
  [[nodiscard]] PartContents contents() const;
  /// A checkpoint of these contents is on the disk: what the part was made from is not needed any more.
  void settle();

 private:
  struct Array {
    hdf5::Handle id;
    Type type = Type::f64;
    Shape shape;
    Ledger written;
  };

  void lock();
  void open_part(bool fresh);
  void copy_from_source(const std::string& path, const Array& array);
  void check(bool good, const std::string& path);
  void write_attribute(hid_t object, const std::string& name, hid_t type, const void* data);

  std::filesystem::path file_, part_, source_;
  std::string run_;
  hdf5::Handle id_;
  std::map<std::string, Array> arrays_;
  PartContents before_;  ///< of the run that this one goes on with
  int lock_ = -1, source_file_ = -1;
  bool committed_ = false, failed_ = false, complete_ = false, keep_ = false;
};

}  // namespace rattleback
