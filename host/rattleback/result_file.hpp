#pragma once
// The result file while it is being written.

#include <map>
#include <string>

#include "rattleback/hdf5.hpp"
#include "rattleback/result.hpp"

namespace rattleback {

/// The type of a dataset's numbers in memory.
[[nodiscard]] hid_t memory_type(ResultSink::Type type);

/// Writes FILE.part and renames it at commit(); until then a file of the final name stays as it was. Datasets are contiguous
/// and laid out when they are created, so that writing them changes nothing but their own bytes: a part that is cut off by
/// the death of the program is a valid file at all times, except while it is being finished. For that moment layout() says
/// where the datasets lie, and a part that HDF5 cannot open any more is made anew from their bytes.
class FileSink final : public ResultSink {
 public:
  /// Begins a file. Throws Error(input) when the place cannot be written or another run is writing there.
  explicit FileSink(const std::filesystem::path& file);
  /// Goes on with the part of an interrupted run. Throws Error(input) when it is not there or too damaged.
  FileSink(const std::filesystem::path& file, const std::string& layout);
  ~FileSink() override;

  void create(const std::string& path, Type type, const Shape& shape) override;
  void write(const std::string& path, const Shape& offset, const Shape& count, const void* data) override;
  void attribute(const std::string& path, const std::string& name, const Attribute& value) override;
  void commit() override;

  /// Takes the disk space of all datasets created so far.
  void reserve();
  /// After this all that is written survives the death of the machine, and the part stays when this object goes.
  void sync();
  /// The part goes with this object after all.
  void discard() { keep_ = false; }
  /// Names and addresses of the datasets.
  [[nodiscard]] std::string layout() const;

  [[nodiscard]] static std::filesystem::path part_of(const std::filesystem::path& file);

 private:
  void lock();
  void open_part(bool fresh);
  void copy_from_damaged(const std::string& path, const Shape& shape, Type type);
  void check(bool good, const std::string& path);
  void write_attribute(hid_t object, const std::string& name, hid_t type, const void* data);

  std::filesystem::path file_, part_, damaged_;
  hdf5::Handle id_;
  std::map<std::string, hdf5::Handle> datasets_;
  std::map<std::string, Type> types_;
  std::map<std::string, std::uint64_t> old_addresses_;  ///< of the part this one is made from
  int lock_ = -1, old_ = -1;
  bool committed_ = false, failed_ = false, keep_ = false;
};

}  // namespace rattleback
