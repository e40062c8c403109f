// Results, their datasets as NumPy arrays.

#include <limits>

#include <fmt/format.h>
#include <sys/stat.h>

#include "core.hpp"
#include "rattleback/base/folder.hpp"
#include "rattleback/base/message.hpp"
#include "rattleback/results/diff.hpp"

namespace rattleback::python {

Stored::Stored(Result result) : memory_(std::move(result)), summary_(memory_->summary) {
  for (const std::string& path : memory_->paths()) {
    const Dataset& dataset = memory_->dataset(path);
    entries_[path] = {static_cast<ResultSink::Type>(dataset.values.index()), dataset.shape};
  }
}

namespace {

Stored::Place place_of(const std::filesystem::path& file) {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace

Stored::Stored(ResultFile file)
    : file_(std::move(file)), place_(place_of(file_->path())), summary_(summary_of(*file_)) {
  for (const auto& [path, entry] : file_->datasets()) entries_[path] = {entry.type, entry.shape};
}

std::shared_ptr<const Dataset> Stored::dataset(const std::shared_ptr<Stored>& self, const std::string& path) {
  if (self->memory_) return {self, &self->memory_->dataset(path)};
  const std::lock_guard lock(self->mutex_);
  auto& found = self->read_[path];
  if (!found) {
    self->require_whole();
    try {
      found = std::make_shared<const Dataset>(self->file_->read(path));
    } catch (...) {
      self->read_.erase(path);
      throw;
    }
  }
  return found;
}

Dataset Stored::block(const std::string& path, const Shape& offset, const Shape& count) const {
  if (!file_) throw std::logic_error("blocks are of files");
  const std::lock_guard lock(mutex_);
  require_whole();
  const auto found = entries_.find(path);
  const auto numbers_in = [](const Shape& shape) {
    std::uint64_t numbers = 1;
    for (const std::uint64_t extent : shape)
      if (__builtin_mul_overflow(numbers, extent, &numbers)) return std::numeric_limits<std::uint64_t>::max();
    return numbers;
  };
  const std::uint64_t numbers = numbers_in(count);
  if (found == entries_.end() || numbers > numbers_in(found->second.shape))
    file_->read(path, offset, count, nullptr);  // says that there is no such block
  Dataset dataset{count, {}};
  const auto read = [&](auto values) {
    values.resize(numbers);
    if (numbers > 0) file_->read(path, offset, count, values.data());
    dataset.values = std::move(values);
  };
  switch (found->second.type) {
    case ResultSink::Type::f64:
      read(std::vector<double>());
      break;
    case ResultSink::Type::u32:
      read(std::vector<std::uint32_t>());
      break;
    case ResultSink::Type::u64:
      read(std::vector<std::uint64_t>());
      break;
  }
  return dataset;
}

/// HDF5 gives zeros for what is missing at the end of a file. A deleted file stays whole while it is open.
void Stored::require_whole() const {
  const Place now = place_of(file_->path());
  if (now.device == place_.device && now.inode == place_.inode && now.size < place_.size)
    throw Error(Error::Kind::input,
                fmt::format("{}: cannot be read (it was cut off after it was opened); create it again",
                            file_->path().string()));
}

std::map<std::string, Attribute> Stored::attributes(const std::string& path) const {
  return memory_ ? memory_->attributes(path) : file_->attributes(path);
}

std::optional<std::string> Stored::file_name() const {
  return file_ ? std::optional(file_->path().string()) : std::nullopt;
}

void Stored::as_file(const std::function<void(const ResultFile&)>& use) const {
  if (file_) return use(*file_);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.file("result.h5");
  memory_->save(file);
  use(ResultFile(file, true));
}

void Stored::save(const std::filesystem::path& file) const {
  if (memory_) return memory_->save(file);
  const auto sink = make_file_sink(file);
  for (const auto& [path, entry] : entries_) {
    const Dataset data = file_->read(path);
    sink->create(path, entry.type, entry.shape);
    std::visit([&](const auto& values) { sink->write(path, Shape(entry.shape.size(), 0), entry.shape, values.data()); },
               data.values);
    for (const auto& [name, value] : file_->attributes(path)) sink->attribute(path, name, value);
  }
  for (const auto& [name, value] : file_->attributes("/")) sink->attribute("/", name, value);
  sink->commit();
}

nb::object array_of(const std::shared_ptr<const Dataset>& dataset, bool writable) {
  const std::vector<std::size_t> shape(dataset->shape.begin(), dataset->shape.end());
  const nb::capsule owner(new std::shared_ptr<const Dataset>(dataset),
                          [](void* pointer) noexcept { delete static_cast<std::shared_ptr<const Dataset>*>(pointer); });
  return std::visit(
      [&](const auto& values) -> nb::object {
        using Number = std::remove_cvref_t<decltype(values[0])>;
        static const Number nothing{};
        const Number* const data = values.empty() ? &nothing : values.data();
        if (writable)
          return nb::cast(nb::ndarray<nb::numpy, Number>(const_cast<Number*>(data), shape.size(), shape.data(), owner));
        return nb::cast(nb::ndarray<nb::numpy, const Number>(data, shape.size(), shape.data(), owner));
      },
      dataset->values);
}

nb::object to_python(const Attribute& value) {
  return std::visit([](const auto& x) { return nb::cast(x); }, value);
}

namespace {

Table to_python(const std::map<std::string, Attribute>& attributes) {
  Table all;
  for (const auto& [name, value] : attributes) all[name.c_str()] = python::to_python(value);
  return all;
}

/// Returns what a value is of a C++ type. Throws Error(input) for others.
template <class T>
T value_of(nb::handle value, const char* what, const char* wanted) {
  T result{};
  if (!nb::try_cast(value, result, false)) input_error(what, fmt::format("must be {}", wanted));
  return result;
}

std::string text_of(nb::handle value, const char* what) { return value_of<std::string>(value, what, "text"); }

Attribute attribute_of(nb::handle value) {
  constexpr const char *what = "an attribute", *wanted = "text, a number or a whole number from 0 on";
  if (nb::isinstance<nb::str>(value)) return value_of<std::string>(value, what, wanted);
  if (nb::isinstance<nb::float_>(value)) return value_of<double>(value, what, wanted);
  return value_of<std::uint64_t>(value, what, wanted);
}

/// Returns a result in memory from arrays and attributes, as `datasets` and `attributes` give them.
std::shared_ptr<Stored> build(const nb::dict& datasets, const nb::dict& attributes) {
  Result result;
  MemorySink sink(result);
  const auto add = [&](const std::string& path, ResultSink::Type type, const auto& array) {
    Shape shape;
    for (std::size_t d = 0; d < array.ndim(); ++d) shape.push_back(array.shape(d));
    sink.create(path, type, shape);
    sink.write(path, Shape(shape.size(), 0), shape, array.data());
  };
  for (const auto& [path, array] : datasets) {
    const std::string name = text_of(path, "the path of a dataset");
    if (nb::ndarray<const double, nb::c_contig> f64; nb::try_cast(array, f64, false))
      add(name, ResultSink::Type::f64, f64);
    else if (nb::ndarray<const std::uint32_t, nb::c_contig> u32; nb::try_cast(array, u32, false))
      add(name, ResultSink::Type::u32, u32);
    else if (nb::ndarray<const std::uint64_t, nb::c_contig> u64; nb::try_cast(array, u64, false))
      add(name, ResultSink::Type::u64, u64);
    else
      input_error(name, "is not a contiguous array of float64, uint32 or uint64");
  }
  for (const auto& [path, list] : attributes) {
    if (!nb::isinstance<nb::dict>(list)) input_error("attributes", "of a path must be a dictionary");
    for (const auto& [name, value] : nb::borrow<nb::dict>(list))
      sink.attribute(text_of(path, "the path of an attribute"), text_of(name, "the name of an attribute"),
                     attribute_of(value));
  }
  result.summary = summary_of(result);
  return std::make_shared<Stored>(std::move(result));
}

Table to_python(const Summary& summary) {
  Table all;
  all["backend"] = summary.backend;
  all["device"] = summary.device;
  all["threads"] = summary.threads;
  all["trajectories"] = summary.trajectories;
  all["trajectory_steps"] = summary.trajectory_steps;
  all["left_out"] = summary.left_out;
  all["failed"] = summary.failed;
  all["iterations"] = summary.iterations;
  all["wall_seconds"] = summary.wall_seconds;
  const auto phases = summary.phases.listed();
  all["phases"] = std::map<std::string, double>(phases.begin(), phases.end());
  all["missing"] = summary.missing;
  return all;
}

const char* name_of(DatasetDiff::Status status) {
  constexpr const char* names[] = {"identical", "values", "shape", "type", "only_first", "only_second"};
  return names[static_cast<int>(status)];
}

Table to_python(const DiffReport& report) {
  nb::list datasets, study;
  for (const DatasetDiff& diff : report.datasets) {
    nb::dict entry;
    entry["path"] = diff.path;
    entry["status"] = name_of(diff.status);
    entry["values"] = diff.values;
    entry["differing"] = diff.differing;
    entry["ulps"] = diff.ulps;
    entry["absolute"] = diff.absolute;
    if (diff.at) entry["first_index"] = diff.at->index;
    datasets.append(entry);
  }
  for (const StudyDiff& diff : report.study) {
    nb::dict entry;
    entry["key"] = diff.key;
    entry["first"] = diff.first;
    entry["second"] = diff.second;
    study.append(entry);
  }
  Table all;
  all["identical"] = report.identical();
  all["datasets"] = datasets;
  all["study"] = study;
  return all;
}

}  // namespace

void bind_result(nb::module_& module) {
  nb::class_<Stored>(module, "Stored",
                     "A result in memory, or in a file whose datasets are read when they are asked for.")
      .def(
          "shapes",
          [](const Stored& stored) {
            nb::typed<nb::dict, nb::str, nb::typed<nb::tuple, int, nb::ellipsis>> shapes;
            for (const auto& [path, entry] : stored.entries()) shapes[path.c_str()] = nb::tuple(nb::cast(entry.shape));
            return shapes;
          },
          "Returns the shape of each dataset by path.")
      .def(
          "array",
          [](const std::shared_ptr<Stored>& stored, const std::string& path, bool writable) {
            std::shared_ptr<const Dataset> dataset;
            {
              const Released released;
              dataset = Stored::dataset(stored, path);
            }
            return array_of(dataset, writable);
          },
          nb::sig("def array(self, path: str, writable: bool = False) -> numpy.typing.NDArray[typing.Any]"),
          nb::arg("path"), nb::arg("writable") = false,
          "Returns a dataset as an array over the numbers of the result. Raises InputError.")
      .def(
          "block",
          [](const Stored& stored, const std::string& path, const Shape& offset, const Shape& count) {
            return array_of(std::make_shared<const Dataset>(Call()([&] { return stored.block(path, offset, count); })),
                            true);
          },
          nb::sig("def block(self, path: str, offset: collections.abc.Sequence[int], count: "
                  "collections.abc.Sequence[int]) -> "
                  "numpy.typing.NDArray[typing.Any]"),
          nb::arg("path"), nb::arg("offset"), nb::arg("count"),
          "Reads the block [offset, offset + count) of a dataset of a file. Raises InputError.")
      .def(
          "attributes",
          [](const Stored& stored, const std::string& path) { return to_python(stored.attributes(path)); },
          nb::arg("path"), "Returns the attributes of the root (\"/\") or of a dataset.")
      .def_prop_ro("summary", [](const Stored& stored) { return to_python(stored.summary()); })
      .def_prop_ro("file", &Stored::file_name)
      .def(
          "fingerprint", [](const Stored& stored) { return Call()([&] { return stored.fingerprint(); }); },
          "Computes the SHA-256 of all datasets.")
      .def(
          "save", [](const Stored& stored, const std::filesystem::path& file) { Call()([&] { stored.save(file); }); },
          nb::arg("file"), "Writes the result file. Raises InputError or RunError.");
  module.def("build", &build, nb::arg("datasets"), nb::arg("attributes"),
             "Makes a result in memory from arrays and attributes by path.");
  module.def(
      "open",
      [](const std::filesystem::path& file) {
        return Call()([&] { return std::make_shared<Stored>(ResultFile(file)); });
      },
      nb::arg("file"), "Opens a result file. Raises InputError.");
  module.def(
      "diff",
      [](const Stored& first, const Stored& second) {
        Call call;
        const DiffReport report = call([&] {
          DiffReport found;
          first.as_file([&](const ResultFile& a) {
            second.as_file([&](const ResultFile& b) { found = diff(a, b, call.token()); });
          });
          return found;
        });
        return to_python(report);
      },
      nb::arg("first"), nb::arg("second"), "Compares two results bit by bit.");
}

}  // namespace rattleback::python
