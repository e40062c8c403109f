#pragma once
// Writes the result file.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "rattleback/base/hdf5.hpp"
#include "rattleback/base/ledger.hpp"
#include "rattleback/base/mark.hpp"
#include "rattleback/results/block_hashes.hpp"
#include "rattleback/results/result.hpp"

namespace rattleback {

/// Returns the type of a dataset's numbers in memory.
[[nodiscard]] hid_t memory_type(ResultSink::Type type);

/// The record of an unfinished result in a checkpoint. Each dataset has an address, a size in bytes and the numbers
/// of the Ledger. The entry "" has the digest of all bytes that belong to no dataset.
using PartContents = std::map<std::string, std::vector<std::uint64_t>>;

/// A block of a dataset that another file holds.
struct VirtualBlock {
  std::string file;  ///< relative to the folder of the result
  Shape shape;       ///< of the whole dataset in that file
  Shape offset;      ///< of the block in the result
};

/// Compares a file with the contents in a checkpoint.
enum class PartState {
  other,  ///< the file is missing, belongs to another run, or has other data
  data,   ///< the data agree, but other bytes of the file have changed
  whole   ///< the file is unchanged
};
/// Returns the state of a part. Reads only bytes, because HDF5 may crash on the file.
[[nodiscard]] PartState examine_part(const std::filesystem::path& part, const std::string& run,
                                     const PartContents& contents);

/// Writes FILE.part and renames the part to FILE at commit(). Until then an old FILE stays unchanged. Datasets are
/// contiguous and get a place in the file when created, so that writing numbers changes no other bytes. If the program
/// dies, the part is a valid HDF5 file, except while the run finishes the file. After a death at that moment, a new
/// part is made from the bytes of the datasets, whose addresses contents() gives.
class FileSink final : public ResultSink {
 public:
  /// Begins a file of a run. Throws Error(input) when the file cannot be written or another run writes the same result.
  FileSink(const std::filesystem::path& file, const std::string& run, FileKind kind = FileKind::result);
  /// Continues an interrupted run. `source` is the part, or a file whose data are copied to a new part.
  FileSink(const std::filesystem::path& file, const std::string& run, PartContents contents,
           const std::filesystem::path& source, FileKind kind);
  ~FileSink() override;

  void create(const std::string& path, Type type, const Shape& shape) override;
  void write(const std::string& path, const Shape& offset, const Shape& count, const void* numbers) override;
  void attribute(const std::string& path, const std::string& name, const Attribute& value) override;
  std::string fingerprint() override;
  void commit() override;

  /// Makes a dataset of blocks in other files, which have datasets of the same path. Nothing is copied.
  void create_virtual(const std::string& path, Type type, const Shape& shape, const std::vector<VirtualBlock>& blocks);

  [[nodiscard]] const std::string& run() const { return run_; }
  /// Returns whether all data are written and the file is closed, as FILE or, when the renaming failed, as FILE.part.
  [[nodiscard]] bool complete() const { return complete_; }
  /// Creates the datasets of a run in memory, and writes all that the run has written.
  void adopt(const MemorySink& memory);
  /// Makes commit() write the series of single trajectories compressed (results/compressed.hpp) on some threads; level 0 for no compression. Datasets in
  /// other files stay as they are. Throws Error(input) where HDF5 cannot compress.
  void compress(unsigned level, unsigned threads);
  /// Returns, after commit(), a sentence that says why the result is not compressed although it should be; empty otherwise.
  [[nodiscard]] std::string doubt() const;
  /// Reserves disk space for all datasets created so far.
  void reserve();
  /// Writes all data to the disk, so that the data survive a power failure. From now on the destructor keeps the part.
  void sync();
  /// Makes the destructor remove the part.
  void discard() { keep_ = false; }
  /// Returns the record for a checkpoint. sync() must come first.
  [[nodiscard]] PartContents contents() const;
  /// Removes the file `source`. A checkpoint with these contents must be on the disk.
  void settle();

 private:
  struct Array {
    hdf5::Handle id;
    Type type = Type::f64;
    Shape shape;
    Ledger written;
    BlockHashes hashes{0, 0};  ///< of what was written
  };

  void lock();
  void open_part(bool fresh);
  void copy_from_source(const std::string& path, const Array& array);
  void check(bool good, const std::string& path);
  /// Reads bytes of a dataset from the file, from any thread. All data must have been flushed.
  void read(const std::string& path, const Array& array, std::uint64_t first, std::string& bytes) const;
  /// Writes a whole dataset without a record of it.
  void write_whole(const std::string& path, const void* numbers);
  void write_attribute(hid_t object, const std::string& name, hid_t type, const void* data);

  std::filesystem::path file_, part_, source_;
  std::string run_;
  FileKind kind_;
  hdf5::Handle id_;
  std::map<std::string, Array> arrays_;
  struct Virtual {
    hdf5::Handle id;
    Shape shape;
  };
  std::map<std::string, Virtual> virtual_;
  PartContents before_;  ///< contents from the checkpoint of the interrupted run
  int lock_ = -1, source_file_ = -1;
  unsigned level_ = 0, threads_ = 1;  ///< of the compression, and of hashes
  std::string not_compressed_;
  bool committed_ = false, failed_ = false, complete_ = false, keep_ = false;
};

}  // namespace rattleback
