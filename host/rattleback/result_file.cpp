#include <cerrno>
#include <cstring>
#include <set>

#include <unistd.h>

#include "rattleback/hdf5.hpp"
#include "rattleback/result.hpp"

namespace rattleback {
namespace {

using hdf5::Handle;

hid_t file_type(ResultSink::Type type) {
  switch (type) {
    case ResultSink::Type::f64:
      return H5T_IEEE_F64LE;
    case ResultSink::Type::u32:
      return H5T_STD_U32LE;
    case ResultSink::Type::u64:
      return H5T_STD_U64LE;
  }
  return H5I_INVALID_HID;
}

hid_t memory_type(ResultSink::Type type) {
  switch (type) {
    case ResultSink::Type::f64:
      return H5T_NATIVE_DOUBLE;
    case ResultSink::Type::u32:
      return H5T_NATIVE_UINT32;
    case ResultSink::Type::u64:
      return H5T_NATIVE_UINT64;
  }
  return H5I_INVALID_HID;
}

class FileSink final : public ResultSink {
 public:
  explicit FileSink(const std::filesystem::path& file) : file_(file), part_(file) {
    part_ += ".part-" + std::to_string(getpid());
    hdf5::silence_errors();
    std::error_code code;
    if (std::filesystem::is_directory(file, code))
      throw Error(Error::Kind::input,
                  file.string() + ": cannot write the result (it is a directory); choose another with -o");
    // the format of HDF5 1.8 stores attributes above 64 KiB: a study may list many axis values
    const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    id_ = Handle(H5Fcreate(part_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose);
    if (!id_) {
      const char* why = errno != 0 ? std::strerror(errno) : "HDF5 cannot create a file there";
      throw Error(Error::Kind::input,
                  file.string() + ": cannot write the result (" + why + "); choose another place with -o");
    }
  }

  ~FileSink() override {
    if (committed_) return;
    if (failed_) {
      // HDF5 crashes when it closes a file it could not write
      for (auto& [path, dataset] : datasets_) dataset.abandon();
      id_.abandon();
    }
    datasets_.clear();
    id_.reset();
    std::error_code code;
    std::filesystem::remove(part_, code);
  }

  void create(const std::string& path, Type type, const Shape& shape) override {
    const Handle space(H5Screate_simple(static_cast<int>(shape.size()), dimensions(shape).data(), nullptr), H5Sclose);
    const Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links.get(), 1);
    const Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER);  // every element is written
    Handle dataset(
        H5Dcreate2(id_.get(), path.c_str(), file_type(type), space.get(), links.get(), properties.get(), H5P_DEFAULT),
        H5Dclose);
    check(static_cast<bool>(dataset), path);
    types_[path] = type;
    datasets_[path] = std::move(dataset);
  }

  void write(const std::string& path, const Shape& offset, const Shape& count, const void* data) override {
    for (const std::uint64_t n : count)
      if (n == 0) return;
    const Handle& dataset = datasets_.at(path);
    const Handle space(H5Dget_space(dataset.get()), H5Sclose);
    const auto start = dimensions(offset), size = dimensions(count);
    const Handle memory(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose);
    check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr) >= 0 &&
              H5Dwrite(dataset.get(), memory_type(types_.at(path)), memory.get(), space.get(), H5P_DEFAULT, data) >= 0,
          path);
  }

  void attribute(const std::string& path, const std::string& name, const Attribute& value) override {
    const Handle object(H5Oopen(id_.get(), path.c_str(), H5P_DEFAULT), H5Oclose);
    check(static_cast<bool>(object), path);
    std::visit([&](const auto& v) { write_attribute(object.get(), name, v); }, value);
  }

  void commit() override {
    check(H5Fflush(id_.get(), H5F_SCOPE_GLOBAL) >= 0, "/");
    datasets_.clear();
    check(id_.reset(), "/");
    std::error_code code;
    std::filesystem::rename(part_, file_, code);
    if (code)
      throw Error(Error::Kind::runtime, file_.string() + ": cannot put the finished result in place (" +
                                            code.message() + "); it is in " + part_.string());
    committed_ = true;
  }

 private:
  static std::vector<hsize_t> dimensions(const Shape& shape) { return {shape.begin(), shape.end()}; }

  void check(bool good, const std::string& path) {
    if (good) return;
    failed_ = true;
    const char* why = errno == ENOSPC ? "the disk is full" : "HDF5 reports a failed write";
    throw Error(Error::Kind::runtime, file_.string() + ": cannot write " + path + " (" + why +
                                          "); the file that was there before is untouched");
  }

  void write_attribute(hid_t object, const std::string& name, const std::string& text) {
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1));
    H5Tset_cset(type.get(), H5T_CSET_UTF8);
    write_attribute(object, name, type.get(), text.c_str());
  }
  void write_attribute(hid_t object, const std::string& name, double number) {
    write_attribute(object, name, H5T_NATIVE_DOUBLE, &number);
  }
  void write_attribute(hid_t object, const std::string& name, std::uint64_t number) {
    write_attribute(object, name, H5T_NATIVE_UINT64, &number);
  }
  void write_attribute(hid_t object, const std::string& name, hid_t type, const void* data) {
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
    const Handle attribute(H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    check(attribute && H5Awrite(attribute.get(), type, data) >= 0, name);
  }

  std::filesystem::path file_, part_;
  Handle id_;
  std::map<std::string, Handle> datasets_;
  std::map<std::string, Type> types_;
  bool committed_ = false, failed_ = false;
};

}  // namespace

std::unique_ptr<ResultSink> make_file_sink(const std::filesystem::path& file) {
  return std::make_unique<FileSink>(file);
}

}  // namespace rattleback
